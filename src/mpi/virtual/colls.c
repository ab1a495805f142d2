/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in virtual time: the simulated job has the algorithm and its messages, data.c the
 * data. All are compared as they arrive, so that members that disagree are found at once. What
 * makes a communicator (an agreement) takes as long as an allreduce of eight bytes.
 */
#include "mpi/virtual/data.h"

#include "mpi/object/object.h"
#include "mpi/virtual/private.h"

typedef struct virtual_coll {
    coll_claim_t claim; /* of the first to come */
    uint64_t number;
    int arrived, over; /* members */
    mpi_coll_t *coll;  /* held */
    virtual_data_t data;
    struct virtual_coll *next; /* not all have arrived */
    virtual_part_t parts[];    /* [size] */
} virtual_coll_t;

/* Of a communicator, in its mpi_coll_t. */
typedef struct {
    xy_vcomm_t *comm; /* made when it is first needed */
    virtual_coll_t *open;
} virtual_comm_t;

static void fail_memory(void)
{
    xy_fail_memory("starting a collective");
    virtual_fail();
}

/* ---- What the job is told ---- */

static bool is_agreement(const coll_call_t *call)
{
    return call->kind->collective == XY_COLL_COUNT;
}

static xy_vjob_coll_t describe(const coll_call_t *call)
{
    coll_shape_t shape = coll_shape_of(call);

    return (xy_vjob_coll_t){.collective = shape.collective,
                            .root = shape.root,
                            .count = shape.count,
                            .element = shape.element,
                            .counts = shape.counts,
                            .is_commutative = call->op == NULL || call->op->is_commutative,
                            .in_place = call->is_in_place,
                            .is_nonblocking = call->is_nonblocking,
                            .is_agreement = is_agreement(call),
                            .is_user_op = call->op != NULL && !call->op->is_predefined};
}

/* Contexts of messages are shared: all ranks have an MPI_COMM_SELF, parts of a split do not meet.
 */
static xy_vcomm_t *comm_of(mpi_coll_t *coll)
{
    static uint32_t comms;
    virtual_comm_t *comm = coll->scheduled;
    int32_t *procs;

    if (comm->comm != NULL)
        return comm->comm;
    procs = coll_scratch((size_t)coll->size * sizeof(*procs));
    for (int r = 0; r < coll->size; r++)
        procs[r] = coll->group->ranks != NULL ? coll->group->ranks[r] : r;
    comm->comm = xy_vjob_comm(virtual.job, ++comms, procs, coll->size);
    if (comm->comm == NULL)
        virtual_fail();
    return comm->comm;
}

/* ---- Arriving ---- */

static virtual_coll_t *coll_new(const coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    virtual_comm_t *comm = coll->scheduled;
    virtual_coll_t *c = xy_calloc(1, sizeof(*c) + (size_t)coll->size * sizeof(c->parts[0]));

    if (c == NULL || virtual_data_init(&c->data, coll->size) != XY_OK)
        fail_memory();
    c->claim = coll_claim_of(call);
    c->number = call->number;
    c->coll = coll;
    mpi_coll_hold(coll);
    c->next = comm->open;
    comm->open = c;
    return c;
}

static virtual_coll_t **find_open(const mpi_coll_t *coll, uint64_t number)
{
    virtual_coll_t **link = &((virtual_comm_t *)coll->scheduled)->open;

    while (*link != NULL && (*link)->number != number)
        link = &(*link)->next;
    return link;
}

static void compare(const virtual_coll_t *c, const coll_call_t *call)
{
    coll_claim_t claim = coll_claim_of(call);

    if (!coll_is_same_claim(&claim, &c->claim) || claim.is_nonblocking != c->claim.is_nonblocking)
        coll_disagree(c->coll, c->number, &c->claim, &claim);
}

/* All are here, and stay until the agreement is over. */
static void lead(const virtual_coll_t *c)
{
    int n = c->coll->size;
    void **pointers = coll_scratch(2 * (size_t)n * sizeof(*pointers));

    for (int r = 0; r < n; r++) {
        pointers[r] = (void *)(uintptr_t)c->parts[r].call->send;
        pointers[n + r] = c->parts[r].call->receive;
    }
    c->parts[0].call->leader(pointers, n, pointers + n);
}

static void join(coll_call_t *call)
{
    virtual_coll_t **link = find_open(call->comm->coll, call->number), *c = *link;

    if (c == NULL) {
        c = coll_new(call);
        link = find_open(call->comm->coll, call->number);
    }
    compare(c, call);
    coll_compare_empty(c->coll, c->number, &c->claim);
    if (virtual_data_give(&c->data, call) != XY_OK)
        fail_memory();
    c->parts[call->rank] = (virtual_part_t){.coll = c, .call = call};
    call->request->engine = &c->parts[call->rank];
    if (++c->arrived < c->coll->size)
        return;
    *link = c->next;
    if (is_agreement(call))
        lead(c);
}

static bool start(mpi_rank_t *self, coll_call_t *call)
{
    virtual_part_t *part;
    xy_vcomm_t *comm;
    xy_vjob_coll_t c;

    virtual_enter(self);
    join(call);
    part = call->request->engine;
    comm = comm_of(call->comm->coll);
    c = describe(call);
    part->request = xy_vjob_collective(virtual.job, self->world, comm, &c, NULL);
    if (part->request == NULL)
        virtual_fail();
    virtual_leave(self);
    return false;
}

void virtual_part_finish(virtual_part_t *part)
{
    virtual_coll_t *c = part->coll;
    mpi_coll_t *coll = c->coll;

    if (virtual_data_take(&c->data, part->call) != XY_OK)
        fail_memory();
    if (++c->over < coll->size)
        return;
    virtual_data_cleanup(&c->data);
    xy_free(c);
    mpi_coll_release(coll);
}

/* ---- Of a communicator ---- */

static bool wants(const coll_call_t *call)
{
    (void)call;
    return true;
}

static bool find(mpi_coll_t *coll, uint64_t number, coll_claim_t *claim_p)
{
    const virtual_coll_t *c = *find_open(coll, number);

    if (c != NULL)
        *claim_p = c->claim;
    return c != NULL;
}

static xy_status_t create(mpi_coll_t *coll)
{
    coll->scheduled = xy_calloc(1, sizeof(virtual_comm_t));
    return coll->scheduled != NULL ? XY_OK : XY_ENOMEM;
}

static void destroy(mpi_coll_t *coll)
{
    xy_free(coll->scheduled);
}

const coll_engine_ops_t virtual_colls = {.name = "virtual",
                                         .wants = wants,
                                         .start = start,
                                         .find = find,
                                         .comm_create = create,
                                         .comm_destroy = destroy};
