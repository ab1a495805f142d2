/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait for each other while others continue.
 *
 * What belongs to a rank is touched by its worker only, so each worker looks at its own ranks: when
 * a new look is asked for (`asked`), in its poll function, between two calls. It writes down what
 * its parked ranks wait for, and answers. The thread that asked puts the answers together and looks
 * for a knot (knot.h). Workers whose ranks compute do not answer in time: their ranks may act.
 *
 * Answers come at different moments, so the picture would be of no moment at all. A rank counts as
 * parked at look k only if its worker saw it parked at a look before k, and it has not run since:
 * each park erases the mark that a look leaves (XMPI_WAITER_SEEN). And look k is asked for when
 * those workers had answered k - 1. Between the two there is a moment T when all ranks that count
 * were parked. What they wait for at T, and whether it may come:
 *
 *   - What a parked rank sent was in a ring before its mark was made: no mark is made while the
 *     worker keeps packets for which a ring had no room. The answer k of the receiver's worker
 *     comes after it has handled all that was in its rings at T. So a receive that is still posted
 *     in answer k has got nothing from those that were parked at T.
 *   - A send waits for its receiver as long as the message is among those that the receiver keeps,
 *     in answer k. It is not there while it is under way, or when it is being copied.
 *   - A member that had not called a collective at T or later has not called it at T.
 *
 * So in a knot each rank waits at T for ranks of the knot only, and what they did before T has
 * arrived. None of them will ever run again, also when those that are not in it do.
 *
 * Ranks that poll (p2p/polling.h) are not parked, and may do anything next. But one that has done
 * nothing for long but test and probe, with the same result, would do so for ever. Its tests count
 * as waits then. What tells it from a rank that works, and tests from time to time: nearly all
 * tests follow each other at once, most of the time is spent in them, no message was sent to it and
 * no receive started by it, and it has looked at no clock, slept nor read anything meanwhile.
 *
 * Ranks in several processes: watch_far.c.
 *
 * In virtual time the ranks run one at a time, on one worker, and what is under way to a rank is
 * known: each look is of a moment, and a rank to which nothing is under way can be in a knot.
 *
 * With --check sends wait for their receivers, and receives from any source for the others: in a
 * knot, one such send is let go instead of a report.
 *
 * What may end without a rank is no reason to be in a knot: one-sided operations and locks (the
 * worker of a target grants them), generalized requests, neighbourhood collectives, messages that
 * are being copied; nor are ranks whose threads may call MPI.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check/deadlock.h"
#include "mpi/check/watch.h"
#include "mpi/check/windows.h"

enum { PATIENCE_MS = 256, PROCESSES_MOST = 1 << 16, CAUSE_SIZE = 1200 };

check_watch_t check_watch;

/* ---- On the thread that looks ---- */

xy_status_t mpi_watch_begin(mpi_job_t *job, double polling)
{
    size_t size = (size_t)job->numbers, bytes = (size_t)job->workers * sizeof(*check_watch.answers);

    if (job->processes > PROCESSES_MOST) /* messages have no names there */
        return XY_OK;
    check_watch.is_over = false;
    check_watch.records = xy_calloc(size, sizeof(*check_watch.records));
    check_watch.stuck = xy_calloc(size, sizeof(*check_watch.stuck));
    check_watch.last = xy_calloc(size, sizeof(*check_watch.last));
    check_watch.idle_since = xy_calloc(size, sizeof(*check_watch.idle_since));
    check_watch.parked_since = xy_calloc(size, sizeof(*check_watch.parked_since));
    check_watch.answers = aligned_alloc(XMPI_LINES, bytes);
    if (check_watch.records == NULL || check_watch.stuck == NULL || check_watch.answers == NULL ||
        check_watch.last == NULL || check_watch.idle_since == NULL ||
        check_watch.parked_since == NULL || (polling > 0 && mpi_polling_start(job) != XY_OK) ||
        !check_watch_far_begin(job))
        return xy_fail_memory("looking for deadlocks");
    memset((void *)check_watch.answers, 0, bytes);
    for (int w = 0; w < job->workers; w++)
        check_watch.answers[w].meetings = XY_VEC_INIT(watch_meeting_t);
    check_watch.polling = polling;
    check_watch.job = job;
    return XY_OK;
}

/* The acquire pairs with the release of check_watch_help(). */
static bool has_answered(int worker)
{
    return atomic_load_explicit(&check_watch.answers[worker].answered, memory_order_acquire) ==
           atomic_load_explicit(&check_watch.asked, memory_order_relaxed);
}

static int rank_workers(void)
{
    return check_watch.job->workers - check_watch.job->comm_workers;
}

static bool all_have_answered(void)
{
    for (int w = 0; w < rank_workers(); w++)
        if (check_watch.answers[w].is_expected && !has_answered(w))
            return false;
    return true;
}

/* And wait, not for ever, for those that have answered before. */
static void ask(void)
{
    for (int w = 0; w < rank_workers(); w++)
        check_watch.answers[w].is_expected = has_answered(w);
    atomic_fetch_add_explicit(&check_watch.asked, 1, memory_order_release);
    for (int w = 0; w < rank_workers(); w++)
        xy_worker_notify(check_watch.job->worker[w].base);
    for (int ms = 1; ms <= PATIENCE_MS && !all_have_answered() && !check_watch.is_over; ms *= 2)
        xy_watcher_sleep(1e-3 * ms);
    for (int w = 0; w < rank_workers(); w++)
        check_watch.answers[w].is_in_time = check_watch.answers[w].is_in_time && has_answered(w);
}
/* ---- Ranks that poll ---- */

enum { POLLS_LEAST = 1000 };

/* Has its worker written something down about a rank, in time? */
static bool has_record(int rank)
{
    return mpi_rank_is_here(check_watch.job, rank) &&
           check_watch.answers[check_watch.job->home[rank]].is_in_time &&
           check_watch.records[rank] != NULL;
}

/* Has a rank done nothing but poll between two looks? */
static bool was_idle(const watch_tally_t *before, const watch_tally_t *now)
{
    double failed = (double)(now->failed - before->failed);
    double inside = now->inside - before->inside, outside = now->outside - before->outside;

    return before->failed > 0 && failed >= POLLS_LEAST && now->others == before->others &&
           now->order == before->order && (double)(now->quick - before->quick) >= 0.99 * failed &&
           outside <= inside;
}

static bool is_polling(int rank)
{
    return has_record(rank) && check_watch.records[rank]->is_polling;
}

/* At a second look, at once after the first: has a rank done anything else since? */
static void judge_again(void)
{
    for (int r = 0; r < check_watch.job->size; r++) {
        const watch_tally_t *tally = is_polling(r) ? &check_watch.records[r]->tally : NULL;

        if (tally == NULL || tally->others != check_watch.last[r].others ||
            tally->order != check_watch.last[r].order)
            check_watch.idle_since[r] = 0;
    }
}

/* Note since when each rank has done nothing but poll. Called once per look. */
static void judge_polling(void)
{
    double now = xy_now();

    for (int r = 0; r < check_watch.job->size; r++) {
        watch_tally_t tally =
            is_polling(r) ? check_watch.records[r]->tally : (watch_tally_t){.failed = 0};

        if (!was_idle(&check_watch.last[r], &tally))
            check_watch.idle_since[r] = 0;
        else if (check_watch.idle_since[r] <= 0)
            check_watch.idle_since[r] = check_watch.last_time;
        check_watch.last[r] = tally;
    }
    check_watch.last_time = now;
}

static bool has_polled_long(int rank)
{
    return check_watch.idle_since[rank] > 0 &&
           check_watch.last_time - check_watch.idle_since[rank] >= check_watch.polling;
}

/* ---- Together ---- */

typedef enum { PARKED_ONLY, POLLING_LONG, POLLING_ALL } who_t;

static bool counts(int rank, who_t who)
{
    if (!has_record(rank))
        return false;
    return !check_watch.records[rank]->is_polling || who == POLLING_ALL ||
           (who == POLLING_LONG && has_polled_long(rank));
}

/* How many members the knot has. */
static int find_knot(knot_rank_t *ranks, who_t who)
{
    for (int r = 0; r < check_watch.job->size; r++)
        ranks[r] =
            counts(r, who) ? check_watch.records[r]->knot : (knot_rank_t){.is_parked = false};
    return check_knot_find(ranks, check_watch.job->size, check_watch.stuck);
}

/* Times are taken only while there may be something to find. */
static mpi_watch_t find_polling(knot_rank_t *ranks)
{
    bool may_be = false;

    if (check_watch.polling <= 0)
        return XMPI_WATCH_NONE;
    judge_polling();
    if (find_knot(ranks, POLLING_LONG) > 0)
        return XMPI_WATCH_POLLING;
    find_knot(ranks, POLLING_ALL);
    for (int r = 0; r < check_watch.job->size; r++)
        may_be |= check_watch.stuck[r];
    atomic_store_explicit(&mpi_polling_is_timed, may_be, memory_order_relaxed);
    return XMPI_WATCH_NONE;
}

static mpi_watch_t find(knot_rank_t *ranks)
{
    if (find_knot(ranks, PARKED_ONLY) > 0)
        return XMPI_WATCH_PARKED;
    return find_polling(ranks);
}

/* One of its sends waits only because of --check. */
static bool is_forced(const watch_record_t *record)
{
    for (size_t i = 0; mpi_checks.is_on && i < record->entries.count; i++)
        if (XY_VEC_AT(&record->entries, watch_entry_t, i).is_forced)
            return true;
    return false;
}

/* Does one of the knot wait only because of --check? */
static bool has_forced(void)
{
    for (int r = 0; r < check_watch.job->size; r++)
        if (check_watch.stuck[r] && is_forced(check_watch.records[r]))
            return true;
    return false;
}

/* For those who ask how long a rank has waited: it was parked at the look before, at least. */
static void note_parked(void)
{
    static uint64_t before;
    uint64_t now = mpi_live_now();

    for (int r = 0; r < check_watch.job->size; r++) {
        _Atomic uint64_t *since = &check_watch.parked_since[r];
        bool is_parked = has_record(r) && !check_watch.records[r]->is_polling &&
                         check_watch.records[r]->knot.count > 0;

        if (!is_parked)
            atomic_store_explicit(since, 0, memory_order_relaxed);
        else if (atomic_load_explicit(since, memory_order_relaxed) == 0)
            atomic_store_explicit(since, before > 0 ? before : now, memory_order_relaxed);
    }
    before = now;
}

/* ---- Where other processes are: the part of this one ---- */

void check_watch_look_here(bool is_second, xy_text_t *text)
{
    for (int w = 0; w < rank_workers(); w++)
        check_watch.answers[w].is_in_time = check_watch.answers[w].had_answered;
    ask();
    for (int w = 0; w < rank_workers(); w++)
        check_watch.answers[w].had_answered = has_answered(w);
    note_parked();
    if (is_second)
        judge_again();
    else
        judge_polling();
    for (int r = 0; r < check_watch.job->size; r++) {
        const watch_record_t *record = has_record(r) ? check_watch.records[r] : NULL;

        if (record == NULL || !record->knot.is_parked)
            continue;
        picture_write(text, &(picture_rank_t){.rank = r,
                                              .is_polling = record->is_polling,
                                              .is_long = record->is_polling && has_polled_long(r),
                                              .is_forced = is_forced(record),
                                              .knot = record->knot,
                                              .needs = record->needs.data,
                                              .calls = record->calls.data,
                                              .calls_count = (int)record->calls.count});
    }
}

void check_watch_skip(void)
{
    for (int w = 0; w < rank_workers(); w++)
        check_watch.answers[w].had_answered = false;
}

char *check_watch_tell(const int *wait, const int *next)
{
    check_graph_t graph = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    if (check_graph_init(&graph, check_watch.job)) {
        for (int r = 0; r < check_watch.job->size; r++) {
            const watch_record_t *record = check_watch.stuck[r] ? check_watch.records[r] : NULL;

            if (record == NULL || wait[r] < 0 || (size_t)wait[r] >= record->entries.count)
                continue;
            graph.wait[r] = XY_VEC_AT(&record->entries, watch_entry_t, wait[r]).wait;
            graph.next[r] = check_is_ending(&check_watch.job->ranks[r]) ? -1 : next[r];
        }
        check_told_write_knot(out, &graph, check_watch.stuck);
    }
    check_graph_cleanup(&graph);
    fclose(out);
    return text;
}

/* ---- All ---- */

static void explain(char *cause, size_t room);

mpi_watch_t mpi_watch_look(void)
{
    knot_rank_t *ranks;
    mpi_watch_t found;

    if (check_watch.job == NULL)
        return XMPI_WATCH_NONE;
    if (check_watch.job->processes > 1)
        return check_watch_look_far();
    ranks = xy_calloc((size_t)check_watch.job->numbers, sizeof(*ranks));
    for (int w = 0; w < rank_workers(); w++)
        check_watch.answers[w].is_in_time = has_answered(w);
    ask();
    note_parked();
    found = ranks != NULL ? find(ranks) : XMPI_WATCH_NONE;
    xy_free(ranks);
    if (found != XMPI_WATCH_NONE && has_forced()) {
        explain(check_watch.cause, sizeof(check_watch.cause));
        atomic_store_explicit(&check_watch.releases, true, memory_order_release);
        return XMPI_WATCH_NONE;
    }
    return found;
}

static bool polls(int rank)
{
    return check_watch.job->processes > 1 ? check_watch_far_polls(rank)
                                          : check_watch.records[rank]->is_polling;
}

/* List the ranks that were found; `polling`: those of them that poll. NULL: no memory. */
static char *list_ranks(bool polling)
{
    xy_bitset_t members;
    char *text;

    if (xy_bitset_init(&members, (size_t)check_watch.job->numbers) != XY_OK)
        return NULL;
    for (int r = 0; r < check_watch.job->size; r++)
        if (check_watch.stuck[r] && (!polling || polls(r)))
            xy_bitset_set(&members, (size_t)r);
    text = xy_bitset_format(&members);
    xy_bitset_cleanup(&members);
    return text;
}

/* The first wait of a rank that no other rank may end. */
static void fill(check_graph_t *graph, const knot_rank_t *ranks, int rank)
{
    const watch_record_t *record = check_watch.records[rank];

    for (int i = 0; i < record->knot.count; i++) {
        const knot_wait_t *wait = &record->knot.waits[i];

        if (check_knot_is_open(ranks, check_watch.stuck, rank, wait))
            continue;
        graph->wait[rank] = XY_VEC_AT(&record->entries, watch_entry_t, i).wait;
        if ((!record->knot.is_any || record->knot.count == 1) &&
            !check_is_ending(&check_watch.job->ranks[rank]))
            graph->next[rank] = check_knot_partner(ranks, check_watch.stuck, rank, wait);
        return;
    }
}

void mpi_watch_report(int at_most)
{
    check_report(check_watch.job, at_most,
                 check_watch.job->processes > 1 ? check_watch_far_reports() : NULL);
}

/* Find the cause of a knot, whose ranks do not change: they are parked for ever, or poll. */
static void explain(char *cause, size_t room)
{
    knot_rank_t *ranks;
    check_graph_t graph = {0};

    cause[0] = '\0';
    if (check_watch.job->processes > 1) {
        check_watch_explain_far(cause, room);
        return;
    }
    ranks = xy_calloc((size_t)check_watch.job->numbers, sizeof(*ranks));
    if (ranks != NULL && check_graph_init(&graph, check_watch.job)) {
        for (int r = 0; r < check_watch.job->size; r++)
            if (check_watch.stuck[r])
                ranks[r] = check_watch.records[r]->knot;
        for (int r = 0; r < check_watch.job->size; r++)
            if (check_watch.stuck[r])
                fill(&graph, ranks, r);
        check_graph_explain(&graph, cause, room);
    }
    check_graph_cleanup(&graph);
    xy_free(ranks);
}

void mpi_watch_describe(mpi_watch_t found, double polling_after, char *text, size_t size)
{
    char *ranks = list_ranks(false), *polling = list_ranks(true);

    if (found == XMPI_WATCH_PARKED)
        snprintf(text, size, "ranks %s can make no progress, whatever the others do",
                 ranks != NULL ? ranks : "?");
    else
        snprintf(text, size,
                 "ranks %s can make no progress: %s ha%s only polled for %g s, for messages that "
                 "cannot arrive",
                 ranks != NULL ? ranks : "?", polling != NULL ? polling : "?",
                 polling != NULL && strpbrk(polling, "-,") == NULL ? "s" : "ve", polling_after);
    xy_free(ranks);
    xy_free(polling);
}

void mpi_watch_say_cause(char *message, size_t size)
{
    size_t length = strlen(message);
    char cause[CAUSE_SIZE];

    explain(cause, sizeof(cause));
    if (cause[0] == '\0')
        return;
    fprintf(stderr, "  cause: %s\n", cause);
    snprintf(message + length, size - length, "; %s", cause);
}

void mpi_watch_end(const char *message)
{
    mpi_check_end(&(mpi_check_end_t){
        .kind = XMPI_FINDING_DEADLOCK, .rank = -1, .ranks = check_watch.stuck, .message = message});
}

/* End of a job: free what its looks have used. */
static void end(mpi_job_t *job)
{
    if (check_watch.job != job)
        return;
    check_watch.job = NULL;
    check_watch_far_end();
    for (int r = 0; r < job->size; r++)
        check_watch_record_destroy(check_watch.records[r]);
    for (int w = 0; w < job->workers; w++) {
        check_watch_meetings_clear(&check_watch.answers[w].meetings);
        xy_vec_cleanup(&check_watch.answers[w].meetings);
    }
    xy_free(check_watch.records);
    xy_free(check_watch.stuck);
    xy_free(check_watch.last);
    xy_free(check_watch.idle_since);
    xy_free((void *)(uintptr_t)check_watch.parked_since);
    free(check_watch.answers);
    mpi_polling_stop();
}

const mpi_layer_t mpi_check_layer = {.far = {.answer = check_tell_locks, .news = check_watch_news},
                                     .help = check_watch_help,
                                     .report = check_report_text,
                                     .job_end = end};
