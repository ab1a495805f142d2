/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a Jacobi stencil as StarPU tasks: one per block and iteration, handles per block. */
#include <starpu.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"
#include "stencil_sweep.h"

static stencil_shape_t shape;
static const stencil_kernels_t *kernels;

/* Buffers: the block, the one before, the one after, the result. */
static void update(void *buffers[], void *arg)
{
    stencil_around_t around = {{0}};

    (void)arg;
    for (int i = 0; i < 3; i++)
        around.at[i] = (const double *)STARPU_VECTOR_GET_PTR(buffers[i]);
    kernels->update(&shape, &around, 0, shape.rows, (double *)STARPU_VECTOR_GET_PTR(buffers[3]));
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED, .symbol = "xylem_stencil"};
static struct starpu_codelet codelet = {.cpu_funcs = {update},
                                        .nbuffers = 4,
                                        .modes = {STARPU_R, STARPU_R, STARPU_R, STARPU_W},
                                        .model = &model,
                                        .name = "update"};

static void submit(const xy_stencil_t *s, starpu_data_handle_t *handles)
{
    int64_t n = s->blocks[0];

    for (int t = 0; t < s->iterations; t++) {
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

double bench_starpu(const xy_stencil_t *stencil, int threads, const char *scheduler)
{
    xy_stencil_t s = *stencil;
    struct starpu_conf conf;
    starpu_data_handle_t *handles;
    size_t stride, count = (size_t)s.blocks[0] * 2;
    char *memory;
    double start, seconds;

    if (stencil_shape(&s, &shape) != XY_OK)
        exit(1);
    kernels = stencil_kernels_best(false);
    stride = s.block_bytes + 64;
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
        stencil_fill(&s, &shape, (int64_t)(i % (count / 2)), (double *)(memory + i * stride));
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)(memory + i * stride),
                                    (uint32_t)(s.block_bytes / sizeof(double)), sizeof(double));
    }
    start = bench_now();
    submit(&s, handles);
    starpu_task_wait_for_all();
    seconds = bench_now() - start;
    for (size_t i = 0; i < count; i++)
        starpu_data_unregister(handles[i]);
    free(handles);
    munmap(memory, count * stride);
    starpu_shutdown();
    return seconds;
}
