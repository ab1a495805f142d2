/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that share a loop: the first values of large domains, and the plain loop that results are
 * compared with. Each takes the next few turns until none are left; the caller is one of them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "stencil/internal.h"

/* PARTS: of the turns that each has; a turn of one may take longer than that of another. */
enum { MEMBERS_MAX = 15, PARTS = 8 };

struct stencil_crew {
    pthread_t threads[MEMBERS_MAX];
    int members;
    pthread_mutex_t lock;
    pthread_cond_t called, done;
    /* Under the lock. */
    uint64_t call; /* number of the loop */
    int busy;      /* members that are in it */
    bool is_over;
    double most;
    /* The loop; written before it is called. */
    stencil_crew_fn *turn;
    void *arg;
    int64_t count, step;
    atomic_int_fast64_t next;
};

static double take_turns(stencil_crew_t *crew)
{
    double most = 0;
    int64_t from;

    while ((from = atomic_fetch_add(&crew->next, crew->step)) < crew->count) {
        int64_t to = crew->count - from < crew->step ? crew->count : from + crew->step;
        double got = crew->turn(crew->arg, from, to);

        most = got > most ? got : most;
    }
    return most;
}

/* Takes its share of every call until the crew ends; the body of a thread. */
static void *member(void *arg)
{
    stencil_crew_t *crew = arg;
    uint64_t seen = 0;

    pthread_mutex_lock(&crew->lock);
    while (true) {
        double most;

        while (crew->call == seen && !crew->is_over)
            pthread_cond_wait(&crew->called, &crew->lock);
        if (crew->is_over)
            break;
        seen = crew->call;
        pthread_mutex_unlock(&crew->lock);
        most = take_turns(crew);
        pthread_mutex_lock(&crew->lock);
        crew->most = most > crew->most ? most : crew->most;
        if (--crew->busy == 0)
            pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Cores that this thread may use. */
static int cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

stencil_crew_t *stencil_crew_create(void)
{
    stencil_crew_t *crew = xy_calloc(1, sizeof(*crew));
    int wanted = cores() - 1;

    if (crew == NULL)
        return NULL;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->called, NULL);
    pthread_cond_init(&crew->done, NULL);
    while (crew->members < wanted && crew->members < MEMBERS_MAX &&
           pthread_create(&crew->threads[crew->members], NULL, member, crew) == 0)
        crew->members++;
    return crew;
}

void stencil_crew_destroy(stencil_crew_t *crew)
{
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < crew->members; i++)
        pthread_join(crew->threads[i], NULL);
    pthread_cond_destroy(&crew->done);
    pthread_cond_destroy(&crew->called);
    pthread_mutex_destroy(&crew->lock);
    xy_free(crew);
}

double stencil_crew_run(stencil_crew_t *crew, stencil_crew_fn *turn, void *arg, int64_t count)
{
    double most;

    if (crew == NULL || crew->members == 0)
        return turn(arg, 0, count);
    crew->turn = turn;
    crew->arg = arg;
    crew->count = count;
    crew->step = count / (PARTS * (crew->members + 1)) + 1;
    atomic_store(&crew->next, 0);
    pthread_mutex_lock(&crew->lock);
    crew->call++;
    crew->busy = crew->members;
    crew->most = 0;
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
    most = take_turns(crew);
    pthread_mutex_lock(&crew->lock);
    while (crew->busy > 0)
        pthread_cond_wait(&crew->done, &crew->lock);
    most = crew->most > most ? crew->most : most;
    pthread_mutex_unlock(&crew->lock);
    return most;
}
