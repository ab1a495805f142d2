/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/image/program.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGEST_ALIGNMENT = 64 << 10 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Can the read-only part be mapped from the file in one piece? Linkers that keep addresses and
 * offsets in step (GNU ld does) make it so; profilers then find the code's symbols. */
static bool is_in_step(const mpi_elf_t *elf, off_t *from_p)
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

static xy_status_t write_all(int fd, const char *bytes, size_t size, off_t at, const char *path)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, bytes, size, at);

        if (n < 0 && errno != EINTR)
            return xy_fail_errno(errno, path, "copy to memory");
        if (n > 0) {
            bytes += n;
            at += n;
            size -= (size_t)n;
        }
    }
    return XY_OK;
}

static xy_status_t flatten(mpi_module_t *module)
{
    const mpi_elf_t *elf = module->elf;
    xy_status_t st = XY_OK;

    module->code_fd = memfd_create("program", MFD_CLOEXEC);
    if (module->code_fd < 0 || ftruncate(module->code_fd, (off_t)(elf->writable - elf->low)) != 0)
        return xy_fail_errno(errno, elf->path, "copy to memory");
    module->owns_code_fd = true;
    for (int i = 0; i < elf->segment_count && st == XY_OK; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];

        if (s->p_type == PT_LOAD && s->p_vaddr < elf->writable)
            st = write_all(module->code_fd, elf->bytes + s->p_offset, s->p_filesz,
                           (off_t)(s->p_vaddr - elf->low), elf->path);
    }
    return st;
}

static size_t alignment(const mpi_elf_t *elf)
{
    size_t align = (size_t)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].p_type == PT_LOAD && elf->segments[i].p_align > align)
            align = elf->segments[i].p_align;
    return align < LARGEST_ALIGNMENT ? align : LARGEST_ALIGNMENT;
}

static xy_status_t lay_out(mpi_program_t *program)
{
    mpi_module_t *modules = program->modules.data;
    bool is_fixed = modules[0].elf->kind == XMPI_ELF_FIXED;
    void *wanted = is_fixed ? (void *)modules[0].elf->low : NULL;
    size_t end = 0, align = 1;
    xy_status_t st = XY_OK;

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
    program->cxx_streams = round_up(end, XMPI_CXX_STREAM_ROOM);
    end = program->cxx_streams + XMPI_CXX_STREAMS * XMPI_CXX_STREAM_ROOM;
    program->stride = round_up(end, align);
    program->region = mmap(
        wanted, program->stride * (size_t)program->images + align, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (is_fixed ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (program->region == MAP_FAILED) {
        program->region = NULL;
        return xy_fail(XY_ENOMEM,
                       "not enough address space for %d copies of '%s'; start fewer ranks",
                       program->images, program->path);
    }
    if (!is_fixed)
        program->region = (char *)round_up((uintptr_t)program->region, align);
    return XY_OK;
}

static xy_status_t check_kind(const mpi_elf_t *elf, const mpi_program_config_t *config)
{
    if (elf->has_text_relocations)
        return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                          "the code must be changed to be loaded; compile it as "
                          "position-independent code (-fPIE)");
    if (elf->kind == XMPI_ELF_PIE || (elf->kind == XMPI_ELF_FIXED && config->is_shared))
        return XY_OK;
    if (elf->kind == XMPI_ELF_FIXED)
        return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                          "the program is linked to a fixed address, so that ranks cannot have "
                          "copies of it; compile and link it with -fPIE -pie (the compiler's "
                          "default), or run it with --share-globals");
    return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                      "this is not an executable that can be loaded");
}

static xy_status_t find_main(mpi_program_t *program, const mpi_program_config_t *config)
{
    static void *nowhere[XMPI_VARIABLES];
    const mpi_module_t *module = program->modules.data;
    char *image;
    void *found;
    xy_status_t st = mpi_image_place(program, 0, &image);

    if (st != XY_OK)
        return st;
    mpi_image_fix(program, image, nowhere);
    found = config->capture_main(
        mpi_image_at(image, mpi_module_offset(module, module->elf->header->e_entry)));
    if (found == NULL)
        return xy_fail_at(XY_EUNSUPPORTED, program->path, 0,
                          "the program does not start as C and C++ programs do: its main function "
                          "was not found");
    program->main = (size_t)((char *)found - image);
    return XY_OK;
}

static xy_status_t load(mpi_program_t *program, const mpi_program_config_t *config)
{
    xy_status_t st = mpi_program_gather(program, config);

    if (st == XY_OK)
        st = check_kind(((mpi_module_t *)program->modules.data)->elf, config);
    if (st == XY_OK)
        st = mpi_program_place_locals(program, config);
    if (st == XY_OK)
        st = lay_out(program);
    config->prepare_copies();
    if (st == XY_OK)
        st = mpi_program_resolve(program);
    if (st == XY_OK)
        st = mpi_program_register(program);
    return st == XY_OK ? find_main(program, config) : st;
}

typedef xy_status_t (*load_fn)(mpi_program_t *program, const mpi_program_config_t *config);

static xy_status_t make(const char *path, const mpi_program_config_t *config, load_fn load_with,
                        mpi_program_t *parent, mpi_program_t **program_p)
{
    mpi_program_t *program = xy_calloc(1, sizeof(*program));
    xy_status_t st;

    if (program == NULL)
        return xy_fail_memory("loading the program");
    program->modules = XY_VEC_INIT(mpi_module_t);
    program->fixups = XY_VEC_INIT(mpi_fixup_t);
    program->preloads = XY_VEC_INIT(char *);
    program->parent = parent;
    program->is_shared = config->is_shared;
    program->first = config->first;
    program->shown = config->shown;
    program->images = config->is_shared ? 1 : config->images;
    program->path = xy_strdup(path);
    st = program->path != NULL ? load_with(program, config) : xy_fail_memory("loading the program");
    if (st != XY_OK) {
        mpi_program_destroy(program);
        return st;
    }
    *program_p = program;
    return XY_OK;
}

xy_status_t mpi_program_load(const char *path, const mpi_program_config_t *config,
                             mpi_program_t **program_p)
{
    return make(path, config, load, NULL, program_p);
}

static xy_status_t load_plugin(mpi_program_t *plugin, const mpi_program_config_t *config)
{
    xy_status_t st = mpi_program_gather(plugin, config);

    if (st == XY_OK && ((mpi_module_t *)plugin->modules.data)->elf->has_text_relocations)
        st = xy_fail_at(XY_EUNSUPPORTED, plugin->path, 0,
                        "the code must be changed to be loaded; "
                        "compile it with -fPIC");
    if (st == XY_OK)
        st = mpi_program_place_locals(plugin, config);
    if (st == XY_OK)
        st = lay_out(plugin);
    if (st == XY_OK)
        st = mpi_program_resolve(plugin);
    return st == XY_OK ? mpi_program_register(plugin) : st;
}

/* The process cannot be started again any more: the library is refused when it comes to that. */
static xy_status_t ignore(const xy_vec_t *libraries, bool is_verbose)
{
    (void)libraries;
    (void)is_verbose;
    return XY_OK;
}

xy_status_t mpi_program_load_plugin(mpi_program_t *parent, const char *path,
                                    mpi_program_t **plugin_p)
{
    mpi_program_config_t config = {.first = parent->first,
                                   .shown = parent->shown,
                                   .images = parent->images,
                                   .is_shared = parent->is_shared,
                                   .tls_reserve = parent->tls_reserve,
                                   .tls_align = parent->tls_align,
                                   .must_preload = ignore};

    return make(path, &config, load_plugin, parent, plugin_p);
}

void mpi_program_destroy(mpi_program_t *program)
{
    mpi_module_t *modules;

    if (program == NULL)
        return;
    mpi_program_unregister(program);
    modules = program->modules.data;
    for (size_t i = 0; i < program->modules.count; i++) {
        if (modules[i].owns_code_fd)
            close(modules[i].code_fd);
        mpi_elf_close(modules[i].elf);
    }
    if (program->region != NULL)
        munmap(program->region, program->stride * (size_t)program->images);
    xy_vec_cleanup(&program->modules);
    xy_vec_cleanup(&program->fixups);
    for (size_t i = 0; i < program->preloads.count; i++)
        xy_free(XY_VEC_AT(&program->preloads, char *, i));
    xy_vec_cleanup(&program->preloads);
    xy_free(program->path);
    xy_free(program);
}
