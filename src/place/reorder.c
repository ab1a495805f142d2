/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/reorder.h"

#include "arith/arith.h"
#include "place/ranks.h"
#include "place/strategy.h"

typedef struct {
    const xy_target_t *target;
    const uint32_t *leaf_of;
    int size, points;
} task_t;

/* How many numbers each leaf gets: its members; when not all members are needed, no leaf keeps more
 * than it must. */
static void count_members(const task_t *t, uint32_t *capacity)
{
    uint32_t leaves = t->target->leaves;
    uint64_t room;

    for (int r = 0; r < t->size; r++)
        capacity[t->leaf_of[r]]++;
    for (uint32_t most = 1;; most++) {
        room = 0;
        for (uint32_t i = 0; i < leaves; i++)
            room += capacity[i] < most ? capacity[i] : most;
        if (room < (uint64_t)t->points)
            continue;
        for (uint32_t i = 0; i < leaves; i++)
            capacity[i] = capacity[i] < most ? capacity[i] : most;
        return;
    }
}

/* Members of the leaves in order; those who may keep their number do. */
static bool assign(const task_t *t, const uint32_t *wanted, int *member)
{
    uint32_t leaves = t->target->leaves;
    int *first = xy_malloc((size_t)leaves * sizeof(int)),
        *next = xy_malloc((size_t)t->size * sizeof(int)); /* free members of each leaf */

    if (first == NULL || next == NULL) {
        xy_free(first);
        xy_free(next);
        return false;
    }
    for (uint32_t i = 0; i < leaves; i++)
        first[i] = -1;
    for (int r = t->size - 1; r >= 0; r--) {
        uint32_t leaf = t->leaf_of[r];

        if (r < t->points && wanted[r] == leaf) {
            member[r] = r;
            continue;
        }
        next[r] = first[leaf];
        first[leaf] = r;
    }
    for (int i = 0; i < t->points; i++)
        if (t->leaf_of[i] != wanted[i]) {
            member[i] = first[wanted[i]];
            first[wanted[i]] = next[member[i]];
        }
    xy_free(first);
    xy_free(next);
    return true;
}

/* Is the placement better than the order there is? */
static bool is_better(const task_t *t, const xy_matrix_t *m, const xy_place_t *p)
{
    xy_place_cost_t cost = {0};

    return xy_place_evaluate(m, XY_METRIC_SIZE, t->target, t->leaf_of, &cost) == XY_OK &&
           p->cost.weighted < cost.weighted * (1 - 1e-9);
}

/* Computes a placement and assigns the members to it if it is better than the present order. */
static bool place(const task_t *t, const xy_matrix_t *m, uint32_t *capacity, int *member)
{
    /* No other library comes into the program, and the program does not wait for all strategies. */
    xy_place_options_t options = {.strategy = "multisection", .seed = 1, .capacity = capacity};
    xy_place_t *p;
    bool is_done;

    count_members(t, capacity);
    if (xy_place_compute(m, t->target, &options, &p) != XY_OK)
        return false;
    is_done = is_better(t, m, p) && assign(t, p->leaf_of, member);
    xy_place_destroy(p);
    return is_done;
}

/* Places the points of the pattern `entries`; returns false to keep the present order. */
static bool work(const task_t *t, xy_vec_t *entries, int *member)
{
    uint32_t *capacity;
    xy_matrix_t *m;
    bool is_done;

    if (xy_matrix_build((uint32_t)t->points, entries->data, entries->count, false, &m) != XY_OK)
        return false;
    capacity = xy_calloc(t->target->leaves, sizeof(*capacity));
    is_done = capacity != NULL && place(t, m, capacity, member);
    xy_free(capacity);
    xy_matrix_destroy(m);
    return is_done;
}

void xy_place_reorder(const xy_target_t *target, const uint32_t *leaf_of, int size, int points,
                      xy_vec_t *entries, int *member)
{
    const task_t t = {target, leaf_of, size, points};

    if (points > 1 && entries->count > 0 && work(&t, entries, member))
        return;
    for (int i = 0; i < points; i++)
        member[i] = i;
}

xy_status_t xy_place_grid_pattern(int ndims, const int *dims, const int *periods, int points,
                                  xy_vec_t *entries)
{
    for (int r = 0; r < points; r++)
        for (int d = ndims - 1; d >= 0; d--) {
            int to = xy_grid_shift(r, ndims, dims, periods, d, 1);
            xy_matrix_entry_t e = {(uint32_t)r, (uint32_t)to, 1, 1};

            if (to >= 0 && to != r && xy_vec_append(entries, &e) != XY_OK)
                return XY_ENOMEM;
        }
    return XY_OK;
}

xy_status_t xy_place_core_leaves(const xy_machine_t *machine, const int32_t *core_of, int size,
                                 uint32_t *leaf_of, xy_target_t **target_p)
{
    xy_machine_t *cores;
    xy_status_t st = xy_cores_machine(machine, &cores);

    if (st != XY_OK)
        return st;
    st = xy_target_create(cores, NULL, target_p);
    xy_machine_destroy(cores);
    for (int r = 0; st == XY_OK && r < size; r++)
        for (uint32_t leaf = 0; leaf < (*target_p)->leaves; leaf++)
            if ((*target_p)->logical[leaf] == (uint32_t)core_of[r])
                leaf_of[r] = leaf;
    return st;
}
