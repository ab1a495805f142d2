/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in virtual time: the simulated job has the algorithm and its messages, data.c the
 * data. All are compared as they arrive, so that members that disagree are found at once. What
 * makes a communicator (an agreement) takes as long as an allreduce of eight bytes.
 * What becomes of those between two groups is in coll/coll_shape.c.
 */
#include "mpi/virtual/data.h"

#include <string.h>

#include "mpi/object/object.h"
#include "mpi/virtual/private.h"

typedef struct virtual_coll {
    coll_claim_t claim; /* of the first to come */
    uint64_t number;
    int arrived, over; /* members */
    bool has_root;     /* intercommunicator: the root has come */
    mpi_coll_t *coll;  /* held */
    virtual_data_t data;
    struct virtual_coll *next; /* not all have arrived */
    virtual_part_t parts[];    /* [size] */
} virtual_coll_t;

/* The simulated part of a communicator, in its mpi_coll_t. */
typedef struct {
    xy_vcomm_t *comm; /* made when it is first needed */
    virtual_coll_t *open;
    xy_vcomm_t **rooted; /* intercommunicator: [size], of a root and the other group; or NULL */
} virtual_comm_t;

static void fail_memory(void)
{
    xy_fail_memory("starting a collective");
    virtual_fail();
}

/* ---- Input of the job ---- */

static bool is_agreement(const coll_call_t *call)
{
    return call->kind->collective == XY_COLL_COUNT;
}

/* Describe a call for the simulated job. */
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
                            .is_nonblocking = call->how != COLL_BLOCKING,
                            .is_agreement = is_agreement(call),
                            .is_user_op = call->op != NULL && !call->op->is_predefined};
}

/* Contexts of messages are shared: all ranks have an MPI_COMM_SELF, parts of a split do not meet.
 */
static xy_vcomm_t *comm_new(const int32_t *procs, int n)
{
    static uint32_t comms;
    xy_vcomm_t *comm = xy_vjob_comm(virtual.job, ++comms, procs, n);

    if (comm == NULL)
        virtual_fail();
    return comm;
}

static int32_t proc_of(const mpi_coll_t *coll, int rank)
{
    return coll->group->ranks != NULL ? coll->group->ranks[rank] : rank;
}

static xy_vcomm_t *comm_of(mpi_coll_t *coll)
{
    virtual_comm_t *comm = coll->scheduled;
    int32_t *procs;

    if (comm->comm != NULL)
        return comm->comm;
    procs = coll_scratch((size_t)coll->size * sizeof(*procs));
    for (int r = 0; r < coll->size; r++)
        procs[r] = proc_of(coll, r);
    comm->comm = comm_new(procs, coll->size);
    return comm->comm;
}

/* The root, then the members of the other group. */
static xy_vcomm_t *rooted_comm_of(mpi_coll_t *coll, int root)
{
    virtual_comm_t *comm = coll->scheduled;
    bool is_high = root >= coll->lows;
    int first = is_high ? 0 : coll->lows, n = is_high ? coll->lows : coll->size - coll->lows;
    int32_t *procs;

    if (comm->rooted == NULL)
        comm->rooted = xy_calloc((size_t)coll->size, sizeof(*comm->rooted));
    if (comm->rooted == NULL)
        fail_memory();
    if (comm->rooted[root] != NULL)
        return comm->rooted[root];
    procs = coll_scratch((size_t)(n + 1) * sizeof(*procs));
    procs[0] = proc_of(coll, root);
    for (int r = 0; r < n; r++)
        procs[r + 1] = proc_of(coll, first + r);
    comm->rooted[root] = comm_new(procs, n + 1);
    return comm->rooted[root];
}

/* ---- Arriving ---- */

/* Create the record of a collective for its first caller; ends the job without memory. */
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

static void compare(virtual_coll_t *c, const coll_call_t *call)
{
    coll_claim_t claim = coll_claim_of(call);

    if (!coll_claims_agree(c->coll, c->number, &c->claim, &claim))
        coll_disagree(c->coll, c->number, &c->claim, &claim);
    if (c->claim.root < 0)
        c->claim = claim; /* it may know the root */
}

/* All have come: does the one that others take for the root say so itself? */
static void compare_root(const virtual_coll_t *c)
{
    coll_claim_t root = c->claim;

    if (!root.kind->is_inter || !root.kind->is_rooted || c->has_root)
        return;
    root.rank = root.root;
    root.root = root.root >= c->coll->lows ? COLL_ROOT_HIGH : COLL_ROOT_LOW;
    coll_disagree(c->coll, c->number, &c->claim, &root);
}

/* All are here, and stay until the agreement is complete. */
static void lead(const virtual_coll_t *c)
{
    int n = c->coll->size;
    coll_call_t **calls = coll_scratch(3 * (size_t)n * sizeof(void *));

    for (int r = 0; r < n; r++)
        calls[r] = c->parts[r].call;
    coll_agree_lead(calls, n);
}

/* Add a member to its collective: compare it with the others, take its data, and lead if it is the
 * last. */
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
    c->has_root |= call->root == call->rank;
    if (++c->arrived < c->coll->size)
        return;
    *link = c->next;
    compare_root(c);
    if (is_agreement(call))
        lead(c);
}

/* Start a collective in virtual time; always false, as the simulated job completes it. */
static bool start(mpi_rank_t *self, coll_call_t *call)
{
    bool is_rooted = call->kind->is_inter && call->kind->is_rooted;
    virtual_part_t *part;
    xy_vcomm_t *comm;
    xy_vjob_coll_t c;

    virtual_enter(self);
    join(call);
    part = call->request->engine;
    if (is_rooted && call->root < 0) { /* its group has the root, and it is another */
        virtual_part_finish(part);
        virtual_leave(self);
        mpi_request_complete(call->request);
        return false;
    }
    comm = is_rooted ? rooted_comm_of(call->comm->coll, call->root) : comm_of(call->comm->coll);
    c = describe(call);
    part->request = xy_vjob_collective(virtual.job, virtual_number(self), comm, &c, NULL);
    if (part->request == NULL)
        virtual_fail();
    if (call->how == COLL_NONBLOCKING &&
        !xy_vjob_entered(virtual.job, virtual_number(self), part->request))
        virtual_give_way(self);
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
    xy_free(((virtual_comm_t *)coll->scheduled)->rooted);
    xy_free(coll->scheduled);
}

const coll_engine_ops_t virtual_colls = {.name = "virtual",
                                         .wants = wants,
                                         .start = start,
                                         .find = find,
                                         .comm_create = create,
                                         .comm_destroy = destroy};
