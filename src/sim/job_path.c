/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The critical path, found forwards: each process holds the last stretch of the path that brought
 * it to its time, and each stretch the one before it. A process that waits for a message continues
 * the path of the sender. Stretches that nothing holds any more go.
 */
#include "sim/job_internal.h"

#include <stdlib.h>

void job_node_free(xy_vjob_t *job, job_node_t *node)
{
    do {
        job_node_t *before = node->before;

        job_put(&job->nodes, node);
        node = before;
    } while (node != NULL && --node->uses == 0);
}

static job_node_t *add(xy_vjob_t *job, job_node_t *before, double at, uint32_t line,
                       xy_vjob_kind_t kind)
{
    job_node_t *node = job_get(job, &job->nodes);

    if (node == NULL)
        return before;
    *node =
        (job_node_t){.before = before, .at = at, .line = line, .uses = 1, .kind = (uint8_t)kind};
    return node;
}

void job_path_grow(xy_vjob_t *job, job_proc_t *p, xy_vjob_kind_t kind)
{
    if (p->node != NULL && p->node->uses == 1 && p->node->line == p->line && p->node->kind == kind)
        p->node->at = p->now;
    else
        p->node = add(job, p->node, p->now, p->line, kind);
}

void job_path_jump(xy_vjob_t *job, job_proc_t *p, job_node_t *because)
{
    if (job->config.has_path)
        job_node_set(job, &p->node, because);
}

job_node_t *job_path_extend(xy_vjob_t *job, job_node_t *node, double at, uint32_t line)
{
    return job->config.has_path ? add(job, node, at, line, XY_VJOB_CALLING) : NULL;
}

/* ---- At the end ---- */

static int longer(const void *a, const void *b)
{
    const xy_vjob_path_part_t *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

/* Adds the time of a path node to the part of its line and kind. */
static xy_status_t add_part(xy_vec_t *parts, xy_hash_t *index, const job_node_t *node)
{
    uint64_t key = (uint64_t)node->line << 8 | node->kind;
    uintptr_t at = (uintptr_t)xy_hash_get(index, key);
    double seconds = node->at - (node->before != NULL ? node->before->at : 0);
    xy_vjob_path_part_t *part;

    if (at == 0) {
        part = xy_vec_push(parts);
        if (part == NULL || xy_hash_set(index, key, (void *)(uintptr_t)parts->count) != XY_OK)
            return xy_fail_memory("finding the critical path");
        part->line = node->line;
        part->kind = (xy_vjob_kind_t)node->kind;
        at = parts->count;
    }
    XY_VEC_AT(parts, xy_vjob_path_part_t, at - 1).seconds += seconds;
    return XY_OK;
}

xy_status_t xy_vjob_path(const xy_vjob_t *job, xy_vec_t *parts)
{
    const job_proc_t *last = &job->procs[0];
    size_t first = parts->count;
    xy_vec_t own = XY_VEC_INIT(xy_vjob_path_part_t);
    xy_hash_t index;
    xy_status_t st = XY_OK;

    xy_hash_init(&index, XY_HASH_U64);
    for (int32_t i = 1; i < job->known; i++)
        if (job->procs[i].end > last->end)
            last = &job->procs[i];
    for (const job_node_t *n = last->node; n != NULL && st == XY_OK; n = n->before)
        st = add_part(&own, &index, n);
    for (size_t i = 0; i < own.count && st == XY_OK; i++)
        if (xy_vec_append(parts, &XY_VEC_AT(&own, xy_vjob_path_part_t, i)) != XY_OK)
            st = xy_fail_memory("finding the critical path");
    if (st == XY_OK && own.count > 0)
        qsort(&XY_VEC_AT(parts, xy_vjob_path_part_t, first), own.count, sizeof(xy_vjob_path_part_t),
              longer);
    xy_vec_cleanup(&own);
    xy_hash_cleanup(&index);
    return st;
}
