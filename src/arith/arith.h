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

#endif
