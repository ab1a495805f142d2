/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a Jacobi stencil as StarPU tasks: one per block and iteration, handles per block. */
#include <starpu.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"
#include "stencil_starpu.h"

static const bench_blocks_t *of;

/* Buffers: the block, the one before, the one after, the result. */
static void update(void *buffers[], void *arg)
{
    const double *from[3];

    (void)arg;
    for (int i = 0; i < 3; i++)
        from[i] = (const double *)STARPU_VECTOR_GET_PTR(buffers[i]);
    of->update(from, (double *)STARPU_VECTOR_GET_PTR(buffers[3]));
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED, .symbol = "xylem_stencil"};
static struct starpu_codelet codelet = {.cpu_funcs = {update},
                                        .nbuffers = 4,
                                        .modes = {STARPU_R, STARPU_R, STARPU_R, STARPU_W},
                                        .model = &model,
                                        .name = "update"};

static void submit(starpu_data_handle_t *handles)
{
    int64_t n = of->blocks;

    for (int t = 0; t < of->iterations; t++) {
        starpu_data_handle_t *from = handles + (t % 2) * n, *to = handles + ((t + 1) % 2) * n;

        for (int64_t x = 1; x < n - 1; x++) {
            struct starpu_task *task = starpu_task_create();

            task->cl = &codelet;
            task->handles[0] = from[x];
            task->handles[1] = from[x - 1];
            task->handles[2] = from[x + 1];
            task->handles[3] = to[x];
            task->priority = t;
            if (starpu_task_submit(task) != 0)
                exit(1);
        }
    }
}

double bench_starpu(const bench_blocks_t *blocks, int threads, const char *scheduler)
{
    struct starpu_conf conf;
    starpu_data_handle_t *handles;
    size_t stride = blocks->bytes + 64, count = (size_t)blocks->blocks * 2;
    char *memory;
    double start, seconds;

    of = blocks;
    starpu_conf_init(&conf);
    conf.sched_policy_name = scheduler;
    conf.ncpus = threads;
    conf.ncuda = conf.nopencl = 0;
    conf.calibrate = 1;
    if (starpu_init(&conf) != 0)
        return -1;
    memory = mmap(NULL, count * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handles = malloc(count * sizeof(*handles));
    if (memory == MAP_FAILED || handles == NULL)
        exit(1);
    (void)madvise(memory, count * stride, MADV_HUGEPAGE);
    for (size_t i = 0; i < count; i++) {
        blocks->fill((int)(i / (count / 2)), (int64_t)(i % (count / 2)),
                     (double *)(memory + i * stride));
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)(memory + i * stride),
                                    (uint32_t)(blocks->bytes / sizeof(double)), sizeof(double));
    }
    start = bench_now();
    submit(handles);
    starpu_task_wait_for_all();
    seconds = bench_now() - start;
    for (size_t i = 0; i < count; i++)
        starpu_data_unregister(handles[i]);
    free(handles);
    munmap(memory, count * stride);
    starpu_shutdown();
    return seconds;
}
