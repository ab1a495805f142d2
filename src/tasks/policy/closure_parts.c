/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which memory each task belongs to at first. Data that tasks use together are neighbours; a walk
 * through the neighbours, breadth first from one end, puts them in a line, and the line is cut in
 * proportion to the work and the speed of the memories. A task belongs where the datum lies that
 * it writes. The cut is made anew for each slice of the life of the data (their first versions,
 * ..., their last), so that it follows a load that moves.
 */
#include <string.h>

#include "tasks/policy/closure.h"

enum { SLICES = 20 };

/* Whether a walk has been at a task. One with the same data as an earlier one adds nothing new. */
enum { VISIT_TO_COME, VISIT_DONE, VISIT_NEVER };

typedef struct {
    closure_t *c;
    int32_t *queue, *rank; /* [data] */
    bool *is_seen;         /* [data] */
    uint8_t *visit;        /* [ops] VISIT_ */
    int32_t *first;        /* [data] the first task that belongs to it; -1: none */
    int32_t *version;      /* [data], then [ops] */
    int16_t *slices;       /* [versions] slice of each version */
    double *weights;       /* [slices][data], by rank */
    int64_t *cuts;         /* [slices][parts + 1] */
    int32_t *key;          /* [ops] datum that says where a task belongs; -1: none */
    double *speeds;        /* [parts] */
    int16_t *memory_of;    /* [parts] */
    int32_t parts;
} parts_t;

static int32_t key_datum(const closure_t *c, xy_op_id_t op)
{
    const closure_task_t *x = &c->tasks[op];

    for (int32_t i = 0; i < x->access_count; i++)
        if (x->accesses[i].mode & XY_ACCESS_WRITE)
            return x->accesses[i].data;
    return x->access_count > 0 ? x->accesses[0].data : -1;
}

static bool has_same_data(const closure_task_t *a, const closure_task_t *b)
{
    if (a->access_count != b->access_count)
        return false;
    for (int32_t i = 0; i < a->access_count; i++)
        if (a->accesses[i].data != b->accesses[i].data)
            return false;
    return true;
}

/* Find the datum of each task, and the tasks that a walk can pass by: a loop over the same data
 * has many, and they lie far from each other. */
static void find_keys(parts_t *p)
{
    closure_t *c = p->c;

    for (int32_t d = 0; d < c->data_count; d++)
        p->first[d] = -1;
    for (int32_t i = 0; i < c->ops; i++) {
        int32_t d = p->key[i] = key_datum(c, i);

        if (d < 0)
            continue;
        if (p->first[d] < 0)
            p->first[d] = i;
        else if (has_same_data(&c->tasks[i], &c->tasks[p->first[d]]))
            p->visit[i] = VISIT_NEVER;
    }
}

/* Data in the order of a walk from `first`; returns how many were reached. */
static int32_t walk(parts_t *p, int32_t first, int32_t count)
{
    closure_t *c = p->c;
    int32_t tail = count;

    p->is_seen[first] = true;
    p->queue[tail++] = first;
    for (int32_t head = count; head < tail; head++) {
        const closure_datum_t *datum = &c->data[p->queue[head]];

        for (const closure_use_t *use = datum->first; use < datum->end; use++) {
            const closure_task_t *x = &c->tasks[use->task];

            if (p->visit[use->task] != VISIT_TO_COME)
                continue;
            p->visit[use->task] = VISIT_DONE;
            for (int32_t k = 0; k < x->access_count; k++)
                if (!p->is_seen[x->accesses[k].data]) {
                    p->is_seen[x->accesses[k].data] = true;
                    p->queue[tail++] = x->accesses[k].data;
                }
        }
    }
    return tail;
}

/* Each component is walked twice: the end of the first walk is an end of the component. */
static void line_up(parts_t *p)
{
    closure_t *c = p->c;
    int32_t count = 0;

    for (int32_t d = 0; d < c->data_count; d++) {
        int32_t end;

        if (p->is_seen[d])
            continue;
        end = walk(p, d, count);
        for (int32_t i = count; i < end; i++) {
            const closure_datum_t *datum = &c->data[p->queue[i]];

            p->is_seen[p->queue[i]] = false;
            for (const closure_use_t *use = datum->first; use < datum->end; use++)
                if (p->visit[use->task] == VISIT_DONE)
                    p->visit[use->task] = VISIT_TO_COME;
        }
        count = walk(p, p->queue[end - 1], count);
    }
    /* The end that was submitted first comes first. */
    for (int32_t i = 0; i < count; i++)
        p->rank[p->queue[i]] = p->queue[0] <= p->queue[count - 1] ? i : count - 1 - i;
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
        p->slices[v] = (int16_t)((int64_t)v * SLICES / versions);
    for (int32_t i = 0; i < c->ops; i++) {
        int32_t d = p->key[i];

        if (d >= 0)
            p->weights[(int64_t)slice_of(p, i) * c->data_count + p->rank[d]] += c->tasks[i].seconds;
    }
}

/* How much longer than the ideal the slowest part takes. */
static double imbalance(const parts_t *p, const double *weights, const int64_t *cuts)
{
    double total = 0, speed = 0, worst = 0;

    for (int32_t k = 0; k < p->parts; k++) {
        double work = 0;

        for (int64_t i = cuts[k]; i < cuts[k + 1]; i++)
            work += weights[i];
        total += work;
        speed += p->speeds[k];
        if (work / p->speeds[k] > worst)
            worst = work / p->speeds[k];
    }
    return total > 0 ? worst * speed / total : 1;
}

static void assign(parts_t *p)
{
    closure_t *c = p->c;
    size_t cuts_size = ((size_t)p->parts + 1) * sizeof(*p->cuts);

    for (int32_t s = 0; s < SLICES; s++) {
        const double *weights = p->weights + (int64_t)s * c->data_count;
        int64_t *cuts = p->cuts + (int64_t)s * (p->parts + 1);

        /* A cut that is still good stays: moving it moves data. */
        if (s > 0)
            memcpy(cuts, cuts - (p->parts + 1), cuts_size);
        if (s == 0 || imbalance(p, weights, cuts) > 1.02)
            xy_task_cut(weights, c->data_count, p->speeds, p->parts, cuts);
    }
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
    xy_free(p->queue);
    xy_free(p->rank);
    xy_free(p->is_seen);
    xy_free(p->visit);
    xy_free(p->first);
    xy_free(p->slices);
    xy_free(p->version);
    xy_free(p->weights);
    xy_free(p->cuts);
    xy_free(p->key);
    xy_free(p->speeds);
    xy_free(p->memory_of);
}

xy_status_t closure_parts(closure_t *c)
{
    size_t data = (size_t)c->data_count + 1, ops = (size_t)c->ops + 1;
    size_t memories = (size_t)c->view->memories + 1;
    parts_t p = {.c = c};
    xy_status_t st = XY_ENOMEM;

    p.queue = xy_calloc(data, sizeof(*p.queue));
    p.rank = xy_calloc(data, sizeof(*p.rank));
    p.is_seen = xy_calloc(data, sizeof(*p.is_seen));
    p.visit = xy_calloc(ops, sizeof(*p.visit));
    p.first = xy_malloc(data * sizeof(*p.first));
    p.slices = xy_malloc(ops * sizeof(*p.slices)); /* a version is made by a task */
    p.version = xy_calloc(data + ops, sizeof(*p.version));
    p.weights = xy_calloc(data * SLICES, sizeof(*p.weights));
    p.cuts = xy_calloc((memories + 1) * SLICES, sizeof(*p.cuts));
    p.key = xy_calloc(ops, sizeof(*p.key));
    p.speeds = xy_calloc(memories, sizeof(*p.speeds));
    p.memory_of = xy_calloc(memories, sizeof(*p.memory_of));
    if (p.queue != NULL && p.rank != NULL && p.is_seen != NULL && p.visit != NULL &&
        p.first != NULL && p.slices != NULL && p.version != NULL && p.weights != NULL &&
        p.cuts != NULL && p.key != NULL && p.speeds != NULL && p.memory_of != NULL) {
        for (int32_t m = 0; m < c->view->memories; m++)
            if (c->memories[m].speed > 0) {
                c->memories[m].is_mirrored = p.parts % 2 == 1;
                p.speeds[p.parts] = c->memories[m].speed;
                p.memory_of[p.parts++] = (int16_t)m;
            }
        for (int32_t m = 0; m < c->view->memories; m++)
            c->memories[m].is_roomy = p.parts > 1 && c->memories[m].capacity == 0;
        for (int32_t i = 0; i < c->ops; i++)
            c->tasks[i].part = p.memory_of[i % p.parts]; /* those without data stay there */
        find_keys(&p);
        line_up(&p);
        weigh(&p);
        assign(&p);
        find_awaited(c);
        st = XY_OK;
    }
    parts_cleanup(&p);
    return st;
}
