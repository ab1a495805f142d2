/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with twelve libraries (dozen_library.c); with arguments also with plug-ins. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dozen.h"

static int own, wrong;

int program_check(int rank)
{
    return own != rank;
}

static void count(const char *name, int rank, int found)
{
    if (found != 0)
        printf("rank %d: %s: %d wrong\n", rank, name, found);
    wrong += found;
}

static void *open_plugin(const char *path, int flags)
{
    void *plugin = dlopen(path, flags);

    if (plugin == NULL) {
        printf("wrong: %s\n", dlerror());
        exit(1);
    }
    return plugin;
}

static int call(void *plugin, const char *name, int rank, int argument)
{
    int (*function)(int, int);

    *(void **)&function = dlsym(plugin, name);
    return function != NULL ? function(rank, argument) : 1000;
}

/* Two plug-ins with one dependency, one for others, and a library that is linked already. */
static void check_plugins(int rank, int is_undefined)
{
    void *a = open_plugin("plugin_a.so", RTLD_NOW | RTLD_LOCAL);
    void *b = open_plugin("./plugin_b.so", RTLD_LAZY);
    void *dependency = open_plugin("libdependency.so", RTLD_NOW);
    void *linked = open_plugin("./librank.so", RTLD_NOW), *uses;
    int *calls = dlsym(dependency, "dependency_calls");

    MPI_Barrier(MPI_COMM_WORLD);
    count("plug-in a", rank, call(a, "plugin_check", rank, 1));
    count("plug-in b", rank, call(b, "plugin_check", rank, 2));
    count("dependency", rank, calls == NULL || *calls != 12);
    count("linked", rank, call(linked, "rank_check", rank, 0));
    count("a local plug-in is found", rank, dlsym(RTLD_DEFAULT, "dependency_call") != NULL);
    open_plugin("./global.so", RTLD_NOW | RTLD_GLOBAL);
    uses = open_plugin("./uses_global.so", RTLD_LAZY);
    MPI_Barrier(MPI_COMM_WORLD);
    count("global", rank, call(uses, "uses_check", rank, 0));
    if (is_undefined)
        call(uses, "uses_check", -1, 0);
    count("global name", rank, dlsym(RTLD_DEFAULT, "global_value") == NULL);
    count("undefined", rank, dlopen("./uses_nothing.so", RTLD_NOW) != NULL);
}

#define SET(name)   name##_set();
#define CHECK(name) count(#name, rank, name##_check(rank));

int main(int argc, char **argv)
{
    int rank, total;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    own = rank;
    DOZEN(SET)
    version_set();
    MPI_Barrier(MPI_COMM_WORLD);
    DOZEN(CHECK)
    CHECK(order)
    CHECK(version)
    CHECK(constant)
    if (argc > 1)
        check_plugins(rank, strcmp(argv[1], "undefined") == 0);
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", total); /* has the sum */
    MPI_Finalize();
    return 0;
}
