/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes whose blocks overlap, which must not be received into: what their bytes would be is
 * open. Found once, when the type is committed:
 *
 *   0, or the number of elements that can follow each other without an overlap
 *
 * Elements may lie inside of each other without one (columns of a matrix that are resized to one
 * number), so each distance is tried. What takes too many steps to find out counts as right.
 */
#include <stdlib.h>

#include "base/base.h"
#include "mpi/datatype/type_layout.h"
#include "mpi/object/object.h"

enum { RUNS_MOST = 1 << 14, STEPS_MOST = 1 << 18 };

typedef struct {
    MPI_Aint begin, end;
} run_t;

typedef struct {
    run_t *run;
    size_t count;
} runs_t;

static int compare(const void *a, const void *b)
{
    const run_t *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The runs of the loops from `depth` on, each moved by `offset`. */
static void fill(const mpi_layout_t *layout, int depth, MPI_Aint offset, runs_t *runs)
{
    if (depth < layout->depth) {
        for (int64_t i = 0; i < layout->loops[depth].count; i++)
            fill(layout, depth + 1, offset + i * layout->loops[depth].stride, runs);
        return;
    }
    for (size_t b = 0; b < layout->blocks; b++) {
        MPI_Aint begin = offset + layout->block[b].offset;

        runs->run[runs->count++] = (run_t){begin, begin + (MPI_Aint)layout->block[b].length};
    }
}

/* Sorted by address. False: there are too many, or no memory. */
static bool runs_make(const mpi_layout_t *layout, runs_t *runs)
{
    uint64_t count = layout->blocks;

    for (int d = 0; d < layout->depth && count <= RUNS_MOST; d++)
        count = layout->loops[d].count > RUNS_MOST ? RUNS_MOST + 1
                                                   : count * (uint64_t)layout->loops[d].count;
    runs->count = 0;
    runs->run = count > 0 && count <= RUNS_MOST ? xy_malloc(count * sizeof(*runs->run)) : NULL;
    if (runs->run == NULL)
        return false;
    fill(layout, 0, 0, runs);
    qsort(runs->run, runs->count, sizeof(*runs->run), compare);
    return true;
}

static bool has_overlap(const runs_t *runs)
{
    for (size_t i = 1; i < runs->count; i++)
        if (runs->run[i].begin < runs->run[i - 1].end)
            return true;
    return false;
}

/* Do the runs meet themselves when they are moved by `distance`? */
static bool meets_moved(const runs_t *runs, MPI_Aint distance)
{
    size_t a = 0, b = 0;

    while (a < runs->count && b < runs->count) {
        const run_t *x = &runs->run[a], *y = &runs->run[b];

        if (x->end <= y->begin + distance)
            a++;
        else if (y->end + distance <= x->begin)
            b++;
        else
            return true;
    }
    return false;
}

int64_t mpi_type_count_disjoint(const mpi_type_t *type)
{
    MPI_Aint step = type->extent < 0 ? -type->extent : type->extent;
    int64_t most = INT64_MAX;
    runs_t runs;

    if (type->is_contiguous || type->size == 0 || !runs_make(&type->layout, &runs))
        return INT64_MAX;
    if (has_overlap(&runs))
        most = 0;
    else if (step == 0)
        most = 1;
    for (int64_t k = 1;
         most == INT64_MAX && k * step < type->true_extent && (uint64_t)k * runs.count < STEPS_MOST;
         k++)
        if (meets_moved(&runs, k * step))
            most = k;
    xy_free(runs.run);
    return most;
}

int mpi_type_refuse_overlap(mpi_comm_t *comm)
{
    return mpi_error(comm, MPI_ERR_TYPE,
                     "the datatype has blocks that overlap; it can be sent, and not received into");
}
