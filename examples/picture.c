/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture that all ranks write into one file: MPI-IO.
 *
 *   mpicc -O2 picture.c -o picture && mpiexec -n 6 ./picture rings.pgm
 *
 * Each rank computes one block of the picture. The lines of a block lie far apart in the file, and
 * between them are lines of other blocks. With a view the rank need not care: MPI_File_set_view
 * makes its block all that it sees, and MPI_File_write_all writes all blocks together, in large
 * pieces. Rank 0 writes the few bytes in front that make it a picture (any viewer shows it).
 *
 * Then the ranks read the file again, in lines this time: how a file was written does not matter to
 * those who read it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 300, HEIGHT = 200, MOST = 32 };

static unsigned char brightness(int x, int y)
{
    int dx = x - WIDTH / 2, dy = y - HEIGHT / 2;

    return (unsigned char)((dx * dx + dy * dy) / 64 % 256);
}

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "picture: %s: %s failed\n", name, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The block of this rank: its first line and column, its lines and columns. */
static void find_block(int rank, int size, int dims[2], int starts[2], int counts[2])
{
    const int whole[2] = {HEIGHT, WIDTH};
    int place[2];

    MPI_Dims_create(size, 2, dims);
    place[0] = rank / dims[1];
    place[1] = rank % dims[1];
    for (int d = 0; d < 2; d++) {
        starts[d] = whole[d] * place[d] / dims[d];
        counts[d] = whole[d] * (place[d] + 1) / dims[d] - starts[d];
    }
}

/* Returns the bytes in front of the picture. */
static int write_picture(MPI_File file, int rank, int size, int dims[2])
{
    const int whole[2] = {HEIGHT, WIDTH};
    int starts[2], counts[2], length;
    unsigned char *block;
    MPI_Datatype type;
    char header[MOST];

    length = snprintf(header, sizeof header, "P5\n%d %d\n255\n", WIDTH, HEIGHT);
    if (rank == 0)
        MPI_File_write_at(file, 0, header, length, MPI_CHAR, MPI_STATUS_IGNORE);
    find_block(rank, size, dims, starts, counts);
    block = malloc((size_t)counts[0] * (size_t)counts[1]);
    for (int i = 0; i < counts[0] * counts[1]; i++)
        block[i] = brightness(starts[1] + i % counts[1], starts[0] + i / counts[1]);
    MPI_Type_create_subarray(2, whole, counts, starts, MPI_ORDER_C, MPI_UNSIGNED_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, length, MPI_UNSIGNED_CHAR, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, block, counts[0] * counts[1], MPI_UNSIGNED_CHAR, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    free(block);
    return length;
}

/* The sum of the pixels in the lines of this rank. */
static long read_lines(MPI_File file, int rank, int size, int header)
{
    int first = HEIGHT * rank / size, lines = HEIGHT * (rank + 1) / size - first, got;
    unsigned char *pixels = malloc((size_t)WIDTH * (size_t)lines + 1);
    MPI_Status status;
    long sum = 0;

    MPI_File_set_view(file, header, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_CHAR, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(file, (MPI_Offset)first * WIDTH, pixels, WIDTH * lines, MPI_UNSIGNED_CHAR,
                         &status);
    MPI_Get_count(&status, MPI_UNSIGNED_CHAR, &got);
    for (int i = 0; i < got; i++)
        sum += pixels[i];
    free(pixels);
    return sum;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "picture.pgm";
    int rank, size, header, dims[2] = {0, 0};
    long sum, total = 0;
    MPI_Offset bytes;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) != MPI_SUCCESS)
        fail("MPI_File_open", name);
    header = write_picture(file, rank, size, dims);
    sum = read_lines(file, rank, size, header);
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    if (MPI_File_close(&file) != MPI_SUCCESS)
        fail("MPI_File_close", name);
    if (rank == 0)
        printf("%d x %d pixels in %d x %d blocks, %lld bytes; their sum is %ld\n", WIDTH, HEIGHT,
               dims[0], dims[1], (long long)bytes, total);
    MPI_Finalize();
    return 0;
}
