/* SPDX-License-Identifier: BSD-3-Clause */
/* Families of progress threads: where each thread lives, and what they did. */
#include <string.h>

#include "mpi/nbc/progress_thread.h"

static struct {
    pthread_mutex_t lock;
    nbc_family_t *first; /* the one made last */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Making them ---- */

/* Where the launcher has put it; or dealt to the communication cores, or with its rank. */
static mpi_worker_t *home_of(const nbc_way_t *way, int r)
{
    mpi_job_t *job = mpi_job;
    const int *table = job->thread_worker_of != NULL
                           ? job->thread_worker_of[mpi_settings_place_index(way->place)]
                           : NULL;
    int comm = job->comm_workers, first = job->workers - comm;
    bool is_blocks = strcmp(way->place->name, "numa") == 0;

    if (table != NULL)
        return &job->worker[table[r]];
    if (comm == 0 || strcmp(way->place->name, "bind") == 0)
        return job->ranks[r].worker;
    return &job->worker[first + (is_blocks ? (int)((long)r * comm / job->size) : r % comm)];
}

static xy_status_t core_init(nbc_core_t *core, const xy_order_t *order, int count)
{
    core->states = xy_calloc((size_t)count + 1, sizeof(*core->states));
    core->threads = xy_calloc((size_t)count, sizeof(*core->threads));
    if (core->states == NULL || core->threads == NULL)
        return XY_ENOMEM;
    xy_order_queue_init(&core->queue, order, core->states);
    return XY_OK;
}

static void settle(nbc_core_t *core, nbc_thread_t *t, int priority)
{
    t->core = core;
    t->index = core->count++;
    core->threads[t->index] = t;
    core->states[t->index].base = (int8_t)priority;
    xy_order_update(&core->queue, t->index);
}

static void add_supervisor(nbc_core_t *core)
{
    core->states[core->count].is_supervisor = true;
    xy_order_update(&core->queue, core->count);
}

/* Create the threads of a family for the ranks of this process, and the cores that they live on;
 * freed by the caller, also after a failure. */
static xy_status_t fill(nbc_family_t *family, int *counts)
{
    const nbc_way_t *way = &family->way;
    int size = mpi_job->size, workers = mpi_job->workers;
    xy_status_t st = XY_OK;

    for (int r = 0; r < size; r++) {
        if (!mpi_rank_is_here(mpi_job, r))
            continue;
        family->threads[r].worker = home_of(way, r);
        counts[family->threads[r].worker->index]++;
    }
    for (int w = 0; w < workers && st == XY_OK; w++)
        if (counts[w] > 0)
            st = core_init(&family->cores[w], way->order, counts[w]);
    for (int r = 0; r < size && st == XY_OK; r++)
        if (family->threads[r].worker != NULL)
            settle(&family->cores[family->threads[r].worker->index], &family->threads[r],
                   way->priority);
    for (int w = 0; w < workers && st == XY_OK && way->order->has_supervisor; w++)
        if (counts[w] > 0)
            add_supervisor(&family->cores[w]);
    return st;
}

static void destroy(nbc_family_t *family, int workers)
{
    for (int w = 0; family->cores != NULL && w < workers; w++) {
        xy_free(family->cores[w].states);
        xy_free(family->cores[w].threads);
    }
    xy_free(family->cores);
    xy_free(family->threads);
    xy_free(family);
}

/* Create a family of progress threads; NULL, with an error message, without memory. */
static nbc_family_t *create(const nbc_way_t *way)
{
    nbc_family_t *family = xy_calloc(1, sizeof(*family));
    int *counts = xy_calloc((size_t)mpi_job->workers, sizeof(*counts));
    xy_status_t st = XY_ENOMEM;

    if (family != NULL) {
        family->way = *way;
        family->threads = xy_calloc((size_t)mpi_job->size, sizeof(*family->threads));
        family->cores = xy_calloc((size_t)mpi_job->workers, sizeof(*family->cores));
    }
    if (family != NULL && family->threads != NULL && family->cores != NULL && counts != NULL)
        st = fill(family, counts);
    xy_free(counts);
    if (st == XY_OK)
        return family;
    if (family != NULL)
        destroy(family, mpi_job->workers);
    xy_fail_memory("making progress threads");
    return NULL;
}

static bool is_same(const nbc_way_t *a, const nbc_way_t *b)
{
    return a->place == b->place && a->order == b->order && a->priority == b->priority;
}

nbc_family_t *nbc_family_find(const nbc_way_t *way)
{
    nbc_family_t *family;

    pthread_mutex_lock(&all.lock);
    family = all.first;
    while (family != NULL && !is_same(&family->way, way))
        family = family->next;
    if (family == NULL) {
        family = create(way);
        if (family != NULL) {
            family->next = all.first;
            all.first = family;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return family;
}

void nbc_families_cleanup(mpi_job_t *job)
{
    while (all.first != NULL) {
        nbc_family_t *family = all.first;

        all.first = family->next;
        destroy(family, job->workers);
    }
}

/* ---- What they did ---- */

/* "scan 12, exscan 3" */
static void add_calls(const nbc_family_t *family, xy_text_t *text)
{
    const char *comma = "";

    for (int c = 0; c < XY_COLL_COUNT; c++) {
        uint64_t calls = atomic_load_explicit(&family->calls[c], memory_order_relaxed);

        if (calls == 0)
            continue;
        xy_text_addf(text, "%s%s %llu", comma, xy_coll_name((xy_collective_t)c),
                     (unsigned long long)calls);
        comma = ", ";
    }
}

void nbc_threads_tell(const mpi_job_t *job, xy_text_t *text)
{
    for (const nbc_family_t *family = all.first; family != NULL; family = family->next) {
        unsigned long long turns = 0, vain = 0;

        for (int w = 0; w < job->workers; w++) {
            turns += family->cores[w].turns;
            vain += family->cores[w].vain;
        }
        xy_text_addf(text, "progress threads (%s, %s) did ", family->way.place->name,
                     family->way.order->name);
        add_calls(family, text);
        xy_text_addf(text, "; they had %llu turns, %llu of them without work\n", turns, vain);
    }
}
