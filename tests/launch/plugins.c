/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins, and the program's own symbols by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int program_value;
_Thread_local int program_local = 9;
int program_add(int to);

int program_add(int to)
{
    return program_value + to;
}

static int rank, wrong;

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("rank %d: %s\n", rank, what);
        wrong++;
    }
}

static void check_names(void)
{
    void *self = dlopen(NULL, RTLD_NOW);
    int (*add)(int);

    expect(dlsym(self, "program_value") == &program_value, "dlopen(NULL): another variable");
    expect(dlsym(RTLD_DEFAULT, "program_value") == &program_value,
           "RTLD_DEFAULT: another variable");
    expect(dlsym(self, "program_local") == &program_local, "another thread-local variable");
    *(void **)&add = dlsym(self, "program_add");
    expect(add == program_add && add(1) == program_value + 1, "another function");
    expect(dlsym(self, "MPI_Send") != NULL && dlsym(self, "malloc") != NULL,
           "a library's function");
    expect(dlsym(RTLD_NEXT, "program_value") == NULL, "RTLD_NEXT finds the program itself");
    expect(dlerror() != NULL, "no message");
    expect(dlsym(RTLD_NEXT, "getenv") != NULL, "RTLD_NEXT finds no function of the C library");
    expect(dlsym(self, "no_such_name") == NULL && dlerror() != NULL, "what is not there is found");
    expect(dlclose(self) == 0, "dlclose(dlopen(NULL))");
}

/* The version that the C library's oldest functions have here. */
#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

static void check_versions(void)
{
    void *self = dlopen(NULL, RTLD_NOW);

    expect(dlvsym(self, "program_value", "ANY") == &program_value, "dlvsym: another variable");
    expect(dlvsym(RTLD_DEFAULT, "program_value", "ANY") == &program_value,
           "dlvsym, RTLD_DEFAULT: another variable");
    expect(dlvsym(self, "getppid", FIRST_VERSION) == dlsym(self, "getppid"),
           "dlvsym finds no function of the C library");
    expect(dlvsym(RTLD_NEXT, "getppid", FIRST_VERSION) != NULL, "dlvsym, RTLD_NEXT: no function");
    expect(dlvsym(self, "getppid", "NONE_1.0") == NULL && dlerror() != NULL,
           "dlvsym finds a version that is not there");
    expect(dlvsym(self, "no_such_name", FIRST_VERSION) == NULL && dlerror() != NULL,
           "dlvsym finds what is not there");
}

static void *in_thread(void *run)
{
    return (void *)(long)(*(int (**)(int))run)(1);
}

static void check_plugin(const char *path, int base)
{
    void *plugin = dlopen(path, RTLD_NOW), *end = NULL, *again;
    int (*run)(int);
    pthread_t thread;

    if (plugin == NULL) {
        expect(0, dlerror());
        return;
    }
    again = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    expect(again == plugin, "another plug-in the second time");
    expect(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == plugin, "RTLD_NOLOAD does not find it");
    *(void **)&run = dlsym(plugin, "plugin_run");
    expect(run != NULL, "no function in the plug-in");
    expect(run(rank + 1) == base + 70 + rank + 1, "the first call");
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, in_thread, &run);
    pthread_join(thread, &end);
    expect((long)end == base + 71, "a thread: not the initial value");
    MPI_Barrier(MPI_COMM_WORLD);
    if (base == 0)
        expect(run(rank) == 70 + 2 * rank + 1, "the second call");
    expect(dlsym(plugin, "nothing_there") == NULL, "what is not there is found in the plug-in");
    dlclose(again);
    dlclose(plugin);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    program_value = 100 * (rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    check_names();
    check_versions();
    for (int i = 1; i < argc; i++)
        check_plugin(argv[i], argv[i][0] == 'l' ? program_value : 0);
    expect(dlopen("./no-such-plug-in.so", RTLD_NOW) == NULL && dlerror() != NULL, "opened nothing");
    printf("rank %d: %d wrong, %d\n", rank, wrong, program_local);
    MPI_Finalize();
    return 0;
}
