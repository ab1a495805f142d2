/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint that all write and read again, with a view, together and alone. */
#include <mpi.h>
#include <stdlib.h>

#define N 100

static void save(const char *name, const double *part, int rank)
{
    MPI_File file;
    MPI_Status status;
    int written;

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, rank * (MPI_Offset)(N * sizeof(double)), MPI_DOUBLE, MPI_DOUBLE,
                      "native", MPI_INFO_NULL);
    MPI_File_write_all(file, part, N, MPI_DOUBLE, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &written);
    if (written != N)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_sync(file);
    MPI_File_close(&file);
}

static void load(const char *name, double *part, int rank)
{
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_read_at_all(file, rank * (MPI_Offset)(N * sizeof(double)), part, N, MPI_DOUBLE,
                         MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read(file, part, N / 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    double part[N];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        part[i] = i * rank;
    for (int step = 0; step < 3; step++) {
        save("checkpoint.tmp", part, rank);
        load("checkpoint.tmp", part, (rank + 1) % size);
        MPI_Allreduce(MPI_IN_PLACE, part, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
