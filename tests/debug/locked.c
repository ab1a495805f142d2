/* SPDX-License-Identifier: BSD-3-Clause */
/* Record locks exclude ranks, and a rank that waits for one lets the others of its core run. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int set(int fd, int command, int type)
{
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_len = 8};

    return fcntl(fd, command, &lock);
}

/* Rank 0 holds the lock while all others find it taken. */
static int is_exclusive(int fd, int rank)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 8};
    int is_right = 1;

    if (rank == 0)
        is_right = set(fd, F_SETLK, F_WRLCK) == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        is_right = set(fd, F_SETLK, F_WRLCK) == -1 && (errno == EAGAIN || errno == EACCES) &&
                   lockf(fd, F_TLOCK, 8) == -1 && lockf(fd, F_TEST, 8) == -1 &&
                   fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        is_right &= lockf(fd, F_TEST, 8) == 0 && lockf(fd, F_ULOCK, 8) == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return is_right;
}

int main(int argc, char **argv)
{
    int rank, size, fd, is_right, are_right;
    long count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fd = open("counted", O_RDWR | O_CREAT, 0666);
    is_right = fd >= 0 && is_exclusive(fd, rank);
    for (int i = 0; i < 20; i++) {
        set(fd, F_SETLKW, F_WRLCK);
        if (pread(fd, &count, sizeof(count), 0) != sizeof(count))
            count = 0;
        usleep(10); /* others run, and must wait */
        count++;
        is_right &= pwrite(fd, &count, sizeof(count), 0) == sizeof(count);
        set(fd, F_SETLK, F_UNLCK);
    }
    MPI_Allreduce(&is_right, &are_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0 && pread(fd, &count, sizeof(count), 0) == sizeof(count))
        printf("%s, counted %ld of %d\n", are_right ? "exclusive" : "not exclusive", count,
               20 * size);
    MPI_Finalize();
    return 0;
}
