/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files. Plain MPI-3, so that it compiles with any MPI library.
 *
 *   io WHAT FILE [--seconds S | --least]
 *
 *   write:N read:N         each rank has N bytes in one run, one rank behind the other
 *   strided:B              each rank has 1 MiB in blocks of B bytes, those of other ranks between:
 *   strided_read:B         ... each rank for itself,
 *   all:B all_read:B       ... and all together (MPI_File_write_all, MPI_File_read_all)
 *   ordered:N              N bytes of each rank, by the shared pointer in order of rank
 *
 * The line is `WHAT SECONDS` of one access, the slowest rank; the median of some rounds. With
 * --least, the least of many short ones: for machines that do other work, too. Files keep their
 * size, and are written once before.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, SHORT_ROUNDS = 500, AMOUNT = 1 << 20 };

static int rank, size;
static double budget = 0.3;
static int is_least;
static MPI_File file;
static char *buffer;
static int bytes;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void fail(const char *what)
{
    fprintf(stderr, "io: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_own(void)
{
    MPI_File_write_at(file, (MPI_Offset)rank * bytes, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void read_own(void)
{
    MPI_File_read_at(file, (MPI_Offset)rank * bytes, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void write_strided(void)
{
    MPI_File_write_at(file, 0, buffer, AMOUNT, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void read_strided(void)
{
    MPI_File_read_at(file, 0, buffer, AMOUNT, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void write_together(void)
{
    MPI_File_write_at_all(file, 0, buffer, AMOUNT, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void read_together(void)
{
    MPI_File_read_at_all(file, 0, buffer, AMOUNT, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void write_ordered(void)
{
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(file, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*access)(void);
    int is_strided;
} kinds[] = {{"write", write_own, 0},       {"read", read_own, 0},
             {"strided", write_strided, 1}, {"strided_read", read_strided, 1},
             {"all", write_together, 1},    {"all_read", read_together, 1},
             {"ordered", write_ordered, 0}};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Its whole length: a file that was only given its size has no pages, and what is read are zeros
 * from nowhere. */
static void fill(void)
{
    int room = bytes > AMOUNT ? bytes : AMOUNT;

    MPI_File_set_size(file, (MPI_Offset)size * room);
    MPI_File_write_at(file, (MPI_Offset)rank * room, buffer, room, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Blocks of `bytes`, those of all ranks in turn. */
static void set_view(void)
{
    MPI_Datatype block, type;

    MPI_Type_contiguous(bytes, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)size * bytes, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    MPI_Type_free(&block);
}

static double time_of(void (*access)(void), int times)
{
    double begin, seconds, most;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < times; i++)
        access();
    seconds = (MPI_Wtime() - begin) / times;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static double measure(void (*access)(void))
{
    double found[SHORT_ROUNDS], spent = 0, enough = is_least ? 1e-4 : budget / ROUNDS;
    int times = 1, rounds = is_least ? SHORT_ROUNDS : ROUNDS;

    time_of(access, 1);
    /* Ranks that share cores take turns: in a short round each would be timed as if it were alone.
     */
    while (time_of(access, times) * times < enough && times < 1 << 26)
        times *= 2;
    for (int i = 0; i < rounds; i++) {
        found[i] = time_of(access, times);
        spent += found[i] * times; /* all ranks know the same */
        if (is_least && i >= ROUNDS && spent > 1)
            rounds = i + 1;
    }
    qsort(found, (size_t)rounds, sizeof(found[0]), compare);
    return found[is_least ? 0 : rounds / 2];
}

int main(int argc, char **argv)
{
    const char *colon;
    double seconds;
    int kind = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3 || (colon = strchr(argv[1], ':')) == NULL)
        fail("usage: io WHAT:N FILE");
    while (kind < KINDS && (strlen(kinds[kind].name) != (size_t)(colon - argv[1]) ||
                            strncmp(kinds[kind].name, argv[1], strlen(kinds[kind].name)) != 0))
        kind++;
    if (kind == KINDS)
        fail(argv[1]);
    bytes = atoi(colon + 1);
    if (argc > 4 && strcmp(argv[3], "--seconds") == 0)
        budget = atof(argv[4]);
    is_least = argc == 4 && strcmp(argv[3], "--least") == 0;
    buffer = malloc(bytes > AMOUNT ? (size_t)bytes : AMOUNT);
    memset(buffer, rank + 1, bytes > AMOUNT ? (size_t)bytes : AMOUNT);
    if (MPI_File_open(MPI_COMM_WORLD, argv[2],
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file) != MPI_SUCCESS)
        fail("MPI_File_open");
    fill();
    if (kinds[kind].is_strided)
        set_view();
    seconds = measure(kinds[kind].access);
    if (rank == 0)
        printf("%s %.9f\n", argv[1], seconds);
    free(buffer);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
