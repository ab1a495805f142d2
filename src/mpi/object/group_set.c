/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups made from groups: union, intersection, difference, and selections of members. All are one
 * pass over the members with marks on world ranks or members.
 */
#include <string.h>

#include "mpi/object/calls.h"
#include "mpi/object/env.h"
#include "mpi/object/error.h"
#include "mpi/object/group.h"
#include "mpi/runtime/runtime.h"

typedef enum { UNION, INTERSECTION, DIFFERENCE } operation_t;

/* Give the program the group of the first `count` of `ranks` (taken in all cases), which comes from
 * where `of` does. */
static int give(MPI_Group of, int *ranks, int count, MPI_Group *newgroup)
{
    mpi_group_t *group;
    int code;

    if (count == 0) {
        xy_free(ranks);
        *newgroup = MPI_GROUP_EMPTY;
        return MPI_SUCCESS;
    }
    group = mpi_group_create(ranks, count);
    if (!group)
        return mpi_error_memory(NULL, "a group");
    code = mpi_group_give(NULL, group, newgroup);
    if (code == MPI_SUCCESS)
        mpi_group_come_from(*newgroup, mpi_group_session(of));
    return code;
}

/* Append the members of `group` whose mark is `wanted`; NULL marks: all. */
static int append(const mpi_group_t *group, const unsigned char *marks, int wanted, int *ranks,
                  int count)
{
    for (int i = 0; i < group->size; i++) {
        int world = mpi_group_world(group, i);
        if (!marks || marks[world] == wanted)
            ranks[count++] = world;
    }
    return count;
}

static void mark(const mpi_group_t *group, unsigned char *marks)
{
    for (int i = 0; i < group->size; i++)
        marks[mpi_group_world(group, i)] = 1;
}

/* The order is that of the first group; a union has the rest of the second behind it. */
static int combine(MPI_Group group1, MPI_Group group2, operation_t operation, MPI_Group *newgroup)
{
    const mpi_group_t *a = mpi_group_of(group1), *b = mpi_group_of(group2);
    unsigned char *marks;
    int *ranks, count;

    if (!a || !b)
        return mpi_group_refuse(NULL, a ? group2 : group1);
    marks = xy_calloc((size_t)mpi_job_known(mpi_job), 1);
    ranks = xy_malloc(((size_t)a->size + (size_t)b->size + 1) * sizeof *ranks);
    if (!marks || !ranks) {
        xy_free(marks);
        xy_free(ranks);
        return mpi_error_memory(NULL, "a group");
    }
    mark(operation == UNION ? a : b, marks);
    if (operation == UNION)
        count = append(b, marks, 0, ranks, append(a, NULL, 0, ranks, 0));
    else
        count = append(a, marks, operation == INTERSECTION, ranks, 0);
    xy_free(marks);
    return give(mpi_group_session(group1) ? group1 : group2, ranks, count, newgroup);
}

/* Select by rank: the listed members in the listed order, or all others in the group's order. The
 * ranks must be distinct members. */
static int select_ranks(MPI_Group handle, int n, const int *list, bool is_incl, MPI_Group *newgroup)
{
    const mpi_group_t *group = mpi_group_of(handle);
    unsigned char *marks;
    int *ranks, count = 0, bad = -1;

    if (!group)
        return mpi_group_refuse(NULL, handle);
    if (n < 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the number of ranks is %d", n);
    if (n > 0 && !list)
        return mpi_error_null(NULL, "ranks");
    marks = xy_calloc((size_t)group->size + 1, 1);
    ranks = xy_malloc(((size_t)group->size + 1) * sizeof *ranks);
    if (!marks || !ranks) {
        xy_free(marks);
        xy_free(ranks);
        return mpi_error_memory(NULL, "a group");
    }
    for (int i = 0; i < n && bad < 0; i++) {
        if (list[i] < 0 || list[i] >= group->size || marks[list[i]])
            bad = i;
        else
            marks[list[i]] = 1;
    }
    for (int i = 0; i < n && is_incl && bad < 0; i++)
        ranks[count++] = mpi_group_world(group, list[i]);
    for (int i = 0; i < group->size && !is_incl; i++)
        if (!marks[i])
            ranks[count++] = mpi_group_world(group, i);
    xy_free(marks);
    if (bad < 0)
        return give(handle, ranks, count, newgroup);
    xy_free(ranks);
    return mpi_error(NULL, MPI_ERR_RANK, "rank %d is %s (the group has %d ranks)", list[bad],
                     list[bad] < 0 || list[bad] >= group->size ? "not in the group" : "named twice",
                     group->size);
}

/* The number of ranks in (first, last, stride), or -1: none, or beyond the group. */
static long range_length(const int *range, int size)
{
    long first = range[0], last = range[1], stride = range[2], length;

    if (stride == 0 || (stride > 0 ? last < first : last > first))
        return -1;
    length = (last - first) / stride + 1;
    if (first < 0 || first >= size || first + (length - 1) * stride < 0 ||
        first + (length - 1) * stride >= size)
        return -1;
    return length;
}

static int select_ranges(MPI_Group handle, int n, int ranges[][3], bool is_incl,
                         MPI_Group *newgroup)
{
    const mpi_group_t *group = mpi_group_of(handle);
    long total = 0, count = 0;
    int *list, code;

    if (!group)
        return mpi_group_refuse(NULL, handle);
    if (n < 0 || (n > 0 && !ranges))
        return mpi_error(NULL, MPI_ERR_ARG, "the number of ranges is %d, and the array is at %p", n,
                         (void *)ranges);
    for (int i = 0; i < n; i++) {
        long length = range_length(ranges[i], group->size);
        if (length < 0)
            return mpi_error(NULL, MPI_ERR_RANK,
                             "range %d (%d to %d, stride %d) does not lie in a group of %d ranks",
                             i, ranges[i][0], ranges[i][1], ranges[i][2], group->size);
        total += length;
        if (total > group->size)
            return mpi_error(NULL, MPI_ERR_RANK, "the ranges name a rank twice");
    }
    list = xy_malloc(((size_t)total + 1) * sizeof *list);
    if (!list)
        return mpi_error_memory(NULL, "a group");
    for (int i = 0; i < n; i++)
        for (long k = 0; k < range_length(ranges[i], group->size); k++)
            list[count++] = ranges[i][0] + (int)k * ranges[i][2];
    code = select_ranks(handle, (int)total, list, is_incl, newgroup);
    xy_free(list);
    return code;
}

int impl_group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(group1, group2, UNION, newgroup);
}

int impl_group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(group1, group2, INTERSECTION, newgroup);
}

int impl_group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(group1, group2, DIFFERENCE, newgroup);
}

int impl_group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return select_ranks(group, n, ranks, true, newgroup);
}

int impl_group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return select_ranks(group, n, ranks, false, newgroup);
}

int impl_group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return select_ranges(group, n, ranges, true, newgroup);
}

int impl_group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return select_ranges(group, n, ranges, false, newgroup);
}
