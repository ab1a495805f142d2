/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Much data on tmpfs, where ranks copy through mappings of the file: what is written is what others
 * read, the file has the time of the write, and a file that somebody cuts meanwhile ends nothing.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "file.h"

enum {
    LARGE = (4 << 20) + 4096,
    MIDDLE = (600 << 10) + 77, /* more than for what nobody waits */
    BLOCK = 16 << 10,
    BLOCKS = 64,
    SHIFT = 4091, /* places are no whole pages */
    ROUNDS = 2,
    CUTS = XYLEM_SANITIZED ? 5 : 25,
    WORDS = LARGE / 4
};

typedef struct {
    int rank, size;
    char name[NAME];
    MPI_File file;
    unsigned *own, *back;
} place_t;

static unsigned word_of(int rank, int round, int i)
{
    return (unsigned)rank * 2654435761u + (unsigned)round * 40503u + (unsigned)i * 7u;
}

static void fill(const place_t *p, int round)
{
    for (int i = 0; i < WORDS; i++)
        p->own[i] = word_of(p->rank, round, i);
}

static void check_words(const place_t *p, int rank, int round, int bytes)
{
    int different = 0;

    for (int i = 0; i < bytes / 4; i++)
        different += p->back[i] != word_of(rank, round, i);
    CHECK_EQUAL(different, 0);
}

static MPI_Offset place_of(int rank, int bytes)
{
    return SHIFT + (MPI_Offset)rank * bytes;
}

/* All at once, over what was there; then each reads what another has written. */
static void check_runs(const place_t *p, int bytes)
{
    int other = (p->rank + 1) % p->size, got;
    MPI_Status status;

    for (int round = 0; round < ROUNDS; round++) {
        fill(p, round);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int again = 0; again < 2; again++) {
            CHECK_EQUAL(MPI_File_write_at(p->file, place_of(p->rank, bytes), p->own, bytes,
                                          MPI_BYTE, &status),
                        MPI_SUCCESS);
            MPI_Get_count(&status, MPI_BYTE, &got);
            CHECK_EQUAL(got, bytes);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        memset(p->back, 0, LARGE);
        CHECK_EQUAL(
            MPI_File_read_at(p->file, place_of(other, bytes), p->back, bytes, MPI_BYTE, &status),
            MPI_SUCCESS);
        MPI_Get_count(&status, MPI_BYTE, &got);
        CHECK_EQUAL(got, bytes);
        check_words(p, other, round, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The file ends inside of what is read. */
static void check_end(const place_t *p)
{
    MPI_Offset size;
    MPI_Status status;
    int got;

    MPI_File_get_size(p->file, &size);
    CHECK_EQUAL(MPI_File_read_at(p->file, size - LARGE / 2, p->back, LARGE, MPI_BYTE, &status),
                MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(got, LARGE / 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file that was only given its size gets no pages where it is read. */
static void check_holes(const place_t *p)
{
    char name[NAME + 8];
    struct stat about;
    MPI_File file;

    snprintf(name, sizeof(name), "%s-holes", p->name);
    file = file_open(name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_set_size(file, LARGE);
    memset(p->back, 1, LARGE);
    CHECK_EQUAL(MPI_File_read_at(file, 0, p->back, LARGE, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK_EQUAL(p->back[0] | p->back[WORDS - 1], 0);
    CHECK_EQUAL(stat(name, &about), 0);
    CHECK(about.st_blocks < LARGE / 1024);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
}

/* Blocks of all ranks in turn. `lacks`: blocks that the last rank leaves out, as holes. */
static void check_blocks(const place_t *p, int is_collective, int lacks)
{
    int blocks = p->rank == p->size - 1 ? BLOCKS - lacks : BLOCKS, got;
    int bytes = blocks * BLOCK, other = (p->rank + 1) % p->size;
    int (*write)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *) =
        is_collective ? MPI_File_write_at_all : MPI_File_write_at;
    int (*read)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *) =
        is_collective ? MPI_File_read_at_all : MPI_File_read_at;
    MPI_Datatype block, type;
    MPI_Status status;

    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)p->size * BLOCK, &type);
    MPI_Type_commit(&type);
    for (int round = 0; round < ROUNDS; round++) {
        fill(p, round);
        MPI_File_set_view(p->file, (MPI_Offset)p->rank * BLOCK, MPI_BYTE, type, "native",
                          MPI_INFO_NULL);
        for (int again = 0; again < 2; again++) {
            CHECK_EQUAL(write(p->file, 0, p->own, bytes, MPI_BYTE, &status), MPI_SUCCESS);
            MPI_Get_count(&status, MPI_BYTE, &got);
            CHECK_EQUAL(got, bytes);
        }
        MPI_File_set_view(p->file, (MPI_Offset)other * BLOCK, MPI_BYTE, type, "native",
                          MPI_INFO_NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        bytes = (other == p->size - 1 ? BLOCKS - lacks : BLOCKS) * BLOCK;
        memset(p->back, 0, LARGE);
        CHECK_EQUAL(read(p->file, 0, p->back, bytes, MPI_BYTE, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_BYTE, &got);
        CHECK_EQUAL(got, bytes);
        check_words(p, other, round, bytes);
        bytes = blocks * BLOCK;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_set_view(p->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    MPI_Type_free(&block);
}

/* Stores into a mapping leave the time alone: it is set afterwards. */
static void check_time(const place_t *p, int is_closed)
{
    const struct timespec past[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    MPI_File file = file_open(p->name, MPI_MODE_RDWR);
    struct stat about;

    CHECK_EQUAL(utimensat(AT_FDCWD, p->name, past, 0), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_at(file, place_of(p->rank, LARGE), p->own, LARGE, MPI_BYTE, MPI_STATUS_IGNORE);
    if (is_closed)
        MPI_File_close(&file);
    else
        MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(stat(p->name, &about), 0);
    CHECK(about.st_mtime > 1000000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_closed)
        MPI_File_close(&file);
}

/* Rank 0 cuts the file and makes it whole again, while the others write and read. */
static void check_cut(const place_t *p)
{
    MPI_Offset size = place_of(p->size, LARGE);
    int is_over = 0;

    for (int i = 0; p->rank == 0 && i < CUTS; i++) {
        int fd = open(p->name, O_RDWR);

        CHECK_EQUAL(posix_fallocate(fd, 0, (off_t)size), 0);
        close(fd);
        usleep(1000);
        CHECK_EQUAL(truncate(p->name, 100), 0);
    }
    for (int r = 1; p->rank == 0 && r < p->size; r++)
        MPI_Send(NULL, 0, MPI_BYTE, r, 0, MPI_COMM_WORLD);
    while (p->rank != 0 && !is_over) {
        MPI_Offset at = place_of(p->rank, LARGE);

        CHECK_EQUAL(MPI_File_write_at(p->file, at, p->own, LARGE, MPI_BYTE, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        CHECK_EQUAL(MPI_File_read_at(p->file, at, p->back, LARGE, MPI_BYTE, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_over, MPI_STATUS_IGNORE);
    }
    if (p->rank != 0)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    place_t p;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.size);
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    file_name(p.name, "large");
    p.own = malloc(LARGE);
    p.back = malloc(LARGE);
    p.file = file_open(p.name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    check_runs(&p, LARGE);
    check_end(&p);
    check_holes(&p);
    check_runs(&p, MIDDLE);
    for (int is_collective = 0; is_collective < 2; is_collective++) {
        check_blocks(&p, is_collective, 0);
        check_blocks(&p, is_collective, 5);
    }
    check_time(&p, 0);
    check_time(&p, 1);
    check_cut(&p);
    check_runs(&p, LARGE);
    MPI_File_close(&p.file);
    free(p.back);
    free(p.own);
    if (p.rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
