/* SPDX-License-Identifier: BSD-3-Clause */
/* Remedies that change the program: the replay of a run of the changed program. */
#include <stdlib.h>
#include <string.h>

#include "advise/advise_internal.h"

enum {
    SITES = 5,               /* of each kind of change that are tried: the most expensive ones */
    MERGED_BYTES = 16 << 10, /* of a merged message, at most */
};
#define WORTH 0.01 /* of all time: calls that take less are not changed */

static void describe(const advise_t *a, uint32_t site, char *text, size_t size)
{
    xy_site_describe(a->profile, site, text, size);
}

/* ---- Overlap: a blocking call returns at once, and is waited for before the next call ---- */

/* Calls whose result may not be needed at once. A barrier has none: it is there to be waited for.
 */
static bool can_overlap(const char *function)
{
    static const char *const calls[] = {
        "MPI_Recv",    "MPI_Sendrecv", "MPI_Send",      "MPI_Bcast",      "MPI_Reduce",
        "MPI_Gather",  "MPI_Scatter",  "MPI_Allreduce", "MPI_Allgather",  "MPI_Alltoall",
        "MPI_Gatherv", "MPI_Scatterv", "MPI_Alltoallv", "MPI_Allgatherv", "MPI_Scan"};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i], function) == 0)
            return true;
    return false;
}

/* How many waits of calls at this site have moved behind the computation that follows them. */
static size_t overlap(const advise_t *a, xy_script_t *s, uint32_t site)
{
    size_t moved = 0;

    for (int32_t r = 0; r < s->procs; r++) {
        xy_script_op_t *ops = s->proc[r].ops.data;

        for (size_t i = 0; i < s->proc[r].ops.count; i++) {
            xy_script_op_t *op = &ops[i], wait = *op;

            if (advise_site(a, op) != site)
                continue;
            if (op->kind == XY_SCRIPT_COLLECTIVE)
                XY_VEC_AT(&s->colls, xy_script_coll_t, op->peer).call.is_nonblocking = true;
            if (op->kind != XY_SCRIPT_WAIT || i + 1 >= s->proc[r].ops.count ||
                ops[i + 1].kind != XY_SCRIPT_COMPUTE)
                continue;
            ops[i] = ops[i + 1];
            ops[++i] = wait;
            moved++;
        }
    }
    return moved;
}

/* Replays the run with the blocking call of a site made nonblocking; calls without such a form are
 * left out. */
static xy_status_t try_overlap(advise_t *a, const xy_site_time_t *t)
{
    const xy_profile_site_t *site = &XY_VEC_AT(&a->profile->sites, xy_profile_site_t, t->site);
    xy_remedy_t r = {.kind = "overlap"};
    xy_replay_t *replay;
    xy_status_t st;
    char where[256];

    if (!can_overlap(site->function))
        return XY_OK;
    st = advise_replay(a, &replay);
    if (st != XY_OK)
        return st;
    describe(a, t->site, where, sizeof(where));
    snprintf(r.change, sizeof(r.change),
             "%.160s: start it with MPI_I%c%s, and wait before the "
             "next MPI call",
             where, site->function[4] | 0x20, site->function + 5);
    if (overlap(a, xy_replay_script(replay), t->site) > 0) {
        snprintf(r.reason, sizeof(r.reason),
                 "computation follows it; the two can overlap if the computation does not need the "
                 "result");
        st = advise_try(a, &(advise_case_t){.replay = replay}, &r);
    }
    xy_replay_destroy(replay);
    return st;
}

/* ---- Merging small messages ---- */

typedef struct {
    bool *is_gone;   /* [messages + 1] part of a later one */
    uint64_t *bytes; /* [messages + 1] of those that are left: what they carry more */
    size_t gone;
} merged_t;

/* Consecutive small sends of one call site (0: of any) to one rank become one, at the last of them.
 */
static void merge_proc(const advise_t *a, const xy_script_proc_t *p, uint32_t site, merged_t *m)
{
    const xy_script_op_t *ops = p->ops.data, *last = NULL;

    for (size_t i = 0; i < p->ops.count; i++) {
        const xy_script_op_t *op = &ops[i];

        if (op->kind == XY_SCRIPT_WAIT && last != NULL && op->mark == last->mark)
            continue; /* of the send itself */
        if (op->kind == XY_SCRIPT_COMPUTE && last != NULL && op->seconds < 1e-6)
            continue;
        if (op->kind != XY_SCRIPT_SEND || (site != 0 && advise_site(a, op) != site) ||
            op->bytes > XY_SMALL_BYTES) {
            last = NULL;
            continue;
        }
        if (last != NULL && last->peer == op->peer && advise_site(a, last) == advise_site(a, op) &&
            m->bytes[last->tag] + last->bytes + op->bytes <= MERGED_BYTES) {
            m->is_gone[last->tag] = true;
            m->bytes[op->tag] = m->bytes[last->tag] + last->bytes;
            m->gone++;
        }
        last = op;
    }
}

/* A wait for a request that was never started returns at once. */
static void remove_merged(xy_script_proc_t *p, const merged_t *m)
{
    xy_script_op_t *ops = p->ops.data;
    size_t kept = 0;

    for (size_t i = 0; i < p->ops.count; i++) {
        bool is_message = ops[i].kind == XY_SCRIPT_SEND || ops[i].kind == XY_SCRIPT_RECEIVE;

        if (is_message && m->is_gone[ops[i].tag])
            continue;
        ops[kept] = ops[i];
        if (is_message)
            ops[kept].bytes += m->bytes[ops[i].tag];
        kept++;
    }
    p->ops.count = kept;
}

/* Replays the run with small messages to one rank merged, of one site, or of all for site 0. */
static xy_status_t try_merge(advise_t *a, uint32_t site)
{
    xy_remedy_t r = {.kind = "merge"};
    merged_t m = {.is_gone = xy_calloc(a->log->message_count + 1, sizeof(*m.is_gone)),
                  .bytes = xy_calloc(a->log->message_count + 1, sizeof(*m.bytes))};
    xy_replay_t *replay = NULL;
    xy_status_t st = m.is_gone != NULL && m.bytes != NULL ? advise_replay(a, &replay)
                                                          : xy_fail_memory("advising");
    char where[256];

    if (st == XY_OK) {
        xy_script_t *s = xy_replay_script(replay);

        for (int32_t p = 0; p < s->procs; p++)
            merge_proc(a, &s->proc[p], site, &m);
        for (int32_t p = 0; p < s->procs; p++)
            remove_merged(&s->proc[p], &m);
        if (site != 0)
            describe(a, site, where, sizeof(where));
        else
            snprintf(where, sizeof(where), "all calls that send small messages");
        snprintf(r.change, sizeof(r.change),
                 "%.160s: send what goes to one rank in one message of up to %d KiB", where,
                 MERGED_BYTES >> 10);
        snprintf(r.reason, sizeof(r.reason),
                 "%zu small messages directly follow one to the same rank", m.gone);
        if (m.gone > 0)
            st = advise_try(a, &(advise_case_t){.replay = replay}, &r);
    }
    xy_replay_destroy(replay);
    xy_free(m.is_gone);
    xy_free(m.bytes);
    return st;
}

/* ---- Balancing ---- */

/* The computation of each rank before the calls of a site, or of all sites (0), becomes the mean of
 * the ranks that have some. And which rank had most of it, how many times the mean. False: memory
 * ran out. */
static bool balance(const advise_t *a, xy_script_t *s, uint32_t site, int32_t *most_p,
                    double *times_p)
{
    double *of_rank = xy_calloc((size_t)s->procs, sizeof(*of_rank)), sum = 0;
    int32_t count = 0, most = 0;

    if (of_rank == NULL)
        return false;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t r = 0; r < s->procs; r++) {
            for (size_t i = 0; i < s->proc[r].ops.count; i++) {
                xy_script_op_t *op = &XY_VEC_AT(&s->proc[r].ops, xy_script_op_t, i);

                if (op->kind != XY_SCRIPT_COMPUTE || (site != 0 && advise_site(a, op) != site))
                    continue;
                if (pass == 0)
                    of_rank[r] += op->seconds;
                else if (of_rank[r] > 0)
                    op->seconds *= sum / count / of_rank[r];
            }
            if (pass == 0 && of_rank[r] > 0) {
                sum += of_rank[r];
                count++;
                most = of_rank[r] > of_rank[most] ? r : most;
            }
        }
    *most_p = most;
    *times_p = sum > 0 ? of_rank[most] * count / sum : 1;
    xy_free(of_rank);
    return true;
}

/* Replays the run with equal computation on all ranks, before one site, or everywhere if `t` is
 * NULL. */
static xy_status_t try_balance(advise_t *a, const xy_site_time_t *t)
{
    xy_remedy_t r = {.kind = "balance"};
    xy_replay_t *replay;
    xy_status_t st = advise_replay(a, &replay);
    char where[256];
    int32_t most = 0;
    double times = 1;

    if (st != XY_OK)
        return st;
    if (!balance(a, xy_replay_script(replay), t != NULL ? t->site : 0, &most, &times))
        st = xy_fail_memory("advising");
    else
        snprintf(r.reason, sizeof(r.reason), "rank %d computes %.2g times as long%s as the mean",
                 most, times, t != NULL ? " there" : "");
    if (t != NULL)
        snprintf(r.change, sizeof(r.change), "give each rank the same work before %.160s",
                 xy_site_describe(a->profile, t->site, where, sizeof(where)));
    else
        snprintf(r.change, sizeof(r.change), "give each rank the same work");
    if (st == XY_OK)
        st = advise_try(a, &(advise_case_t){.replay = replay}, &r);
    xy_replay_destroy(replay);
    return st;
}

/* ---- All of them ---- */

/* Seconds of a site by which a change is worth a try. */
static double worth(const xy_site_time_t *t, bool is_balance)
{
    return is_balance ? (t->ranks > 1 ? t->most_compute - t->compute / t->ranks : 0) : t->time;
}

/* The sites that are worth most, one after the other. */
static xy_status_t try_sites(advise_t *a, bool is_balance)
{
    const xy_analysis_t *t = a->analysis;
    double limit = 1e300;
    xy_status_t st = XY_OK;

    for (int n = 0; n < SITES && st == XY_OK; n++) {
        const xy_site_time_t *best = NULL;

        for (size_t i = 0; i < t->site_count; i++)
            if (worth(&t->sites[i], is_balance) < limit &&
                (best == NULL || worth(&t->sites[i], is_balance) > worth(best, is_balance)))
                best = &t->sites[i];
        if (best == NULL || worth(best, is_balance) < WORTH * t->run)
            break;
        limit = worth(best, is_balance);
        st = is_balance ? try_balance(a, best) : try_overlap(a, best);
    }
    return st;
}

/* All sites at once, where one alone gains clearly less. */
static xy_status_t try_all(advise_t *a, const char *kind)
{
    size_t before = a->out->remedies.count;
    double best = 0;
    xy_status_t st;

    for (size_t i = 0; i < before; i++) {
        const xy_remedy_t *r = &XY_VEC_AT(&a->out->remedies, xy_remedy_t, i);

        if (strcmp(r->kind, kind) == 0 && r->gain > best)
            best = r->gain;
    }
    st = strcmp(kind, "merge") == 0 ? try_merge(a, 0) : try_balance(a, NULL);
    if (st == XY_OK && a->out->remedies.count > before &&
        XY_VEC_AT(&a->out->remedies, xy_remedy_t, before).gain < best + XY_ADVISE_LEAST)
        a->out->remedies.count = before;
    return st;
}

/* Each call site with small messages, then all of them. */
static xy_status_t try_merges(advise_t *a)
{
    const xy_vec_t *small = &a->profile->insight->small;
    uint32_t tried[SITES];
    int count = 0;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < small->count && count < SITES && st == XY_OK; i++) {
        uint32_t site = XY_VEC_AT(small, xy_small_t, i).site;
        bool is_new = true;

        for (int k = 0; k < count; k++)
            is_new &= tried[k] != site;
        if (is_new) {
            tried[count++] = site;
            st = try_merge(a, site);
        }
    }
    return st == XY_OK && count > 1 ? try_all(a, "merge") : st;
}

xy_status_t advise_changes(advise_t *a)
{
    xy_status_t st = try_sites(a, true);

    if (st == XY_OK)
        st = try_all(a, "balance");
    if (st == XY_OK)
        st = try_sites(a, false);
    return st == XY_OK ? try_merges(a) : st;
}
