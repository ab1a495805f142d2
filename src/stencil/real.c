/* SPDX-License-Identifier: BSD-3-Clause */
/* A stencil in real time: its blocks in memory or in a file, its tasks, and the comparison. */
#include "stencil/real.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xylem.h>

#include "stencil/own.h"

/* The additional work of a task, counted in rows, so that loads need not be whole. */
static int64_t extra_rows(const stencil_real_t *r, const xy_op_t *op, int64_t rows)
{
    return (int64_t)((op->seconds / r->least_seconds - 1) * (double)rows + 0.5);
}

long stencil_real_origin(const stencil_real_t *r, const xy_op_t *op, long origin[3])
{
    int64_t first[3];

    stencil_origin(&r->grid, &r->shape,
                   op != NULL ? stencil_cell(&r->grid, op->position) : stencil_cells(&r->grid) / 2,
                   first);
    for (int i = 0; i < 3; i++)
        origin[i] = (long)first[i];
    return op != NULL ? op->iteration : 0;
}

void stencil_real_update(const stencil_real_t *r, const xy_op_t *op, const stencil_around_t *around,
                         int64_t rows, void *out)
{
    long origin[3], iteration;

    if (r->grid.own == NULL) {
        r->kernels->update(&r->shape, around, 0, rows, out);
        return;
    }
    iteration = stencil_real_origin(r, op, origin);
    r->grid.own->update(around->at, origin, iteration, 0, (long)rows, out);
}

static void add_load(const stencil_real_t *r, const xy_op_t *op, const stencil_around_t *around,
                     int64_t extra, void *scratch)
{
    int64_t rows = r->shape.layers * r->shape.rows;

    for (; extra > 0; extra -= rows)
        stencil_real_update(r, op, around, extra < rows ? extra : rows, scratch);
}

/* Updates a block on a core, with its extra load; checked iterations also write the change. */
static void update(stencil_real_t *r, const xy_op_t *op, const xy_task_turn_t *turn)
{
    const xy_stencil_t *s = &r->grid;
    const int8_t(*offset)[3] = stencil_offsets(s->points);
    void *scratch = r->scratch + (uint64_t)turn->worker * r->stride;
    void *out = scratch;
    void *const *buffers = turn->buffers;
    int64_t rows = r->shape.layers * r->shape.rows;
    stencil_around_t around;
    int n = 0;

    for (int i = 0; i < s->points; i++) {
        int64_t y[3] = {op->position[0] + offset[i][0], op->position[1] + offset[i][1],
                        op->position[2] + offset[i][2]};

        around.at[i] = stencil_has(s, y) ? buffers[n++] : NULL;
    }
    if (s->graph == XY_STENCIL_JACOBI)
        out = buffers[n++];
    if (op->seconds > r->least_seconds)
        add_load(r, op, &around, extra_rows(r, op, rows), scratch);
    stencil_real_update(r, op, &around, rows, out);
    if (stencil_is_deciding(s, op->iteration))
        n++;
    if (stencil_is_checked(s, op->iteration)) {
        stencil_set_number(s, buffers[n + 1],
                           r->kernels->distance(out, around.at[0], stencil_block_cells(r)));
        memcpy(buffers[n], out, s->block_bytes);
    }
    if (out == scratch)
        memcpy(buffers[0], out, s->block_bytes);
}

/* Writes the largest of several changes; the root decides whether the run stops. */
static void reduce(stencil_real_t *r, xy_op_id_t id, const xy_op_t *op, void *const *buffers)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(r->tasks, id, &a) - 1;
    bool is_root = op->level == STENCIL_DECIDE;
    double most = 0;

    /* The decision before this one is read to come after it, and holds no change. */
    for (int32_t i = 0; i < n - (is_root && op->iteration >= r->grid.check_every); i++) {
        double change = stencil_number(&r->grid, buffers[i]);

        most = change > most ? change : most;
    }
    stencil_set_number(&r->grid, buffers[n], most);
    if (!is_root)
        return;
    r->residual = most;
    r->decided = op->iteration + 1;
    if (most <= r->until) {
        r->converged = op->iteration + 1;
        atomic_store_explicit(&r->stop, true, memory_order_release);
    }
}

int64_t stencil_block_cells(const stencil_real_t *r)
{
    return r->shape.layers * r->shape.rows * r->shape.columns;
}

void stencil_real_task(void *arg, const xy_task_turn_t *turn)
{
    stencil_real_t *r = arg;
    const xy_op_t *op = xy_graph_op(r->tasks, turn->op);

    if (op->level == STENCIL_UPDATE)
        update(r, op, turn);
    else
        reduce(r, turn->op, op, turn->buffers);
}

/* ---- Making and unmaking ---- */

static double least_seconds(const xy_graph_t *graph)
{
    double least = 0;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_op_t *op = xy_graph_op(graph, i);

        if (op->level == STENCIL_UPDATE && (least == 0 || op->seconds < least))
            least = op->seconds;
    }
    return least;
}

/* Blocks a line apart from a multiple of a page: rows of neighbours then do not meet in the same
 * sets of the cache. */
static uint64_t stride_of(uint64_t bytes)
{
    uint64_t lines = (bytes + 63) / 64;

    return 64 * (lines % 2 == 0 ? lines + 1 : lines);
}

xy_status_t stencil_real_pages(stencil_real_t *r)
{
    char need[32];

    r->memory =
        mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r->memory == MAP_FAILED) {
        r->memory = NULL;
        return xy_fail(XY_ENOMEM,
                       "not enough memory for the %s of the domain; keep it in a file (--file)",
                       xy_format_size(r->memory_bytes, need));
    }
    (void)madvise(r->memory, r->memory_bytes, MADV_HUGEPAGE); /* only slower without */
    return XY_OK;
}

/* Without cores, tasks that have no kernel run on the calling thread. */
static uint64_t scratches(const stencil_real_t *r)
{
    return (uint64_t)r->workers + (r->gpu != NULL ? 1 : 0);
}

/* ---- The first values ---- */

enum { FILLED_ALONE = 64 << 20 /* bytes */ };

/* Pieces of all blocks, one block after the other. */
static double fill_pieces(void *arg, int64_t from, int64_t to)
{
    const stencil_real_t *r = arg;
    int64_t pieces = stencil_pieces(&r->shape), cells = stencil_cells(&r->grid);
    int64_t extents[3];

    stencil_extents(&r->grid, &r->shape, extents);
    for (int64_t i = from; i < to; i++) {
        stencil_piece_t piece = stencil_piece(&r->shape, i % pieces);
        int64_t origin[3];

        stencil_origin(&r->grid, &r->shape, i / pieces % cells, origin);
        stencil_fill_places(&r->grid, (int)(i / pieces / cells),
                            stencil_piece_place(extents, origin, &piece), piece.count,
                            (char *)r->addresses[i / pieces] +
                                (size_t)piece.at * stencil_cell_bytes(&r->grid));
    }
    return 0;
}

/* Data for GPUs are pinned, so that it does not matter which thread writes a page first; a large
 * domain has several. */
static void fill_blocks(stencil_real_t *r)
{
    bool is_alone = r->gpu == NULL || r->share != NULL || r->memory_bytes < FILLED_ALONE;
    stencil_crew_t *crew = is_alone ? NULL : stencil_crew_create();
    int64_t blocks = stencil_arrays(&r->grid) * stencil_cells(&r->grid);

    (void)stencil_crew_run(crew, fill_pieces, r, blocks * stencil_pieces(&r->shape));
    stencil_crew_destroy(crew);
}

static void place_data(stencil_real_t *r, uint64_t blocks)
{
    int32_t data = xy_graph_data_count(r->graph);

    for (int32_t d = 0; d < data; d++)
        r->addresses[d] = r->file.mapped != NULL ? r->file.mapped + r->file.offset[d]
                          : d < r->block_data    ? r->memory + (uint64_t)d * r->stride
                                                 : r->memory + (blocks + scratches(r)) * r->stride +
                                                    (uint64_t)(d - r->block_data) * sizeof(double);
    if (r->file.mapped == NULL)
        fill_blocks(r);
}

/* All data in core, or only what workers need out of core. */
static xy_status_t map_memory(stencil_real_t *r)
{
    int32_t data = xy_graph_data_count(r->graph);
    uint64_t blocks = r->run->file == NULL ? (uint64_t)r->block_data : 0;
    uint64_t numbers = r->run->file == NULL ? (uint64_t)(data - r->block_data) * sizeof(double) : 0;
    xy_status_t st;

    r->memory_bytes = (blocks + scratches(r)) * r->stride + numbers;
    st = r->gpu != NULL && blocks > 0 ? stencil_gpu_memory(r, r->memory_bytes)
                                      : stencil_real_pages(r);
    if (st != XY_OK)
        return st;
    r->scratch = r->memory + blocks * r->stride;
    if (r->run->file != NULL && r->gpu == NULL)
        return XY_OK;
    r->addresses = xy_calloc((size_t)data + 1, sizeof(*r->addresses));
    if (r->addresses == NULL)
        return xy_fail_memory("finding the blocks");
    place_data(r, blocks);
    return XY_OK;
}

/* The workers, and how fast they are: cores beside GPUs only if they were asked for. */
static xy_status_t find_workers(stencil_real_t *r)
{
    int32_t cores = r->run->cpus;
    xy_status_t st;

    if (r->gpu == NULL && r->run->messages != NULL) {
        r->workers = cores > 0 ? cores : 1;
        r->core_speed = 1;
        return XY_OK;
    }
    if (r->gpu == NULL) {
        r->workers = xy_task_exec_workers(&(xy_task_exec_t){.workers = cores});
        return XY_OK;
    }
    r->workers = stencil_gpu_count(r) + cores;
    if (cores == 0)
        return XY_OK;
    st = stencil_core_seconds(r, cores, &r->core_seconds);
    r->core_speed = r->core_seconds > 0 ? stencil_gpu_seconds(r) / r->core_seconds : 1;
    return st;
}

/* Compile the user's stencil; the first of several ranks does so before the others, so that an
 * error is reported once. */
static xy_status_t load_own(stencil_real_t *r)
{
    const struct xylem_messages *m = r->run->messages;
    xy_status_t st = XY_OK;

    if (m == NULL || m->rank == 0)
        st = stencil_own_load(r->run->kernel_source, &r->grid, r->run->is_on_gpus, &r->grid.own);
    if (m != NULL)
        st = stencil_ranks_agree(r, st);
    if (st == XY_OK && m != NULL && m->rank > 0)
        st = stencil_own_load(r->run->kernel_source, &r->grid, r->run->is_on_gpus, &r->grid.own);
    return st;
}

xy_status_t stencil_real_begin(stencil_real_t *r, const xy_stencil_run_t *run)
{
    xy_stencil_t *s = &r->grid;
    int64_t arrays;
    xy_status_t st;

    *r = (stencil_real_t){.run = run, .grid = run->grid, .until = run->until};
    r->file.fd = r->file.domain = -1;
    if (s->check_every == 0)
        r->until = -1;
    r->kernels = stencil_kernels_best(s->is_single);
    st = stencil_shape(s, &r->shape);
    if (st == XY_OK && r->run->kernel_source != NULL)
        st = load_own(r);
    if (st == XY_OK && r->run->is_on_gpus && r->run->messages != NULL)
        st = stencil_ranks_open(r);
    if (st == XY_OK && r->run->is_on_gpus)
        st = stencil_gpu_open(r);
    if (st == XY_OK)
        st = find_workers(r);
    if (st != XY_OK)
        return st;
    if (s->parts == 0)
        s->parts = r->run->messages != NULL ? r->run->messages->ranks : r->workers;
    if (s->parts > s->blocks[0] - 2)
        s->parts = 1;
    s->is_proportional = r->run->how.params.is_proportional;
    /* Policies that compare times need some; the order of magnitude is that of a core. */
    s->task_seconds =
        r->gpu != NULL ? stencil_gpu_seconds(r) : 0.5e-9 / sizeof(double) * (double)s->block_bytes;
    st = xy_stencil_build(s, &r->graph);
    if (st != XY_OK)
        return st;
    r->tasks = r->graph;
    arrays = stencil_arrays(s) + (s->check_every > 0 ? 2 : 0);
    r->block_data = (int32_t)(arrays * stencil_cells(s));
    r->stride = stride_of(s->block_bytes);
    r->least_seconds = least_seconds(r->graph);
    return XY_OK;
}

xy_status_t stencil_real_memory(stencil_real_t *r)
{
    xy_status_t st = XY_OK;

    if (r->run->messages != NULL)
        return stencil_ranks_share(r);
    stencil_real_choose_begin(r);
    if (r->run->file != NULL)
        st = stencil_file_open(r->run->file, &r->grid, &r->shape, r->graph, &r->file);
    if (st == XY_OK && r->run->file != NULL && r->gpu != NULL)
        st = stencil_file_map(&r->file);
    return st == XY_OK ? map_memory(r) : st;
}

void stencil_real_cleanup(stencil_real_t *r)
{
    stencil_real_choose_cleanup(r, false);
    if (r->memory != NULL && (r->gpu == NULL || r->run->file != NULL))
        munmap(r->memory, r->memory_bytes);
    stencil_gpu_close(r);
    stencil_file_cancel(&r->file);
    stencil_ranks_cleanup(r);
    xy_free(r->addresses);
    xy_graph_destroy(r->graph);
    stencil_own_destroy(r->grid.own);
}

/* ---- The result ---- */

int32_t stencil_real_result(const stencil_real_t *r, int64_t cell)
{
    const xy_stencil_t *s = &r->grid;
    int64_t cells = stencil_cells(s);

    if (!stencil_is_written(s, cell))
        return (int32_t)cell;
    if (r->converged > 0)
        return (int32_t)((stencil_arrays(s) + stencil_parity(s, r->converged - 1)) * cells + cell);
    return (int32_t)((s->graph == XY_STENCIL_JACOBI ? s->iterations % 2 : 0) * cells + cell);
}

xy_status_t stencil_real_differs(const stencil_real_t *r, int64_t cell)
{
    if (r->grid.own != NULL)
        return xy_fail(XY_EINVAL,
                       "block %lld differs from the one of the plain loop of '%s'; use sums, "
                       "products, quotients and sqrt, which have the same bits everywhere, and no "
                       "other variables than those of the cell",
                       (long long)cell, r->run->kernel_source);
    return xy_fail(XY_EUNSUPPORTED,
                   "block %lld differs from the one of the plain loop; this is a defect of xylem",
                   (long long)cell);
}

/* Compares the result with that of the plain loop, block by block. */
static xy_status_t compare_blocks(const stencil_real_t *r, const stencil_plain_t *plain)
{
    void *block = r->run->file != NULL ? xy_malloc(r->grid.block_bytes) : NULL;
    xy_status_t st = block != NULL || r->run->file == NULL ? XY_OK : XY_ENOMEM;

    if (st != XY_OK)
        return xy_fail_memory("comparing the result");
    for (int64_t cell = 0; cell < stencil_cells(&r->grid) && st == XY_OK; cell++) {
        int32_t data = stencil_real_result(r, cell);

        if (r->run->file != NULL)
            st = stencil_file_read(&r->file, data, block);
        if (st == XY_OK &&
            !stencil_plain_equals(plain, cell, block != NULL ? block : r->addresses[data]))
            st = stencil_real_differs(r, cell);
    }
    xy_free(block);
    return st;
}

/* With a file that was there before, the plain loop begins with its content. */
static xy_status_t start_plain(const stencil_real_t *r, stencil_plain_t **plain_p)
{
    const char *beside = r->run->file != NULL ? r->file.directory : NULL;
    xy_status_t st = stencil_plain_create(&r->grid, beside, plain_p);
    void *block;

    if (st != XY_OK || r->run->file == NULL || r->file.is_new)
        return st;
    block = xy_malloc(r->grid.block_bytes);
    if (block == NULL)
        st = xy_fail_memory("comparing the result");
    for (int64_t cell = 0; cell < stencil_cells(&r->grid) && st == XY_OK; cell++) {
        st = r->share != NULL ? stencil_file_first(&r->file, cell, block)
                              : stencil_file_read(&r->file, (int32_t)cell, block);
        if (st == XY_OK)
            stencil_plain_set(*plain_p, cell, block);
    }
    xy_free(block);
    if (st != XY_OK)
        stencil_plain_destroy(*plain_p);
    return st;
}

static xy_status_t finish_plain(const stencil_real_t *r, stencil_plain_t *plain)
{
    stencil_plain_run(plain, r->graph, r->until);
    if (r->grid.own != NULL && stencil_own_check(r->grid.own, &r->grid) != XY_OK)
        return XY_EINVAL;
    if (plain->is_converged != (r->converged > 0) ||
        (r->converged > 0 && plain->iterations != r->converged))
        return xy_fail(XY_EUNSUPPORTED,
                       "the run stopped after %d iterations, the plain loop after %d; this is a "
                       "defect of xylem",
                       r->converged, plain->iterations);
    return r->share != NULL ? XY_OK : compare_blocks(r, plain);
}

/* ---- Running ---- */

static uint64_t default_memory(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
}

/* Chooses a policy and runs the tasks on cores, GPUs or both. */
static xy_status_t execute(stencil_real_t *r, xy_task_result_t *result_p)
{
    const xy_stencil_run_t *run = r->run;
    xy_task_store_t store = {.fd = r->file.fd, .path = run->file, .offset = r->file.offset};
    xy_task_exec_t how = {.policy = run->how.policy,
                          .eviction = run->how.eviction,
                          .params = run->how.params,
                          .pipeline = run->how.pipeline,
                          .addresses = r->addresses,
                          .is_exchanging = true,
                          .run = stencil_real_task,
                          .arg = r,
                          .stop = r->grid.check_every > 0 ? &r->stop : NULL,
                          .trace = run->how.trace,
                          .observer = run->how.observer};
    double begin = xy_clock_seconds(CLOCK_MONOTONIC);
    stencil_choice_t choice;
    xy_status_t st = stencil_real_choose_end(r, &choice);

    r->choosing = xy_clock_seconds(CLOCK_MONOTONIC) - begin;
    if (st != XY_OK)
        return st;
    how.policy = choice.policy;
    how.eviction = choice.eviction;
    how.params.extra_rounds = choice.extra_rounds;
    how.params.look_ahead = 0; /* of GPUs */
    how.capacity = r->gpu != NULL ? 0 : choice.memory;
    if (how.capacity == XY_TASK_NO_LIMIT)
        how.capacity = UINT64_MAX / 4;
    if (run->file != NULL) {
        how.store = &store;
        how.capacity = how.capacity > 0 ? how.capacity : default_memory();
    }
    how.workers = choice.cores;
    st = choice.gpus > 0 || r->share != NULL ? stencil_gpu_execute(r, &choice, result_p)
                                             : xy_task_execute(r->graph, &how, result_p);
    if (st == XY_OK) {
        result_p->scheduling_seconds += choice.spent;
        result_p->look_ahead = choice.gpus > 0 ? choice.look_ahead : 0;
    }
    r->gpus_used = choice.gpus;
    r->workers_used = choice.gpus + choice.cores;
    return st;
}

/* Runs the tasks and compares the result with the plain loop, unless unchecked. */
static xy_status_t run_and_check(stencil_real_t *r, xy_stencil_result_t *result)
{
    stencil_plain_t *plain = NULL;
    bool is_checked = !r->run->is_unchecked;
    xy_status_t st =
        is_checked && (r->share == NULL || r->share->rank == 0) ? start_plain(r, &plain) : XY_OK;

    if (st == XY_OK)
        st = execute(r, &result->sim);
    if (r->run->messages != NULL && !r->has_agreed)
        st = stencil_ranks_agree(r, st);
    if (st == XY_OK && r->share != NULL && r->run->how.observer != NULL)
        st = stencil_ranks_tell(r);
    if (st == XY_OK && r->share != NULL)
        st = stencil_ranks_sum(r, &result->sim);
    if (st == XY_OK && plain != NULL)
        st = finish_plain(r, plain);
    if (st == XY_OK && r->share != NULL && (is_checked || r->run->file != NULL))
        st = stencil_ranks_gather(r, plain);
    if (plain != NULL)
        stencil_plain_destroy(plain);
    if (st == XY_OK && r->run->file != NULL && (r->share == NULL || r->share->rank == 0))
        st = stencil_file_commit(&r->file, r);
    return st;
}

xy_status_t stencil_real_run(const xy_stencil_run_t *run, xy_stencil_result_t *result_p)
{
    stencil_real_t r;
    xy_stencil_result_t result = {.is_real = true, .is_checked = !run->is_unchecked};
    xy_status_t st = stencil_real_begin(&r, run);

    if (st == XY_OK)
        st = stencil_real_memory(&r);
    if (run->messages != NULL)
        st = stencil_ranks_agree(&r, st);
    if (st == XY_OK && run->messages != NULL && run->file != NULL)
        st = stencil_ranks_read(&r);
    if (st == XY_OK)
        st = run_and_check(&r, &result);
    result_p->is_lost = st != XY_OK && r.has_begun;
    if (st == XY_OK) {
        result.ranks = r.share != NULL ? r.share->ranks : 0;
        result.workers = r.workers_used;
        result.gpus = r.gpus_used;
        result.core_speed = r.core_speed;
        result.choosing_seconds = r.choosing;
        if (r.gpu != NULL)
            result.costs = *stencil_gpu_costs(&r);
        result.kernels = r.gpus_used > 0 ? "gpu" : r.grid.own != NULL ? "own" : r.kernels->name;
        if (r.gpus_used > 0)
            snprintf(result.gpu, sizeof(result.gpu), "%s", stencil_gpu_name(&r));
        result.iterations = r.converged > 0 ? r.converged : r.grid.iterations;
        result.is_converged = r.converged > 0;
        result.residual = r.residual;
        result.tasks = (uint64_t)xy_graph_ops(r.graph);
        result.data = (uint64_t)xy_graph_data_count(r.graph);
        result.graph_bytes = (uint64_t)r.block_data * r.grid.block_bytes;
        result.parts = r.grid.parts;
        *result_p = result;
    }
    stencil_real_choose_cleanup(&r, st == XY_OK);
    stencil_real_cleanup(&r);
    return st;
}
