/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: what ranks must do together, and what one of them may not do. */
#include "bugs.h"

static MPI_File file;

static void open_file(void)
{
    MPI_File_open(world, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

/* options: --check=leaks
 * code: 120
 * says: warning: ranks 0-1: 1 file never closed: made by MPI_File_open (at @here) [never-freed]
 */
BUG(file_never_closed)
{
    MPI_File_open(world, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file); // @here
    if (!wrong)
        MPI_File_close(&file);
}

/* says: rank 0 calls MPI_File_open with MPI_MODE_RDONLY at @here, rank 1 calls MPI_File_open with
 * MPI_MODE_RDWR at @here; all members must make the same calls in the same order
 */
BUG(file_other_mode)
{
    int amode = wrong && rank == 1 ? MPI_MODE_RDWR : MPI_MODE_RDONLY;

    MPI_File_open(world, "/dev/null", amode, MPI_INFO_NULL, &file); // @here
    MPI_File_close(&file);
}

/* The last of several: in another process perhaps.
 * ranks: 4
 * says: rank 0 calls MPI_File_open with MPI_MODE_RDONLY at @here, rank 3 calls MPI_File_open with
 * MPI_MODE_RDWR at @here
 */
BUG(file_last_mode)
{
    int amode = wrong && rank == 3 ? MPI_MODE_RDWR : MPI_MODE_RDONLY;

    MPI_File_open(world, "/dev/null", amode, MPI_INFO_NULL, &file); // @here
    MPI_File_close(&file);
}

/* says: disagree about collective 2 of the file /dev/null
 * says: rank 0 calls MPI_File_write_all at @here
 * says: rank 1 calls MPI_File_read_all at @there
 */
BUG(file_other_call)
{
    open_file();
    if (wrong && rank == 1)
        MPI_File_read_all(file, others, 1, MPI_INT, ignore); // @there
    else
        MPI_File_write_all(file, numbers, 1, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* says: rank 0: in MPI_File_write_all on the file /dev/null, at @here
 * says: cause: rank 0 waits in MPI_File_write_all on the file /dev/null for rank 1, rank 1 waits in
 * MPI_Barrier on MPI_COMM_WORLD for rank 0
 */
BUG(file_write_all_missed)
{
    open_file();
    if (!wrong || rank == 0)
        MPI_File_write_all(file, numbers, 1, MPI_INT, ignore); // @here
    MPI_Barrier(world);                                        // @there
    MPI_File_close(&file);
}

/* says: rank 0: in MPI_Wait, at @here, for MPI_File_iwrite_all on the file /dev/null, at @start
 * says: rank 1: in MPI_Barrier on MPI_COMM_WORLD, at @there
 * says: cause: rank 0 waits in MPI_File_iwrite_all on the file /dev/null for rank 1, rank 1 waits
 * in MPI_Barrier on MPI_COMM_WORLD for rank 0
 */
BUG(file_iwrite_all_missed)
{
    MPI_Request request = MPI_REQUEST_NULL;

    open_file();
    if (!wrong || rank == 0)
        MPI_File_iwrite_all(file, numbers, 1, MPI_INT, &request); // @start
    MPI_Wait(&request, ignore);                                   // @here
    MPI_Barrier(world);                                           // @there
    MPI_File_close(&file);
}

/* says: rank 0: in MPI_File_write_ordered_begin on the file /dev/null, at @here
 * says: cause: rank 0 waits in MPI_File_write_ordered_begin on the file /dev/null for rank 1, rank
 * 1 waits for a message with tag 3 from rank 0
 */
BUG(file_ordered_missed)
{
    open_file();
    if (wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
    MPI_File_write_ordered_begin(file, numbers, 1, MPI_INT); // @here
    MPI_File_write_ordered_end(file, numbers, ignore);
    MPI_File_close(&file);
}

/* code: 45
 * says: rank 1: MPI_File_write: /dev/null was opened with MPI_MODE_RDONLY (MPI_ERR_READ_ONLY; at
 * @here)
 */
BUG(file_read_only)
{
    int amode = wrong ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;

    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(world, "/dev/null", amode, MPI_INFO_NULL, &file);
    if (rank == 1)
        MPI_File_write(file, numbers, 1, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* code: 30
 * says: MPI_File_seek: the file is not an open file: it was freed at @there (MPI_ERR_FILE; at
 * @here)
 */
BUG(file_used_after_close)
{
    MPI_File copy;

    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    open_file();
    copy = file;
    if (wrong)
        MPI_File_close(&file);            // @there
    MPI_File_seek(copy, 1, MPI_SEEK_SET); // @here
    if (!wrong)
        MPI_File_close(&file);
}

/* says: disagree about collective 2 of the file /dev/null
 * says: rank 0 calls MPI_File_write_at_all at @here
 * says: rank 1 calls MPI_File_close at @there
 */
BUG(file_write_and_close)
{
    open_file();
    if (!wrong || rank == 0)
        MPI_File_write_at_all(file, 0, numbers, 1, MPI_INT, ignore); // @here
    MPI_File_close(&file);                                           // @there
}

/* Members of one process wait for each other on a communicator of their own: it has the name of the
 * file, too.
 * ranks: 4
 * options: --processes 2
 * says: rank 1 waits in MPI_File_write_at_all on the file /dev/null for rank 0
 */
BUG(file_close_beside_write)
{
    open_file();
    if (!wrong || rank != 0)
        MPI_File_write_at_all(file, 0, numbers, 1, MPI_INT, ignore);
    MPI_File_close(&file);
}
