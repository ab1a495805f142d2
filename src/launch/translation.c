/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/translation.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "launch/other_mpi.h"

static const struct {
    const char *directory, *mpi;
} abis[] = {{"openmpi", "Open MPI"}, {"mpich", "MPICH"}};

enum { ABIS = sizeof(abis) / sizeof(abis[0]) };

/* The directory of the library that this is a part of, with its last slash. It is asked for with
 * each pair of libraries, and dladdr reads all symbols. */
static const char *own_directory(int *length_p)
{
    static _Atomic(const char *) known;
    const char *path = atomic_load_explicit(&known, memory_order_relaxed), *slash;
    Dl_info own;

    if (path == NULL) {
        if (dladdr((const void *)(uintptr_t)mpi_translation_find, &own) == 0)
            return NULL;
        path = own.dli_fname;
        atomic_store_explicit(&known, path, memory_order_relaxed);
    }
    slash = strrchr(path, '/');
    *length_p = slash != NULL ? (int)(slash + 1 - path) : 0;
    return path;
}

static char *path_of(int abi, const char *name)
{
    int length;
    const char *directory = own_directory(&length);

    if (directory == NULL)
        return NULL;
    return xy_sprintf("%.*sxylem/%s/%s", length, directory, abis[abi].directory, name);
}

/* Look for the translation of a library; -1: there is none. */
static int find(const char *name, char **path_p)
{
    char versioned[XMPI_OTHER_NAME];

    if (!mpi_other_versioned(name, versioned))
        return -1;
    for (int i = 0; i < ABIS; i++) {
        char *path = path_of(i, versioned);

        if (path != NULL && access(path, R_OK) == 0) {
            *path_p = path;
            return i;
        }
        xy_free(path);
    }
    return -1;
}

/* The MPI that a needed library of this name belongs to ("Open MPI"), Xylem included; NULL: it is
 * no MPI library, or one that has no translation. */
static const char *mpi_of(const char *name)
{
    char *path = NULL;
    int abi = find(basename(name), &path);

    xy_free(path);
    if (abi >= 0)
        return abis[abi].mpi;
    return strncmp(basename(name), "libmpi_abi.so", 13) == 0 ? "Xylem" : NULL;
}

char *mpi_translation_find(const char *name)
{
    char *path = NULL;

    return find(name, &path) >= 0 ? path : NULL;
}

bool mpi_translation_is(const char *path)
{
    char *own = mpi_translation_find(path);
    bool is_same = own != NULL && strcmp(own, path) == 0;

    xy_free(own);
    return is_same;
}

/* ---- The program and its libraries ---- */

/* Libraries that were inspected (process_elf_t *). They stay mapped: Valgrind 3.19 remembers a file
 * that was mapped, and fails where the dynamic linker puts it at the same address again. */
static xy_vec_t files = XY_VEC_INIT(process_elf_t *);

typedef struct {
    xy_vec_t names;         /* const char *, of the files */
    const char *mpi, *file; /* the first that is compiled for an MPI; NULL: none yet */
} inspection_t;

/* Libraries of other MPIs that use the inside of the one that is replaced. */
static bool is_untranslated(const char *name)
{
    return strncmp(name, "libmpi_java.so.", 15) == 0;
}

/* Note that a file needs the library of an MPI. */
static xy_status_t note_mpi(inspection_t *in, const process_elf_t *elf, const char *mpi)
{
    if (in->mpi == NULL)
        in->mpi = mpi, in->file = elf->path;
    else if (strcmp(in->mpi, mpi) != 0)
        return xy_fail(XY_EUNSUPPORTED,
                       "'%s' is compiled for %s and '%s' for %s; all parts of a program must be "
                       "compiled for one MPI",
                       in->file, in->mpi, elf->path, mpi);
    return XY_OK;
}

static bool is_listed(const xy_vec_t *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(XY_VEC_AT(names, const char *, i), name) == 0)
            return true;
    return false;
}

/* Append the file of a needed library to the list; one that is not found is left to the loader. */
static void add_file(inspection_t *in, const process_elf_t *elf, const char *name)
{
    process_elf_t *library = NULL;
    char *path;

    if (is_listed(&in->names, name) || xy_vec_append(&in->names, &name) != XY_OK)
        return;
    path = process_elf_find_library(elf, name);
    if (path != NULL && process_elf_open(path, &library) == XY_OK) {
        close(library->fd);
        library->fd = -1;
        if (xy_vec_append(&files, &library) != XY_OK)
            process_elf_close(library);
    }
    xy_free(path);
}

/* Examine the libraries that a file needs: note those of MPI, refuse Java bindings, queue the
 * others. */
static xy_status_t look_at(inspection_t *in, const process_elf_t *elf)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < elf->needed.count && st == XY_OK; i++) {
        const char *name = XY_VEC_AT(&elf->needed, const char *, i), *mpi = mpi_of(name);

        if (mpi != NULL)
            st = note_mpi(in, elf, mpi);
        else if (is_untranslated(name))
            st = xy_fail(XY_EUNSUPPORTED,
                         "'%s' uses the Java interface of another MPI (%s), which Xylem does not "
                         "support; start it with the mpirun of that MPI",
                         elf->path, name);
        else
            add_file(in, elf, name);
    }
    return st;
}

xy_status_t mpi_translation_inspect(const process_elf_t *program, bool *uses_mpi_p)
{
    inspection_t in = {.names = XY_VEC_INIT(const char *)};
    size_t first = files.count;
    xy_status_t st = look_at(&in, program);

    for (size_t i = first; i < files.count && st == XY_OK; i++)
        st = look_at(&in, XY_VEC_AT(&files, process_elf_t *, i));
    if (st == XY_OK)
        *uses_mpi_p = in.mpi != NULL;
    xy_vec_cleanup(&in.names);
    return st;
}
