/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of file accesses, and of roots that do not wait: reported with --check. */
#include <unistd.h>

#include "bugs.h"

static MPI_File open_own(void)
{
    char name[] = "/tmp/xylem_bug_XXXXXX";
    MPI_File file;
    int fd = mkstemp(name);

    if (fd < 0 || ftruncate(fd, 4096) != 0 || close(fd) != 0)
        MPI_Abort(world, 1);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    unlink(name); /* the job may end before it is closed */
    return file;
}

/* A block of so many integers, in the wrong program of 4 fewer. */
__attribute__((noinline)) static int *room(int count)
{
    return calloc((size_t)(count - (wrong ? 4 : 0)), sizeof(int)); // @room
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write at @here writes from a block of 64 bytes, allocated at @room;
 * its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_file_short_write)
{
    MPI_File file = open_own();
    int *mine = room(20);

    MPI_File_write(file, mine, 20, MPI_INT, ignore); // @here
    free(mine);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_read_at at @here reads into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_file_short_read_at)
{
    MPI_File file = open_own();
    int *mine = room(20);

    MPI_File_read_at(file, 0, mine, 20, MPI_INT, ignore); // @here
    free(mine);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_all at @here writes from a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_file_short_all)
{
    MPI_File file = open_own();
    int *mine = room(20);

    MPI_File_write_all(file, mine, 20, MPI_INT, ignore); // @here
    free(mine);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_iread at @here reads into a block of 64 bytes, allocated at @room;
 * its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_file_short_iread)
{
    MPI_File file = open_own();
    MPI_Request request;
    int *mine = room(20);

    MPI_File_iread(file, mine, 20, MPI_INT, &request); // @here
    MPI_Wait(&request, ignore);
    free(mine);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 120
 * says: warning: ranks 0-1: MPI_File_write at @here has MPI_INT, but the variable 'values' has
 * elements of type double [buffer-type]
 */
BUG(check_file_type)
{
    MPI_File file = open_own();
    double values[4] = {0};

    MPI_File_write(file, values, 4, wrong ? MPI_INT : MPI_DOUBLE, ignore); // @here
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 120
 * says: warning: ranks 0-1: MPI_File_read at @here has MPI_FLOAT, but the variable 'values' has
 * elements of type int [buffer-type]
 */
BUG(check_file_type_read)
{
    MPI_File file = open_own();
    int values[4];

    MPI_File_read(file, values, 4, wrong ? MPI_FLOAT : MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: the write buffer of MPI_File_iwrite at @here was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_file_changed)
{
    MPI_File file = open_own();
    MPI_Request request;

    MPI_File_iwrite(file, numbers, 100, MPI_INT, &request); // @here
    if (wrong)
        numbers[50]++;
    MPI_Wait(&request, ignore); // @wait
    numbers[50]++;
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: the write buffer of MPI_File_iwrite_at at @here was changed before
 * MPI_Waitall at @wait [buffer-changed]
 */
BUG(check_file_changed_second)
{
    MPI_File file = open_own();
    MPI_Request requests[2];

    MPI_File_iwrite_at(file, 0, others, 10, MPI_INT, &requests[0]);
    MPI_File_iwrite_at(file, 10, numbers, 10, MPI_INT, &requests[1]); // @here
    numbers[wrong ? 9 : 10] = 7;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // @wait
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_iread_at at @second reads into memory that MPI_File_iread_at at
 * @first reads into, which is not complete; they have byte 4 of its buffer in common
 * [buffer-overlap]
 */
BUG(check_file_overlap)
{
    MPI_File file = open_own();
    MPI_Request requests[2];

    MPI_File_iread_at(file, 0, numbers, 2, MPI_INT, &requests[0]);                   // @first
    MPI_File_iread_at(file, 2, numbers + (wrong ? 1 : 2), 2, MPI_INT, &requests[1]); // @second
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at at @write writes from memory that MPI_File_iread_at at
 * @read reads into, which is not complete; they have byte 0 of its buffer in common
 * [buffer-overlap]
 */
BUG(check_file_read_write)
{
    MPI_File file = open_own();
    MPI_Request request;

    MPI_File_iread_at(file, 0, numbers, 2, MPI_INT, &request); // @read
    if (!wrong)
        MPI_Wait(&request, ignore);
    MPI_File_write_at(file, 8, numbers, 2, MPI_INT, ignore); // @write
    MPI_Wait(&request, ignore);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write at @here writes from memory that was freed at
 * @free: a block of 80 bytes, allocated at @block [buffer-freed]
 */
BUG(check_file_freed)
{
    MPI_File file = open_own();
    int *mine = calloc(20, sizeof(int)); // @block

    if (wrong)
        free(mine);                                  // @free
    MPI_File_write(file, mine, 20, MPI_INT, ignore); // @here
    if (!wrong)
        free(mine);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Iscatter at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_root_iscatter)
{
    MPI_Request request;

    MPI_Iscatter(numbers, 10, MPI_INT, others, 10, MPI_INT, 0, world, &request); // @start
    if (wrong && rank == 0)
        numbers[15]++;
    MPI_Wait(&request, ignore); // @wait
    numbers[15]++;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Iscatterv at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_root_iscatterv)
{
    int counts[2] = {3, 5}, at[2] = {0, 8}, n = counts[rank];
    MPI_Request request;

    MPI_Iscatterv(numbers, counts, at, MPI_INT, others, n, MPI_INT, 0, world, &request); // @start
    if (rank == 0)
        numbers[wrong ? 12 : 5]++;
    MPI_Wait(&request, ignore); // @wait
}

/* The next round of a loop.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Ibcast at @start was changed before MPI_Waitall at
 * @wait [buffer-changed]
 */
BUG(check_root_ibcast_loop)
{
    MPI_Request requests[2];

    for (int i = 0; i < 2; i++) {
        int *mine = wrong ? numbers : numbers + 10 * i;

        if (rank == 0)
            mine[0] = i + 1;
        if (rank == 1)
            mine = numbers + 10 * i;
        MPI_Ibcast(mine, 10, MPI_INT, 0, world, &requests[i]); // @start
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // @wait
}
