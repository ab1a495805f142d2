/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that cannot be right. */
#include "bugs.h"

/* says: rank 0: MPI_Comm_size: the argument size is NULL (MPI_ERR_ARG; at @here)
 * ranks: 1
 * code: 13 */
BUG(null_output)
{
    MPI_Comm_size(world, wrong ? NULL : &size); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Type_get_extent: the argument extent is NULL (MPI_ERR_ARG; at @here) */
BUG(null_extent)
{
    MPI_Aint low, extent;

    MPI_Type_get_extent(MPI_INT, &low, wrong ? NULL : &extent); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Iprobe: the argument flag is NULL (MPI_ERR_ARG; at @here) */
BUG(null_flag)
{
    int flag;

    MPI_Iprobe(0, 0, world, wrong ? NULL : &flag, ignore); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Get_count: the argument count is NULL (MPI_ERR_ARG; at @here) */
BUG(null_count)
{
    MPI_Status status;
    int count;

    MPI_Sendrecv(numbers, 1, MPI_INT, 0, 0, others, 1, MPI_INT, 0, 0, world, &status);
    MPI_Get_count(&status, MPI_INT, wrong ? NULL : &count); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Comm_dup: the argument newcomm is NULL (MPI_ERR_ARG; at @here) */
BUG(null_handle)
{
    MPI_Comm made;

    MPI_Comm_dup(world, wrong ? NULL : &made); // @here
    MPI_Comm_free(&made);
}

/* code: 1
 * says: MPI_Allreduce: the send buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_allreduce)
{
    MPI_Allreduce(wrong ? NULL : numbers, others, 4, MPI_INT, MPI_SUM, world); // @here
}

/* At the root the receive buffer counts; elsewhere it does not.
 * says: rank 0: MPI_Reduce: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER; at
 * @here)
 */
BUG(null_reduce)
{
    MPI_Reduce(numbers, wrong || rank == 1 ? NULL : others, 4, MPI_INT, MPI_SUM, 0, world); // @here
}

/* says: MPI_Bcast: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_bcast)
{
    MPI_Bcast(wrong ? NULL : numbers, 4, MPI_INT, 0, world); // @here
}

/* says: rank 0: MPI_Gather: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER; at
 * @here)
 */
BUG(null_gather)
{
    MPI_Gather(numbers, 4, MPI_INT, wrong || rank == 1 ? NULL : others, 4, MPI_INT, 0, // @here
               world);
}

/* says: MPI_Alltoallv: the send buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_alltoallv)
{
    const int counts[] = {wrong, wrong}, places[] = {0, 1};

    MPI_Alltoallv(NULL, counts, places, MPI_INT, others, counts, places, MPI_INT, world); // @here
}

/* says: MPI_Iscatter: the send buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_iscatter)
{
    MPI_Request request;

    MPI_Iscatter(wrong || rank == 1 ? NULL : numbers, 4, MPI_INT, others, 4, MPI_INT, 0, // @here
                 world, &request);
    MPI_Wait(&request, ignore);
}

/* says: MPI_Allreduce: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_allreduce)
{
    MPI_Allreduce(wrong ? (void *)numbers : MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM, // @here
                  world);
}

/* says: rank 0: MPI_Reduce: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_reduce)
{
    void *from = wrong || rank != 0 ? (void *)numbers : MPI_IN_PLACE;

    MPI_Reduce(from, numbers, 4, MPI_INT, MPI_SUM, 0, world); // @here
}

/* says: MPI_Alltoall: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_alltoall)
{
    MPI_Alltoall(wrong ? (void *)numbers : MPI_IN_PLACE, 1, MPI_INT, numbers, 1, MPI_INT, // @here
                 world);
}

/* says: MPI_Allgather: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_allgather)
{
    MPI_Allgather(wrong ? numbers : others, 1, MPI_INT, numbers, 1, MPI_INT, world); // @here
}

/* says: MPI_Sendrecv: the send and the receive buffer are the same memory; use MPI_Sendrecv_replace
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_sendrecv)
{
    MPI_Sendrecv(numbers, 4, MPI_INT, 1 - rank, 0, wrong ? numbers : others, 4, MPI_INT, // @here
                 1 - rank, 0, world, ignore);
}
