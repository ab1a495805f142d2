/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/finding.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "mpi/runtime/caller.h"
#include "mpi/runtime/rank.h"

enum { LINES_MOST = 8 }; /* of one class */

const mpi_finding_store_t *mpi_finding_store;
bool mpi_findings_wait;

/* Without a store: what was printed. */
static struct {
    mpi_finding_t printed[LINES_MOST];
    int count;
} lines[XMPI_FINDING_KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_printed(const mpi_finding_t *f)
{
    for (int i = 0; i < lines[f->kind].count; i++) {
        const mpi_finding_t *p = &lines[f->kind].printed[i];

        if (p->rank == f->rank && p->sites[0] == f->sites[0] && p->sites[1] == f->sites[1])
            return true;
    }
    return lines[f->kind].count == LINES_MOST;
}

/* ---- Those that wait ---- */

typedef struct {
    mpi_finding_kind_t kind;
    char *message;
    char place[160]; /* "at ring.c:12"; "": not known */
    xy_bitset_t ranks;
} waiting_t;

static xy_vec_t waiting = XY_VEC_INIT(waiting_t);
static xy_vec_t seen = XY_VEC_INIT(mpi_finding_t); /* by address: what needs no words again */

static bool waits(const mpi_finding_t *f)
{
    return mpi_findings_wait && f->kind <= XMPI_FINDING_NEVER_FREED;
}

static bool is_seen(const mpi_finding_t *f)
{
    for (size_t i = 0; i < seen.count; i++) {
        const mpi_finding_t *s = &XY_VEC_AT(&seen, mpi_finding_t, i);

        if (s->kind == f->kind && s->rank == f->rank && s->sites[0] == f->sites[0] &&
            s->sites[1] == f->sites[1])
            return true;
    }
    return false;
}

/* The earlier finding at the same place, or with the same words where no place is known; NULL:
 * there is none. */
static waiting_t *find_waiting(const waiting_t *like)
{
    for (size_t i = 0; i < waiting.count; i++) {
        waiting_t *w = &XY_VEC_AT(&waiting, waiting_t, i);

        if (w->kind == like->kind && strcmp(w->place, like->place) == 0 &&
            (w->place[0] != '\0' || strcmp(w->message, like->message) == 0))
            return w;
    }
    return NULL;
}

/* With the lock held. What there is no memory for is not reported. */
static void keep(const mpi_finding_t *f, waiting_t *made)
{
    waiting_t *there;

    (void)xy_vec_append(&seen, f);
    there = made->message != NULL ? find_waiting(made) : NULL;
    if (there == NULL && made->message != NULL &&
        xy_bitset_init(&made->ranks, (size_t)mpi_job->numbers) == XY_OK &&
        xy_vec_append(&waiting, made) == XY_OK) {
        there = &XY_VEC_AT(&waiting, waiting_t, waiting.count - 1);
        made->message = NULL;
    }
    if (there != NULL && f->rank >= 0)
        xy_bitset_set(&there->ranks, (size_t)f->rank);
    xy_free(made->message);
}

void mpi_findings_flush(void)
{
    int printed[XMPI_FINDING_KINDS] = {0};

    if (pthread_mutex_trylock(&lock) != 0) /* held for ever where a rank has crashed with it */
        return;
    for (size_t i = 0; i < waiting.count; i++) {
        waiting_t *w = &XY_VEC_AT(&waiting, waiting_t, i);
        char *ranks = xy_bitset_format(&w->ranks);

        if (++printed[w->kind] <= LINES_MOST)
            xy_warn("rank%s %s: %s%s", xy_bitset_count(&w->ranks) == 1 ? "" : "s",
                    ranks != NULL ? ranks : "?", w->message,
                    printed[w->kind] == LINES_MOST ? "; more of this kind are not shown" : "");
        xy_free(ranks);
        xy_free(w->message);
        xy_bitset_cleanup(&w->ranks);
    }
    xy_vec_cleanup(&waiting);
    waiting = XY_VEC_INIT(waiting_t);
    pthread_mutex_unlock(&lock);
}

bool mpi_finding_is_known(const mpi_finding_t *finding)
{
    bool is_known;

    if (mpi_finding_store != NULL)
        return mpi_finding_store->is_known(finding);
    pthread_mutex_lock(&lock);
    is_known = waits(finding) ? is_seen(finding) : is_printed(finding);
    pthread_mutex_unlock(&lock);
    return is_known;
}

/* Print a warning unless the same was printed, or keep it if it must wait; the last of a kind says
 * so. */
static void print(const mpi_finding_t *f, const char *message)
{
    bool is_new, is_last;
    waiting_t made = {.kind = f->kind};

    if (waits(f)) {
        made.message = xy_strdup(message);
        mpi_caller_describe(f->sites[0], made.place, sizeof(made.place));
        pthread_mutex_lock(&lock);
        keep(f, &made);
        pthread_mutex_unlock(&lock);
        return;
    }
    pthread_mutex_lock(&lock);
    is_new = !is_printed(f);
    if (is_new)
        lines[f->kind].printed[lines[f->kind].count++] = *f;
    is_last = lines[f->kind].count == LINES_MOST;
    pthread_mutex_unlock(&lock);
    if (is_new)
        xy_warn("rank %d: %s%s", f->rank, message,
                is_last ? "; more of this kind are not shown" : "");
}

void mpi_finding_add(const mpi_finding_t *finding, const char *format, ...)
{
    char message[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (mpi_finding_store != NULL)
        mpi_finding_store->add(finding, message);
    else
        print(finding, message);
}

void mpi_finding_end(const mpi_finding_t *finding, const char *format, ...)
{
    char message[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    xy_fail(XY_EINVAL, "%s", message);
    if (mpi_finding_store != NULL)
        mpi_finding_store->end(finding, message);
}
