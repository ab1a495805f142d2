/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared parts of communicators whose members are in several processes. What makes such a
 * communicator gives each member its context and group, which are the same for all; the members of
 * one process find each other here by the context.
 */
#include <pthread.h>

#include "mpi/coll/coll.h"
#include "mpi/object/object.h"

/* A part that some members of this process have not asked for yet. */
typedef struct meeting {
    int met;
    mpi_coll_t *coll; /* with one reference for each member here */
    struct meeting *next;
} meeting_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static meeting_t *meetings;

static meeting_t **find(uint32_t context)
{
    meeting_t **link = &meetings;

    while (*link != NULL && (*link)->coll->context != context)
        link = &(*link)->next;
    return link;
}

/* Create the shared part of a communicator for all members of this process; NULL without memory. */
static meeting_t *begin(mpi_group_t *group, uint32_t context, int lows)
{
    meeting_t *m = xy_calloc(1, sizeof(*m));

    if (m == NULL || mpi_coll_create(group, context, &m->coll) != XY_OK) {
        xy_free(m);
        return NULL;
    }
    m->coll->lows = lows;
    for (int i = 0; i < m->coll->here; i++)
        mpi_coll_hold(m->coll);
    /* Each further member has a reference of the group as well. */
    mpi_group_hold(group, m->coll->here - 1);
    return m;
}

mpi_coll_t *mpi_coll_meet(mpi_group_t *group, uint32_t context, int lows)
{
    meeting_t **link, *m;
    mpi_coll_t *coll = NULL;

    pthread_mutex_lock(&lock);
    link = find(context);
    if (*link == NULL)
        *link = begin(group, context, lows);
    else
        mpi_group_release(group);
    m = *link;
    if (m != NULL) {
        coll = m->coll;
        if (++m->met == coll->here) {
            *link = m->next;
            xy_free(m);
        }
    } else {
        mpi_group_release(group);
    }
    pthread_mutex_unlock(&lock);
    return coll;
}
