/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/check_arguments.h"

#include "mpi/object/object.h"

int coll_check_other_comm(MPI_Comm handle, coll_call_t *call)
{
    mpi_comm_t *comm = call->comm;

    if (comm == NULL)
        return mpi_comm_refuse(handle);
    if (comm->remote != NULL)
        return COLL_IS_INTER;
    /* A communicator of one rank gets its shared part when it is first needed. */
    if (mpi_coll_create(comm->group, comm->context, &comm->coll) != XY_OK)
        return mpi_error(comm, MPI_ERR_NO_MEM, "no memory for collectives");
    mpi_coll_hold(comm->coll);
    mpi_coll_join(comm);
    return MPI_SUCCESS;
}

int coll_check_root(const coll_call_t *call)
{
    if (call->root >= 0 && call->root < call->comm->size)
        return MPI_SUCCESS;
    return mpi_error(call->comm, MPI_ERR_ROOT, "the root is %d; %s has ranks 0 to %d",
                     mpi_number_passed(call->root), mpi_comm_name(call->comm),
                     call->comm->size - 1);
}

/* Check the type of `count` elements. Reductions need a type that their operation is defined for.
 */
static int check_type(const coll_call_t *call, MPI_Datatype handle, int64_t count,
                      mpi_type_t **type_p)
{
    bool is_absent = mpi_type_is_absent(handle, count) && !coll_is_reduction(call->kind);
    mpi_type_t *type = is_absent ? mpi_type_of(MPI_BYTE) : mpi_type_of(handle);

    if (type == NULL)
        return mpi_error(call->comm, MPI_ERR_TYPE, "the datatype is not a valid handle");
    if (!type->is_committed)
        return mpi_error(call->comm, MPI_ERR_TYPE,
                         "the datatype was not committed; call MPI_Type_commit first");
    if (__builtin_expect(count > type->most_received, 0) && type_p == &call->receive_type &&
        !(call->kind == &coll_bcast && call->comm->rank == call->root))
        return mpi_type_refuse_overlap(call->comm);
    *type_p = type;
    return MPI_SUCCESS;
}

int coll_refuse_in_place(const coll_call_t *call)
{
    return mpi_error(call->comm, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed for this buffer");
}

int coll_check_buffer(const coll_call_t *call, const void *buffer, int64_t count, MPI_Datatype type,
                      mpi_type_t **type_p)
{
    if (count < 0)
        return mpi_error(call->comm, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    if (buffer == MPI_IN_PLACE)
        return coll_refuse_in_place(call);
    return check_type(call, type, count, type_p);
}

static int refuse_null(const coll_call_t *call, const char *side)
{
    return mpi_error(call->comm, MPI_ERR_BUFFER, "the %s buffer is NULL and there is data for it",
                     side);
}

/* Only the root of a rooted collective uses both buffers; others may pass the same one twice. Where
 * the error returns, the root has not taken part: they wait until it calls again. */
static int refuse_alias(const coll_call_t *call)
{
    return mpi_error(call->comm, MPI_ERR_BUFFER,
                     "the send and the receive buffer are the same memory; pass MPI_IN_PLACE");
}

/* Displacements are there only where there is data. */
static int64_t count_at(const coll_side_t *side, int i)
{
    return side->counts.data != NULL ? coll_count_at(side->counts, i) : side->count;
}

/* Does a block with data begin in the first page, where no memory is? Others may have absolute
 * addresses. */
static bool is_at_null(const coll_side_t *side, int blocks)
{
    enum { PAGE = 4096 };

    for (int i = 0; i < blocks; i++)
        if (count_at(side, i) > 0 && mpi_type_held(side->types[i])->is_predefined &&
            (uintptr_t)coll_block_at(side, i).at < PAGE)
            return true;
    return false;
}

/* Does one side have data? Types of the program may have absolute addresses. */
static bool has_data(const coll_call_t *call, bool is_send)
{
    coll_side_t side = coll_side_of(call, is_send);
    int blocks = coll_side_blocks(call, is_send);

    if (side.types != NULL)
        return is_at_null(&side, blocks);
    if (blocks > 0 && !side.type->is_predefined)
        return false;
    for (int i = 0; i < blocks; i++)
        if (count_at(&side, i) > 0)
            return true;
    return false;
}

/* Refuse the buffers of a member that gives data, gets data, or both. */
static int refuse_sides(const coll_call_t *call, bool gives, bool gets)
{
    if (gives && call->send == NULL)
        return refuse_null(call, "send");
    if (gets && call->receive == NULL)
        return refuse_null(call, "receive");
    return gives && gets && call->send == call->receive ? refuse_alias(call) : MPI_SUCCESS;
}

/* Is the receive buffer MPI_IN_PLACE and in use? In a scatter, what only the root may pass was
 * checked before. */
static bool is_misplaced(const coll_call_t *call)
{
    return call->receive == MPI_IN_PLACE && call->kind != &coll_scatter &&
           call->kind != &coll_scatterv && coll_side_blocks(call, false) > 0;
}

int coll_refuse_memory(coll_call_t *call)
{
    call->rank = call->comm->rank;
    if (call->op != NULL && (call->bytes == 0 || !call->receive_type->is_predefined))
        return MPI_SUCCESS;
    if (call->op != NULL)
        return refuse_sides(call, !call->is_in_place,
                            !call->kind->is_rooted || call->rank == call->root);
    if (is_misplaced(call))
        return coll_refuse_in_place(call);
    return refuse_sides(call, has_data(call, true), has_data(call, false));
}

void coll_refuse_own_types(const coll_call_t *call, uint64_t bytes)
{
    const mpi_rank_t *self = call->comm->owner;
    char sent[XMPI_SIGNATURE_TEXT], taken[XMPI_SIGNATURE_TEXT], place[160];
    mpi_finding_t finding = {.kind = XMPI_FINDING_TYPE_MISMATCH,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, NULL}};

    if (mpi_signatures_match(call->send_type->signature, call->receive_type->signature, bytes) ||
        mpi_finding_is_known(&finding))
        return;
    mpi_caller_describe(self->call.caller, place, sizeof(place));
    mpi_finding_add(&finding, "%s%s%s sends %s and receives %s; give the same types in both",
                    self->call.name, place[0] != '\0' ? " " : "", place,
                    mpi_signature_describe(call->send_type->signature, sent),
                    mpi_signature_describe(call->receive_type->signature, taken));
}

int coll_refuse_size(const coll_call_t *call)
{
    return mpi_error(call->comm, MPI_ERR_COUNT, "the count and the datatype describe %llu bytes",
                     (unsigned long long)call->bytes);
}

int coll_check_sides(coll_call_t *call)
{
    uint64_t room = (uint64_t)call->receive_count * call->receive_type->size;
    uint64_t sent = call->is_in_place ? room : (uint64_t)call->send_count * call->send_type->size;

    coll_agree_on(call, room, call->receive_type);
    if (!call->is_in_place)
        coll_check_own_types(call, sent);
    if (sent == room)
        return MPI_SUCCESS;
    if (sent < room)
        return mpi_error(call->comm, MPI_ERR_COUNT,
                         "%llu bytes are sent to each rank, and %llu are received from each; "
                         "both must be the same",
                         (unsigned long long)sent, (unsigned long long)room);
    return mpi_error(call->comm, MPI_ERR_TRUNCATE,
                     "%llu bytes are sent to each rank, and there is room for %llu from each",
                     (unsigned long long)sent, (unsigned long long)room);
}

static int refuse_missing(const coll_call_t *call, const char *what)
{
    return mpi_error(call->comm, MPI_ERR_ARG, "the array of %s is NULL", what);
}

/* Without data there need be no displacements: the counts, which are 0, stand for them. */
static void fill_displacements(coll_call_t *call)
{
    if (call->send_displacements.data == NULL)
        call->send_displacements = call->send_counts;
    if (call->receive_displacements.data == NULL)
        call->receive_displacements = call->receive_counts;
}

int coll_check_counts(coll_call_t *call, int n, coll_vector_t counts, coll_vector_t displacements,
                      MPI_Datatype type, mpi_type_t **type_p)
{
    bool has_data = false;

    if (counts.data == NULL)
        return refuse_missing(call, "counts");
    for (int r = 0; r < n; r++) {
        int64_t count = coll_count_at(counts, r);

        if (count < 0)
            return mpi_error(call->comm, MPI_ERR_COUNT,
                             "the count for rank %d is %lld; it must not be negative", r,
                             (long long)count);
        has_data = has_data || count > 0;
    }
    if (has_data && displacements.data == NULL)
        return refuse_missing(call, "displacements");
    if (displacements.data == NULL)
        fill_displacements(call);
    return type_p == NULL ? MPI_SUCCESS : check_type(call, type, has_data, type_p);
}

int coll_check_types(const coll_call_t *call, int n, coll_vector_t counts,
                     const MPI_Datatype types[])
{
    mpi_type_t *type;
    int error = types == NULL ? refuse_missing(call, "datatypes") : MPI_SUCCESS;

    for (int r = 0; r < n && error == MPI_SUCCESS; r++)
        error = check_type(call, types[r], coll_count_at(counts, r), &type);
    return error;
}

int coll_check_op(coll_call_t *call, MPI_Op handle)
{
    call->op = mpi_op_of(handle);
    if (call->op == NULL)
        return mpi_error(call->comm, MPI_ERR_OP, "the operation is not a valid handle");
    call->what = (uint8_t)(COLL_WHAT_OP + call->op->kind);
    if (mpi_op_is_one_sided(call->op))
        return mpi_error(call->comm, MPI_ERR_OP, XMPI_OP_ONE_SIDED, call->op->name);
    if (!mpi_op_is_valid_for(call->op, call->receive_type))
        return mpi_error(call->comm, MPI_ERR_OP, "%s is not defined for %s", call->op->name,
                         mpi_type_name(call->receive_type));
    return MPI_SUCCESS;
}
