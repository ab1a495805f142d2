/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in the memory of a GPU in MPI calls. Each operation is done twice, with buffers of the
 * host and with buffers of the device, or of both where ranks differ, and the results must be the
 * same bytes.
 *
 *   device_pointers messages | collectives | reductions | windows | counter | partitioned | errors
 *   device_pointers every [STEP [FIRST]]     each predefined operation on each type, or every
 *                                            STEP-th of these pairs
 */
#include <dlfcn.h>
#include <mpi-ext.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address_t;

enum { SIZE = 1 << 18 };

static int rank, size, operations;
static int (*get_address)(const char *, void **, int, uint64_t, void *);
static int (*init)(unsigned), (*retain)(void **, int), (*context_set)(void *);
static int (*alloc)(address_t *, size_t), (*copy)(address_t, address_t, size_t);

static void check(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void open_device(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;

    check(library != NULL, "loading the driver");
    *(void **)&get_address = dlsym(library, "cuGetProcAddress_v2");
    get_address("cuInit", (void **)&init, 12000, 0, NULL);
    get_address("cuDevicePrimaryCtxRetain", (void **)&retain, 12000, 0, NULL);
    get_address("cuCtxSetCurrent", (void **)&context_set, 12000, 0, NULL);
    get_address("cuMemAlloc", (void **)&alloc, 12000, 0, NULL);
    get_address("cuMemcpy", (void **)&copy, 12000, 0, NULL);
    check(init(0) == 0 && retain(&context, 0) == 0 && context_set(context) == 0, "the device");
}

/* A buffer of the host and its like on the device, filled with what this rank fills it with. */
typedef struct {
    char *host, *device, *back;
} buffer_t;

static buffer_t make(void)
{
    buffer_t b = {.host = malloc(SIZE), .back = malloc(SIZE)};
    address_t a;

    check(b.host != NULL && b.back != NULL && alloc(&a, SIZE) == 0, "memory");
    b.device = (char *)(uintptr_t)a;
    return b;
}

static void fill(buffer_t *b, unsigned seed)
{
    for (int i = 0; i < SIZE; i++) {
        seed = seed * 1103515245u + 12345u;
        b->host[i] = (char)((seed >> 20) & 0x3f); /* floats and doubles are numbers, too */
    }
    copy((uintptr_t)b->device, (uintptr_t)b->host, SIZE);
}

static void compare(buffer_t *b, const char *what)
{
    copy((uintptr_t)b->back, (uintptr_t)b->device, SIZE);
    if (memcmp(b->host, b->back, SIZE) != 0)
        for (int i = 0; i < SIZE; i++)
            if (b->host[i] != b->back[i]) {
                fprintf(stderr, "rank %d: %s: byte %d is %d, not %d\n", rank, what, i, b->back[i],
                        b->host[i]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    operations++;
}

static buffer_t in, out;

/* `call` with buffers s and r: of the host; of the device; and mixed. */
#define TWICE(what, call)                                                                          \
    do {                                                                                           \
        for (int mix = 0; mix < 2; mix++) {                                                        \
            char *s, *r;                                                                           \
                                                                                                   \
            fill(&in, (unsigned)rank + 1);                                                         \
            fill(&out, (unsigned)rank + 100);                                                      \
            s = in.host;                                                                           \
            r = out.host;                                                                          \
            call;                                                                                  \
            s = mix && rank % 2 ? in.host : in.device;                                             \
            r = out.device;                                                                        \
            call;                                                                                  \
            compare(&out, what);                                                                   \
        }                                                                                          \
    } while (0)

/* Memory of the host next to that of a device, which was used just before: a small message of it
 * does not wait for its receive. Only the driver for tests has such memory. */
static void beside(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    char *(*find)(void) = NULL, *host, text[16] = "";

    *(void **)&find = dlsym(library, "fake_beside");
    if (find == NULL)
        return;
    host = find() + 64L * rank;
    strcpy(host, "of the host");
    MPI_Sendrecv(host - 4096, 16, MPI_BYTE, rank, 1, host - 8192, 16, MPI_BYTE, rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(host, 16, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
    MPI_Recv(text, 16, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(strcmp(text, "of the host") == 0, "memory beside a device's");
}

static void messages(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, half = size / 2;
    MPI_Datatype column, list, sub;
    MPI_Request q[2];

    MPI_Type_vector(64, 2, 100, MPI_DOUBLE, &column);
    MPI_Type_indexed(3, (int[]){5, 1, 17}, (int[]){40, 3, 700}, MPI_INT, &list);
    MPI_Type_create_subarray(3, (int[]){8, 9, 10}, (int[]){3, 4, 5}, (int[]){1, 2, 3}, MPI_ORDER_C,
                             MPI_FLOAT, &sub);
    MPI_Type_commit(&column);
    MPI_Type_commit(&list);
    MPI_Type_commit(&sub);
    for (int n = 1; n <= SIZE / 8; n *= 8)
        TWICE("a message", {
            if (rank < half)
                MPI_Send(s, n, MPI_DOUBLE, rank + half, n, MPI_COMM_WORLD);
            else if (rank < 2 * half)
                MPI_Recv(r, n, MPI_DOUBLE, rank - half, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
    TWICE("an exchange", {
        MPI_Irecv(r, 5000, MPI_INT, before, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(s, 5000, MPI_INT, next, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    });
    TWICE("columns", MPI_Sendrecv(s, 1, column, next, 2, r, 1, column, before, 2, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE));
    TWICE("columns to bytes", MPI_Sendrecv(s, 2, column, next, 3, r, 256, MPI_DOUBLE, before, 3,
                                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TWICE("lists", MPI_Sendrecv(s, 3, list, next, 4, r, 69, MPI_INT, before, 4, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE));
    TWICE("blocks", MPI_Sendrecv(s, 60, MPI_FLOAT, next, 5, r, 1, sub, before, 5, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE));
    TWICE("packing", {
        int position = 7;

        MPI_Pack(s, 1, column, r, SIZE, &position, MPI_COMM_WORLD);
    });
    beside();
}

static void collectives(void)
{
    MPI_Request q;

    for (int n = 1; n <= 4096; n *= 64) {
        TWICE("a broadcast", {
            MPI_Bcast(r, n, MPI_LONG, size - 1, MPI_COMM_WORLD);
            (void)s;
        });
        TWICE("a gather", MPI_Gather(s, n, MPI_INT, r, n, MPI_INT, 0, MPI_COMM_WORLD));
        TWICE("a scatter", MPI_Scatter(s, n, MPI_INT, r, n, MPI_INT, 1 % size, MPI_COMM_WORLD));
        TWICE("an allgather", MPI_Allgather(s, n, MPI_INT, r, n, MPI_INT, MPI_COMM_WORLD));
        TWICE("an alltoall", MPI_Alltoall(s, n, MPI_INT, r, n, MPI_INT, MPI_COMM_WORLD));
        TWICE("an alltoall in place", {
            MPI_Alltoall(MPI_IN_PLACE, n, MPI_INT, r, n, MPI_INT, MPI_COMM_WORLD);
            (void)s;
        });
        TWICE("a started broadcast", {
            MPI_Ibcast(r, n, MPI_LONG, 0, MPI_COMM_WORLD, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
            (void)s;
        });
        TWICE("a started alltoall", {
            MPI_Ialltoall(s, n, MPI_INT, r, n, MPI_INT, MPI_COMM_WORLD, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        });
    }
}

static void add_odd(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)b)[i] += 3 * ((int *)a)[i];
}

static void reductions(void)
{
    MPI_Request q;
    MPI_Op own;

    MPI_Op_create(add_odd, 0, &own);
    for (int n = 3; n <= 12288; n *= 64) {
        TWICE("a sum", MPI_Allreduce(s, r, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        TWICE("a sum in place", {
            MPI_Allreduce(MPI_IN_PLACE, r, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            (void)s;
        });
        TWICE("a sum of shorts", MPI_Reduce(s, r, n, MPI_SHORT, MPI_SUM, size - 1, MPI_COMM_WORLD));
        TWICE("an operation of the program", MPI_Allreduce(s, r, n, MPI_INT, own, MPI_COMM_WORLD));
        TWICE("a sum of long doubles",
              { /* bytes would be no numbers */
                long double x = rank;

                memset(in.host, 0, 16);
                memcpy(in.host, &x, 10);
                copy((uintptr_t)in.device, (uintptr_t)in.host, 16);
                MPI_Allreduce(s, r, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                memset(out.host + 10, 0, 6); /* padding has any value */
                copy((uintptr_t)out.device + 10, (uintptr_t)out.host + 10, 6);
              });
        TWICE("a scattered sum",
              MPI_Reduce_scatter_block(s, r, n / size, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        TWICE("a scan", MPI_Scan(s, r, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        TWICE("a started sum", {
            MPI_Iallreduce(s, r, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        });
    }
    TWICE("places", MPI_Allreduce(s, r, 9000, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD));
    TWICE("bits", MPI_Allreduce(s, r, 70001, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD));
    TWICE("complex products",
          MPI_Allreduce(s, r, 9000, MPI_C_FLOAT_COMPLEX, MPI_PROD, MPI_COMM_WORLD));
    TWICE("truths", MPI_Allreduce(s, r, 30000, MPI_INT, MPI_LXOR, MPI_COMM_WORLD));
}

/* ---- Each operation on each type ---- */

static const struct {
    const char *name;
    MPI_Op op;
} ops[] = {
#define OP(name)                                                                                   \
    {                                                                                              \
#name, MPI_##name                                                                          \
    }
    OP(MAX), OP(MIN), OP(SUM),  OP(PROD), OP(LAND),   OP(BAND),
    OP(LOR), OP(BOR), OP(LXOR), OP(BXOR), OP(MINLOC), OP(MAXLOC),
};

/* Types whose bytes are numbers, all of them valid; truths are 0 or 1. */
static const struct {
    const char *name;
    MPI_Datatype type;
    int is_truth;
} types[] = {
#define TYPE(name)                                                                                 \
    {                                                                                              \
#name, MPI_##name, 0                                                                       \
    }
#define TRUTH(name)                                                                                \
    {                                                                                              \
#name, MPI_##name, 1                                                                       \
    }
    TYPE(SIGNED_CHAR),
    TYPE(UNSIGNED_CHAR),
    TYPE(BYTE),
    TYPE(SHORT),
    TYPE(UNSIGNED_SHORT),
    TYPE(INT),
    TYPE(UNSIGNED),
    TYPE(LONG),
    TYPE(UNSIGNED_LONG),
    TYPE(LONG_LONG),
    TYPE(UNSIGNED_LONG_LONG),
    TYPE(INT8_T),
    TYPE(INT16_T),
    TYPE(INT32_T),
    TYPE(INT64_T),
    TYPE(UINT8_T),
    TYPE(UINT16_T),
    TYPE(UINT32_T),
    TYPE(UINT64_T),
    TYPE(AINT),
    TYPE(OFFSET),
    TYPE(COUNT),
    TYPE(FLOAT),
    TYPE(DOUBLE),
    TYPE(C_FLOAT_COMPLEX),
    TYPE(C_DOUBLE_COMPLEX),
    TRUTH(C_BOOL),
    TRUTH(LOGICAL),
    TYPE(INTEGER),
    TYPE(REAL),
    TYPE(DOUBLE_PRECISION),
    TYPE(COMPLEX),
    TYPE(FLOAT_INT),
    TYPE(DOUBLE_INT),
    TYPE(LONG_INT),
    TYPE(2INT),
    TYPE(SHORT_INT),
    TYPE(2REAL),
    TYPE(2DOUBLE_PRECISION),
    TYPE(2INTEGER),
};

enum { OPS = sizeof(ops) / sizeof(ops[0]), TYPES = sizeof(types) / sizeof(types[0]) };

static void fill_truths(buffer_t *b)
{
    for (int i = 0; i < SIZE; i++)
        b->host[i] = (char)(i % 4 == 0 && (b->host[i] & 1));
    copy((uintptr_t)b->device, (uintptr_t)b->host, SIZE);
}

/* A long vector: by a kernel where the device has the operation. What is not defined for a type is
 * an error, wherever the data is. */
static void try_pair(int o, int t, int n)
{
    int here, there;
    char what[64];

    snprintf(what, sizeof(what), "%s of %s", ops[o].name, types[t].name);
    fill(&in, (unsigned)rank + 1);
    fill(&out, (unsigned)rank + 100);
    if (types[t].is_truth) {
        for (int i = 0; i < SIZE; i++)
            in.host[i] = (char)(in.host[i] >> 3);
        fill_truths(&in);
    }
    here = MPI_Allreduce(in.host, out.host, n, types[t].type, ops[o].op, MPI_COMM_WORLD);
    there = MPI_Allreduce(in.device, out.device, n, types[t].type, ops[o].op, MPI_COMM_WORLD);
    check(here == there, what);
    compare(&out, what);
}

static void every(int step, int first)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = first; i < OPS * TYPES; i += step) {
        try_pair(i % OPS, i / OPS, 5);
        try_pair(i % OPS, i / OPS, 6001);
    }
}

/* ---- Parts, and what is wrong ---- */

static void partitioned(void)
{
    enum { PARTS = 4, ROUNDS = 3 };
    int next = (rank + 1) % size, before = (rank + size - 1) % size, arrived;
    MPI_Request q[2];

    for (int n = 1; n <= 4096; n *= 64)
        TWICE("parts", {
            MPI_Psend_init(s, PARTS, n, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
            MPI_Precv_init(r, PARTS, n, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
            for (int round = 0; round < ROUNDS; round++) {
                MPI_Startall(2, q);
                for (int p = 0; p < PARTS; p++)
                    MPI_Pready((p + round) % PARTS, q[0]);
                do
                    MPI_Parrived(q[1], PARTS - 1, &arrived);
                while (!arrived);
                MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            }
            MPI_Request_free(&q[0]);
            MPI_Request_free(&q[1]);
        });
}

static void same_error(const char *what, int here, int there)
{
    int a, b;

    MPI_Error_class(here, &a);
    MPI_Error_class(there, &b);
    if (a != b || a == MPI_SUCCESS)
        fprintf(stderr,
                "rank %d: %s: error class %d with the host's memory, %d with the device's\n", rank,
                what, a, b);
    check(a == b && a != MPI_SUCCESS, what);
    operations++;
}

/* Calls that must fail, do so as with memory of the host, and leave what they must not touch. */
#define FAILS(what, call)                                                                          \
    do {                                                                                           \
        char *s = in.host, *r = out.host;                                                          \
        int here, there;                                                                           \
                                                                                                   \
        fill(&in, (unsigned)rank + 1);                                                             \
        fill(&out, (unsigned)rank + 100);                                                          \
        here = call;                                                                               \
        s = in.device;                                                                             \
        r = out.device;                                                                            \
        there = call;                                                                              \
        (void)s;                                                                                   \
        (void)r;                                                                                   \
        same_error(what, here, there);                                                             \
        compare(&out, what);                                                                       \
    } while (0)

static int put_beyond(char *s, char *r, int to)
{
    MPI_Win win;
    int code;

    MPI_Win_create(r, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    code = MPI_Put(s, 100, MPI_INT, to, 0, 100, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    return code;
}

static void errors(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS("a message that is too long", MPI_Sendrecv(s, 5000, MPI_INT, next, 1, r, 10, MPI_INT,
                                                     before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    FAILS("a rank that does not exist", MPI_Send(s, 1, MPI_INT, size, 1, MPI_COMM_WORLD));
    FAILS("a negative count",
          MPI_Recv(r, -1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    FAILS("bits of numbers", MPI_Allreduce(s, r, 6000, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD));
    FAILS("a put beyond the window", put_beyond(s, r, next));
}

/* The effect of `call` on the window of the next rank, which is memory `r`, in an epoch. */
#define WINDOW(what, call)                                                                         \
    TWICE(what, {                                                                                  \
        MPI_Win_create(r, SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);                           \
        MPI_Win_fence(0, win);                                                                     \
        call;                                                                                      \
        MPI_Win_fence(0, win);                                                                     \
        MPI_Win_free(&win);                                                                        \
    })

/* The result of an operation that fetches is put into the window, to be compared as well. */
static void fetched(const char *result, int bytes, int to, MPI_Win win)
{
    MPI_Win_fence(0, win);
    MPI_Put(result, bytes, MPI_BYTE, to, SIZE - bytes, bytes, MPI_BYTE, win);
}

static void accumulates(int n, int to)
{
    MPI_Win win;

    WINDOW("an accumulate", MPI_Accumulate(s, n, MPI_INT, to, 64, n, MPI_INT, MPI_SUM, win));
    WINDOW("an accumulate that is not aligned",
           MPI_Accumulate(s + 3, n, MPI_INT, to, 61, n, MPI_INT, MPI_BXOR, win));
    WINDOW("a replacement",
           MPI_Accumulate(s, n, MPI_DOUBLE, to, 800, n, MPI_DOUBLE, MPI_REPLACE, win));
    WINDOW("pairs",
           MPI_Accumulate(s, n, MPI_DOUBLE_INT, to, 160, n, MPI_DOUBLE_INT, MPI_MAXLOC, win));
    WINDOW("what was there", {
        MPI_Get_accumulate(s, n, MPI_INT, s + SIZE / 2, n, MPI_INT, to, 64, n, MPI_INT, MPI_SUM,
                           win);
        fetched(s + SIZE / 2, 4 * n, to, win);
    });
}

static void attached(const char *s, char *r, int to)
{
    MPI_Aint here = (MPI_Aint)(intptr_t)r, there;
    MPI_Win win;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, r, SIZE);
    MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 0, &there, 1, MPI_AINT, to, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Accumulate(s, 100, MPI_INT, to, there + 64, 100, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_detach(win, r);
    MPI_Win_free(&win);
}

static void windows(void)
{
    int to = (rank + 1) % size;
    MPI_Datatype column;
    MPI_Request q;
    MPI_Win win;
    char *base;

    MPI_Type_vector(20, 3, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int n = 1; n <= 4096; n *= 64) {
        WINDOW("a put", MPI_Put(s, n, MPI_LONG, to, 24, n, MPI_LONG, win));
        WINDOW("a get", {
            MPI_Get(s, n, MPI_LONG, to, 24, n, MPI_LONG, win);
            fetched(s, 8 * n, to, win);
        });
        accumulates(n, to);
    }
    WINDOW("a put of columns", MPI_Put(s, 2, column, to, 16, 2, column, win));
    WINDOW("a sum of columns", MPI_Accumulate(s, 60, MPI_INT, to, 16, 1, column, MPI_SUM, win));
    WINDOW("a sum of columns of the origin",
           MPI_Accumulate(s, 1, column, to, 16, 60, MPI_INT, MPI_SUM, win));
    WINDOW("a sum without origin", {
        MPI_Get_accumulate(NULL, 0, MPI_INT, s, 50, MPI_INT, to, 40, 50, MPI_INT, MPI_NO_OP, win);
        fetched(s, 200, to, win);
    });
    WINDOW("fetching", {
        MPI_Fetch_and_op(s, s + 8, MPI_LONG, to, 32, MPI_SUM, win);
        MPI_Fetch_and_op(s, s + 16, MPI_DOUBLE, to, 48, MPI_MAX, win);
        fetched(s + 8, 16, to, win);
    });
    WINDOW("swaps", {
        MPI_Get(s + 8, 8, MPI_BYTE, to, 72, 8, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        MPI_Compare_and_swap(s, s + 8, s + 16, MPI_LONG, to, 72, win);     /* it is what is there */
        MPI_Compare_and_swap(s + 8, s + 8, s + 24, MPI_LONG, to, 72, win); /* and no longer */
        fetched(s + 16, 16, to, win);
    });
    TWICE("sums in memory of the host", {
        MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        memset(base, rank, SIZE);
        MPI_Win_fence(0, win);
        MPI_Accumulate(s, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Accumulate(s, 3000, MPI_INT, to, 8, 3000, MPI_INT, MPI_SUM, win);
        MPI_Win_fence(0, win);
        MPI_Get(r, SIZE, MPI_BYTE, to, 0, SIZE, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    });
    TWICE("attached memory", attached(s, r, to));
    TWICE("a request", {
        MPI_Win_create(r, SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_lock_all(0, win);
        MPI_Raccumulate(s, 3000, MPI_FLOAT, to, 0, 3000, MPI_FLOAT, MPI_SUM, win, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    });
    MPI_Type_free(&column);
}

/* All ranks count in one word of one device: no two get the same number. */
static void counter(void)
{
    enum { ROUNDS = 25 };
    long one = 1, old, sum = 0, all, mine = 0;
    MPI_Win win;

    copy((uintptr_t)out.device, (uintptr_t)&mine, sizeof(mine));
    MPI_Win_create(out.device, SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        sum += old;
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    copy((uintptr_t)&mine, (uintptr_t)out.device, sizeof(mine));
    if (rank == 0) {
        long n = (long)ROUNDS * size;

        check(mine == n && all == n * (n - 1) / 2, "a counter");
        operations++;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(MPIX_Query_cuda_support() == 1, "MPIX_Query_cuda_support");
    open_device();
    in = make();
    out = make();
    if (strcmp(argv[1], "messages") == 0)
        messages();
    else if (strcmp(argv[1], "collectives") == 0)
        collectives();
    else if (strcmp(argv[1], "windows") == 0)
        windows();
    else if (strcmp(argv[1], "counter") == 0)
        counter();
    else if (strcmp(argv[1], "partitioned") == 0)
        partitioned();
    else if (strcmp(argv[1], "errors") == 0)
        errors();
    else if (strcmp(argv[1], "every") == 0)
        every(argc > 2 ? atoi(argv[2]) : 1, argc > 3 ? atoi(argv[3]) : 0);
    else
        reductions();
    if (rank == 0)
        printf("%s: %d results are right\n", argv[1], operations);
    MPI_Finalize();
    return 0;
}
