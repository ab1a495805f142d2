/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the libraries of a program are, in the order of the dynamic linker: DT_RPATH (when there is
 * no DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH. $ORIGIN is the directory of the program.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/launch/image/elf.h"

static void add_origin(xy_text_t *text, const mpi_elf_t *elf)
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
static void add_directory(xy_text_t *text, const mpi_elf_t *elf, const char *s, size_t n)
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

static char *search(const mpi_elf_t *elf, const char *list, const char *name)
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

char *mpi_elf_find_library(const mpi_elf_t *elf, const char *name)
{
    char *found;

    if (strchr(name, '/') != NULL)
        return access(name, R_OK) == 0 ? xy_strdup(name) : NULL;
    found = elf->runpath == NULL ? search(elf, elf->rpath, name) : NULL;
    if (found == NULL)
        found = search(elf, getenv("LD_LIBRARY_PATH"), name);
    if (found == NULL)
        found = search(elf, elf->runpath, name);
    return found;
}
