/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of the few numbers that a description keeps. */
#include <mpi.h>
#include <string.h>

#include "program/walk_coll.h"

#define HANDLE(h) ((int64_t)(intptr_t)(h))

/* In the order of MPI: what came first is on the left. */
#define REDUCE(name, type)                                                                         \
    static bool reduce_##name(int64_t op, uint64_t count, void *accumulated, const void *next)     \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            type a, b;                                                                             \
                                                                                                   \
            memcpy(&a, (char *)accumulated + i * sizeof(a), sizeof(a));                            \
            memcpy(&b, (const char *)next + i * sizeof(b), sizeof(b));                             \
            if (process_is_blank(&a, sizeof(a)))                                                   \
                continue;                                                                          \
            if (process_is_blank(&b, sizeof(b))) {                                                 \
                memcpy((char *)accumulated + i * sizeof(a), &b, sizeof(b));                        \
                continue;                                                                          \
            }                                                                                      \
            if (op == HANDLE(MPI_SUM))                                                             \
                a = (type)(a + b);                                                                 \
            else if (op == HANDLE(MPI_PROD))                                                       \
                a = (type)(a * b);                                                                 \
            else if (op == HANDLE(MPI_MIN))                                                        \
                a = b < a ? b : a;                                                                 \
            else if (op == HANDLE(MPI_MAX))                                                        \
                a = b > a ? b : a;                                                                 \
            else if (op == HANDLE(MPI_LAND))                                                       \
                a = a != 0 && b != 0;                                                              \
            else if (op == HANDLE(MPI_LOR))                                                        \
                a = a != 0 || b != 0;                                                              \
            else if (op == HANDLE(MPI_LXOR))                                                       \
                a = (a != 0) != (b != 0);                                                          \
            else if (op == HANDLE(MPI_BAND))                                                       \
                a = (type)((int64_t)a & (int64_t)b);                                               \
            else if (op == HANDLE(MPI_BOR))                                                        \
                a = (type)((int64_t)a | (int64_t)b);                                               \
            else if (op == HANDLE(MPI_BXOR))                                                       \
                a = (type)((int64_t)a ^ (int64_t)b);                                               \
            else                                                                                   \
                return false;                                                                      \
            memcpy((char *)accumulated + i * sizeof(a), &a, sizeof(a));                            \
        }                                                                                          \
        return true;                                                                               \
    }

REDUCE(i8, int8_t)
REDUCE(u8, uint8_t)
REDUCE(i16, int16_t)
REDUCE(u16, uint16_t)
REDUCE(i32, int32_t)
REDUCE(u32, uint32_t)
REDUCE(i64, int64_t)
REDUCE(u64, uint64_t)
REDUCE(f32, float)
REDUCE(f64, double)

static const struct {
    int64_t type;
    bool (*run)(int64_t op, uint64_t count, void *accumulated, const void *next);
} reductions[] = {
    {HANDLE(MPI_SIGNED_CHAR), reduce_i8},
    {HANDLE(MPI_INT8_T), reduce_i8},
    {HANDLE(MPI_UNSIGNED_CHAR), reduce_u8},
    {HANDLE(MPI_UINT8_T), reduce_u8},
    {HANDLE(MPI_BYTE), reduce_u8},
    {HANDLE(MPI_C_BOOL), reduce_u8},
    {HANDLE(MPI_SHORT), reduce_i16},
    {HANDLE(MPI_INT16_T), reduce_i16},
    {HANDLE(MPI_UNSIGNED_SHORT), reduce_u16},
    {HANDLE(MPI_UINT16_T), reduce_u16},
    {HANDLE(MPI_INT), reduce_i32},
    {HANDLE(MPI_INT32_T), reduce_i32},
    {HANDLE(MPI_INTEGER), reduce_i32},
    {HANDLE(MPI_UNSIGNED), reduce_u32},
    {HANDLE(MPI_UINT32_T), reduce_u32},
    {HANDLE(MPI_LONG), reduce_i64},
    {HANDLE(MPI_LONG_LONG), reduce_i64},
    {HANDLE(MPI_INT64_T), reduce_i64},
    {HANDLE(MPI_AINT), reduce_i64},
    {HANDLE(MPI_COUNT), reduce_i64},
    {HANDLE(MPI_OFFSET), reduce_i64},
    {HANDLE(MPI_UNSIGNED_LONG), reduce_u64},
    {HANDLE(MPI_UNSIGNED_LONG_LONG), reduce_u64},
    {HANDLE(MPI_UINT64_T), reduce_u64},
    {HANDLE(MPI_FLOAT), reduce_f32},
    {HANDLE(MPI_DOUBLE), reduce_f64},
};

bool walk_reduce(int64_t op, int64_t type, uint64_t count, void *accumulated, const void *next)
{
    for (size_t i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++)
        if (reductions[i].type == type)
            return reductions[i].run(op, count, accumulated, next);
    return false;
}
