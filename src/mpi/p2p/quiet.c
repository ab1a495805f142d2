/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/quiet.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/p2p/remote.h"
#include "mpi/p2p/survive.h"
#include "net/net.h"

/* How often process 0 asks, while it is quiet itself; where there is a reviver first soon, and then
 * half as often each time until something happens. */
#define ASK_SECONDS  0.25
#define SOON_SECONDS 0.5e-3
/* How long a process that is not reached may take to be ended by mpiexec. */
#define LOST_SECONDS 10.0

typedef enum { IDLE, FIRST, SECOND, RECEIVES, GATHERING, SENDS, REPORTING } step_t;

enum { CAUSE = 1200 };

static struct {
    pthread_mutex_t lock;
    step_t step;
    uint32_t round;
    int answers; /* still to come */
    bool is_quiet;
    uint64_t sent, handled; /* sums of the round */
    mpi_quiet_t *first;     /* [processes]: of the first round */
    double asked;           /* when */
    int wanted_by;          /* process that wants to know where the ranks here are; -1: none */
    bool is_over;           /* ... because no rank will ever move */
    int revived;            /* number of the process that is asked */
    char cause[CAUSE];
    uint32_t wakes; /* when this process was last quiet, and said so */
    bool is_told;
    _Atomic double pause;
    int lost;
    double lost_at;
    char why[160];
} quiet = {.lock = PTHREAD_MUTEX_INITIALIZER, .lost = -1, .wanted_by = -1, .pause = ASK_SECONDS};

/* Something has happened: process 0 asks soon. */
static void ask_soon(void)
{
    if (mpi_job->reviver == NULL)
        return;
    atomic_store(&quiet.pause, SOON_SECONDS);
    xy_net_wake(mpi_job->net);
}

static void ask_later(void)
{
    double pause = 2 * atomic_load(&quiet.pause);

    atomic_store(&quiet.pause, pause < ASK_SECONDS ? pause : ASK_SECONDS);
}

static mpi_quiet_t state_now(uint32_t kind, uint32_t round)
{
    const mpi_traffic_t *t = mpi_network_traffic();
    mpi_quiet_t q = {.kind = kind, .round = round};

    q.is_quiet = xy_pool_is_quiet(mpi_job->pool, 1, &q.wakes) && atomic_load(&t->pieces) == 0;
    q.sent = atomic_load(&t->sent);
    q.handled = atomic_load(&t->handled);
    return q;
}

static bool is_same(const mpi_quiet_t *a, const mpi_quiet_t *b)
{
    return a->wakes == b->wakes && a->sent == b->sent && a->handled == b->handled;
}

/* An answer of process `p`, the own one included. */
static void take(int p, const mpi_quiet_t *q)
{
    quiet.answers--;
    quiet.sent += q->sent;
    quiet.handled += q->handled;
    quiet.is_quiet = quiet.is_quiet && q->is_quiet != 0;
    if (quiet.step == FIRST)
        quiet.first[p] = *q;
    else
        quiet.is_quiet = quiet.is_quiet && is_same(q, &quiet.first[p]);
}

/* Begin a round of questions whether processes are quiet, and answer for this one. Under the lock.
 */
static void ask_all(step_t step)
{
    mpi_quiet_t question = {.kind = XMPI_QUIET_ASK, .round = ++quiet.round}, own;

    quiet.step = step;
    quiet.answers = mpi_job->processes;
    quiet.is_quiet = true;
    quiet.sent = quiet.handled = 0;
    quiet.asked = xy_now();
    own = state_now(XMPI_QUIET_ANSWER, quiet.round);
    take(0, &own);
    for (int p = 1; p < mpi_job->processes; p++)
        mpi_network_send_quiet(p, &question, "");
}

static void ask_for_lines(step_t step, quiet_kind_t kind)
{
    mpi_quiet_t request = {.kind = kind};

    quiet.step = step;
    quiet.answers = mpi_job->processes - 1;
    quiet.asked = xy_now();
    for (int p = 1; p < mpi_job->processes; p++)
        mpi_network_send_quiet(p, &request, "");
}

/* ---- Ranks that may continue after all ---- */

/* Revive ranks here, on the worker. */
typedef struct {
    remote_errand_t errand; /* must be first */
    int from;
    mpi_revive_t what;
    char cause[CAUSE];
} errand_t;

static void take_revived(bool is_none);

/* Errand of worker 0: try to revive ranks and report the result to the process that asked. */
static void revive(remote_errand_t *base)
{
    errand_t *errand = (errand_t *)(void *)base;
    bool is_revived = mpi_job->reviver->revive(errand->what, errand->cause);
    mpi_quiet_t answer = {.kind = XMPI_QUIET_REVIVED, .is_quiet = !is_revived};

    if (errand->from != mpi_job->process) {
        mpi_network_send_quiet(errand->from, &answer, "");
    } else {
        pthread_mutex_lock(&quiet.lock);
        take_revived(!is_revived);
        pthread_mutex_unlock(&quiet.lock);
    }
    xy_free(errand);
}

/* Post the errand that tries to revive ranks. */
static void post_revive(int from, mpi_revive_t what, const char *cause)
{
    errand_t *errand = xy_malloc(sizeof(*errand));

    if (errand == NULL) {
        xy_fail_memory("checking the program");
        mpi_job->abort(1);
        return;
    }
    errand->errand.run = revive;
    errand->from = from;
    errand->what = what;
    snprintf(errand->cause, sizeof(errand->cause), "%s", cause);
    mpi_network_post(&mpi_job->worker[0], &errand->errand);
}

static void ask_to_revive(step_t step, int process)
{
    mpi_revive_t what = step == RECEIVES ? XMPI_REVIVE_RECEIVES : XMPI_REVIVE_SENDS;
    const char *cause = step == RECEIVES ? "" : quiet.cause;
    mpi_quiet_t request = {.kind = XMPI_QUIET_REVIVE, .round = what};

    quiet.step = step;
    quiet.revived = process;
    if (process == mpi_job->process)
        post_revive(process, what, cause);
    else
        mpi_network_send_quiet(process, &request, cause);
}

/* The process that was asked has let some continue; or there are none. */
static void take_revived(bool is_none)
{
    if (!is_none) {
        quiet.step = IDLE;
        quiet.asked = 0;
        ask_soon();
    } else if (quiet.revived + 1 < mpi_job->processes) {
        ask_to_revive(quiet.step, quiet.revived + 1);
    } else if (quiet.step == RECEIVES) {
        ask_for_lines(GATHERING, XMPI_QUIET_WAITS);
    } else {
        ask_for_lines(REPORTING, XMPI_QUIET_REPORT);
    }
}

/* All answers of a round have come: ask again, try to revive ranks, report a deadlock, or stop.
 * Under the lock. */
static void round_is_over(void)
{
    bool is_dead = quiet.is_quiet && quiet.sent == quiet.handled;

    if (is_dead && quiet.step == FIRST) {
        ask_all(SECOND);
    } else if (is_dead && mpi_job->reviver != NULL) {
        ask_to_revive(RECEIVES, 0);
    } else if (is_dead) {
        ask_for_lines(REPORTING, XMPI_QUIET_REPORT);
    } else {
        quiet.step = IDLE;
        ask_later();
    }
}

/* ---- Reports ---- */

static void give_up(void)
{
    if (mpi_job->reviver != NULL)
        mpi_job->reviver->give_up();
}

/* Where the ranks of this process are, for process 0. */
static void send_lines(int to, bool is_over)
{
    mpi_quiet_t lines = {.kind = XMPI_QUIET_LINES};
    char *text;

    if (is_over) {
        give_up();
        mpi_layers_stuck(); /* the cause may be known here */
    }
    text = mpi_layers_report();
    mpi_network_send_quiet(to, &lines, text != NULL ? text : "");
    free(text);
}

/* Add a part of a report; the first part of a later one replaces what is there. */
static void take_lines(int from, const char *text, bool has_more)
{
    char **report = &mpi_job->reports[from];
    char *before = quiet.first[from].has_more ? *report : NULL;

    if (before == NULL)
        xy_free(*report);
    *report = xy_sprintf("%s%s", before != NULL ? before : "", text);
    xy_free(before);
    quiet.first[from].has_more = has_more;
    if (!has_more && --quiet.answers == 0)
        xy_net_wake(mpi_job->net);
}

/* All have said where their ranks are. */
static void explain(void)
{
    char cause[CAUSE];

    mpi_job->reviver->explain(cause, sizeof(cause));
    pthread_mutex_lock(&quiet.lock);
    strcpy(quiet.cause, cause);
    ask_to_revive(SENDS, 0);
    pthread_mutex_unlock(&quiet.lock);
}

void mpi_quiet_message(int from, const mpi_quiet_t *message, const char *text)
{
    mpi_quiet_t answer;

    if (message->kind == XMPI_QUIET_ASK) {
        answer = state_now(XMPI_QUIET_ANSWER, message->round);
        mpi_network_send_quiet(from, &answer, "");
        return;
    }
    pthread_mutex_lock(&quiet.lock);
    switch (message->kind) {
    case XMPI_QUIET_REPORT:
    case XMPI_QUIET_WAITS:
        quiet.wanted_by = from; /* not here: a report may ask other processes */
        quiet.is_over = message->kind == XMPI_QUIET_REPORT;
        xy_net_wake(mpi_job->net);
        break;
    case XMPI_QUIET_LINES:
        take_lines(from, text, message->has_more != 0);
        break;
    case XMPI_QUIET_REVIVE:
        post_revive(from, (mpi_revive_t)message->round, text);
        break;
    case XMPI_QUIET_REVIVED:
        take_revived(message->is_quiet != 0);
        break;
    case XMPI_QUIET_CALL:
        ask_soon();
        break;
    default:
        if (message->round != quiet.round || (quiet.step != FIRST && quiet.step != SECOND))
            break;
        take(from, message);
        if (quiet.answers == 0)
            round_is_over();
    }
    pthread_mutex_unlock(&quiet.lock);
}

static bool begin(void)
{
    size_t n = (size_t)mpi_job->processes;

    if (quiet.first == NULL)
        quiet.first = xy_calloc(n, sizeof(*quiet.first));
    if (mpi_job->reports == NULL)
        mpi_job->reports = xy_calloc(n, sizeof(*mpi_job->reports));
    return quiet.first != NULL && mpi_job->reports != NULL;
}

static void look_for_lost(double now)
{
    if (quiet.lost < 0 || now < quiet.lost_at + LOST_SECONDS)
        return;
    xy_fail(XY_EIO, "process %d%s%s is no longer reachable: %s", quiet.lost,
            mpi_job->hosts != NULL ? " on " : "",
            mpi_job->hosts != NULL ? mpi_job->hosts[quiet.lost] : "", quiet.why);
    mpi_job->abort(1);
}

/* Process 0 asks, if it is quiet and the time has come. Another one calls it once when it has got
 * quiet, where there is a reviver. */
static void ask_or_call(double now)
{
    mpi_quiet_t call = {.kind = XMPI_QUIET_CALL};
    bool is_due = now >= quiet.asked + atomic_load(&quiet.pause);
    bool is_quiet;
    uint32_t wakes;

    if (mpi_survives) /* a failure may still be noticed */
        return;
    if (quiet.step != IDLE || !is_due || (mpi_job->process > 0 && mpi_job->reviver == NULL))
        return;
    is_quiet = xy_pool_is_quiet(mpi_job->pool, 1, &wakes);
    if (is_quiet && mpi_job->process == 0 && begin()) {
        ask_all(FIRST);
        return;
    }
    quiet.asked = now;
    ask_later();
    if (!is_quiet || mpi_job->process == 0 || (quiet.is_told && wakes == quiet.wakes))
        return;
    quiet.is_told = true;
    quiet.wakes = wakes;
    mpi_network_send_quiet(0, &call, "");
}

void mpi_quiet_look(void)
{
    double now = xy_now();
    bool ends, explains, is_over;
    int wanted_by;

    pthread_mutex_lock(&quiet.lock);
    wanted_by = quiet.wanted_by;
    is_over = quiet.is_over;
    quiet.wanted_by = -1;
    look_for_lost(now);
    ask_or_call(now);
    /* One that does not tell where its ranks are is not waited for for ever. */
    ends = quiet.step == REPORTING && (quiet.answers == 0 || now >= quiet.asked + LOST_SECONDS);
    explains = quiet.step == GATHERING && quiet.answers == 0;
    pthread_mutex_unlock(&quiet.lock);
    if (wanted_by >= 0)
        send_lines(wanted_by, is_over);
    if (explains)
        explain();
    if (ends) {
        give_up();
        mpi_job_stuck();
    }
}

void mpi_quiet_call(void)
{
    ask_soon();
}

double mpi_quiet_pause(double seconds)
{
    bool looks = mpi_job->process == 0 || quiet.lost >= 0 || mpi_job->reviver != NULL;
    double pause = atomic_load(&quiet.pause);

    return looks && seconds > pause ? pause : seconds;
}

void mpi_quiet_lost(int process, const char *why)
{
    pthread_mutex_lock(&quiet.lock);
    if (quiet.lost < 0) {
        quiet.lost = process;
        quiet.lost_at = xy_now(); /* causes are reported before their consequences */
        if (strcmp(why, xy_net_changed) == 0)
            quiet.lost_at -= LOST_SECONDS / 2;
        snprintf(quiet.why, sizeof(quiet.why), "%s", why);
    }
    pthread_mutex_unlock(&quiet.lock);
}
