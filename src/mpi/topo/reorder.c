/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/topo/reorder.h"

#include <pthread.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/virtual/virtual.h"

/* Made once; leaders of several communicators may come at the same time. */
static struct {
    pthread_mutex_t lock;
    xy_target_t *target;
    uint32_t *leaf_of;            /* of each worker, or of each world rank on an imagined machine */
    const xy_machine_t *imagined; /* instead of what the text describes; or NULL */
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    xy_machine_t *cores;
    xy_status_t st = xy_cores_machine(m, &cores);

    if (st != XY_OK)
        return st;
    st = xy_target_create(cores, NULL, target_p);
    xy_machine_destroy(cores);
    for (int r = 0; st == XY_OK && r < mpi_job->size; r++)
        for (uint32_t leaf = 0; leaf < (*target_p)->leaves; leaf++)
            if ((*target_p)->logical[leaf] == (uint32_t)core_of[r])
                leaf_of[r] = leaf;
    return st;
}

xy_status_t mpi_reorder_imagine(const xy_machine_t *m)
{
    machine.imagined = m;
    return mpi_reorder_check("");
}

static xy_status_t make_machine(void)
{
    bool is_imagined = is_elsewhere();
    uint32_t count = (uint32_t)(is_imagined ? mpi_job->size : mpi_job->workers);
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

static xy_status_t get_machine(void)
{
    xy_status_t st = XY_OK;

    pthread_mutex_lock(&machine.lock);
    if (machine.target == NULL)
        st = make_machine();
    pthread_mutex_unlock(&machine.lock);
    return st;
}

void mpi_reorder_cleanup(void)
{
    xy_target_destroy(machine.target);
    xy_free(machine.leaf_of);
    machine.target = NULL;
    machine.leaf_of = NULL;
    mpi_reorder_forget();
}

static uint32_t leaf_of(const mpi_group_t *group, int rank)
{
    int world = mpi_group_world(group, rank);

    return machine.leaf_of[is_elsewhere() ? world : mpi_job->home[world]];
}

/* How many numbers each leaf gets: its members; when not all members are needed, no leaf keeps more
 * than it must. */
static void count_members(const mpi_group_t *group, int points, uint32_t *capacity)
{
    uint32_t leaves = machine.target->leaves;
    uint64_t room;

    for (int r = 0; r < group->size; r++)
        capacity[leaf_of(group, r)]++;
    for (uint32_t most = 1;; most++) {
        room = 0;
        for (uint32_t i = 0; i < leaves; i++)
            room += capacity[i] < most ? capacity[i] : most;
        if (room < (uint64_t)points)
            continue;
        for (uint32_t i = 0; i < leaves; i++)
            capacity[i] = capacity[i] < most ? capacity[i] : most;
        return;
    }
}

/* Members of the leaves in order; those who may keep their number do. */
static xy_status_t assign(const mpi_group_t *group, int points, const uint32_t *wanted, int *member)
{
    uint32_t leaves = machine.target->leaves;
    int *first = xy_malloc((size_t)leaves * sizeof(int)),
        *next = xy_malloc((size_t)group->size * sizeof(int)); /* free members of each leaf */

    if (first == NULL || next == NULL) {
        xy_free(first);
        xy_free(next);
        return XY_ENOMEM;
    }
    for (uint32_t i = 0; i < leaves; i++)
        first[i] = -1;
    for (int r = group->size - 1; r >= 0; r--) {
        uint32_t leaf = leaf_of(group, r);

        if (r < points && wanted[r] == leaf) {
            member[r] = r;
            continue;
        }
        next[r] = first[leaf];
        first[leaf] = r;
    }
    for (int i = 0; i < points; i++)
        if (leaf_of(group, i) != wanted[i]) {
            member[i] = first[wanted[i]];
            first[wanted[i]] = next[member[i]];
        }
    xy_free(first);
    xy_free(next);
    return XY_OK;
}

/* Is the placement better than the order there is? */
static bool is_better(const mpi_group_t *group, const xy_matrix_t *m, const xy_place_t *p)
{
    uint32_t *now = xy_malloc(((size_t)m->n + 1) * sizeof(*now));
    xy_place_cost_t cost = {0};
    bool better;

    for (uint32_t i = 0; now != NULL && i < m->n; i++)
        now[i] = leaf_of(group, (int)i);
    better = now != NULL &&
             xy_place_evaluate(m, XY_METRIC_SIZE, machine.target, now, &cost) == XY_OK &&
             p->cost.weighted < cost.weighted * (1 - 1e-9);
    xy_free(now);
    return better;
}

typedef struct {
    const mpi_group_t *group;
    int points;
    xy_vec_t *entries;
    int *member;
    bool is_done;
} task_t;

static void place(task_t *task, const xy_matrix_t *m, uint32_t *capacity)
{
    /* No other library comes into the program, and the program does not wait for all strategies. */
    xy_place_options_t options = {.strategy = "multisection", .seed = 1, .capacity = capacity};
    xy_place_t *p;

    count_members(task->group, task->points, capacity);
    if (xy_place_compute(m, machine.target, &options, &p) != XY_OK)
        return;
    task->is_done = is_better(task->group, m, p) &&
                    assign(task->group, task->points, p->leaf_of, task->member) == XY_OK;
    xy_place_destroy(p);
}

static void work(task_t *task)
{
    uint32_t *capacity;
    xy_matrix_t *m;

    if (get_machine() != XY_OK || xy_matrix_build((uint32_t)task->points, task->entries->data,
                                                  task->entries->count, false, &m) != XY_OK)
        return;
    capacity = xy_calloc(machine.target->leaves, sizeof(*capacity));
    if (capacity != NULL)
        place(task, m, capacity);
    xy_free(capacity);
    xy_matrix_destroy(m);
}

/* All members at one core have no choice; few others have none either. */
static bool is_one_core(const mpi_group_t *group)
{
    if (is_elsewhere())
        return false;
    for (int r = 1; r < group->size; r++)
        if (mpi_job->home[mpi_group_world(group, r)] != mpi_job->home[mpi_group_world(group, 0)])
            return false;
    return true;
}

/* On the stack of the rank, of which it takes some kilobytes however many ranks there are. Whatever
 * fails, the old order is right, too. */
void mpi_reorder(const mpi_group_t *group, int points, xy_vec_t *entries, int *member)
{
    task_t task = {.group = group, .points = points, .entries = entries, .member = member};

    if (points > 1 && entries->count > 0 && !is_one_core(group))
        work(&task);
    for (int i = 0; !task.is_done && i < points; i++)
        member[i] = i;
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

int mpi_comm_reorder(mpi_comm_t *comm, int points, mpi_pattern_fn pattern, const void *arg,
                     mpi_topology_t **topology, mpi_comm_t **comm_p)
{
    wish_t wish = {comm, points, pattern, arg, topology ? *topology : NULL};
    answer_t answer;
    int code = mpi_coll_agree(comm, &wish, &answer, leader);

    if (code != MPI_SUCCESS)
        return code;
    if (topology)
        *topology = answer.topology;
    return mpi_comm_from_plan(comm, &answer.plan, comm_p);
}
