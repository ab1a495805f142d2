/* SPDX-License-Identifier: BSD-3-Clause */
/* Crashes of the last rank while something of the C library is in use, by the first argument. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int *volatile nowhere = (int *)8;

static void fault(void)
{
    *nowhere = 1; /* fault */
}

/* The allocator notices it with its lock held. */
static void free_twice(void)
{
    void *volatile memory = malloc(5000), *volatile behind = malloc(100);

    (void)behind;
    free(memory);
    free(memory); /* free_twice */
}

static void free_inside(void)
{
    char *memory = malloc(5000), *volatile inside = memory + 16;

    free(inside); /* free_inside */
}

/* In the C library, with the lock of the stream. */
static void print(void)
{
    printf("%d %s\n", 7, (char *)nowhere); /* print */
}

static void in_stdout(void)
{
    flockfile(stdout);
    *nowhere = 1; /* in_stdout */
}

static void in_stderr(void)
{
    flockfile(stderr);
    *nowhere = 1; /* in_stderr */
}

static sem_t is_held;

static void *hold(void *file)
{
    flockfile(file);
    sem_post(&is_held);
    for (;;)
        pause();
    return NULL;
}

/* Another thread has the streams, for ever. */
static void held_elsewhere(void)
{
    FILE *files[] = {stdout, stderr};
    pthread_t thread;

    sem_init(&is_held, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, hold, files[i]);
        sem_wait(&is_held);
    }
    *nowhere = 1; /* held_elsewhere */
}

/* A constructor of the plug-in crashes, in dlopen. */
static void in_dlopen(void)
{
    dlopen("./crash_plugin.so", RTLD_NOW); /* in_dlopen */
}

static void on_signal(int number)
{
    (void)number;
    *nowhere = 1; /* on_signal */
}

static void in_handler(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1); /* in_handler */
}

static void blocked(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    *nowhere = 1; /* blocked */
}

static int recurse(const volatile int *depth)
{
    volatile int room[1000];

    room[0] = *depth + 1;
    return recurse(room) + room[1]; /* recurse */
}

static void overflow(void)
{
    int depth = 0;

    recurse(&depth); /* overflow */
}

/* A page behind the end of its file. */
static void bus(void)
{
    FILE *file = tmpfile();
    char *page = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);

    page[1 << 15] = 1; /* bus */
}

/* Up to the end of the stack: its caller cannot be found any more. */
static void smash(void)
{
    volatile size_t size = (size_t)1 << 30;
    char small[16];

    memset(small, 'A', size); /* smash */
    puts(small);
}

static void stop(void)
{
    abort(); /* stop */
}

static void divide(void)
{
    raise(SIGFPE); /* divide */
}

static const struct {
    const char *name;
    void (*function)(void);
} kinds[] = {
    {"fault", fault},
    {"free_twice", free_twice},
    {"free_inside", free_inside},
    {"print", print},
    {"in_stdout", in_stdout},
    {"in_stderr", in_stderr},
    {"held_elsewhere", held_elsewhere},
    {"in_dlopen", in_dlopen},
    {"in_handler", in_handler},
    {"blocked", blocked},
    {"overflow", overflow},
    {"bus", bus},
    {"smash", smash},
    {"stop", stop},
    {"divide", divide},
};

static void *run(void *argument)
{
    void (*const *function)(void) = argument;

    (*function)(); /* run */
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; rank == size - 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        void (*function)(void) = kinds[i].function;
        pthread_t thread;

        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        if (argc == 2) {
            function(); /* main */
        } else {
            pthread_create(&thread, NULL, run, &function);
            pthread_join(thread, NULL);
        }
    }
    MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
