/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Images as debuggers see them.
 *
 * A debugger finds the objects of a process in the dynamic linker's lists of link maps. glibc 2.35
 * chains one list per namespace (those of dlmopen) behind `_r_debug`. The images have a list of
 * their own at the end of that chain, with one link map per module and image, so that a debugger
 * reads the symbols of each file at each of its addresses: in a process it started, in one it
 * attaches to, and in a core file. With an older C library there is no such chain, and images stay
 * unknown.
 *
 *   _r_debug -> ... -> images: (program, process 0) (library, process 0) (program, process 1) ...
 *
 * Nothing here is read by the host itself.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/image/load_program.h"

/* struct r_debug_extended, which older headers lack. */
typedef struct debug_list {
    struct r_debug base;
    struct debug_list *next;
} debug_list_t;

/* A link map of glibc is larger than <link.h> says, and libthread_db looks for thread-local
 * variables in its hidden part. The rest of ours is zero: there are none. */
enum { MAP_BYTES = 1536 };

typedef union {
    struct link_map map;
    char bytes[MAP_BYTES];
} shown_map_t;

static debug_list_t images;
struct r_debug *const process_images_list = &images.base;
static struct link_map *last;

static void append(struct link_map *map)
{
    map->l_prev = last;
    if (last != NULL)
        last->l_next = map;
    else
        images.base.r_map = map;
    last = map;
}

static uintptr_t dynamic_section(const process_elf_t *elf)
{
    for (int i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].p_type == PT_DYNAMIC)
            return elf->segments[i].p_vaddr;
    return 0;
}

static void show_module(const process_module_t *module, char *image, char *name,
                        struct link_map *map)
{
    map->l_addr = (uintptr_t)image + module->offset - module->elf->low;
    map->l_ld = (void *)(map->l_addr + dynamic_section(module->elf));
    map->l_name = name;
    append(map);
}

static void read_start(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

/* The process that traces this one; 0: none does. */
static long tracer(void)
{
    static const char key[] = "\nTracerPid:\t";
    char text[1024];
    const char *found;

    read_start("/proc/self/status", text, sizeof(text));
    found = strstr(text, key);
    return found != NULL ? strtol(found + sizeof(key) - 1, NULL, 10) : 0;
}

static bool is_traced_by_gdb(void)
{
    long pid = tracer();
    char path[64], name[32] = "";

    if (pid == 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
    read_start(path, name, sizeof(name));
    return strncmp(name, "gdb", 3) == 0;
}

/* Debuggers open the files from a directory of their own. NULL: no memory. */
static char *name_file(const process_elf_t *elf, bool has_gdb)
{
    char *name = has_gdb ? process_elf_debug_copy(elf) : NULL;

    if (name == NULL)
        name = realpath(elf->path, NULL);
    return name != NULL ? name : xy_strdup(elf->path);
}

static xy_status_t name_files(const process_program_t *program, char **names)
{
    const process_module_t *modules = program->modules.data;
    bool has_gdb = is_traced_by_gdb();

    for (size_t i = 0; i < program->modules.count; i++) {
        names[i] = name_file(modules[i].elf, has_gdb);
        if (names[i] == NULL)
            return xy_fail_memory("showing ranks to debuggers");
    }
    return XY_OK;
}

xy_status_t process_images_show(const process_program_t *program)
{
    const process_module_t *modules = program->modules.data;
    size_t count = program->modules.count;
    char **names = xy_calloc(count, sizeof(*names)); /* the link maps keep the texts */
    xy_status_t st = names != NULL ? name_files(program, names) : xy_fail_memory("showing ranks");

    for (int i = 0; i < program->images && st == XY_OK; i++) {
        shown_map_t *maps;

        if (!xy_bitset_has(program->shown, (size_t)program->first + (size_t)i))
            continue;
        maps = xy_calloc(count, sizeof(*maps));
        if (maps == NULL)
            st = xy_fail_memory("showing ranks to debuggers");
        for (size_t m = 0; maps != NULL && m < count; m++)
            show_module(&modules[m], program->region + (size_t)i * program->stride, names[m],
                        &maps[m].map);
    }
    xy_free(names);
    return st;
}

static bool has_chain(void)
{
    char *rest;
    long major = strtol(gnu_get_libc_version(), &rest, 10);
    long minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;

    return major > 2 || (major == 2 && minor >= 35);
}

/* A debugger that is here already reads the lists when an object is loaded or goes. Any that was
 * not loaded before will do: these are parts of the C library that programs no longer use. */
static void have_lists_read(void)
{
    static const char *const unused[] = {"libBrokenLocale.so.1", "libutil.so.1", "libanl.so.1"};

    for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
        void *handle = dlopen(unused[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        bool is_new = handle == NULL;

        if (is_new)
            handle = dlopen(unused[i], RTLD_LAZY | RTLD_LOCAL);
        if (handle != NULL)
            dlclose(handle);
        if (handle != NULL && is_new)
            return;
    }
}

void process_images_show_one(process_program_t *plugin, int index)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const process_module_t *module = plugin->modules.data;
    shown_map_t *map;

    if (!xy_bitset_has(plugin->shown, (size_t)plugin->first + (size_t)index))
        return;
    map = xy_calloc(1, sizeof(*map));
    pthread_mutex_lock(&lock);
    if (plugin->shown_name == NULL)
        plugin->shown_name = name_file(module->elf, is_traced_by_gdb());
    if (map != NULL && plugin->shown_name != NULL)
        show_module(module, plugin->region + (size_t)index * plugin->stride, plugin->shown_name,
                    &map->map);
    pthread_mutex_unlock(&lock);
    if (tracer() != 0)
        have_lists_read();
}

void process_images_publish(void)
{
    debug_list_t *list = has_chain() ? dlsym(RTLD_DEFAULT, "_r_debug") : NULL;

    process_valgrind_finish();
    if (last == NULL || list == NULL)
        return;
    images.base.r_version = 2;
    images.base.r_brk = list->base.r_brk;
    images.base.r_ldbase = list->base.r_ldbase;
    images.base.r_state = RT_CONSISTENT;
    if (list->base.r_version < 2) { /* debuggers do not look at `next` yet */
        list->next = NULL;
        list->base.r_version = 2;
    }
    while (list->next != NULL)
        list = list->next;
    list->next = &images;
    if (tracer() != 0)
        have_lists_read();
}
