/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many small accesses: workers open the file for themselves, and all that is closed with it;
 * ordered ones of any amounts lie side by side.
 *
 *   small [N]      N descriptors of the file are open in this process after many accesses
 */
#include <dirent.h>
#include <sys/resource.h>

#include "file.h"

enum { MANY = 200, MOST = 300, ROUNDS = XYLEM_SANITIZED ? 5 : 20 };

typedef struct {
    int rank, size;
    char name[NAME];
} place_t;

/* Descriptors of this process that lead to `name`, also when that was removed. */
static int open_descriptors(const char *name)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    int found = 0;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        char path[300], target[NAME + 32];
        ssize_t length;

        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        length = readlink(path, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        found += length > 0 && strncmp(target, name, strlen(name)) == 0;
    }
    closedir(folder);
    return found;
}

/* Each rank writes and reads its own number again and again, by all kinds of pointers. */
static void access_often(const place_t *p, MPI_File file)
{
    for (int i = 0; i < MANY; i++) {
        int value = i * p->size + p->rank, back = -1, got;
        MPI_Offset at = (MPI_Offset)p->rank * (MPI_Offset)sizeof(int);
        MPI_Status status;

        CHECK_EQUAL(MPI_File_write_at(file, at, &value, 1, MPI_INT, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQUAL(got, 1);
        MPI_File_seek(file, at, MPI_SEEK_SET);
        CHECK_EQUAL(MPI_File_read(file, &back, 1, MPI_INT, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQUAL(got, 1);
        CHECK_EQUAL(back, value);
        MPI_File_get_position(file, &at);
        CHECK_EQUAL(at, (p->rank + 1) * (int)sizeof(int));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* `expected`: 0 where it is not known. */
static void check_descriptors(const place_t *p, int expected, int is_removed)
{
    MPI_File file = file_open(p->name, MPI_MODE_CREATE | MPI_MODE_RDWR);

    if (is_removed && p->rank == 0)
        unlink(p->name);
    MPI_Barrier(MPI_COMM_WORLD);
    access_often(p, file);
    if (expected > 0)
        CHECK_EQUAL(open_descriptors(p->name), expected);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD); /* the last to come closes it */
    CHECK_EQUAL(open_descriptors(p->name), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A process that may have few descriptors keeps them for the program. */
static void check_few(const place_t *p, int expected)
{
    MPI_File file = file_open(p->name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    struct rlimit before, few;

    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 7;
    MPI_Barrier(MPI_COMM_WORLD);
    if (p->rank == 0)
        setrlimit(RLIMIT_NOFILE, &few);
    MPI_Barrier(MPI_COMM_WORLD);
    access_often(p, file);
    if (p->rank == 0)
        setrlimit(RLIMIT_NOFILE, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    if (expected > 0)
        CHECK_EQUAL(open_descriptors(p->name), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
}

/* Where the bytes of each rank begin, all of one round; [size] is the end. */
static void deal(int size, unsigned *state, MPI_Offset *begin)
{
    begin[0] = 0;
    for (int r = 0; r < size; r++)
        begin[r + 1] = begin[r] + next_random(state) % MOST;
}

static char byte_at(int round, MPI_Offset at)
{
    return (char)(round * 31 + at * 7 + at / 251);
}

/* A read returns `most` bytes or the rest of the file. */
static void check_read(MPI_File file, int round, MPI_Offset at, int most, MPI_Offset end)
{
    int expected = at >= end ? 0 : at + most > end ? (int)(end - at) : most, got;
    char back[2 * MOST];
    MPI_Status status;

    memset(back, 0, sizeof(back));
    CHECK_EQUAL(MPI_File_read_ordered(file, back, most, MPI_BYTE, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(got, expected);
    for (int i = 0; i < got; i++)
        CHECK_EQUAL(back[i], byte_at(round, at + i));
}

/* Random amounts, some of them none; then they are read in others, beyond the end, too. */
static void check_ordered(const place_t *p)
{
    MPI_Offset *begin = malloc(((size_t)p->size + 1) * sizeof(*begin)), end, size;
    unsigned state = 7;
    char own[MOST];

    for (int round = 0; round < ROUNDS; round++) {
        MPI_File file =
            file_open(p->name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        MPI_Status status;
        int n, got;

        deal(p->size, &state, begin);
        n = (int)(begin[p->rank + 1] - begin[p->rank]);
        for (int i = 0; i < n; i++)
            own[i] = byte_at(round, begin[p->rank] + i);
        CHECK_EQUAL(MPI_File_write_ordered(file, own, n, MPI_BYTE, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_BYTE, &got);
        CHECK_EQUAL(got, n);
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        end = begin[p->size];
        MPI_File_get_size(file, &size);
        CHECK_EQUAL(size, end);
        deal(p->size, &state, begin);
        check_read(file, round, begin[p->rank], (int)(begin[p->rank + 1] - begin[p->rank]), end);
        check_read(file, round, begin[p->size] + (MPI_Offset)p->rank * 2 * MOST, 2 * MOST, end);
        MPI_File_close(&file);
    }
    free(begin);
}

int main(int argc, char **argv)
{
    place_t place;
    int expected;

    MPI_Init(&argc, &argv);
    expected = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &place.size);
    file_name(place.name, "small");
    check_descriptors(&place, expected, 0);
    check_descriptors(&place, expected, 1);
    check_few(&place, expected);
    check_ordered(&place);
    unlink(place.name);
    if (place.rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
