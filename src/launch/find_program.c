/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding programs, and finding out whether they use MPI. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/other_mpi.h"
#include "launch/translation.h"

static bool is_program(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The first program of that name in PATH, then in the working directory. */
char *mpi_launch_search(const char *name)
{
    const char *list = getenv("PATH");

    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ":");
        char *path = xy_sprintf("%.*s/%s", (int)n, list, name);

        if (path == NULL || is_program(path))
            return path;
        xy_free(path);
        list += n;
        list += *list == ':';
    }
    return exists(name) ? xy_sprintf("./%s", name) : NULL;
}

xy_status_t mpi_launch_find(const char *name, char **path_p, int *code_p)
{
    char *path = strchr(name, '/') != NULL ? xy_strdup(name) : mpi_launch_search(name);
    struct stat about;

    *code_p = XMPI_EXIT_NOT_FOUND;
    if (path == NULL || !exists(path)) {
        xy_free(path);
        return xy_fail(XY_ENOENT, "the program '%s' does not exist%s", name,
                       strchr(name, '/') != NULL ? "" : " in PATH or in the working directory");
    }
    if (is_program(path)) {
        *path_p = path;
        return XY_OK;
    }
    *code_p = XMPI_EXIT_NOT_EXECUTABLE;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        xy_fail(XY_EACCES, "'%s' is a directory, not a program", path);
    else
        xy_fail(XY_EACCES, "'%s' is not executable; 'chmod +x %s' makes it so", path, path);
    xy_free(path);
    return XY_EACCES;
}

/* The MPI library whose code is in the file: messages of its MPI_Init are. A stripped program has
 * them, too. */
static const char *inner_mpi(const process_elf_t *elf)
{
    static const struct {
        const char *text, *name;
    } marks[] = {{"**mpi_init_thread", "MPICH or a relative, linked statically"},
                 {"mpi_init:startup:internal-failure", "Open MPI, linked statically"}};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && elf->kind != PROCESS_ELF_NONE; i++)
        if (memmem(elf->bytes, elf->size, marks[i].text, strlen(marks[i].text)) != NULL)
            return marks[i].name;
    return NULL;
}

/* Would the kernel give a process of the program rights that mpiexec does not have? Ranks, which
 * are threads of mpiexec, would run without them. What it would give, as words; NULL: none. */
static const char *rights_of(const char *path)
{
    struct stat about;
    struct statvfs system;

    if (stat(path, &about) != 0 ||
        (statvfs(path, &system) == 0 && (system.f_flag & ST_NOSUID) != 0))
        return NULL;
    if ((about.st_mode & S_ISUID) != 0 && about.st_uid != geteuid())
        return "is setuid (u+s)";
    if ((about.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && about.st_gid != getegid())
        return "is setgid (g+s)";
    if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "has capabilities";
    return NULL;
}

xy_status_t mpi_launch_inspect(mpi_part_t *part)
{
    const char *rights;
    process_elf_t *elf;
    xy_status_t st;

    if (access(part->path, R_OK) != 0) /* may be run, but not looked into */
        return XY_OK;
    st = process_elf_open(part->path, &elf);
    if (st != XY_OK)
        return st;
    if (elf->kind == PROCESS_ELF_PIE || elf->kind == PROCESS_ELF_FIXED)
        st = mpi_translation_inspect(elf, &part->is_mpi);
    part->is_fixed = elf->kind == PROCESS_ELF_FIXED;
    part->other_mpi = part->is_mpi ? NULL : inner_mpi(elf);
    process_elf_close(elf);
    rights = st == XY_OK && part->is_mpi ? rights_of(part->path) : NULL;
    if (rights != NULL)
        st = xy_fail(XY_EUNSUPPORTED,
                     "'%s' %s, but ranks are threads of mpiexec and have its rights only; remove "
                     "that from a copy of the program, and start mpiexec with the rights it needs",
                     part->path, rights);
    return st;
}
