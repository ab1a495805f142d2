/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups made from groups: union, intersection, difference, and selections of members. */
#include <string.h>

#include "mpi/object/calls.h"
#include "mpi/object/env.h"
#include "mpi/object/error.h"
#include "mpi/object/group.h"
#include "mpi/runtime/runtime.h"

/* Give the program the group of the first `count` of `ranks` (taken in all cases; -1: memory ran
 * out), which comes from where `of` does. */
static int give(MPI_Group of, int *ranks, int count, MPI_Group *newgroup)
{
    mpi_group_t *group;
    int code;

    if (count <= 0) {
        xy_free(ranks);
        if (count < 0)
            return mpi_error_memory(NULL, "a group");
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

int part_group_combine(MPI_Group group1, MPI_Group group2, xy_members_op_t op, MPI_Group *newgroup)
{
    const mpi_group_t *a = mpi_group_of(group1), *b = mpi_group_of(group2);
    int *ranks, count = -1;

    if (!a || !b)
        return mpi_group_refuse(NULL, a ? group2 : group1);
    ranks = xy_malloc(((size_t)a->size + (size_t)b->size + 1) * sizeof *ranks);
    if (ranks)
        count = xy_members_combine(op, mpi_group_members(a), mpi_group_members(b),
                                   mpi_job_known(mpi_job), ranks);
    return give(mpi_group_session(group1) ? group1 : group2, ranks, count, newgroup);
}

/* Select by rank: the listed members in the listed order, or all others in the group's order. The
 * ranks must be distinct members. */
int part_group_select(MPI_Group handle, int n, const int *list, bool is_incl, MPI_Group *newgroup)
{
    const mpi_group_t *group = mpi_group_of(handle);
    int *ranks, count = -1, bad = -1;

    if (!group)
        return mpi_group_refuse(NULL, handle);
    if (n < 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the number of ranks is %d", n);
    if (n > 0 && !list)
        return mpi_error_null(NULL, "ranks");
    ranks = xy_malloc(((size_t)group->size + 1) * sizeof *ranks);
    if (ranks)
        count = xy_members_select(mpi_group_members(group), n, list, is_incl, ranks, &bad);
    if (bad < 0)
        return give(handle, ranks, count, newgroup);
    xy_free(ranks);
    return mpi_error(NULL, MPI_ERR_RANK, "rank %d is %s (the group has %d ranks)", list[bad],
                     list[bad] < 0 || list[bad] >= group->size ? "not in the group" : "named twice",
                     group->size);
}

/* Make a group of the ranks in ranges, or of all others; MPI_ERR_RANK if a range is not inside. */
int part_group_ranges(MPI_Group handle, int n, int ranges[][3], bool is_incl, MPI_Group *newgroup)
{
    const mpi_group_t *group = mpi_group_of(handle);
    int *list, code, bad = -1, count;

    if (!group)
        return mpi_group_refuse(NULL, handle);
    if (n < 0 || (n > 0 && !ranges))
        return mpi_error(NULL, MPI_ERR_ARG, "the number of ranges is %d, and the array is at %p", n,
                         (void *)ranges);
    list = xy_malloc(((size_t)group->size + 1) * sizeof *list);
    if (!list)
        return mpi_error_memory(NULL, "a group");
    count = xy_members_expand(group->size, n, ranges, list, &bad);
    if (count >= 0)
        code = part_group_select(handle, count, list, is_incl, newgroup);
    else if (bad < 0)
        code = mpi_error(NULL, MPI_ERR_RANK, "the ranges name a rank twice");
    else
        code = mpi_error(NULL, MPI_ERR_RANK,
                         "range %d (%d to %d, stride %d) does not lie in a group of %d ranks", bad,
                         ranges[bad][0], ranges[bad][1], ranges[bad][2], group->size);
    xy_free(list);
    return code;
}
