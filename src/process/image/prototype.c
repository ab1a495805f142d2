/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The prototype: the data of all modules as every image begins with it, in a file in memory. Words
 * that are the same for all processes (addresses in shared libraries, distances of thread-local
 * variables) have their values there. An address in the image itself is there as its distance from
 * the image's beginning, to which that is added in each image; a set has a bit for each such word.
 * Images map the prototype privately, so that a process has copies of those pages alone that hold
 * such addresses or that it writes to.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/image/lookup.h"

/* Variables without initial values cost no mapping of their own if they are few. Data is mapped
 * only if more than this much of it holds no addresses: to copy the rest as well costs less than
 * the system call, and the mapping. */
enum { FEW_ZEROS = 64 << 10, COPY_AT_MOST = 16 << 10 };
/* Bytes of a word with an address, and those whose words have their bits in one word of a set. */
enum { WORD = sizeof(uint64_t), SET_SPAN = 64 * WORD };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Where the data of a module ends in the file, as a linked address. */
static uintptr_t end_of_file(const process_elf_t *elf)
{
    uintptr_t end = elf->writable;

    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];

        if (s->p_type == PT_LOAD && s->p_vaddr + s->p_filesz > end)
            end = s->p_vaddr + s->p_filesz;
    }
    return end;
}

static void measure(process_module_t *module, size_t *size)
{
    const process_elf_t *elf = module->elf;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t end = round_up(end_of_file(elf), page);

    module->data_from = *size;
    module->data_filled = end_of_file(elf) - elf->writable;
    if (elf->high <= end + FEW_ZEROS || end > elf->high)
        end = elf->high;
    module->data_size = end - elf->writable;
    *size += module->data_size;
}

static void fill(const process_elf_t *elf, char *data)
{
    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];
        uintptr_t skipped = s->p_vaddr < elf->writable ? elf->writable - s->p_vaddr : 0;

        if (s->p_type == PT_LOAD && s->p_filesz > skipped)
            memcpy(data + (s->p_vaddr + skipped - elf->writable),
                   elf->bytes + s->p_offset + skipped, s->p_filesz - skipped);
    }
}

/* The module whose data in the prototype holds the `size` bytes at an offset in the image. */
static process_module_t *module_at(const process_program_t *program, uint64_t where, size_t size)
{
    process_module_t *modules = program->modules.data;

    for (size_t m = program->modules.count; m-- > 0;)
        if (where >= modules[m].offset) {
            uint64_t inside = where - process_module_offset(&modules[m], modules[m].elf->writable);

            return inside < modules[m].data_size && size <= modules[m].data_size - inside
                       ? &modules[m]
                       : NULL;
        }
    return NULL;
}

bool process_prototype_store(process_program_t *program, const process_fixup_t *fixup)
{
    bool is_relative = fixup->kind == PROCESS_FIXUP_IMAGE && fixup->which == program->self;
    const process_module_t *module;
    size_t at;

    if (!is_relative && fixup->kind != PROCESS_FIXUP_VALUE)
        return false;
    module = module_at(program, fixup->where, WORD);
    if (module == NULL)
        return false;
    at = module->data_from + (fixup->where - process_module_offset(module, module->elf->writable));
    if (at % WORD != 0)
        return false;
    memcpy(program->prototype + at, &fixup->value, WORD);
    if (is_relative)
        xy_bitset_set(&program->relative, at / WORD);
    else
        xy_bitset_clear(&program->relative, at / WORD);
    return true;
}

static void mark(process_module_t *module, xy_bitset_t *pages, size_t number, size_t page)
{
    if (xy_bitset_has(pages, number))
        return;
    xy_bitset_set(pages, number);
    module->written += page;
}

/* Count the pages of each module that every image writes to. */
static void count_pages(process_program_t *program, xy_bitset_t *pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    process_module_t *modules = program->modules.data;

    for (size_t m = 0; m < program->modules.count; m++)
        for (size_t at = 0; at < modules[m].data_size; at += SET_SPAN) {
            size_t in_prototype = modules[m].data_from + at;

            if (program->relative.words[in_prototype / SET_SPAN] != 0)
                mark(&modules[m], pages, in_prototype / page, page);
        }
    for (size_t i = 0; i < program->fixups.count; i++) {
        uint64_t where = XY_VEC_AT(&program->fixups, process_fixup_t, i).where;
        process_module_t *module = module_at(program, where, 1);
        size_t inside =
            module != NULL ? where - process_module_offset(module, module->elf->writable) : 0;

        if (module != NULL)
            mark(module, pages, (module->data_from + inside) / page, page);
    }
}

xy_status_t process_prototype_finish(process_program_t *program)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    process_module_t *modules = program->modules.data;
    xy_bitset_t pages;

    if (xy_bitset_init(&pages, program->prototype_size / page + 1) != XY_OK)
        return xy_fail_memory("loading the program");
    count_pages(program, &pages);
    xy_bitset_cleanup(&pages);
    for (size_t i = 0; i < program->modules.count; i++)
        modules[i].is_copied = modules[i].elf->has_code_in_writable ||
                               modules[i].data_filled <= modules[i].written + COPY_AT_MOST;
    return XY_OK;
}

/* Create the prototype file, its mapping and the set of relative words. */
static xy_status_t make(process_program_t *program, size_t size)
{
    program->data_fd = memfd_create("data", MFD_CLOEXEC);
    if (program->data_fd < 0 || ftruncate(program->data_fd, (off_t)size) != 0)
        return xy_fail_errno(errno, program->path, "copy to memory");
    program->prototype = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, program->data_fd, 0);
    if (program->prototype == MAP_FAILED) {
        program->prototype = NULL;
        return xy_fail_errno(errno, program->path, "copy to memory");
    }
    program->prototype_size = size;
    if (xy_bitset_init(&program->relative, size / WORD) != XY_OK)
        return xy_fail_memory("loading the program");
    return XY_OK;
}

xy_status_t process_prototype_make(process_program_t *program)
{
    process_module_t *modules = program->modules.data;
    size_t size = 0;
    xy_status_t st;

    for (size_t i = 0; i < program->modules.count; i++)
        measure(&modules[i], &size);
    st = size > 0 ? make(program, size) : XY_OK;
    for (size_t i = 0; i < program->modules.count && st == XY_OK; i++)
        fill(modules[i].elf, program->prototype + modules[i].data_from);
    return st;
}

bool process_prototype_place(const process_program_t *program, const process_module_t *module,
                             char *image, bool is_copied)
{
    char *data = image + process_module_offset(module, module->elf->writable);

    if (module->data_size == 0)
        return true;
    if (!is_copied && !module->is_copied)
        return mmap(data, module->data_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                    program->data_fd, (off_t)module->data_from) != MAP_FAILED;
    memcpy(data, program->prototype + module->data_from, module->data_filled);
    return true;
}

/* The image is only written: a page that is read first is mapped and copied in two steps. The
 * function of memcpy would be called for each word. */
static void fix_module(const process_program_t *program, const process_module_t *module,
                       char *image)
{
    const uint64_t *sets = program->relative.words + module->data_from / SET_SPAN;
    const char *from = program->prototype + module->data_from;
    char *to = image + process_module_offset(module, module->elf->writable);

    for (size_t at = 0; at < module->data_size; at += SET_SPAN, sets++)
        for (uint64_t set = *sets; set != 0; set &= set - 1) {
            size_t inside = at + WORD * (size_t)__builtin_ctzll(set);
            uint64_t word;

            __builtin_memcpy(&word, from + inside, WORD);
            word += (uintptr_t)image;
            __builtin_memcpy(to + inside, &word, WORD);
        }
}

void process_prototype_fix(const process_program_t *program, char *image)
{
    const process_module_t *modules = program->modules.data;

    for (size_t i = 0; i < program->modules.count; i++)
        if (modules[i].written > 0)
            fix_module(program, &modules[i], image);
}
