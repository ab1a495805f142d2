/* SPDX-License-Identifier: BSD-3-Clause */
/* --check with ranks on several workers: the same findings wherever they run, and no others. */
#include "testing/mpi_p2p.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/check/check.h"

enum { RANKS = 6, LONG = 5000 };

static const char *checks;

/* The first rank that ends the job does so, as in a launcher. */
static void end_here(int code)
{
    static atomic_flag is_ending = ATOMIC_FLAG_INIT;

    while (atomic_flag_test_and_set(&is_ending))
        pause();
    _exit(mpi_check_finish(code));
}

static void begin(mpi_job_t *job)
{
    static mpi_check_config_t config = {.program = "ring", .ranks = RANKS};
    char why[XMPI_CHECK_WHY];

    CHECK(mpi_checks_parse(checks, &mpi_checks, why));
    job->abort = end_here;
    job->reviver = &mpi_check_reviver;
    CHECK(mpi_check_begin(&config) == XY_OK);
}

/* While the job is there: findings name its ranks. */
static void finish(mpi_job_t *job)
{
    (void)job;
    end_here(0);
}

/* The exit code of a job in a process of its own, whose messages are not shown: there is one set of
 * findings in a process. */
static int run_checked(const char *words, int workers, int spread, void (*body)(int, int))
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) /* findings are counted by the exit code */
            _exit(99);
        checks = words;
        ranks_prepare = begin;
        ranks_finish = finish;
        ranks_settings.progress = XMPI_PROGRESS_TASKS;
        run_ranks(RANKS, workers, spread, XMPI_EAGER_LIMIT, body);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* On one worker and on several, with and without a communication core. */
static void expect(int code, const char *words, void (*body)(int, int))
{
    for (int workers = 1; workers <= 3; workers++)
        for (int spread = 0; spread < (workers > 1 ? 2 : 1); spread++)
            for (ranks_comm_workers = 0; ranks_comm_workers < 2; ranks_comm_workers++)
                assert_int_equal(run_checked(words, workers, spread, body), code);
    ranks_comm_workers = 0;
}

/* ---- Without a mistake ---- */

static void exchange(int rank, int size, int count)
{
    int *out = malloc((size_t)count * sizeof(int)), *in = malloc((size_t)count * sizeof(int));
    MPI_Request requests[2];

    for (int i = 0; i < count; i++)
        out[i] = rank + i;
    MPI_Irecv(in, count, MPI_INT, (rank + size - 1) % size, count, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, count, MPI_INT, (rank + 1) % size, count, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        CHECK(in[i] == (rank + size - 1) % size + i);
    free(in);
    free(out);
}

/* Receives from any source while some poll, some are parked and some are not there yet. */
static void collect(int rank, int size)
{
    int number = rank, sum = 0, flag = 0;
    MPI_Request request;
    MPI_Status status;

    if (rank > 0) {
        MPI_Send(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; i++) {
        if (i % 3 == 0) {
            MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
            MPI_Recv(&number, 1, MPI_INT, status.MPI_SOURCE, 7, MPI_COMM_WORLD, &status);
        } else {
            MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
            for (flag = 0; !flag && i % 3 == 1;)
                MPI_Test(&request, &flag, &status);
            MPI_Wait(&request, i % 3 == 1 ? MPI_STATUS_IGNORE : &status);
        }
        sum += number;
    }
    CHECK(sum == size * (size - 1) / 2);
}

static void put_around(int rank, int size)
{
    int window[2] = {rank, -1}, mine = rank;
    MPI_Win win;

    MPI_Win_create(window, sizeof(window), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(window[1] == (rank + size - 1) % size);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&mine, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    CHECK(rank > 0 || window[0] == size * (size - 1) / 2);
}

static void work(int rank, int size)
{
    static const int counts[] = {1, 10, 1000, LONG};
    int sum;

    for (int turn = 0; turn < 4; turn++) {
        exchange(rank, size, counts[turn]);
        collect(rank, size);
        put_around(rank, size);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
    }
}

static void test_innocent(void **state)
{
    (void)state;
    expect(0, "", work);
}

/* ---- With one ---- */

static void send_first(int rank, int size)
{
    int number = rank, other = (rank + size / 2) % size;

    MPI_Send(&number, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(number == other);
}

static void test_sends(void **state)
{
    (void)state;
    expect(XMPI_EXIT_WARNINGS, "sends", send_first);
    expect(0, "buffers", send_first);
}

static void test_wildcards(void **state)
{
    (void)state;
    expect(XMPI_EXIT_WARNINGS, "wildcards,strict", collect);
    expect(0, "wildcards", collect);
}

static void put_all(int rank, int size)
{
    int window = 0;
    MPI_Win win;

    (void)size;
    MPI_Win_create(&window, sizeof(window), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* The puts of this program race, as a sanitizer would say. */
static void test_windows(void **state)
{
    (void)state;
    if (!XYLEM_SANITIZED)
        expect(XMPI_EXIT_ERRORS, "windows", put_all);
}

static void receive_twice(int rank, int size)
{
    int in = 0;
    MPI_Request requests[2];

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; i++)
        MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void change_early(int rank, int size)
{
    int in = 0, out = rank;
    MPI_Request request;

    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
    in = -1;
    MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_buffers(void **state)
{
    (void)state;
    expect(XMPI_EXIT_ERRORS, "buffers", receive_twice);
    expect(XMPI_EXIT_ERRORS, "buffers,sends", change_early);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_innocent), cmocka_unit_test(test_sends),
        cmocka_unit_test(test_wildcards), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_buffers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
