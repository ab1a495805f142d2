/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil that several ranks share: each has some rows of blocks, and what it needs of others'
 * comes by messages. All ranks make the same graph of the whole grid and take their share of it.
 */
#include <math.h>
#include <string.h>
#include <xylem.h>

#include "stencil/real.h"

/* ---- Shares ---- */

/* Blocks and their snapshots belong to the rank that has their row; numbers of a check to the rank
 * of the task that writes them. */
static xy_status_t find_owners(stencil_real_t *r)
{
    const xy_stencil_t *s = &r->grid;
    int32_t data = xy_graph_data_count(r->graph);
    int64_t row = s->blocks[1] * s->blocks[2];

    r->owner = xy_malloc(((size_t)data + 1) * sizeof(*r->owner));
    if (r->owner == NULL)
        return xy_fail_memory("sharing the blocks");
    for (int32_t d = 0; d < data; d++) {
        int64_t x = d % stencil_cells(s) / row;

        r->owner[d] =
            d < r->block_data ? (int32_t)(x * r->run->messages->ranks / s->blocks[0]) : -1;
    }
    return XY_OK;
}

/* Blocks begin at lines of the cache, and numbers come behind them. */
static uint64_t place(stencil_real_t *r, char *memory)
{
    uint64_t at = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t d = 0; d < xy_graph_data_count(r->tasks); d++) {
            bool is_block = r->share->data_of[d] < r->block_data;

            if (is_block != (pass == 0))
                continue;
            if (memory != NULL)
                r->addresses[d] = memory + at;
            at += is_block ? r->stride : sizeof(double);
        }
    return at;
}

/* The check whose decision is a datum of the share; they are the last data. Negative: none. */
static int32_t check_of(const stencil_real_t *r, int32_t data)
{
    int32_t checks = r->grid.check_every > 0 ? r->grid.iterations / r->grid.check_every : 0;

    return r->share->data_of[data] - (xy_graph_data_count(r->graph) - checks);
}

/* Maps the blocks of this rank and fills those it owns with their first values. */
static xy_status_t map_memory(stencil_real_t *r)
{
    uint64_t scratches = (uint64_t)r->workers + (r->gpu != NULL ? 1 : 0);
    uint64_t bytes = scratches * r->stride;
    int64_t cells = stencil_cells(&r->grid);
    xy_status_t st;

    r->addresses = xy_calloc((size_t)xy_graph_data_count(r->tasks) + 1, sizeof(*r->addresses));
    if (r->addresses == NULL)
        return xy_fail_memory("finding the blocks");
    r->memory_bytes = bytes + place(r, NULL);
    st = r->run->file != NULL ? stencil_ranks_pages(r)
         : r->gpu != NULL     ? stencil_gpu_memory(r, r->memory_bytes)
                              : stencil_real_pages(r);
    if (st != XY_OK)
        return st;
    r->scratch = r->memory;
    (void)place(r, r->memory + bytes);
    for (int32_t d = 0; d < xy_graph_data_count(r->tasks); d++) {
        int32_t whole = r->share->data_of[d];

        if (check_of(r, d) >= 0) /* the meaning of an empty message: the run continues */
            stencil_set_number(&r->grid, r->addresses[d], INFINITY);
        if (whole < stencil_arrays(&r->grid) * cells && r->owner[whole] == r->share->rank)
            stencil_fill(&r->grid, &r->shape, (int)(whole / cells), whole % cells, r->addresses[d]);
    }
    return XY_OK;
}

/* Ranks have neighbouring rows of blocks, so that another one reads only the cells of a block that
 * lie at its side: the first or the last rows, or layers, which are next to each other in memory.
 */
static void narrow_messages(stencil_real_t *r)
{
    uint64_t edge =
        r->grid.block_bytes / (uint64_t)r->grid.cells[0] * (uint64_t)stencil_radius(&r->grid);

    for (size_t i = 0; i < r->share->messages.count; i++) {
        xy_task_message_t *m = &XY_VEC_AT(&r->share->messages, xy_task_message_t, i);
        int32_t data = r->share->data_of[m->data], owner = r->owner[data];
        int32_t reader = m->is_send ? m->peer : r->share->rank;

        if (data >= r->block_data)
            continue;
        m->offset = reader > owner ? m->bytes - edge : 0;
        m->bytes = edge;
    }
}

xy_status_t stencil_ranks_agree(const stencil_real_t *r, xy_status_t st)
{
    const xylem_messages *t = r->run->messages;
    int32_t told, worst = (int32_t)st;
    xy_status_t moved = XY_OK;

    if (t->rank > 0) {
        moved = xy_task_send(t, 0, 0, &worst, sizeof(worst));
        if (moved == XY_OK)
            moved = xy_task_receive(t, 0, 0, &worst, sizeof(worst));
    }
    for (int32_t i = 1; i < t->ranks && t->rank == 0 && moved == XY_OK; i++) {
        moved = xy_task_receive(t, i, 0, &told, sizeof(told));
        worst = worst == XY_OK ? told : worst;
    }
    for (int32_t i = 1; i < t->ranks && t->rank == 0 && moved == XY_OK; i++)
        moved = xy_task_send(t, i, 0, &worst, sizeof(worst));
    return st != XY_OK ? st : moved != XY_OK ? moved : (xy_status_t)worst;
}

xy_status_t stencil_ranks_share(stencil_real_t *r)
{
    xy_status_t st = find_owners(r);

    if (st == XY_OK)
        st = xy_task_share_create(r->graph, r->owner, r->run->messages, &r->share);
    if (st != XY_OK)
        return st;
    narrow_messages(r);
    r->tasks = r->share->tasks;
    return map_memory(r);
}

void stencil_ranks_cleanup(stencil_real_t *r)
{
    for (int64_t i = 0; r->unused != NULL && i < stencil_cells(&r->grid); i++)
        xy_free(r->unused[i]);
    xy_free(r->unused);
    xy_vec_cleanup(&r->told);
    xy_task_share_destroy(r->share);
    xy_free(r->owner);
}

/* ---- Running ---- */

xy_status_t stencil_ranks_open(const stencil_real_t *r)
{
    return xy_task_ready_gpus(r->run->messages);
}

/* A decision that was made elsewhere ends the run here as well. */
static void received(void *arg, int32_t data)
{
    stencil_real_t *r = arg;
    int32_t check = check_of(r, data);

    if (check < 0 || r->converged > 0 || stencil_number(&r->grid, r->addresses[data]) > r->until)
        return;
    r->converged = (check + 1) * r->grid.check_every;
    atomic_store_explicit(&r->stop, true, memory_order_release);
}

/* Beyond this the ranks need each other. */
static xy_status_t ready(void *arg, xy_status_t st)
{
    stencil_real_t *r = arg;

    st = stencil_ranks_agree(r, st);
    r->has_agreed = true;
    r->has_begun = st == XY_OK;
    return st;
}

void stencil_ranks_how(stencil_real_t *r, xy_task_device_t *how)
{
    how->ready = ready;
    if (how->observer != NULL) {
        stencil_ranks_listen(r);
        how->observer = &r->listener;
    }
    how->share = r->share;
    how->transport = r->run->messages;
    how->received = received;
}

/* ---- The result ---- */

/* The message of ranks to rank 0, as numbers. */
enum {
    TOLD_MAKESPAN,
    TOLD_TASKS_END,
    TOLD_DECIDED,
    TOLD_RESIDUAL,
    TOLD_CONVERGED,
    TOLD_SUMS, /* and all from here are added up */
    TOLD_SCHEDULING = TOLD_SUMS,
    TOLD_COMPUTE,
    TOLD_MOVING,
    TOLD_HIDDEN,
    TOLD_LOADS,
    TOLD_STORES,
    TOLD_LOADED,
    TOLD_STORED,
    TOLD_TASKS,
    TOLD_EVICTIONS,
    TOLD_MESSAGES,
    TOLD_RECEIVED,
    TOLD_STAGED,
    TOLD_WORKERS,
    TOLD_GPUS,
    TOLD
};

/* Writes the results of this rank to an array for rank 0. */
static void put(const stencil_real_t *r, const xy_task_result_t *x, double told[TOLD])
{
    const double numbers[TOLD] = {[TOLD_MAKESPAN] = x->makespan,
                                  [TOLD_TASKS_END] = x->tasks_end,
                                  [TOLD_DECIDED] = r->decided,
                                  [TOLD_RESIDUAL] = r->residual,
                                  [TOLD_CONVERGED] = r->converged,
                                  [TOLD_SCHEDULING] = x->scheduling_seconds,
                                  [TOLD_COMPUTE] = x->compute_bound * r->workers_used,
                                  [TOLD_MOVING] = x->moving_seconds,
                                  [TOLD_HIDDEN] = x->hidden_seconds,
                                  [TOLD_LOADS] = (double)x->loads,
                                  [TOLD_STORES] = (double)x->stores,
                                  [TOLD_LOADED] = (double)x->bytes_loaded,
                                  [TOLD_STORED] = (double)x->bytes_stored,
                                  [TOLD_TASKS] = (double)x->tasks,
                                  [TOLD_EVICTIONS] = (double)x->evictions,
                                  [TOLD_MESSAGES] = (double)x->messages,
                                  [TOLD_RECEIVED] = (double)x->bytes_received,
                                  [TOLD_STAGED] = (double)x->bytes_staged,
                                  [TOLD_WORKERS] = r->workers_used,
                                  [TOLD_GPUS] = r->gpus_used};

    memcpy(told, numbers, sizeof(numbers));
}

/* The last decision counts, and the longest time. */
static void add(double sum[TOLD], const double told[TOLD])
{
    if (told[TOLD_DECIDED] > sum[TOLD_DECIDED]) {
        sum[TOLD_DECIDED] = told[TOLD_DECIDED];
        sum[TOLD_RESIDUAL] = told[TOLD_RESIDUAL];
    }
    for (int i = 0; i < TOLD; i++)
        if (i >= TOLD_SUMS)
            sum[i] += told[i];
        else if (i != TOLD_DECIDED && i != TOLD_RESIDUAL && told[i] > sum[i])
            sum[i] = told[i];
}

/* Reads the summed results of all ranks. */
static void take(stencil_real_t *r, const double told[TOLD], xy_task_result_t *x)
{
    x->makespan = told[TOLD_MAKESPAN];
    x->tasks_end = told[TOLD_TASKS_END];
    x->scheduling_seconds = told[TOLD_SCHEDULING];
    x->compute_bound = told[TOLD_COMPUTE] / told[TOLD_WORKERS];
    x->moving_seconds = told[TOLD_MOVING];
    x->hidden_seconds = told[TOLD_HIDDEN];
    x->loads = (uint64_t)told[TOLD_LOADS];
    x->stores = (uint64_t)told[TOLD_STORES];
    x->bytes_loaded = (uint64_t)told[TOLD_LOADED];
    x->bytes_stored = (uint64_t)told[TOLD_STORED];
    x->tasks = (uint64_t)told[TOLD_TASKS];
    x->evictions = (uint64_t)told[TOLD_EVICTIONS];
    x->messages = (uint64_t)told[TOLD_MESSAGES];
    x->bytes_received = (uint64_t)told[TOLD_RECEIVED];
    x->bytes_staged = (uint64_t)told[TOLD_STAGED];
    r->workers_used = (int32_t)told[TOLD_WORKERS];
    r->gpus_used = (int32_t)told[TOLD_GPUS];
    r->residual = told[TOLD_RESIDUAL];
}

xy_status_t stencil_ranks_sum(stencil_real_t *r, xy_task_result_t *result)
{
    const xylem_messages *t = r->run->messages;
    double sum[TOLD], told[TOLD];
    xy_status_t st = XY_OK;

    put(r, result, sum);
    if (t->rank > 0) {
        st = xy_task_send(t, 0, 0, sum, sizeof(sum));
        if (st == XY_OK)
            st = xy_task_receive(t, 0, 0, sum, sizeof(sum));
    }
    for (int32_t i = 1; i < t->ranks && t->rank == 0 && st == XY_OK; i++) {
        st = xy_task_receive(t, i, 0, told, sizeof(told));
        add(sum, told);
    }
    for (int32_t i = 1; i < t->ranks && t->rank == 0 && st == XY_OK; i++)
        st = xy_task_send(t, i, 0, sum, sizeof(sum));
    if (st != XY_OK)
        return st;
    r->converged = (int)sum[TOLD_CONVERGED];
    take(r, sum, result);
    return XY_OK;
}

/* Copies or receives a result block at rank 0; its owner sends it. */
static xy_status_t bring(const stencil_real_t *r, int64_t cell, void *block)
{
    const xylem_messages *t = r->run->messages;
    int32_t data = stencil_real_result(r, cell), here = r->share->here[data];

    if (r->owner[data] == 0 && t->rank > 0)
        return XY_OK;
    if (r->owner[data] == t->rank && here >= 0)
        memcpy(block, r->addresses[here], r->grid.block_bytes);
    else if (r->owner[data] == t->rank && r->unused != NULL && r->unused[cell] != NULL)
        memcpy(block, r->unused[cell], r->grid.block_bytes);
    else if (r->owner[data] == t->rank) /* no task uses it: it has its first values */
        stencil_fill(&r->grid, &r->shape, 0, cell, block);
    if (r->owner[data] == t->rank && t->rank > 0)
        return xy_task_send(t, 0, 0, block, r->grid.block_bytes);
    return r->owner[data] != t->rank && t->rank == 0
               ? xy_task_receive(t, r->owner[data], 0, block, r->grid.block_bytes)
               : XY_OK;
}

xy_status_t stencil_ranks_gather(const stencil_real_t *r, const stencil_plain_t *plain)
{
    void *block = xy_malloc(r->grid.block_bytes);
    xy_status_t st = block != NULL ? XY_OK : xy_fail_memory("comparing the result");
    int64_t wrong = -1;

    for (int64_t cell = 0; cell < stencil_cells(&r->grid) && st == XY_OK; cell++) {
        st = bring(r, cell, block);
        if (st == XY_OK && plain != NULL && wrong < 0 && !stencil_plain_equals(plain, cell, block))
            wrong = cell;
        if (st == XY_OK && r->file.fd >= 0)
            st = stencil_file_write(&r->file, cell, block);
    }
    xy_free(block);
    return st == XY_OK && wrong >= 0 ? stencil_real_differs(r, wrong) : st;
}
