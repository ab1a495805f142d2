/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local variables of processes.
 *
 * A program addresses its own at fixed distances from the thread pointer, because it counts on
 * being the main program of the host. The launcher's executable has a block of thread-local
 * memory there, so the addresses are good; the content is the running process's, and is exchanged
 * when another runs. The same is done with the thread-local variables of the shared libraries the
 * program uses (the C++ runtime keeps the exceptions in flight there, OpenMP its teams). A program
 * and libraries without such variables cost nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/libc/process_state.h"

typedef struct {
    const char *path;
    size_t module;      /* of the dynamic linker; 0: a private plug-in */
    ptrdiff_t distance; /* offset of its block from the thread pointer */
    size_t size, init_size;
    const void *init;
    size_t offset; /* in a process's saved copy */
} library_t;

typedef struct {
    unsigned long module, offset;
} tls_index_t;

extern void *__tls_get_addr(tls_index_t *index);

enum { ALIGNMENT = 64 }; /* of the thread pointer, at least */

enum { MAX_LIBRARIES = 256, FIRST_LIBRARIES = 16 };

/* Processes that load more add to them; an entry does not change any more. */
static library_t libraries[MAX_LIBRARIES];
static _Atomic int library_count;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* Addresses of the first libraries' blocks on this thread; asked for once. Few: programs that load
 * this library with dlopen have little room for thread-local variables of fixed places. */
static _Thread_local void *blocks[FIRST_LIBRARIES];
static _Thread_local process_t *last; /* the process whose content this thread's blocks have */

size_t process_locals_reserve(size_t *align_p)
{
    const ElfW(Phdr) *segment = (const void *)getauxval(AT_PHDR);
    size_t count = getauxval(AT_PHNUM);

    for (size_t i = 0; segment != NULL && i < count; i++)
        if (segment[i].p_type == PT_TLS) {
            *align_p = segment[i].p_align > ALIGNMENT ? segment[i].p_align : ALIGNMENT;
            return segment[i].p_memsz;
        }
    *align_p = 1;
    return 0;
}

static char *program_block(const process_program_t *program)
{
    return (char *)__builtin_thread_pointer() + program->tls_from;
}

/* Sanitizers keep there what they know of the thread; they are notified of switches (src/fiber). */
static bool is_skipped(const char *path)
{
    static const char *const names[] = {"libc.so",     "ld-linux",    "linux-vdso",
                                        "libasan.so",  "liblsan.so",  "libtsan.so",
                                        "libubsan.so", "libclang_rt", NULL};
    const char *name = basename(path);

    for (int i = 0; names[i] != NULL; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return *name == '\0' || process_library_is_own(name); /* the launcher itself */
}

static bool is_known(size_t module)
{
    int n = library_count;

    for (int i = 0; i < n; i++)
        if (libraries[i].module == module)
            return true;
    return false;
}

typedef struct {
    library_t found[MAX_LIBRARIES];
    int count;
} search_t;

/* Is the library a driver of CUDA? It keeps the state of a call in variables of the thread. */
static bool is_driver(const char *path)
{
    const char *name = basename(path);

    return strncmp(name, "libcuda.so", 10) == 0 || strncmp(name, "libnvidia-", 10) == 0;
}

/* Callback of dl_iterate_phdr: collect shared libraries with thread-local variables that are not
 * yet known. */
static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    search_t *search = argument;

    (void)size;
    if (is_driver(info->dlpi_name) &&
        search->count < MAX_LIBRARIES) { /* with variables or without */
        search->found[search->count++] = (library_t){.path = info->dlpi_name};
        return 0;
    }
    if (info->dlpi_tls_modid == 0 || is_skipped(info->dlpi_name) || is_known(info->dlpi_tls_modid))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[i];

        if (s->p_type != PT_TLS || s->p_memsz == 0)
            continue;
        if (search->count == MAX_LIBRARIES)
            return 1;
        search->found[search->count++] =
            (library_t){.path = info->dlpi_name,
                        .module = info->dlpi_tls_modid,
                        .size = s->p_memsz,
                        .init_size = s->p_filesz,
                        .init = (const void *)(info->dlpi_addr + s->p_vaddr)};
    }
    return 0;
}

/* The heap is the host's, and so what an allocator knows of its threads: pieces in its caches
 * belong to the worker, whichever process has freed them. */
static bool is_allocator(void *handle)
{
    struct link_map *map = NULL, *owner = NULL;
    void *found = dlsym(handle, "malloc");

    return found != NULL && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
           dladdr1(found, &(Dl_info){0}, (void **)&owner, RTLD_DL_LINKMAP) != 0 && owner == map;
}

static size_t saved_size(int count)
{
    const library_t *last_one = &libraries[count - 1];

    return count > 0 ? last_one->offset + ((last_one->size + 15) & ~(size_t)15) : 0;
}

static xy_status_t add(const library_t *library)
{
    int n = library_count;

    if (n == MAX_LIBRARIES)
        return xy_fail(XY_ELIMIT,
                       "the program uses more than %d libraries with thread-local variables",
                       MAX_LIBRARIES);
    libraries[n] = *library;
    libraries[n].offset = saved_size(n);
    library_count = n + 1;
    return XY_OK;
}

enum { MAX_OF_WORKERS = 64 };

static struct link_map *of_workers[MAX_OF_WORKERS];
static _Atomic int of_worker_count;

static void note_of_worker(void *handle)
{
    struct link_map *map = NULL;
    int n = of_worker_count;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || n == MAX_OF_WORKERS)
        return;
    for (int i = 0; i < n; i++)
        if (of_workers[i] == map)
            return;
    of_workers[n] = map;
    of_worker_count = n + 1;
}

bool process_locals_is_of_worker(const void *code)
{
    int n = of_worker_count;
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    struct dl_find_object object;

    if (n == 0 || _dl_find_object((void *)(uintptr_t)code, &object) != 0)
        return false;
    for (int i = 0; i < n; i++)
        if (object.dlfo_link_map == of_workers[i])
            return true;
#else
    (void)code;
    (void)n;
#endif
    return false;
}

/* It must stay: processes hold its variables. */
static xy_status_t add_shared(const library_t *library)
{
    void *handle = dlopen(library->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    bool is_left_out = handle == NULL || is_allocator(handle) || is_driver(library->path);

    if (handle != NULL && is_left_out)
        note_of_worker(handle);
    if (handle != NULL)
        dlclose(handle);
    return is_left_out ? XY_OK : add(library);
}

/* Add newly loaded libraries with thread-local variables, and those of a plug-in, to the exchanged
 * ones. */
static xy_status_t extend(const process_program_t *plugin)
{
    search_t *search = xy_calloc(1, sizeof(*search));
    library_t own = {.path = plugin != NULL ? plugin->path : NULL};
    xy_status_t st = search != NULL ? XY_OK : xy_fail_memory("loading the program");

    if (st == XY_OK)
        dl_iterate_phdr(visit, search);
    for (int i = 0; st == XY_OK && i < search->count; i++)
        st = add_shared(&search->found[i]);
    xy_free(search);
    if (st != XY_OK || plugin == NULL || plugin->tls_size == 0)
        return st;
    own.distance = plugin->tls_from;
    own.size = plugin->tls_size;
    for (int i = 0; i < library_count; i++)
        if (libraries[i].module == 0 && libraries[i].distance == own.distance)
            return XY_OK;
    return add(&own);
}

xy_status_t process_locals_extend(const process_program_t *plugin)
{
    xy_status_t st;

    pthread_mutex_lock(&adding);
    st = extend(plugin);
    pthread_mutex_unlock(&adding);
    return st;
}

xy_status_t process_locals_setup(void)
{
    return process_locals_extend(NULL);
}

/* A process that has not run since a library came has its initial values. */
static bool make_room(process_t *process)
{
    int n = library_count;
    char *room = n > process->libraries ? xy_realloc(process->library_locals, saved_size(n)) : NULL;

    if (room == NULL)
        return n == process->libraries;
    process->library_locals = room;
    for (int i = process->libraries; i < n; i++) {
        memset(room + libraries[i].offset, 0, libraries[i].size);
        if (libraries[i].init_size > 0)
            memcpy(room + libraries[i].offset, libraries[i].init, libraries[i].init_size);
    }
    process->libraries = n;
    return true;
}

xy_status_t process_locals_init(process_t *process)
{
    const process_program_t *program = process->program;

    if (program->tls_size > 0) {
        process->thread_locals = xy_malloc(program->tls_size);
        if (process->thread_locals == NULL)
            return xy_fail_memory("starting a rank");
        process->zeros.from = process->zeros.used_from = process->zeros.used_to =
            program->zeros_from;
        process->zeros.to = program->is_shared ? program->zeros_from : program->zeros_to;
        if (program->is_shared) /* the image's constructors have run on this thread */
            memcpy(process->thread_locals, program_block(program), program->tls_size);
        else
            process_image_fill_locals(program, process->image, process->thread_locals);
    }
    return make_room(process) ? XY_OK : xy_fail_memory("starting a rank");
}

static void *find_block(int i)
{
    tls_index_t index = {.module = libraries[i].module, .offset = 0};

    return libraries[i].module != 0 ? __tls_get_addr(&index)
                                    : (char *)__builtin_thread_pointer() + libraries[i].distance;
}

static void *library_block(int i)
{
    if (i >= FIRST_LIBRARIES)
        return find_block(i);
    if (blocks[i] == NULL)
        blocks[i] = find_block(i);
    return blocks[i];
}

/* ---- Zeros ----
 *
 * A library may have many variables that few programs use: OpenBLAS has 60 KiB of them, and to copy
 * them would cost a hundred times as much as the switch. Pages of zeros that no process has touched
 * on a thread are not in memory, so the kernel knows which ones have to be exchanged. They are kept
 * from being swapped out, which would look alike. */

enum { ZEROS_LEAST = 4, ZEROS_MOST = 256 }; /* pages */

/* The pages of zeros of the program that this thread runs, and those that were touched. */
static _Thread_local struct {
    const process_program_t *program;
    char *from, *to, *used_from, *used_to;
    bool is_off; /* all is copied: the kernel does not tell, or there is another program */
} zeros;

/* Let all pages be zeros that are not in memory. */
static bool discard(void)
{
    size_t bytes = (size_t)(zeros.to - zeros.from);

    (void)madvise(zeros.from, bytes, MADV_NOHUGEPAGE);
    zeros.used_from = zeros.used_to = zeros.from;
    return madvise(zeros.from, bytes, MADV_DONTNEED) == 0 &&
           mlock2(zeros.from, bytes, MLOCK_ONFAULT) == 0;
}

/* Does this thread know which zeros it has? The first process with any begins that. */
static bool has_zeros(const process_program_t *program)
{
    uintptr_t page, from, to;

    if (zeros.program == program || zeros.is_off) {
        zeros.is_off |= zeros.program != program;
        return !zeros.is_off;
    }
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    from = ((uintptr_t)program_block(program) + program->zeros_from + page - 1) & ~(page - 1);
    to = ((uintptr_t)program_block(program) + program->zeros_to) & ~(page - 1);
    zeros.is_off =
        zeros.program != NULL || to < from + ZEROS_LEAST * page || to > from + ZEROS_MOST * page;
    zeros.program = program;
    zeros.from = (char *)from;
    zeros.to = (char *)to;
    zeros.is_off = zeros.is_off || !discard();
    return !zeros.is_off;
}

/* The pages from `from` to `to`, as far as they are zeros at first, are used. */
static void use(char *from, char *to)
{
    from = from > zeros.from ? from : zeros.from;
    to = to < zeros.to ? to : zeros.to;
    if (from >= to)
        return;
    if (zeros.used_from == zeros.used_to) {
        zeros.used_from = from;
        zeros.used_to = to;
    }
    zeros.used_from = from < zeros.used_from ? from : zeros.used_from;
    zeros.used_to = to > zeros.used_to ? to : zeros.used_to;
}

/* Which pages were touched? */
static void look_at_zeros(void)
{
    unsigned char is_there[ZEROS_MOST];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size_t)(zeros.to - zeros.from) / page;

    if (zeros.used_from == zeros.from && zeros.used_to == zeros.to)
        return;
    if (mincore(zeros.from, n * page, is_there) != 0)
        memset(is_there, 1, n);
    for (size_t i = 0; i < n; i++)
        if (is_there[i] & 1)
            use(zeros.from + i * page, zeros.from + (i + 1) * page);
}

/* Copy the program's variables to or from the thread's block without the pages that are zeros. */
static void copy_used(const process_t *process, bool is_saved)
{
    char *block = program_block(process->program), *kept = process->thread_locals;
    const struct {
        char *from, *to;
    } parts[] = {{block, zeros.from},
                 {zeros.used_from, zeros.used_to},
                 {zeros.to, block + process->program->tls_size}};

    for (int i = 0; i < 3; i++) {
        char *at = kept + (parts[i].from - block);
        size_t bytes = (size_t)(parts[i].to - parts[i].from);

        memcpy(is_saved ? at : parts[i].from, is_saved ? parts[i].from : at, bytes);
    }
}

/* Keep the program's variables, and which of the zeros were touched. */
static void save_program(process_t *process)
{
    const process_program_t *program = process->program;
    char *block = program_block(program);

    if (zeros.program == program && !zeros.is_off) {
        look_at_zeros();
        copy_used(process, true);
        process->zeros.from = (size_t)(zeros.from - block);
        process->zeros.to = (size_t)(zeros.to - block);
        process->zeros.used_from = (size_t)(zeros.used_from - block);
        process->zeros.used_to = (size_t)(zeros.used_to - block);
        return;
    }
    memcpy(process->thread_locals, block, program->tls_size);
    process->zeros.from = process->zeros.to = program->zeros_from;
    process->zeros.used_from = process->zeros.used_to = program->zeros_from;
}

/* Use the variables of the process from `from` to `to`, unless they are zeros. */
static void use_kept(const process_t *process, char *from, char *to)
{
    const char *block = program_block(process->program);

    for (char *at = from; at < to; at++)
        if (process->thread_locals[at - block] != 0) {
            use(at, to);
            return;
        }
}

/* Pages of another thread may begin elsewhere, so what is no page of zeros there may be one here.
 */
static void restore_program(const process_t *process)
{
    char *block = program_block(process->program), *known_from = block + process->zeros.from,
         *known_to = block + process->zeros.to;

    if (!has_zeros(process->program)) {
        memcpy(block, process->thread_locals, process->program->tls_size);
        return;
    }
    use_kept(process, zeros.from, known_from < zeros.to ? known_from : zeros.to);
    use_kept(process, known_to > zeros.from ? known_to : zeros.from, zeros.to);
    use(block + process->zeros.used_from, block + process->zeros.used_to);
    copy_used(process, false);
}

static void save(process_t *process)
{
    make_room(process);
    if (process->program->tls_size > 0)
        save_program(process);
    for (int i = 0; i < process->libraries; i++)
        memcpy(process->library_locals + libraries[i].offset, library_block(i), libraries[i].size);
}

static void restore(process_t *process)
{
    make_room(process);
    if (process->program->tls_size > 0)
        restore_program(process);
    for (int i = 0; i < process->libraries; i++)
        memcpy(library_block(i), process->library_locals + libraries[i].offset, libraries[i].size);
}

void process_locals_switch(process_t *next)
{
    process_self = process_main = next;
    if (next == last || (library_count == 0 && next->thread_locals == NULL))
        return;
    if (last != NULL && !last->has_ended)
        save(last);
    restore(next);
    last = next;
}

void process_locals_leave(void)
{
    if (last != NULL)
        save(last);
    last = NULL;
    if (process_self != NULL)
        process_self->thread_pointer = (uintptr_t)__builtin_thread_pointer();
}

void process_locals_give(process_t *process)
{
    if (last == process) {
        save(process);
        last = NULL;
    }
    process->thread_pointer = (uintptr_t)__builtin_thread_pointer();
}

/* Compilers count on a function's thread staying the same: in the callers of a function that moves
 * the process (process_detach) they
 * may keep the thread pointer (on aarch64 they do), addresses of thread-local variables, and that
 * of errno, in registers and on the stack. Nothing else there is likely to have the value of such
 * an address. The words around variables that a sanitizer guards are read, too. */
__attribute__((no_sanitize("address"), no_sanitize("thread"))) void
process_locals_follow(void *argument, void *low, void *high)
{
    const process_t *process = argument;
    const process_program_t *program = process->program;
    uintptr_t old = process->thread_pointer, new = (uintptr_t)__builtin_thread_pointer();
    ptrdiff_t from = 0, to = (ptrdiff_t)((uintptr_t)&errno - new),
              used = (ptrdiff_t)program->tls_used;

    if (to < 0) {
        from = to;
        to = 0;
    }
    if (program->tls_from < 0)
        from = -used < from ? -used : from;
    else
        to = used > to ? used : to;
    for (uintptr_t *word = low; word < (uintptr_t *)high; word++)
        if (*word - (old + (uintptr_t)from) <= (uintptr_t)(to - from))
            *word += new - old;
}

void process_locals_drop(void)
{
    last = NULL;
}

void process_locals_fill(const process_program_t *program, char *image)
{
    if (program->tls_size > 0)
        process_image_fill_locals(program, image, program_block(program));
}

void process_locals_begin(const process_t *process)
{
    process_locals_fill(process->program, process->image);
    for (size_t i = 0; i < process->plugins.count; i++) {
        const process_program_t *plugin =
            XY_VEC_AT(&process->plugins, const process_program_t *, i);

        process_locals_fill(plugin, process_image_of_plugin(plugin, process->image));
    }
}
