/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that are never freed: reported with --check. */
#include "bugs.h"

/* options: --check=leaks
 * code: 120
 * says: warning: ranks 0-1: 1 communicator never freed: made by MPI_Comm_dup (at @here)
 * [never-freed]
 */
BUG(check_leak_comm)
{
    MPI_Comm twin;

    MPI_Comm_dup(world, &twin); // @here
    if (!wrong)
        MPI_Comm_free(&twin);
}

/* options: --check=leaks
 * code: 120
 * says: warning: ranks 0-1: 1 communicator never freed: made by MPI_Comm_idup (at @here)
 * [never-freed]
 */
BUG(check_leak_idup)
{
    MPI_Request request;
    MPI_Comm twin;

    MPI_Comm_idup(world, &twin, &request); // @here
    MPI_Wait(&request, ignore);
    if (!wrong)
        MPI_Comm_free(&twin);
}

/* The handles of a loop are one line.
 * options: --check=leaks
 * code: 120
 * says: warning: rank 1: 3 datatypes never freed: made by MPI_Type_contiguous (at @here)
 * [never-freed]
 */
BUG(check_leak_types)
{
    MPI_Datatype type;

    for (int i = 0; i < 3 && rank == 1; i++) {
        MPI_Type_contiguous(i + 1, MPI_INT, &type); // @here
        MPI_Type_commit(&type);
        if (!wrong)
            MPI_Type_free(&type);
    }
}

/* options: --check=leaks
 * code: 120
 * says: warning: rank 0: 1 group never freed: made by MPI_Group_incl (at @here) [never-freed]
 */
BUG(check_leak_group)
{
    MPI_Group all, one;

    if (rank != 0)
        return;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &rank, &one); // @here
    MPI_Group_free(&all);
    if (!wrong)
        MPI_Group_free(&one);
}

static void add_up(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

/* options: --check=leaks
 * code: 120
 * says: warning: ranks 0-1: 1 operation never freed: made by MPI_Op_create (at @here)
 * [never-freed]
 */
BUG(check_leak_operation)
{
    MPI_Op op;

    MPI_Op_create(add_up, 1, &op); // @here
    MPI_Allreduce(numbers, others, 2, MPI_INT, op, world);
    if (!wrong)
        MPI_Op_free(&op);
}

/* options: --check=leaks
 * code: 120
 * says: warning: ranks 0-1: 1 window never freed: made by MPI_Win_create (at @here) [never-freed]
 */
BUG(check_leak_window)
{
    MPI_Win win;

    MPI_Win_create(numbers, 64, 1, MPI_INFO_NULL, world, &win); // @here
    if (!wrong)
        MPI_Win_free(&win);
}

/* options: --check=leaks
 * code: 120
 * says: warning: rank 1: 1 info object never freed: made by MPI_Info_create (at @here)
 * [never-freed]
 */
BUG(check_leak_info)
{
    MPI_Info info;

    if (rank == 0)
        return;
    MPI_Info_create(&info); // @here
    MPI_Info_set(info, "key", "value");
    if (!wrong)
        MPI_Info_free(&info);
}

/* options: --check=leaks
 * code: 120
 * says: warning: rank 0: 1 persistent request never freed: made by MPI_Send_init (at @here)
 * [never-freed]
 */
BUG(check_leak_request)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
        return;
    }
    MPI_Send_init(numbers, 1, MPI_INT, 1, 3, world, &request); // @here
    MPI_Start(&request);
    MPI_Wait(&request, ignore);
    if (!wrong)
        MPI_Request_free(&request);
}

/* What is always reported is a finding, too.
 * options: --check
 * code: 120
 * says: warning: rank 1: 1 message never received: from rank 0, tag 3, 4 bytes* [never-received]
 */
BUG(check_never_received)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Isend(numbers, 1, MPI_INT, 1, 3, world, &request); // @here
        MPI_Request_free(&request);
    } else if (!wrong) {
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
    }
}

/* options: --check
 * code: 120
 * says: warning: ranks 0-1: 1 request never completed: that of MPI_Ibarrier (at @here); complete
 * it with MPI_Wait or MPI_Test before MPI_Finalize [never-completed]
 */
BUG(check_never_completed)
{
    MPI_Request request;

    MPI_Ibarrier(world, &request); // @here
    if (!wrong)
        MPI_Wait(&request, ignore);
}
