/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single calls of every kind, for comparing libraries on random cases. Plain MPI-3, so that it
 * compiles with any MPI library.
 *
 *   sweep ROWS FIRST SECONDS LEVEL FOLDER
 *
 * ROWS is a file with one case per line, `FAMILY WHAT HOW BYTES BUFFERS DETAIL`; the cases from
 * number FIRST on are measured, each for about SECONDS. LEVEL is `single` or `multiple`. FOLDER is
 * for files. Prints `NUMBER TIME` for each: seconds of one call on the slowest rank, the median of
 * some rounds; -1: the library has no such call.
 *
 *   message     pingpong stream exchange unexpected sendrecv any; HOW: blocking nonblocking
 *               persistent synchronous. Ranks 2k and 2k + 1 are partners; a single rank sends to
 *               itself.
 *   collective  the names of MPI; HOW: blocking nonblocking persistent; DETAIL: root.type
 *   neighbour   the same on a periodic grid
 *   window      put get rput rget add getadd fetch compare; HOW: flush lock fence pscw;
 *               DETAIL: pair (rank 0 to the last) or all (all to rank 0), and .type
 *   datatype    vector indexed block struct subarray nested; HOW: pack unpack send
 *   file        write read strided ordered; HOW: own all nonblocking
 *
 * BYTES are those of a message, a vector, or the block of a rank. BUFFERS is `warm`, or `cold`:
 * each call has other buffers, of 32 MiB in all on all ranks together.
 */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, AREA = 32 << 20, WORD = 64, STREAM = 16, MOST_SETS = 4096, MOST_RANKS = 256 };

#if MPI_VERSION >= 4
#define PERSISTENT(name) MPI_##name##_init
#define HAS_PERSISTENT   1
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PERSISTENT(name) MPIX_##name##_init
#define HAS_PERSISTENT   1
#else
#define HAS_PERSISTENT 0
#endif

typedef struct {
    char family[16], what[24], how[16], buffers[8], detail[24];
    long bytes;
} row_t;

static const char *folder;
static int rank, size, partner;
static row_t row;
static char *in_area, *out_area, *in, *out; /* the sets of buffers, and that of this call */
static size_t in_stride, out_stride;
static long sets;
static int n; /* elements of `type` */
static MPI_Datatype type;
static MPI_Op op;
static int type_size, root;
static MPI_Comm comm; /* the world, or a grid */
static int counts[MOST_RANKS], places[MOST_RANKS], widths[MOST_RANKS], offsets[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static MPI_Request *made; /* persistent requests of each set of buffers, or NULL */
static MPI_Win win;
static MPI_Group group;
static MPI_File file;
static int is_refused; /* the library has no such call */

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void fail(const char *what)
{
    fprintf(stderr, "sweep: %s: %s %s %s %ld %s %s\n", what, row.family, row.what, row.how,
            row.bytes, row.buffers, row.detail);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* ---- Messages ---- */

static void send_one(char *data, int tag)
{
    MPI_Request r;

    if (is(row.how, "synchronous")) {
        MPI_Ssend(data, n, type, partner, tag, comm);
    } else if (is(row.how, "nonblocking")) {
        MPI_Isend(data, n, type, partner, tag, comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(data, n, type, partner, tag, comm);
    }
}

static void receive_one(char *data, int tag)
{
    int from = is(row.what, "any") ? MPI_ANY_SOURCE : partner;
    MPI_Request r;

    if (is(row.how, "nonblocking")) {
        MPI_Irecv(data, n, type, from, tag, comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, n, type, from, tag, comm, MPI_STATUS_IGNORE);
    }
}

static void both(long i)
{
    MPI_Request r[2];

    if (made != NULL) {
        MPI_Startall(2, made + 2 * (i % sets));
        MPI_Waitall(2, made + 2 * (i % sets), MPI_STATUSES_IGNORE);
    } else if (is(row.what, "sendrecv")) {
        MPI_Sendrecv(in, n, type, partner, 0, out, n, type, partner, 0, comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(out, n, type, partner, 0, comm, &r[0]);
        if (is(row.how, "synchronous"))
            MPI_Issend(in, n, type, partner, 0, comm, &r[1]);
        else
            MPI_Isend(in, n, type, partner, 0, comm, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
}

/* Many messages one way and an answer. */
static void stream(void)
{
    MPI_Request r[STREAM];
    char word;

    for (int k = 0; k < STREAM; k++)
        if (rank % 2 == 0)
            MPI_Isend(in, n, type, partner, k, comm, &r[k]);
        else
            MPI_Irecv(out, n, type, partner, k, comm, &r[k]);
    MPI_Waitall(STREAM, r, MPI_STATUSES_IGNORE);
    if (rank % 2 == 0)
        MPI_Recv(&word, 1, MPI_BYTE, partner, STREAM, comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(&word, 1, MPI_BYTE, partner, STREAM, comm);
}

/* The message is there before its receive: that for the second is posted first. */
static void unexpected(void)
{
    char word = 0;

    if (rank % 2 == 0) {
        MPI_Request r;

        MPI_Isend(in, n, type, partner, 0, comm, &r);
        MPI_Send(&word, 1, MPI_BYTE, partner, 1, comm);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Recv(&word, 1, MPI_BYTE, partner, 2, comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&word, 1, MPI_BYTE, partner, 1, comm, MPI_STATUS_IGNORE);
        receive_one(out, 0);
        MPI_Send(&word, 1, MPI_BYTE, partner, 2, comm);
    }
}

static void message(long i)
{
    if (partner == MPI_PROC_NULL)
        return;
    if (partner == rank || is(row.what, "exchange") || is(row.what, "sendrecv")) {
        both(i);
    } else if (is(row.what, "stream")) {
        stream();
    } else if (is(row.what, "unexpected")) {
        unexpected();
    } else if (rank % 2 == 0) {
        send_one(in, 0);
        receive_one(out, 0);
    } else {
        receive_one(out, 0);
        send_one(in, 0);
    }
}

static void message_prepare(void)
{
    if (!is(row.how, "persistent") || partner == MPI_PROC_NULL)
        return;
    made = malloc(2 * (size_t)sets * sizeof(*made));
    for (long s = 0; s < sets; s++) {
        MPI_Recv_init(out_area + s * out_stride, n, type, partner, 0, comm, &made[2 * s]);
        MPI_Send_init(in_area + s * in_stride, n, type, partner, 0, comm, &made[2 * s + 1]);
    }
}

/* ---- Collectives ---- */

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT_ONE } form_t;

#if HAS_PERSISTENT
#define INIT(call) call
#else
#define INIT(call) (is_refused = 1)
#endif

/* One collective in its three forms; the arguments in brackets. */
#define FORMS(name, ...)                                                                           \
    static void call_##name(form_t form, MPI_Request *r)                                           \
    {                                                                                              \
        if (form == BLOCKING)                                                                      \
            MPI_##name(__VA_ARGS__);                                                               \
        else if (form == NONBLOCKING)                                                              \
            MPI_I##name(__VA_ARGS__, r);                                                           \
        else                                                                                       \
            INIT(PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, r));                                 \
    }

#define MPI_IBarrier              MPI_Ibarrier
#define MPI_IBcast                MPI_Ibcast
#define MPI_IGather               MPI_Igather
#define MPI_IGatherv              MPI_Igatherv
#define MPI_IScatter              MPI_Iscatter
#define MPI_IScatterv             MPI_Iscatterv
#define MPI_IAllgather            MPI_Iallgather
#define MPI_IAllgatherv           MPI_Iallgatherv
#define MPI_IAlltoall             MPI_Ialltoall
#define MPI_IAlltoallv            MPI_Ialltoallv
#define MPI_IAlltoallw            MPI_Ialltoallw
#define MPI_IReduce               MPI_Ireduce
#define MPI_IAllreduce            MPI_Iallreduce
#define MPI_IScan                 MPI_Iscan
#define MPI_IExscan               MPI_Iexscan
#define MPI_IReduce_scatter       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_INeighbor_allgather   MPI_Ineighbor_allgather
#define MPI_INeighbor_allgatherv  MPI_Ineighbor_allgatherv
#define MPI_INeighbor_alltoall    MPI_Ineighbor_alltoall
#define MPI_INeighbor_alltoallv   MPI_Ineighbor_alltoallv

FORMS(Barrier, comm)
FORMS(Bcast, in, n, type, root, comm)
FORMS(Gather, in, n, type, out, n, type, root, comm)
FORMS(Gatherv, in, counts[rank], type, out, counts, places, type, root, comm)
FORMS(Scatter, in, n, type, out, n, type, root, comm)
FORMS(Scatterv, in, counts, places, type, out, counts[rank], type, root, comm)
FORMS(Allgather, in, n, type, out, n, type, comm)
FORMS(Allgatherv, in, counts[rank], type, out, counts, places, type, comm)
FORMS(Alltoall, in, n, type, out, n, type, comm)
FORMS(Alltoallv, in, widths, offsets, type, out, widths, offsets, type, comm)
FORMS(Alltoallw, in, widths, offsets, types, out, widths, offsets, types, comm)
FORMS(Reduce, in, out, n, type, op, root, comm)
FORMS(Allreduce, in, out, n, type, op, comm)
FORMS(Scan, in, out, n, type, op, comm)
FORMS(Exscan, in, out, n, type, op, comm)
FORMS(Reduce_scatter, in, out, counts, type, op, comm)
FORMS(Reduce_scatter_block, in, out, n, type, op, comm)
FORMS(Neighbor_allgather, in, n, type, out, n, type, comm)
FORMS(Neighbor_allgatherv, in, n, type, out, widths, offsets, type, comm)
FORMS(Neighbor_alltoall, in, n, type, out, n, type, comm)
FORMS(Neighbor_alltoallv, in, widths, offsets, type, out, widths, offsets, type, comm)

/* `blocks_in`, `blocks_out`: blocks in each buffer; 0: one of each rank. */
static const struct {
    const char *name;
    void (*call)(form_t form, MPI_Request *r);
    int blocks_in, blocks_out;
} collectives[] = {
    {"barrier", call_Barrier, 1, 1},
    {"bcast", call_Bcast, 1, 1},
    {"gather", call_Gather, 1, 0},
    {"gatherv", call_Gatherv, 2, 0},
    {"scatter", call_Scatter, 0, 1},
    {"scatterv", call_Scatterv, 0, 2},
    {"allgather", call_Allgather, 1, 0},
    {"allgatherv", call_Allgatherv, 2, 0},
    {"alltoall", call_Alltoall, 0, 0},
    {"alltoallv", call_Alltoallv, 0, 0},
    {"alltoallw", call_Alltoallw, 0, 0},
    {"reduce", call_Reduce, 1, 1},
    {"allreduce", call_Allreduce, 1, 1},
    {"scan", call_Scan, 1, 1},
    {"exscan", call_Exscan, 1, 1},
    {"reduce_scatter", call_Reduce_scatter, 0, 2},
    {"reduce_scatter_block", call_Reduce_scatter_block, 0, 1},
    {"neighbor_allgather", call_Neighbor_allgather, 1, 8},
    {"neighbor_allgatherv", call_Neighbor_allgatherv, 1, 8},
    {"neighbor_alltoall", call_Neighbor_alltoall, 8, 8},
    {"neighbor_alltoallv", call_Neighbor_alltoallv, 8, 8},
};

static int which; /* of them */

static void collective(long i)
{
    MPI_Request r;

    if (made != NULL) {
        MPI_Start(&made[i % sets]);
        MPI_Wait(&made[i % sets], MPI_STATUS_IGNORE);
    } else if (is(row.how, "nonblocking")) {
        collectives[which].call(NONBLOCKING, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        collectives[which].call(BLOCKING, NULL);
    }
}

static void collective_prepare(void)
{
    if (!is(row.how, "persistent"))
        return;
    made = malloc((size_t)sets * sizeof(*made));
    for (long s = 0; s < sets && !is_refused; s++) {
        in = in_area + s * in_stride;
        out = out_area + s * out_stride;
        collectives[which].call(PERSISTENT_ONE, &made[s]);
    }
}

/* ---- Windows ---- */

static void operate(int target)
{
    static long one = 1, zero, old;
    MPI_Request r;

    if (is(row.what, "put"))
        MPI_Put(in, n, type, target, 0, n, type, win);
    else if (is(row.what, "get"))
        MPI_Get(out, n, type, target, 0, n, type, win);
    else if (is(row.what, "rput"))
        MPI_Rput(in, n, type, target, 0, n, type, win, &r);
    else if (is(row.what, "rget"))
        MPI_Rget(out, n, type, target, 0, n, type, win, &r);
    else if (is(row.what, "add"))
        MPI_Accumulate(in, n, type, target, 0, n, type, op, win);
    else if (is(row.what, "getadd"))
        MPI_Get_accumulate(in, n, type, out, n, type, target, 0, n, type, op, win);
    else if (is(row.what, "fetch"))
        MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 0, MPI_SUM, win);
    else if (is(row.what, "compare"))
        MPI_Compare_and_swap(&one, &zero, &old, MPI_LONG, target, 0, win);
    else
        fail("no such operation");
    if (row.what[0] == 'r')
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void window(long i)
{
    int is_pair = strncmp(row.detail, "pair", 4) == 0, target = is_pair ? size - 1 : 0;
    int is_origin = is_pair ? rank == 0 : 1;

    (void)i;
    if (is(row.how, "fence")) {
        MPI_Win_fence(0, win);
        if (is_origin)
            operate(target);
        MPI_Win_fence(0, win);
    } else if (is(row.how, "pscw")) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        if (is_origin)
            operate(target);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    } else if (is_origin && is(row.how, "lock")) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        operate(target);
        MPI_Win_unlock(target, win);
    } else if (is_origin) {
        operate(target);
        MPI_Win_flush(target, win);
    }
}

static void window_prepare(void)
{
    char *memory;
    MPI_Aint bytes = (MPI_Aint)n * type_size + WORD;

    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &memory, &win);
    memset(memory, 0, (size_t)bytes);
    MPI_Comm_group(comm, &group);
    if (is(row.how, "flush"))
        MPI_Win_lock_all(0, win);
}

static void window_end(void)
{
    if (is(row.how, "flush"))
        MPI_Win_unlock_all(win);
    MPI_Group_free(&group);
    MPI_Win_free(&win);
}

/* ---- Datatypes ---- */

enum { SPREAD = 4 }; /* a type's extent divided by its size is at most this */

/* Blocks at irregular distances. */
static void make_indexed(int blocks, int is_block)
{
    int *lengths = malloc((size_t)blocks * sizeof(int));
    int *distances = malloc((size_t)blocks * sizeof(int));
    int at = 0;

    for (int i = 0; i < blocks; i++) {
        lengths[i] = is_block ? 1 : 1 + i % 3;
        distances[i] = at;
        at += lengths[i] + (is_block ? 1 + i % 3 : 1);
    }
    if (is_block)
        MPI_Type_create_indexed_block(blocks, 1, distances, MPI_DOUBLE, &type);
    else
        MPI_Type_indexed(blocks, lengths, distances, MPI_DOUBLE, &type);
    free(lengths);
    free(distances);
    n = 1;
}

static void datatype_prepare(void)
{
    int words = (int)(row.bytes / 8 > 0 ? row.bytes / 8 : 1);
    MPI_Datatype part;

    if (is(row.what, "vector")) {
        MPI_Type_vector(words, 1, SPREAD, MPI_DOUBLE, &type);
        n = 1;
    } else if (is(row.what, "indexed")) {
        make_indexed(words / 2 > 0 ? words / 2 : 1, 0);
    } else if (is(row.what, "block")) {
        make_indexed(words, 1);
    } else if (is(row.what, "struct")) {
        MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                               (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &part);
        MPI_Type_create_resized(part, 0, 24, &type);
        MPI_Type_free(&part);
        n = (words + 1) / 2;
    } else if (is(row.what, "subarray")) {
        int side = 1;

        while ((side + 1) * (side + 1) <= words)
            side++;
        MPI_Type_create_subarray(2, (int[]){2 * side, side + 3}, (int[]){side, side}, (int[]){1, 2},
                                 MPI_ORDER_C, MPI_DOUBLE, &type);
        n = 1;
    } else if (is(row.what, "nested")) {
        MPI_Type_vector(4, 1, 3, MPI_FLOAT, &part);
        MPI_Type_create_hvector((words + 1) / 2, 1, 48, part, &type);
        MPI_Type_free(&part);
        n = 1;
    } else {
        fail("no such datatype");
    }
    MPI_Type_commit(&type);
}

static int packed_bytes(void)
{
    int bytes;

    MPI_Pack_size(n, type, comm, &bytes);
    return bytes;
}

static void datatype(long i)
{
    static int room;
    int position = 0;

    if (i == 0)
        room = packed_bytes();
    if (is(row.how, "pack"))
        MPI_Pack(in, n, type, out, room, &position, comm);
    else if (is(row.how, "unpack"))
        MPI_Unpack(out, room, &position, in, n, type, comm);
    else
        message(i);
}

static void datatype_end(void)
{
    MPI_Type_free(&type);
}

/* ---- Files ---- */

static void access_file(long i)
{
    MPI_Offset at = (MPI_Offset)rank * row.bytes;
    MPI_Request r;
    int count = (int)row.bytes, is_read = is(row.what, "read");

    (void)i;
    if (is(row.what, "ordered")) {
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        MPI_File_write_ordered(file, in, count, MPI_BYTE, MPI_STATUS_IGNORE);
        return;
    }
    if (is(row.what, "strided"))
        at = 0;
    if (is(row.how, "all") && is_read)
        MPI_File_read_at_all(file, at, out, count, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (is(row.how, "all"))
        MPI_File_write_at_all(file, at, in, count, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (is(row.how, "own") && is_read)
        MPI_File_read_at(file, at, out, count, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (is(row.how, "own"))
        MPI_File_write_at(file, at, in, count, MPI_BYTE, MPI_STATUS_IGNORE);
    else {
        if (is_read)
            MPI_File_iread_at(file, at, out, count, MPI_BYTE, &r);
        else
            MPI_File_iwrite_at(file, at, in, count, MPI_BYTE, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void file_prepare(void)
{
    char path[512];
    int block = row.bytes >= 512 ? 256 : 16;

    snprintf(path, sizeof(path), "%s/data", folder);
    MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at(file, (MPI_Offset)rank * row.bytes, in_area, (int)row.bytes, MPI_BYTE,
                      MPI_STATUS_IGNORE);
    if (is(row.what, "strided")) {
        MPI_Datatype view;

        MPI_Type_vector((int)(row.bytes / block) + 1, block, size * block, MPI_BYTE, &view);
        MPI_Type_commit(&view);
        MPI_File_set_view(file, (MPI_Offset)rank * block, MPI_BYTE, view, "native", MPI_INFO_NULL);
        MPI_Type_free(&view);
    }
}

static void file_end(void)
{
    MPI_File_close(&file);
}

/* ---- Measuring ---- */

static const struct family {
    const char *name;
    void (*prepare)(void);
    void (*call)(long i);
    void (*end)(void);
} families[] = {
    {"message", message_prepare, message, NULL},
    {"collective", collective_prepare, collective, NULL},
    {"neighbour", collective_prepare, collective, NULL},
    {"window", window_prepare, window, window_end},
    {"datatype", datatype_prepare, datatype, datatype_end},
    {"file", file_prepare, access_file, file_end},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Seconds of a call on the slowest rank. */
static double time_of(const struct family *f, long calls)
{
    double begin, seconds;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (long i = 0; i < calls; i++) {
        in = in_area + (i % sets) * in_stride;
        out = out_area + (i % sets) * out_stride;
        f->call(i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = (MPI_Wtime() - begin) / (double)calls;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static double measure(const struct family *f, double budget)
{
    double rounds[ROUNDS], one = time_of(f, 1);
    long calls = 1;

    if (one > budget && (one = time_of(f, 1)) > budget)
        return one; /* a library that needs this long is not asked more often */
    while ((one = time_of(f, calls)) * (double)calls < budget / (2 * ROUNDS) && calls < 1 << 20)
        calls *= 2;
    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = time_of(f, calls);
    qsort(rounds, ROUNDS, sizeof(*rounds), compare);
    return rounds[ROUNDS / 2];
}

/* The element and the operation of `double`, `int`, `float`, `byte` or `long`. */
static void choose_type(const char *name)
{
    type = is(name, "double")  ? MPI_DOUBLE
           : is(name, "float") ? MPI_FLOAT
           : is(name, "int")   ? MPI_INT
           : is(name, "long")  ? MPI_LONG
                               : MPI_BYTE;
    op = type == MPI_BYTE ? MPI_BOR : type == MPI_FLOAT ? MPI_MAX : MPI_SUM;
    MPI_Type_size(type, &type_size);
    n = (int)(row.bytes / type_size);
    if (n < 1)
        n = 1;
}

/* The blocks of each rank in the v-forms: none to two; between each pair: half of one to one. */
static void choose_counts(void)
{
    int at = 0, neighbours = 8;

    for (int r = 0; r < (size > neighbours ? size : neighbours); r++) {
        counts[r] = r % 3 == 1 ? 2 * n : r % 3 == 2 ? n / 2 : n;
        places[r] = at;
        at += counts[r];
        widths[r] = n;
        offsets[r] = r * n * (is(row.what, "alltoallw") ? type_size : 1);
        types[r] = type;
    }
}

static void make_buffers(int blocks_in, int blocks_out)
{
    size_t block = (size_t)n * (size_t)type_size;
    int all = 2 * size;

    in_stride = (block * (size_t)(blocks_in ? blocks_in : all) + WORD - 1) / WORD * WORD;
    out_stride = (block * (size_t)(blocks_out ? blocks_out : all) + WORD - 1) / WORD * WORD;
    sets = is(row.buffers, "cold") ? (long)((size_t)AREA / (size_t)size / (in_stride + out_stride))
                                   : 1;
    sets = sets < 1 ? 1 : sets > MOST_SETS ? MOST_SETS : sets;
    if (sets == 1 && is(row.buffers, "cold"))
        sets = 2;
    in_area = aligned_alloc(WORD, in_stride * (size_t)sets);
    out_area = aligned_alloc(WORD, out_stride * (size_t)sets);
    if (in_area == NULL || out_area == NULL)
        fail("out of memory");
    memset(in_area, 0, in_stride * (size_t)sets);
    memset(out_area, 0, out_stride * (size_t)sets);
}

static void make_grid(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1};

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
}

static double run(double budget)
{
    const struct family *f = families;
    const char *dot = strchr(row.detail, '.');
    size_t many = sizeof(collectives) / sizeof(collectives[0]);
    double seconds = -1;

    while (f < families + 6 && !is(f->name, row.family))
        f++;
    for (which = 0; which < (int)many && !is(collectives[which].name, row.what); which++)
        ;
    if (f == families + 6 || (which == (int)many && (f == families + 1 || f == families + 2)))
        fail("no such case");
    comm = MPI_COMM_WORLD;
    made = NULL;
    is_refused = 0;
    root = is(row.detail, "last") || strncmp(row.detail, "last.", 5) == 0 ? size - 1 : 0;
    choose_type(dot != NULL ? dot + 1 : f == families + 3 ? "long" : "byte");
    choose_counts();
    if (is(row.family, "neighbour"))
        make_grid();
    if (is(row.family, "datatype"))
        make_buffers(2 * SPREAD, 2 * SPREAD);
    else
        make_buffers(which < (int)many ? collectives[which].blocks_in : 1,
                     which < (int)many ? collectives[which].blocks_out : 1);
    if (f->prepare != NULL)
        f->prepare();
    if (!is_refused)
        seconds = measure(f, budget);
    if (f->end != NULL)
        f->end();
    for (long r = 0; made != NULL && !is_refused && r < sets * (f == families ? 2 : 1); r++)
        MPI_Request_free(&made[r]);
    free(made);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    free(in_area);
    free(out_area);
    return seconds;
}

int main(int argc, char **argv)
{
    char line[256];
    FILE *rows;
    int given, level;

    if (argc != 6) {
        fprintf(stderr, "usage: sweep ROWS FIRST SECONDS LEVEL FOLDER\n");
        return 2;
    }
    level = is(argv[4], "multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    folder = argv[5];
    MPI_Init_thread(&argc, &argv, level, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = size == 1 ? 0 : (rank ^ 1) < size ? rank ^ 1 : MPI_PROC_NULL;
    rows = fopen(argv[1], "r");
    if (rows == NULL || size > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; fgets(line, sizeof(line), rows) != NULL; i++) {
        double seconds;

        if (i < atoi(argv[2]))
            continue;
        if (sscanf(line, "%15s %23s %15s %ld %7s %23s", row.family, row.what, row.how, &row.bytes,
                   row.buffers, row.detail) != 6)
            MPI_Abort(MPI_COMM_WORLD, 2);
        seconds = run(atof(argv[3]));
        if (rank == 0) {
            printf("%d %.9g\n", i, seconds);
            fflush(stdout);
        }
    }
    fclose(rows);
    MPI_Finalize();
    return 0;
}
