/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups, and communicators that are made of them. */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

bool walk_group_find(walker_t *w, int64_t handle, xy_members_t *group_p)
{
    static const int none;

    if (handle == (int64_t)(intptr_t)MPI_GROUP_EMPTY) {
        *group_p = (xy_members_t){&none, 0};
        return true;
    }
    handle -= WALK_GROUP_FIRST;
    if (handle < 0 || (uint64_t)handle >= w->groups.count)
        return process_fail(&w->process, "no group");
    *group_p = XY_VEC_AT(&w->groups, xy_members_t, handle);
    return true;
}

bool walk_group_give(walker_t *w, int64_t address, const int *list, int size)
{
    xy_members_t group = {list, size};
    int64_t handle = (int64_t)(intptr_t)MPI_GROUP_EMPTY;

    if (size < 0 || (size > 0 && xy_vec_append(&w->groups, &group) != XY_OK))
        return process_fail_memory(&w->process);
    if (size > 0)
        handle = WALK_GROUP_FIRST + (int64_t)w->groups.count - 1;
    return walk_set_handle(w, address, handle);
}

static int *list_new(walker_t *w, int64_t size)
{
    return xy_arena_alloc(w->walk->arena, (size_t)(size + 1) * sizeof(int));
}

/* MPI_Comm_create: a split with the group's ranks as keys. */
static bool comm_create(walker_t *w, const code_site_t *site, int64_t *args)
{
    xy_members_t group = {0};
    walk_made_t made = {0};
    int32_t rank;

    (void)site;
    if (walk_intracomm(w, args[0]) == NULL || !walk_group_find(w, args[1], &group))
        return false;
    rank = xy_member_rank(group, w->rank);
    return walk_split(w, args[0], rank == MPI_UNDEFINED ? MPI_UNDEFINED : xy_member_at(group, 0),
                      rank, &made) &&
           walk_give(w, args[2], &made);
}

/* Comm_group, and Comm_remote_group (extra). */
static bool comm_group(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_comm(w, args[0]);
    xy_members_t group;

    if (m == NULL)
        return false;
    group = walk_group(m->comm, m->rank, walk_extra(site) != 0);
    return walk_group_give(w, args[1], group.list, group.size);
}

static bool group_look(walker_t *w, const code_site_t *site, int64_t *args)
{
    xy_members_t group = {0};

    return walk_group_find(w, args[0], &group) &&
           walk_set_int(w, args[1], walk_extra(site) ? group.size : xy_member_rank(group, w->rank));
}

enum { REST = 1, RANGES = 2 }; /* extra: all others; (first, last, stride) instead of ranks */

/* The `n` numbers as ranks of the group: themselves, or those of the ranges. -1: it failed. */
static int expand(walker_t *w, xy_members_t group, int *given, int n, bool is_ranges, int *ranks)
{
    int bad = -1, count = n;

    if (!is_ranges) {
        memcpy(ranks, given, (size_t)n * sizeof(*ranks));
        return n;
    }
    count = xy_members_expand(group.size, n / 3, (int(*)[3])given, ranks, &bad);
    if (count < 0 && bad < 0)
        process_fail(&w->process, "the ranges name a rank twice");
    else if (count < 0)
        process_fail(&w->process,
                     "range %d (%d to %d, stride %d) does not lie in a group of %d ranks", bad,
                     given[3 * bad], given[3 * bad + 1], given[3 * bad + 2], group.size);
    return count;
}

/* Give the program the members of the group with these ranks. */
static bool give_selected(walker_t *w, const int64_t *args, xy_members_t group, const int *ranks,
                          int count, bool is_incl)
{
    int *list = list_new(w, group.size), bad = -1, size = -1;

    if (list != NULL)
        size = xy_members_select(group, count, ranks, is_incl, list, &bad);
    if (bad >= 0)
        return process_fail(&w->process, "rank %d is %s (the group has %d ranks)", ranks[bad],
                            ranks[bad] < 0 || ranks[bad] >= group.size ? "not in the group"
                                                                       : "named twice",
                            group.size);
    return walk_group_give(w, args[3], list, size);
}

/* MPI_Group_incl, _excl, _range_incl and _range_excl. */
static bool group_select(walker_t *w, const code_site_t *site, int64_t *args)
{
    bool is_ranges = (walk_extra(site) & RANGES) != 0, is_ok;
    int n, *given, *ranks, count;
    xy_members_t group = {0};

    if (!walk_group_find(w, args[0], &group))
        return false;
    if (args[1] < 0 || args[1] > INT32_MAX / 3)
        return process_fail(&w->process, "the number of ranks is %lld", (long long)args[1]);
    n = (int)args[1] * (is_ranges ? 3 : 1);
    given = xy_malloc(((size_t)n + 1) * sizeof(*given));
    ranks = xy_malloc(((size_t)(n > group.size ? n : group.size) + 1) * sizeof(*ranks));
    is_ok = given != NULL && ranks != NULL ? walk_get_ints(w, args[2], n, given)
                                           : process_fail_memory(&w->process);
    if (is_ok) {
        count = expand(w, group, given, n, is_ranges, ranks);
        is_ok = count >= 0 &&
                give_selected(w, args, group, ranks, count, (walk_extra(site) & REST) == 0);
    }
    xy_free(given);
    xy_free(ranks);
    return is_ok;
}

static bool group_combine(walker_t *w, const code_site_t *site, int64_t *args)
{
    xy_members_t a = {0}, b = {0};
    int *list, size = -1;

    if (!walk_group_find(w, args[0], &a) || !walk_group_find(w, args[1], &b))
        return false;
    list = list_new(w, (int64_t)a.size + b.size);
    if (list != NULL)
        size = xy_members_combine((xy_members_op_t)walk_extra(site), a, b, w->walk->procs, list);
    return walk_group_give(w, args[2], list, size);
}

static bool group_compare(walker_t *w, const code_site_t *site, int64_t *args)
{
    xy_members_t a = {0}, b = {0};
    int answer;

    (void)site;
    if (!walk_group_find(w, args[0], &a) || !walk_group_find(w, args[1], &b))
        return false;
    answer = xy_members_compare(a, b, w->walk->procs);
    return answer < 0 ? process_fail_memory(&w->process) : walk_set_int(w, args[2], answer);
}

/* MPI_Group_translate_ranks. */
static bool group_translate(walker_t *w, const code_site_t *site, int64_t *args)
{
    int64_t n = args[1] > 0 ? args[1] : 0;
    xy_members_t from = {0}, to = {0};
    int *ranks, bad = -1;
    bool is_ok;

    (void)site;
    if (!walk_group_find(w, args[0], &from) || !walk_group_find(w, args[3], &to))
        return false;
    ranks = xy_malloc((size_t)(n + 1) * sizeof(*ranks));
    if (ranks == NULL)
        return process_fail_memory(&w->process);
    is_ok = walk_get_ints(w, args[2], n, ranks);
    if (is_ok && !xy_members_translate(from, (int)n, ranks, to, w->walk->procs, ranks, &bad))
        is_ok = bad < 0 ? process_fail_memory(&w->process)
                        : process_fail(&w->process, "ranks1[%d] is %d; the group has %d ranks", bad,
                                       ranks[bad], from.size);
    for (int64_t i = 0; is_ok && i < n; i++)
        is_ok = walk_set_int(w, args[4] + 4 * i, ranks[i]);
    xy_free(ranks);
    return is_ok;
}

static bool group_free(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site;
    return walk_set_handle(w, args[0], (int64_t)(intptr_t)MPI_GROUP_NULL);
}

/* ---- MPI_Comm_create_group ---- */

/* A message from one member to another that has not received it yet. */
typedef struct walk_told {
    uint32_t context;
    int32_t tag, from, to;
    walk_comm_t *made;
    struct walk_told *next;
} walk_told_t;

typedef struct {
    uint32_t context;
    int32_t tag, rank;
    xy_members_t group;
} circle_t;

static bool make(walker_t *w, const circle_t *c)
{
    int32_t *procs = xy_malloc((size_t)c->group.size * sizeof(*procs));

    for (int32_t r = 0; procs != NULL && r < c->group.size; r++)
        procs[r] = xy_member_at(c->group, r);
    w->made = procs != NULL ? walk_comm_new(w->walk, procs, c->group.size) : NULL;
    xy_free(procs);
    return w->made != NULL || process_fail_memory(&w->process);
}

/* Sends the new communicator to another member of the group: a record for the walk and a message
 * for its time. */
static bool tell(walker_t *w, const circle_t *c, int32_t to)
{
    walk_told_t *told = xy_arena_alloc(w->walk->arena, sizeof(*told)), **end = &w->walk->told;

    if (told == NULL)
        return process_fail_memory(&w->process);
    *told = (walk_told_t){
        .context = c->context, .tag = c->tag, .from = w->rank, .to = to, .made = w->made};
    while (*end != NULL)
        end = &(*end)->next;
    *end = told;
    w->current[0] = walk_message(
        w, WALK_SEND,
        &(xy_vjob_p2p_t){.context = c->context, .peer = to, .tag = c->tag, .bytes = XY_VJOB_PLAN});
    return w->current[0] >= 0;
}

static bool hear(walker_t *w, const circle_t *c, int32_t from)
{
    walk_told_t **at = &w->walk->told;

    while (*at != NULL && !((*at)->context == c->context && (*at)->tag == c->tag &&
                            (*at)->from == from && (*at)->to == w->rank))
        at = &(*at)->next;
    if (*at == NULL || (*at)->made->size != c->group.size)
        return process_fail(&w->process, "the members give different groups");
    w->made = (*at)->made;
    *at = (*at)->next;
    return true;
}

enum { HEAR = 1, TELL }; /* of process_t.phase: TELL + 2 * bit tells, one more waits until it has */

/* The result of the first member goes down a binomial tree of the group, by the messages of the MPI
 * library: only the members take part. True: w->made is there. */
static bool go_round(walker_t *w, const circle_t *c)
{
    int32_t bit = 0, from;

    while (1 << bit < c->group.size && !(c->rank >> bit & 1))
        bit++;
    from = c->rank > 0 ? xy_member_at(c->group, c->rank - (1 << bit)) : 0;
    if (w->process.phase == 0 && c->rank > 0) {
        w->current[0] = walk_message(
            w, WALK_RECEIVE,
            &(xy_vjob_p2p_t){
                .context = c->context, .peer = from, .tag = c->tag, .bytes = XY_VJOB_PLAN});
        w->process.phase = HEAR;
        if (w->current[0] < 0)
            return false;
    } else if (w->process.phase == 0) {
        w->process.phase = TELL + 2 * bit;
        if (!make(w, c))
            return false;
    }
    if (w->process.phase == HEAR) {
        if (!walk_wait(w, w->current, 1, false))
            return false;
        walk_request_free(w, walk_request_at(w, w->current[0]));
        if (!hear(w, c, from))
            return false;
        w->process.phase = TELL + 2 * bit;
    }
    for (bit = (w->process.phase - TELL) / 2;; bit--) {
        if ((w->process.phase - TELL) % 2 != 0) {
            if (!walk_wait(w, w->current, 1, false))
                return false;
            walk_request_free(w, walk_request_at(w, w->current[0]));
        }
        if (bit == 0)
            return true;
        w->process.phase = TELL + 2 * (bit - 1);
        if (c->rank + (1 << (bit - 1)) < c->group.size) {
            if (!tell(w, c, xy_member_at(c->group, c->rank + (1 << (bit - 1)))))
                return false;
            w->process.phase++;
        }
    }
}

/* MPI_Comm_create_group: a tree of messages among the members alone. */
static bool comm_create_group(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_intracomm(w, args[0]);
    walk_made_t made = {0};
    circle_t c = {.tag = (int32_t)args[2]};

    (void)site;
    if (m == NULL || !walk_group_find(w, args[1], &c.group))
        return false;
    for (int32_t r = 0; w->process.phase == 0 && r < c.group.size; r++)
        if (walk_comm_rank(m->comm, xy_member_at(c.group, r)) < 0)
            return process_fail(&w->process, "rank %d of the group is not in the communicator", r);
    c.context = m->comm->context | WALK_SHADOW;
    c.rank = xy_member_rank(c.group, w->rank);
    if (c.rank != MPI_UNDEFINED) {
        if (!go_round(w, &c))
            return false;
        made = (walk_made_t){w->made, c.rank};
    }
    return walk_give(w, args[3], &made);
}

const walk_call_t walk_calls_group[] = {
    {"Comm_create", comm_create, 0},
    {"Comm_create_group", comm_create_group, 0},
    {"Comm_group", comm_group, 0},
    {"Comm_remote_group", comm_group, 1},
    {"Group_rank", group_look, 0},
    {"Group_size", group_look, 1},
    {"Group_incl", group_select, 0},
    {"Group_excl", group_select, REST},
    {"Group_range_incl", group_select, RANGES},
    {"Group_range_excl", group_select, RANGES | REST},
    {"Group_union", group_combine, XY_MEMBERS_UNION},
    {"Group_intersection", group_combine, XY_MEMBERS_INTERSECTION},
    {"Group_difference", group_combine, XY_MEMBERS_DIFFERENCE},
    {"Group_compare", group_compare, 0},
    {"Group_translate_ranks", group_translate, 0},
    {"Group_free", group_free, 0},
    {0}};
