/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predefined operations, and applying any operation.
 */
#include <limits.h>
#include <string.h>

#include "mpi/datatype/op_device.h"
#include "mpi/datatype/op_kernels.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* Blocks of mpi_op_reduce_here: a quarter of a small first-level cache, so that the block and two
 * sources fit with room to spare. */
enum { BLOCK_BYTES = 8192 };

#define OP(id)                                                                                     \
    [(uintptr_t)MPI_##id - XMPI_OP_FIRST] = {.kind = XMPI_OP_KIND_##id,                            \
                                             .is_predefined = true,                                \
                                             .is_commutative = true,                               \
                                             .name = "MPI_" #id}

mpi_op_t mpi_op_table[XMPI_OP_TABLE] = {
    OP(SUM),
    OP(MIN),
    OP(MAX),
    OP(PROD),
    OP(BAND),
    OP(BOR),
    OP(BXOR),
    OP(LAND),
    OP(LOR),
    OP(LXOR),
    OP(MINLOC),
    OP(MAXLOC),
    [(uintptr_t)MPI_REPLACE - XMPI_OP_FIRST] = {.kind = XMPI_OP_KIND_REPLACE,
                                                .is_predefined = true,
                                                .name = "MPI_REPLACE"},
    [(uintptr_t)MPI_NO_OP -
        XMPI_OP_FIRST] = {.kind = XMPI_OP_KIND_NO_OP, .is_predefined = true, .name = "MPI_NO_OP"},
};

/* ---- Choosing the instruction set -------------------------------------------------------- */

const mpi_op_kernels_t *mpi_op_kernels = &mpi_op_kernels_plain;

const mpi_op_kernels_t *mpi_op_kernels_number(int i)
{
    const mpi_op_kernels_t *known[4] = {&mpi_op_kernels_plain};
    int n = 1;

#ifdef XMPI_OP_HAS_AVX
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        known[n++] = &mpi_op_kernels_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        known[n++] = &mpi_op_kernels_avx512;
#endif
    return i < n ? known[i] : NULL;
}

/* Before any rank runs, so no rank sees the pointer change. A constructor rather than an indirect
 * function: those are resolved before sanitizers have set up the process. */
__attribute__((constructor)) static void choose_kernels(void)
{
    for (int i = 0; mpi_op_kernels_number(i); i++)
        mpi_op_kernels = mpi_op_kernels_number(i);
}

/* ---- What is defined --------------------------------------------------------------------- */

bool mpi_op_is_valid_for(const mpi_op_t *op, const mpi_type_t *type)
{
    while (!type->is_predefined && type->contents.combiner == MPI_COMBINER_DUP)
        type = mpi_type_held(type->contents.a_type[0]);
    if (op->kind == XMPI_OP_KIND_USER)
        return true;
    if (op->kind == XMPI_OP_KIND_REPLACE || op->kind == XMPI_OP_KIND_NO_OP)
        return type->is_predefined;
    return type->is_predefined && mpi_op_kernels->fn[op->kind][type->basic] != NULL;
}

int mpi_op_error(const mpi_op_t *op, const mpi_type_t *type)
{
    return mpi_error(NULL, MPI_ERR_OP, "%s is not defined for %s", op->name, mpi_type_name(type));
}

/* ---- Applying ---------------------------------------------------------------------------- */

/* Call the function of the program for `*n` elements: an int or, for a function of large counts, an
 * MPI_Count. */
static void call_function(const mpi_op_t *op, void *a, void *b, void *n, MPI_Datatype type)
{
    if (op->through)
        op->through(op->fn_c ? (mpi_any_fn *)op->fn_c : (mpi_any_fn *)op->fn, a, b, n, type);
    else if (op->fn_c)
        op->fn_c(a, b, n, &type);
    else
        op->fn(a, b, n, &type);
}

/* Call the program's operation, in portions of INT_MAX elements if it takes an int. */
static void call_user(const mpi_op_t *op, const void *in, void *inout, int64_t count,
                      const mpi_type_t *type)
{
    char *a = (char *)(uintptr_t)in, *b = inout;

    if (op->fn_c) {
        MPI_Count n = count;

        call_function(op, a, b, &n, type->handle);
        return;
    }
    while (count > 0) {
        int n = count > INT_MAX ? INT_MAX : (int)count;
        int64_t done = n;

        call_function(op, a, b, &n, type->handle);
        a += done * type->extent;
        b += done * type->extent;
        count -= done;
    }
}

/* Inside the program's function the rank must not communicate: mpi_enter looks at the phase. Other
 * threads of the rank may, and look at the phase before they wait for their turn: with them it
 * stays as it is. */
static void apply_user(const mpi_op_t *op, const void *in, void *inout, int64_t count,
                       const mpi_type_t *type)
{
    mpi_rank_t *self = mpi_self;
    bool is_marked =
        self && self->phase == XMPI_RANK_RUNNING && self->thread_level < MPI_THREAD_SERIALIZED;

    if (is_marked)
        self->phase = XMPI_RANK_IN_OPERATION;
    call_user(op, in, inout, count, type);
    if (is_marked)
        self->phase = XMPI_RANK_RUNNING;
}

static void copy(const void *from, void *to, int64_t count, const mpi_type_t *type)
{
    size_t bytes;

    if (from != to)
        mpi_type_copy(to, count, type, from, count, type, &bytes);
}

/* The same in memory of the host, which no driver is asked about. */
static void copy_here(const void *from, void *to, int64_t count, const mpi_type_t *type)
{
    if (!mpi_type_is_contiguous(type))
        copy(from, to, count, type);
    else if (from != to && count > 0)
        memcpy((char *)to + type->true_lb, (const char *)from + type->true_lb,
               (size_t)count * type->size);
}

/* Vectors that do not fill a register of the widest instructions are left to plain code, whose own
 * are narrower: what remains of them is done element by element. */
enum { PLAIN_BELOW = 64 };

static mpi_kernel_fn kernel_of(const mpi_op_t *op, const mpi_type_t *type, int64_t count)
{
    const mpi_op_kernels_t *kernels =
        (uint64_t)count * type->size < PLAIN_BELOW ? &mpi_op_kernels_plain : mpi_op_kernels;

    return kernels->fn[op->kind][type->basic];
}

static __attribute__((noinline, cold)) bool apply_on_device(const mpi_op_t *op, const void *a,
                                                            const void *b, void *out, int64_t count,
                                                            const mpi_type_t *type)
{
    void *sources[] = {(void *)(uintptr_t)a, (void *)(uintptr_t)b};

    return mpi_op_reduce_device(op, sources, 2, &out, 1, count, type);
}

/* Compute out = a op b for elements in host memory. */
static void apply_here(const mpi_op_t *op, const void *a, const void *b, void *out, int64_t count,
                       const mpi_type_t *type)
{
    switch (op->kind) {
    case XMPI_OP_KIND_USER:
        copy_here(b, out, count, type);
        apply_user(op, a, out, count, type);
        break;
    case XMPI_OP_KIND_REPLACE:
        copy_here(a, out, count, type);
        break;
    case XMPI_OP_KIND_NO_OP:
        copy_here(b, out, count, type);
        break;
    default:
        kernel_of(op, type, count)(a, b, out, (size_t)count);
    }
}

void mpi_op_apply2(const mpi_op_t *op, const void *a, const void *b, void *out, int64_t count,
                   const mpi_type_t *type)
{
    if (count == 0 ||
        (__builtin_expect(mpi_device_is_used, 0) && apply_on_device(op, a, b, out, count, type)))
        return;
    apply_here(op, a, b, out, count, type);
}

void mpi_op_apply_here(const mpi_op_t *op, const void *in, void *inout, int64_t count,
                       const mpi_type_t *type)
{
    if (count > 0)
        apply_here(op, in, inout, inout, count, type);
}

void mpi_op_apply(const mpi_op_t *op, const void *in, void *inout, int64_t count,
                  const mpi_type_t *type)
{
    mpi_op_apply2(op, in, inout, inout, count, type);
}

/* From the right, since inout is the right operand: out = s[n-1], then s[n-2] op out, ... */
static void reduce_from_right(const mpi_op_t *op, void *const *sources, int n, void *out,
                              int64_t count, const mpi_type_t *type)
{
    copy_here(sources[n - 1], out, count, type);
    for (int i = n - 2; i >= 0; i--)
        mpi_op_apply_here(op, sources[i], out, count, type);
}

void mpi_op_reduce_here(const mpi_op_t *op, void *const *sources, int n, void *out, int64_t count,
                        const mpi_type_t *type)
{
    int64_t block = BLOCK_BYTES / type->extent;
    mpi_kernel_fn kernel = kernel_of(op, type, count);

    if (op->kind == XMPI_OP_KIND_REPLACE)
        n = 1; /* the first one stays */
    if (n == 1 || !kernel) {
        reduce_from_right(op, sources, n, out, count, type);
        return;
    }
    for (int64_t first = 0; first < count; first += block) {
        size_t elements = (size_t)(count - first < block ? count - first : block);
        size_t at = (size_t)first * (size_t)type->extent;
        char *to = (char *)out + at;

        kernel((char *)sources[0] + at, (char *)sources[1] + at, to, elements);
        for (int i = 2; i < n; i++)
            kernel(to, (char *)sources[i] + at, to, elements);
    }
}

void mpi_op_reduce_many(const mpi_op_t *op, void *const *sources, int n, void *out, int64_t count,
                        const mpi_type_t *type)
{
    if (__builtin_expect(!mpi_device_is_used, 1) ||
        !mpi_op_reduce_device(op, sources, n, &out, 1, count, type))
        mpi_op_reduce_here(op, sources, n, out, count, type);
}
