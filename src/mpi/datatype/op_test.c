/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every predefined operation on every predefined type, in every instruction set this machine has,
 * against one element at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "mpi/datatype/op_kernels.h"
#include "testing/mpi_object.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* as the kernels are compiled */
#endif

enum { MOST = 300, MANY = 5 };

/* ---- One element, plainly ---------------------------------------------------------------- */

#define REFERENCE_INTEGER(suffix, type, utype)                                                     \
    static bool refer_##suffix(mpi_op_kind_t kind, const void *pa, const void *pb, void *pout)     \
    {                                                                                              \
        type a = *(const type *)pa, b = *(const type *)pb, *out = pout;                            \
                                                                                                   \
        switch (kind) {                                                                            \
        case XMPI_OP_KIND_SUM:                                                                     \
            *out = (type)((utype)a + (utype)b);                                                    \
            return true;                                                                           \
        case XMPI_OP_KIND_PROD:                                                                    \
            *out = (type)((utype)a * (utype)b);                                                    \
            return true;                                                                           \
        case XMPI_OP_KIND_MIN:                                                                     \
            *out = a < b ? a : b;                                                                  \
            return true;                                                                           \
        case XMPI_OP_KIND_MAX:                                                                     \
            *out = a < b ? b : a;                                                                  \
            return true;                                                                           \
        case XMPI_OP_KIND_BAND:                                                                    \
            *out = (type)(a & b);                                                                  \
            return true;                                                                           \
        case XMPI_OP_KIND_BOR:                                                                     \
            *out = (type)(a | b);                                                                  \
            return true;                                                                           \
        case XMPI_OP_KIND_BXOR:                                                                    \
            *out = (type)(a ^ b);                                                                  \
            return true;                                                                           \
        case XMPI_OP_KIND_LAND:                                                                    \
            *out = a && b;                                                                         \
            return true;                                                                           \
        case XMPI_OP_KIND_LOR:                                                                     \
            *out = a || b;                                                                         \
            return true;                                                                           \
        case XMPI_OP_KIND_LXOR:                                                                    \
            *out = !a != !b;                                                                       \
            return true;                                                                           \
        default:                                                                                   \
            return false;                                                                          \
        }                                                                                          \
    }

REFERENCE_INTEGER(int8, int8_t, uint32_t)
REFERENCE_INTEGER(int16, int16_t, uint32_t)
REFERENCE_INTEGER(int32, int32_t, uint32_t)
REFERENCE_INTEGER(int64, int64_t, uint64_t)
REFERENCE_INTEGER(uint8, uint8_t, uint32_t)
REFERENCE_INTEGER(uint16, uint16_t, uint32_t)
REFERENCE_INTEGER(uint32, uint32_t, uint32_t)
REFERENCE_INTEGER(uint64, uint64_t, uint64_t)
#ifdef __SIZEOF_INT128__
typedef __int128 int128;
typedef unsigned __int128 uint128;
REFERENCE_INTEGER(int128, int128, uint128)
#endif

#define REFERENCE_REAL(suffix, type)                                                               \
    static bool refer_##suffix(mpi_op_kind_t kind, const void *pa, const void *pb, void *pout)     \
    {                                                                                              \
        type a = *(const type *)pa, b = *(const type *)pb, *out = pout;                            \
                                                                                                   \
        switch (kind) {                                                                            \
        case XMPI_OP_KIND_SUM:                                                                     \
            *out = a + b;                                                                          \
            return true;                                                                           \
        case XMPI_OP_KIND_PROD:                                                                    \
            *out = a * b;                                                                          \
            return true;                                                                           \
        case XMPI_OP_KIND_MIN:                                                                     \
            *out = a < b ? a : b;                                                                  \
            return true;                                                                           \
        case XMPI_OP_KIND_MAX:                                                                     \
            *out = a < b ? b : a;                                                                  \
            return true;                                                                           \
        default:                                                                                   \
            return false;                                                                          \
        }                                                                                          \
    }                                                                                              \
    static bool refer_complex_##suffix(mpi_op_kind_t kind, const void *pa, const void *pb,         \
                                       void *pout)                                                 \
    {                                                                                              \
        const type *a = pa, *b = pb;                                                               \
        type *out = pout;                                                                          \
                                                                                                   \
        if (kind == XMPI_OP_KIND_SUM) {                                                            \
            out[0] = a[0] + b[0];                                                                  \
            out[1] = a[1] + b[1];                                                                  \
        } else if (kind == XMPI_OP_KIND_PROD) {                                                    \
            out[0] = a[0] * b[0] - a[1] * b[1];                                                    \
            out[1] = a[0] * b[1] + a[1] * b[0];                                                    \
        }                                                                                          \
        return kind == XMPI_OP_KIND_SUM || kind == XMPI_OP_KIND_PROD;                              \
    }

REFERENCE_REAL(float, float)
REFERENCE_REAL(double, double)
REFERENCE_REAL(long_double, long double)
#if defined(__FLT16_MANT_DIG__) && (!defined(__clang__) || __clang_major__ >= 15)
#define HAS_FLOAT16 1
REFERENCE_REAL(float16, _Float16)
#endif
#ifdef __SIZEOF_FLOAT128__
#define HAS_FLOAT128 1
typedef __float128 float128_t;
#elif __LDBL_MANT_DIG__ == 113
#define HAS_FLOAT128 1
typedef long double float128_t;
#endif
#ifdef HAS_FLOAT128
REFERENCE_REAL(float128, float128_t)
#endif

#define REFERENCE_PAIR(suffix, vtype, itype)                                                       \
    static bool refer_##suffix(mpi_op_kind_t kind, const void *pa, const void *pb, void *pout)     \
    {                                                                                              \
        const struct {                                                                             \
            vtype v;                                                                               \
            itype i;                                                                               \
        } *a = pa, *b = pb;                                                                        \
        bool first;                                                                                \
                                                                                                   \
        if (kind != XMPI_OP_KIND_MINLOC && kind != XMPI_OP_KIND_MAXLOC)                            \
            return false;                                                                          \
        if (a->v == b->v)                                                                          \
            first = a->i < b->i;                                                                   \
        else                                                                                       \
            first = (a->v < b->v) == (kind == XMPI_OP_KIND_MINLOC);                                \
        memcpy(pout, first ? (const void *)a : (const void *)b, sizeof *a);                        \
        return true;                                                                               \
    }

REFERENCE_PAIR(float_int, float, int)
REFERENCE_PAIR(double_int, double, int)
REFERENCE_PAIR(long_int, long, int)
REFERENCE_PAIR(2int, int, int)
REFERENCE_PAIR(short_int, short, int)
REFERENCE_PAIR(long_double_int, long double, int)
REFERENCE_PAIR(2float, float, float)
REFERENCE_PAIR(2double, double, double)

static bool is_logic(mpi_op_kind_t kind)
{
    return kind == XMPI_OP_KIND_LAND || kind == XMPI_OP_KIND_LOR || kind == XMPI_OP_KIND_LXOR;
}

static bool is_bitwise(mpi_op_kind_t kind)
{
    return kind == XMPI_OP_KIND_BAND || kind == XMPI_OP_KIND_BOR || kind == XMPI_OP_KIND_BXOR;
}

/* out = a op b for one element; false: not defined. */
static bool refer(mpi_op_kind_t kind, mpi_basic_t basic, const void *a, const void *b, void *out)
{
    switch (basic) {
    case XMPI_BASIC_BYTE:
        return is_bitwise(kind) && refer_uint8(kind, a, b, out);
    case XMPI_BASIC_BOOL:
    case XMPI_BASIC_LOGICAL8:
        return is_logic(kind) && refer_int8(kind, a, b, out);
    case XMPI_BASIC_LOGICAL16:
        return is_logic(kind) && refer_int16(kind, a, b, out);
    case XMPI_BASIC_LOGICAL32:
        return is_logic(kind) && refer_int32(kind, a, b, out);
    case XMPI_BASIC_LOGICAL64:
        return is_logic(kind) && refer_int64(kind, a, b, out);
    case XMPI_BASIC_INT8:
        return refer_int8(kind, a, b, out);
    case XMPI_BASIC_INT16:
        return refer_int16(kind, a, b, out);
    case XMPI_BASIC_INT32:
        return refer_int32(kind, a, b, out);
    case XMPI_BASIC_INT64:
        return refer_int64(kind, a, b, out);
    case XMPI_BASIC_UINT8:
        return refer_uint8(kind, a, b, out);
    case XMPI_BASIC_UINT16:
        return refer_uint16(kind, a, b, out);
    case XMPI_BASIC_UINT32:
        return refer_uint32(kind, a, b, out);
    case XMPI_BASIC_UINT64:
        return refer_uint64(kind, a, b, out);
    case XMPI_BASIC_FLOAT:
        return refer_float(kind, a, b, out);
    case XMPI_BASIC_DOUBLE:
        return refer_double(kind, a, b, out);
    case XMPI_BASIC_LONG_DOUBLE:
        return refer_long_double(kind, a, b, out);
    case XMPI_BASIC_COMPLEX_FLOAT:
        return refer_complex_float(kind, a, b, out);
    case XMPI_BASIC_COMPLEX_DOUBLE:
        return refer_complex_double(kind, a, b, out);
    case XMPI_BASIC_COMPLEX_LONG_DOUBLE:
        return refer_complex_long_double(kind, a, b, out);
    case XMPI_BASIC_FLOAT_INT:
        return refer_float_int(kind, a, b, out);
    case XMPI_BASIC_DOUBLE_INT:
        return refer_double_int(kind, a, b, out);
    case XMPI_BASIC_LONG_INT:
        return refer_long_int(kind, a, b, out);
    case XMPI_BASIC_2INT:
        return refer_2int(kind, a, b, out);
    case XMPI_BASIC_SHORT_INT:
        return refer_short_int(kind, a, b, out);
    case XMPI_BASIC_LONG_DOUBLE_INT:
        return refer_long_double_int(kind, a, b, out);
    case XMPI_BASIC_2FLOAT:
        return refer_2float(kind, a, b, out);
    case XMPI_BASIC_2DOUBLE:
        return refer_2double(kind, a, b, out);
#ifdef __SIZEOF_INT128__
    case XMPI_BASIC_INT128:
        return refer_int128(kind, a, b, out);
    case XMPI_BASIC_LOGICAL128:
        return is_logic(kind) && refer_int128(kind, a, b, out);
#endif
#ifdef HAS_FLOAT16
    case XMPI_BASIC_FLOAT16:
        return refer_float16(kind, a, b, out);
    case XMPI_BASIC_COMPLEX16:
        return refer_complex_float16(kind, a, b, out);
#endif
#ifdef HAS_FLOAT128
    case XMPI_BASIC_FLOAT128:
        return refer_float128(kind, a, b, out);
    case XMPI_BASIC_COMPLEX128:
        return refer_complex_float128(kind, a, b, out);
#endif
    default:
        return false;
    }
}

/* ---- Values ------------------------------------------------------------------------------ */

static unsigned random_state = 1;

static int random_in(int low, int high)
{
    random_state = random_state * 1103515245u + 12345u;
    return low + (int)((random_state >> 8) % (unsigned)(high - low + 1));
}

#define FILL_REAL(type)                                                                            \
    for (int k = 0; k < n * (int)(size / sizeof(type)); k++)                                       \
    ((type *)p)[k] = (type)(random_in(-64, 64) / (type)8)
#define FILL_PAIR(vtype, itype)                                                                    \
    for (int k = 0; k < n; k++) {                                                                  \
        struct {                                                                                   \
            vtype v;                                                                               \
            itype i;                                                                               \
        } *pair = p;                                                                               \
        pair[k].v = (vtype)random_in(-2, 2);                                                       \
        pair[k].i = (itype)random_in(0, 9);                                                        \
    }

/* Random elements: any bits for integers, small exact values for others, zeros among booleans. */
static void fill(void *p, int n, const mpi_type_t *type)
{
    size_t size = (size_t)type->extent;

    memset(p, 0, (size_t)n * size);
    switch ((mpi_basic_t)type->basic) {
    case XMPI_BASIC_FLOAT:
    case XMPI_BASIC_COMPLEX_FLOAT:
        FILL_REAL(float);
        break;
    case XMPI_BASIC_DOUBLE:
    case XMPI_BASIC_COMPLEX_DOUBLE:
        FILL_REAL(double);
        break;
    case XMPI_BASIC_LONG_DOUBLE:
    case XMPI_BASIC_COMPLEX_LONG_DOUBLE:
        FILL_REAL(long double);
        break;
#ifdef HAS_FLOAT16
    case XMPI_BASIC_FLOAT16:
    case XMPI_BASIC_COMPLEX16:
        FILL_REAL(_Float16);
        break;
#endif
#ifdef HAS_FLOAT128
    case XMPI_BASIC_FLOAT128:
    case XMPI_BASIC_COMPLEX128:
        FILL_REAL(float128_t);
        break;
#endif
    case XMPI_BASIC_FLOAT_INT:
        FILL_PAIR(float, int);
        break;
    case XMPI_BASIC_DOUBLE_INT:
        FILL_PAIR(double, int);
        break;
    case XMPI_BASIC_LONG_INT:
        FILL_PAIR(long, int);
        break;
    case XMPI_BASIC_2INT:
        FILL_PAIR(int, int);
        break;
    case XMPI_BASIC_SHORT_INT:
        FILL_PAIR(short, int);
        break;
    case XMPI_BASIC_LONG_DOUBLE_INT:
        FILL_PAIR(long double, int);
        break;
    case XMPI_BASIC_2FLOAT:
        FILL_PAIR(float, float);
        break;
    case XMPI_BASIC_2DOUBLE:
        FILL_PAIR(double, double);
        break;
    case XMPI_BASIC_BOOL:
        for (int k = 0; k < n; k++)
            ((unsigned char *)p)[k] = (unsigned char)random_in(0, 1);
        break;
    default:
        for (int k = 0; k < n; k++)
            for (size_t j = 0; j < size && k % 4 != 0; j++)
                ((unsigned char *)p)[(size_t)k * size + j] = (unsigned char)random_in(0, 255);
    }
}

/* Equal data; the padding of pairs and of long doubles is not compared. */
static void check_equal(const mpi_type_t *type, int n, const void *x, const void *y)
{
    size_t size = (size_t)type->extent;
    bool is_80_bits = __LDBL_MANT_DIG__ == 64;

    for (int k = 0; k < n; k++) {
        const char *a = (const char *)x + (size_t)k * size, *b = (const char *)y + (size_t)k * size;

        if (is_80_bits && type->basic == XMPI_BASIC_LONG_DOUBLE) {
            assert_memory_equal(a, b, 10);
        } else if (is_80_bits && type->basic == XMPI_BASIC_COMPLEX_LONG_DOUBLE) {
            assert_memory_equal(a, b, 10);
            assert_memory_equal(a + 16, b + 16, 10);
        } else if (is_80_bits && type->basic == XMPI_BASIC_LONG_DOUBLE_INT) {
            assert_memory_equal(a, b, 10);
            assert_memory_equal(a + 16, b + 16, sizeof(int));
        } else {
            for (size_t i = 0; i < type->layout.blocks; i++)
                assert_memory_equal(a + type->layout.block[i].offset,
                                    b + type->layout.block[i].offset, type->layout.block[i].length);
        }
    }
}

/* ---- Properties -------------------------------------------------------------------------- */

/* 32 bytes is the largest element; one more element shows whether the end is respected. */
typedef struct {
    _Alignas(64) char byte[(MOST + 1) * 32];
} vector_t;

static vector_t source[MANY], out, expected;

static void refer_all(const mpi_op_t *op, const mpi_type_t *type, int n, const void *a,
                      const void *b, void *result)
{
    size_t size = (size_t)type->extent;

    for (int k = 0; k < n; k++) {
        _Alignas(16) char value[32];

        refer(op->kind, (mpi_basic_t)type->basic, (const char *)a + (size_t)k * size,
              (const char *)b + (size_t)k * size, value);
        memcpy((char *)result + (size_t)k * size, value, size);
    }
}

static void check_length(const mpi_op_t *op, const mpi_type_t *type, int n)
{
    void *sources[MANY];
    int many = random_in(1, MANY);
    size_t bytes = (size_t)(n + 1) * (size_t)type->extent;

    for (int s = 0; s < MANY; s++) {
        sources[s] = source[s].byte;
        fill(sources[s], n + 1, type);
    }
    refer_all(op, type, n, sources[0], sources[1], expected.byte);

    memcpy(out.byte, sources[1], bytes);
    mpi_op_apply(op, sources[0], out.byte, n, type);
    check_equal(type, n, out.byte, expected.byte);
    check_equal(type, 1, out.byte + (size_t)n * (size_t)type->extent,
                source[1].byte + (size_t)n * (size_t)type->extent);

    memset(out.byte, 0, bytes);
    mpi_op_apply2(op, sources[0], sources[1], out.byte, n, type);
    check_equal(type, n, out.byte, expected.byte);
    memcpy(out.byte, sources[0], bytes);
    mpi_op_apply2(op, out.byte, sources[1], out.byte, n, type);
    check_equal(type, n, out.byte, expected.byte);

    memcpy(expected.byte, sources[0], bytes);
    for (int s = 1; s < many; s++)
        refer_all(op, type, n, expected.byte, sources[s], expected.byte);
    mpi_op_reduce_many(op, sources, many, out.byte, n, type);
    check_equal(type, n, out.byte, expected.byte);
}

static void check_all_types(const mpi_op_t *op)
{
    static const int lengths[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 63, 64, 65, 100, MOST};

    for (int t = 0; t < XMPI_TYPE_TABLE; t++) {
        const mpi_type_t *type = &mpi_type_table[t];
        _Alignas(16) char zero[32] = {0}, result[32];

        if (!type->is_predefined)
            continue;
        assert_int_equal(mpi_op_is_valid_for(op, type),
                         refer(op->kind, (mpi_basic_t)type->basic, zero, zero, result));
        if (!mpi_op_is_valid_for(op, type))
            continue;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            check_length(op, type, lengths[i]);
    }
}

static void test_all(void **state)
{
    const mpi_op_kernels_t *chosen = mpi_op_kernels;

    (void)state;
    for (int i = 0; mpi_op_kernels_number(i); i++) {
        mpi_op_kernels = mpi_op_kernels_number(i);
        for (int o = 0; o < XMPI_OP_TABLE; o++)
            if (mpi_op_table[o].is_predefined && mpi_op_table[o].kind < XMPI_OP_KIND_REPLACE)
                check_all_types(&mpi_op_table[o]);
    }
    mpi_op_kernels = chosen;
}

/* Longer than a block of mpi_op_reduce_many. */
static void test_many_blocks(void **state)
{
    enum { N = 10000, S = 7 };
    static double values[S][N], sum[N], want[N];
    void *sources[S];

    (void)state;
    for (int i = 0; i < N; i++) {
        want[i] = 0;
        for (int s = 0; s < S; s++) {
            values[s][i] = random_in(-1000, 1000) / 3.0;
            want[i] = s == 0 ? values[s][i] : want[i] + values[s][i];
        }
    }
    for (int s = 0; s < S; s++)
        sources[s] = values[s];
    mpi_op_reduce_many(mpi_op_of(MPI_SUM), sources, S, sum, N, mpi_type_of(MPI_DOUBLE));
    assert_memory_equal(sum, want, sizeof sum);
    mpi_op_reduce_many(mpi_op_of(MPI_SUM), sources, S, values[0], N, mpi_type_of(MPI_DOUBLE));
    assert_memory_equal(values[0], want, sizeof want);
}

/* ---- Operations of the program ----------------------------------------------------------- */

/* Not commutative, but associative: 2 x 2 matrices modulo 2^32. */
static void multiply(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    unsigned(*a)[4] = in, (*b)[4] = inout;
    int size;

    PMPI_Type_size(*datatype, &size);
    assert_int_equal(size, 16);
    for (int i = 0; i < *len; i++) {
        unsigned c[4] = {
            a[i][0] * b[i][0] + a[i][1] * b[i][2], a[i][0] * b[i][1] + a[i][1] * b[i][3],
            a[i][2] * b[i][0] + a[i][3] * b[i][2], a[i][2] * b[i][1] + a[i][3] * b[i][3]};

        memcpy(b[i], c, sizeof c);
    }
}

static void multiply_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)
{
    int n = (int)*len;

    multiply(in, inout, &n, datatype);
}

static void test_user(void **state)
{
    enum { N = 20, S = 4 };
    static unsigned matrix[S][N][4], result[N][4], want[N][4];
    void *sources[S] = {matrix[0], matrix[1], matrix[2], matrix[3]};
    MPI_Datatype four;

    (void)state;
    PMPI_Type_contiguous(4, MPI_UNSIGNED, &four);
    for (int large = 0; large < 2; large++) {
        MPI_Op op;
        int is_commutative, n = N;

        assert_int_equal(
            large ? PMPI_Op_create_c(multiply_c, 0, &op) : PMPI_Op_create(multiply, 0, &op), 0);
        PMPI_Op_commutative(op, &is_commutative);
        assert_false(is_commutative);
        for (int s = 0; s < S; s++)
            for (int i = 0; i < N * 4; i++)
                matrix[s][i / 4][i % 4] = (unsigned)random_in(0, 1 << 20);
        memcpy(want, matrix[S - 1], sizeof want);
        for (int s = S - 2; s >= 0; s--)
            multiply(matrix[s], want, &n, &four);
        mpi_op_reduce_many(mpi_op_of(op), sources, S, result, N, mpi_type_of(four));
        assert_memory_equal(result, want, sizeof want);
        memcpy(want, matrix[1], sizeof want);
        multiply(matrix[0], want, &n, &four);
        mpi_op_apply2(mpi_op_of(op), matrix[0], matrix[1], result, N, mpi_type_of(four));
        assert_memory_equal(result, want, sizeof want);
        mpi_op_hold(mpi_op_of(op));
        mpi_op_release(mpi_op_of(op));
        assert_int_equal(PMPI_Op_free(&op), 0);
        assert_ptr_equal(op, MPI_OP_NULL);
    }
    PMPI_Type_free(&four);
}

static void test_replace(void **state)
{
    int a[3] = {1, 2, 3}, b[3] = {4, 5, 6};

    (void)state;
    assert_int_equal(PMPI_Reduce_local(a, b, 3, MPI_INT, MPI_NO_OP), MPI_ERR_OP);
    mpi_op_apply(mpi_op_of(MPI_NO_OP), a, b, 3, mpi_type_of(MPI_INT));
    assert_memory_equal(b, ((int[]){4, 5, 6}), sizeof b);
    assert_int_equal(PMPI_Reduce_local(a, b, 3, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
    mpi_op_apply(mpi_op_of(MPI_REPLACE), a, b, 3, mpi_type_of(MPI_INT));
    assert_memory_equal(b, a, sizeof b);
}

static void test_errors(void **state)
{
    MPI_Op op = MPI_SUM;
    MPI_Datatype t;
    double x = 1, y = 2;
    int is_commutative;

    (void)state;
    assert_int_equal(PMPI_Reduce_local(&x, &y, 1, MPI_DOUBLE, MPI_BAND), MPI_ERR_OP);
    assert_string_equal(test_message, "MPI_BAND is not defined for MPI_DOUBLE");
    PMPI_Type_contiguous(2, MPI_DOUBLE, &t);
    assert_int_equal(PMPI_Reduce_local(&x, &y, 1, t, MPI_SUM), MPI_ERR_OP);
    assert_string_equal(test_message, "MPI_SUM is not defined for a derived datatype");
    PMPI_Type_free(&t);
    PMPI_Type_dup(MPI_DOUBLE, &t);
    assert_int_equal(PMPI_Reduce_local(&x, &y, 1, t, MPI_SUM), 0);
    assert_true(y == 3);
    PMPI_Type_free(&t);
    assert_int_equal(PMPI_Reduce_local(&x, &y, 1, MPI_DOUBLE, MPI_OP_NULL), MPI_ERR_OP);
    assert_int_equal(PMPI_Reduce_local(&x, &y, -1, MPI_DOUBLE, MPI_SUM), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Op_free(&op), MPI_ERR_OP);
    assert_int_equal(PMPI_Op_commutative(op, &is_commutative), 0);
    assert_true(is_commutative);
    assert_int_equal(PMPI_Op_create(NULL, 1, &op), MPI_ERR_ARG);
    xy_memory_fail_at(1);
    assert_int_equal(PMPI_Op_create(multiply, 1, &op), MPI_ERR_NO_MEM);
    xy_memory_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),    cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_user),   cmocka_unit_test(test_replace),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
