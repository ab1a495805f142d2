/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local variables of the modules.
 *
 * The launcher's executable has a block of thread-local memory at a fixed distance from the thread
 * pointer. The program's variables lie in it where the linker has counted them to be; those of the
 * private libraries follow in the same block. So every module's variables are at the same distance
 * from the thread pointer in all threads, whatever way the code has of addressing them.
 *
 *   x86_64:   [ reserve ... | library | program ]TP
 *   aarch64:  TP[ 16 | program | library | ... reserve ]
 */
#include <string.h>

#include "process/image/load_program.h"

/* The thread pointer is always aligned to as much. */
enum { SMALL = 64 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Upward a block that is aligned to more begins later, and other libraries may have what is before
 * it: only a program whose own variables are aligned so begins there, too. */
#if defined(__aarch64__)
enum { UPWARD = 1, FIRST = 16 };
#else
enum { UPWARD = 0, FIRST = 0 };
#endif

/* The dynamic linker's formula: `used` bytes are taken, counted from the thread pointer. A block
 * need not begin at a multiple of its alignment, but where its address in the file does. */
static size_t place(process_module_t *module, size_t used)
{
    const ElfW(Phdr) *tls = module->elf->tls;
    size_t align = tls->p_align > 1 ? tls->p_align : 1;
    size_t skew = -tls->p_vaddr & (align - 1);
    size_t at;

    if (!UPWARD) {
        at = round_up(used + tls->p_memsz - skew, align) + skew;
        module->tls = -(ptrdiff_t)at;
        return at;
    }
    at = round_up(used, align);
    if (at - used < skew)
        at += align;
    module->tls = (ptrdiff_t)(at - skew);
    return at - skew + tls->p_memsz;
}

/* Where the first module's block begins: what is left out before it for its alignment belongs to
 * other libraries. */
static size_t begin(const process_program_t *program, size_t first)
{
    for (size_t i = 0; i < program->modules.count; i++) {
        const process_module_t *module = &XY_VEC_AT(&program->modules, process_module_t, i);

        if (module->elf->tls != NULL)
            return (size_t)module->tls;
    }
    return first;
}

static bool begins_outside(const process_program_t *program, const process_program_config_t *config)
{
    for (size_t i = 0; UPWARD && i < program->modules.count; i++) {
        const process_module_t *module = &XY_VEC_AT(&program->modules, process_module_t, i);

        if (module->elf->tls != NULL && config->tls_align > SMALL &&
            module->tls < (ptrdiff_t)config->tls_align)
            return true;
    }
    return false;
}

static xy_status_t need_more(const process_program_t *program,
                             const process_program_config_t *config, size_t size, size_t align)
{
    if (config->must_reserve != NULL)
        return config->must_reserve(program->path, size, align);
    return xy_fail_at(
        XY_ELIMIT, program->path, 0,
        "no room for the thread-local variables of this plug-in: %zu bytes, aligned to "
        "%zu; link it to the program",
        program->tls_size, align);
}

/* Find the module with most variables that begin with zeros. */
static void find_zeros(process_program_t *program)
{
    const process_module_t *modules = program->modules.data;

    for (size_t i = 0; i < program->modules.count; i++) {
        const ElfW(Phdr) *tls = modules[i].elf->tls;
        size_t at;

        if (tls == NULL || tls->p_memsz - tls->p_filesz <= program->zeros_to - program->zeros_from)
            continue;
        at = (size_t)(modules[i].tls - program->tls_from);
        program->zeros_from = at + tls->p_filesz;
        program->zeros_to = at + tls->p_memsz;
    }
}

xy_status_t process_program_place_locals(process_program_t *program,
                                         const process_program_config_t *config)
{
    process_module_t *modules = program->modules.data;
    process_program_t *root = program->parent != NULL ? program->parent : program;
    size_t first = root->tls_used > 0 ? root->tls_used : FIRST, used = first, align = 1;

    for (size_t i = 0; i < program->modules.count; i++) {
        const ElfW(Phdr) *tls = modules[i].elf->tls;

        if (tls == NULL)
            continue;
        if ((tls->p_align & (tls->p_align - 1)) != 0 || tls->p_memsz > SIZE_MAX / 8)
            return xy_fail_at(XY_EPARSE, modules[i].elf->path, 0, "the program headers are broken");
        used = place(&modules[i], used);
        align = tls->p_align > align ? tls->p_align : align;
    }
    if (UPWARD)
        first = begin(program, first);
    program->tls_size = used - first;
    program->tls_from = UPWARD ? (ptrdiff_t)first : -(ptrdiff_t)used;
    find_zeros(program);
    if (used > config->tls_reserve + FIRST || align > config->tls_align)
        return need_more(program, config, used - FIRST, align);
    if (begins_outside(program, config))
        return xy_fail_at(
            XY_ELIMIT, program->path, 0,
            "thread-local variables of a library are aligned to %zu bytes and those of "
            "the program to less; align one of the program's as well",
            align);
    root->tls_used = used;
    root->tls_reserve = config->tls_reserve;
    root->tls_align = config->tls_align;
    return XY_OK;
}

/* The values come from the image, where addresses among them are right. */
void process_image_fill_locals(const process_program_t *program, char *image, char *locals)
{
    const process_module_t *modules = program->modules.data;

    memset(locals, 0, program->tls_size);
    for (size_t i = 0; i < program->modules.count; i++) {
        const ElfW(Phdr) *tls = modules[i].elf->tls;

        if (tls != NULL)
            memcpy(locals + (modules[i].tls - program->tls_from),
                   process_image_at(image, process_module_offset(&modules[i], tls->p_vaddr)),
                   tls->p_filesz);
    }
}
