/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local variables of ranks.
 *
 * A program addresses its own at fixed distances from the thread pointer, because it counts on
 * being the main program of the process. The launcher's executable has a block of thread-local
 * memory there, so the addresses are good; the content is the running rank's, and is exchanged when
 * another runs. The same is done with the thread-local variables of the shared libraries the
 * program uses (the C++ runtime keeps the exceptions in flight there, OpenMP its teams). A program
 * and libraries without such variables cost nothing.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "mpi/launch/libc/process.h"

typedef struct {
    const char *path;
    size_t module; /* of the dynamic linker */
    size_t size, init_size;
    const void *init;
    size_t offset; /* in a rank's saved copy */
} library_t;

typedef struct {
    unsigned long module, offset;
} tls_index_t;

extern void *__tls_get_addr(tls_index_t *index);

#if defined(__aarch64__)
/* The executable's block begins 16 bytes behind the thread pointer, which must be aligned for
 * programs whose variables are: a variable of any library does that. */
static _Thread_local _Alignas(XMPI_TLS_ALIGN) char aligner __attribute__((used));
#endif

enum { MAX_LIBRARIES = 64 };

static library_t libraries[MAX_LIBRARIES];
static int library_count;
static size_t libraries_size;

/* Addresses of the libraries' blocks on this thread; asked for once. */
static _Thread_local void *blocks[MAX_LIBRARIES];
static _Thread_local mpi_process_t *last; /* whose content this thread's blocks have */

size_t mpi_locals_reserve(void)
{
    const ElfW(Phdr) *segment = (const void *)getauxval(AT_PHDR);
    size_t count = getauxval(AT_PHNUM);

    for (size_t i = 0; segment != NULL && i < count; i++)
        if (segment[i].p_type == PT_TLS)
            return segment[i].p_memsz;
    return 0;
}

static char *program_block(const mpi_program_t *program)
{
    return (char *)__builtin_thread_pointer() + program->tls_from;
}

/* Sanitizers keep there what they know of the thread; they are notified of switches (src/fiber). */
static bool is_skipped(const char *path)
{
    static const char *const names[] = {"libc.so",     "ld-linux",   "libmpi_abi.so", "linux-vdso",
                                        "libasan.so",  "liblsan.so", "libtsan.so",    "libubsan.so",
                                        "libclang_rt", NULL};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    for (int i = 0; names[i] != NULL; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return *name == '\0'; /* the launcher itself */
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    if (info->dlpi_tls_modid == 0 || is_skipped(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[i];

        if (s->p_type != PT_TLS || s->p_memsz == 0)
            continue;
        if (library_count == MAX_LIBRARIES)
            return 1;
        libraries[library_count++] =
            (library_t){.path = info->dlpi_name,
                        .module = info->dlpi_tls_modid,
                        .size = s->p_memsz,
                        .init_size = s->p_filesz,
                        .init = (const void *)(info->dlpi_addr + s->p_vaddr)};
    }
    return 0;
}

/* The heap is the process's, and so what an allocator knows of its threads: pieces in its caches
 * belong to the worker, whichever rank has freed them. */
static bool is_allocator(const char *path)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *map = NULL, *owner = NULL;
    void *found = handle != NULL ? dlsym(handle, "malloc") : NULL;
    bool is_own = found != NULL && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
                  dladdr1(found, &(Dl_info){0}, (void **)&owner, RTLD_DL_LINKMAP) != 0 &&
                  owner == map;

    if (handle != NULL)
        dlclose(handle);
    return is_own;
}

static void leave_out_allocators(void)
{
    int kept = 0;

    for (int i = 0; i < library_count; i++) {
        if (is_allocator(libraries[i].path))
            continue;
        libraries[kept] = libraries[i];
        libraries[kept++].offset = libraries_size;
        libraries_size += (libraries[i].size + 15) & ~(size_t)15;
    }
    library_count = kept;
}

xy_status_t mpi_locals_setup(void)
{
    library_count = 0;
    libraries_size = 0;
    if (dl_iterate_phdr(visit, NULL) != 0)
        return xy_fail(XY_ELIMIT,
                       "the program uses more than %d libraries with thread-local variables",
                       MAX_LIBRARIES);
    leave_out_allocators();
    return XY_OK;
}

xy_status_t mpi_locals_init(mpi_process_t *process)
{
    const mpi_program_t *program = process->program;
    char *saved;

    if (program->tls_size + libraries_size == 0)
        return XY_OK;
    saved = xy_calloc(1, program->tls_size + 16 + libraries_size);
    if (saved == NULL)
        return xy_fail_memory("starting a rank");
    process->thread_locals = saved;
    if (program->is_shared) /* the image's constructors have run on this thread */
        memcpy(saved, program_block(program), program->tls_size);
    else
        mpi_image_fill_locals(program, process->image, saved);
    process->library_locals = saved + ((program->tls_size + 15) & ~(size_t)15);
    for (int i = 0; i < library_count; i++)
        memcpy(process->library_locals + libraries[i].offset, libraries[i].init,
               libraries[i].init_size);
    return XY_OK;
}

static void *library_block(int i)
{
    if (blocks[i] == NULL) {
        tls_index_t index = {.module = libraries[i].module, .offset = 0};

        blocks[i] = __tls_get_addr(&index);
    }
    return blocks[i];
}

static void save(mpi_process_t *process)
{
    if (process->program->tls_size > 0)
        memcpy(process->thread_locals, program_block(process->program), process->program->tls_size);
    for (int i = 0; i < library_count; i++)
        memcpy(process->library_locals + libraries[i].offset, library_block(i), libraries[i].size);
}

static void restore(const mpi_process_t *process)
{
    if (process->program->tls_size > 0)
        memcpy(program_block(process->program), process->thread_locals, process->program->tls_size);
    for (int i = 0; i < library_count; i++)
        memcpy(library_block(i), process->library_locals + libraries[i].offset, libraries[i].size);
}

void mpi_locals_switch(mpi_process_t *next)
{
    mpi_process_self = next;
    if (next == NULL || next == last || next->thread_locals == NULL)
        return;
    if (last != NULL && !last->has_ended)
        save(last);
    restore(next);
    last = next;
}

void mpi_locals_fill(const mpi_program_t *program, char *image)
{
    if (program->tls_size > 0)
        mpi_image_fill_locals(program, image, program_block(program));
}
