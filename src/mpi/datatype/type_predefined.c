/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined datatypes, by handle. Signatures go by kind of element, not by handle: MPI_LONG
 * sent and MPI_INT64_T received is what programs do, and it works.
 */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "mpi/datatype/type_build.h"

typedef struct {
    _Alignas(16) char byte[16];
} sixteen_t; /* REAL*16, INTEGER*16, LOGICAL*16: stored so everywhere */
typedef struct {
    sixteen_t re, im;
} sixteen_complex_t;
typedef struct {
    uint16_t re, im;
} two_complex_t;

#define COMMON(id, ctype)                                                                          \
    .extent = (MPI_Aint)sizeof(ctype), .is_predefined = true, .is_committed = true,                \
    .align = _Alignof(ctype), .contents = {.combiner = MPI_COMBINER_NAMED}, .handle = MPI_##id,    \
    .name = "MPI_" #id

#define AT(id) [(uintptr_t)(MPI_##id) - XMPI_TYPE_FIRST]

/* One element; and one that is received as any other, and any other as it. */
#define BASIC(id, ctype, kind)   ELEMENT(id, ctype, kind, (uintptr_t)(MPI_##id) - XMPI_TYPE_FIRST)
#define UNTYPED(id, ctype, kind) ELEMENT(id, ctype, kind, XMPI_SIGNATURE_ANY)
#define ELEMENT(id, ctype, kind, number)                                                           \
    AT(id) = {.size = sizeof(ctype),                                                               \
              .is_contiguous = true,                                                               \
              .true_extent = (MPI_Aint)sizeof(ctype),                                              \
              .layout = {.blocks = 1, .block = (mpi_block_t[]){{0, sizeof(ctype), 0}}},            \
              .basic = kind,                                                                       \
              .signature = (uint16_t)(number),                                                     \
              .elements = 1,                                                                       \
              COMMON(id, ctype)}

/* A value and an index. The two are one block unless there is padding between them. */
#define PAIR(id, pair, kind)                                                                       \
    AT(id) = {                                                                                     \
        .size = PAIR_SIZE(pair),                                                                   \
        .is_contiguous = sizeof(pair) == PAIR_SIZE(pair),                                          \
        .true_extent = (MPI_Aint)(offsetof(pair, i) + sizeof(((pair *)0)->i)),                     \
        .layout = {.blocks = HAS_GAP(pair) ? 2 : 1,                                                \
                   .block =                                                                        \
                       (mpi_block_t[]){                                                            \
                           {0, HAS_GAP(pair) ? sizeof(((pair *)0)->v) : PAIR_SIZE(pair), 0},       \
                           {offsetof(pair, i), sizeof(((pair *)0)->i), sizeof(((pair *)0)->v)}}},  \
        .basic = kind,                                                                             \
        .signature = (uint16_t)((uintptr_t)(MPI_##id) - XMPI_TYPE_FIRST),                          \
        .elements = 2,                                                                             \
        COMMON(id, pair)}
#define PAIR_SIZE(pair) (sizeof(((pair *)0)->v) + sizeof(((pair *)0)->i))
#define HAS_GAP(pair)   (offsetof(pair, i) != sizeof(((pair *)0)->v))

typedef struct {
    float v;
    int i;
} float_int_t;
typedef struct {
    double v;
    int i;
} double_int_t;
typedef struct {
    long v;
    int i;
} long_int_t;
typedef struct {
    int v, i;
} int_int_t;
typedef struct {
    short v;
    int i;
} short_int_t;
typedef struct {
    long double v;
    int i;
} long_double_int_t;
typedef struct {
    float v, i;
} float_float_t;
typedef struct {
    double v, i;
} double_double_t;

mpi_type_t mpi_type_table[XMPI_TYPE_TABLE] = {
    BASIC(AINT, MPI_Aint, XMPI_BASIC_INT64),
    BASIC(COUNT, MPI_Count, XMPI_BASIC_INT64),
    BASIC(OFFSET, MPI_Offset, XMPI_BASIC_INT64),
    UNTYPED(BYTE, unsigned char, XMPI_BASIC_BYTE),
    UNTYPED(PACKED, unsigned char, XMPI_BASIC_CHARACTER),

    BASIC(SHORT, short, XMPI_BASIC_INT16),
    BASIC(INT, int, XMPI_BASIC_INT32),
    BASIC(LONG, long, sizeof(long) == 8 ? XMPI_BASIC_INT64 : XMPI_BASIC_INT32),
    BASIC(LONG_LONG_INT, long long, XMPI_BASIC_INT64), /* MPI_LONG_LONG is a synonym */
    BASIC(UNSIGNED_SHORT, unsigned short, XMPI_BASIC_UINT16),
    BASIC(UNSIGNED, unsigned, XMPI_BASIC_UINT32),
    BASIC(UNSIGNED_LONG, unsigned long, sizeof(long) == 8 ? XMPI_BASIC_UINT64 : XMPI_BASIC_UINT32),
    BASIC(UNSIGNED_LONG_LONG, unsigned long long, XMPI_BASIC_UINT64),
    /* The standard has no arithmetic on MPI_CHAR; other libraries do, and programs rely on it. */
    BASIC(CHAR, char, (char)-1 < 0 ? XMPI_BASIC_INT8 : XMPI_BASIC_UINT8),
    BASIC(SIGNED_CHAR, signed char, XMPI_BASIC_INT8),
    BASIC(UNSIGNED_CHAR, unsigned char, XMPI_BASIC_UINT8),
    BASIC(WCHAR, wchar_t, XMPI_BASIC_CHARACTER),
    BASIC(C_BOOL, bool, XMPI_BASIC_BOOL),
    BASIC(CXX_BOOL, bool, XMPI_BASIC_BOOL),
    BASIC(INT8_T, int8_t, XMPI_BASIC_INT8),
    BASIC(UINT8_T, uint8_t, XMPI_BASIC_UINT8),
    BASIC(INT16_T, int16_t, XMPI_BASIC_INT16),
    BASIC(UINT16_T, uint16_t, XMPI_BASIC_UINT16),
    BASIC(INT32_T, int32_t, XMPI_BASIC_INT32),
    BASIC(UINT32_T, uint32_t, XMPI_BASIC_UINT32),
    BASIC(INT64_T, int64_t, XMPI_BASIC_INT64),
    BASIC(UINT64_T, uint64_t, XMPI_BASIC_UINT64),

    BASIC(FLOAT, float, XMPI_BASIC_FLOAT),
    BASIC(DOUBLE, double, XMPI_BASIC_DOUBLE),
    BASIC(LONG_DOUBLE, long double, XMPI_BASIC_LONG_DOUBLE),
    BASIC(C_COMPLEX, float _Complex, XMPI_BASIC_COMPLEX_FLOAT), /* and MPI_C_FLOAT_COMPLEX */
    BASIC(C_DOUBLE_COMPLEX, double _Complex, XMPI_BASIC_COMPLEX_DOUBLE),
    BASIC(C_LONG_DOUBLE_COMPLEX, long double _Complex, XMPI_BASIC_COMPLEX_LONG_DOUBLE),
    BASIC(CXX_FLOAT_COMPLEX, float _Complex, XMPI_BASIC_COMPLEX_FLOAT),
    BASIC(CXX_DOUBLE_COMPLEX, double _Complex, XMPI_BASIC_COMPLEX_DOUBLE),
    BASIC(CXX_LONG_DOUBLE_COMPLEX, long double _Complex, XMPI_BASIC_COMPLEX_LONG_DOUBLE),

    PAIR(FLOAT_INT, float_int_t, XMPI_BASIC_FLOAT_INT),
    PAIR(DOUBLE_INT, double_int_t, XMPI_BASIC_DOUBLE_INT),
    PAIR(LONG_INT, long_int_t, XMPI_BASIC_LONG_INT),
    PAIR(2INT, int_int_t, XMPI_BASIC_2INT),
    PAIR(SHORT_INT, short_int_t, XMPI_BASIC_SHORT_INT),
    PAIR(LONG_DOUBLE_INT, long_double_int_t, XMPI_BASIC_LONG_DOUBLE_INT),
    PAIR(2REAL, float_float_t, XMPI_BASIC_2FLOAT),
    PAIR(2DOUBLE_PRECISION, double_double_t, XMPI_BASIC_2DOUBLE),
    PAIR(2INTEGER, int_int_t, XMPI_BASIC_2INT),

    BASIC(LOGICAL, int, XMPI_BASIC_LOGICAL32),
    BASIC(INTEGER, int, XMPI_BASIC_INT32),
    BASIC(REAL, float, XMPI_BASIC_FLOAT),
    BASIC(COMPLEX, float _Complex, XMPI_BASIC_COMPLEX_FLOAT),
    BASIC(DOUBLE_PRECISION, double, XMPI_BASIC_DOUBLE),
    BASIC(DOUBLE_COMPLEX, double _Complex, XMPI_BASIC_COMPLEX_DOUBLE),
    BASIC(CHARACTER, char, XMPI_BASIC_CHARACTER),
    BASIC(LOGICAL1, int8_t, XMPI_BASIC_LOGICAL8),
    BASIC(LOGICAL2, int16_t, XMPI_BASIC_LOGICAL16),
    BASIC(LOGICAL4, int32_t, XMPI_BASIC_LOGICAL32),
    BASIC(LOGICAL8, int64_t, XMPI_BASIC_LOGICAL64),
    BASIC(LOGICAL16, sixteen_t, XMPI_BASIC_LOGICAL128),
    BASIC(INTEGER1, int8_t, XMPI_BASIC_INT8),
    BASIC(INTEGER2, int16_t, XMPI_BASIC_INT16),
    BASIC(INTEGER4, int32_t, XMPI_BASIC_INT32),
    BASIC(INTEGER8, int64_t, XMPI_BASIC_INT64),
    BASIC(INTEGER16, sixteen_t, XMPI_BASIC_INT128),
    BASIC(REAL2, uint16_t, XMPI_BASIC_FLOAT16),
    BASIC(REAL4, float, XMPI_BASIC_FLOAT),
    BASIC(REAL8, double, XMPI_BASIC_DOUBLE),
    BASIC(REAL16, sixteen_t, XMPI_BASIC_FLOAT128),
    BASIC(COMPLEX4, two_complex_t, XMPI_BASIC_COMPLEX16),
    BASIC(COMPLEX8, float _Complex, XMPI_BASIC_COMPLEX_FLOAT),
    BASIC(COMPLEX16, double _Complex, XMPI_BASIC_COMPLEX_DOUBLE),
    BASIC(COMPLEX32, sixteen_complex_t, XMPI_BASIC_COMPLEX128),
};
