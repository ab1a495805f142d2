/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/rma/rma_survive.h"

#include <pthread.h>

struct rma_question {
    rma_question_t *next;
    rma_answers_t *answers;
    int target;
    bool is_for_all; /* a lock or unlock of all targets loses nothing of this one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both lists */
static mpi_win_t *windows;                               /* of this process */
static mpi_win_t *kept;                                  /* that were freed, with failed members */

/* ---- Windows ---- */

void rma_survive_begin(mpi_win_t *win)
{
    pthread_mutex_lock(&lock);
    win->far.next_here = windows;
    windows = win;
    pthread_mutex_unlock(&lock);
}

void rma_survive_end(mpi_win_t *win, bool is_whole)
{
    mpi_win_t **link = &windows;

    if (mpi_survives) {
        pthread_mutex_lock(&lock);
        while (*link != NULL && *link != win)
            link = &(*link)->far.next_here;
        if (*link != NULL)
            *link = win->far.next_here;
        if (!is_whole) {
            win->far.next_here = kept;
            kept = win;
        }
        pthread_mutex_unlock(&lock);
    }
    if (is_whole)
        mpi_life_bury(win);
}

void rma_survive_cleanup(mpi_job_t *job)
{
    (void)job;
    for (mpi_win_t *win = kept, *next; win != NULL; win = next) {
        next = win->far.next_here;
        xy_free(win);
    }
    kept = NULL;
}

/* ---- What waits for an answer ---- */

static bool is_over(const mpi_win_t *win, int target)
{
    return mpi_survive_is_over(win->owner->worker, win->shared->far[target].world);
}

bool rma_survive_ask(rma_answers_t *answers, int target, rma_far_kind_t kind)
{
    mpi_win_t *win = answers->win;
    bool is_for_all = kind == RMA_FAR_LOCK_ALL || kind == RMA_FAR_UNLOCK_ALL;
    rma_question_t *question;

    if (mpi_survive_is_failed(win->shared->far[target].world))
        win->far.has_lost |= !is_for_all;
    if (is_over(win, target))
        return false;
    question = rma_far_memory(xy_malloc(sizeof(*question)));
    *question = (rma_question_t){win->far.questions, answers, target, is_for_all};
    win->far.questions = question;
    return true;
}

void rma_survive_answered(rma_answers_t *answers, int process)
{
    const rma_far_place_t *far = answers->win->shared->far;
    rma_question_t **link = &answers->win->far.questions, *found;

    while (*link != NULL &&
           ((*link)->answers != answers || far[(*link)->target].process != process))
        link = &(*link)->next;
    found = *link;
    if (found != NULL)
        *link = found->next;
    xy_free(found);
}

/* It may have died since the call has looked. */
void rma_survive_await(rma_pending_t *pending)
{
    mpi_win_t *win = pending->win;

    pending->link = &win->far.pendings;
    pending->next = win->far.pendings;
    if (pending->next != NULL)
        pending->next->link = &pending->next;
    win->far.pendings = pending;
    if (is_over(win, pending->target))
        mpi_survive_look();
}

/* ---- Failures ---- */

/* Answer the questions to members whose processes are dead. */
static void end_questions(mpi_win_t *win)
{
    rma_question_t **link = &win->far.questions, *question;

    while ((question = *link) != NULL) {
        if (!is_over(win, question->target)) {
            link = &question->next;
            continue;
        }
        win->far.has_lost |= !question->is_for_all;
        *link = question->next;
        rma_answers_come(question->answers, 0);
        xy_free(question);
    }
}

static void end_pendings(mpi_win_t *win)
{
    for (rma_pending_t *p = win->far.pendings, *next; p != NULL; p = next) {
        next = p->next;
        if (!p->is_message && is_over(win, p->target))
            rma_pending_fail(p);
    }
}

/* The next window of a rank of `worker`, behind `win`; NULL: there is none. */
static mpi_win_t *next_of(const mpi_worker_t *worker, const mpi_win_t *win)
{
    mpi_win_t *next;

    pthread_mutex_lock(&lock);
    next = win != NULL ? win->far.next_here : windows;
    while (next != NULL && next->owner->worker != worker)
        next = next->far.next_here;
    pthread_mutex_unlock(&lock);
    return next;
}

void rma_survive_look(mpi_worker_t *worker)
{
    for (mpi_win_t *win = next_of(worker, NULL); win != NULL; win = next_of(worker, win)) {
        if (win->shared == NULL || win->shared->far == NULL)
            continue; /* it is being made, or all its members are one */
        end_questions(win);
        end_pendings(win);
        rma_locks_drop(win);
    }
}

int rma_survive_raise(mpi_win_t *win, int target)
{
    int error = target != RMA_EVERYWHERE ? mpi_survive_error(win->comm, target)
                : win->far.has_lost      ? MPIX_ERR_PROC_FAILED
                                         : MPI_SUCCESS;

    if (error == MPI_SUCCESS)
        return error;
    win->far.has_lost = false;
    return mpi_survive_raise(win->comm, error);
}
