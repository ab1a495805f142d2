/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for any MPI; LOADED is a library that it loads itself, where that is defined. */
#include <stdio.h>

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
    ((int (*)(int *, char ***))find("MPI_Init"))(NULL, NULL);
    puts("initialised");
    ((int (*)(void))find("MPI_Finalize"))();
    return 0;
}
#else
#include <mpi.h>

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
