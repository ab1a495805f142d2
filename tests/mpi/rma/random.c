/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random one-sided operations against a plain model. Every rank knows what all ranks do in a round
 * and does the same to a copy of all windows, one element at a time, with MPI_Reduce_local; then it
 * compares. Layouts at the origin and at the target, basic types, operations, units of displacement
 * and synchronisation are random. Puts of different origins go to different places; accumulates of
 * a round meet, with one operation that commutes.
 *
 *   random [ROUNDS [SEED]]
 */
#include "../check.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 24, WIDE = 16, AREA = SLOTS * WIDE, MOST = 4 };

typedef struct {
    MPI_Datatype type;
    int bytes; /* extent */
    int is_real;
} basic_t;

typedef enum { FENCE, LOCK_ALL, LOCK, GROUPS, REQUESTS, WAYS } way_t;

/* One operation, as all ranks know it. */
typedef struct {
    int target, is_put, n;
    int there[SLOTS]; /* elements of the area at the target */
    unsigned seed;    /* of the values, and of what only the origin knows */
} operation_t;

static int rank, size;
static char *memory, *model; /* model: of all ranks */
static size_t bytes;         /* of a window: an area of each origin, and one that all share */
static MPI_Win win;
static MPI_Group everyone;

static int below(unsigned *state, int n)
{
    return (int)(next_random(state) % (unsigned)n);
}

static unsigned seed_of(unsigned seed, int round, int origin, int number)
{
    unsigned state =
        seed + 7919u * (unsigned)round + 104729u * (unsigned)origin + 1299709u * (unsigned)number;

    for (int i = 0; i < 4; i++)
        next_random(&state);
    return state;
}

/* Displacements count differently at each rank. */
static int unit_of(int of)
{
    return 1 << of % 5;
}

/* ---- Values ---- */

static basic_t random_basic(unsigned *state)
{
    static const int kinds = 8;

    switch (below(state, kinds)) {
    case 0:
        return (basic_t){MPI_SIGNED_CHAR, sizeof(signed char), 0};
    case 1:
        return (basic_t){MPI_SHORT, sizeof(short), 0};
    case 2:
        return (basic_t){MPI_INT, sizeof(int), 0};
    case 3:
        return (basic_t){MPI_LONG, sizeof(long), 0};
    case 4:
        return (basic_t){MPI_FLOAT, sizeof(float), 1};
    case 5:
        return (basic_t){MPI_DOUBLE, sizeof(double), 1};
    case 6:
        return (basic_t){MPI_UNSIGNED, sizeof(unsigned), 0};
    default:
        return (basic_t){MPI_LONG_DOUBLE, sizeof(long double), 2};
    }
}

static MPI_Op random_op(unsigned *state, const basic_t *basic)
{
    MPI_Op any[] = {MPI_SUM, MPI_MIN, MPI_MAX}, bits[] = {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LXOR};

    return basic->is_real || below(state, 2) == 0 ? any[below(state, 3)] : bits[below(state, 4)];
}

/* Small and whole, so that sums of any order are exact. */
static void set_value(const basic_t *basic, char *to, int v)
{
    long whole = v;
    float f = (float)v;
    double d = v;
    long double l = v;

    memset(to, 0, (size_t)basic->bytes);
    if (basic->is_real == 0)
        memcpy(to, &whole, (size_t)basic->bytes);
    else if (basic->bytes == sizeof(float))
        memcpy(to, &f, sizeof(f));
    else if (basic->is_real == 1)
        memcpy(to, &d, sizeof(d));
    else
        memcpy(to, &l, sizeof(l));
}

/* Bytes that a long double does not use may be anything. */
static int is_same(const basic_t *basic, const char *a, const char *b)
{
    long double x, y;

    if (basic->is_real < 2)
        return memcmp(a, b, (size_t)basic->bytes) == 0;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x == y;
}

/* ---- Layouts ---- */

/* n of SLOTS places: side by side, a step apart, or anywhere. */
static void random_places(unsigned *state, int n, int *places)
{
    int step = below(state, 3);

    if (step > 0 && n * step <= SLOTS) {
        int first = below(state, SLOTS - (n - 1) * step);

        for (int i = 0; i < n; i++)
            places[i] = first + i * step;
        return;
    }
    for (int i = 0; i < n; i++) {
        int is_new;

        do {
            places[i] = below(state, SLOTS);
            is_new = 1;
            for (int j = 0; j < i; j++)
                is_new = is_new && places[j] != places[i];
        } while (!is_new);
    }
}

/* Elements at `places`, seen from place *origin_p; *count_p of the type are all of them. */
static MPI_Datatype make_type(unsigned *state, const basic_t *basic, int n, const int *places,
                              int *origin_p, int *count_p)
{
    int step = n > 1 ? places[1] - places[0] : 1, is_regular = 1;
    MPI_Aint at[SLOTS];
    MPI_Datatype type, inner;

    for (int i = 1; i < n; i++)
        is_regular = is_regular && places[i] - places[i - 1] == step;
    *origin_p = places[0];
    *count_p = 1;
    if (is_regular && step == 1 && below(state, 2) == 0) {
        *count_p = n;
        MPI_Type_dup(basic->type, &type);
    } else if (is_regular && step != 0 && below(state, 3) > 0) {
        *count_p = n; /* many elements with gaps, or, where they go backwards, a negative extent */
        MPI_Type_create_resized(basic->type, 0, step * basic->bytes, &type);
    } else {
        *origin_p = below(state, SLOTS);
        for (int i = 0; i < n; i++)
            at[i] = (MPI_Aint)(places[i] - *origin_p) * basic->bytes;
        MPI_Type_create_hindexed_block(n, 1, at, basic->type, &inner);
        MPI_Type_create_resized(inner, -3, SLOTS * basic->bytes, &type);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&type);
    return type;
}

/* ---- A round ---- */

static void random_operation(unsigned seed, int round, int origin, int number, operation_t *o)
{
    unsigned state = seed_of(seed, round, origin, number);

    o->target = (origin + 1 + number) % size;
    o->is_put = below(&state, 2);
    o->n = 1 + below(&state, SLOTS);
    random_places(&state, o->n, o->there);
    o->seed = next_random(&state);
}

static int operations_of_each(void)
{
    return size < MOST ? size : MOST;
}

/* The area in a window that origin's operation `o` goes to. */
static size_t area_of(int origin, const operation_t *o)
{
    return (size_t)(o->is_put ? origin : size) * AREA;
}

static int value_of(const operation_t *o, int i)
{
    unsigned state = o->seed + (unsigned)i;

    return below(&state, 7) - 2;
}

static void model_operation(const basic_t *basic, MPI_Op op, int origin, const operation_t *o)
{
    char *area = model + (size_t)o->target * bytes + area_of(origin, o);

    for (int i = 0; i < o->n; i++) {
        long double value, there;
        char *at = area + o->there[i] * basic->bytes;

        set_value(basic, (char *)&value, value_of(o, i));
        if (o->is_put || op == MPI_REPLACE) {
            memcpy(at, &value, (size_t)basic->bytes);
            continue;
        }
        memcpy(&there, at, (size_t)basic->bytes);
        MPI_Reduce_local(&value, &there, 1, basic->type, op);
        memcpy(at, &there, (size_t)basic->bytes);
    }
}

typedef struct {
    char data[2 * AREA];
    MPI_Datatype type;
    int origin, count;
    int places[SLOTS];
} buffer_t;

static void buffer_init(buffer_t *b, unsigned *state, const basic_t *basic, int n)
{
    memset(b->data, 0x5a, sizeof(b->data));
    random_places(state, n, b->places);
    b->type = make_type(state, basic, n, b->places, &b->origin, &b->count);
}

static void *address(buffer_t *b, const basic_t *basic)
{
    return b->data + b->origin * basic->bytes;
}

static void write_one(const basic_t *basic, MPI_Op op, const operation_t *o, buffer_t *b,
                      MPI_Request *request)
{
    unsigned state = o->seed;
    int from, count;
    MPI_Datatype type;
    MPI_Aint disp;

    buffer_init(b, &state, basic, o->n);
    for (int i = 0; i < o->n; i++)
        set_value(basic, b->data + b->places[i] * basic->bytes, value_of(o, i));
    type = make_type(&state, basic, o->n, o->there, &from, &count);
    disp = (MPI_Aint)area_of(rank, o) + (MPI_Aint)from * basic->bytes;
    if (disp % unit_of(o->target) != 0) { /* the type begins where the unit allows it */
        MPI_Datatype moved, old = type;
        MPI_Aint rest = disp % unit_of(o->target), lb, extent;
        int one = 1;

        MPI_Type_get_extent(old, &lb, &extent);
        MPI_Type_create_hindexed(1, &one, &rest, old, &moved);
        MPI_Type_create_resized(moved, lb, extent, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&moved);
        MPI_Type_free(&old);
    }
    disp /= unit_of(o->target);
    if (o->is_put && request == NULL)
        MPI_Put(address(b, basic), b->count, b->type, o->target, disp, count, type, win);
    else if (o->is_put)
        MPI_Rput(address(b, basic), b->count, b->type, o->target, disp, count, type, win, request);
    else if (request == NULL)
        MPI_Accumulate(address(b, basic), b->count, b->type, o->target, disp, count, type, op, win);
    else
        MPI_Raccumulate(address(b, basic), b->count, b->type, o->target, disp, count, type, op, win,
                        request);
    MPI_Type_free(&type);
    MPI_Type_free(&b->type);
}

/* Read the current values, in an order of its own. */
static void read_one(const basic_t *basic, const operation_t *o, int is_atomic)
{
    unsigned state = o->seed + 17;
    buffer_t b;
    const char *area = model + (size_t)o->target * bytes + area_of(rank, o);
    MPI_Aint disp = (MPI_Aint)area_of(rank, o) / unit_of(o->target);
    MPI_Aint at[SLOTS];
    MPI_Datatype type;

    buffer_init(&b, &state, basic, o->n);
    for (int i = 0; i < o->n; i++)
        at[i] = (MPI_Aint)o->there[i] * basic->bytes;
    MPI_Type_create_hindexed_block(o->n, 1, at, basic->type, &type);
    MPI_Type_commit(&type);
    MPI_Win_lock(MPI_LOCK_SHARED, o->target, 0, win);
    if (is_atomic)
        MPI_Get_accumulate(NULL, 0, basic->type, address(&b, basic), b.count, b.type, o->target,
                           disp, 1, type, MPI_NO_OP, win);
    else
        MPI_Get(address(&b, basic), b.count, b.type, o->target, disp, 1, type, win);
    MPI_Win_unlock(o->target, win);
    for (int i = 0; i < o->n; i++)
        CHECK(
            is_same(basic, b.data + b.places[i] * basic->bytes, area + o->there[i] * basic->bytes));
    MPI_Type_free(&type);
    MPI_Type_free(&b.type);
}

static void begin(way_t way)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (way == FENCE)
        MPI_Win_fence(0, win);
    else if (way == LOCK_ALL || way == REQUESTS)
        MPI_Win_lock_all(0, win);
    else if (way == GROUPS) {
        MPI_Win_post(everyone, 0, win);
        MPI_Win_start(everyone, 0, win);
    }
}

static void end(way_t way)
{
    if (way == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    else if (way == LOCK_ALL || way == REQUESTS)
        MPI_Win_unlock_all(win);
    else if (way == GROUPS) {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void write_all(const basic_t *basic, MPI_Op op, way_t way, unsigned seed, int round)
{
    buffer_t buffers[MOST];
    MPI_Request requests[MOST];
    operation_t o;

    begin(way);
    for (int k = 0; k < operations_of_each(); k++) {
        random_operation(seed, round, rank, k, &o);
        if (way == LOCK)
            MPI_Win_lock(o.seed % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, o.target, 0, win);
        write_one(basic, op, &o, &buffers[k], way == REQUESTS ? &requests[k] : NULL);
        if (way == LOCK)
            MPI_Win_unlock(o.target, win);
    }
    if (way == REQUESTS)
        MPI_Waitall(operations_of_each(), requests, MPI_STATUSES_IGNORE);
    end(way);
}

static void start_with(const basic_t *basic)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int r = 0; r < size; r++)
        for (size_t i = 0; i < bytes / (size_t)basic->bytes; i++) {
            char *at = model + (size_t)r * bytes + i * (size_t)basic->bytes;

            set_value(basic, at, (int)((i * 5 + (size_t)r) % 11));
            if (r == rank)
                memcpy(memory + i * (size_t)basic->bytes, at, (size_t)basic->bytes);
        }
    MPI_Win_unlock(rank, win);
}

static void compare(const basic_t *basic)
{
    const char *mine = model + (size_t)rank * bytes;

    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (size_t i = 0; i < bytes; i += (size_t)basic->bytes)
        CHECK(is_same(basic, memory + i, mine + i));
    MPI_Win_unlock(rank, win);
}

static void do_round(unsigned seed, int round)
{
    unsigned state = seed_of(seed, round, 0, MOST);
    basic_t basic = random_basic(&state);
    MPI_Op op = random_op(&state, &basic);
    way_t way = (way_t)below(&state, WAYS);
    operation_t o;

    start_with(&basic);
    write_all(&basic, op, way, seed, round);
    for (int r = 0; r < size; r++)
        for (int k = 0; k < operations_of_each(); k++) {
            random_operation(seed, round, r, k, &o);
            model_operation(&basic, op, r, &o);
        }
    compare(&basic);
    for (int k = 0; k < operations_of_each(); k++) {
        random_operation(seed, round, rank, k, &o);
        read_one(&basic, &o, (round + k) % 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &everyone);
    bytes = (size_t)(size + 1) * AREA;
    model = malloc((size_t)size * bytes);
    CHECK(model != NULL);
    MPI_Win_allocate((MPI_Aint)bytes, unit_of(rank), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int round = 0; round < rounds; round++)
        do_round(seed, round);
    MPI_Win_free(&win);
    MPI_Group_free(&everyone);
    free(model);
    if (rank == 0)
        printf("random: %d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
