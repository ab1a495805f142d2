/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/topo/reorder_comm.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"
#include "mpi/virtual/virtual.h"

/* Made once; leaders of several communicators may come at the same time. */
static struct {
    pthread_mutex_t lock;
    xy_target_t *target;
    uint32_t *leaf_of;            /* of each worker, or of each world rank on an imagined machine */
    const xy_machine_t *imagined; /* instead of what the text describes; or NULL */
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Make the target of placement from the description of an imagined machine. */
static xy_status_t imagine(const char *text, xy_target_t **target_p)
{
    xy_machine_t *m;
    xy_status_t st;

    if (machine.imagined != NULL)
        return xy_target_create(machine.imagined, NULL, target_p);
    if (xy_target_is_grid_text(text))
        return xy_target_grid(text, NULL, target_p);
    st = xy_machine_synthetic(text, &m);
    if (st == XY_OK) {
        st = xy_target_create(m, NULL, target_p);
        xy_machine_destroy(m);
    }
    return st;
}

xy_status_t mpi_reorder_check(const char *text)
{
    xy_target_t *t;
    xy_status_t st = imagine(text, &t);

    if (st == XY_OK)
        xy_target_destroy(t);
    return st;
}

/* Each rank has a place of its own on a machine that is not this one. */
static bool is_elsewhere(void)
{
    return mpi_job->imagined != NULL || mpi_job->clock != NULL;
}

/* In virtual time, the cores of that machine. */
static xy_status_t make_virtual(uint32_t *leaf_of, xy_target_t **target_p)
{
    const int32_t *core_of;
    const xy_machine_t *m = mpi_virtual_machine(&core_of);

    return xy_place_core_leaves(m, core_of, mpi_job->size, leaf_of, target_p);
}

xy_status_t mpi_reorder_imagine(const xy_machine_t *m)
{
    machine.imagined = m;
    return mpi_reorder_check("");
}

/* Find the machine on which ranks are reordered and the leaf of each worker or rank. */
static xy_status_t make_machine(void)
{
    bool is_imagined = is_elsewhere();
    uint32_t count = (uint32_t)(is_imagined ? mpi_job->capacity : mpi_job_cores(mpi_job));
    uint32_t *leaf_of = xy_calloc(count, sizeof(*leaf_of));
    xy_target_t *t = NULL;
    xy_status_t st;

    if (leaf_of == NULL)
        return xy_fail_memory("reordering ranks");
    if (mpi_job->clock != NULL)
        st = make_virtual(leaf_of, &t);
    else if (is_imagined)
        st = imagine(mpi_job->imagined, &t);
    else
        st = xy_target_live(mpi_job->cpus, count, &t);
    if (st != XY_OK) {
        xy_free(leaf_of);
        return st;
    }
    for (uint32_t i = 0; i < count && mpi_job->clock == NULL; i++)
        if (is_imagined)
            leaf_of[i] = i % t->leaves;
        else
            leaf_of[t->logical[i]] = i;
    machine.target = t;
    machine.leaf_of = leaf_of;
    return XY_OK;
}

static void forget_machine(void)
{
    xy_target_destroy(machine.target);
    xy_free(machine.leaf_of);
    machine.target = NULL;
    machine.leaf_of = NULL;
}

static xy_status_t get_machine(void)
{
    xy_status_t st = XY_OK;

    pthread_mutex_lock(&machine.lock);
    if (mpi_job->clock != NULL && mpi_job->size > mpi_job->started)
        forget_machine(); /* spawned ranks have cores since */
    if (machine.target == NULL)
        st = make_machine();
    pthread_mutex_unlock(&machine.lock);
    return st;
}

void mpi_reorder_cleanup(void)
{
    forget_machine();
    mpi_reorder_forget();
}

/* The worker of a rank, or the core that it began on, where ranks move: all members must know the
 * same. */
static int place_of(int world)
{
    return mpi_job->moves != NULL ? mpi_job->moves->first_core[world] : mpi_job->home[world];
}

static uint32_t leaf_of(const mpi_group_t *group, int rank)
{
    int world = mpi_group_world(group, rank);

    return machine.leaf_of[is_elsewhere() ? world : place_of(world)];
}

/* All members at one core have no choice; few others have none either. */
static bool is_one_core(const mpi_group_t *group)
{
    if (is_elsewhere())
        return false;
    for (int r = 1; r < group->size; r++)
        if (place_of(mpi_group_world(group, r)) != place_of(mpi_group_world(group, 0)))
            return false;
    return true;
}

static void keep_order(int points, int *member)
{
    for (int i = 0; i < points; i++)
        member[i] = i;
}

static void reorder(const mpi_group_t *group, int points, xy_vec_t *entries, int *member)
{
    uint32_t *leaves = xy_malloc((size_t)group->size * sizeof(*leaves));

    for (int r = 0; leaves != NULL && r < group->size; r++)
        leaves[r] = leaf_of(group, r);
    if (leaves != NULL)
        xy_place_reorder(machine.target, leaves, group->size, points, entries, member);
    xy_free(leaves);
}

/* ---- Several processes ---- */

/* The members, or the numbers, of this process. */
typedef struct {
    int *item, count;
} here_t;

static bool is_here(const mpi_group_t *group, int rank)
{
    return mpi_job->process_of[mpi_group_world(group, rank)] == mpi_job->process;
}

/* The entries among the numbers of this process, with their places as numbers. */
static xy_status_t inner_entries(const xy_vec_t *entries, const int *place, xy_vec_t *inner)
{
    for (size_t i = 0; i < entries->count; i++) {
        xy_matrix_entry_t e = XY_VEC_AT(entries, xy_matrix_entry_t, i);

        if (place[e.from] < 0 || place[e.to] < 0)
            continue;
        e.from = (uint32_t)place[e.from];
        e.to = (uint32_t)place[e.to];
        if (xy_vec_append(inner, &e) != XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

/* The numbers that this process has got, in the order of its own tree. */
static void order_here(const mpi_group_t *group, const here_t *members, const here_t *numbers,
                       xy_vec_t *inner, int *member)
{
    uint32_t *leaves = xy_malloc((size_t)members->count * sizeof(*leaves));
    int *order = xy_malloc((size_t)numbers->count * sizeof(*order));

    for (int m = 0; leaves != NULL && m < members->count; m++)
        leaves[m] = leaf_of(group, members->item[m]);
    if (leaves != NULL && order != NULL) {
        xy_place_reorder(machine.target, leaves, members->count, numbers->count, inner, order);
        for (int k = 0; k < numbers->count; k++)
            member[numbers->item[k]] = members->item[order[k]];
    }
    xy_free(leaves);
    xy_free(order);
}

/* Improve the order of the members in this process only; without memory it stays as it is. */
static void refine_here(const mpi_group_t *group, int points, const xy_vec_t *entries, int *member)
{
    here_t members = {xy_malloc((size_t)group->size * sizeof(int)), 0};
    here_t numbers = {xy_malloc((size_t)points * sizeof(int)), 0};
    int *place = xy_malloc((size_t)points * sizeof(int));
    xy_vec_t inner = XY_VEC_INIT(xy_matrix_entry_t);

    if (members.item != NULL && numbers.item != NULL && place != NULL) {
        for (int r = 0; r < group->size; r++)
            if (is_here(group, r))
                members.item[members.count++] = r;
        for (int i = 0; i < points; i++) {
            place[i] = is_here(group, member[i]) ? numbers.count : -1;
            if (place[i] >= 0)
                numbers.item[numbers.count++] = i;
        }
        if (numbers.count > 1 && inner_entries(entries, place, &inner) == XY_OK && inner.count > 0)
            order_here(group, &members, &numbers, &inner, member);
    }
    xy_free(members.item);
    xy_free(numbers.item);
    xy_free(place);
    xy_vec_cleanup(&inner);
}

/* Assign numbers to processes, the same in all of them. The order inside other processes is found
 * there. */
static void reorder_processes(const mpi_group_t *group, int points, xy_vec_t *entries, int *member)
{
    uint32_t *process_of = xy_malloc((size_t)group->size * sizeof(*process_of));
    xy_machine_t *m = NULL;
    xy_target_t *top = NULL;
    char text[32];

    snprintf(text, sizeof(text), "node:%d core:1", mpi_job->processes);
    if (process_of != NULL && xy_machine_synthetic(text, &m) == XY_OK &&
        xy_target_create(m, NULL, &top) == XY_OK) {
        for (int r = 0; r < group->size; r++)
            process_of[r] = (uint32_t)mpi_job->process_of[mpi_group_world(group, r)];
        xy_place_reorder(top, process_of, group->size, points, entries, member);
        if (get_machine() == XY_OK)
            refine_here(group, points, entries, member);
    }
    xy_target_destroy(top);
    xy_machine_destroy(m);
    xy_free(process_of);
}

/* Reorder the members; on any failure the old order stays valid. */
void mpi_reorder(const mpi_group_t *group, int points, xy_vec_t *entries, int *member)
{
    keep_order(points, member);
    if (points <= 1 || entries->count == 0 || mpi_link_of(group) != 0)
        return; /* two jobs do not know each other's machine */
    if (!is_elsewhere() && mpi_group_is_spread(group))
        reorder_processes(group, points, entries, member);
    else if (!is_one_core(group) && get_machine() == XY_OK)
        reorder(group, points, entries, member);
}

/* ---- All members together ---- */

typedef struct {
    const mpi_comm_t *comm;
    int points;
    mpi_pattern_fn pattern;
    const void *arg;
    mpi_topology_t *topology;
} wish_t;

typedef struct {
    mpi_plan_t plan;
    mpi_topology_t *topology;
} answer_t;

/* Collect the communication pattern of all members and compute which member gets which new rank. */
static xy_status_t find_order(void *const *inputs, int size, int *member)
{
    const wish_t *first = inputs[0];
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    void **args = xy_malloc((size_t)size * sizeof(*args));
    xy_status_t st = XY_ENOMEM;

    for (int i = 0; args != NULL && i < size; i++)
        args[i] = (void *)(uintptr_t)((const wish_t *)inputs[i])->arg;
    if (args != NULL)
        st = first->pattern(args, size, &entries);
    if (st == XY_OK)
        mpi_reorder(first->comm->group, first->points, &entries, member);
    xy_vec_cleanup(&entries);
    xy_free(args);
    return st;
}

static mpi_group_t *group_of(const mpi_group_t *group, const int *member, int points)
{
    int *ranks = xy_malloc((size_t)points * sizeof(*ranks));

    if (ranks == NULL)
        return NULL;
    for (int i = 0; i < points; i++)
        ranks[i] = mpi_group_world(group, member[i]);
    return mpi_group_create(ranks, points);
}

/* Leader of a reordering: compute the order and give each member its plan and topology. */
static void leader(void *const *inputs, int size, void *const *outputs)
{
    const wish_t *first = inputs[0];
    int *member = xy_malloc((size_t)size * sizeof(*member));
    mpi_plan_t plan = {.status = XY_ENOMEM};

    if (member != NULL && find_order(inputs, size, member) == XY_OK)
        plan = mpi_plan_intra(group_of(first->comm->group, member, first->points));
    for (int i = 0; i < size; i++) {
        answer_t *answer = outputs[i];

        answer->plan = (mpi_plan_t){.status = plan.status, .rank = MPI_UNDEFINED};
        answer->topology = ((const wish_t *)inputs[i])->topology;
    }
    for (int i = 0; plan.status == XY_OK && i < first->points; i++) {
        answer_t *answer = outputs[member[i]];

        answer->plan = plan;
        answer->plan.rank = i;
        answer->topology = ((const wish_t *)inputs[i])->topology;
    }
    xy_free(member);
}

int mpi_comm_reorder(mpi_comm_t *comm, int points, const mpi_pattern_t *pattern,
                     mpi_topology_t **topology, mpi_comm_t **comm_p)
{
    wish_t wish = {comm, points, pattern->all, pattern->arg, topology ? *topology : NULL};
    answer_t answer;
    int code;

    if (mpi_comm_is_spread(comm))
        return mpi_comm_reorder_spread(comm, points, pattern, topology, comm_p);
    code = mpi_coll_agree(comm, &wish, &answer, leader);
    if (code != MPI_SUCCESS)
        return code;
    if (topology)
        *topology = answer.topology;
    return mpi_comm_from_plan(comm, &answer.plan, comm_p);
}
