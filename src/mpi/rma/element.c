/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/rma/element.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Fewer elements than this are not worth a call of the loops of reductions. */
enum { FEW = 8, STAGE = 2048 };

/* ---- Kinds ---- */

const mpi_type_t *rma_element_of(const mpi_type_t *type)
{
    static const MPI_Datatype of[XMPI_BASIC_KINDS] = {
        [XMPI_BASIC_BYTE] = MPI_BYTE,
        [XMPI_BASIC_CHARACTER] = MPI_BYTE, /* text of any width: it is replaced, never computed */
        [XMPI_BASIC_INT8] = MPI_INT8_T,
        [XMPI_BASIC_INT16] = MPI_INT16_T,
        [XMPI_BASIC_INT32] = MPI_INT32_T,
        [XMPI_BASIC_INT64] = MPI_INT64_T,
        [XMPI_BASIC_INT128] = MPI_INTEGER16,
        [XMPI_BASIC_UINT8] = MPI_UINT8_T,
        [XMPI_BASIC_UINT16] = MPI_UINT16_T,
        [XMPI_BASIC_UINT32] = MPI_UINT32_T,
        [XMPI_BASIC_UINT64] = MPI_UINT64_T,
        [XMPI_BASIC_FLOAT16] = MPI_REAL2,
        [XMPI_BASIC_FLOAT] = MPI_FLOAT,
        [XMPI_BASIC_DOUBLE] = MPI_DOUBLE,
        [XMPI_BASIC_LONG_DOUBLE] = MPI_LONG_DOUBLE,
        [XMPI_BASIC_FLOAT128] = MPI_REAL16,
        [XMPI_BASIC_COMPLEX16] = MPI_COMPLEX4,
        [XMPI_BASIC_COMPLEX_FLOAT] = MPI_C_FLOAT_COMPLEX,
        [XMPI_BASIC_COMPLEX_DOUBLE] = MPI_C_DOUBLE_COMPLEX,
        [XMPI_BASIC_COMPLEX_LONG_DOUBLE] = MPI_C_LONG_DOUBLE_COMPLEX,
        [XMPI_BASIC_COMPLEX128] = MPI_COMPLEX32,
        [XMPI_BASIC_BOOL] = MPI_C_BOOL,
        [XMPI_BASIC_LOGICAL8] = MPI_LOGICAL1,
        [XMPI_BASIC_LOGICAL16] = MPI_LOGICAL2,
        [XMPI_BASIC_LOGICAL32] = MPI_LOGICAL4,
        [XMPI_BASIC_LOGICAL64] = MPI_LOGICAL8,
        [XMPI_BASIC_LOGICAL128] = MPI_LOGICAL16,
        [XMPI_BASIC_FLOAT_INT] = MPI_FLOAT_INT,
        [XMPI_BASIC_DOUBLE_INT] = MPI_DOUBLE_INT,
        [XMPI_BASIC_LONG_INT] = MPI_LONG_INT,
        [XMPI_BASIC_2INT] = MPI_2INT,
        [XMPI_BASIC_SHORT_INT] = MPI_SHORT_INT,
        [XMPI_BASIC_LONG_DOUBLE_INT] = MPI_LONG_DOUBLE_INT,
        [XMPI_BASIC_2FLOAT] = MPI_2REAL,
        [XMPI_BASIC_2DOUBLE] = MPI_2DOUBLE_PRECISION,
    };

    if (type->is_predefined)
        return type;
    return type->basic == XMPI_BASIC_NONE ? NULL : mpi_type_of(of[type->basic]);
}

/* How atomic instructions do it. */
typedef enum {
    WAY_NONE, /* not defined */
    WAY_LOAD,
    WAY_STORE,
    WAY_ADD,
    WAY_AND,
    WAY_OR,
    WAY_XOR,
    WAY_ADD_REAL,
    WAY_COMPUTE, /* a loop around compare and swap */
} way_t;

static bool is_integer(int basic)
{
    return (basic >= XMPI_BASIC_INT8 && basic <= XMPI_BASIC_INT64) ||
           (basic >= XMPI_BASIC_UINT8 && basic <= XMPI_BASIC_UINT64);
}

/* How an operation on a basic type is done atomically; WAY_COMPUTE if the hardware has no such
 * instruction. */
static way_t find_way(int kind, int basic)
{
    switch (kind) {
    case XMPI_OP_KIND_NO_OP:
        return WAY_LOAD;
    case XMPI_OP_KIND_REPLACE:
        return WAY_STORE;
    case XMPI_OP_KIND_BAND:
        return WAY_AND;
    case XMPI_OP_KIND_BOR:
        return WAY_OR;
    case XMPI_OP_KIND_BXOR:
        return WAY_XOR;
    case XMPI_OP_KIND_SUM:
        if (is_integer(basic))
            return WAY_ADD;
        if (basic == XMPI_BASIC_DOUBLE || basic == XMPI_BASIC_FLOAT)
            return WAY_ADD_REAL;
        return WAY_COMPUTE;
    default:
        return WAY_COMPUTE;
    }
}

/* The way of each operation for each kind of element: WAY_NONE where it is not defined. Written
 * before there are windows. */
static uint8_t ways[XMPI_OP_KINDS][XMPI_BASIC_KINDS];

static void find_ways(void)
{
    for (int o = 0; o < XMPI_OP_TABLE; o++)
        for (int t = 0; t < XMPI_TYPE_TABLE; t++) {
            const mpi_op_t *op = &mpi_op_table[o];
            const mpi_type_t *type = &mpi_type_table[t];

            if (op->is_predefined && type->is_predefined && mpi_op_is_valid_for(op, type))
                ways[op->kind][type->basic] = (uint8_t)find_way(op->kind, (int)type->basic);
        }
}

static inline way_t way_of(const rma_update_t *u)
{
    return (way_t)ways[u->op->kind][u->type->basic];
}

/* ---- Atomic instructions ---- */

/* Each releases what its origin did before and acquires what the origin of the value did: a program
 * may use a location as a flag for memory that it has flushed. */
#define ATOMIC(bits)                                                                               \
    static __attribute__((noinline))                                                               \
    uint##bits##_t compute_##bits(const rma_update_t *u, uint##bits##_t *target, uint##bits##_t x) \
    {                                                                                              \
        uint##bits##_t old = __atomic_load_n(target, __ATOMIC_ACQUIRE), now;                       \
                                                                                                   \
        do {                                                                                       \
            mpi_op_apply2(u->op, &x, &old, &now, 1, u->type);                                      \
        } while (!__atomic_compare_exchange_n(target, &old, now, true, __ATOMIC_ACQ_REL,           \
                                              __ATOMIC_ACQUIRE));                                  \
        return old;                                                                                \
    }                                                                                              \
                                                                                                   \
    static uint##bits##_t update_one_##bits(const rma_update_t *u, way_t way,                      \
                                            uint##bits##_t *target, uint##bits##_t x)              \
    {                                                                                              \
        switch (way) {                                                                             \
        case WAY_LOAD:                                                                             \
            return __atomic_load_n(target, __ATOMIC_ACQUIRE);                                      \
        case WAY_STORE:                                                                            \
            return __atomic_exchange_n(target, x, __ATOMIC_ACQ_REL);                               \
        case WAY_ADD:                                                                              \
            return __atomic_fetch_add(target, x, __ATOMIC_ACQ_REL);                                \
        case WAY_AND:                                                                              \
            return __atomic_fetch_and(target, x, __ATOMIC_ACQ_REL);                                \
        case WAY_OR:                                                                               \
            return __atomic_fetch_or(target, x, __ATOMIC_ACQ_REL);                                 \
        case WAY_XOR:                                                                              \
            return __atomic_fetch_xor(target, x, __ATOMIC_ACQ_REL);                                \
        default:                                                                                   \
            return compute_##bits(u, target, x);                                                   \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static inline __attribute__((always_inline)) void update_##bits(                               \
        const rma_update_t *u, way_t way, void *target, const char *origin, char *result,          \
        size_t n)                                                                                  \
    {                                                                                              \
        uint##bits##_t *at = target, x = 0;                                                        \
                                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            if (way != WAY_LOAD)                                                                   \
                memcpy(&x, origin + i * sizeof(x), sizeof(x));                                     \
            if (way == WAY_STORE && result == NULL) {                                              \
                __atomic_store_n(at + i, x, __ATOMIC_RELEASE);                                     \
                continue;                                                                          \
            }                                                                                      \
            x = update_one_##bits(u, way, at + i, x);                                              \
            if (result != NULL)                                                                    \
                memcpy(result + i * sizeof(x), &x, sizeof(x));                                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void swap_##bits(void *target, const void *origin, const void *compare, void *result)   \
    {                                                                                              \
        uint##bits##_t x, old;                                                                     \
                                                                                                   \
        memcpy(&x, origin, sizeof(x));                                                             \
        memcpy(&old, compare, sizeof(old));                                                        \
        __atomic_compare_exchange_n((uint##bits##_t *)target, &old, x, false, __ATOMIC_ACQ_REL,    \
                                    __ATOMIC_ACQUIRE);                                             \
        memcpy(result, &old, sizeof(old));                                                         \
    }

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

/* The sums of real numbers, which are frequent, without a call. */
#define ADD_REAL(type, bits)                                                                       \
    static inline __attribute__((always_inline)) void add_##type(void *target, const char *origin, \
                                                                 char *result, size_t n)           \
    {                                                                                              \
        uint##bits##_t *at = target, old, now;                                                     \
        type x, sum;                                                                               \
                                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            memcpy(&x, origin + i * sizeof(x), sizeof(x));                                         \
            old = __atomic_load_n(at + i, __ATOMIC_ACQUIRE);                                       \
            do {                                                                                   \
                memcpy(&sum, &old, sizeof(sum));                                                   \
                sum = x + sum;                                                                     \
                memcpy(&now, &sum, sizeof(now));                                                   \
            } while (!__atomic_compare_exchange_n(at + i, &old, now, true, __ATOMIC_ACQ_REL,       \
                                                  __ATOMIC_ACQUIRE));                              \
            if (result != NULL)                                                                    \
                memcpy(result + i * sizeof(old), &old, sizeof(old));                               \
        }                                                                                          \
    }

ADD_REAL(double, 64)
ADD_REAL(float, 32)

/* Update n elements in shared memory, each atomically. */
static __attribute__((noinline)) void update_atomic(const rma_update_t *u, char *target,
                                                    const char *origin, char *result, size_t n)
{
    way_t way = way_of(u);

    if (way == WAY_ADD_REAL && u->type->size == 8)
        add_double(target, origin, result, n);
    else if (way == WAY_ADD_REAL)
        add_float(target, origin, result, n);
    else if (u->type->size == 8)
        update_64(u, way, target, origin, result, n);
    else if (u->type->size == 4)
        update_32(u, way, target, origin, result, n);
    else if (u->type->size == 2)
        update_16(u, way, target, origin, result, n);
    else
        update_8(u, way, target, origin, result, n);
}

/* ---- Without atomic instructions ---- */

static void copy(char *to, const char *from, size_t n, const mpi_type_t *type)
{
    size_t bytes;

    mpi_type_copy(to, (int64_t)n, type, from, (int64_t)n, type, &bytes);
}

/* In memory of our own: elements at the target need not be aligned, and what lies in the padding of
 * a pair there may be anything. */
static void update_staged(const rma_update_t *u, char *target, const char *origin, char *result,
                          size_t n)
{
    _Alignas(16) char stage[STAGE];
    size_t extent = (size_t)u->type->extent, most = STAGE / extent;

    for (size_t i = 0; i < n; i += most) {
        size_t part = n - i < most ? n - i : most, at = i * extent;

        copy(stage, target + at, part, u->type);
        if (result != NULL)
            copy(result + at, stage, part, u->type);
        if (u->op->kind == XMPI_OP_KIND_NO_OP)
            continue;
        mpi_op_apply(u->op, origin + at, stage, (int64_t)part, u->type);
        copy(target + at, stage, part, u->type);
    }
}

/* The same of one element whose data is in front. */
static void update_single(const rma_update_t *u, char *target, const char *origin, char *result)
{
    _Alignas(16) char now[64];
    size_t size = u->type->size;

    memcpy(now, target, size);
    if (result != NULL)
        memcpy(result, now, size);
    if (u->op->kind == XMPI_OP_KIND_NO_OP)
        return;
    mpi_op_apply(u->op, origin, now, 1, u->type);
    memcpy(target, now, size);
}

static bool is_aligned(const mpi_type_t *type, const void *address)
{
    return (uintptr_t)address % type->align == 0;
}

/* Update n elements that no other rank updates meanwhile. */
static void update_alone(const rma_update_t *u, char *target, const char *origin, char *result,
                         size_t n)
{
    if (n < FEW && rma_is_atomic(u->type, target)) {
        update_atomic(u, target, origin, result, n);
    } else if (u->type->is_contiguous && is_aligned(u->type, target) &&
               is_aligned(u->type, origin)) {
        if (result != NULL)
            memcpy(result, target, n * u->type->size);
        if (u->op->kind != XMPI_OP_KIND_NO_OP)
            mpi_op_apply(u->op, origin, target, (int64_t)n, u->type);
    } else {
        update_staged(u, target, origin, result, n);
    }
}

/* ---- Memory of a GPU ---- */

/* No instruction of the host reaches it: all updates of elements there are under the guard, those
 * of several elements by a kernel where the origin is there, too, and through memory of the host
 * otherwise. */
static __attribute__((noinline, cold)) void
update_device(const rma_update_t *u, char *target, const char *origin, char *result, size_t n)
{
    if (!u->is_alone)
        rma_guard_acquire(&u->updates->guard);
    if (!u->type->is_contiguous) { /* a kernel would write into the padding, too */
        update_staged(u, target, origin, result, n);
    } else {
        if (result != NULL)
            copy(result, target, n, u->type);
        if (u->op->kind == XMPI_OP_KIND_REPLACE)
            copy(target, origin, n, u->type);
        else if (u->op->kind != XMPI_OP_KIND_NO_OP)
            mpi_op_apply(u->op, origin, target, (int64_t)n, u->type);
    }
    if (!u->is_alone)
        rma_guard_release(&u->updates->guard);
}

/* ---- Atomic instructions and long updates ---- */

bool rma_has_barrier;

static void prepare(void)
{
    find_ways();
    rma_has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void rma_elements_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, prepare);
}

/* Elements from which on waiting for other workers pays. */
static size_t long_from(void)
{
    return 32 + 4 * (size_t)mpi_job->workers;
}

static void await_workers(void)
{
    for (int w = 0; w < mpi_job->workers; w++) {
        unsigned looks = 0;

        while (atomic_load_explicit(&mpi_job->worker[w].is_updating, memory_order_seq_cst) != 0)
            xy_back_off(&looks);
    }
}

/* No worker is at an atomic instruction without the guard, and none comes to one. */
static void make_long(rma_updates_t *updates)
{
    atomic_store_explicit(&updates->is_long, 1, memory_order_seq_cst);
    if (rma_has_barrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        xy_fail(XY_EIO, "membarrier: %s, although it was registered", strerror(errno));
        mpi_job->abort(1);
    }
    await_workers();
}

bool rma_long_begin(rma_update_t *u, size_t elements)
{
    if (u->is_alone || u->updates->is_mapped || elements < long_from())
        return false;
    rma_guard_acquire(&u->updates->guard);
    if (atomic_load_explicit(&u->updates->is_long, memory_order_relaxed) == 0)
        make_long(u->updates);
    u->updates->shorts = 0;
    u->is_alone = true;
    return true;
}

void rma_long_end(rma_update_t *u)
{
    u->is_alone = false;
    rma_guard_release(&u->updates->guard);
}

bool rma_update_one(const rma_update_t *u, char *target, const char *origin, char *result)
{
    way_t way = way_of(u);
    bool is_free;

    if (way == WAY_NONE)
        return false;
    is_free = rma_enter(u);
    if (u->type->size != 8) /* counters and sums of eight bytes without a call */
        update_atomic(u, target, origin, result, 1);
    else if (way == WAY_ADD_REAL)
        add_double(target, origin, result, 1);
    else
        update_64(u, way, target, origin, result, 1);
    rma_leave(u, is_free);
    return true;
}

void rma_update(const rma_update_t *u, char *target, const char *origin, char *result, size_t n)
{
    bool is_free;

    if (mpi_is_on_device(target)) {
        update_device(u, target, origin, result, n);
    } else if (u->is_alone) {
        update_alone(u, target, origin, result, n);
    } else if (rma_is_atomic(u->type, target)) {
        is_free = rma_enter(u);
        update_atomic(u, target, origin, result, n);
        rma_leave(u, is_free);
    } else {
        rma_guard_acquire(&u->updates->guard);
        if (n == 1 && rma_is_in_front(u->type))
            update_single(u, target, origin, result);
        else
            update_staged(u, target, origin, result, n);
        rma_guard_release(&u->updates->guard);
    }
}

/* ---- Compare and swap ---- */

static void swap_atomic(size_t size, char *target, const void *origin, const void *compare,
                        void *result)
{
    if (size == 8)
        swap_64(target, origin, compare, result);
    else if (size == 4)
        swap_32(target, origin, compare, result);
    else if (size == 2)
        swap_16(target, origin, compare, result);
    else
        swap_8(target, origin, compare, result);
}

static void swap_plain(size_t size, char *target, const void *origin, const void *compare,
                       void *result)
{
    char old[16];

    mpi_move_in(old, target, size);
    if (memcmp(old, compare, size) == 0)
        mpi_move_out(target, origin, size);
    memcpy(result, old, size);
}

void rma_compare_and_swap(const rma_update_t *u, char *target, const void *origin,
                          const void *compare, void *result)
{
    bool is_free;

    if (rma_is_atomic(u->type, target) && !mpi_is_on_device(target)) {
        is_free = rma_enter(u);
        swap_atomic(u->type->size, target, origin, compare, result);
        rma_leave(u, is_free);
    } else {
        rma_guard_acquire(&u->updates->guard);
        swap_plain(u->type->size, target, origin, compare, result);
        rma_guard_release(&u->updates->guard);
    }
}
