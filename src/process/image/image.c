/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Images: mapping one, filling it, running its constructors, finding it by address.
 *
 * All images of a program lie in one region of private memory, `stride` apart. Placing one maps the
 * read-only part of each module over its beginning, from one file that all images share. Its data
 * is mapped from the prototype or, where almost all of it holds addresses, copied into the region.
 * So an image costs at most two mappings per module.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/image/lookup.h"

enum { MAX_PROGRAMS = 4096 };

static const process_program_t *registered[MAX_PROGRAMS];
static _Atomic int registered_count;

xy_status_t process_program_register(const process_program_t *program)
{
    int n = registered_count;

    if (n == MAX_PROGRAMS)
        return xy_fail(XY_ELIMIT, "at most %d different programs and plug-ins can run together",
                       MAX_PROGRAMS);
    registered[n] = program;
    registered_count = n + 1;
    return XY_OK;
}

void process_program_unregister(const process_program_t *program)
{
    int n = registered_count;

    for (int i = 0; i < n; i++)
        if (registered[i] == program) {
            registered[i] = registered[n - 1];
            registered_count = n - 1;
            return;
        }
}

const process_program_t *process_program_at(int index)
{
    return index < registered_count ? registered[index] : NULL;
}

char *process_image_find(const void *address, const process_program_t **program_p,
                         const process_module_t **module_p)
{
    int n = registered_count;
    const char *a = address;

    for (int i = 0; i < n; i++) {
        const process_program_t *program = registered[i];
        const process_module_t *modules = program->modules.data;
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

static xy_status_t fail_mapping(const process_program_t *program, int index)
{
    if (errno == ENOMEM)
        return xy_fail(XY_ELIMIT,
                       "no further mapping after %d copies of '%s'; raise the limit with 'sysctl "
                       "vm.max_map_count=262144', or start fewer ranks",
                       index, program->path);
    return xy_fail_errno(errno, program->path, "map for execution");
}

/* Map the code and data of a module into an image; false if a mapping fails. */
static bool place_module(const process_program_t *program, const process_module_t *module,
                         char *image)
{
    const process_elf_t *elf = module->elf;
    char *base = image + module->offset;

    if (elf->writable > elf->low &&
        mmap(base, elf->writable - elf->low, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
             module->code_fd, module->code_from) == MAP_FAILED)
        return false;
    if (!process_prototype_place(program, module, image, false))
        return false;
    return !elf->has_code_in_writable ||
           mprotect(base + (elf->writable - elf->low), elf->high - elf->writable,
                    PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

static bool is_for_valgrind(const process_program_t *program, int index)
{
    static int is_there = -1;

    if (is_there < 0)
        is_there = process_valgrind_is_there();
    return is_there > 0 && xy_bitset_has(program->shown, (size_t)program->first + (size_t)index);
}

xy_status_t process_image_place(const process_program_t *program, int index, char **image_p)
{
    char *image = program->region + (size_t)index * program->stride;
    const process_module_t *modules = program->modules.data;

    for (size_t i = 0; i < program->modules.count; i++)
        if (is_for_valgrind(program, index) &&
            process_valgrind_map(&modules[i], image, program->parent != NULL))
            process_prototype_place(program, &modules[i], image, true);
        else if (!place_module(program, &modules[i], image))
            return fail_mapping(program, index);
    *image_p = image;
    return XY_OK;
}

void process_image_clear(const process_program_t *program, int index)
{
    /* Without memory for the mapping, the old pages stay, and the next process there is refused. */
    (void)!mmap(program->region + (size_t)index * program->stride, program->stride,
                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0);
}

/* The process's image of the program with a number in the scope. */
static char *image_of(const process_program_t *program, char *image, uint32_t number)
{
    const process_program_t *other = XY_VEC_AT(&program->scope, const process_program_t *, number);

    return number == program->self
               ? image
               : other->region + (size_t)process_image_index(program, image) * other->stride;
}

/* Store the value of one fixup in an image. */
static void fix(const process_program_t *program, const process_fixup_t *fixup, char *image,
                void *const *variables)
{
    uint64_t word = (uint64_t)fixup->value;

    switch (fixup->kind) {
    case PROCESS_FIXUP_COPY:
        memcpy(image + fixup->where, (const void *)(intptr_t)fixup->value, fixup->which);
        return;
    case PROCESS_FIXUP_IFUNC:
    case PROCESS_FIXUP_MOVE:
        return;
    case PROCESS_FIXUP_IMAGE:
        word += (uintptr_t)image_of(program, image, fixup->which);
        break;
    case PROCESS_FIXUP_VARIABLE:
        word += (uintptr_t)variables[fixup->which];
        break;
    default:
        break;
    }
    memcpy(image + fixup->where, &word, sizeof(word));
}

/* Call an ifunc resolver; on aarch64 its arguments are the features of the processor. */
static uintptr_t choose(const char *function)
{
    uintptr_t (*chooser)(unsigned long, const void *) =
        (uintptr_t(*)(unsigned long, const void *))(uintptr_t)function;
    struct {
        unsigned long size, hwcap, hwcap2;
    } about = {sizeof(about), getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};

    return chooser(about.hwcap | 1UL << 62, &about);
}

/* Apply the fixups that need the rest of the image. Choosing functions run its code and come last.
 */
static void fix_late(const process_program_t *program, char *image)
{
    const process_fixup_t *fixups = program->fixups.data;

    for (size_t i = 0; i < program->fixups.count; i++)
        if (fixups[i].kind == PROCESS_FIXUP_MOVE)
            memcpy(image + fixups[i].where, image + fixups[i].value, fixups[i].which);
    for (size_t i = 0; i < program->fixups.count; i++)
        if (fixups[i].kind == PROCESS_FIXUP_IFUNC) {
            uintptr_t chosen = choose(image_of(program, image, fixups[i].which) + fixups[i].value);

            memcpy(image + fixups[i].where, &chosen, sizeof(chosen));
        }
}

void process_image_fix(const process_program_t *program, char *image, void *const *variables)
{
    const process_fixup_t *fixups = program->fixups.data;
    bool has_late = false;

    process_prototype_fix(program, image);
    for (size_t i = 0; i < program->fixups.count; i++) {
        fix(program, &fixups[i], image, variables);
        has_late |= fixups[i].kind == PROCESS_FIXUP_IFUNC || fixups[i].kind == PROCESS_FIXUP_MOVE;
    }
    if (has_late)
        fix_late(program, image);
}

static void *address_of(const process_module_t *module, const ElfW(Sym) * symbol, char *image)
{
    char *address = process_image_at(image, process_module_offset(module, symbol->st_value));

    switch (ELF64_ST_TYPE(symbol->st_info)) {
    case STT_TLS:
        return (char *)__builtin_thread_pointer() + module->tls + symbol->st_value;
    case STT_GNU_IFUNC:
        return (void *)choose(address);
    default:
        return symbol->st_shndx == SHN_ABS ? (void *)(uintptr_t)symbol->st_value : address;
    }
}

void *process_module_symbol(const process_module_t *module, char *image, const char *name)
{
    const ElfW(Sym) *symbol = process_elf_lookup(module->elf, name);
    void *guard = symbol != NULL ? process_lookup_guarded(module->elf, name) : NULL;

    return symbol == NULL || guard != NULL ? guard : address_of(module, symbol, image);
}

void *process_image_symbol(const process_program_t *program, char *image, const char *name,
                           const process_module_t *behind)
{
    const process_module_t *modules = program->modules.data;
    size_t first = behind != NULL ? (size_t)(behind - modules) + 1 : 0;
    void *found = NULL;

    for (size_t i = first; i < program->modules.count && found == NULL; i++)
        found = process_module_symbol(&modules[i], image, name);
    return found;
}

typedef void (*init_fn)(int, char **, char **);
typedef void (*fini_fn)(void);

static void run_array(const process_module_t *module, const process_elf_part_t *part, char *image,
                      int argc, char **argv, char **environment)
{
    const uintptr_t *functions =
        process_image_at(image, process_module_offset(module, part->address));

    for (size_t i = 0; i < part->size / sizeof(*functions); i++)
        if (functions[i] != 0 && functions[i] != UINTPTR_MAX)
            ((init_fn)functions[i])(argc, argv, environment);
}

void process_image_construct(const process_program_t *program, char *image, int argc, char **argv,
                             char **environment)
{
    const process_module_t *modules = program->modules.data;

    run_array(modules, &modules->elf->preinit, image, argc, argv, environment);
    for (size_t i = 0; i < program->order.count; i++) {
        const process_module_t *module = &modules[XY_VEC_AT(&program->order, size_t, i)];
        const process_elf_t *elf = module->elf;

        if (elf->init_function != 0)
            ((init_fn)process_image_at(image, process_module_offset(module, elf->init_function)))(
                argc, argv, environment);
        run_array(module, &elf->init, image, argc, argv, environment);
    }
}

void process_image_destruct(const process_program_t *program, char *image)
{
    const process_module_t *modules = program->modules.data;

    for (size_t m = program->order.count; m-- > 0;) {
        const process_module_t *module = &modules[XY_VEC_AT(&program->order, size_t, m)];
        const process_elf_t *elf = module->elf;
        const uintptr_t *functions =
            process_image_at(image, process_module_offset(module, elf->fini.address));

        for (size_t i = elf->fini.size / sizeof(*functions); i-- > 0;)
            ((fini_fn)functions[i])();
        if (elf->fini_function != 0)
            ((fini_fn)process_image_at(image, process_module_offset(module, elf->fini_function)))();
    }
}
