/* SPDX-License-Identifier: BSD-3-Clause */
/* A stencil on GPUs: its blocks in pinned memory, its tasks as kernels. */
#include "stencil/real_gpu.h"

#include <string.h>
#include <xylem.h>

#include "fiber/fiber.h"
#include "gpu/gpu.h"
#include "stencil/own.h"
#include "stencil/real.h"
#include "tasks/device/device.h"

/* ---- Tasks ---- */

static const size_t group1[3] = {256, 1, 1};
enum { GROUP_COLUMNS = 128, GROUP_ROWS = 2 };

/* Groups of narrow blocks have more rows, so that few of their threads are beyond the end of one.
 */
static void set_group(int64_t columns, size_t group[3])
{
    size_t width = GROUP_COLUMNS;

    while (width > 8 && (int64_t)width / 2 >= columns)
        width /= 2;
    group[0] = width;
    group[1] = (size_t)GROUP_COLUMNS * GROUP_ROWS / width;
    group[2] = 1;
}

bool stencil_gpu_is_wide(const stencil_shape_t *s)
{
    const double columns = (double)s->columns + 128, rows = (double)s->layers * (double)s->rows;

    return columns * (rows + (double)(2 * STENCIL_GPU_ROWS)) > INT32_MAX;
}

int64_t stencil_gpu_launch_rows(int points)
{
    return (int64_t)STENCIL_GPU_GROUPS_MAX * GROUP_ROWS * (points == 5 ? STENCIL_GPU_ROWS : 1);
}

/* Put rows of blocks into a stream, so many in a launch as a driver takes. The first `n` arguments
 * are of the blocks. */
static xy_status_t launch_rows(const stencil_shape_t *s, xy_gpu_stream_t *stream,
                               xy_gpu_kernel_t *kernel, xy_gpu_arg_t *args, int n, int64_t last,
                               int count)
{
    const int64_t most = stencil_gpu_launch_rows(s->points);
    size_t threads[3] = {(size_t)s->columns, 1, (size_t)count}, group[3];
    xy_status_t st = XY_OK;

    set_group(s->columns, group);
    args[n] = XY_GPU_ARG(s->layers);
    args[n + 1] = XY_GPU_ARG(s->rows);
    args[n + 2] = XY_GPU_ARG(s->columns);
    for (int64_t from = 0; from < last && st == XY_OK; from += most) {
        int64_t end = last - from < most ? last : from + most;

        args[n + 3] = XY_GPU_ARG(from);
        args[n + 4] = XY_GPU_ARG(end);
        if (s->points != 3)
            threads[1] = (size_t)(end - from);
        if (s->points == 5)
            threads[1] = (threads[1] + STENCIL_GPU_ROWS - 1) / STENCIL_GPU_ROWS;
        st = xy_gpu_launch(stream, kernel, threads, s->points == 3 ? group1 : group, args, n + 5);
    }
    args[n + 3] = args[n + 4] = args[n]; /* arguments of this function */
    return st;
}

/* Launch the user's own stencil; the first `n` arguments are of the blocks. */
static xy_status_t launch_own(const stencil_real_t *r, const xy_op_t *op, xy_gpu_stream_t *stream,
                              xy_gpu_kernel_t *kernel, xy_gpu_arg_t *args, int n, int64_t last)
{
    const int64_t most = (int64_t)STENCIL_GPU_GROUPS_MAX * GROUP_ROWS;
    size_t threads[3] = {(size_t)r->shape.columns, 1, 1}, group[3];
    long origin[3], iteration = stencil_real_origin(r, op, origin);
    xy_status_t st = XY_OK;

    set_group(r->shape.columns, group);
    for (int i = 0; i < 3; i++)
        args[n++] = XY_GPU_ARG(origin[i]);
    args[n++] = XY_GPU_ARG(iteration);
    for (int64_t from = 0; from < last && st == XY_OK; from += most) {
        int64_t end = last - from < most ? last : from + most;

        args[n] = XY_GPU_ARG(from);
        args[n + 1] = XY_GPU_ARG(end);
        threads[1] = (size_t)(end - from);
        st =
            xy_gpu_launch(stream, kernel, threads, r->grid.dims == 1 ? group1 : group, args, n + 2);
    }
    return st;
}

xy_status_t stencil_gpu_launch(const stencil_real_t *r, const stencil_place_t *p, const xy_op_t *op,
                               xy_gpu_stream_t *stream, const xy_gpu_memory_t *around,
                               xy_gpu_memory_t out, int64_t last)
{
    const int points = r->shape.points;
    xy_gpu_arg_t args[STENCIL_AROUND_MAX + 7];

    for (int i = 0; i < points; i++)
        args[i] = (xy_gpu_arg_t){&around[i], sizeof(around[i])};
    args[points] = XY_GPU_ARG(out);
    if (r->grid.own != NULL)
        return launch_own(r, op, stream, p->kernels[KERNEL_UPDATE], args, points + 1, last);
    return launch_rows(&r->shape, stream, p->kernels[KERNEL_UPDATE], args, points + 1, last, 1);
}

enum { POINTS = 5 }; /* of tasks that share launches */

xy_status_t stencil_gpu_launch_several(const stencil_real_t *r, const stencil_place_t *p,
                                       xy_gpu_stream_t *stream, const stencil_blocks_t *blocks,
                                       int count)
{
    xy_gpu_memory_t all[XY_TASK_BATCH_MAX][POINTS + 1] = {{0}};
    xy_gpu_arg_t args[XY_GPU_ARGS_MAX];
    int n = 0;

    for (int b = 0; b < XY_TASK_BATCH_MAX; b++) {
        const stencil_blocks_t *block = &blocks[b < count ? b : 0];

        memcpy(all[b], block->around, POINTS * sizeof(all[b][0]));
        all[b][POINTS] = block->out;
    }
    if (strcmp(xy_gpu_info(p->gpu)->driver, "cuda") == 0)
        args[n++] = XY_GPU_ARG(all);
    else
        for (; n < XY_TASK_BATCH_MAX * (POINTS + 1); n++)
            args[n] = XY_GPU_ARG(all[n / (POINTS + 1)][n % (POINTS + 1)]);
    return launch_rows(&r->shape, stream, p->kernels[KERNEL_SEVERAL], args, n, r->shape.rows,
                       count);
}

/* Add the additional work of a task, counted in rows, as on cores. */
static xy_status_t add_load(const stencil_real_t *r, const stencil_place_t *p,
                            const xy_task_kernel_t *k, const xy_gpu_memory_t *around,
                            const xy_op_t *op)
{
    int64_t rows = r->shape.layers * r->shape.rows;
    int64_t extra = (int64_t)((op->seconds / r->least_seconds - 1) * (double)rows + 0.5);
    xy_status_t st = XY_OK;

    for (; extra > 0 && st == XY_OK; extra -= rows)
        st = stencil_gpu_launch(r, p, op, k->stream, around, p->scratch,
                                extra < rows ? extra : rows);
    return st;
}

/* The block as it is after a checked iteration, and the largest change of a cell. */
static xy_status_t keep(const stencil_real_t *r, const stencil_place_t *p,
                        const xy_task_kernel_t *k, xy_gpu_memory_t before, xy_gpu_memory_t after,
                        int n)
{
    static const size_t group[3] = {STENCIL_GPU_GROUP, 1, 1};
    static const size_t threads[3] = {(size_t)STENCIL_GPU_GROUP * STENCIL_GPU_PARTS, 1, 1};
    int64_t count = stencil_block_cells(r);
    const xy_gpu_arg_t change[] = {XY_GPU_ARG(after), XY_GPU_ARG(before), XY_GPU_ARG(count),
                                   XY_GPU_ARG(p->parts)};
    const xy_gpu_arg_t largest[] = {XY_GPU_ARG(p->parts), XY_GPU_ARG(k->buffers[n + 1])};
    xy_status_t st = xy_gpu_launch(k->stream, p->kernels[KERNEL_CHANGE], threads, group, change, 4);

    if (st == XY_OK)
        st = xy_gpu_launch(k->stream, p->kernels[KERNEL_LARGEST], (size_t[3]){1, 1, 1},
                           (size_t[3]){1, 1, 1}, largest, 2);
    return st == XY_OK ? xy_gpu_copy_on(k->stream, k->buffers[n], 0, after, 0, r->grid.block_bytes)
                       : st;
}

/* The blocks around one, and where it is written to. Returns how many accesses of the task these
 * are. */
static int find_blocks(const stencil_real_t *r, const xy_op_t *op, const xy_task_kernel_t *k,
                       stencil_blocks_t *blocks)
{
    const xy_stencil_t *s = &r->grid;
    const int8_t(*offset)[3] = stencil_offsets(s->points);
    int n = 0;

    for (int i = 0; i < s->points; i++) {
        int64_t y[3] = {op->position[0] + offset[i][0], op->position[1] + offset[i][1],
                        op->position[2] + offset[i][2]};

        blocks->around[i] = stencil_has(s, y) ? k->buffers[n++] : 0;
    }
    blocks->out = s->graph == XY_STENCIL_JACOBI ? k->buffers[n++] : k->changed;
    return n;
}

/* Launches the update of a block on a GPU; checked iterations also compute the change. */
static xy_status_t put_update(const stencil_real_t *r, const xy_op_t *op, const xy_task_kernel_t *k)
{
    const stencil_place_t *p = &r->gpu->places[k->gpu];
    const xy_stencil_t *s = &r->grid;
    stencil_blocks_t blocks;
    const xy_gpu_memory_t *around = blocks.around;
    xy_status_t st = XY_OK;
    int n = find_blocks(r, op, k, &blocks);
    xy_gpu_memory_t out = blocks.out;

    if (stencil_is_deciding(s, op->iteration))
        n++;
    if (op->seconds > r->least_seconds)
        st = add_load(r, p, k, around, op);
    if (st == XY_OK)
        st = stencil_gpu_launch(r, p, op, k->stream, around, out, r->shape.layers * r->shape.rows);
    if (st == XY_OK && stencil_is_checked(s, op->iteration))
        st = keep(r, p, k, around[0], out, n);
    return st;
}

static xy_status_t put_reduce(const stencil_real_t *r, const xy_task_kernel_t *k)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(r->tasks, k->op, &a) - 1;
    xy_gpu_memory_t none = 0;
    xy_gpu_arg_t args[STENCIL_FAN + 1];

    for (int32_t i = 0; i < STENCIL_FAN; i++)
        args[i] = (xy_gpu_arg_t){i < n ? &k->buffers[i] : &none, sizeof(none)};
    args[STENCIL_FAN] = (xy_gpu_arg_t){&k->buffers[n], sizeof(none)};
    return xy_gpu_launch(k->stream, r->gpu->places[k->gpu].kernels[KERNEL_GATHER],
                         (size_t[3]){1, 1, 1}, (size_t[3]){1, 1, 1}, args, STENCIL_FAN + 1);
}

static xy_status_t put(void *arg, const xy_task_kernel_t *k)
{
    const stencil_real_t *r = arg;
    const xy_op_t *op = xy_graph_op(r->tasks, k->op);

    return op->level == STENCIL_UPDATE ? put_update(r, op, k) : put_reduce(r, k);
}

static xy_status_t put_several(void *arg, const xy_task_kernel_t *kernels, int32_t count)
{
    const stencil_real_t *r = arg;
    stencil_blocks_t blocks[XY_TASK_BATCH_MAX];

    for (int32_t i = 0; i < count; i++)
        find_blocks(r, xy_graph_op(r->tasks, kernels[i].op), &kernels[i], &blocks[i]);
    return stencil_gpu_launch_several(r, &r->gpu->places[kernels[0].gpu], kernels[0].stream, blocks,
                                      count);
}

/* The decision is made where the run can be ended. */
static bool is_for_gpu(void *arg, xy_op_id_t op)
{
    const stencil_real_t *r = arg;

    return xy_graph_op(r->tasks, op)->level != STENCIL_DECIDE;
}

/* ---- Making and unmaking ---- */

/* The text with the types of this run. */
static char *make_text(const stencil_real_t *r)
{
    return xy_sprintf("#define SINGLE %d\n#define INDEX %s\n#line 1\n%s", r->grid.is_single,
                      stencil_gpu_is_wide(&r->shape) ? "long" : "int", stencil_gpu_text);
}

static xy_status_t compile_own(const stencil_real_t *r, stencil_place_t *p)
{
    char *text;
    xy_status_t st = stencil_own_gpu_text(r->grid.own, &r->grid, xy_gpu_info(p->gpu)->driver,
                                          stencil_gpu_is_wide(&r->shape), &text);

    if (st != XY_OK)
        return st;
    st = xy_gpu_program_create(p->gpu, r->run->kernel_source, text, &p->own);
    xy_free(text);
    return st;
}

/* Opens a GPU and compiles the kernels for it. */
static xy_status_t open_place(const stencil_real_t *r, const xy_gpu_info_t *info,
                              stencil_place_t *p)
{
    char update[16];
    const char *const names[KERNELS] = {update, "change", "largest", "gather", "several5"};
    char *text = make_text(r);
    xy_status_t st = text != NULL ? XY_OK : xy_fail_memory("preparing the GPUs");

    if (st == XY_OK)
        st = xy_gpu_open(info, &p->gpu);
    if (st == XY_OK)
        st = xy_gpu_program_create(p->gpu, "stencil.cl", text, &p->program);
    xy_free(text);
    if (st == XY_OK && r->grid.own != NULL)
        st = compile_own(r, p);
    snprintf(update, sizeof(update), p->own != NULL ? "update_own" : "update%d", r->shape.points);
    for (int i = 0; i < KERNELS && st == XY_OK; i++)
        st = xy_gpu_kernel_create(i == KERNEL_UPDATE && p->own != NULL ? p->own : p->program,
                                  names[i], &p->kernels[i]);
    for (int i = 0; i < KERNELS && st == XY_OK; i++)
        xy_gpu_kernel_chain(p->kernels[i]);
    if (st == XY_OK)
        st = xy_gpu_memory_take(p->gpu, r->grid.block_bytes, &p->scratch);
    return st == XY_OK ? xy_gpu_memory_take(p->gpu, STENCIL_GPU_PARTS * sizeof(double), &p->parts)
                       : st;
}

/* Why there is none, by the drivers. */
static xy_status_t fail_none(int wanted, size_t found)
{
    const char *name, *why, *first = "", *second = "";

    for (size_t i = 0; xy_gpu_driver_state(i, &name, &why); i++)
        *(i == 0 ? &first : &second) = why;
    if (found > 0)
        return xy_fail(XY_ENOENT, "%d GPUs were requested, and there are %zu", wanted, found);
    return xy_fail(XY_ENOENT,
                   "there is no GPU (%s; %s); leave --gpus out, or set XYLEM_GPU_DRIVER=opencl to "
                   "use an OpenCL device that is made of cores",
                   first, second[0] != '\0' ? second : "opencl has no GPU");
}

xy_status_t stencil_gpu_open(stencil_real_t *r)
{
    int wanted = r->run->gpus;
    xy_vec_t found;
    xy_status_t st = xy_gpu_list(&found);

    if (st != XY_OK)
        return st;
    r->gpu = xy_calloc(1, sizeof(*r->gpu));
    if (r->gpu == NULL)
        st = xy_fail_memory("preparing the GPUs");
    else if (found.count == 0 || found.count < (size_t)wanted)
        st = fail_none(wanted, found.count);
    if (wanted == 0)
        wanted = found.count < STENCIL_GPUS_MAX ? (int)found.count : STENCIL_GPUS_MAX;
    for (int i = 0; i < wanted && st == XY_OK; i++) { /* ranks take them in turn */
        int first = r->run->messages != NULL ? xy_task_gpu_first(r->run->messages, wanted) : 0;
        size_t which = (size_t)(first + i) % found.count;

        r->gpu->count = i + 1;
        st = open_place(r, &XY_VEC_AT(&found, xy_gpu_info_t, which), &r->gpu->places[i]);
    }
    if (r->run->messages != NULL && st == XY_OK)
        r->gpu->sharers = xy_task_gpu_sharers(r->run->messages, wanted, (int32_t)found.count);
    xy_vec_cleanup(&found);
    return st == XY_OK ? stencil_gpu_measure(r) : st;
}

xy_status_t stencil_gpu_memory(stencil_real_t *r, uint64_t bytes)
{
    xy_status_t st = xy_gpu_pinned_take(r->gpu->places[0].gpu, bytes, &r->gpu->pinned);

    r->memory = r->gpu->pinned;
    return st;
}

void stencil_gpu_close(stencil_real_t *r)
{
    for (int32_t i = 0; r->gpu != NULL && i < r->gpu->count; i++) {
        stencil_place_t *p = &r->gpu->places[i];

        if (p->gpu == NULL)
            continue;
        xy_gpu_memory_give(p->gpu, p->scratch);
        xy_gpu_memory_give(p->gpu, p->parts);
        for (int k = 0; k < KERNELS; k++)
            xy_gpu_kernel_destroy(p->kernels[k]);
        xy_gpu_program_destroy(p->program);
        xy_gpu_program_destroy(p->own);
        xy_gpu_close(p->gpu);
    }
    xy_free(r->gpu);
    r->gpu = NULL;
}

const char *stencil_gpu_name(const stencil_real_t *r)
{
    return xy_gpu_info(r->gpu->places[0].gpu)->name;
}

int32_t stencil_gpu_count(const stencil_real_t *r)
{
    return r->gpu->count;
}

const xy_stencil_costs_t *stencil_gpu_costs(const stencil_real_t *r)
{
    return &r->gpu->costs;
}

double stencil_gpu_seconds(const stencil_real_t *r)
{
    return r->gpu->costs.task;
}

void stencil_gpu_platform(const stencil_real_t *r, xy_link_t *in_p, xy_link_t *out_p,
                          uint64_t *memory_p)
{
    *in_p = r->gpu->costs.in;
    *out_p = r->gpu->costs.out;
    *memory_p = xy_gpu_info(r->gpu->places[0].gpu)->memory / 10 * 9;
}

double stencil_gpu_speed(const stencil_real_t *r, int32_t gpu, uint64_t *memory_p)
{
    *memory_p = xy_gpu_info(r->gpu->places[gpu].gpu)->memory / 10 * 9;
    return r->gpu->speeds[gpu];
}

/* ---- Running ---- */

xy_status_t stencil_gpu_execute(stencil_real_t *r, const stencil_choice_t *choice,
                                xy_task_result_t *result_p)
{
    const xy_stencil_run_t *run = r->run;
    xy_gpu_device_t *gpus[STENCIL_GPUS_MAX];
    xy_task_device_t how = {.policy = choice->policy,
                            .eviction = choice->eviction,
                            .params = run->how.params,
                            .gpus = gpus,
                            .gpu_count = choice->gpus,
                            .memory = choice->memory == XY_TASK_NO_LIMIT ? 0 : choice->memory,
                            .addresses = r->addresses,
                            .is_pinned = run->file == NULL,
                            .is_unpinned = run->file != NULL, /* it may be larger than memory */
                            .launch = put,
                            .launch_together = put_several,
                            .batch = stencil_batch(&r->grid),
                            .exchange_bytes = stencil_exchange(&r->grid),
                            .is_for_gpu = is_for_gpu,
                            .run = stencil_real_task,
                            .arg = r,
                            .cores = choice->cores,
                            .core_speed = r->core_speed,
                            .stop = r->grid.check_every > 0 ? &r->stop : NULL,
                            .trace = run->how.trace,
                            .observer = run->how.observer};

    how.params.extra_rounds = choice->extra_rounds;
    how.params.look_ahead = choice->look_ahead;
    if (r->gpu != NULL) {
        how.in = r->gpu->costs.in;
        how.out = r->gpu->costs.out;
        how.sharers = r->gpu->sharers;
        how.speeds = r->gpu->speeds;
    }
    for (int32_t i = 0; i < choice->gpus; i++)
        gpus[i] = r->gpu->places[i].gpu;
    if (r->share != NULL)
        stencil_ranks_how(r, &how);
    return xy_task_execute_on(r->tasks, &how, result_p);
}
