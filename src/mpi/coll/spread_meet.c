/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of one process meet at a collective between processes. The last one to come begins a
 * script that works for all of them, on the worker of the member that speaks with other processes:
 * all their buffers are in this address space.
 */
#include "mpi/coll/spread.h"

#include <string.h>

/* The members on one worker, to be told that it is over. */
typedef struct {
    remote_errand_t errand; /* must be first */
    spread_meeting_t *meeting;
    const coll_local_t *local;
} notice_t;

struct spread_meeting {
    remote_errand_t begin; /* must be first */
    spread_meeting_t *next;
    int tag;
    int arrived;
    mpi_coll_t *coll;
    mpi_call_t named; /* the speaker's call, for reports */
    spread_part_t part;
    _Atomic int untold; /* workers with members that do not know yet that it is over */
    notice_t *notices;  /* [local groups] */
    coll_call_t *calls[];
};

static spread_meeting_t *meeting_new(mpi_coll_t *coll, int tag)
{
    const coll_spread_t *spread = coll->spread;
    const spread_layout_t *layout = &spread->layout;
    int members = layout->begin[spread->own + 1] - layout->begin[spread->own];
    size_t calls = (size_t)members * sizeof(coll_call_t *);
    spread_meeting_t *m = xy_malloc(sizeof(*m) + calls + (size_t)coll->locals * sizeof(notice_t));

    if (m == NULL)
        coll_spread_out_of_memory();
    memset((void *)m, 0, sizeof(*m));
    m->tag = tag;
    m->coll = coll;
    m->notices = (notice_t *)(void *)((char *)m->calls + calls);
    m->part = (spread_part_t){
        .layout = layout, .own = spread->own, .members = members, .calls = m->calls};
    return m;
}

static spread_meeting_t **find(coll_spread_t *spread, int tag)
{
    spread_meeting_t **link = &spread->meetings;

    while (*link != NULL && (*link)->tag != tag)
        link = &(*link)->next;
    return link;
}

static int speaker_of(const coll_call_t *call)
{
    const coll_spread_t *spread = call->comm->coll->spread;

    return call->kind->is_rooted ? spread_speaker(&spread->layout, spread->own, call->root)
                                 : spread->layout.first[spread->own];
}

/* All are here: on the worker of the speaker, or at its gate. */
static void begin(remote_errand_t *errand)
{
    spread_meeting_t *m = (spread_meeting_t *)(void *)errand;
    script_t *s;

    m->part.call = m->calls[m->part.layout->place[speaker_of(m->calls[0])]];
    s = script_new(m->part.call, &m->named, m);
    spread_build_part(s, &m->part);
    script_run_soon(s);
}

/* The last one to come begins. The communicator stays until all have been told that it is over. */
static void all_are_here(mpi_rank_t *self, spread_meeting_t *m)
{
    int speaker = speaker_of(m->calls[0]);
    const coll_call_t *call = m->calls[m->part.layout->place[speaker]];
    mpi_worker_t *worker = call->comm->owner->worker;

    mpi_coll_hold(m->coll);
    m->begin.run = begin;
    if (worker == self->worker)
        begin(&m->begin);
    else
        mpi_network_post(worker, &m->begin);
}

void spread_meeting_join(mpi_rank_t *self, coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    coll_spread_t *spread = coll->spread;
    int tag = coll_spread_tag(call);
    spread_meeting_t **link, *m;
    bool is_last;

    pthread_mutex_lock(&spread->lock);
    link = find(spread, tag);
    if (*link == NULL)
        *link = meeting_new(coll, tag);
    m = *link;
    m->calls[spread->layout.place[call->rank]] = call;
    if (call->rank == speaker_of(call))
        m->named = self->call;
    is_last = ++m->arrived == m->part.members;
    if (is_last)
        *link = m->next;
    pthread_mutex_unlock(&spread->lock);
    if (is_last)
        all_are_here(self, m);
}

/* ---- The end ---- */

/* On the worker of the members, or at its gate. */
static void tell(remote_errand_t *errand)
{
    notice_t *notice = (notice_t *)(void *)errand;
    spread_meeting_t *m = notice->meeting;
    const coll_local_t *local = notice->local;
    mpi_coll_t *coll = m->coll;

    for (int i = 0; i < local->members; i++)
        mpi_request_complete(m->calls[m->part.layout->place[local->member[i]]]->request);
    if (atomic_fetch_sub_explicit(&m->untold, 1, memory_order_acq_rel) == 1) {
        xy_free(m);
        mpi_coll_release(coll);
    }
}

void spread_meeting_end(spread_meeting_t *m)
{
    const mpi_coll_t *coll = m->coll;
    const mpi_worker_t *own = m->part.call->comm->owner->worker;
    int locals = coll->locals, here = -1;

    atomic_init(&m->untold, locals);
    for (int i = 0; i < locals; i++) {
        m->notices[i] = (notice_t){{.run = tell}, m, coll->local[i]};
        if (coll->local[i]->worker == own)
            here = i;
        else
            mpi_network_post(coll->local[i]->worker, &m->notices[i].errand);
    }
    tell(&m->notices[here].errand);
}
