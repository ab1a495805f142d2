/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/quiet.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/net.h"

/* How often process 0 asks, while it is quiet itself. */
#define ASK_SECONDS 0.25
/* How long a process that is not reached may take to be ended by mpiexec. */
#define LOST_SECONDS 10.0

typedef enum { IDLE, FIRST, SECOND, REPORTING } step_t;

static struct {
    pthread_mutex_t lock;
    step_t step;
    uint32_t round;
    int answers; /* still to come */
    bool is_quiet;
    uint64_t sent, handled; /* sums of the round */
    mpi_quiet_t *first;     /* [processes]: of the first round */
    double asked;           /* when */
    int wanted_by;          /* who wants to know where the ranks here are; -1: none */
    int lost;
    double lost_at;
    char why[160];
} quiet = {.lock = PTHREAD_MUTEX_INITIALIZER, .lost = -1, .wanted_by = -1};

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

static void ask_for_reports(void)
{
    mpi_quiet_t request = {.kind = XMPI_QUIET_REPORT};

    quiet.step = REPORTING;
    quiet.answers = mpi_job->processes - 1;
    quiet.asked = xy_now();
    for (int p = 1; p < mpi_job->processes; p++)
        mpi_network_send_quiet(p, &request, "");
}

static void round_is_over(void)
{
    bool is_dead = quiet.is_quiet && quiet.sent == quiet.handled;

    if (is_dead && quiet.step == FIRST)
        ask_all(SECOND);
    else if (is_dead)
        ask_for_reports();
    else
        quiet.step = IDLE;
}

/* Where the ranks of this process are, for process 0. */
static void send_lines(int to)
{
    mpi_quiet_t lines = {.kind = XMPI_QUIET_LINES};
    char *text;

    mpi_layers_stuck(); /* the cause may be known here */
    text = mpi_layers_report();
    mpi_network_send_quiet(to, &lines, text != NULL ? text : "");
    free(text);
}

static void take_lines(int from, const char *text)
{
    mpi_job->reports[from] = xy_strdup(text);
    quiet.answers--;
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
    if (message->kind == XMPI_QUIET_REPORT) {
        quiet.wanted_by = from; /* not here: a report may ask other processes */
        xy_net_wake(mpi_job->net);
    } else if (message->kind == XMPI_QUIET_LINES) {
        take_lines(from, text);
    } else if (message->round == quiet.round && quiet.step != REPORTING) {
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
    xy_fail(XY_EIO, "process %d%s%s is not reached any more: %s", quiet.lost,
            mpi_job->hosts != NULL ? " on " : "",
            mpi_job->hosts != NULL ? mpi_job->hosts[quiet.lost] : "", quiet.why);
    mpi_job->abort(1);
}

void mpi_quiet_look(void)
{
    double now = xy_now();
    bool ends = false;
    int wanted_by;
    uint32_t wakes;

    pthread_mutex_lock(&quiet.lock);
    wanted_by = quiet.wanted_by;
    quiet.wanted_by = -1;
    look_for_lost(now);
    if (mpi_job->process == 0 && now >= quiet.asked + ASK_SECONDS) {
        if (quiet.step == IDLE && xy_pool_is_quiet(mpi_job->pool, 1, &wakes) && begin())
            ask_all(FIRST);
        else if (quiet.step == IDLE)
            quiet.asked = now;
    }
    /* One that does not tell where its ranks are is not waited for for ever. */
    ends = quiet.step == REPORTING && (quiet.answers == 0 || now >= quiet.asked + LOST_SECONDS);
    pthread_mutex_unlock(&quiet.lock);
    if (wanted_by >= 0)
        send_lines(wanted_by);
    if (ends)
        mpi_job_stuck();
}

double mpi_quiet_pause(double seconds)
{
    return (mpi_job->process == 0 || quiet.lost >= 0) && seconds > ASK_SECONDS ? ASK_SECONDS
                                                                               : seconds;
}

void mpi_quiet_lost(int process, const char *why)
{
    pthread_mutex_lock(&quiet.lock);
    if (quiet.lost < 0) {
        quiet.lost = process;
        quiet.lost_at = xy_now();
        snprintf(quiet.why, sizeof(quiet.why), "%s", why);
    }
    pthread_mutex_unlock(&quiet.lock);
}
