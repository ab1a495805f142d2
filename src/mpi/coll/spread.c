/* SPDX-License-Identifier: BSD-3-Clause */
/* How members are spread over processes, and trees of them. */
#include "mpi/coll/spread.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

/* ---- Who is where ---- */

static int process_of(const mpi_group_t *group, int rank)
{
    return mpi_job->process_of[group->ranks != NULL ? group->ranks[rank] : rank];
}

static bool is_in_one_process(const mpi_group_t *group)
{
    for (int r = 0; r < group->size; r++)
        if (process_of(group, r) != mpi_job->process)
            return false;
    return true;
}

void coll_spread_destroy(coll_spread_t *spread)
{
    if (spread == NULL)
        return;
    xy_free(spread->layout.part_of);
    xy_free(spread->layout.first);
    xy_free(spread->layout.place);
    xy_free(spread->layout.member);
    xy_free(spread->layout.begin);
    xy_free(spread);
}

/* Parts in the order of their first members. */
static void find_parts(const mpi_group_t *group, spread_layout_t *s, int *part_of_process)
{
    for (int r = 0; r < group->size; r++) {
        int *part = &part_of_process[process_of(group, r)];

        if (*part == 0) {
            s->first[s->parts] = r;
            *part = ++s->parts;
        }
        s->part_of[r] = *part - 1;
        s->place[r] = s->begin[*part]++; /* counts members, for now */
    }
    for (int p = 0; p < s->parts; p++)
        s->begin[p + 1] += s->begin[p];
    s->is_ordered = true;
    for (int r = 0; r < group->size; r++) {
        s->member[s->begin[s->part_of[r]] + s->place[r]] = r;
        s->is_ordered = s->is_ordered && (r == 0 || s->part_of[r] >= s->part_of[r - 1]);
    }
}

xy_status_t coll_spread_create(const mpi_group_t *group, coll_spread_t **spread_p)
{
    size_t n = (size_t)group->size, processes = (size_t)mpi_job->reach;
    spread_layout_t *layout;
    coll_spread_t *s;
    int *part_of_process;

    if (processes == 1 || is_in_one_process(group))
        return XY_OK;
    s = xy_calloc(1, sizeof(*s));
    part_of_process = xy_calloc(processes, sizeof(int));
    if (s == NULL || part_of_process == NULL)
        goto fail;
    layout = &s->layout;
    layout->part_of = xy_calloc(n, sizeof(int));
    layout->place = xy_calloc(n, sizeof(int));
    layout->member = xy_calloc(n, sizeof(int));
    layout->first = xy_calloc(processes, sizeof(int));
    layout->begin = xy_calloc(processes + 1, sizeof(int));
    if (layout->part_of == NULL || layout->place == NULL || layout->member == NULL ||
        layout->first == NULL || layout->begin == NULL)
        goto fail;
    pthread_mutex_init(&s->lock, NULL);
    atomic_init(&s->told, -1);
    find_parts(group, layout, part_of_process);
    s->own = part_of_process[mpi_job->process] - 1;
    s->link = mpi_link_of(group);
    xy_free(part_of_process);
    *spread_p = s;
    return XY_OK;

fail:
    xy_free(part_of_process);
    coll_spread_destroy(s);
    return XY_ENOMEM;
}

/* ---- Trees ---- */

/* Position `i` of `n` in a binomial tree: below it are those with one more bit, below its lowest
 * one. The largest of them comes first: it has most below itself. Returns their number. */
static int binomial(int i, int n, int *parent, int children[])
{
    int count = 0, bit = 1;

    while (bit < n && (i & bit) == 0)
        bit <<= 1;
    *parent = i > 0 ? i & (i - 1) : -1;
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (i + bit < n)
            children[count++] = i + bit;
    return count;
}

int spread_speaker(const spread_layout_t *s, int part, int root)
{
    return part == s->part_of[root] ? root : s->first[part];
}

/* The same in a chain. */
static int chain(int i, int n, int *parent, int children[])
{
    *parent = i - 1;
    children[0] = i + 1;
    return i + 1 < n ? 1 : 0;
}

void spread_tree_parts(const spread_layout_t *s, int part, int top, int root, bool is_chain,
                       spread_tree_t *tree)
{
    int parent, found[SPREAD_CHILDREN];
    int n =
        (is_chain ? chain : binomial)((part - top + s->parts) % s->parts, s->parts, &parent, found);

    tree->parent = parent < 0 ? -1 : spread_speaker(s, (parent + top) % s->parts, root);
    tree->children = n;
    for (int i = 0; i < n; i++)
        tree->child[i] = spread_speaker(s, (found[i] + top) % s->parts, root);
}

void spread_tree_ordered(int first, int end, int rank, spread_tree_t *tree)
{
    tree->children = binomial(rank - first, end - first, &tree->parent, tree->child);
    tree->parent += tree->parent >= 0 ? first : 0;
    for (int i = 0; i < tree->children; i++)
        tree->child[i] += first;
}

const mpi_type_t *spread_bytes_type(void)
{
    return mpi_type_of(MPI_BYTE);
}

void spread_copy(void *to, const void *from, size_t bytes, uint64_t all)
{
    if (all >= XMPI_STREAM_FROM)
        mpi_copy_stream(to, from, bytes);
    else
        mpi_copy(to, from, bytes);
}

/* The part that is the member of `call` alone, in a layout of such parts. */
static const spread_part_t *part_of_one(script_t *s, coll_call_t *call)
{
    struct {
        spread_part_t part;
        spread_layout_t layout;
        coll_call_t *calls[1];
    } *one = script_memory(s, sizeof(*one));
    int size = call->comm->size, *numbers = script_memory(s, ((size_t)size + 1) * sizeof(int));
    int *zeros = script_memory(s, (size_t)size * sizeof(int));

    for (int r = 0; r <= size; r++)
        numbers[r] = r;
    memset(zeros, 0, (size_t)size * sizeof(int));
    one->calls[0] = call;
    one->layout = (spread_layout_t){.parts = size,
                                    .part_of = numbers,
                                    .first = numbers,
                                    .place = zeros,
                                    .member = numbers,
                                    .begin = numbers,
                                    .is_ordered = true};
    one->part = (spread_part_t){
        .layout = &one->layout, .own = call->rank, .members = 1, .calls = one->calls, .call = call};
    return &one->part;
}

void coll_spread_start(mpi_rank_t *self, coll_call_t *call)
{
    script_t *s;

    coll_spread_say(call);
    if (spread_is_together(call)) {
        spread_meeting_join(self, call);
        return;
    }
    s = script_new(call, &self->call, NULL);
    if (call->kind->is_inter)
        spread_build_inter(s, call);
    else
        spread_build_part(s, part_of_one(s, call));
    script_run_soon(s);
}
