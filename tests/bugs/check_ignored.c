/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that calls return, and that the program does not look at: reported with --check. The right
 * programs make the same mistakes, and look. */
#include <unistd.h>

#include "bugs.h"

static int failures;

static void return_errors(void)
{
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Send at @here returned an error (MPI_ERR_RANK), and the program did
 * not check [error-ignored]
 */
BUG(check_ignored_send)
{
    return_errors();
    if (wrong)
        MPI_Send(numbers, 1, MPI_INT, size, 0, world); // @here
    else if (MPI_Send(numbers, 1, MPI_INT, size, 0, world) != MPI_SUCCESS)
        failures++;
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Bcast at @here returned 3 errors (the last: MPI_ERR_ROOT), and
 * the program did not check [error-ignored]
 */
BUG(check_ignored_thrice)
{
    return_errors();
    for (int i = 0; i < 3; i++)
        if (wrong)
            MPI_Bcast(numbers, 1, MPI_INT, size, world); // @here
        else
            failures += MPI_Bcast(numbers, 1, MPI_INT, size, world);
}

/* options: --check=errors
 * code: 120
 * says: warning: rank 1: MPI_Recv at @here returned an error (MPI_ERR_TRUNCATE), and the program
 * did not check [error-ignored]
 */
BUG(check_ignored_truncation)
{
    int error;

    return_errors();
    if (rank == 0)
        MPI_Send(numbers, 4, MPI_INT, 1, 0, world);
    if (rank == 1 && wrong)
        MPI_Recv(numbers, 2, MPI_INT, 0, 0, world, ignore); // @here
    if (rank == 1 && !wrong) {
        error = MPI_Recv(numbers, 2, MPI_INT, 0, 0, world, ignore);
        if (error != MPI_SUCCESS)
            failures++;
    }
}

/* options: --check=errors
 * code: 120
 * says: warning: rank 1: MPI_Wait at @here returned an error (MPI_ERR_TRUNCATE), and the program
 * did not check [error-ignored]
 */
BUG(check_ignored_wait)
{
    MPI_Request request;

    return_errors();
    if (rank == 0)
        MPI_Send(numbers, 4, MPI_INT, 1, 0, world);
    if (rank == 1) {
        MPI_Irecv(numbers, 2, MPI_INT, 0, 0, world, &request);
        if (wrong)
            MPI_Wait(&request, ignore); // @here
        else if (MPI_Wait(&request, ignore))
            failures++;
    }
}

/* options: --check=errors
 * code: 120
 * says: warning: rank 1: MPI_Waitall at @here returned an error (MPI_ERR_IN_STATUS), and the
 * program did not check [error-ignored]
 */
BUG(check_ignored_waitall)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];

    return_errors();
    if (rank == 0)
        for (int i = 0; i < 2; i++)
            MPI_Send(numbers, 4, MPI_INT, 1, i, world);
    if (rank == 1) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(numbers + 4 * i, 4 - 2 * i, MPI_INT, 0, i, world, &requests[i]);
        if (wrong)
            MPI_Waitall(2, requests, statuses); // @here
        else if (MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS)
            failures += statuses[1].MPI_ERROR;
    }
}

/* The result of a function without one. */
static void send_far(void)
{
    MPI_Send(numbers, 1, MPI_INT, size, 0, world); // @void
}

static int send_far_and_tell(void)
{
    return MPI_Send(numbers, 1, MPI_INT, size, 0, world);
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Send at @void returned an error (MPI_ERR_RANK), and the program did
 * not check [error-ignored]
 */
BUG(check_ignored_void)
{
    return_errors();
    if (wrong)
        send_far();
    else
        failures += send_far_and_tell();
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_File_open at @here returned an error (MPI_ERR_NO_SUCH_FILE), and
 * the program did not check [error-ignored]
 */
BUG(check_ignored_open)
{
    const char *name = "no/such/file";
    MPI_File file;

    if (wrong)
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file); // @here
    else if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == 0)
        MPI_File_close(&file);
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_File_read at @here returned an error (MPI_ERR_ACCESS), and the
 * program did not check [error-ignored]
 */
BUG(check_ignored_read)
{
    char name[] = "/tmp/xylem_bug_XXXXXX";
    MPI_File file;

    MPI_File_delete("no/such/file", MPI_INFO_NULL); /* is not reported */
    if (mkstemp(name) < 0)
        MPI_Abort(world, 1);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    unlink(name); /* the job may end before it is closed */
    if (wrong)
        MPI_File_read(file, numbers, 1, MPI_INT, ignore); // @here
    else
        failures |= MPI_File_read(file, numbers, 1, MPI_INT, ignore) != MPI_SUCCESS;
    MPI_File_close(&file);
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Put at @here returned an error (MPI_ERR_RMA_RANGE), and the program
 * did not check [error-ignored]
 */
BUG(check_ignored_put)
{
    MPI_Win win;
    int error;

    MPI_Win_create(numbers, 16, 4, MPI_INFO_NULL, world, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    if (wrong) {
        MPI_Put(others, 1, MPI_INT, 0, 100, 1, MPI_INT, win); // @here
    } else {
        error = MPI_Put(others, 1, MPI_INT, 0, 100, 1, MPI_INT, win);
        failures += error;
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Type_contiguous at @here returned an error (MPI_ERR_COUNT), and
 * the program did not check [error-ignored]
 */
BUG(check_ignored_type)
{
    MPI_Datatype type;

    return_errors();
    if (wrong)
        MPI_Type_contiguous(-1, MPI_INT, &type); // @here
    else if (MPI_Type_contiguous(-1, MPI_INT, &type) != MPI_SUCCESS)
        failures++;
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Comm_rank at @here returned an error (MPI_ERR_COMM), and the
 * program did not check [error-ignored]
 */
BUG(check_ignored_rank)
{
    int mine = 0;

    return_errors();
    if (wrong)
        MPI_Comm_rank(MPI_COMM_NULL, &mine); // @here
    else
        failures += mine + MPI_Comm_rank(MPI_COMM_NULL, &mine);
}

/* A result that is passed to another function is looked at there. */
static void expect(int error)
{
    failures += error != MPI_SUCCESS;
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Send at @here returned an error (MPI_ERR_TAG), and the program did
 * not check [error-ignored]
 */
BUG(check_ignored_tag)
{
    return_errors();
    if (wrong) {
        MPI_Send(numbers, 1, MPI_INT, 0, -7, world); // @here
        expect(MPI_SUCCESS);
    } else {
        expect(MPI_Send(numbers, 1, MPI_INT, 0, -7, world));
    }
}

/* options: --check=errors
 * code: 120
 * says: warning: ranks 0-1: MPI_Group_incl at @here returned an error (MPI_ERR_RANK), and the
 * program did not check [error-ignored]
 */
BUG(check_ignored_group)
{
    MPI_Group whole, part;
    int member = size;

    return_errors();
    MPI_Comm_group(world, &whole);
    if (wrong)
        MPI_Group_incl(whole, 1, &member, &part); // @here
    else if (MPI_Group_incl(whole, 1, &member, &part) == MPI_SUCCESS)
        MPI_Group_free(&part);
    MPI_Group_free(&whole);
}

/* A loop that tests its result at the end, and one that does not. */
/* options: --check=errors
 * code: 120
 * says: warning: rank 0: MPI_Test at @here returned an error (MPI_ERR_TRUNCATE), and the program
 * did not check [error-ignored]
 */
BUG(check_ignored_test)
{
    MPI_Request request;
    int flag = 0, error = MPI_SUCCESS;

    return_errors();
    if (rank == 1)
        MPI_Send(numbers, 4, MPI_INT, 0, 0, world);
    if (rank == 0) {
        MPI_Irecv(numbers, 2, MPI_INT, 1, 0, world, &request);
        while (!flag && error == MPI_SUCCESS)
            if (wrong)
                MPI_Test(&request, &flag, ignore); // @here
            else
                error = MPI_Test(&request, &flag, ignore);
    }
}
