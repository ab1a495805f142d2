/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the libraries of a program are, in the order of the dynamic linker: DT_RPATH (when there is
 * no DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH, the file that ldconfig writes, the system's
 * directories. $ORIGIN is the directory of the program. A file of the runtime may stand in for a
 * library, wherever that is.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/image/elf.h"
#include "process/ops/ops.h"

static void add_origin(xy_text_t *text, const process_elf_t *elf)
{
    char *real = realpath(elf->path, NULL);
    const char *path = real != NULL ? real : elf->path;
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        xy_text_add(text, ".");
    else
        xy_text_add_bytes(text, path, slash > path ? (size_t)(slash - path) : 1);
    free(real);
}

/* One directory of a path list, with $ORIGIN and ${ORIGIN} replaced; an empty one is ".". */
static void add_directory(xy_text_t *text, const process_elf_t *elf, const char *s, size_t n)
{
    if (n == 0)
        xy_text_add(text, ".");
    for (size_t i = 0; i < n; i++) {
        if (n - i >= 7 && memcmp(s + i, "$ORIGIN", 7) == 0) {
            add_origin(text, elf);
            i += 6;
        } else if (n - i >= 9 && memcmp(s + i, "${ORIGIN}", 9) == 0) {
            add_origin(text, elf);
            i += 8;
        } else {
            xy_text_add_bytes(text, s + i, 1);
        }
    }
}

/* Find a readable library in a list of directories; the caller owns the path, NULL if there is
 * none. */
static char *search(const process_elf_t *elf, const char *list, const char *name)
{
    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ":;");
        xy_text_t text = XY_TEXT_INIT;

        add_directory(&text, elf, list, n);
        xy_text_addf(&text, "/%s", name);
        if (!text.failed && access(text.s, R_OK) == 0)
            return text.s;
        xy_text_cleanup(&text);
        list += n;
        list += *list != '\0';
    }
    return NULL;
}

/* The file of ldconfig, as glibc has written it since 2.2: a header, entries, strings. */
typedef struct {
    char magic[20];
    uint32_t count, strings_size;
    uint32_t unused[5];
} cache_head_t;

typedef struct {
    int32_t flags;
    uint32_t name, path; /* offsets from the header */
    uint32_t unused;
    uint64_t variant; /* 0: for every processor of this kind */
} cache_entry_t;

#if defined(__x86_64__)
enum { CACHE_FLAGS = 0x0303 };
#elif defined(__aarch64__)
enum { CACHE_FLAGS = 0x0a03 };
#else
enum { CACHE_FLAGS = -1 };
#endif

/* Find a library in the contents of ld.so.cache; the caller owns the path, NULL if there is none.
 * */
static char *search_cache(const char *bytes, size_t size, const char *name)
{
    const cache_head_t *head = (const void *)bytes;
    const cache_entry_t *entries = (const void *)(head + 1);

    if (size < sizeof(*head) || bytes[size - 1] != '\0' ||
        memcmp(head->magic, "glibc-ld.so.cache1.1", sizeof(head->magic)) != 0 ||
        head->count > (size - sizeof(*head)) / sizeof(*entries))
        return NULL;
    for (uint32_t i = 0; i < head->count; i++)
        if (entries[i].flags == CACHE_FLAGS && entries[i].variant == 0 && entries[i].name < size &&
            entries[i].path < size && strcmp(bytes + entries[i].name, name) == 0 &&
            access(bytes + entries[i].path, R_OK) == 0)
            return xy_strdup(bytes + entries[i].path);
    return NULL;
}

/* The file is read once; it must end with a zero byte to be usable. */
static char *find_cached(const char *name)
{
    static char *bytes;
    static size_t size;

    if (bytes == NULL && (access("/etc/ld.so.cache", R_OK) != 0 ||
                          xy_file_read("/etc/ld.so.cache", 64 << 20, &bytes, &size) != XY_OK))
        return NULL;
    for (size_t end = size; end > 0; end--) /* extensions follow the strings */
        if (bytes[end - 1] == '\0')
            return search_cache(bytes, end, name);
    return NULL;
}

/* The directories that the dynamic linker itself knows. */
static char *find_in_system(const char *name)
{
    Dl_serinfo head, *all = NULL;
    void *self = dlopen(NULL, RTLD_LAZY);
    char *found = NULL;

    if (self != NULL && dlinfo(self, RTLD_DI_SERINFOSIZE, &head) == 0)
        all = xy_calloc(1, head.dls_size);
    if (all != NULL && dlinfo(self, RTLD_DI_SERINFOSIZE, all) == 0 &&
        dlinfo(self, RTLD_DI_SERINFO, all) == 0)
        for (unsigned i = 0; i < all->dls_cnt && found == NULL; i++) {
            char *path = xy_sprintf("%s/%s", all->dls_serpath[i].dls_name, name);

            if (path != NULL && access(path, R_OK) == 0)
                found = path;
            else
                xy_free(path);
        }
    xy_free(all);
    if (self != NULL)
        dlclose(self);
    return found;
}

bool process_elf_stands_in(const process_elf_t *elf, const char *name)
{
    char *path = process_runtime.stand_in != NULL ? process_runtime.stand_in(name) : NULL;
    struct stat about;
    bool is_same = path != NULL && stat(path, &about) == 0 && about.st_dev == elf->device &&
                   about.st_ino == elf->number;

    xy_free(path);
    return is_same;
}

char *process_elf_find_own_library(const process_elf_t *elf, const char *name)
{
    char *found = process_runtime.stand_in != NULL ? process_runtime.stand_in(name) : NULL;

    if (found != NULL)
        return found;
    if (strchr(name, '/') != NULL)
        return access(name, R_OK) == 0 ? xy_strdup(name) : NULL;
    found = elf->runpath == NULL ? search(elf, elf->rpath, name) : NULL;
    if (found == NULL)
        found = search(elf, getenv("LD_LIBRARY_PATH"), name);
    return found != NULL ? found : search(elf, elf->runpath, name);
}

/* The file that stands in for a file that was found (libmpi.so), else that file. */
static char *replaced(char *found)
{
    char *other =
        found != NULL && process_runtime.stand_in != NULL ? process_runtime.stand_in(found) : NULL;

    if (other == NULL)
        return found;
    xy_free(found);
    return other;
}

char *process_elf_find_library(const process_elf_t *elf, const char *name)
{
    char *found = process_elf_find_own_library(elf, name);

    if (found == NULL && strchr(name, '/') == NULL)
        found = find_cached(name);
    if (found == NULL && strchr(name, '/') == NULL)
        found = find_in_system(name);
    return replaced(found);
}
