/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups, and communicators that are made of them. */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

static int32_t group_rank(const walk_group_t *group, int32_t proc)
{
    if (group->procs == NULL)
        return proc < group->size ? proc : MPI_UNDEFINED;
    for (int32_t r = 0; r < group->size; r++)
        if (group->procs[r] == proc)
            return r;
    return MPI_UNDEFINED;
}

static int32_t group_proc(const walk_group_t *group, int32_t rank)
{
    return group->procs != NULL ? group->procs[rank] : rank;
}

static bool group_of(walker_t *w, int64_t handle, walk_group_t *group_p)
{
    static const int32_t none;

    if (handle == (int64_t)(intptr_t)MPI_GROUP_EMPTY) {
        *group_p = (walk_group_t){&none, 0};
        return true;
    }
    handle -= WALK_GROUP_FIRST;
    if (handle < 0 || (uint64_t)handle >= w->groups.count)
        return process_fail(&w->process, "no group");
    *group_p = XY_VEC_AT(&w->groups, walk_group_t, handle);
    return true;
}

static int64_t group_handle(walker_t *w, walk_group_t group)
{
    if (group.size == 0)
        return (int64_t)(intptr_t)MPI_GROUP_EMPTY;
    if (xy_vec_append(&w->groups, &group) == XY_OK)
        return WALK_GROUP_FIRST + (int64_t)w->groups.count - 1;
    process_fail_memory(&w->process);
    return 0;
}

static bool comm_create(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_group_t group = {0};
    walk_made_t made = {0};
    int32_t rank;

    (void)site;
    if (walk_intracomm(w, args[0]) == NULL || !group_of(w, args[1], &group))
        return false;
    rank = group_rank(&group, w->rank);
    return walk_split(w, args[0],
                      rank == MPI_UNDEFINED ? MPI_UNDEFINED
                      : group.procs != NULL ? group.procs[0]
                                            : 0,
                      rank, &made) &&
           walk_give(w, args[2], &made);
}

/* Comm_group, and Comm_remote_group (extra). */
static bool comm_group(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_comm(w, args[0]);
    bool is_remote = walk_extra(site) != 0;
    walk_group_t group;
    int32_t first;

    if (m == NULL)
        return false;
    first = is_remote ? walk_peers_first(m->comm, m->rank) : walk_own_first(m->comm, m->rank);
    group.size = is_remote ? walk_peers(m->comm, m->rank) : walk_own(m->comm, m->rank);
    group.procs = m->comm->procs != NULL ? m->comm->procs + first : NULL;
    return walk_set_handle(w, args[1], group_handle(w, group));
}

static bool group_look(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_group_t group = {0};

    return group_of(w, args[0], &group) &&
           walk_set_int(w, args[1], walk_extra(site) ? group.size : group_rank(&group, w->rank));
}

/* Those of the group that are listed (or, `is_rest`, that are not). */
static bool group_pick(walker_t *w, const code_site_t *site, int64_t *args)
{
    bool is_rest = walk_extra(site) != 0;
    walk_group_t group = {0}, made = {0};
    int32_t *procs, rank;
    bool *is_listed;

    if (!group_of(w, args[0], &group))
        return false;
    procs = xy_arena_alloc(w->walk->arena, (size_t)(group.size + args[1] + 1) * sizeof(*procs));
    is_listed = xy_calloc((size_t)group.size + 1, sizeof(*is_listed));
    if (procs == NULL || is_listed == NULL || args[1] < 0) {
        xy_free(is_listed);
        return process_fail_memory(&w->process);
    }
    for (int64_t i = 0; i < args[1] && w->process.status == XY_OK; i++) {
        if (!walk_get_int(w, args[2], i, &rank))
            break;
        if (rank < 0 || rank >= group.size) {
            process_fail(&w->process, "rank %d is not in the group of %d", rank, group.size);
            break;
        }
        is_listed[rank] = true;
        if (!is_rest)
            procs[made.size++] = group.procs != NULL ? group.procs[rank] : rank;
    }
    for (int32_t r = 0; is_rest && r < group.size; r++)
        if (!is_listed[r])
            procs[made.size++] = group.procs != NULL ? group.procs[r] : r;
    xy_free(is_listed);
    made.procs = procs;
    return w->process.status == XY_OK && walk_set_handle(w, args[3], group_handle(w, made));
}

/* Ranks first, last and stride: those of the group that are listed (or, extra, that are not). */
static bool group_range(walker_t *w, const code_site_t *site, int64_t *args)
{
    bool is_rest = walk_extra(site) != 0;
    walk_group_t group = {0}, made = {0};
    int32_t *procs, range[3];
    bool *is_listed, is_ok = true;

    if (!group_of(w, args[0], &group))
        return false;
    procs = xy_arena_alloc(w->walk->arena, (size_t)(group.size + 1) * sizeof(*procs));
    is_listed = xy_calloc((size_t)group.size + 1, sizeof(*is_listed));
    if (procs == NULL || is_listed == NULL) {
        xy_free(is_listed);
        return process_fail_memory(&w->process);
    }
    for (int64_t i = 0; is_ok && i < args[1]; i++) {
        for (int k = 0; is_ok && k < 3; k++)
            is_ok = walk_get_int(w, args[2], 3 * i + k, &range[k]);
        if (is_ok && range[2] == 0)
            is_ok = process_fail(&w->process, "the stride of range %lld is 0", (long long)i);
        for (int64_t r = range[0]; is_ok && (range[2] > 0 ? r <= range[1] : r >= range[1]);
             r += range[2]) {
            if (r < 0 || r >= group.size || is_listed[r])
                is_ok = process_fail(&w->process, "rank %lld is %s the group of %d", (long long)r,
                                     r < 0 || r >= group.size ? "not in" : "twice in", group.size);
            else
                is_listed[r] = true;
            if (is_ok && !is_rest)
                procs[made.size++] = group_proc(&group, (int32_t)r);
        }
    }
    for (int32_t r = 0; is_ok && is_rest && r < group.size; r++)
        if (!is_listed[r])
            procs[made.size++] = group_proc(&group, r);
    xy_free(is_listed);
    made.procs = procs;
    return is_ok && walk_set_handle(w, args[3], group_handle(w, made));
}

enum { UNION, INTERSECTION, DIFFERENCE }; /* extra */

static bool group_combine(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_group_t a = {0}, b = {0}, made = {0};
    int32_t kind = walk_extra(site), *procs;

    if (!group_of(w, args[0], &a) || !group_of(w, args[1], &b))
        return false;
    procs = xy_arena_alloc(w->walk->arena, (size_t)(a.size + b.size + 1) * sizeof(*procs));
    if (procs == NULL)
        return process_fail_memory(&w->process);
    for (int32_t r = 0; r < a.size; r++)
        if (kind == UNION ||
            (group_rank(&b, group_proc(&a, r)) != MPI_UNDEFINED) == (kind == INTERSECTION))
            procs[made.size++] = group_proc(&a, r);
    for (int32_t r = 0; kind == UNION && r < b.size; r++)
        if (group_rank(&a, group_proc(&b, r)) == MPI_UNDEFINED)
            procs[made.size++] = group_proc(&b, r);
    made.procs = procs;
    return walk_set_handle(w, args[2], group_handle(w, made));
}

static bool group_compare(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_group_t a = {0}, b = {0};
    bool is_same, is_similar;

    (void)site;
    if (!group_of(w, args[0], &a) || !group_of(w, args[1], &b))
        return false;
    is_same = is_similar = a.size == b.size;
    for (int32_t r = 0; is_similar && r < a.size; r++) {
        int32_t other = group_rank(&b, group_proc(&a, r));

        is_same &= other == r;
        is_similar = other != MPI_UNDEFINED;
    }
    return walk_set_int(w, args[2], !is_similar ? MPI_UNEQUAL : is_same ? MPI_IDENT : MPI_SIMILAR);
}

static bool group_translate(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_group_t from = {0}, to = {0};
    int32_t rank;

    (void)site;
    if (!group_of(w, args[0], &from) || !group_of(w, args[3], &to))
        return false;
    for (int64_t i = 0; i < args[1]; i++) {
        if (!walk_get_int(w, args[2], i, &rank))
            return false;
        if (rank != MPI_PROC_NULL && (rank < 0 || rank >= from.size))
            return process_fail(&w->process, "rank %d is not in the group of %d", rank, from.size);
        if (rank != MPI_PROC_NULL)
            rank = group_rank(&to, from.procs != NULL ? from.procs[rank] : rank);
        if (!walk_set_int(w, args[4] + 4 * i, rank))
            return false;
    }
    return true;
}

static bool group_free(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site;
    return walk_set_handle(w, args[0], (int64_t)(intptr_t)MPI_GROUP_NULL);
}

/* ---- MPI_Comm_create_group ---- */

/* What a member has told another, until that one has heard of it. */
typedef struct walk_told {
    uint32_t context;
    int32_t tag, from, to;
    walk_comm_t *made;
    struct walk_told *next;
} walk_told_t;

typedef struct {
    uint32_t context;
    int32_t tag, rank;
    walk_group_t group;
} circle_t;

static bool make(walker_t *w, const circle_t *c)
{
    int32_t *procs = xy_malloc((size_t)c->group.size * sizeof(*procs));

    for (int32_t r = 0; procs != NULL && r < c->group.size; r++)
        procs[r] = group_proc(&c->group, r);
    w->made = procs != NULL ? walk_comm_new(w->walk, procs, c->group.size) : NULL;
    xy_free(procs);
    return w->made != NULL || process_fail_memory(&w->process);
}

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

/* What the first member makes is told down a binomial tree of the group, by the messages of the MPI
 * library: only the members take part. True: w->made is there. */
static bool go_round(walker_t *w, const circle_t *c)
{
    int32_t bit = 0, from;

    while (1 << bit < c->group.size && !(c->rank >> bit & 1))
        bit++;
    from = c->rank > 0 ? group_proc(&c->group, c->rank - (1 << bit)) : 0;
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
            if (!tell(w, c, group_proc(&c->group, c->rank + (1 << (bit - 1)))))
                return false;
            w->process.phase++;
        }
    }
}

static bool comm_create_group(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_intracomm(w, args[0]);
    walk_made_t made = {0};
    circle_t c = {.tag = (int32_t)args[2]};

    (void)site;
    if (m == NULL || !group_of(w, args[1], &c.group))
        return false;
    for (int32_t r = 0; w->process.phase == 0 && r < c.group.size; r++)
        if (walk_comm_rank(m->comm, group_proc(&c.group, r)) < 0)
            return process_fail(&w->process, "rank %d of the group is not in the communicator", r);
    c.context = m->comm->context | WALK_SHADOW;
    c.rank = group_rank(&c.group, w->rank);
    if (c.rank != MPI_UNDEFINED) {
        if (!go_round(w, &c))
            return false;
        made = (walk_made_t){w->made, c.rank};
    }
    return walk_give(w, args[3], &made);
}

const walk_call_t walk_calls_group[] = {{"Comm_create", comm_create, 0},
                                        {"Comm_create_group", comm_create_group, 0},
                                        {"Comm_group", comm_group, 0},
                                        {"Comm_remote_group", comm_group, 1},
                                        {"Group_rank", group_look, 0},
                                        {"Group_size", group_look, 1},
                                        {"Group_incl", group_pick, 0},
                                        {"Group_excl", group_pick, 1},
                                        {"Group_range_incl", group_range, 0},
                                        {"Group_range_excl", group_range, 1},
                                        {"Group_union", group_combine, UNION},
                                        {"Group_intersection", group_combine, INTERSECTION},
                                        {"Group_difference", group_combine, DIFFERENCE},
                                        {"Group_compare", group_compare, 0},
                                        {"Group_translate_ranks", group_translate, 0},
                                        {"Group_free", group_free, 0},
                                        {0}};
