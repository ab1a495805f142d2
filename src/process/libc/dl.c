/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen, dlsym and dlvsym in a process. The dynamic linker does not know of images: a process that
 * asks for its own program (dlopen(NULL), RTLD_DEFAULT, RTLD_NEXT), for a library that is private
 * to it or for a plug-in that is (image/image_plugin.c) is answered here. All other questions go to
 * the C library, which looks at the address they come from: the functions jump there instead of
 * calling it.
 *
 * What dlopen returns for something private is the address of its process_program_t; for a library
 * that is linked to the program, that of its process_module_t.
 */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process/libc/device_wait.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

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
    return process_interpose_missing();
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

/* The handle that dlopen(NULL) returns, in a process as elsewhere: libraries that processes share
 * may use it in another process, or in none. In a process it means the process's program. */
static void *program_handle(void)
{
    static void *found;

    if (found == NULL)
        found = real_open()(NULL, RTLD_LAZY);
    return found;
}

/* ---- Messages: what is reported while a plug-in is loaded is for dlerror ---- */

pthread_mutex_t process_loading = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local process_t *loading;

static _Thread_local char *caught;
static _Thread_local size_t caught_room;

void process_report_catch(char *text, size_t room)
{
    caught = text;
    caught_room = room;
}

/* The first of several is what happened. */
bool process_report_is_caught(const char *message)
{
    if (caught == NULL)
        return false;
    if (caught[0] == '\0')
        snprintf(caught, caught_room, "%s", message);
    return true;
}

/* Message handler while a plug-in is loaded: keep the message for dlerror() of the loading process,
 * or print it. */
static void report(void *argument, xy_status_t status, const char *message)
{
    const char *name = process_runtime.name;
    struct iovec parts[4] = {{.iov_base = (void *)(uintptr_t)name, .iov_len = strlen(name)},
                             {.iov_base = (char[]){": "}, .iov_len = 2},
                             {.iov_base = (void *)(uintptr_t)message, .iov_len = strlen(message)},
                             {.iov_base = (char[]){"\n"}, .iov_len = 1}};
    ssize_t ignored;

    (void)argument;
    (void)status;
    if (process_report_is_caught(message))
        return;
    if (loading != NULL) {
        xy_free(loading->dl_error);
        loading->dl_error = xy_strdup(message);
        return;
    }
    ignored = writev(STDERR_FILENO, parts, 4);
    (void)ignored;
}

void process_dl_setup(void)
{
    xy_error_handler_set(report, NULL);
}

/* ---- Plug-ins that are private ---- */

static bool is_plugin(const process_t *process, const void *handle)
{
    for (size_t i = 0; i < process->plugins.count; i++)
        if (XY_VEC_AT(&process->plugins, const process_program_t *, i) == handle)
            return true;
    return false;
}

/* Is it a library that is linked to the program? */
static bool is_module(const process_t *process, const void *handle)
{
    const process_module_t *modules = process->program->modules.data, *module = handle;

    return module > modules && module < modules + process->program->modules.count;
}

/* The process gets its image of a plug-in, and first those of plug-ins it depends on. */
static xy_status_t place(process_t *process, const process_program_t *plugin)
{
    const xy_vec_t *first[] = {&plugin->family, &plugin->uses};
    int index = process_image_index(process->program, process->image);
    char *image;
    xy_status_t st;

    if (is_plugin(process, plugin))
        return XY_OK;
    st = process_image_place(plugin, index, &image);
    if (st == XY_OK && xy_vec_append(&process->plugins, &plugin) != XY_OK)
        st = xy_fail_memory("loading a plug-in");
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < first[k]->count && st == XY_OK; i++)
            st = place(process, XY_VEC_AT(first[k], const process_program_t *, i));
    return st;
}

static char *plugin_image(const process_t *process, const process_program_t *plugin)
{
    return process_image_of_plugin(plugin, process->image);
}

/* Behind the plug-ins that it needs; `from` is the first that has no constructors called yet. The
 * list changes: constructors load plug-ins. */
static void construct(process_t *process, size_t from)
{
    char **environment = PROCESS_VARIABLE(process, char **, PROCESS_VARIABLE_ENVIRON);
    size_t end = process->plugins.count;
    xy_vec_t *list = &process->plugins;

    for (size_t i = from; i < end; i++) /* needed ones to the front */
        for (size_t k = i + 1; k < end; k++) {
            const process_program_t *a = XY_VEC_AT(list, const process_program_t *, i);
            const process_program_t *b = XY_VEC_AT(list, const process_program_t *, k);

            if (process_plugin_needs(a, b) && !process_plugin_needs(b, a)) {
                XY_VEC_AT(list, const process_program_t *, i) = b;
                XY_VEC_AT(list, const process_program_t *, k) = a;
                k = i;
            }
        }
    for (size_t i = from; i < end; i++) {
        const process_program_t *plugin = XY_VEC_AT(list, const process_program_t *, i);

        process_image_construct(plugin, plugin_image(process, plugin), process->argc, process->argv,
                                environment);
    }
}

/* Place a plug-in and its dependencies in the process, relocate them and run their constructors. */
static xy_status_t attach(process_t *process, const process_program_t *plugin)
{
    size_t from = process->plugins.count;
    xy_status_t st = place(process, plugin);

    if (st != XY_OK)
        return st;
    for (size_t i = from; i < process->plugins.count; i++) {
        const process_program_t *other = XY_VEC_AT(&process->plugins, const process_program_t *, i);
        char *image = plugin_image(process, other);

        process_image_fix(other, image, process->variables);
        process_locals_fill(other, image);
        process_threads_fill(process, other, image);
        if (other->block_at != 0)
            XY_RUNTIME_CALL(found_block, process, image + other->block_at);
    }
    loading = NULL;
    for (size_t i = from; i < process->plugins.count; i++)
        process_images_show_one(XY_VEC_AT(&process->plugins, process_program_t *, i),
                                process_image_index(process->program, process->image));
    construct(process, from);
    return XY_OK;
}

/* Load a plug-in and apply its flags, under the lock of loading; *plugin_p is NULL for a shared
 * library. */
static xy_status_t load_plugin(process_t *process, const char *path, int flags,
                               process_program_t **plugin_p)
{
    process_program_t *program = (process_program_t *)(uintptr_t)process->program;
    xy_status_t st;

    pthread_mutex_lock(&process_loading);
    st = process_plugin_load(program, path, (flags & RTLD_NOW) != 0, plugin_p);
    for (size_t i = 0; st == XY_OK && *plugin_p != NULL && i < (*plugin_p)->family.count; i++) {
        process_program_t *other = XY_VEC_AT(&(*plugin_p)->family, process_program_t *, i);

        other->is_global |= (flags & RTLD_GLOBAL) != 0;
        st = process_locals_extend(other);
    }
    pthread_mutex_unlock(&process_loading);
    return st;
}

/* NULL with *is_shared_p: it is the C library's to load. */
static void *open_plugin(process_t *process, const char *path, int flags, bool *is_shared_p)
{
    process_program_t *plugin = NULL;
    xy_status_t st;

    loading = process;
    st = load_plugin(process, path, flags, &plugin);
    if (st == XY_OK && plugin != NULL)
        st = attach(process, plugin);
    loading = NULL;
    *is_shared_p = st == XY_OK && plugin == NULL;
    return st == XY_OK ? plugin : NULL;
}

/* ---- dlopen ---- */

static const process_module_t *module_around(const void *address)
{
    const process_program_t *program;
    const process_module_t *module;

    return process_image_find(address, &program, &module) != NULL ? module : NULL;
}

static bool is_of_image(const void *address)
{
    return module_around(address) != NULL;
}

/* The file that a process means by a name: the directories of the file that asks come first, then
 * its program's own. In fresh memory; NULL: the dynamic linker must find it. */
static char *find_file(const process_t *process, const char *path, const void *caller)
{
    const process_module_t *module = module_around(caller);
    char *found = module != NULL ? process_elf_find_own_library(module->elf, path) : NULL;

    return found != NULL
               ? found
               : process_elf_find_library(
                     XY_VEC_AT(&process->program->modules, process_module_t, 0).elf, path);
}

/* A private library or plug-in that is there already; NULL: none. */
static void *find_private(const process_t *process, const char *path)
{
    const void *found = process_program_find_module(process->program, path);

    if (found == process->program->modules.data)
        found = NULL; /* the program itself */
    if (found == NULL && (found = process_plugin_find(process->program, path)) != NULL)
        found = is_plugin(process, found) ? found : NULL;
    return (void *)(uintptr_t)found;
}

static bool uses_program(process_t *process, const char *file)
{
    bool is_used;

    loading = process; /* a broken file is the C library's to report */
    is_used = file != NULL && process_plugin_uses_program(process->program, file);
    loading = NULL;
    return is_used;
}

/* Return the handle of a private library or plug-in, loading it if allowed; all others are opened
 * by the C library. */
static void *open_file(process_t *process, const char *path, const char *file, int flags)
{
    void *handle = find_private(process, file != NULL ? file : path);
    bool is_shared = true;

    if (handle == NULL)
        handle = find_private(process, path);
    if (handle != NULL && (flags & RTLD_GLOBAL) != 0 && is_plugin(process, handle))
        ((process_program_t *)handle)->is_global = true;
    if (handle != NULL)
        return handle;
    if (file != NULL && (flags & RTLD_NOLOAD) == 0)
        handle = open_plugin(process, file, flags, &is_shared);
    return is_shared ? real_open()(file != NULL ? file : path, flags) : handle;
}

/* dlopen() in a process; the caller's address decides where relative names are searched. */
static void *open_for_process(const char *path, int flags)
{
    process_t *process = process_self;
    char *file;
    void *handle;

    if (path == NULL || *path == '\0')
        return real_open()(NULL, flags);
    file = find_file(process, path, process_sanitizer_caller(__builtin_return_address(0)));
    handle = open_file(process, path, file, flags);
    xy_free(file);
    if (handle != NULL)
        process_locals_extend(NULL);
    return handle;
}

/* A driver loads more of itself. */
static void *open_for_driver(const char *path, int flags)
{
    void *handle = real_open()(path, flags);

    process_locals_extend(NULL);
    return handle;
}

/* The function that dlopen is for this caller. */
__attribute__((visibility("hidden"), used)) void *
process_dl_choose_open(const char *path, int flags, const void *unused, const char *caller);
void *process_dl_choose_open(const char *path, int flags, const void *unused, const char *caller)
{
    process_t *process = process_self;
    char *file;
    bool is_private;

    (void)flags;
    (void)unused;
    if (process == NULL)
        return (void *)real_open();
    caller = process_sanitizer_caller(caller); /* it may be this library, inside dlopen */
    if (process_interpose_is_own(caller))
        return (void *)real_open();
    if (path == NULL || *path == '\0' || is_of_image(caller))
        return (void *)open_for_process;
    if (process_locals_is_of_worker(caller))
        return (void *)open_for_driver;
    /* Libraries that a shared library loads are shared, unless they use symbols of the program. */
    file = find_file(process, path, caller);
    is_private = uses_program(process, file);
    xy_free(file);
    return is_private ? (void *)open_for_process : (void *)real_open();
}

/* ---- dlsym ---- */

/* NULL: any version. */
static void *find_outside(void *handle, const char *name, const char *version)
{
    return version != NULL ? real_versioned()(handle, name, version) : real_symbol()(handle, name);
}

/* Behind the modules. A tool that is copied is preloaded as well: that twin of the caller is not
 * meant by "next". */
static void *find_next_outside(const char *name, const char *version,
                               const process_module_t *caller)
{
    static void *self;
    void *found = find_outside(RTLD_DEFAULT, name, version);
    const char *path = caller->elf->path;
    Dl_info info;

    if (found == NULL || dladdr(found, &info) == 0 ||
        strcmp(basename(info.dli_fname), basename(path)) != 0)
        return found;
    if (self == NULL && dladdr((void *)process_dl_setup, &info) != 0)
        self = real_open()(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return self != NULL ? find_outside(self, name, version) : NULL;
}

/* Behind the module that asks: in its program, in the programs behind that in its scope, outside.
 */
static void *find_next(const char *name, const char *version, const void *caller)
{
    const process_t *process = process_self;
    const process_program_t *program;
    const process_module_t *module;
    char *image = process_image_find(caller, &program, &module);
    void *found = process_image_symbol(program, image, name, module);

    for (size_t i = program->self + 1; i < program->scope.count && found == NULL; i++) {
        const process_program_t *other = XY_VEC_AT(&program->scope, const process_program_t *, i);

        if (is_plugin(process, other))
            found = process_image_symbol(other, plugin_image(process, other), name, NULL);
    }
    return found != NULL ? found : find_next_outside(name, version, module);
}

/* In the program and in plug-ins that were opened with RTLD_GLOBAL. */
static void *find_first(const process_t *process, const char *name, const char *version)
{
    void *found = process_image_symbol(process->program, process->image, name, NULL);

    for (size_t i = 0; i < process->plugins.count && found == NULL; i++) {
        const process_program_t *plugin =
            XY_VEC_AT(&process->plugins, const process_program_t *, i);

        if (plugin->is_global)
            found = process_image_symbol(plugin, plugin_image(process, plugin), name, NULL);
    }
    return found != NULL ? found : find_outside(RTLD_DEFAULT, name, version);
}

/* In a plug-in and what it needs: other plug-ins, then libraries of the program. */
static void *find_in_plugin(const process_t *process, const process_program_t *plugin,
                            const char *name)
{
    void *found = NULL;

    for (size_t i = 0; i < plugin->family.count && found == NULL; i++) {
        const process_program_t *other = XY_VEC_AT(&plugin->family, const process_program_t *, i);

        found = process_image_symbol(other, plugin_image(process, other), name, NULL);
    }
    return found;
}

/* Symbols of programs and plug-ins serve every version. */
static void *find_for_process(void *handle, const char *name, const char *version,
                              const void *caller)
{
    process_t *process = process_self;
    void *found = NULL;

    if (handle == RTLD_NEXT)
        return find_next(name, version, caller);
    if (is_module(process, handle))
        found = process_module_symbol(handle, process->image, name);
    else if (handle != RTLD_DEFAULT && handle != program_handle())
        found = find_in_plugin(process, handle, name);
    return found != NULL ? found : find_first(process, name, version);
}

static void *symbol_for_process(void *handle, const char *name)
{
    return find_for_process(handle, name, NULL, __builtin_return_address(0));
}

static void *versioned_for_process(void *handle, const char *name, const char *version)
{
    return find_for_process(handle, name, version, __builtin_return_address(0));
}

static bool is_for_process(const process_t *process, const void *handle, const char *caller)
{
    return handle == program_handle() || handle == RTLD_DEFAULT || is_plugin(process, handle) ||
           is_module(process, handle) || (handle == RTLD_NEXT && is_of_image(caller));
}

/* Functions of drivers that wait have others in front of them. */
static void *symbol_of_driver(void *handle, const char *name)
{
    void *found = is_for_process(process_self, handle, NULL) ? symbol_for_process(handle, name)
                                                             : real_symbol()(handle, name);

    return process_device_substitute(name, found);
}

/* A library that processes share may have a function that must not run. */
static void *symbol_of_refused(void *handle, const char *name)
{
    return is_for_process(process_self, handle, NULL)
               ? symbol_for_process(handle, name)
               : process_runtime.refuse_shared(name, real_symbol()(handle, name));
}

/* The function that dlsym is for this caller. */
__attribute__((visibility("hidden"), used)) void *
process_dl_choose_symbol(void *handle, const char *name, const char *version, const char *caller);
void *process_dl_choose_symbol(void *handle, const char *name, const char *version,
                               const char *caller)
{
    const process_t *process = process_self;

    (void)version;
    if (process == NULL && strncmp(name, "cuGetProcAddress", 16) == 0 &&
        !process_interpose_is_own(caller) && process_device_is_wanted())
        XY_RUNTIME_CALL(uses_device, NULL, NULL); /* a program without a launcher */
    if (process == NULL || process_interpose_is_own(caller))
        return (void *)real_symbol();
    if (name[0] == 'c' && (name[1] == 'u' || name[1] == 'l') && handle != RTLD_NEXT)
        return (void *)symbol_of_driver;
    if (process_runtime.may_refuse != NULL && process_runtime.may_refuse(name) &&
        handle != RTLD_NEXT)
        return (void *)symbol_of_refused;
    return is_for_process(process, handle, caller) ? (void *)symbol_for_process
                                                   : (void *)real_symbol();
}

/* The function that dlvsym is for this caller. */
__attribute__((visibility("hidden"), used)) void *process_dl_choose_versioned(void *handle,
                                                                              const char *name,
                                                                              const char *version,
                                                                              const char *caller);
void *process_dl_choose_versioned(void *handle, const char *name, const char *version,
                                  const char *caller)
{
    const process_t *process = process_self;

    (void)name;
    (void)version;
    return process != NULL && !process_interpose_is_own(caller) &&
                   is_for_process(process, handle, caller)
               ? (void *)versioned_for_process
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
ENTRY("dlopen", "process_dl_choose_open");
ENTRY("dlsym", "process_dl_choose_symbol");
ENTRY("dlvsym", "process_dl_choose_versioned");
#endif

/* ---- The rest ---- */

static bool is_private(const process_t *process, const void *handle)
{
    return process != NULL && (is_plugin(process, handle) || is_module(process, handle));
}

/* A plug-in stays until the process ends, when its destructors run. */
XY_INTERPOSE int dlclose(void *handle)
{
    return is_private(process_self, handle) ? 0 : XY_NEXT(dlclose)(handle);
}

XY_INTERPOSE char *dlerror(void)
{
    process_t *process = process_self;

    if (process == NULL || process->dl_error == NULL)
        return XY_NEXT(dlerror)();
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

/* Questions about a plug-in are answered for the process that it runs in. */
XY_INTERPOSE int dlinfo(void *handle, int request, void *result)
{
    return XY_NEXT(dlinfo)(is_private(process_self, handle) ? program_handle() : handle, request,
                           result);
}
