/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared parts of persistent collectives.
 *
 * Members make their requests in the same order, which says what matches, and may start them in any
 * order. So each persistent collective has a shared part of its own, in which its starts are
 * numbered: the first member to make a request creates it, the others find it by its number among
 * the persistent collectives of the communicator.
 */
#include <pthread.h>

#include "mpi/coll/coll.h"

typedef struct coll_persistent {
    uint64_t id;
    int joined;
    mpi_coll_t *coll; /* with one reference for each member */
    struct coll_persistent *next;
} coll_persistent_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A link to the part of this number, made where there is none; NULL: memory ran out. */
static coll_persistent_t **find(mpi_coll_t *parent, uint64_t id)
{
    coll_persistent_t **link = &parent->persistent, *made;

    while (*link != NULL && (*link)->id != id)
        link = &(*link)->next;
    if (*link != NULL)
        return link;
    made = xy_calloc(1, sizeof(*made));
    if (made == NULL || mpi_coll_create(parent->group, parent->context, &made->coll) != XY_OK) {
        xy_free(made);
        return NULL;
    }
    made->id = id;
    made->coll->lows = parent->lows;
    /* Ranks start them in any order: a trace must tell them apart. */
    made->coll->recorded =
        atomic_fetch_add_explicit(&mpi_job->next_context, 1, memory_order_relaxed);
    for (int i = 0; i < parent->here; i++)
        mpi_coll_hold(made->coll);
    *link = made;
    return link;
}

mpi_coll_t *coll_persistent_join(mpi_coll_t *parent, uint64_t id)
{
    coll_persistent_t **link, *part;
    mpi_coll_t *coll = NULL;

    pthread_mutex_lock(&lock);
    link = find(parent, id);
    if (link != NULL) {
        part = *link;
        coll = part->coll;
        if (++part->joined == parent->here) {
            *link = part->next;
            xy_free(part);
        }
    }
    pthread_mutex_unlock(&lock);
    return coll;
}

void coll_persistent_cleanup(mpi_coll_t *parent)
{
    for (coll_persistent_t *part = parent->persistent, *next; part != NULL; part = next) {
        next = part->next;
        for (; part->joined < parent->here; part->joined++)
            mpi_coll_release(part->coll);
        xy_free(part);
    }
}
