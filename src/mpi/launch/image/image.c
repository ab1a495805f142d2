/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Images: mapping one, filling it, running its constructors, finding it by address.
 *
 * All images of a program lie in one region of private memory, `stride` apart. Placing one maps the
 * read-only part of each module over its beginning, from one file that all images share; the rest
 * of the region is its data. So an image costs two mappings per module.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/launch/image/program.h"

enum { MAX_PROGRAMS = 256 };

static const mpi_program_t *registered[MAX_PROGRAMS];
static _Atomic int registered_count;

xy_status_t mpi_program_register(const mpi_program_t *program)
{
    int n = registered_count;

    if (n == MAX_PROGRAMS)
        return xy_fail(XY_ELIMIT, "at most %d different programs and plug-ins can run together",
                       MAX_PROGRAMS);
    registered[n] = program;
    registered_count = n + 1;
    return XY_OK;
}

void mpi_program_unregister(const mpi_program_t *program)
{
    int n = registered_count;

    for (int i = 0; i < n; i++)
        if (registered[i] == program) {
            registered[i] = registered[n - 1];
            registered_count = n - 1;
            return;
        }
}

const mpi_program_t *mpi_program_at(int index)
{
    return index < registered_count ? registered[index] : NULL;
}

char *mpi_image_find(const void *address, const mpi_program_t **program_p,
                     const mpi_module_t **module_p)
{
    int n = registered_count;
    const char *a = address;

    for (int i = 0; i < n; i++) {
        const mpi_program_t *program = registered[i];
        const mpi_module_t *modules = program->modules.data;
        size_t distance = (size_t)(a - program->region), inside;

        if (a < program->region || distance >= program->stride * (size_t)program->images)
            continue;
        inside = distance % program->stride;
        for (size_t m = program->modules.count; m-- > 0;)
            if (inside >= modules[m].offset) {
                *program_p = program;
                *module_p = &modules[m];
                return program->region + (distance - inside);
            }
    }
    return NULL;
}

static xy_status_t fail_mapping(const mpi_program_t *program, int index)
{
    if (errno == ENOMEM)
        return xy_fail(XY_ELIMIT,
                       "no further mapping after %d copies of '%s'; raise the limit with 'sysctl "
                       "vm.max_map_count=262144', or start fewer ranks",
                       index, program->path);
    return xy_fail_errno(errno, program->path, "map for execution");
}

static void fill_data(const mpi_elf_t *elf, char *module_base)
{
    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];
        uintptr_t skipped = s->p_vaddr < elf->writable ? elf->writable - s->p_vaddr : 0;

        if (s->p_type == PT_LOAD && s->p_filesz > skipped)
            memcpy(module_base + (s->p_vaddr + skipped - elf->low),
                   elf->bytes + s->p_offset + skipped, s->p_filesz - skipped);
    }
}

/* A large initialised part is mapped, so that unwritten pages stay shared; a small one is
 * copied, which saves the mapping. */
enum { COPY_AT_MOST = 256 << 10 };

static bool map_data(const mpi_elf_t *elf, char *module_base)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];
        uintptr_t first = s->p_vaddr & -page, end = (s->p_vaddr + s->p_filesz) & -page;
        off_t from = (off_t)(s->p_offset & -page);

        if (s->p_type != PT_LOAD || s->p_vaddr < elf->writable)
            continue;
        if (end < first + COPY_AT_MOST)
            end = s->p_vaddr;
        else if (mmap(module_base + (first - elf->low), end - first, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_FIXED, elf->fd, from) == MAP_FAILED)
            return false;
        memcpy(module_base + (end - elf->low), elf->bytes + s->p_offset + (end - s->p_vaddr),
               s->p_vaddr + s->p_filesz - end);
    }
    return true;
}

static bool place_module(const mpi_module_t *module, char *image)
{
    const mpi_elf_t *elf = module->elf;
    char *base = image + module->offset;

    if (elf->writable > elf->low &&
        mmap(base, elf->writable - elf->low, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
             module->code_fd, module->code_from) == MAP_FAILED)
        return false;
    if (elf->has_code_in_writable) {
        fill_data(elf, base);
        return mprotect(base + (elf->writable - elf->low), elf->high - elf->writable,
                        PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
    }
    return map_data(elf, base);
}

static bool is_for_valgrind(const mpi_program_t *program, int index)
{
    static int is_there = -1;

    if (is_there < 0)
        is_there = mpi_valgrind_is_there();
    return is_there > 0 && xy_bitset_has(program->shown, (size_t)program->first + (size_t)index);
}

xy_status_t mpi_image_place(const mpi_program_t *program, int index, char **image_p)
{
    char *image = program->region + (size_t)index * program->stride;
    const mpi_module_t *modules = program->modules.data;

    for (size_t i = 0; i < program->modules.count; i++)
        if (!(is_for_valgrind(program, index) &&
              mpi_valgrind_map(&modules[i], image, program->parent != NULL)) &&
            !place_module(&modules[i], image))
            return fail_mapping(program, index);
    *image_p = image;
    return XY_OK;
}

void mpi_image_clear(const mpi_program_t *program, int index)
{
    /* Without memory for the mapping, the old pages stay, and the next rank there is refused. */
    (void)!mmap(program->region + (size_t)index * program->stride, program->stride,
                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0);
}

/* `images` are the one to fix and its parent's. */
static void fix(const mpi_fixup_t *fixup, char *const *images, void *const *variables)
{
    char *image = images[0];
    void *to = image + fixup->where;
    uint64_t word = (uint64_t)fixup->value;

    switch (fixup->kind) {
    case XMPI_FIXUP_COPY:
        memcpy(to, (const void *)(intptr_t)fixup->value, fixup->which);
        return;
    case XMPI_FIXUP_IFUNC:
        return;
    case XMPI_FIXUP_IMAGE:
        word += (uintptr_t)images[fixup->which];
        break;
    case XMPI_FIXUP_VARIABLE:
        word += (uintptr_t)variables[fixup->which];
        break;
    default:
        break;
    }
    memcpy(to, &word, sizeof(word));
}

static void fix_chosen(const mpi_fixup_t *fixup, char *const *images)
{
    uintptr_t (*choose)(void) =
        (uintptr_t(*)(void))(uintptr_t)(images[fixup->which] + fixup->value);
    uintptr_t chosen = choose();

    memcpy(images[0] + fixup->where, &chosen, sizeof(chosen));
}

static char *image_of_parent(const mpi_program_t *program, const char *image)
{
    const mpi_program_t *parent = program->parent;

    return parent != NULL
               ? parent->region + (size_t)mpi_image_index(program, image) * parent->stride
               : NULL;
}

void mpi_image_fix(const mpi_program_t *program, char *image, void *const *variables)
{
    const mpi_fixup_t *fixups = program->fixups.data;
    char *images[2] = {image, image_of_parent(program, image)};
    bool has_chosen = false;

    for (size_t i = 0; i < program->fixups.count; i++) {
        fix(&fixups[i], images, variables);
        has_chosen |= fixups[i].kind == XMPI_FIXUP_IFUNC;
    }
    /* The choosing functions run code of the image: everything else must be there. */
    for (size_t i = 0; has_chosen && i < program->fixups.count; i++)
        if (fixups[i].kind == XMPI_FIXUP_IFUNC)
            fix_chosen(&fixups[i], images);
}

static void *address_of(const mpi_module_t *module, const ElfW(Sym) * symbol, char *image)
{
    char *address = mpi_image_at(image, mpi_module_offset(module, symbol->st_value));

    switch (ELF64_ST_TYPE(symbol->st_info)) {
    case STT_TLS:
        return (char *)__builtin_thread_pointer() + module->tls + symbol->st_value;
    case STT_GNU_IFUNC:
        return ((void *(*)(void))(uintptr_t)address)();
    default:
        return symbol->st_shndx == SHN_ABS ? (void *)(uintptr_t)symbol->st_value : address;
    }
}

void *mpi_image_symbol(const mpi_program_t *program, char *image, const char *name,
                       const mpi_module_t *behind)
{
    const mpi_module_t *modules = program->modules.data;
    size_t first = behind != NULL ? (size_t)(behind - modules) + 1 : 0;

    for (size_t i = first; i < program->modules.count; i++) {
        const ElfW(Sym) *symbol = mpi_elf_lookup(modules[i].elf, name);

        if (symbol != NULL)
            return address_of(&modules[i], symbol, image);
    }
    return NULL;
}

typedef void (*init_fn)(int, char **, char **);
typedef void (*fini_fn)(void);

static void run_array(const mpi_module_t *module, const mpi_elf_part_t *part, char *image, int argc,
                      char **argv, char **environment)
{
    const uintptr_t *functions = mpi_image_at(image, mpi_module_offset(module, part->address));

    for (size_t i = 0; i < part->size / sizeof(*functions); i++)
        if (functions[i] != 0 && functions[i] != UINTPTR_MAX)
            ((init_fn)functions[i])(argc, argv, environment);
}

void mpi_image_construct(const mpi_program_t *program, char *image, int argc, char **argv,
                         char **environment)
{
    const mpi_module_t *modules = program->modules.data;

    run_array(modules, &modules->elf->preinit, image, argc, argv, environment);
    for (size_t i = program->modules.count; i-- > 0;) {
        const mpi_elf_t *elf = modules[i].elf;

        if (elf->init_function != 0)
            ((init_fn)mpi_image_at(image, mpi_module_offset(&modules[i], elf->init_function)))(
                argc, argv, environment);
        run_array(&modules[i], &elf->init, image, argc, argv, environment);
    }
}

void mpi_image_destruct(const mpi_program_t *program, char *image)
{
    const mpi_module_t *modules = program->modules.data;

    for (size_t m = 0; m < program->modules.count; m++) {
        const mpi_elf_t *elf = modules[m].elf;
        const uintptr_t *functions =
            mpi_image_at(image, mpi_module_offset(&modules[m], elf->fini.address));

        for (size_t i = elf->fini.size / sizeof(*functions); i-- > 0;)
            ((fini_fn)functions[i])();
        if (elf->fini_function != 0)
            ((fini_fn)mpi_image_at(image, mpi_module_offset(&modules[m], elf->fini_function)))();
    }
}
