/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and splits. Operations on two groups are linear: they index processes by their number. */
#include <stdlib.h>
#include <string.h>

#include "arith/arith.h"
#include "base/base.h"

int xy_member_rank(xy_members_t m, int process)
{
    if (m.list == NULL)
        return process >= 0 && process < m.size ? process : MPI_UNDEFINED;
    for (int i = 0; i < m.size; i++)
        if (m.list[i] == process)
            return i;
    return MPI_UNDEFINED;
}

int *xy_members_index(xy_members_t m, int known)
{
    int *index = xy_malloc(((size_t)known + 1) * sizeof(*index));

    for (int i = 0; index != NULL && i < known; i++)
        index[i] = MPI_UNDEFINED;
    for (int i = 0; index != NULL && i < m.size; i++)
        index[xy_member_at(m, i)] = i;
    return index;
}

int xy_members_compare(xy_members_t a, xy_members_t b, int known)
{
    int same = 0, result = MPI_SIMILAR, *index;

    if (a.size != b.size)
        return MPI_UNEQUAL;
    while (same < a.size && xy_member_at(a, same) == xy_member_at(b, same))
        same++;
    if (same == a.size)
        return MPI_IDENT;
    index = xy_members_index(a, known);
    if (index == NULL)
        return -1;
    for (int i = same; i < b.size && result == MPI_SIMILAR; i++)
        if (index[xy_member_at(b, i)] == MPI_UNDEFINED)
            result = MPI_UNEQUAL;
    xy_free(index);
    return result;
}

int xy_members_weaker(int a, int b)
{
    if (a < 0 || b < 0)
        return -1;
    if (a == MPI_UNEQUAL || b == MPI_UNEQUAL)
        return MPI_UNEQUAL;
    return a == MPI_SIMILAR || b == MPI_SIMILAR ? MPI_SIMILAR : MPI_IDENT;
}

/* Append the members that are (or are not) in the other group. */
static int append(xy_members_t m, const int *index, bool is_member, int *out, int count)
{
    for (int i = 0; i < m.size; i++)
        if ((index[xy_member_at(m, i)] != MPI_UNDEFINED) == is_member)
            out[count++] = xy_member_at(m, i);
    return count;
}

int xy_members_combine(xy_members_op_t op, xy_members_t a, xy_members_t b, int known, int *out)
{
    int *index = xy_members_index(op == XY_MEMBERS_UNION ? a : b, known);
    int count = 0;

    if (index == NULL)
        return -1;
    count = append(a, index, op != XY_MEMBERS_DIFFERENCE, out, 0);
    if (op == XY_MEMBERS_UNION)
        count = append(b, index, false, out, count);
    xy_free(index);
    return count;
}

int xy_members_select(xy_members_t m, int n, const int *list, bool is_incl, int *out, int *bad_p)
{
    bool *is_listed = xy_calloc((size_t)m.size + 1, sizeof(*is_listed));
    int count = 0;

    *bad_p = -1;
    if (is_listed == NULL)
        return -1;
    for (int i = 0; i < n && *bad_p < 0; i++) {
        if (list[i] < 0 || list[i] >= m.size || is_listed[list[i]]) {
            *bad_p = i;
            count = -1;
        } else {
            is_listed[list[i]] = true;
            if (is_incl)
                out[count++] = xy_member_at(m, list[i]);
        }
    }
    for (int r = 0; r < m.size && !is_incl && *bad_p < 0; r++)
        if (!is_listed[r])
            out[count++] = xy_member_at(m, r);
    xy_free(is_listed);
    return count;
}

/* The number of ranks in (first, last, stride), or -1: none, or beyond the group. */
static long range_length(const int *range, int size)
{
    long first = range[0], last = range[1], stride = range[2], end;

    if (stride == 0 || (stride > 0 ? last < first : last > first))
        return -1;
    end = first + (last - first) / stride * stride;
    return first < 0 || first >= size || end < 0 || end >= size ? -1 : (end - first) / stride + 1;
}

int xy_members_expand(int size, int n, int ranges[][3], int *list, int *bad_p)
{
    int count = 0;

    for (int i = 0; i < n; i++) {
        long length = range_length(ranges[i], size);

        *bad_p = length < 0 ? i : -1;
        if (length < 0 || length > size - count)
            return -1;
        for (long k = 0; k < length; k++)
            list[count++] = ranges[i][0] + (int)k * ranges[i][2];
    }
    return count;
}

/* An index of the second group costs as much as one search in it per process. */
enum { SEARCHES_WORTH_AN_INDEX = 4 };

bool xy_members_translate(xy_members_t a, int n, const int *ranks, xy_members_t b, int known,
                          int *out, int *bad_p)
{
    int *index = NULL;

    for (*bad_p = 0; *bad_p < n; ++*bad_p)
        if (ranks[*bad_p] != MPI_PROC_NULL && (ranks[*bad_p] < 0 || ranks[*bad_p] >= a.size))
            return false;
    *bad_p = -1;
    if (b.list != NULL && n > SEARCHES_WORTH_AN_INDEX) {
        index = xy_members_index(b, known);
        if (index == NULL)
            return false;
    }
    for (int i = 0; i < n; i++) {
        if (ranks[i] == MPI_PROC_NULL)
            out[i] = MPI_PROC_NULL;
        else if (index != NULL)
            out[i] = index[xy_member_at(a, ranks[i])];
        else
            out[i] = xy_member_rank(b, xy_member_at(a, ranks[i]));
    }
    xy_free(index);
    return true;
}

/* ---- Splits ---- */

/* For qsort: by color, group, key and member. */
static int compare_entries(const void *left, const void *right)
{
    const xy_split_entry_t *a = left, *b = right;

    if (a->color != b->color)
        return a->color < b->color ? -1 : 1;
    if (a->is_high != b->is_high)
        return a->is_high ? 1 : -1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->member < b->member ? -1 : a->member > b->member;
}

int xy_split_sort(xy_split_entry_t *entries, int count)
{
    int left = 0;

    for (int i = 0; i < count; i++)
        if (entries[i].color != MPI_UNDEFINED)
            entries[left++] = entries[i];
    qsort(entries, (size_t)left, sizeof(*entries), compare_entries);
    return left;
}

bool xy_split_next(const xy_split_entry_t *entries, int count, bool is_inter, xy_split_part_t *part)
{
    do {
        int at = part->first = part->end;

        if (at >= count)
            return false;
        while (at < count && entries[at].color == entries[part->first].color &&
               !entries[at].is_high)
            at++;
        part->high = at;
        while (at < count && entries[at].color == entries[part->first].color)
            at++;
        part->end = at;
    } while (is_inter && (part->high == part->first || part->high == part->end));
    return true;
}
