/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks in several processes that wait for each other while others continue.
 *
 * Process 0 asks all for look k; the workers of each look at their ranks (watch.c), and each
 * process tells process 0 what it has seen (picture.h). T is the moment when process 0 begins look
 * k. A rank counts if its worker saw it parked at an earlier look, of which its process had told
 * process 0 before T, and if it has not run since: so it was parked at T. That is as in one
 * process; what is different is that messages between processes may be on their way at T. Those are
 * in order. So when there seems to be a knot, process 0 looks once more, at once, and in that look
 * each process first sends all others a mark, and lets its workers look when it has got the marks
 * of all others: what a rank that was parked at T had sent before has come before the mark, and
 * lies in the mailbox, which a worker empties before it looks. What is found then is true. Without
 * a knot there are no marks.
 *
 * Process 0 alone decides and reports, so there is one report. For it the others say where their
 * ranks are, and what those of the knot wait for: these will not move any more.
 *
 * A process that does not answer in time is left out of this look, and of the next one.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/check/deadlock.h"
#include "mpi/check/watch.h"
#include "net/net.h"

/* How long process 0 waits for the others, which wait half as long for the marks. */
#define ANSWER_SECONDS 4.0
#define REPORT_SECONDS 10.0

typedef enum {
    NEWS_LOOK,   /* from process 0 */
    NEWS_MARK,   /* from all to all */
    NEWS_SEEN,   /* to process 0: a part of the text */
    NEWS_REPORT, /* from process 0: a part of the list of those that are stuck */
    NEWS_LINES,  /* to process 0: a part of the text */
    NEWS_RELEASE /* from process 0: let a send go, and the cause */
} news_kind_t;

enum { MARKS = 1, IS_TIMED = 2, IS_LAST = 4 };

typedef struct {
    uint32_t kind, flags, look;
} news_t;

/* The answers of a process. */
typedef struct {
    uint32_t marked; /* the last look of which it has sent a mark */
    uint32_t seen;   /* ... of which it has told all that it has seen: */
    uint32_t part;   /* ... or some, */
    xy_text_t text;  /* this */
    bool has_lines;
    xy_text_t lines;
} from_t;

static struct {
    pthread_mutex_t lock; /* of what is above the line */
    pthread_cond_t changed;
    from_t *from; /* [processes]; of process 0, in the others, `lines` are a list */
    uint32_t asked, flags;
    bool is_busy; /* the thread uses the network */
    /* ---- The thread's alone: */
    uint32_t look;
    bool *was_in_time; /* [processes]: at the last look */
    picture_t *picture;
    bool is_timed;
    char **reports; /* [processes]: what has come in time of each, or NULL */
} far = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool check_watch_far_begin(mpi_job_t *job)
{
    size_t n = (size_t)job->processes;
    pthread_condattr_t attributes;
    bool is_made;

    if (job->processes == 1)
        return true;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    is_made = pthread_cond_init(&far.changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    far.was_in_time = xy_calloc(n, sizeof(*far.was_in_time));
    far.reports = xy_calloc(n, sizeof(*far.reports));
    pthread_mutex_lock(&far.lock); /* news may come already */
    far.from = xy_calloc(n, sizeof(*far.from));
    pthread_mutex_unlock(&far.lock);
    return is_made && far.from != NULL && far.was_in_time != NULL && far.reports != NULL;
}

void mpi_watch_stop(void)
{
    check_watch.is_over = true;
    if (far.from == NULL)
        return;
    pthread_mutex_lock(&far.lock);
    pthread_cond_broadcast(&far.changed);
    while (far.is_busy)
        pthread_cond_wait(&far.changed, &far.lock);
    pthread_mutex_unlock(&far.lock);
}

/* The thread may still wait for its next look, and finds that it has ended. */
void check_watch_far_end(void)
{
    from_t *from = far.from;
    int processes = mpi_job->processes;

    if (from == NULL)
        return;
    mpi_watch_stop();
    pthread_mutex_lock(&far.lock);
    far.from = NULL;
    pthread_mutex_unlock(&far.lock);
    for (int p = 0; p < processes; p++) {
        xy_text_cleanup(&from[p].text);
        xy_text_cleanup(&from[p].lines);
        xy_free(far.reports[p]);
    }
    xy_free(from);
    xy_free(far.was_in_time);
    xy_free(far.reports);
    picture_destroy(far.picture);
    far.picture = NULL;
}

/* ---- What goes and comes ---- */

/* Send a text to a process in pieces that fit into short messages. */
static void send_news(int process, news_kind_t kind, uint32_t flags, const char *text)
{
    size_t room = xy_net_short_limit(mpi_job->net) - sizeof(remote_head_t) - sizeof(news_t);
    size_t left = strlen(text), most = XMPI_NEWS_MOST - sizeof(news_t);
    char bytes[XMPI_NEWS_MOST];

    most = room < most ? room : most;
    do {
        size_t size = left < most ? left : most;
        news_t news = {.kind = kind, .look = far.look};

        left -= size;
        news.flags = flags | (left == 0 ? IS_LAST : 0);
        memcpy(bytes, &news, sizeof(news));
        memcpy(bytes + sizeof(news), text, size);
        mpi_network_send_news(process, bytes, sizeof(news) + size);
        text += size;
    } while (left > 0);
}

static void send_to_others(news_kind_t kind, uint32_t flags)
{
    for (int p = 0; p < mpi_job->processes; p++)
        if (p != mpi_job->process)
            send_news(p, kind, flags, "");
}

/* Texts of an earlier look may still come. */
static void take_seen(from_t *from, const news_t *news, const char *text, size_t size)
{
    if (news->look != from->part)
        xy_text_cleanup(&from->text);
    from->part = news->look;
    xy_text_add_bytes(&from->text, text, size);
    if (news->flags & IS_LAST && !from->text.failed)
        from->seen = news->look;
}

static void take_lines(from_t *from, const news_t *news, const char *text, size_t size)
{
    xy_text_add_bytes(&from->lines, text, size);
    from->has_lines = (news->flags & IS_LAST) != 0;
}

/* A worker does it at the next look. */
static void release(const char *cause, size_t size)
{
    snprintf(check_watch.cause, sizeof(check_watch.cause), "%.*s", (int)size, cause);
    atomic_store_explicit(&check_watch.releases, true, memory_order_release);
}

void check_watch_news(int process, const char *bytes, size_t size)
{
    news_t news;
    from_t *from;

    if (size < sizeof(news))
        return;
    memcpy(&news, bytes, sizeof(news));
    bytes += sizeof(news);
    size -= sizeof(news);
    pthread_mutex_lock(&far.lock);
    from = far.from != NULL ? &far.from[process] : NULL;
    if (from != NULL && news.kind == NEWS_LOOK) {
        far.asked = news.look;
        far.flags = news.flags;
        from->marked = news.look;
    } else if (from != NULL && news.kind == NEWS_MARK) {
        from->marked = news.look;
    } else if (from != NULL && news.kind == NEWS_RELEASE) {
        release(bytes, size);
    } else if (from != NULL && news.kind == NEWS_SEEN) {
        take_seen(from, &news, bytes, size);
    } else if (from != NULL) {
        take_lines(from, &news, bytes, size);
    }
    if (from != NULL)
        pthread_cond_broadcast(&far.changed);
    pthread_mutex_unlock(&far.lock);
}

/* ---- Waiting ---- */

static bool all_have(bool (*has)(const from_t *from))
{
    for (int p = 0; p < mpi_job->processes; p++)
        if (p != mpi_job->process && !has(&far.from[p]))
            return false;
    return true;
}

static bool has_marked(const from_t *from)
{
    return from->marked == far.look;
}

static bool has_seen(const from_t *from)
{
    return from->seen == far.look;
}

static bool has_lines(const from_t *from)
{
    return from->has_lines;
}

/* Wait until `has` holds for all other processes; false after `seconds` or at the end of the job.
 */
static bool await_all(bool (*has)(const from_t *from), double seconds)
{
    double end = xy_now() + seconds;
    struct timespec until = {.tv_sec = (time_t)end,
                             .tv_nsec = (long)((end - (double)(time_t)end) * 1e9)};
    int code = 0;
    bool all;

    pthread_mutex_lock(&far.lock);
    while (!(all = all_have(has)) && code != ETIMEDOUT && !check_watch.is_over)
        code = pthread_cond_timedwait(&far.changed, &far.lock, &until);
    pthread_mutex_unlock(&far.lock);
    return all;
}

/* False: the job has ended. Else mpi_watch_stop waits for leave(). */
static bool enter(void)
{
    pthread_mutex_lock(&far.lock);
    far.is_busy = far.from != NULL && !check_watch.is_over;
    pthread_mutex_unlock(&far.lock);
    return far.is_busy;
}

static void leave(void)
{
    pthread_mutex_lock(&far.lock);
    far.is_busy = false;
    pthread_cond_broadcast(&far.changed);
    pthread_mutex_unlock(&far.lock);
}

/* ---- In all but process 0 ---- */

/* Look at the ranks of this process and send the result to process 0; with marks, after those of
 * all have come. */
static void look_for_0(uint32_t flags)
{
    xy_text_t text = XY_TEXT_INIT;

    if (flags & MARKS)
        send_to_others(NEWS_MARK, 0);
    atomic_store_explicit(&mpi_polling_is_timed, (flags & IS_TIMED) != 0, memory_order_relaxed);
    if (!(flags & MARKS) || await_all(has_marked, 0.5 * ANSWER_SECONDS))
        check_watch_look_here(flags & MARKS, &text);
    else
        check_watch_skip();
    if (!check_watch.is_over && !text.failed)
        send_news(0, NEWS_SEEN, 0, text.s != NULL ? text.s : "");
    xy_text_cleanup(&text);
}

/* "RANK WAIT PARTNER " for each that is stuck. */
static void read_stuck(const char *list, int *wait, int *next)
{
    char *at = (char *)(uintptr_t)list;

    memset(check_watch.stuck, 0, (size_t)mpi_job->size * sizeof(*check_watch.stuck));
    while (*at != '\0') {
        long rank = strtol(at, &at, 10), which = strtol(at, &at, 10);
        long partner = strtol(at, &at, 10);

        if (rank < 0 || rank >= mpi_job->size || *at++ != ' ')
            return;
        check_watch.stuck[rank] = true;
        wait[rank] = (int)which;
        next[rank] = (int)partner;
    }
}

/* Where the ranks of this process are, and what those that are stuck wait for. */
static void report_to_0(const char *list)
{
    size_t n = (size_t)mpi_job->numbers;
    int *wait = xy_calloc(n, sizeof(*wait)), *next = xy_calloc(n, sizeof(*next));
    char *text = NULL, *told = NULL;
    size_t size;
    FILE *out = wait != NULL && next != NULL ? open_memstream(&text, &size) : NULL;

    if (out != NULL) {
        read_stuck(list, wait, next);
        check_report_write(out);
        told = check_watch_tell(wait, next);
        fprintf(out, "%c%s", CHECK_TOLD_MARK, told != NULL ? told : "");
        fclose(out);
    }
    send_news(0, NEWS_LINES, 0, text != NULL ? text : "");
    free(text);
    free(told);
    xy_free(wait);
    xy_free(next);
}

/* Wait for the next order of process 0: a look, or a report (whose list is returned). False: the
 * job has ended. */
static bool await_order(uint32_t *flags_p, char **list_p)
{
    pthread_mutex_lock(&far.lock);
    far.is_busy = false;
    pthread_cond_broadcast(&far.changed);
    while (far.from != NULL && !check_watch.is_over && far.asked == far.look &&
           !far.from[0].has_lines)
        pthread_cond_wait(&far.changed, &far.lock);
    far.is_busy = far.from != NULL && !check_watch.is_over;
    *list_p = NULL;
    if (far.is_busy && far.from[0].has_lines) {
        *list_p = far.from[0].lines.s;
        far.from[0].has_lines = false;
        far.from[0].lines = XY_TEXT_INIT;
    } else if (far.is_busy) {
        far.look = far.asked;
        *flags_p = far.flags;
    }
    pthread_mutex_unlock(&far.lock);
    return far.is_busy;
}

void mpi_watch_serve(void)
{
    uint32_t flags = 0;
    char *list;

    while (await_order(&flags, &list)) {
        if (list != NULL)
            report_to_0(list);
        else
            look_for_0(flags);
        xy_free(list);
    }
}

/* ---- In process 0 ---- */

/* A text that comes later is of another look. Which of them are in this one? */
static void read_all(const char *own)
{
    picture_destroy(far.picture);
    far.picture = picture_new(mpi_job->numbers);
    if (far.picture == NULL)
        return;
    picture_read(far.picture, 0, own);
    pthread_mutex_lock(&far.lock);
    for (int p = 1; p < mpi_job->processes; p++) {
        from_t *from = &far.from[p];
        bool is_in_time = has_seen(from);

        if (is_in_time && far.was_in_time[p] && from->text.s != NULL)
            picture_read(far.picture, p, from->text.s);
        far.was_in_time[p] = is_in_time;
    }
    pthread_mutex_unlock(&far.lock);
}

/* In process 0: one look at the ranks of all processes; returns which kind of knot it found. */
static mpi_watch_t look(bool with_marks)
{
    xy_text_t own = XY_TEXT_INIT;
    mpi_watch_t found = XMPI_WATCH_NONE;
    bool has_all = true;

    far.look++;
    send_to_others(NEWS_LOOK, (with_marks ? MARKS : 0) | (far.is_timed ? IS_TIMED : 0));
    if (with_marks)
        has_all = await_all(has_marked, 0.5 * ANSWER_SECONDS);
    if (has_all)
        check_watch_look_here(with_marks, &own);
    else
        check_watch_skip();
    await_all(has_seen, ANSWER_SECONDS);
    read_all(own.s != NULL && !own.failed ? own.s : "");
    xy_text_cleanup(&own);
    if (far.picture == NULL || check_watch.is_over)
        return XMPI_WATCH_NONE;
    if (picture_find(far.picture, PICTURE_PARKED, check_watch.stuck) > 0)
        found = XMPI_WATCH_PARKED;
    else if (check_watch.polling > 0 &&
             picture_find(far.picture, PICTURE_LONG, check_watch.stuck) > 0)
        found = XMPI_WATCH_POLLING;
    return found;
}

/* Times are taken only while there may be something to find. */
static void time_polling(void)
{
    if (check_watch.polling <= 0 || far.picture == NULL)
        return;
    far.is_timed = picture_find(far.picture, PICTURE_POLLING, check_watch.stuck) > 0;
    atomic_store_explicit(&mpi_polling_is_timed, far.is_timed, memory_order_relaxed);
}

void check_watch_explain_far(char *cause, size_t room)
{
    size_t n = (size_t)mpi_job->numbers;
    int *wait = xy_calloc(n, sizeof(*wait)), *next = xy_calloc(n, sizeof(*next));
    check_graph_t graph = {0};
    char *own = NULL;

    if (wait != NULL && next != NULL && check_graph_init(&graph, mpi_job)) {
        for (int r = 0; r < mpi_job->size; r++)
            if (check_watch.stuck[r])
                wait[r] = picture_wait(far.picture, check_watch.stuck, r, &next[r]);
        own = check_watch_tell(wait, next);
        if (own != NULL && check_told_read(&graph, own, far.reports))
            check_graph_explain(&graph, cause, room);
        check_told_cleanup(&graph);
    }
    check_graph_cleanup(&graph);
    free(own);
    xy_free(wait);
    xy_free(next);
}

/* With --check: a send of the knot that waits only because of that is let go instead, at the next
 * look. */
static bool lets_go(void)
{
    char cause[CHECK_SENTENCE] = "";
    int r = 0, process;

    while (r < mpi_job->size && !(check_watch.stuck[r] && picture_rank(far.picture, r)->is_forced))
        r++;
    if (r == mpi_job->size)
        return false;
    check_watch_explain_far(cause, sizeof(cause));
    process = picture_process(far.picture, r);
    if (process == 0)
        release(cause, strlen(cause));
    else
        send_news(process, NEWS_RELEASE, 0, cause);
    return true;
}

/* List the waits of the stuck ranks of a process. */
static char *list_of(int process)
{
    xy_text_t text = XY_TEXT_INIT;

    for (int r = 0; r < mpi_job->size; r++)
        if (check_watch.stuck[r] && picture_process(far.picture, r) == process) {
            int partner, wait = picture_wait(far.picture, check_watch.stuck, r, &partner);

            xy_text_addf(&text, "%d %d %d ", r, wait, partner);
        }
    return text.s;
}

/* Ask all other processes for their reports and wait up to REPORT_SECONDS for them. */
static void gather_reports(void)
{
    pthread_mutex_lock(&far.lock);
    for (int p = 1; p < mpi_job->processes; p++) { /* of a report that was of no interest */
        xy_text_cleanup(&far.from[p].lines);
        far.from[p].has_lines = false;
    }
    pthread_mutex_unlock(&far.lock);
    for (int p = 1; p < mpi_job->processes; p++) {
        char *list = list_of(p);

        send_news(p, NEWS_REPORT, 0, list != NULL ? list : "");
        xy_free(list);
    }
    await_all(has_lines, REPORT_SECONDS);
    pthread_mutex_lock(&far.lock);
    for (int p = 1; p < mpi_job->processes; p++) { /* parts that come later are not added to it */
        xy_free(far.reports[p]);
        far.reports[p] = far.from[p].lines.s;
        far.from[p].lines = XY_TEXT_INIT;
    }
    pthread_mutex_unlock(&far.lock);
}

mpi_watch_t check_watch_look_far(void)
{
    mpi_watch_t found;

    if (!enter())
        return XMPI_WATCH_NONE;
    found = look(false);
    if (found != XMPI_WATCH_NONE)
        found = look(true);
    if (found == XMPI_WATCH_NONE)
        time_polling();
    else
        gather_reports();
    if (found != XMPI_WATCH_NONE && lets_go())
        found = XMPI_WATCH_NONE;
    leave();
    return found;
}

bool check_watch_far_polls(int rank)
{
    return picture_rank(far.picture, rank)->is_polling;
}

char *const *check_watch_far_reports(void)
{
    return far.reports;
}
