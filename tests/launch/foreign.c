/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for any MPI. With LOADED it is a program for none, or for Xylem with WITH_MPI, that
 * loads that library itself; it calls `plug` of a plug-in (PLUGGED), else the library's MPI_Init.
 */
#include <stdio.h>

#if defined(WITH_MPI) || !defined(LOADED)
#include <mpi.h>
#endif

#if defined(LOADED)
#include <dlfcn.h>
#include <stdlib.h>

static void (*find(const char *name))(void)
{
    void *library = dlopen(LOADED, RTLD_NOW | RTLD_GLOBAL);
    void (*found)(void) = NULL;

    if (library == NULL)
        exit(3);
    *(void **)&found = dlsym(library, name);
    return found;
}

int main(void)
{
#if defined(WITH_MPI)
    MPI_Init(NULL, NULL);
#endif
#if defined(PLUGGED)
    ((void (*)(void))find("plug"))();
#else
    ((int (*)(int *, char ***))find("MPI_Init"))(NULL, NULL);
    puts("initialised");
    ((int (*)(void))find("MPI_Finalize"))();
#endif
#if defined(WITH_MPI)
    MPI_Finalize();
#endif
    return 0;
}
#elif defined(PLUGGED)
void plug(void)
{
#if !defined(LINKED)
    MPI_Init(NULL, NULL);
    puts("initialised");
    MPI_Finalize();
#else
    int version, subversion;

    MPI_Get_version(&version, &subversion);
    puts("linked");
#endif
}
#else

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("one of %d\n", size);
    MPI_Finalize();
    return 0;
}
#endif
