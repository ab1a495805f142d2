/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that ranks access at the same time: reported with --check. */
#include <unistd.h>

#include "bugs.h"

static MPI_File open_at_once(void)
{
    char name[] = "/tmp/xylem_bug_XXXXXX";
    MPI_File file;
    int fd = rank == 0 ? mkstemp(name) : -1;

    if (rank == 0 && (fd < 0 || ftruncate(fd, 4096) != 0 || close(fd) != 0))
        MPI_Abort(world, 1);
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, world);
    for (int i = 0; i < 16; i++)
        numbers[i] = rank; /* the same data would be the same in any order */
    MPI_File_open(world, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 0)
        unlink(name); /* the job may end before it is closed */
    return file;
}

/* No rank continues before all have left MPI_File_open. */
static MPI_File open_shared(void)
{
    MPI_File file = open_at_once();

    MPI_Barrier(world);
    return file;
}

/* The right program puts what the standard wants between two accesses. */
static void order(MPI_File file)
{
    if (wrong)
        return;
    MPI_File_sync(file);
    MPI_Barrier(world);
    MPI_File_sync(file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at at @here and MPI_File_write_at of rank * at @here use the
 * same byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync
 * between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_write_write)
{
    MPI_File file = open_shared();

    MPI_File_write_at(file, 512, others, 4, MPI_INT, ignore); /* each writes the same */
    MPI_File_write_at(file, wrong ? 0 : 16 * rank, numbers, 4, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_* at check_shared_files.c:* and MPI_File_* of rank * at
 * check_shared_files.c:* use the same byte 64 of '*', and nothing orders them; put MPI_File_sync,
 * MPI_Barrier and MPI_File_sync between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_write_read)
{
    MPI_File file = open_shared();

    if (rank == 0)
        MPI_File_write_at(file, 64, numbers, 4, MPI_INT, ignore);
    order(file);
    if (rank == 1)
        MPI_File_read_at(file, 64, others, 4, MPI_INT, ignore);
    MPI_File_close(&file);
}

/* They have one integer in common.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at at @here and MPI_File_write_at of rank * at @here use the
 * same byte 16 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync
 * between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_part)
{
    MPI_File file = open_shared();
    int count = wrong ? 5 : 4;

    MPI_File_write_at(file, 16 * rank, numbers, count, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write at @here and MPI_File_write of rank * at @here use the same
 * byte 8 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync between
 * them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_pointers)
{
    MPI_File file = open_shared();

    MPI_File_seek(file, wrong ? 8 : 8 + 8 * rank, MPI_SEEK_SET);
    MPI_File_write(file, numbers, 2, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at_all at @here and MPI_File_write_at_all of rank * at @here
 * use the same byte 4 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and
 * MPI_File_sync between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_collective)
{
    MPI_File file = open_shared();

    MPI_File_write_at_all(file, wrong ? 4 : 4 * rank, numbers, 1, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* Every second block belongs to a rank.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write at @here and MPI_File_write of rank * at @here use the same
 * byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync between
 * them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_view)
{
    MPI_File file = open_shared();
    MPI_Datatype mine;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, wrong ? 0 : 4 * rank, MPI_INT, mine, "native", MPI_INFO_NULL);
    MPI_Barrier(world);
    MPI_File_write(file, numbers, 10, MPI_INT, ignore); // @here
    MPI_Type_free(&mine);
    MPI_File_close(&file);
}

/* Only the last block meets one of the other rank.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_all at @here and MPI_File_write_all of rank * at @here use
 * the same byte 24 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and
 * MPI_File_sync between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_last_block)
{
    MPI_File file = open_shared();
    int one[4] = {1, 1, 1, 1}, at[2][4] = {{0, 2, 4, 6}, {1, 3, 5, wrong ? 6 : 7}};
    MPI_Datatype mine;

    MPI_Type_indexed(4, one, at[rank], MPI_INT, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, 0, MPI_INT, mine, "native", MPI_INFO_NULL);
    MPI_Barrier(world);
    MPI_File_write_all(file, numbers, 4, MPI_INT, ignore); // @here
    MPI_Type_free(&mine);
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_iwrite_at at @here and MPI_File_iwrite_at of rank * at @here use
 * the same byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync
 * between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_nonblocking)
{
    MPI_File file = open_shared();
    MPI_Request request;

    MPI_File_iwrite_at(file, wrong ? 0 : 4 * rank, numbers, 1, MPI_INT, &request); // @here
    MPI_Wait(&request, ignore);
    MPI_File_close(&file);
}

/* The message comes before the access.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at at * and MPI_File_write_at of rank * at * use the same
 * byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync between
 * them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_early_message)
{
    MPI_File file = open_shared();

    if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 0, world, ignore);
        usleep(100000);
        MPI_File_write_at(file, 0, numbers, 1, MPI_INT, ignore); // @second
    } else {
        if (wrong)
            MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
        MPI_File_write_at(file, 0, numbers, 1, MPI_INT, ignore); // @first
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
    }
    MPI_File_close(&file);
}

/* The third rank does not hear of the first one.
 * options: --check=buffers
 * code: 121
 * ranks: 3
 * says: error: rank *: MPI_File_* at * and MPI_File_* of rank * at * use the same byte 4 of '*',
 * and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync between them, or use
 * MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_chain)
{
    MPI_File file = open_shared();

    if (rank == 0)
        MPI_File_write_at(file, 0, numbers, 8, MPI_INT, ignore);
    if (rank == 0 && !wrong)
        MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
    if (rank == 1 && !wrong)
        MPI_Recv(others, 1, MPI_INT, 0, 0, world, ignore);
    if (rank == 1 && !wrong)
        MPI_Send(numbers, 1, MPI_INT, 2, 0, world);
    if (rank == 2) {
        if (!wrong)
            MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
        MPI_File_read_at(file, 4, others, 1, MPI_INT, ignore);
    }
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at at @here and MPI_File_write_at of rank * at @here use the
 * same byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync
 * between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_not_atomic)
{
    MPI_File file = open_shared();

    MPI_File_set_atomicity(file, !wrong);
    MPI_Barrier(world);
    MPI_File_write_at(file, 0, numbers, 4, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at_all_begin at @here and MPI_File_write_at_all_begin of rank
 * * at @here use the same byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier
 * and MPI_File_sync between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_split)
{
    MPI_File file = open_shared();

    MPI_File_write_at_all_begin(file, wrong ? 0 : 40 * rank, numbers, 9, MPI_INT); // @here
    MPI_File_write_at_all_end(file, numbers, ignore);
    MPI_File_close(&file);
}

/* Opening a file is no order of what comes after it.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at at @here and MPI_File_write_at of rank * at @here use the
 * same byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync
 * between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_opened)
{
    MPI_File file = open_at_once();

    if (rank == 1)
        usleep(50000);
    MPI_File_write_at(file, wrong ? 0 : 16 * rank, numbers, 4, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write at @here and MPI_File_write of rank * at @here use the same
 * byte 32 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync between
 * them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_viewed)
{
    MPI_File file = open_at_once();

    MPI_File_set_view(file, wrong ? 32 : 32 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write(file, numbers, 4, MPI_INT, ignore); // @here
    MPI_File_close(&file);
}

/* Only the blocks of the last call meet.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at_all at @here and MPI_File_write_at_all of rank * at @here
 * use the same byte 64 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and
 * MPI_File_sync between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_last_call)
{
    MPI_File file = open_at_once();

    for (int i = 0; i < 3; i++) {
        int at = 32 * i + (wrong && i == 2 ? 0 : 16 * rank);

        MPI_File_write_at_all(file, at, numbers, 4, MPI_INT, ignore); // @here
    }
    MPI_File_close(&file);
}

/* Calls between the accesses that tell nothing of other ranks.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_File_write_at at @here and MPI_File_write_at of rank * at @here use the
 * same byte 0 of '*', and nothing orders them; put MPI_File_sync, MPI_Barrier and MPI_File_sync
 * between them, or use MPI_File_set_atomicity [file-conflict]
 */
BUG(check_file_other_calls)
{
    MPI_File file = open_shared();
    MPI_Group group;
    MPI_Info info;
    int n;

    if (rank == 1)
        usleep(50000);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Comm_group(world, &group);
    MPI_Group_size(group, &n);
    MPI_File_write_at(file, wrong ? 0 : 16 * rank, numbers, 4, MPI_INT, ignore); // @here
    MPI_Group_free(&group);
    MPI_Info_free(&info);
    MPI_File_close(&file);
}
