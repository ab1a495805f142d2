/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/image/load_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/image/collect.h"
#include "process/ops/ops.h"

enum { LARGEST_ALIGNMENT = 64 << 10 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* The choice for a library, and its module where it is private. */
typedef struct {
    const process_choice_t *choice;
    const process_module_t *module;
} line_t;

static line_t line_of(const process_program_t *program, const process_choice_t *choice)
{
    line_t line = {.choice = choice};

    if (choice->is_private && program->parent != NULL) /* each module is a plug-in */
        program = process_plugin_find(program->parent, choice->name);
    if (choice->is_private && program != NULL)
        line.module = process_program_find_module(program, choice->name);
    return line;
}

static int is_dearer(const void *a, const void *b)
{
    const process_module_t *left = ((const line_t *)a)->module,
                           *right = ((const line_t *)b)->module;

    if (left == NULL || right == NULL)
        return (left == NULL) - (right == NULL);
    return (left->written < right->written) - (left->written > right->written);
}

void process_program_tell(const process_program_t *program)
{
    size_t count = program->choices.count;
    line_t *lines = xy_calloc(count + 1, sizeof(*lines));

    for (size_t i = 0; lines != NULL && i < count; i++)
        lines[i] = line_of(program, &XY_VEC_AT(&program->choices, process_choice_t, i));
    if (lines != NULL)
        qsort(lines, count, sizeof(*lines), is_dearer);
    for (size_t i = 0; lines != NULL && i < count; i++) {
        const process_choice_t *choice = lines[i].choice;
        const process_module_t *module = lines[i].module;

        if (module != NULL)
            process_say("private library '%s': %s; relocation takes %zu KiB of its %zu KiB of "
                        "data per rank",
                        choice->name, choice->reason, module->written >> 10,
                        (module->elf->high - module->elf->writable) >> 10);
        else if (!process_library_is_base(choice->name))
            process_say("shared library '%s': %s", choice->name, choice->reason);
    }
    xy_free(lines);
}

/* Can the read-only part be mapped from the file in one piece? Linkers that keep addresses and
 * offsets in step (GNU ld does) make it so; profilers then find the code's symbols. */
static bool is_in_step(const process_elf_t *elf, off_t *from_p)
{
    off_t from = 0;
    bool is_first = true;

    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];
        off_t start = (off_t)s->p_offset - (off_t)(s->p_vaddr - elf->low);

        if (s->p_type != PT_LOAD || s->p_vaddr >= elf->writable)
            continue;
        if ((!is_first && start != from) || start < 0 || start % sysconf(_SC_PAGESIZE) != 0)
            return false;
        from = start;
        is_first = false;
    }
    *from_p = from;
    return true;
}

/* Copy the read-only segments into a file in memory, where one mapping covers all of them. */
static xy_status_t flatten(process_module_t *module)
{
    const process_elf_t *elf = module->elf;
    int error = 0;

    module->code_fd = memfd_create("program", MFD_CLOEXEC);
    if (module->code_fd < 0 || ftruncate(module->code_fd, (off_t)(elf->writable - elf->low)) != 0)
        return xy_fail_errno(errno, elf->path, "copy to memory");
    module->owns_code_fd = true;
    for (int i = 0; i < elf->segment_count && error == 0; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];

        if (s->p_type == PT_LOAD && s->p_vaddr < elf->writable)
            error = xy_write_all_at(module->code_fd, elf->bytes + s->p_offset, s->p_filesz,
                                    s->p_vaddr - elf->low);
    }
    return error == 0 ? XY_OK : xy_fail_errno(error, elf->path, "copy to memory");
}

static size_t alignment(const process_elf_t *elf)
{
    size_t align = (size_t)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].p_type == PT_LOAD && elf->segments[i].p_align > align)
            align = elf->segments[i].p_align;
    return align < LARGEST_ALIGNMENT ? align : LARGEST_ALIGNMENT;
}

/* Append a module to the order behind those that it needs; circles are cut somewhere. */
static xy_status_t put_in_order(process_program_t *program, size_t module, xy_bitset_t *seen)
{
    const process_module_t *modules = program->modules.data;
    xy_status_t st = XY_OK;

    xy_bitset_set(seen, module);
    for (size_t i = 0; i < program->modules.count && st == XY_OK; i++)
        if (!xy_bitset_has(seen, i) && process_library_needs(modules[module].elf, modules[i].elf))
            st = put_in_order(program, i, seen);
    if (st == XY_OK && xy_vec_append(&program->order, &module) != XY_OK)
        st = xy_fail_memory("loading the program");
    return st;
}

/* Find the order of initialisation; libraries that nothing needs (preloaded tools, plug-ins of
 * others) come from last to first. */
static xy_status_t find_order(process_program_t *program)
{
    xy_bitset_t seen;
    xy_status_t st;

    if (xy_bitset_init(&seen, program->modules.count) != XY_OK)
        return xy_fail_memory("loading the program");
    st = XY_OK;
    for (size_t i = program->modules.count; i-- > 0 && st == XY_OK;)
        if (!xy_bitset_has(&seen, i))
            st = put_in_order(program, i, &seen);
    xy_bitset_cleanup(&seen);
    return st;
}

xy_status_t process_program_lay_out(process_program_t *program)
{
    process_module_t *modules = program->modules.data;
    bool is_fixed = modules[0].elf->kind == PROCESS_ELF_FIXED;
    void *wanted = is_fixed ? (void *)modules[0].elf->low : NULL;
    size_t end = 0, align = 1;
    xy_status_t st = find_order(program);

    for (size_t i = 0; i < program->modules.count && st == XY_OK; i++) {
        size_t own = alignment(modules[i].elf);

        modules[i].offset = round_up(end, own);
        end = modules[i].offset + (modules[i].elf->high - modules[i].elf->low);
        align = own > align ? own : align;
        modules[i].code_fd = modules[i].elf->fd;
        if (!is_in_step(modules[i].elf, &modules[i].code_from))
            st = flatten(&modules[i]);
    }
    if (st != XY_OK)
        return st;
    program->cxx_streams = round_up(end, PROCESS_CXX_STREAM_ROOM);
    end = program->cxx_streams + PROCESS_CXX_STREAMS * PROCESS_CXX_STREAM_ROOM;
    program->stride = round_up(end, align);
    st = process_program_check_space(program);
    if (st != XY_OK)
        return st;
    program->region = mmap(
        wanted, program->stride * (size_t)program->images + align, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (is_fixed ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (program->region == MAP_FAILED) {
        program->region = NULL;
        return xy_fail(XY_ENOMEM,
                       "no address space for %d copies of '%s' and its libraries (%zu MiB); share "
                       "libraries (--share, -v lists them), start fewer ranks, or allow "
                       "overcommitment ('sysctl -w vm.overcommit_memory=0')",
                       program->images, program->path,
                       (program->stride * (size_t)program->images) >> 20);
    }
    if (!is_fixed)
        program->region = (char *)round_up((uintptr_t)program->region, align);
    return XY_OK;
}

/* Report a program that cannot be loaded as private copies, or at all. */
static xy_status_t check_kind(const process_elf_t *elf, const process_program_config_t *config)
{
    if (elf->has_text_relocations)
        return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                          "the code must be changed to be loaded; compile it as "
                          "position-independent code (-fPIE)");
    if (elf->kind == PROCESS_ELF_PIE || (elf->kind == PROCESS_ELF_FIXED && config->is_shared))
        return XY_OK;
    if (elf->kind == PROCESS_ELF_FIXED)
        return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                          "the program is linked to a fixed address, so that ranks cannot have "
                          "copies of it; compile and link it with -fPIE -pie (the compiler's "
                          "default), run it with --share-globals, or start it from a script, which "
                          "makes each rank a process");
    return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                      "this is not an executable that can be loaded");
}

/* Find the offset of main() by capturing the call that the entry code makes in image 0. */
static xy_status_t find_main(process_program_t *program, const process_program_config_t *config)
{
    static void *nowhere[PROCESS_VARIABLES];
    const process_module_t *module = program->modules.data;
    char *image;
    void *found;
    xy_status_t st = process_image_place(program, 0, &image);

    if (st != XY_OK)
        return st;
    process_image_fix(program, image, nowhere);
    found = config->capture_main(
        process_image_at(image, process_module_offset(module, module->elf->header->e_entry)));
    if (found == NULL)
        return xy_fail_at(XY_EUNSUPPORTED, program->path, 0,
                          "the program does not start as C and C++ programs do: its main function "
                          "was not found");
    program->main = (size_t)((char *)found - image);
    return XY_OK;
}

/* Load a program: its libraries, layout, relocations and main function. */
static xy_status_t load(process_program_t *program, const process_program_config_t *config)
{
    xy_status_t st = process_program_gather(program, config);

    if (st == XY_OK)
        st = check_kind(((process_module_t *)program->modules.data)->elf, config);
    if (st == XY_OK)
        st = process_program_place_locals(program, config);
    if (st == XY_OK)
        st = process_program_lay_out(program);
    config->prepare_copies();
    if (st == XY_OK)
        st = process_program_resolve(program);
    if (st == XY_OK)
        st = process_program_check_mappings(program);
    if (st == XY_OK)
        st = process_program_register(program);
    return st == XY_OK ? find_main(program, config) : st;
}

process_program_t *process_program_new(const char *path, const process_program_config_t *config,
                                       process_program_t *parent)
{
    process_program_t *program = xy_calloc(1, sizeof(*program));

    if (program == NULL)
        return NULL;
    program->modules = XY_VEC_INIT(process_module_t);
    program->order = XY_VEC_INIT(size_t);
    program->fixups = XY_VEC_INIT(process_fixup_t);
    program->data_fd = -1;
    program->preloads = XY_VEC_INIT(char *);
    program->choices = XY_VEC_INIT(process_choice_t);
    program->scope = XY_VEC_INIT(process_program_t *);
    program->family = XY_VEC_INIT(process_program_t *);
    program->uses = XY_VEC_INIT(process_program_t *);
    program->config = *config;
    program->parent = parent;
    program->is_shared = config->is_shared;
    program->first = config->first;
    program->shown = config->shown;
    program->images = config->is_shared ? 1 : config->images;
    program->path = xy_strdup(path);
    if (program->path != NULL &&
        (parent != NULL || xy_vec_append(&program->scope, &program) == XY_OK))
        return program;
    process_program_destroy(program);
    return NULL;
}

xy_status_t process_program_load(const char *path, const process_program_config_t *config,
                                 process_program_t **program_p)
{
    process_program_t *program = process_program_new(path, config, NULL);
    xy_status_t st =
        program != NULL ? load(program, config) : xy_fail_memory("loading the program");

    if (st != XY_OK) {
        process_program_destroy(program);
        return st;
    }
    if (config->is_verbose)
        process_program_tell(program);
    *program_p = program;
    return XY_OK;
}

void process_program_destroy(process_program_t *program)
{
    process_module_t *modules;

    if (program == NULL)
        return;
    process_program_unregister(program);
    modules = program->modules.data;
    for (size_t i = 0; i < program->modules.count; i++) {
        if (modules[i].owns_code_fd)
            close(modules[i].code_fd);
        process_elf_close(modules[i].elf);
    }
    if (program->prototype != NULL)
        munmap(program->prototype, program->prototype_size);
    if (program->data_fd >= 0)
        close(program->data_fd);
    xy_bitset_cleanup(&program->relative);
    if (program->region != NULL)
        munmap(program->region, program->stride * (size_t)program->images);
    xy_vec_cleanup(&program->modules);
    xy_vec_cleanup(&program->order);
    xy_vec_cleanup(&program->fixups);
    for (size_t i = 0; i < program->choices.count; i++) {
        xy_free(XY_VEC_AT(&program->choices, process_choice_t, i).name);
        xy_free(XY_VEC_AT(&program->choices, process_choice_t, i).reason);
    }
    xy_vec_cleanup(&program->choices);
    xy_vec_cleanup(&program->scope);
    xy_vec_cleanup(&program->family);
    xy_vec_cleanup(&program->uses);
    for (size_t i = 0; i < program->preloads.count; i++)
        xy_free(XY_VEC_AT(&program->preloads, char *, i));
    xy_vec_cleanup(&program->preloads);
    xy_free(program->path);
    xy_free(program);
}
