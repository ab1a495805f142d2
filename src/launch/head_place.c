/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks over the cores of all hosts, by who talks to whom. Every host tells what its cores share;
 * hosts are the uppermost level of the tree.
 */
#include <string.h>

#include "launch/head.h"
#include "launch/mapping.h"

static const char *strategy_of(const mpi_launch_values_t *values)
{
    return values->place != NULL ? values->place : xy_strategies[0]->name;
}

bool head_places(const head_t *head)
{
    const char *name = strategy_of(head->values);
    const xy_strategy_t *strategy = NULL;

    if (head->values->matrix != NULL && xy_strategy_is_plugin(name))
        return xy_strategy_find(name, &strategy) == XY_OK && strategy->needs_matrix;
    if (head->values->matrix != NULL)
        strategy = xy_table_find(XY_TABLE(xy_strategies), name);
    return strategy != NULL && strategy->needs_matrix;
}

bool head_wants_cpus(const head_t *head)
{
    return head_places(head) || strcmp(head->values->adapt, "off") != 0;
}

void head_take_cpus(head_process_t *p, const xy_frame_t *frame)
{
    uint32_t n = (uint32_t)(frame->size / sizeof(*p->cpus));

    if (p->cpus != NULL || n == 0)
        return;
    p->cpus = xy_malloc(n * sizeof(*p->cpus));
    if (p->cpus == NULL)
        return;
    memcpy(p->cpus, frame->bytes, n * sizeof(*p->cpus));
    p->cpu_count = n;
}

/* A slot for each rank: its core, its process, and its slot there. */
static void fill_slots(const head_t *h, xy_target_cpu_t *cpus, int *process, int *slot)
{
    int k = 0;

    for (int p = 0; p < h->count; p++) {
        const head_process_t *host = &h->processes[p];

        for (int i = 0; i < host->ranks; i++, k++) {
            cpus[k] = host->cpus[(uint64_t)i * host->cpu_count / (uint64_t)host->ranks];
            cpus[k].host = (uint32_t)p;
            process[k] = p;
            slot[k] = i;
        }
    }
}

/* Place the ranks on the CPUs of all hosts and count the ranks of each process. */
static xy_status_t place(head_t *h, const xy_matrix_t *m, const xy_target_cpu_t *cpus,
                         const int *process, const int *slot)
{
    xy_place_options_t options = {.strategy = strategy_of(h->values), .seed = 1};
    xy_target_t *t;
    xy_place_t *p;
    xy_status_t st = xy_target_hosts(cpus, (uint32_t)h->size, &t);

    if (st != XY_OK)
        return st;
    st = xy_place_compute(m, t, &options, &p);
    if (st == XY_OK) {
        for (int i = 0; i < h->count; i++)
            h->processes[i].ranks = 0;
        for (int r = 0; r < h->size; r++) {
            uint32_t k = t->logical[p->leaf_of[r]];

            h->process_of[r] = process[k];
            h->slot_of[r] = slot[k];
            h->processes[process[k]].ranks++;
        }
        xy_place_destroy(p);
    }
    xy_target_destroy(t);
    return st;
}

/* Allocate the placement arrays of the head and place the ranks by a matrix. */
static xy_status_t place_by(head_t *h, const xy_matrix_t *m)
{
    size_t n = (size_t)h->size;
    xy_target_cpu_t *cpus = xy_calloc(n, sizeof(*cpus));
    int *process = xy_calloc(n, sizeof(int)), *slot = xy_calloc(n, sizeof(int));
    xy_status_t st;

    h->process_of = xy_calloc(n, sizeof(int));
    h->slot_of = xy_calloc(n, sizeof(int));
    if (cpus == NULL || process == NULL || slot == NULL || h->process_of == NULL ||
        h->slot_of == NULL) {
        st = xy_fail_memory("placing the ranks");
    } else {
        fill_slots(h, cpus, process, slot);
        st = place(h, m, cpus, process, slot);
    }
    xy_free(cpus);
    xy_free(process);
    xy_free(slot);
    return st;
}

/* Ranks to each host in turn, as far as it has room (--map-by node). */
static xy_status_t deal(head_t *h)
{
    int *used = xy_calloc((size_t)h->count, sizeof(*used)), p = 0;

    h->process_of = xy_calloc((size_t)h->size, sizeof(int));
    h->slot_of = xy_calloc((size_t)h->size, sizeof(int));
    if (used == NULL || h->process_of == NULL || h->slot_of == NULL) {
        xy_free(used);
        return xy_fail_memory("placing the ranks");
    }
    for (int r = 0; r < h->size; r++, p = (p + 1) % h->count) {
        while (used[p] >= h->processes[p].ranks)
            p = (p + 1) % h->count;
        h->process_of[r] = p;
        h->slot_of[r] = used[p]++;
    }
    xy_free(used);
    return XY_OK;
}

xy_status_t head_place_ranks(head_t *h)
{
    xy_matrix_t *m;
    xy_status_t st;

    if (!h->is_local && !h->has_children && mpi_mapping_is_by_node(h->values))
        return deal(h);
    if (!head_places(h))
        return XY_OK;
    st = xy_matrix_read(h->values->matrix, &m);
    if (st != XY_OK)
        return st;
    if (m->n != (uint32_t)h->size)
        st = xy_fail(XY_EINVAL, "%s: the matrix has %u rank%s and the job %d", h->values->matrix,
                     m->n, m->n == 1 ? "" : "s", h->size);
    else
        st = place_by(h, m);
    xy_matrix_destroy(m);
    return st;
}

/* Ranks in blocks, as they lie without a matrix: the r-th slot has rank r. */
static void find_blocks(const xy_target_t *t, uint32_t n, uint32_t *leaf_of)
{
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++)
        if (t->logical[leaf] < n)
            leaf_of[t->logical[leaf]] = leaf;
}

/* Compare the best placement with blocks of ranks; *gain_p is changed only if it is better. */
static xy_status_t compare(const xy_matrix_t *m, const xy_target_cpu_t *cpus, uint32_t *leaf_of,
                           double *gain_p)
{
    xy_place_options_t options = {.strategy = xy_strategies[0]->name, .seed = 1};
    xy_place_cost_t usual;
    xy_target_t *t;
    xy_place_t *p;
    xy_status_t st = xy_target_hosts(cpus, m->n, &t);

    if (st != XY_OK)
        return st;
    find_blocks(t, m->n, leaf_of);
    st = xy_place_evaluate(m, XY_METRIC_SIZE, t, leaf_of, &usual);
    if (st == XY_OK)
        st = xy_place_compute(m, t, &options, &p);
    if (st == XY_OK) {
        if (p->cost.weighted < usual.weighted)
            *gain_p = p->cost.weighted / usual.weighted;
        xy_place_destroy(p);
    }
    xy_target_destroy(t);
    return st;
}

xy_status_t head_place_gain(const head_t *h, const xy_matrix_t *m, double *gain_p)
{
    size_t n = (size_t)h->size;
    xy_target_cpu_t *cpus = xy_calloc(n, sizeof(*cpus));
    int *process = xy_calloc(n, sizeof(int)), *slot = xy_calloc(n, sizeof(int));
    uint32_t *leaf_of = xy_calloc(n, sizeof(uint32_t));
    xy_status_t st;

    if (cpus == NULL || process == NULL || slot == NULL || leaf_of == NULL) {
        st = xy_fail_memory("placing the ranks");
    } else {
        fill_slots(h, cpus, process, slot);
        st = compare(m, cpus, leaf_of, gain_p);
    }
    xy_free(cpus);
    xy_free(process);
    xy_free(slot);
    xy_free(leaf_of);
    return st;
}
