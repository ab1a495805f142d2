/* SPDX-License-Identifier: BSD-3-Clause */
/* unknown WHAT NUMBER: give MPI a number that this MPI does not define. The job ends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void use_window(const char *what, int number)
{
    int x = 0;
    MPI_Win win;

    MPI_Win_create(&x, sizeof(x), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (strcmp(what, "lock") == 0)
        MPI_Win_lock(number, 0, 0, win);
    else if (strcmp(what, "assertion") == 0)
        MPI_Win_fence(number, win);
    else
        MPI_Win_lock(MPI_LOCK_SHARED, number, 0, win);
}

static void use_file(const char *what, int number)
{
    int is_open = strcmp(what, "whence") == 0;
    MPI_File file;

    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, "unknown.data",
                  is_open ? MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE : number,
                  MPI_INFO_NULL, &file);
    MPI_File_seek(file, 0, number);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0, x = 0, one = 1;
    MPI_Comm comm;
    MPI_Datatype type;

    MPI_Init(&argc, &argv);
    if (strcmp(what, "rank") == 0)
        MPI_Send(&x, 1, MPI_INT, number, 0, MPI_COMM_WORLD);
    else if (strcmp(what, "tag") == 0)
        MPI_Recv(&x, 1, MPI_INT, 0, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(what, "root") == 0)
        MPI_Bcast(&x, 1, MPI_INT, number, MPI_COMM_WORLD);
    else if (strcmp(what, "split") == 0)
        MPI_Comm_split_type(MPI_COMM_WORLD, number, 0, MPI_INFO_NULL, &comm);
    else if (strcmp(what, "order") == 0)
        MPI_Type_create_subarray(1, &one, &one, &x, number, MPI_INT, &type);
    else if (strcmp(what, "whence") == 0 || strcmp(what, "mode") == 0)
        use_file(what, number);
    else
        use_window(what, number);
    printf("%s %d was accepted\n", what, number);
    MPI_Finalize();
    return 0;
}
