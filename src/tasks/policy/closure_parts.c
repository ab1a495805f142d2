/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assign each task to a memory at first. Data are put in a line (policy_line.c), and the line is
 * cut in proportion to the work and the speed of the memories. A task belongs where the datum lies
 * that it writes. The cut is made anew for each slice of the life of the data (their first
 * versions, ..., their last), so that it follows a load that moves.
 */
#include "tasks/policy/closure.h"

typedef struct {
    closure_t *c;
    int32_t *rank;      /* [data] */
    int32_t *version;   /* [data], then [ops] */
    int16_t *slices;    /* [versions] slice of each version */
    double *weights;    /* [slices][data], by rank */
    int64_t *cuts;      /* [slices][parts + 1] */
    int32_t *key;       /* [ops] datum that says where a task belongs; -1: none */
    double *speeds;     /* [parts] */
    int16_t *memory_of; /* [parts] */
    int32_t parts;
} parts_t;

static void find_keys(parts_t *p)
{
    for (int32_t i = 0; i < p->c->ops; i++)
        p->key[i] = policy_key_datum(p->c->graph, i);
}

static int32_t slice_of(const parts_t *p, xy_op_id_t op)
{
    return p->slices[p->version[p->c->data_count + op]];
}

/* Slices of the same number of versions, as far as possible. */
static void weigh(parts_t *p)
{
    closure_t *c = p->c;
    int32_t versions = 1;

    for (int32_t i = 0; i < c->ops; i++) {
        int32_t d = p->key[i];

        if (d < 0)
            continue;
        p->version[c->data_count + i] = p->version[d]++;
        if (p->version[d] > versions)
            versions = p->version[d];
    }
    for (int32_t v = 0; v < versions; v++)
        p->slices[v] = (int16_t)xy_task_slice(v, versions);
    for (int32_t i = 0; i < c->ops; i++) {
        int32_t d = p->key[i];

        if (d >= 0)
            p->weights[(int64_t)slice_of(p, i) * c->data_count + p->rank[d]] += c->tasks[i].seconds;
    }
}

/* Cuts the line of data into parts by work and speed, and assigns tasks to memories by their key
 * datum. */
static void assign(parts_t *p)
{
    closure_t *c = p->c;

    xy_task_cut_slices(p->weights, c->data_count, p->speeds, p->parts, p->cuts);
    for (int32_t i = 0; i < c->ops; i++) {
        const int64_t *cuts = p->cuts + (int64_t)slice_of(p, i) * (p->parts + 1);
        int32_t k = 0;

        if (p->key[i] < 0)
            continue;
        while (k + 1 < p->parts && p->rank[p->key[i]] >= cuts[k + 1])
            k++;
        c->tasks[i].part = p->memory_of[k];
    }
}

static void find_awaited(closure_t *c)
{
    for (int32_t i = 0; i < c->ops; i++) {
        closure_task_t *x = &c->tasks[i];

        x->awaited_by = -1;
        for (int32_t k = x->successor_count - 1; k >= 0; k--)
            if (c->tasks[x->successors[k]].part != x->part)
                x->awaited_by = c->tasks[x->successors[k]].part;
    }
}

static void parts_cleanup(parts_t *p)
{
    xy_free(p->rank);
    xy_free(p->slices);
    xy_free(p->version);
    xy_free(p->weights);
    xy_free(p->cuts);
    xy_free(p->key);
    xy_free(p->speeds);
    xy_free(p->memory_of);
}

/* Assigns each task to a memory; those without data go round-robin. */
static xy_status_t cut_parts(closure_t *c)
{
    size_t data = (size_t)c->data_count + 1, ops = (size_t)c->ops + 1;
    size_t memories = (size_t)c->view->memories + 1;
    parts_t p = {.c = c};
    xy_status_t st = XY_ENOMEM;

    p.rank = xy_calloc(data, sizeof(*p.rank));
    p.slices = xy_malloc(ops * sizeof(*p.slices)); /* a version is made by a task */
    p.version = xy_calloc(data + ops, sizeof(*p.version));
    p.weights = xy_calloc(data * XY_TASK_SLICES, sizeof(*p.weights));
    p.cuts = xy_calloc((memories + 1) * XY_TASK_SLICES, sizeof(*p.cuts));
    p.key = xy_calloc(ops, sizeof(*p.key));
    p.speeds = xy_calloc(memories, sizeof(*p.speeds));
    p.memory_of = xy_calloc(memories, sizeof(*p.memory_of));
    if (p.rank != NULL && p.slices != NULL && p.version != NULL && p.weights != NULL &&
        p.cuts != NULL && p.key != NULL && p.speeds != NULL && p.memory_of != NULL &&
        policy_line_up(c->graph, p.rank) == XY_OK) {
        for (int32_t m = 0; m < c->view->memories; m++)
            if (c->memories[m].speed > 0) {
                c->memories[m].is_mirrored = p.parts % 2 == 1;
                p.speeds[p.parts] = c->memories[m].speed;
                p.memory_of[p.parts++] = (int16_t)m;
            }
        for (int32_t m = 0; m < c->view->memories; m++)
            c->memories[m].is_roomy = p.parts > 1 && c->memories[m].capacity == 0;
        for (int32_t i = 0; p.parts > 0 && i < c->ops; i++)
            c->tasks[i].part = p.memory_of[i % p.parts]; /* tasks without data stay there */
        find_keys(&p);
        weigh(&p);
        assign(&p);
        find_awaited(c);
        st = XY_OK;
    }
    parts_cleanup(&p);
    return st;
}

/* The only memory that computes; -1: there are several, or none. */
static int32_t only_memory(const closure_t *c)
{
    int32_t only = -1, count = 0;

    for (int32_t m = 0; m < c->view->memories; m++)
        if (c->memories[m].speed > 0) {
            only = m;
            count++;
        }
    return count == 1 ? only : -1;
}

xy_status_t closure_parts(closure_t *c)
{
    int32_t only = only_memory(c);

    if (only < 0)
        return cut_parts(c);
    for (int32_t i = 0; i < c->ops; i++) { /* all of them are its own: there is nothing to cut */
        c->tasks[i].part = (int16_t)only;
        c->tasks[i].awaited_by = -1;
    }
    return XY_OK;
}
