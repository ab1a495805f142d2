/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks fail at random times, in random ways, and the others go on.
 *
 *   survive random SEED       rounds of operations, in which victims fail; all survivors must see
 *                             the same agreements and the same groups
 *   survive handler HOW       the last rank fails, and an error handler replaces the communicator
 *   survive OPERATION HOW     the last rank fails (kill, stop, exit, _exit, crash) before OPERATION
 * of the others, or in the middle of it
 *   survive                   rank 0 aborts
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 18 };

static uint64_t state;

/* The same numbers in all ranks. */
static unsigned draw(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

static void fail(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    kill(getpid(), strcmp(how, "stop") == 0 ? SIGSTOP : SIGKILL);
    pause();
}

static void check(int is_right, const char *what)
{
    int rank;

    if (is_right)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static int is_failure(int code)
{
    int class = class_of(code);

    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ||
           class == MPIX_ERR_PROC_FAILED_PENDING;
}

/* One operation on `comm`, number `which`; its code. */
static int operate(MPI_Comm comm, unsigned which)
{
    static int numbers[LONG], sums[LONG];
    int rank, size, one = 1, sum = 0;
    MPI_Request requests[2];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    switch (which) {
    case 0:
        return MPI_Barrier(comm);
    case 1:
        return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    case 2:
        return MPI_Allreduce(numbers, sums, LONG, MPI_INT, MPI_SUM, comm);
    case 3:
        return MPI_Bcast(numbers, LONG, MPI_INT, 0, comm);
    case 4:
        return MPI_Sendrecv(&one, 1, MPI_INT, (rank + 1) % size, 1, &sum, 1, MPI_INT,
                            (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    case 5:
        return MPI_Sendrecv(numbers, LONG, MPI_INT, (rank + 1) % size, 1, sums, LONG, MPI_INT,
                            (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    case 6:
        MPI_Irecv(&sum, 1, MPI_INT, (rank + size - 1) % size, 2, comm, &requests[0]);
        MPI_Isend(&one, 1, MPI_INT, (rank + 1) % size, 2, comm, &requests[1]);
        return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    case 7:
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
        return MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    default:
        return MPI_Allgather(&one, 1, MPI_INT, numbers, 1, MPI_INT, comm);
    }
}

enum { OPERATIONS = 9 };

static const char *const ways[] = {"kill", "exit", "_exit", "crash"};

typedef struct {
    int value, error, size, hash;
} seen_t;

/* All ranks have seen the same as this one. */
static void compare(MPI_Comm comm, const seen_t *own, int size)
{
    seen_t *all = malloc((size_t)size * sizeof(*all));
    int flag = 5;

    check(MPI_Allgather(own, sizeof(*own), MPI_BYTE, all, sizeof(*own), MPI_BYTE, comm) ==
              MPI_SUCCESS,
          "an error after all victims have failed");
    for (int i = 0; i < size; i++)
        check(memcmp(&all[i], own, sizeof(*own)) == 0, "another agreement or group elsewhere");
    free(all);
    /* Nobody goes on, and fails, before all others are here. */
    check(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag == 5, "survivors do not agree");
}

static int hash_of(MPI_Comm comm)
{
    MPI_Group world, group;
    int size, hash = 17;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comm, &group);
    MPI_Group_size(group, &size);
    for (int i = 0; i < size; i++) {
        int rank;

        MPI_Group_translate_ranks(group, 1, &i, world, &rank);
        hash = hash * 31 + rank;
    }
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    return hash;
}

/* A round: victims fail at one of the points; the others shrink. Returns the new communicator. */
static MPI_Comm play(MPI_Comm comm, int world)
{
    enum { BEFORE, BETWEEN, REVOKED, AGREEING, SHRINKING, POINTS };
    int size, ranks[2], point[2], victims, flag, code = MPI_SUCCESS;
    unsigned operation = draw(OPERATIONS), way = draw(4), pause = draw(3000);
    MPI_Comm next;
    seen_t seen;

    MPI_Comm_size(comm, &size);
    victims = size > 2 ? 1 + (int)draw(2) : 1;
    for (int i = 0; i < 2; i++) {
        ranks[i] = (int)draw((unsigned)size);
        point[i] = (int)draw(POINTS);
    }
    MPI_Comm_rank(comm, &world);
    for (int p = BEFORE; p < POINTS; p++) {
        for (int i = 0; i < victims; i++)
            if (ranks[i] == world && point[i] == p) {
                usleep(pause);
                fail(ways[way]);
            }
        if (p <= BETWEEN && code == MPI_SUCCESS) {
            code = operate(comm, operation);
            check(code == MPI_SUCCESS || is_failure(code), "an operation fails in another way");
        } else if (p == REVOKED) {
            MPIX_Comm_revoke(comm);
            check(class_of(MPI_Barrier(comm)) == MPIX_ERR_REVOKED, "not revoked");
        } else if (p == AGREEING) {
            flag = ~(1 << world);
            seen.error = class_of(MPIX_Comm_agree(comm, &flag));
            seen.value = flag;
            check((flag & 1 << world) == 0, "the own flag does not count");
            check(seen.error == MPI_SUCCESS || seen.error == MPIX_ERR_PROC_FAILED,
                  "an agreement fails");
        } else if (p == SHRINKING) {
            check(MPIX_Comm_shrink(comm, &next) == MPI_SUCCESS, "shrink fails");
        }
    }
    MPI_Comm_size(next, &seen.size);
    check(seen.size <= size - 1 || size == 1, "nobody has failed");
    seen.hash = hash_of(next);
    compare(next, &seen, seen.size);
    return next;
}

static void play_rounds(const char *seed, int rank)
{
    MPI_Comm comm = MPI_COMM_WORLD, next;
    int size;

    state = strtoull(seed, NULL, 10) * 2654435761u + 99;
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < 3 && size > 1; round++) {
        next = play(comm, rank);
        if (comm != MPI_COMM_WORLD)
            MPI_Comm_free(&comm);
        comm = next;
        MPI_Comm_size(comm, &size);
    }
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        printf("survivors agree\n");
}

/* The last rank fails; what the others do returns an error, and they go on without it. */
static void lose_last(const char *what, const char *how)
{
    unsigned operation = (unsigned)atoi(what);
    int rank, size, code = MPI_SUCCESS, flag, sum, one = 1;
    MPI_Comm shrunk;
    MPI_Group failed;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1)
        fail(how);
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; i++)
        code = operate(MPI_COMM_WORLD, operation);
    check(class_of(code) == MPIX_ERR_PROC_FAILED || class_of(code) == MPIX_ERR_REVOKED,
          "no failure is seen");
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_is_revoked(MPI_COMM_WORLD, &flag);
    check(flag == 1, "not revoked");
    check(MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk) == MPI_SUCCESS, "shrink fails");
    MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
    MPI_Group_size(failed, &sum);
    check(sum == 1, "not one failure");
    MPI_Group_free(&failed);
    check(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, shrunk) == MPI_SUCCESS && sum == size - 1,
          "no sum of the survivors");
    if (rank == 0)
        printf("%d survivors\n", sum);
    MPI_Comm_free(&shrunk);
}

static MPI_Comm repaired;

static void repair(MPI_Comm *comm, int *code, ...)
{
    MPI_Comm next;

    check(*comm == repaired && is_failure(*code), "another error");
    MPIX_Comm_revoke(repaired);
    check(MPIX_Comm_shrink(repaired, &next) == MPI_SUCCESS, "shrink fails in a handler");
    MPI_Comm_free(&repaired);
    repaired = next;
}

/* The survivors notice nothing but a smaller communicator. */
static void repair_in_handler(const char *how)
{
    int rank, size, sum = 0, one = 1, flag = 1;
    MPI_Errhandler handler;

    MPI_Comm_dup(MPI_COMM_WORLD, &repaired);
    MPI_Comm_rank(repaired, &rank);
    MPI_Comm_size(repaired, &size);
    MPI_Comm_create_errhandler(repair, &handler);
    MPI_Comm_set_errhandler(repaired, handler);
    for (int i = 0; i < 10; i++) {
        /* Nobody may revoke the communicator before all others have their sum of i == 4. */
        if (i == 5)
            check(MPIX_Comm_agree(repaired, &flag) == MPI_SUCCESS, "ranks do not agree");
        if (i == 5 && rank == size - 1)
            fail(how);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, repaired);
        check(i == 5 || sum == (i < 5 ? size : size - 1), "another sum");
    }
    if (rank == 0)
        printf("%d survivors\n", sum);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&repaired);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc < 3 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (argc < 3) /* another abort would be another message */
        pause();
    if (strcmp(argv[1], "random") == 0)
        play_rounds(argv[2], rank);
    else if (strcmp(argv[1], "handler") == 0)
        repair_in_handler(argv[2]);
    else
        lose_last(argv[1], argv[2]);
    MPI_Finalize();
    return 0;
}
