/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates on random layouts of every kind of element against one element at a time, and from
 * several threads at once.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "mpi/rma/accumulate.h"
#include "testing/base.h"
#include "testing/mpi_object.h"

enum { SLOTS = 64, ROOM = 4 * SLOTS * 32, THREADS = 4 };

static const MPI_Datatype kinds[] = {
    MPI_BYTE,
    MPI_CHAR,
    MPI_INT8_T,
    MPI_INT16_T,
    MPI_INT,
    MPI_INT64_T,
    MPI_UINT8_T,
    MPI_UINT16_T,
    MPI_UINT32_T,
    MPI_UINT64_T,
    MPI_FLOAT,
    MPI_DOUBLE,
    MPI_LONG_DOUBLE,
    MPI_C_DOUBLE_COMPLEX,
    MPI_C_FLOAT_COMPLEX,
    MPI_C_BOOL,
    MPI_LOGICAL8,
    MPI_FLOAT_INT,
    MPI_DOUBLE_INT,
    MPI_LONG_INT,
    MPI_2INT,
    MPI_SHORT_INT,
    MPI_AINT,
    MPI_LONG_DOUBLE_INT,
    MPI_INTEGER16,
    MPI_LOGICAL16,
    MPI_2DOUBLE_PRECISION,
    MPI_2REAL,
};
static const MPI_Op ops[] = {
    MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_BAND,   MPI_BOR,     MPI_BXOR,
    MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP,
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), OPS = sizeof(ops) / sizeof(ops[0]) };

static rma_updates_t updates;
static mpi_worker_t workers[THREADS];
static mpi_job_t job = {.workers = THREADS, .worker = workers};

/* ---- Data of any layout ---- */

/* Elements at offsets of our own making, and a type that says the same. */
typedef struct {
    _Alignas(16) char memory[ROOM];
    rma_side_t side;
    MPI_Datatype type;
    ptrdiff_t offsets[SLOTS]; /* from side.address, in the order of the type */
    int elements;
} data_t;

static void shuffle(int *numbers, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = testing_below(i + 1), kept = numbers[i];

        numbers[i] = numbers[j];
        numbers[j] = kept;
    }
}

/* `per` elements at random slots, some before the address; `count` times, an extent apart. */
static void make_scattered(data_t *d, const mpi_type_t *element, int per, int count)
{
    int slots[2 * SLOTS], low = testing_below(per + 1), stride = 2 * per;
    MPI_Aint at[SLOTS], extent = element->extent;
    MPI_Datatype inner;

    for (int i = 0; i < stride; i++)
        slots[i] = i - low;
    shuffle(slots, stride);
    for (int i = 0; i < per; i++)
        at[i] = slots[i] * extent;
    assert_int_equal(PMPI_Type_create_hindexed_block(per, 1, at, element->handle, &inner), 0);
    assert_int_equal(PMPI_Type_create_resized(inner, -low * extent, stride * extent, &d->type), 0);
    assert_int_equal(PMPI_Type_free(&inner), 0);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < per; i++)
            d->offsets[c * per + i] = c * stride * extent + at[i];
    d->side.count = count;
}

static void make_array(data_t *d, const mpi_type_t *element, int elements, bool is_derived)
{
    d->side.count = is_derived ? 1 : elements;
    assert_int_equal(PMPI_Type_contiguous(is_derived ? elements : 1, element->handle, &d->type), 0);
    if (!is_derived) {
        assert_int_equal(PMPI_Type_free(&d->type), 0);
        d->type = element->handle;
    }
    for (int i = 0; i < elements; i++)
        d->offsets[i] = i * element->extent;
}

static void put_value(const mpi_type_t *type, char *to)
{
    int v = testing_below(5) - 1, i = testing_below(4);
    float f = (float)v;
    double d = v;
    long double l = v;
    int64_t whole[2] = {v, v < 0 ? -1 : 0};
    char value[32] = {0};
    size_t bytes;

    switch ((mpi_basic_t)type->basic) {
    case XMPI_BASIC_FLOAT:
        memcpy(value, &f, sizeof(f));
        break;
    case XMPI_BASIC_COMPLEX_FLOAT:
    case XMPI_BASIC_2FLOAT:
        memcpy(value, &f, sizeof(f));
        memcpy(value + sizeof(f), &f, sizeof(f));
        break;
    case XMPI_BASIC_DOUBLE:
        memcpy(value, &d, sizeof(d));
        break;
    case XMPI_BASIC_COMPLEX_DOUBLE:
    case XMPI_BASIC_2DOUBLE:
        memcpy(value, &d, sizeof(d));
        memcpy(value + sizeof(d), &d, sizeof(d));
        break;
    case XMPI_BASIC_LONG_DOUBLE:
        memcpy(value, &l, sizeof(l));
        break;
    case XMPI_BASIC_FLOAT_INT:
        memcpy(value, &f, sizeof(f));
        memcpy(value + 4, &i, sizeof(i));
        break;
    case XMPI_BASIC_DOUBLE_INT:
        memcpy(value, &d, sizeof(d));
        memcpy(value + 8, &i, sizeof(i));
        break;
    case XMPI_BASIC_LONG_DOUBLE_INT:
        memcpy(value, &l, sizeof(l));
        memcpy(value + sizeof(l), &i, sizeof(i));
        break;
    default: /* integers, and pairs of them */
        memcpy(value, whole, sizeof(whole));
    }
    mpi_type_copy(to, 1, type, value, 1, type, &bytes);
}

/* `shift`: bytes by which elements miss their alignment. */
static void data_init(data_t *d, const mpi_type_t *element, int per, int count, int shape,
                      int shift)
{
    d->elements = per * count;
    memset(d->memory, 0x5a, ROOM);
    if (shape == 0)
        make_scattered(d, element, per, count);
    else
        make_array(d, element, d->elements, shape == 1);
    assert_int_equal(PMPI_Type_commit(&d->type), 0);
    d->side.type = mpi_type_of(d->type);
    d->side.bytes = (size_t)d->side.count * d->side.type->size;
    d->side.address = d->memory + ROOM / 4 + shift;
    for (int i = 0; i < d->elements; i++)
        put_value(element, d->side.address + d->offsets[i]);
}

static void data_cleanup(data_t *d)
{
    if (!d->side.type->is_predefined)
        assert_int_equal(PMPI_Type_free(&d->type), 0);
}

/* ---- One element at a time ---- */

static void copy_one(const mpi_type_t *type, char *to, const char *from)
{
    size_t bytes;

    mpi_type_copy(to, 1, type, from, 1, type, &bytes);
}

/* Compute the target and the result in a plain way: `t` and `r` are their memories. */
static void plainly(const rma_update_t *u, const data_t *target, const data_t *origin,
                    const data_t *result, char *t, char *r)
{
    for (int i = 0; i < target->elements; i++) {
        _Alignas(16) char a[32] = {0}, b[32] = {0};
        char *at = t + (target->side.address - target->memory) + target->offsets[i];

        copy_one(u->type, b, at);
        if (r != NULL)
            copy_one(u->type, r + (result->side.address - result->memory) + result->offsets[i], b);
        copy_one(u->type, a, origin->side.address + origin->offsets[i]);
        mpi_op_apply(u->op, a, b, 1, u->type);
        copy_one(u->type, at, b);
    }
}

/* All bytes, but for those that a long double has and does not use. */
static void assert_same(const mpi_type_t *type, const data_t *d, const char *expected)
{
    bool has_unused =
        type->basic == XMPI_BASIC_LONG_DOUBLE || type->basic == XMPI_BASIC_LONG_DOUBLE_INT;

    if (!has_unused) {
        assert_memory_equal(d->memory, expected, ROOM);
        return;
    }
    for (int i = 0; i < d->elements; i++) {
        const char *at = d->side.address + d->offsets[i];
        long double a, b;

        memcpy(&a, at, sizeof(a));
        memcpy(&b, expected + (at - d->memory), sizeof(b));
        assert_true(a == b);
    }
}

static data_t target, origin, result;

static void try_one(const mpi_type_t *element, const mpi_op_t *op, bool is_alone)
{
    static char t[ROOM], r[ROOM];
    int per = 1 + testing_below(8), count = 1 + testing_below(6);
    int shift = testing_below(3) == 0 ? 1 + testing_below(7) : 0;
    rma_update_t u = {.op = op, .updates = &updates, .is_alone = is_alone};
    bool has_result = op->kind == XMPI_OP_KIND_NO_OP || testing_below(2) == 0;

    data_init(&target, element, per, count, testing_below(3), shift);
    data_init(&origin, element, count, per, testing_below(3), testing_below(2) * 3);
    data_init(&result, element, per * count, 1, testing_below(3), testing_below(2) * 5);
    u.type = rma_element_of(target.side.type);
    assert_non_null(u.type);
    assert_int_equal(u.type->basic, element->basic);
    memcpy(t, target.memory, ROOM);
    memcpy(r, result.memory, ROOM);
    plainly(&u, &target, &origin, &result, t, has_result ? r : NULL);
    rma_accumulate(&u, &target.side, op->kind == XMPI_OP_KIND_NO_OP ? NULL : &origin.side,
                   has_result ? &result.side : NULL);
    assert_same(element, &target, t);
    assert_same(element, &result, r);
    data_cleanup(&target);
    data_cleanup(&origin);
    data_cleanup(&result);
}

static void random_layouts(void **state)
{
    int rounds = XYLEM_SANITIZED ? 4 : 25;

    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int o = 0; o < OPS; o++) {
            const mpi_type_t *element = mpi_type_of(kinds[k]);
            const mpi_op_t *op = mpi_op_of(ops[o]);

            if (!mpi_op_is_valid_for(op, element))
                continue;
            for (int round = 0; round < rounds; round++)
                try_one(element, op, round % 4 == 0);
        }
}

/* Long enough that the data goes through the buffers more than once. */
static void long_vectors(void **state)
{
    enum { MANY = 10000 };
    double *to = malloc(2 * MANY * sizeof(double)), *from = malloc(MANY * sizeof(double));
    double *old = malloc(3 * MANY * sizeof(double));
    rma_update_t u = {
        .op = mpi_op_of(MPI_SUM), .type = mpi_type_of(MPI_DOUBLE), .updates = &updates};
    MPI_Datatype every_second, every_third;
    rma_side_t t, f, r;

    (void)state;
    assert_int_equal(PMPI_Type_vector(MANY, 1, 2, MPI_DOUBLE, &every_second), 0);
    assert_int_equal(PMPI_Type_vector(MANY, 1, 3, MPI_DOUBLE, &every_third), 0);
    t = (rma_side_t){(char *)to, 1, mpi_type_of(every_second), MANY * sizeof(double)};
    f = (rma_side_t){(char *)from, MANY, mpi_type_of(MPI_DOUBLE), MANY * sizeof(double)};
    r = (rma_side_t){(char *)old, 1, mpi_type_of(every_third), MANY * sizeof(double)};
    for (int i = 0; i < MANY; i++) {
        to[2 * i] = i;
        to[2 * i + 1] = -1;
        from[i] = 3 * i;
    }
    rma_accumulate(&u, &t, &f, &r);
    for (int i = 0; i < MANY; i++) {
        assert_true(to[2 * i] == 4.0 * i && to[2 * i + 1] == -1);
        assert_true(old[3 * i] == i);
    }
    assert_int_equal(PMPI_Type_free(&every_second), 0);
    assert_int_equal(PMPI_Type_free(&every_third), 0);
    free(to);
    free(from);
    free(old);
}

static void mixed_elements_have_no_kind(void **state)
{
    int lengths[] = {1, 1};
    MPI_Aint at[] = {0, 8};
    MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE}, mixed;

    (void)state;
    assert_int_equal(PMPI_Type_create_struct(2, lengths, at, parts, &mixed), 0);
    assert_null(rma_element_of(mpi_type_of(mixed)));
    assert_int_equal(PMPI_Type_free(&mixed), 0);
}

/* ---- Several threads ---- */

enum { TURNS = XYLEM_SANITIZED ? 2000 : 20000 };

typedef struct {
    rma_update_t update;
    char *at;
    int number;
    uint64_t seen; /* the sum of what was there before, as far as that is a whole number */
} thread_t;

/* Add one. */
static void *add_ones(void *arg)
{
    thread_t *t = arg;
    _Alignas(16) char one[32] = {0}, old[32];
    uint64_t before = 0;

    switch (t->update.type->basic) {
    case XMPI_BASIC_FLOAT:
        memcpy(one, &(float){1}, sizeof(float));
        break;
    case XMPI_BASIC_DOUBLE:
    case XMPI_BASIC_COMPLEX_DOUBLE:
        memcpy(one, &(double){1}, sizeof(double));
        break;
    case XMPI_BASIC_LONG_DOUBLE:
        memcpy(one, &(long double){1}, sizeof(long double));
        break;
    default:
        one[0] = 1;
    }
    for (int i = 0; i < TURNS; i++) {
        rma_update(&t->update, t->at, one, old, 1);
        memcpy(&before, old, t->update.type->size < 8 ? t->update.type->size : 8);
        t->seen += before;
    }
    return NULL;
}

static uint64_t run_threads(void *(*body)(void *), const rma_update_t *update, char *at)
{
    pthread_t ids[THREADS];
    thread_t threads[THREADS];
    uint64_t seen = 0;

    for (int i = 0; i < THREADS; i++) {
        threads[i] = (thread_t){.update = *update, .at = at, .number = i};
        threads[i].update.worker = i == 0 ? NULL : &workers[i]; /* and a thread that is none */
        assert_int_equal(pthread_create(&ids[i], NULL, body, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(ids[i], NULL), 0);
        seen += threads[i].seen;
    }
    return seen;
}

static double value_of(const mpi_type_t *type, const char *at)
{
    int64_t whole = 0;
    float f;
    double d;
    long double l;

    switch (type->basic) {
    case XMPI_BASIC_FLOAT:
        memcpy(&f, at, sizeof(f));
        return (double)f;
    case XMPI_BASIC_DOUBLE:
    case XMPI_BASIC_COMPLEX_DOUBLE:
        memcpy(&d, at, sizeof(d));
        return d;
    case XMPI_BASIC_LONG_DOUBLE:
        memcpy(&l, at, sizeof(l));
        return (double)l;
    default:
        memcpy(&whole, at, type->size < 8 ? type->size : 8);
        return (double)whole;
    }
}

/* Aligned elements, which atomic instructions update, and others, which the guard protects. */
static void sums_lose_nothing(void **state)
{
    static const MPI_Datatype types[] = {MPI_INT32_T,  MPI_UINT64_T,         MPI_FLOAT,
                                         MPI_DOUBLE,   MPI_C_DOUBLE_COMPLEX, MPI_LONG_DOUBLE,
                                         MPI_INTEGER16};
    double total = (double)THREADS * TURNS;

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (int shift = 0; shift <= 1; shift++) {
            _Alignas(64) char memory[128] = {0};
            rma_update_t u = {
                .op = mpi_op_of(MPI_SUM), .type = mpi_type_of(types[i]), .updates = &updates};
            /* misaligned by a byte, across the border of a cache line */
            char *at = memory + (shift ? 61 : 64);
            uint64_t seen = run_threads(add_ones, &u, at);

            assert_true(value_of(u.type, at) == total);
            if (u.type->basic == XMPI_BASIC_INT32 || u.type->basic == XMPI_BASIC_UINT64)
                assert_true((double)seen == total * (total - 1) / 2);
        }
}

/* 8 and 16 bits wrap around. */
static void small_sums_wrap(void **state)
{
    static const MPI_Datatype types[] = {MPI_UINT8_T, MPI_UINT16_T};

    (void)state;
    for (int i = 0; i < 2; i++) {
        _Alignas(64) char memory[64] = {0};
        rma_update_t u = {
            .op = mpi_op_of(MPI_SUM), .type = mpi_type_of(types[i]), .updates = &updates};

        run_threads(add_ones, &u, memory);
        assert_true((int)value_of(u.type, memory) == THREADS * TURNS % (i == 0 ? 1 << 8 : 1 << 16));
        assert_int_equal(memory[u.type->size], 0); /* and the neighbour stays what it is */
    }
}

/* ---- Another update between the reading and the writing of one ---- */

static const rma_update_t *intruder; /* comes when the next result is computed, once */
static char *intruded;
static char intruding[8];

void __real_mpi_op_apply2(const mpi_op_t *op, const void *a, const void *b, void *out,
                          int64_t count, const mpi_type_t *type);
void __wrap_mpi_op_apply2(const mpi_op_t *op, const void *a, const void *b, void *out,
                          int64_t count, const mpi_type_t *type);
void __wrap_mpi_op_apply2(const mpi_op_t *op, const void *a, const void *b, void *out,
                          int64_t count, const mpi_type_t *type)
{
    const rma_update_t *u = intruder;

    intruder = NULL;
    __real_mpi_op_apply2(op, a, b, out, count, type);
    if (u != NULL)
        rma_update(u, intruded, intruding, NULL, 1);
}

static void set_value(const mpi_type_t *type, char *at, int value)
{
    float f = (float)value;
    double d = value;
    int64_t whole = value;

    if (type->basic == XMPI_BASIC_FLOAT)
        memcpy(at, &f, sizeof(f));
    else if (type->basic == XMPI_BASIC_DOUBLE)
        memcpy(at, &d, sizeof(d));
    else
        memcpy(at, &whole, type->size);
}

/* `first`, `between` and `own` are combined in this order, the second while the third is computed;
 * the result of the third is that of the first two. */
static void check_between(MPI_Op op, MPI_Datatype type, const int v[3], int two, int three)
{
    _Alignas(8) char at[8], from[8], old[8];
    rma_update_t u = {
        .op = mpi_op_of(op), .type = mpi_type_of(type), .updates = &updates, .worker = &workers[0]};
    rma_update_t other = u;

    other.worker = &workers[1];
    set_value(u.type, at, v[0]);
    set_value(u.type, intruding, v[1]);
    set_value(u.type, from, v[2]);
    intruder = &other;
    intruded = at;
    rma_update(&u, at, from, old, 1);
    assert_null(intruder); /* it came */
    assert_true(value_of(u.type, old) == two);
    assert_true(value_of(u.type, at) == three);
}

static void updates_between_are_kept(void **state)
{
    static const MPI_Datatype types[] = {MPI_INT8_T,   MPI_INT16_T, MPI_INT,   MPI_INT64_T,
                                         MPI_UINT64_T, MPI_FLOAT,   MPI_DOUBLE};

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        check_between(MPI_MAX, types[i], (int[]){1, 5, 3}, 5, 5);
        check_between(MPI_MIN, types[i], (int[]){5, 1, 3}, 1, 1);
        check_between(MPI_PROD, types[i], (int[]){2, 3, 5}, 6, 30);
    }
}

static void *offer_pairs(void *arg)
{
    thread_t *t = arg;
    struct {
        double v;
        int i;
    } mine, old;

    memset(&mine, 0, sizeof(mine));
    for (int i = 0; i < TURNS; i++) {
        mine.v = (i * 7919 + t->number) % 100003;
        mine.i = (int)mine.v + 1;
        rma_update(&t->update, t->at, (char *)&mine, (char *)&old, 1);
        if (old.i != (int)old.v + 1)
            t->seen++; /* half of one pair and half of another */
    }
    return NULL;
}

static void pairs_stay_together(void **state)
{
    _Alignas(16) char memory[16] = {0};
    rma_update_t u = {
        .op = mpi_op_of(MPI_REPLACE), .type = mpi_type_of(MPI_DOUBLE_INT), .updates = &updates};
    int one = 1;

    (void)state;
    memcpy(memory + 8, &one, sizeof(one));
    assert_int_equal(run_threads(offer_pairs, &u, memory), 0);
}

static void *swap_up(void *arg)
{
    thread_t *t = arg;
    _Alignas(16) char seen[16] = {0}, next[16] = {0}, old[16];

    for (int i = 0; i < TURNS / 4; i++)
        for (;;) {
            int64_t value;

            memcpy(next, seen, 16);
            memcpy(&value, seen, t->update.type->size < 8 ? t->update.type->size : 8);
            value++;
            memcpy(next, &value, t->update.type->size < 8 ? t->update.type->size : 8);
            rma_compare_and_swap(&t->update, t->at, next, seen, old);
            if (memcmp(old, seen, t->update.type->size) == 0)
                break;
            memcpy(seen, old, t->update.type->size);
        }
    return NULL;
}

static void swaps_lose_nothing(void **state)
{
    static const MPI_Datatype types[] = {MPI_INT, MPI_INT64_T, MPI_INTEGER16, MPI_UINT16_T};

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (int shift = 0; shift <= 1; shift++) {
            _Alignas(64) char memory[128] = {0};
            rma_update_t u = {.type = mpi_type_of(types[i]), .updates = &updates};
            char *at = memory + (shift ? 61 : 64);

            run_threads(swap_up, &u, at);
            assert_true((int64_t)value_of(u.type, at) ==
                        THREADS * (TURNS / 4) % (types[i] == MPI_UINT16_T ? 1 << 16 : 1 << 30));
        }
}

/* Long updates by the loops of reductions, and, as long as they continue, short ones by atomic
 * instructions: two threads each. */

enum { LONG = 2048 };

static _Atomic int long_left;

static void *add_long_or_short(void *arg)
{
    static const int64_t ones[LONG] = {[0 ... LONG - 1] = 1};
    thread_t *t = arg;
    const rma_side_t from = {(char *)(uintptr_t)ones, LONG, mpi_type_of(MPI_INT64_T), sizeof(ones)};
    const rma_side_t to = {t->at, LONG, mpi_type_of(MPI_INT64_T), sizeof(ones)};

    if (t->number % 2 == 0) {
        for (int i = 0; i < TURNS; i++)
            rma_accumulate(&t->update, &to, &from, NULL);
        t->seen = (uint64_t)TURNS * LONG;
        long_left--;
        return NULL;
    }
    for (; long_left > 0; t->seen++)
        rma_update(&t->update, t->at + t->seen * 13 % LONG * sizeof(int64_t), (const char *)ones,
                   NULL, 1);
    return NULL;
}

static void long_and_short_updates_lose_nothing(void **state)
{
    static _Alignas(64) int64_t all[LONG];
    rma_update_t u = {
        .op = mpi_op_of(MPI_SUM), .type = mpi_type_of(MPI_INT64_T), .updates = &updates};
    uint64_t added;
    int64_t sum = 0;

    (void)state;
    memset(all, 0, sizeof(all));
    long_left = THREADS / 2;
    added = run_threads(add_long_or_short, &u, (char *)all);
    for (int i = 0; i < LONG; i++)
        sum += all[i];
    assert_int_equal(sum, (int64_t)added);
}

static _Atomic int begun, ended;

static void *add_one_and_say(void *arg)
{
    thread_t *t = arg;
    int64_t one = 1;

    begun = 1;
    rma_update(&t->update, t->at, (char *)&one, NULL, 1);
    ended = 1;
    return NULL;
}

static void *begin_long_and_say(void *arg)
{
    thread_t *t = arg;

    begun = 1;
    assert_true(rma_long_begin(&t->update, LONG));
    ended = 1;
    rma_long_end(&t->update);
    return NULL;
}

/* `body` begins, and does not end before `go` is called. */
static void assert_waits(void *(*body)(void *), thread_t *t, void (*go)(rma_update_t *),
                         rma_update_t *by)
{
    pthread_t id;

    begun = ended = 0;
    assert_int_equal(pthread_create(&id, NULL, body, t), 0);
    while (!begun)
        usleep(1000);
    usleep(20000); /* time enough to go wrong */
    assert_int_equal(ended, 0);
    go(by);
    assert_int_equal(pthread_join(id, NULL), 0);
    assert_int_equal(ended, 1);
}

static void end_update(rma_update_t *u)
{
    u->worker->is_updating = 0;
}

static void long_and_short_updates_wait_for_each_other(void **state)
{
    int64_t value = 0;
    rma_update_t mine = {.op = mpi_op_of(MPI_SUM),
                         .type = mpi_type_of(MPI_INT64_T),
                         .updates = &updates,
                         .worker = &workers[0]};
    thread_t t = {.update = mine, .at = (char *)&value};

    (void)state;
    t.update.worker = &workers[1];
    assert_true(rma_long_begin(&mine, LONG));
    assert_waits(add_one_and_say, &t, rma_long_end, &mine);
    assert_int_equal(value, 1);
    t.update.worker = NULL; /* a thread that is no worker */
    assert_true(rma_long_begin(&mine, LONG));
    assert_waits(add_one_and_say, &t, rma_long_end, &mine);
    assert_int_equal(value, 2);
    /* A long update that follows another one waits for no worker: they take the guard. */
    workers[0].is_updating = 1;
    assert_true(rma_long_begin(&mine, LONG));
    rma_long_end(&mine);
    /* After many short ones it does. */
    for (int i = 0; i < 1000; i++)
        rma_update(&t.update, t.at, (char *)&(int64_t){1}, NULL, 1);
    assert_int_equal(value, 1002);
    assert_waits(begin_long_and_say, &t, end_update, &mine);
}

static void *update_pair_and_say(void *arg)
{
    static const struct {
        double value;
        int index;
    } pair = {1, 2};
    thread_t *t = arg;

    begun = 1;
    rma_update(&t->update, t->at, (const char *)&pair, NULL, 1);
    ended = 1;
    return NULL;
}

static void release_guard(rma_update_t *u)
{
    rma_guard_release(&u->updates->guard);
}

static void pairs_wait_for_the_guard(void **state)
{
    _Alignas(16) char memory[16] = {0};
    thread_t t = {.update = {.op = mpi_op_of(MPI_MAXLOC),
                             .type = mpi_type_of(MPI_DOUBLE_INT),
                             .updates = &updates},
                  .at = memory};

    (void)state;
    rma_guard_acquire(&updates.guard);
    assert_waits(update_pair_and_say, &t, release_guard, &t.update);
    assert_int_equal(memory[8], 2);
}

static int without_barrier(void **state)
{
    (void)state;
    rma_has_barrier = false;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layouts),
        cmocka_unit_test(long_vectors),
        cmocka_unit_test(mixed_elements_have_no_kind),
        cmocka_unit_test(sums_lose_nothing),
        cmocka_unit_test(small_sums_wrap),
        cmocka_unit_test(updates_between_are_kept),
        cmocka_unit_test(pairs_stay_together),
        cmocka_unit_test(swaps_lose_nothing),
        cmocka_unit_test(long_and_short_updates_lose_nothing),
        cmocka_unit_test(long_and_short_updates_wait_for_each_other),
        /* On kernels without membarrier. */
        cmocka_unit_test_setup(long_and_short_updates_lose_nothing, without_barrier),
        cmocka_unit_test_setup(long_and_short_updates_wait_for_each_other, without_barrier),
        cmocka_unit_test(pairs_wait_for_the_guard),
    };

    mpi_job = &job;
    rma_elements_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
