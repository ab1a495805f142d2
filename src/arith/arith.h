/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of MPI: pure functions that a run (src/mpi) and a prediction (src/program) share,
 * so that both give the same answers. Any thread; no message is printed.
 *
 *   int dims[2] = {0, 0}, coords[2];
 *   xy_grid_factor(12, 2, dims);                      (4 3)
 *   xy_grid_coords(5, 2, dims, coords);               (1 2)
 */
#ifndef XY_ARITH_ARITH_H
#define XY_ARITH_ARITH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Grids: numbers as points, the last coordinate running fastest ---- */

/* Coordinates of a number; all dims are positive. */
void xy_grid_coords(int number, int ndims, const int *dims, int *coords);

/* The number of a point. Coordinates outside wrap around where the dimension is periodic; -1: one
 * is outside of another (*bad_p says which). */
int xy_grid_number(int ndims, const int *dims, const int *periods, const int *coords, int *bad_p);

/* The number `steps` further along a dimension; MPI_PROC_NULL: beyond an open end. */
int xy_grid_shift(int number, int ndims, const int *dims, const int *periods, int direction,
                  long steps);

/* The number of points; -1: dims[*bad_p] is less than 1, or there are more than `most` points
 * (*bad_p is -1). */
int xy_grid_points(int ndims, const int *dims, int most, int *bad_p);

/* MPI_Cart_sub: the point at `coords` belongs to subgrid *color_p, in which its number is *key_p.
 * The sides of the subgrid, those with remain[d] != 0, go to sub_dims and sub_periods. Returns
 * their number. */
int xy_grid_sub(int ndims, const int *dims, const int *periods, const int *coords,
                const int *remain, int *sub_dims, int *sub_periods, int *color_p, int *key_p);

/* The most nearly cubic grid of n >= 1 points: the entries of dims that are 0 get its sides, in
 * non-increasing order. Of all factorisations it is one whose largest and smallest side differ
 * least, and of those the one of least surface: 5040 in 3 is 21 16 15, and not 20 18 14. False: no
 * grid of n points has the entries that are set. No entry is negative. */
bool xy_grid_factor(int n, int ndims, int *dims);

/* ---- Groups: ordered sets of processes ---- */

typedef struct {
    const int *list; /* process of each rank; NULL: rank i is process i */
    int size;
} xy_members_t;

static inline int xy_member_at(xy_members_t m, int rank)
{
    return m.list != NULL ? m.list[rank] : rank;
}

/* The rank of a process, or MPI_UNDEFINED. Linear. */
int xy_member_rank(xy_members_t m, int process);

/* In the functions below all processes are numbers below `known`. -1 with *bad_p (where there is
 * one) -1: memory ran out. */

/* The inverse: index[process] is its rank, or MPI_UNDEFINED. The caller frees; NULL: memory ran
 * out. */
int *xy_members_index(xy_members_t m, int known);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL; -1: memory ran out. */
int xy_members_compare(xy_members_t a, xy_members_t b, int known);

/* The weaker of two such comparisons. */
int xy_members_weaker(int a, int b);

typedef enum { XY_MEMBERS_UNION, XY_MEMBERS_INTERSECTION, XY_MEMBERS_DIFFERENCE } xy_members_op_t;

/* Combine two groups into out[a.size + b.size], in the order of the first; a union has the rest of
 * the second behind it. Returns the number of members. */
int xy_members_combine(xy_members_op_t op, xy_members_t a, xy_members_t b, int known, int *out);

/* Select the members of the `n` listed ranks in their order, or all others in the order of the
 * group, into out[m.size]. Returns their number; -1: list[*bad_p] is not a rank of the group or
 * named twice. */
int xy_members_select(xy_members_t m, int n, const int *list, bool is_incl, int *out, int *bad_p);

/* Expand `n` ranges (first, last, stride) of the ranks of a group into list[size]. Returns the
 * number of ranks; -1: range *bad_p is empty or leaves the group, or (*bad_p is -1) there are more
 * ranks than members. */
int xy_members_expand(int size, int n, int ranges[][3], int *list, int *bad_p);

/* The ranks in `b` of ranks of `a`, into out[n]; MPI_PROC_NULL stays. False: ranks[*bad_p] is not a
 * rank of `a`. */
bool xy_members_translate(xy_members_t a, int n, const int *ranks, xy_members_t b, int known,
                          int *out, int *bad_p);

/* ---- Splits: what MPI_Comm_split makes of a communicator ---- */

typedef struct {
    int color, key, process, member; /* member: rank in the (merged) parent */
    bool is_high;                    /* of the two groups of an intercommunicator */
} xy_split_entry_t;

/* Sort by color, group, key and member; MPI_UNDEFINED is left out. Returns the number of entries
 * that are left. */
int xy_split_sort(xy_split_entry_t *entries, int count);

/* One new communicator: the entries [first, end), those of the high group from `high` on. */
typedef struct {
    int first, high, end;
} xy_split_part_t;

/* Go to the next part of sorted entries, from {0} on; false: there is none. Of an intercommunicator
 * both groups of a part have members: colors with members in one only make no part. */
bool xy_split_next(const xy_split_entry_t *entries, int count, bool is_inter,
                   xy_split_part_t *part);

/* ---- Predefined datatypes ---- */

typedef struct {
    _Alignas(16) char byte[16];
} xy_sixteen_t; /* REAL*16, INTEGER*16, LOGICAL*16: stored so everywhere */
typedef struct {
    xy_sixteen_t re, im;
} xy_sixteen_complex_t;
typedef struct {
    uint16_t re, im;
} xy_two_complex_t;
/* A value and an index. */
#define XY_PAIR_TYPE(name, value, index)                                                           \
    typedef struct {                                                                               \
        value v;                                                                                   \
        index i;                                                                                   \
    } name
XY_PAIR_TYPE(xy_float_int_t, float, int);
XY_PAIR_TYPE(xy_double_int_t, double, int);
XY_PAIR_TYPE(xy_long_int_t, long, int);
XY_PAIR_TYPE(xy_two_int_t, int, int);
XY_PAIR_TYPE(xy_short_int_t, short, int);
XY_PAIR_TYPE(xy_long_double_int_t, long double, int);
XY_PAIR_TYPE(xy_two_float_t, float, float);
XY_PAIR_TYPE(xy_two_double_t, double, double);
#define XY_PAIR_SIZE(pair) (sizeof(((pair *)0)->v) + sizeof(((pair *)0)->i))

/* All predefined datatypes: name behind MPI_, C type, kind of element. UNTYPED ones are received as
 * any other type, and any other as them. Synonyms (MPI_LONG_LONG, MPI_C_FLOAT_COMPLEX) have the
 * same handle. The standard has no arithmetic on MPI_CHAR; other libraries do, and programs rely on
 * it. */
#define XY_PREDEFINED_TYPES(BASIC, UNTYPED, PAIR)                                                  \
    BASIC(AINT, MPI_Aint, INT64)                                                                   \
    BASIC(COUNT, MPI_Count, INT64)                                                                 \
    BASIC(OFFSET, MPI_Offset, INT64)                                                               \
    UNTYPED(BYTE, unsigned char, BYTE)                                                             \
    UNTYPED(PACKED, unsigned char, CHARACTER)                                                      \
    BASIC(SHORT, short, INT16)                                                                     \
    BASIC(INT, int, INT32)                                                                         \
    BASIC(LONG, long, LONG)                                                                        \
    BASIC(LONG_LONG_INT, long long, INT64)                                                         \
    BASIC(UNSIGNED_SHORT, unsigned short, UINT16)                                                  \
    BASIC(UNSIGNED, unsigned, UINT32)                                                              \
    BASIC(UNSIGNED_LONG, unsigned long, UNSIGNED_LONG)                                             \
    BASIC(UNSIGNED_LONG_LONG, unsigned long long, UINT64)                                          \
    BASIC(CHAR, char, CHAR)                                                                        \
    BASIC(SIGNED_CHAR, signed char, INT8)                                                          \
    BASIC(UNSIGNED_CHAR, unsigned char, UINT8)                                                     \
    BASIC(WCHAR, wchar_t, CHARACTER)                                                               \
    BASIC(C_BOOL, bool, BOOL)                                                                      \
    BASIC(CXX_BOOL, bool, BOOL)                                                                    \
    BASIC(INT8_T, int8_t, INT8)                                                                    \
    BASIC(UINT8_T, uint8_t, UINT8)                                                                 \
    BASIC(INT16_T, int16_t, INT16)                                                                 \
    BASIC(UINT16_T, uint16_t, UINT16)                                                              \
    BASIC(INT32_T, int32_t, INT32)                                                                 \
    BASIC(UINT32_T, uint32_t, UINT32)                                                              \
    BASIC(INT64_T, int64_t, INT64)                                                                 \
    BASIC(UINT64_T, uint64_t, UINT64)                                                              \
    BASIC(FLOAT, float, FLOAT)                                                                     \
    BASIC(DOUBLE, double, DOUBLE)                                                                  \
    BASIC(LONG_DOUBLE, long double, LONG_DOUBLE)                                                   \
    BASIC(C_COMPLEX, float _Complex, COMPLEX_FLOAT)                                                \
    BASIC(C_DOUBLE_COMPLEX, double _Complex, COMPLEX_DOUBLE)                                       \
    BASIC(C_LONG_DOUBLE_COMPLEX, long double _Complex, COMPLEX_LONG_DOUBLE)                        \
    BASIC(CXX_FLOAT_COMPLEX, float _Complex, COMPLEX_FLOAT)                                        \
    BASIC(CXX_DOUBLE_COMPLEX, double _Complex, COMPLEX_DOUBLE)                                     \
    BASIC(CXX_LONG_DOUBLE_COMPLEX, long double _Complex, COMPLEX_LONG_DOUBLE)                      \
    PAIR(FLOAT_INT, xy_float_int_t, FLOAT_INT)                                                     \
    PAIR(DOUBLE_INT, xy_double_int_t, DOUBLE_INT)                                                  \
    PAIR(LONG_INT, xy_long_int_t, LONG_INT)                                                        \
    PAIR(2INT, xy_two_int_t, 2INT)                                                                 \
    PAIR(SHORT_INT, xy_short_int_t, SHORT_INT)                                                     \
    PAIR(LONG_DOUBLE_INT, xy_long_double_int_t, LONG_DOUBLE_INT)                                   \
    PAIR(2REAL, xy_two_float_t, 2FLOAT)                                                            \
    PAIR(2DOUBLE_PRECISION, xy_two_double_t, 2DOUBLE)                                              \
    PAIR(2INTEGER, xy_two_int_t, 2INT)                                                             \
    BASIC(LOGICAL, int, LOGICAL32)                                                                 \
    BASIC(INTEGER, int, INT32)                                                                     \
    BASIC(REAL, float, FLOAT)                                                                      \
    BASIC(COMPLEX, float _Complex, COMPLEX_FLOAT)                                                  \
    BASIC(DOUBLE_PRECISION, double, DOUBLE)                                                        \
    BASIC(DOUBLE_COMPLEX, double _Complex, COMPLEX_DOUBLE)                                         \
    BASIC(CHARACTER, char, CHARACTER)                                                              \
    BASIC(LOGICAL1, int8_t, LOGICAL8)                                                              \
    BASIC(LOGICAL2, int16_t, LOGICAL16)                                                            \
    BASIC(LOGICAL4, int32_t, LOGICAL32)                                                            \
    BASIC(LOGICAL8, int64_t, LOGICAL64)                                                            \
    BASIC(LOGICAL16, xy_sixteen_t, LOGICAL128)                                                     \
    BASIC(INTEGER1, int8_t, INT8)                                                                  \
    BASIC(INTEGER2, int16_t, INT16)                                                                \
    BASIC(INTEGER4, int32_t, INT32)                                                                \
    BASIC(INTEGER8, int64_t, INT64)                                                                \
    BASIC(INTEGER16, xy_sixteen_t, INT128)                                                         \
    BASIC(REAL2, uint16_t, FLOAT16)                                                                \
    BASIC(REAL4, float, FLOAT)                                                                     \
    BASIC(REAL8, double, DOUBLE)                                                                   \
    BASIC(REAL16, xy_sixteen_t, FLOAT128)                                                          \
    BASIC(COMPLEX4, xy_two_complex_t, COMPLEX16)                                                   \
    BASIC(COMPLEX8, float _Complex, COMPLEX_FLOAT)                                                 \
    BASIC(COMPLEX16, double _Complex, COMPLEX_DOUBLE)                                              \
    BASIC(COMPLEX32, xy_sixteen_complex_t, COMPLEX128)

enum { XY_TYPE_FIRST = 0x200, XY_TYPES = 0x100 }; /* handles of predefined datatypes */

/* ---- Datatypes: size, bounds and alignment of a type map ---- */

typedef struct {
    uint64_t size; /* data bytes */
    uint64_t elements;
    int64_t lb, ub;            /* while a type map is made only where they are set */
    int64_t true_lb, true_ub;  /* of the data */
    uint8_t align;             /* of the strictest basic element; 0: of none yet */
    bool is_lb_set, is_ub_set; /* by MPI_Type_create_resized, here or in a part */
    bool is_too_large;         /* sizes left the range of MPI_Count */
} xy_extent_t;

/* The sizes of the predefined datatypes, by handle - XY_TYPE_FIRST; no elements: there is no such
 * type. */
extern const xy_extent_t xy_type_extents[XY_TYPES];

/* The type map continues with `count` blocks, the first at `at`, further ones `stride` bytes apart,
 * each of `length` times `old`, which is settled. */
void xy_extent_add(xy_extent_t *e, const xy_extent_t *old, int64_t at, int64_t count,
                   int64_t length, int64_t stride);

/* Explicit bounds. */
void xy_extent_set(xy_extent_t *e, int64_t lb, int64_t extent);

/* Parts of arrays (subarray, darray): begin with the element, and wrap it in the dimensions from
 * the fastest to the slowest. Of the `size` indices of a dimension `n` are taken from `start` on,
 * in blocks of `length` whose starts are `step` apart. The bounds become those of the whole array.
 */
void xy_extent_wrap(xy_extent_t *e, int64_t size, int64_t start, int64_t n, int64_t length,
                    int64_t step);

/* MPI_Type_create_subarray: the first dimension whose part is not inside of the array; -1: none. */
int xy_subarray_bad(int ndims, const int64_t *sizes, const int64_t *subsizes,
                    const int64_t *starts);

/* The type map is complete: without explicit bounds they follow from the data, and the extent is
 * rounded up to the alignment, so that an array of the type has the layout a C compiler gives an
 * array of structs. */
void xy_extent_settle(xy_extent_t *e);

#endif
