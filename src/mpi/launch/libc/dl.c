/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen, dlsym and dlvsym in a rank. The dynamic linker does not know of images: a rank that asks
 * for its own program (dlopen(NULL), RTLD_DEFAULT, RTLD_NEXT) is answered here, and so is one that
 * loads a plug-in which uses the program's symbols and so must be private (image/plugin.c). All
 * other questions go on to the C library, which looks at the address they come from: the functions
 * jump there instead of calling it.
 */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mpi/launch/libc/device.h"
#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef void *(*symbol_fn)(void *handle, const char *name);
typedef void *(*versioned_fn)(void *handle, const char *name, const char *version);
typedef void *(*open_fn)(const char *path, int flags);

/* ---- What the C library has ---- */

typedef struct {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash; /* DT_GNU_HASH */
} exports_t;

static exports_t exports_of(const struct link_map *map)
{
    exports_t e = {0};

    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SYMTAB)
            e.symbols = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            e.strings = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_GNU_HASH)
            e.hash = (const void *)d->d_un.d_ptr;
    return e;
}

/* As strcmp, which a sanitizer has in front of the C library's, and asks for symbols here before it
 * knows that one. */
static bool is_same(const char *a, const char *b)
{
    for (; *a == *b; a++, b++)
        if (*a == '\0')
            return true;
    return false;
}

/* The place of a symbol in a table of hashes: buckets, which begin chains that end with an odd
 * value. 0: it is not there. */
static uint32_t find_export(const exports_t *e, const char *name)
{
    enum { BUCKETS, FIRST, FILTER_WORDS, SHIFT, FILTER };
    const uint32_t *buckets =
        e->hash + FILTER + e->hash[FILTER_WORDS] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + e->hash[BUCKETS];
    uint32_t hash = 5381, i;

    for (const char *c = name; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    i = buckets[hash % e->hash[BUCKETS]];
    for (; i >= e->hash[FIRST]; i++) {
        uint32_t other = chains[i - e->hash[FIRST]];

        if ((other | 1) == (hash | 1) && is_same(e->strings + e->symbols[i].st_name, name))
            return i;
        if ((other & 1) != 0)
            break;
    }
    return 0;
}

/* These functions cannot be asked for themselves: this library's are the first. The C library's
 * table of symbols says where its dlvsym is, and that finds the others. */
static versioned_fn real_versioned(void)
{
    static versioned_fn found;
    struct link_map *map = NULL;
    Dl_info info;
    exports_t e;
    uint32_t i;

    if (found != NULL)
        return found;
    if (dladdr1((void *)gnu_get_libc_version, &info, (void **)&map, RTLD_DL_LINKMAP) == 0)
        return NULL;
    e = exports_of(map);
    i = e.hash != NULL ? find_export(&e, "dlvsym") : 0;
    if (i != 0)
        found = (versioned_fn)(map->l_addr + e.symbols[i].st_value);
    return found;
}

static void *real(const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", NULL};

    for (int i = 0; real_versioned() != NULL && versions[i] != NULL; i++) {
        void *found = real_versioned()(RTLD_NEXT, name, versions[i]);

        if (found != NULL)
            return found;
    }
    return mpi_interpose_missing();
}

static symbol_fn real_symbol(void)
{
    static symbol_fn found;

    if (found == NULL)
        found = (symbol_fn)real("dlsym");
    return found;
}

static open_fn real_open(void)
{
    static open_fn found;

    if (found == NULL)
        found = (open_fn)real("dlopen");
    return found;
}

/* What dlopen(NULL) returns, in a rank as elsewhere: libraries that ranks share may use it in
 * another rank, or in none. In a rank it means the rank's program. */
static void *program_handle(void)
{
    static void *found;

    if (found == NULL)
        found = real_open()(NULL, RTLD_LAZY);
    return found;
}

/* ---- Messages: what is reported while a plug-in is loaded is for dlerror ---- */

pthread_mutex_t mpi_loading = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local mpi_process_t *loading;

static _Thread_local char *caught;
static _Thread_local size_t caught_room;

void mpi_report_catch(char *text, size_t room)
{
    caught = text;
    caught_room = room;
}

/* The first of several is what happened. */
bool mpi_report_is_caught(const char *message)
{
    if (caught == NULL)
        return false;
    if (caught[0] == '\0')
        snprintf(caught, caught_room, "%s", message);
    return true;
}

static void report(void *argument, xy_status_t status, const char *message)
{
    struct iovec parts[3] = {{.iov_base = (char[]){"mpiexec: "}, .iov_len = 9},
                             {.iov_base = (void *)(uintptr_t)message, .iov_len = strlen(message)},
                             {.iov_base = (char[]){"\n"}, .iov_len = 1}};
    ssize_t ignored;

    (void)argument;
    (void)status;
    if (mpi_report_is_caught(message))
        return;
    if (loading != NULL) {
        xy_free(loading->dl_error);
        loading->dl_error = xy_strdup(message);
        return;
    }
    ignored = writev(STDERR_FILENO, parts, 3);
    (void)ignored;
}

void mpi_dl_setup(void)
{
    xy_error_handler_set(report, NULL);
}

/* ---- Plug-ins that are private ---- */

static bool is_plugin(const mpi_process_t *process, const void *handle)
{
    for (size_t i = 0; i < process->plugins.count; i++)
        if (XY_VEC_AT(&process->plugins, const mpi_program_t *, i) == handle)
            return true;
    return false;
}

/* The rank gets its image of the plug-in. */
static xy_status_t attach(mpi_process_t *process, const mpi_program_t *plugin)
{
    int index = mpi_image_index(process->program, process->image);
    char **environment = XMPI_PROCESS_VARIABLE(process, char **, XMPI_VARIABLE_ENVIRON);
    char *image;
    xy_status_t st;

    if (is_plugin(process, plugin))
        return XY_OK;
    st = mpi_image_place(plugin, index, &image);
    if (st == XY_OK && xy_vec_append(&process->plugins, &plugin) != XY_OK)
        st = xy_fail_memory("loading a plug-in");
    if (st != XY_OK)
        return st;
    mpi_image_fix(plugin, image, process->variables);
    mpi_locals_fill(plugin, image);
    loading = NULL;
    mpi_image_construct(plugin, image, process->argc, process->argv, environment);
    return XY_OK;
}

static void *find_plugin(const mpi_process_t *process, const char *path)
{
    for (size_t i = 0; i < process->plugins.count; i++) {
        const mpi_program_t *plugin = XY_VEC_AT(&process->plugins, const mpi_program_t *, i);

        if (strcmp(plugin->path, path) == 0)
            return (void *)(uintptr_t)plugin;
    }
    return NULL;
}

static void *open_plugin(mpi_process_t *process, const char *path)
{
    mpi_program_t *plugin = NULL;
    xy_status_t st;

    loading = process;
    pthread_mutex_lock(&mpi_loading);
    st = mpi_plugin_load((mpi_program_t *)(uintptr_t)process->program, path, &plugin);
    if (st == XY_OK)
        st = mpi_locals_extend(plugin);
    pthread_mutex_unlock(&mpi_loading);
    if (st == XY_OK)
        st = attach(process, plugin);
    loading = NULL;
    return st == XY_OK ? plugin : NULL;
}

/* ---- dlopen ---- */

static bool is_of_image(const void *address)
{
    const mpi_program_t *program;
    const mpi_module_t *module;

    return mpi_image_find(address, &program, &module) != NULL;
}

/* A library that is copied with the program: its symbols are found among the program's. */
static bool is_linked(const mpi_process_t *process, const char *path)
{
    return strchr(path, '/') == NULL && mpi_library_is_module(process->program, path);
}

/* The file that a rank means by a name: its program's own directories come first. In fresh memory;
 * NULL: the dynamic linker must find it. */
static char *find_file(const mpi_process_t *process, const char *path)
{
    return mpi_elf_find_library(XY_VEC_AT(&process->program->modules, mpi_module_t, 0).elf, path);
}

static bool must_be_private(mpi_process_t *process, const char *file)
{
    bool is_private;

    loading = process; /* a broken file is the C library's to report */
    is_private = file != NULL && mpi_plugin_is_private(process->program, file);
    loading = NULL;
    return is_private;
}

static void *open_for_rank(const char *path, int flags)
{
    mpi_process_t *process = mpi_process_self;
    char *file;
    void *handle;

    if (path == NULL || *path == '\0' || is_linked(process, path))
        return real_open()(NULL, flags);
    file = find_file(process, path);
    if (must_be_private(process, file))
        handle =
            (flags & RTLD_NOLOAD) == 0 ? open_plugin(process, file) : find_plugin(process, file);
    else
        handle = real_open()(file != NULL ? file : path, flags);
    xy_free(file);
    if (handle != NULL)
        mpi_locals_extend(NULL);
    return handle;
}

/* A driver loads more of itself. */
static void *open_for_driver(const char *path, int flags)
{
    void *handle = real_open()(path, flags);

    mpi_locals_extend(NULL);
    return handle;
}

/* The function that dlopen is for this caller. */
__attribute__((visibility("hidden"), used)) void *
mpi_dl_choose_open(const char *path, int flags, const void *unused, const char *caller);
void *mpi_dl_choose_open(const char *path, int flags, const void *unused, const char *caller)
{
    mpi_process_t *process = mpi_process_self;
    char *file;
    bool is_private;

    (void)flags;
    (void)unused;
    if (process == NULL || mpi_interpose_is_own(caller))
        return (void *)real_open();
    if (path == NULL || *path == '\0' || is_of_image(caller) || is_linked(process, path))
        return (void *)open_for_rank;
    if (mpi_locals_is_of_worker(caller))
        return (void *)open_for_driver;
    file = find_file(process, path);
    is_private = must_be_private(process, file);
    xy_free(file);
    return is_private ? (void *)open_for_rank : (void *)real_open();
}

/* ---- dlsym ---- */

/* NULL: any version. */
static void *find_outside(void *handle, const char *name, const char *version)
{
    return version != NULL ? real_versioned()(handle, name, version) : real_symbol()(handle, name);
}

/* Behind the modules. A tool that is copied is preloaded as well: that twin of the caller is not
 * meant by "next". */
static void *find_next_outside(const char *name, const char *version, const mpi_module_t *caller)
{
    static void *self;
    void *found = find_outside(RTLD_DEFAULT, name, version);
    const char *path = caller->elf->path;
    Dl_info info;

    if (found == NULL || dladdr(found, &info) == 0 ||
        strcmp(basename(info.dli_fname), basename(path)) != 0)
        return found;
    if (self == NULL && dladdr((void *)mpi_dl_setup, &info) != 0)
        self = real_open()(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return self != NULL ? find_outside(self, name, version) : NULL;
}

static void *find_next(const char *name, const char *version, const void *caller)
{
    const mpi_program_t *program;
    const mpi_module_t *module;
    char *image = mpi_image_find(caller, &program, &module);
    void *found = mpi_image_symbol(program, image, name, module);

    return found != NULL ? found : find_next_outside(name, version, module);
}

static void *find_first(const mpi_process_t *process, const char *name, const char *version)
{
    void *found = mpi_image_symbol(process->program, process->image, name, NULL);

    return found != NULL ? found : find_outside(RTLD_DEFAULT, name, version);
}

/* Symbols of programs and plug-ins serve every version. */
static void *find_for_rank(void *handle, const char *name, const char *version, const void *caller)
{
    mpi_process_t *process = mpi_process_self;
    void *found;

    if (handle == RTLD_NEXT)
        return find_next(name, version, caller);
    if (handle == RTLD_DEFAULT || handle == program_handle())
        return find_first(process, name, version);
    found = mpi_image_symbol(handle, mpi_image_of_plugin(handle, process->image), name, NULL);
    return found != NULL ? found : find_outside(RTLD_DEFAULT, name, version);
}

static void *symbol_for_rank(void *handle, const char *name)
{
    return find_for_rank(handle, name, NULL, __builtin_return_address(0));
}

static void *versioned_for_rank(void *handle, const char *name, const char *version)
{
    return find_for_rank(handle, name, version, __builtin_return_address(0));
}

static bool is_for_rank(const mpi_process_t *process, const void *handle, const char *caller)
{
    return handle == program_handle() || handle == RTLD_DEFAULT || is_plugin(process, handle) ||
           (handle == RTLD_NEXT && is_of_image(caller));
}

/* Functions of drivers that wait have others in front of them. */
static void *symbol_of_driver(void *handle, const char *name)
{
    void *found = is_for_rank(mpi_process_self, handle, NULL) ? symbol_for_rank(handle, name)
                                                              : real_symbol()(handle, name);

    return mpi_device_substitute(name, found);
}

/* The function that dlsym is for this caller. */
__attribute__((visibility("hidden"), used)) void *
mpi_dl_choose_symbol(void *handle, const char *name, const char *version, const char *caller);
void *mpi_dl_choose_symbol(void *handle, const char *name, const char *version, const char *caller)
{
    const mpi_process_t *process = mpi_process_self;

    (void)version;
    if (process == NULL && strncmp(name, "cuGetProcAddress", 16) == 0 &&
        !mpi_interpose_is_own(caller) && mpi_device_is_wanted())
        mpi_device_use(); /* a program without a launcher */
    if (process == NULL || mpi_interpose_is_own(caller))
        return (void *)real_symbol();
    if (name[0] == 'c' && (name[1] == 'u' || name[1] == 'l') && handle != RTLD_NEXT)
        return (void *)symbol_of_driver;
    return is_for_rank(process, handle, caller) ? (void *)symbol_for_rank : (void *)real_symbol();
}

/* The function that dlvsym is for this caller. */
__attribute__((visibility("hidden"), used)) void *
mpi_dl_choose_versioned(void *handle, const char *name, const char *version, const char *caller);
void *mpi_dl_choose_versioned(void *handle, const char *name, const char *version,
                              const char *caller)
{
    const mpi_process_t *process = mpi_process_self;

    (void)name;
    (void)version;
    return process != NULL && !mpi_interpose_is_own(caller) && is_for_rank(process, handle, caller)
               ? (void *)versioned_for_rank
               : (void *)real_versioned();
}

/* Ask which function it is, with the arguments and where the call came from; then jump to it as if
 * the caller had called it. */
#if defined(__x86_64__)
#define ENTRY(name, choose)                                                                        \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " name "\n"                                                                    \
            ".type " name ", @function\n" name ":\n"                                               \
            "    .cfi_startproc\n"                                                                 \
            "    endbr64\n"                                                                        \
            "    pushq %rdi\n"                                                                     \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    pushq %rsi\n"                                                                     \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    pushq %rdx\n"                                                                     \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    movq 24(%rsp), %rcx\n"                                                            \
            "    call " choose "\n"                                                                \
            "    popq %rdx\n"                                                                      \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    popq %rsi\n"                                                                      \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    popq %rdi\n"                                                                      \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    jmp *%rax\n"                                                                      \
            "    .cfi_endproc\n"                                                                   \
            ".size " name ", . - " name "\n"                                                       \
            ".popsection\n")
#elif defined(__aarch64__)
#define ENTRY(name, choose)                                                                        \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " name "\n"                                                                    \
            ".type " name ", %function\n" name ":\n"                                               \
            "    .cfi_startproc\n"                                                                 \
            "    hint 34\n"                                                                        \
            "    stp x29, x30, [sp, #-48]!\n"                                                      \
            "    .cfi_def_cfa_offset 48\n"                                                         \
            "    .cfi_offset 29, -48\n"                                                            \
            "    .cfi_offset 30, -40\n"                                                            \
            "    mov x29, sp\n"                                                                    \
            "    stp x0, x1, [sp, #16]\n"                                                          \
            "    str x2, [sp, #32]\n"                                                              \
            "    mov x3, x30\n"                                                                    \
            "    bl " choose "\n"                                                                  \
            "    mov x16, x0\n"                                                                    \
            "    ldp x0, x1, [sp, #16]\n"                                                          \
            "    ldr x2, [sp, #32]\n"                                                              \
            "    ldp x29, x30, [sp], #48\n"                                                        \
            "    .cfi_restore 29\n"                                                                \
            "    .cfi_restore 30\n"                                                                \
            "    .cfi_def_cfa_offset 0\n"                                                          \
            "    br x16\n"                                                                         \
            "    .cfi_endproc\n"                                                                   \
            ".size " name ", . - " name "\n"                                                       \
            ".popsection\n")
#endif
#if defined(ENTRY)
ENTRY("dlopen", "mpi_dl_choose_open");
ENTRY("dlsym", "mpi_dl_choose_symbol");
ENTRY("dlvsym", "mpi_dl_choose_versioned");
#endif

/* ---- The rest ---- */

/* A plug-in stays until the rank ends, when its destructors run. */
XY_INTERPOSE int dlclose(void *handle)
{
    static XY_NEXT(int, next, (void *));

    return mpi_process_self != NULL && is_plugin(mpi_process_self, handle)
               ? 0
               : XY_CALL_NEXT(next, "dlclose")(handle);
}

XY_INTERPOSE char *dlerror(void)
{
    static XY_NEXT(char *, next, (void));
    mpi_process_t *process = mpi_process_self;

    if (process == NULL || process->dl_error == NULL)
        return XY_CALL_NEXT(next, "dlerror")();
    xy_free(process->dl_error_read);
    process->dl_error_read = process->dl_error;
    process->dl_error = NULL;
    return process->dl_error_read;
}

/* Finding the C library's, at first use, would clear what it has to say; also in programs without a
 * launcher. */
__attribute__((constructor)) static void find_dlerror(void)
{
    dlerror();
}

/* What is asked of a plug-in is answered for the process that it runs in. */
XY_INTERPOSE int dlinfo(void *handle, int request, void *result)
{
    static XY_NEXT(int, next, (void *, int, void *));

    return XY_CALL_NEXT(next, "dlinfo")(
        mpi_process_self != NULL && is_plugin(mpi_process_self, handle) ? program_handle() : handle,
        request, result);
}
