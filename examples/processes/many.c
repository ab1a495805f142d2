/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain program as many processes of one process of the operating system:
 *
 *   many COUNT PROGRAM [ARGUMENT...]
 *
 * Process i has NUMBER=i in its environment. The host prints how many processes have ended with
 * each exit code. All of it is the interface of src/process (process.h): no MPI is near.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fiber/fiber.h"
#include "process/process.h"

__attribute__((visibility("default"))) int many_main(int argc, char **argv);

enum { WORKERS = 2, STACK = 256 << 10, CODES = 256, MOST = 100000 };

static struct {
    int count;
    process_t *processes;
    xy_fiber_t **fibers;
    char (*numbers)[32];
    _Atomic int codes[CODES];
} host;

static int count_processes(void)
{
    return host.count;
}

/* Every worker runs many of them. */
static bool shares_core(const process_t *self)
{
    (void)self;
    return true;
}

static void note_end(process_t *self, int code)
{
    (void)self;
    atomic_fetch_add(&host.codes[code], 1);
}

/* Libraries that must be in front of the C library from the start: a host restarts itself, or
 * refuses the program. */
static xy_status_t must_preload(const xy_vec_t *libraries, bool is_verbose)
{
    (void)is_verbose;
    return libraries->count == 0
               ? XY_OK
               : xy_fail(XY_EUNSUPPORTED, "the program needs libraries that must be preloaded");
}

/* The fiber of another process is about to run on this worker. */
static void switched(xy_worker_t *worker, xy_fiber_t *previous, xy_fiber_t *fiber)
{
    (void)worker;
    process_switch(previous != NULL ? xy_fiber_user(previous) : NULL, xy_fiber_user(fiber));
}

static void stuck(xy_pool_t *pool)
{
    (void)pool;
    process_say("no process can continue");
    _exit(1);
}

static void overflow(xy_fiber_t *fiber)
{
    (void)fiber;
    _exit(128);
}

/* Make process `i`, and the fiber that runs it. */
static xy_status_t make(xy_pool_t *pool, const process_program_t *program, int i, int argc,
                        char **argv)
{
    process_t *process = &host.processes[i];
    char *environment[] = {host.numbers[i], NULL};
    process_config_t config = {.program = program,
                               .index = i,
                               .number = i,
                               .argc = argc,
                               .argv = argv,
                               .environment = environment};
    xy_status_t st;

    snprintf(host.numbers[i], sizeof(host.numbers[i]), "NUMBER=%d", i);
    process->fiber = &host.fibers[i];
    st = process_init(process, &config);
    if (st == XY_OK)
        st = xy_fiber_create(xy_pool_worker(pool, i % WORKERS), process_run, process,
                             &host.fibers[i]);
    if (st == XY_OK)
        xy_fiber_user_set(host.fibers[i], process);
    return st;
}

static xy_status_t load(const char *path, process_program_t **program_p)
{
    process_program_config_t config = {.images = host.count,
                                       .must_preload = must_preload,
                                       .capture_main = process_capture_main,
                                       .prepare_copies = process_prepare_cxx};
    xy_status_t st;

    config.tls_reserve = process_locals_reserve(&config.tls_align);
    st = process_program_load(path, &config, program_p);
    return st == XY_OK ? process_locals_setup() : st;
}

static xy_status_t run(int argc, char **argv)
{
    xy_pool_config_t config = {.workers = WORKERS,
                               .stack_size = STACK,
                               .switched = switched,
                               .stuck = stuck,
                               .overflow = overflow};
    process_program_t *program;
    xy_pool_t *pool;
    xy_status_t st = xy_pool_create(&config, &pool);

    host.processes = calloc((size_t)host.count, sizeof(*host.processes));
    host.fibers = calloc((size_t)host.count, sizeof(*host.fibers));
    host.numbers = calloc((size_t)host.count, sizeof(*host.numbers));
    if (st == XY_OK && (host.processes == NULL || host.fibers == NULL || host.numbers == NULL))
        st = xy_fail_memory("making the processes");
    if (st == XY_OK)
        st = load(argv[0], &program);
    for (int i = 0; i < host.count && st == XY_OK; i++)
        st = make(pool, program, i, argc, argv);
    return st == XY_OK ? xy_pool_run(pool) : st;
}

int many_main(int argc, char **argv)
{
    static const _Atomic bool never;
    char *end = NULL;
    xy_status_t st;
    long count;

    count = argc > 2 ? strtol(argv[1], &end, 10) : 0;
    if (count <= 0 || count > MOST || *end != '\0') {
        fprintf(stderr, "usage: %s COUNT PROGRAM [ARGUMENT...]\n", argv[0]);
        return 2;
    }
    host.count = (int)count;
    process_runtime = (process_runtime_t){.name = "many",
                                          .noun = "process",
                                          .library = "libmany.so",
                                          .library_reason = "the host itself",
                                          .count = count_processes,
                                          .shares_core = shares_core,
                                          .watches = &never,
                                          .end = note_end};
    xy_error_program_set("many");
    process_pid = getpid();
    process_streams_reserve();
    process_streams_setup(&(process_streams_config_t){.input = PROCESS_INPUT_NONE});
    st = run(argc - 2, argv + 2);
    if (st != XY_OK)
        return xy_status_exit_code(st);
    printf("%d processes in one:", host.count);
    for (int c = 0; c < CODES; c++)
        if (host.codes[c] > 0)
            printf(" %d with exit code %d", host.codes[c], c);
    printf("\n");
    return process_streams_failed() ? 1 : 0;
}
