/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and files whose last member fails: calls that need it return MPIX_ERR_PROC_FAILED, those
 * that do not work, and the object can be freed.
 *
 *   survive_memory WHAT HOW      the last rank fails (kill, exit) while it has the lock of rank 0
 *
 * WHAT: lock, lock_all, fence, groups, large, request, dynamic, making, file, ordered, opening
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGS = 1 << 17 };

static int rank, size, last;
static const char *how;

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static int is_failed(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class == MPIX_ERR_PROC_FAILED;
}

/* The last rank ends here, and the others know it when they return. */
static void fail(void)
{
    MPI_Status status;
    char nothing;

    if (rank == last && strcmp(how, "exit") == 0)
        exit(3);
    if (rank == last)
        raise(SIGKILL);
    check(is_failed(MPI_Recv(&nothing, 1, MPI_CHAR, last, 9, MPI_COMM_WORLD, &status)),
          "no failure is seen");
}

static MPI_Win window(long **memory)
{
    MPI_Win win;

    check(MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                           memory, &win) == MPI_SUCCESS,
          "no window");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(*memory, 0, LONGS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/* Put a number to the next live rank, and check that it is there. */
static void use(MPI_Win win, int is_locked)
{
    long number = 40 + rank, seen = 0;
    int next = (rank + 1) % last;

    if (!is_locked)
        check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win) == MPI_SUCCESS, "no lock");
    check(MPI_Put(&number, 1, MPI_LONG, next, 3, 1, MPI_LONG, win) == MPI_SUCCESS, "no put");
    check(MPI_Win_flush(next, win) == MPI_SUCCESS, "no flush");
    check(MPI_Get(&seen, 1, MPI_LONG, next, 3, 1, MPI_LONG, win) == MPI_SUCCESS, "no get");
    if (is_locked)
        check(MPI_Win_flush(next, win) == MPI_SUCCESS, "no second flush");
    else
        check(MPI_Win_unlock(next, win) == MPI_SUCCESS, "no unlock");
    check(seen == number, "another number");
}

static void end(MPI_Win win)
{
    check(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL, "the window is not freed");
}

/* ---- Windows ---- */

static void lose_lock(void)
{
    long *memory, number = 1;
    MPI_Win win = window(&memory);

    if (rank == last)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last)
        usleep(300000);
    else if (rank == 1) /* waits for the lock that the last rank has */
        check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win) == MPI_SUCCESS &&
                  MPI_Win_unlock(0, win) == MPI_SUCCESS,
              "a lock of a failed rank is not given back");
    fail();
    check(is_failed(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win)), "a failed rank is locked");
    check(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win) == MPI_SUCCESS, "no shared lock");
    check(MPI_Put(&number, 1, MPI_LONG, last, 0, 1, MPI_LONG, win) != MPI_SUCCESS,
          "no error without a lock");
    check(MPI_Win_unlock(0, win) == MPI_SUCCESS, "no unlock");
    use(win, 0);
    end(win);
}

static void lose_lock_all(void)
{
    long *memory, number = 1, sum = 0;
    MPI_Win win = window(&memory);

    MPI_Win_lock_all(0, win);
    if (rank != last) /* waits for the flush */
        MPI_Put(&number, 1, MPI_LONG, last, rank, 1, MPI_LONG, win);
    MPI_Barrier(MPI_COMM_WORLD);
    fail();
    /* The memory of a rank that has ended by itself is still there for others of its process. */
    check(is_failed(MPI_Win_flush_all(win)) || strcmp(how, "exit") == 0, "a lost put is flushed");
    check(is_failed(MPI_Fetch_and_op(&number, &sum, MPI_LONG, last, 0, MPI_SUM, win)) ||
              strcmp(how, "exit") == 0,
          "a failed rank adds");
    check(is_failed(MPI_Win_flush(last, win)), "a failed rank is flushed");
    use(win, 1);
    check(MPI_Win_flush_all(win) == MPI_SUCCESS, "nothing was lost since");
    check(MPI_Win_unlock_all(win) == MPI_SUCCESS, "nothing is lost by the unlock");
    check(MPI_Win_lock_all(0, win) == MPI_SUCCESS && MPI_Win_unlock_all(win) == MPI_SUCCESS,
          "no lock of those that live");
    end(win);
}

static void lose_fence(void)
{
    long *memory, number = 7;
    MPI_Win win = window(&memory);

    MPI_Win_fence(0, win);
    if (rank == last)
        fail();
    MPI_Put(&number, 1, MPI_LONG, last, 0, 1, MPI_LONG, win);
    check(is_failed(MPI_Win_fence(0, win)), "a fence without a member");
    check(is_failed(MPI_Win_fence(0, win)), "a second fence without a member");
    end(win);
}

/* Posts to all, starts to all. */
static void lose_groups(void)
{
    long *memory, number = 7;
    MPI_Group all;
    MPI_Win win = window(&memory);
    int code;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (rank == last)
        fail();
    code = MPI_Win_post(all, 0, win);
    check(code == MPI_SUCCESS || is_failed(code), "another error of a post");
    check(is_failed(MPI_Win_start(all, 0, win)), "a start without a member");
    check(MPI_Put(&number, 1, MPI_LONG, 0, rank, 1, MPI_LONG, win) == MPI_SUCCESS, "no put");
    check(is_failed(MPI_Win_complete(win)), "complete without a member");
    check(is_failed(MPI_Win_wait(win)), "wait without a member");
    for (int r = 0; rank == 0 && r < last; r++)
        check(memory[r] == 7, "a put of a live rank is lost");
    MPI_Group_free(&all);
    end(win);
}

/* Messages of the transport are on their way when their target fails. */
static void lose_large(void)
{
    long *memory, *data = calloc(LONGS, sizeof(long));
    MPI_Win win = window(&memory);

    MPI_Win_lock_all(0, win);
    if (rank == last)
        fail();
    for (int i = 0; i < 1000; i++) {
        if (MPI_Put(data, LONGS, MPI_LONG, last, 0, LONGS, MPI_LONG, win) != MPI_SUCCESS)
            break;
        if (MPI_Get(data, LONGS, MPI_LONG, last, 0, LONGS, MPI_LONG, win) != MPI_SUCCESS)
            break;
        if (MPI_Accumulate(data, LONGS, MPI_LONG, last, 0, LONGS, MPI_LONG, MPI_SUM, win) !=
            MPI_SUCCESS)
            break;
        if (MPI_Win_flush_local(last, win) != MPI_SUCCESS)
            break;
    }
    check(is_failed(MPI_Win_flush(last, win)), "all has come to a failed rank");
    use(win, 1);
    MPI_Win_unlock_all(win);
    end(win);
    free(data);
}

static void lose_request(void)
{
    long *memory, *data = calloc(LONGS, sizeof(long));
    MPI_Win win = window(&memory);
    MPI_Request request;
    int code = MPI_SUCCESS;

    MPI_Win_lock_all(0, win);
    if (rank == last)
        fail();
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; i++) {
        code = MPI_Rget(data, i % 2 ? LONGS : 1, MPI_LONG, last, 0, i % 2 ? LONGS : 1, MPI_LONG,
                        win, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check(is_failed(code), "a failed rank gives data");
    MPI_Win_unlock_all(win);
    end(win);
    free(data);
}

static void lose_dynamic(void)
{
    long number = 1, *memory = calloc(1, sizeof(*memory));
    MPI_Aint here, there;
    MPI_Win win;
    int code = MPI_SUCCESS;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_attach(win, memory, sizeof(*memory));
    MPI_Get_address(memory, &here);
    there = here;
    MPI_Bcast(&there, 1, MPI_AINT, last, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == last)
        fail();
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; i++)
        code = MPI_Put(&number, 1, MPI_LONG, last, there, 1, MPI_LONG, win);
    check(is_failed(code), "no error of a dynamic window");
    MPI_Win_unlock_all(win);
    end(win);
}

static void lose_making(void)
{
    long *memory;
    MPI_Win win;
    int code = MPI_SUCCESS;

    if (rank == last) {
        usleep(20000);
        fail();
    }
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; i++) {
        code = MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        if (code == MPI_SUCCESS)
            end(win);
    }
    check(is_failed(code), "a window is made with a failed rank");
}

/* ---- Files ---- */

static MPI_File open_file(int *code)
{
    MPI_File file = MPI_FILE_NULL;

    *code = MPI_File_open(MPI_COMM_WORLD, "memory.data", MPI_MODE_CREATE | MPI_MODE_RDWR,
                          MPI_INFO_NULL, &file);
    return file;
}

static void lose_file(void)
{
    int code, number = rank, seen = -1;
    MPI_File file = open_file(&code);

    check(code == MPI_SUCCESS, "no file");
    check(MPI_File_write_at_all(file, rank * 4, &number, 4, MPI_BYTE, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS,
          "no collective write");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last)
        fail();
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; i++) {
        code = MPI_File_write_at_all(file, rank * 4, &number, 4, MPI_BYTE, MPI_STATUS_IGNORE);
        usleep(100); /* nobody waits in the call: the last rank may need this core */
    }
    check(is_failed(code), "a collective write without a member");
    check(is_failed(MPI_File_sync(file)), "a sync without a member");
    check(is_failed(MPI_File_set_size(file, 100)), "a size without a member");
    check(is_failed(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)),
          "a view without a member");
    check(MPI_File_read_at(file, rank * 4, &seen, 4, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
              seen == rank,
          "a rank cannot read alone");
    check(MPI_File_close(&file) == MPI_SUCCESS, "the file is not closed");
}

static void lose_ordered(void)
{
    int code, number = rank;
    MPI_File file = open_file(&code);

    check(MPI_File_write_shared(file, &number, 4, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "no shared write");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last)
        fail();
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; i++)
        code = MPI_File_write_ordered(file, &number, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    check(is_failed(code), "an ordered write without a member");
    check(MPI_File_close(&file) == MPI_SUCCESS, "the file is not closed");
}

static void lose_opening(void)
{
    int code = MPI_SUCCESS;
    MPI_File file;

    if (rank == last) {
        usleep(20000);
        fail();
    }
    for (int i = 0; i < 100000 && code == MPI_SUCCESS; i++) {
        file = open_file(&code);
        if (code == MPI_SUCCESS)
            MPI_File_close(&file);
    }
    check(is_failed(code), "a file is opened with a failed rank");
}

static const struct {
    const char *name;
    void (*lose)(void);
} cases[] = {{"lock", lose_lock},       {"lock_all", lose_lock_all}, {"fence", lose_fence},
             {"groups", lose_groups},   {"large", lose_large},       {"request", lose_request},
             {"dynamic", lose_dynamic}, {"making", lose_making},     {"file", lose_file},
             {"ordered", lose_ordered}, {"opening", lose_opening}};

int main(int argc, char **argv)
{
    int one = 1, sum = 0, is_known = 0;
    MPI_Comm shrunk;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    last = size - 1;
    how = argc > 2 ? argv[2] : "kill";
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            is_known = 1;
            cases[i].lose();
        }
    check(is_known, "the case is not known");
    check(MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk) == MPI_SUCCESS, "no shrink");
    check(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, shrunk) == MPI_SUCCESS && sum == last,
          "no sum of the survivors");
    MPI_Comm_free(&shrunk);
    if (rank == 0)
        printf("%d survivors\n", sum);
    MPI_Finalize();
    return 0;
}
