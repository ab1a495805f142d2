/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/topo/neighbor.h"

#include <limits.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/topology.h"

/* Neighbours of most programs; more take memory from the heap. */
enum { FEW = 64 };

/* The kind of collective: the same data for all neighbours or not, and the properties of its
 * blocks. */
enum { ONE = 1, COUNTS = 2, TYPES = 4, KINDS = 8 };

typedef struct {
    int in, out;
    int *sources, *destinations;
    bool is_grid;
    int kind;
    int *heap; /* or NULL */
    int few[FEW];
} neighbors_t;

/* Find the neighbours of this rank; the caller frees n->heap. MPI_ERR_TOPOLOGY without a topology.
 */
static int find_neighbors(mpi_comm_t *comm, neighbors_t *n)
{
    size_t total;

    if (comm->topology == NULL)
        return mpi_error(comm, MPI_ERR_TOPOLOGY,
                         "%s has no topology; make one with MPI_Cart_create, MPI_Graph_create or "
                         "MPI_Dist_graph_create",
                         mpi_comm_name(comm));
    mpi_topology_degrees(comm, &n->in, &n->out);
    total = (size_t)n->in + (size_t)n->out;
    n->heap = NULL;
    n->sources = n->few;
    if (total > FEW) {
        n->heap = n->sources = xy_malloc(total * sizeof(int));
        if (n->heap == NULL)
            return mpi_error_memory(comm, "the neighbours of a rank");
    }
    n->destinations = n->sources + n->in;
    n->is_grid = comm->topology->kind == MPI_CART;
    mpi_topology_neighbors(comm, n->sources, n->destinations);
    return MPI_SUCCESS;
}

static MPI_Datatype type_at(const mpi_blocks_t *b, int i)
{
    return b->types ? b->types[i] : b->type;
}

static int64_t count_at(const mpi_blocks_t *b, int i)
{
    return b->counts.data ? coll_count_at(b->counts, i) : b->count;
}

static int kind_of(const mpi_blocks_t *send, const mpi_blocks_t *receive)
{
    return (send->is_one ? ONE : 0) | (receive->counts.data ? COUNTS : 0) |
           (receive->types ? TYPES : 0);
}

static int refuse_array(mpi_comm_t *comm, const char *what)
{
    return mpi_error(comm, MPI_ERR_ARG, "the array of %s is NULL", what);
}

/* The base of block `i`: displacements in bytes may be absolute addresses on MPI_BOTTOM. */
static const void *base_at(const mpi_blocks_t *b, int i)
{
    uintptr_t base = (uintptr_t)b->buffer;

    if (b->types && b->displacements.data)
        base += (uintptr_t)coll_count_at(b->displacements, i);
    return (const void *)base;
}

/* Check the blocks of all `degree` neighbours before any message is sent. */
static int check_blocks(mpi_comm_t *comm, const mpi_blocks_t *b, int degree)
{
    int error = MPI_SUCCESS;

    if (b->is_vector && degree > 0 && b->counts.data == NULL)
        return refuse_array(comm, "counts");
    if (b->buffer == MPI_IN_PLACE)
        return mpi_error(comm, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed for this buffer");
    for (int i = 0; i < degree && error == MPI_SUCCESS; i++) {
        if (b->is_vector && b->displacements.data == NULL && count_at(b, i) > 0)
            return refuse_array(comm, "displacements");
        error = mpi_transfer_refuse(comm, mpi_comm_handle(comm), base_at(b, i), count_at(b, i),
                                    type_at(b, i), MPI_PROC_NULL, 0, true);
        if (b->counts.data == NULL && b->types == NULL)
            break;
    }
    return error;
}

/* The transfer of block i to or from a neighbour. */
static mpi_transfer_t block_at(const mpi_blocks_t *b, int i, int peer, int tag)
{
    mpi_type_t *type = mpi_type_or_bytes(type_at(b, i));
    int64_t count = count_at(b, i);
    MPI_Aint offset = 0;

    if (b->is_one || (b->is_vector && b->displacements.data == NULL))
        offset = 0; /* one block, or none has data */
    else if (b->types)
        offset = (MPI_Aint)coll_count_at(b->displacements, i);
    else if (b->displacements.data)
        offset = (MPI_Aint)coll_count_at(b->displacements, i) * type->extent;
    else
        offset = (MPI_Aint)(i * count) * type->extent;
    return (mpi_transfer_t){.buffer = (const char *)b->buffer + offset,
                            .count = count,
                            .type = type,
                            .peer = peer,
                            .tag = tag,
                            .mode = XMPI_MODE_STANDARD};
}

/* Ranks may start persistent ones in different orders, so their messages have tags of their own;
 * all others have those from 0 on. Members make the requests in the same order, which numbers them.
 * Returns the first tag of such a number. */
static int persistent_tag(const neighbors_t *n, uint64_t number)
{
    int ways = n->is_grid && n->in > 0 ? n->in : 1;

    return ways * (int)(1 + number % (uint64_t)(INT_MAX / KINDS / ways - 2));
}

/* On a grid neighbours 2d and 2d + 1 are those below and above in dimension d, and tags tell the
 * ways apart; and the collectives, so that two of them do not meet. */
static int tag_of(const neighbors_t *n, int tag, int way)
{
    return (tag + (n->is_grid ? way : 0)) * KINDS + n->kind;
}

static mpi_transfer_t receive_at(const neighbors_t *n, const mpi_blocks_t *receive, int i, int tag)
{
    return block_at(receive, i, n->sources[i], tag_of(n, tag, i ^ 1));
}

static mpi_transfer_t send_at(const neighbors_t *n, const mpi_blocks_t *send, int i, int tag)
{
    return block_at(send, i, n->destinations[i], tag_of(n, tag, i));
}

/* Receives first, so that messages find their place. */
static int start_all(mpi_multi_request_t *multi, const neighbors_t *n, const mpi_blocks_t *send,
                     const mpi_blocks_t *receive)
{
    int error = MPI_SUCCESS;

    for (int i = 0; i < n->in && error == MPI_SUCCESS; i++) {
        mpi_transfer_t t = receive_at(n, receive, i, 0);

        error = mpi_multi_request_receive(multi, &t);
    }
    for (int i = 0; i < n->out && error == MPI_SUCCESS; i++) {
        mpi_transfer_t t = send_at(n, send, i, 0);

        error = mpi_multi_request_send(multi, &t);
    }
    return error;
}

/* Make a persistent request of all messages to and from neighbours; returns an MPI error code. */
static int persist(mpi_rank_t *self, mpi_comm_t *comm, const neighbors_t *n,
                   const mpi_blocks_t *send, const mpi_blocks_t *receive, MPI_Request *request)
{
    mpi_multi_messages_t *m = mpi_multi_messages_new(n->in, n->out);
    int tag = persistent_tag(n, ++comm->persistent);
    mpi_multi_request_t *multi = NULL;
    int error = m == NULL ? mpi_error_memory(comm, "a request")
                          : mpi_multi_request_begin(self, comm, &multi);

    if (m == NULL || multi == NULL) {
        xy_free(m);
        return error;
    }
    for (int i = 0; i < n->in; i++)
        m->messages[i] = receive_at(n, receive, i, tag);
    for (int i = 0; i < n->out; i++)
        m->messages[n->in + i] = send_at(n, send, i, tag);
    mpi_multi_request_hide(multi);
    mpi_multi_request_persist(multi, m, request);
    return MPI_SUCCESS;
}

static int exchange(mpi_rank_t *self, mpi_comm_t *comm, const neighbors_t *n,
                    const mpi_blocks_t *send, const mpi_blocks_t *receive, MPI_Request *request)
{
    mpi_multi_request_t *multi;
    int error = mpi_multi_request_begin(self, comm, &multi);

    if (error != MPI_SUCCESS)
        return error;
    mpi_multi_request_hide(multi);
    error = start_all(multi, n, send, receive);
    return mpi_multi_request_end(multi, error, request, MPI_STATUS_IGNORE);
}

int mpi_neighbor_exchange(mpi_rank_t *self, MPI_Comm handle, const mpi_blocks_t *send,
                          const mpi_blocks_t *receive, MPI_Request *request, bool is_persistent)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    neighbors_t n = {0};
    int error;

    if (comm == NULL)
        return mpi_comm_refuse(handle);
    self->call.comm = comm;
    self->call.peer = MPI_UNDEFINED;
    error = find_neighbors(comm, &n);
    if (error != MPI_SUCCESS)
        return error;
    n.kind = kind_of(send, receive);
    error = check_blocks(comm, send, n.out);
    if (error == MPI_SUCCESS)
        error = check_blocks(comm, receive, n.in);
    if (error == MPI_SUCCESS)
        error = is_persistent ? persist(self, comm, &n, send, receive, request)
                              : exchange(self, comm, &n, send, receive, request);
    xy_free(n.heap);
    return error;
}
