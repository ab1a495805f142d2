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

#define COMMON(id, ctype)                                                                          \
    .extent = (MPI_Aint)sizeof(ctype), .is_predefined = true, .is_committed = true,                \
    .most_received = INT64_MAX, .align = _Alignof(ctype),                                          \
    .contents = {.combiner = MPI_COMBINER_NAMED}, .handle = MPI_##id, .name = "MPI_" #id

#define AT(id) [(uintptr_t)(MPI_##id) - XMPI_TYPE_FIRST]

/* One element. */
#define BASIC(id, ctype, kind)                                                                     \
    ELEMENT(id, ctype, XMPI_BASIC_##kind, (uintptr_t)(MPI_##id) - XMPI_TYPE_FIRST)
#define UNTYPED(id, ctype, kind) ELEMENT(id, ctype, XMPI_BASIC_##kind, XMPI_SIGNATURE_ANY)
#define ELEMENT(id, ctype, kind, number)                                                           \
    AT(id) = {.size = sizeof(ctype),                                                               \
              .is_contiguous = true,                                                               \
              .true_extent = (MPI_Aint)sizeof(ctype),                                              \
              .layout = {.blocks = 1, .block = (mpi_block_t[]){{0, sizeof(ctype), 0}}},            \
              .basic = kind,                                                                       \
              .signature = (uint16_t)(number),                                                     \
              .elements = 1,                                                                       \
              COMMON(id, ctype)},

/* A value and an index. The two are one block unless there is padding between them. */
#define PAIR(id, pair, kind)                                                                       \
    AT(id) = {                                                                                     \
        .size = XY_PAIR_SIZE(pair),                                                                \
        .is_contiguous = sizeof(pair) == XY_PAIR_SIZE(pair),                                       \
        .true_extent = (MPI_Aint)(offsetof(pair, i) + sizeof(((pair *)0)->i)),                     \
        .layout = {.blocks = HAS_GAP(pair) ? 2 : 1,                                                \
                   .block =                                                                        \
                       (mpi_block_t[]){                                                            \
                           {0, HAS_GAP(pair) ? sizeof(((pair *)0)->v) : XY_PAIR_SIZE(pair), 0},    \
                           {offsetof(pair, i), sizeof(((pair *)0)->i), sizeof(((pair *)0)->v)}}},  \
        .basic = XMPI_BASIC_##kind,                                                                \
        .signature = (uint16_t)((uintptr_t)(MPI_##id) - XMPI_TYPE_FIRST),                          \
        .elements = 2,                                                                             \
        COMMON(id, pair)},
#define HAS_GAP(pair) (offsetof(pair, i) != sizeof(((pair *)0)->v))

/* Kinds that depend on the machine. */
enum {
    XMPI_BASIC_LONG = sizeof(long) == 8 ? XMPI_BASIC_INT64 : XMPI_BASIC_INT32,
    XMPI_BASIC_UNSIGNED_LONG = sizeof(long) == 8 ? XMPI_BASIC_UINT64 : XMPI_BASIC_UINT32,
    XMPI_BASIC_CHAR = (char)-1 < 0 ? XMPI_BASIC_INT8 : XMPI_BASIC_UINT8
};

mpi_type_t mpi_type_table[XMPI_TYPE_TABLE] = {XY_PREDEFINED_TYPES(BASIC, UNTYPED, PAIR)};
