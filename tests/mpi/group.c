/* SPDX-License-Identifier: BSD-3-Clause */
/* Group operations on random groups against plain references. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct {
    int size, *ranks;
} list_t;

static list_t random_list(int p, unsigned *state)
{
    list_t list = {0, malloc((size_t)p * sizeof(int))};

    for (int i = 0; i < p; i++)
        if (next_random(state) % 2)
            list.ranks[list.size++] = i;
    for (int i = list.size - 1; i > 0; i--) {
        int j = (int)(next_random(state) % (unsigned)(i + 1)), keep = list.ranks[i];
        list.ranks[i] = list.ranks[j];
        list.ranks[j] = keep;
    }
    return list;
}

static int find(list_t list, int rank)
{
    for (int i = 0; i < list.size; i++)
        if (list.ranks[i] == rank)
            return i;
    return MPI_UNDEFINED;
}

/* The world ranks of the group are those of the list, in order; frees the group. */
static void expect(MPI_Group world, MPI_Group group, list_t list)
{
    int size, rank, me;
    int *own = malloc(((size_t)list.size + 1) * sizeof(int));
    int *out = malloc(((size_t)list.size + 1) * sizeof(int));

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(MPI_Group_size(group, &size) == MPI_SUCCESS);
    CHECK_EQUAL(size, list.size);
    CHECK_EQUAL(group == MPI_GROUP_EMPTY, list.size == 0);
    MPI_Group_rank(group, &rank);
    CHECK_EQUAL(rank, find(list, me));
    for (int i = 0; i < size; i++)
        own[i] = i;
    MPI_Group_translate_ranks(group, size, own, world, out);
    for (int i = 0; i < size; i++)
        CHECK_EQUAL(out[i], list.ranks[i]);
    MPI_Group_translate_ranks(world, size, list.ranks, group, out);
    for (int i = 0; i < size; i++)
        CHECK_EQUAL(out[i], i);
    MPI_Group_free(&group);
    CHECK(group == MPI_GROUP_NULL);
    free(own);
    free(out);
}

static void check_sets(MPI_Group world, MPI_Group a, list_t la, MPI_Group b, list_t lb, int p)
{
    list_t all = {0, malloc(2 * (size_t)p * sizeof(int))};
    MPI_Group made;
    int result, is_same = la.size == lb.size, is_similar = is_same;

    memcpy(all.ranks, la.ranks, (size_t)la.size * sizeof(int));
    all.size = la.size;
    for (int i = 0; i < lb.size; i++)
        if (find(la, lb.ranks[i]) == MPI_UNDEFINED)
            all.ranks[all.size++] = lb.ranks[i];
    MPI_Group_union(a, b, &made);
    expect(world, made, all);

    for (int keeps_common = 0; keeps_common < 2; keeps_common++) {
        all.size = 0;
        for (int i = 0; i < la.size; i++)
            if ((find(lb, la.ranks[i]) != MPI_UNDEFINED) == keeps_common)
                all.ranks[all.size++] = la.ranks[i];
        if (keeps_common)
            MPI_Group_intersection(a, b, &made);
        else
            MPI_Group_difference(a, b, &made);
        expect(world, made, all);
    }

    for (int i = 0; i < la.size && is_similar; i++) {
        is_same = is_same && la.ranks[i] == lb.ranks[i];
        is_similar = find(lb, la.ranks[i]) != MPI_UNDEFINED;
    }
    MPI_Group_compare(a, b, &result);
    CHECK_EQUAL(result, !is_similar ? MPI_UNEQUAL : is_same ? MPI_IDENT : MPI_SIMILAR);
    free(all.ranks);
}

/* Equal groups need not be the same object. */
static void check_equality(MPI_Group world, int p)
{
    int ranges[2][3] = {{0, p - 1, 1}, {p - 1, 0, -1}}, result;
    MPI_Group same, back, again;

    MPI_Group_range_incl(world, 1, ranges, &same);
    MPI_Group_range_incl(world, 1, ranges + 1, &back);
    MPI_Group_range_incl(back, 1, (int[][3]){{0, p - 1, 1}}, &again);
    MPI_Group_compare(world, same, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_compare(back, again, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_compare(world, back, &result);
    CHECK_EQUAL(result, p > 1 ? MPI_SIMILAR : MPI_IDENT);
    MPI_Group_free(&same);
    MPI_Group_free(&back);
    MPI_Group_free(&again);
}

static void check_random(MPI_Group world, int p, unsigned seed)
{
    unsigned state = seed;
    list_t la = random_list(p, &state), lb = random_list(p, &state);
    MPI_Group a, b, c;

    MPI_Group_incl(world, la.size, la.ranks, &a);
    MPI_Group_incl(world, lb.size, lb.ranks, &b);
    check_sets(world, a, la, b, lb, p);
    check_sets(world, a, la, a, la, p);

    /* Ranks excluded from a shuffled group leave the rest in the group's order. */
    if (la.size > 1) {
        list_t rest = {0, malloc((size_t)p * sizeof(int))};
        int out[2] = {la.size - 1, 0};
        for (int i = 1; i < la.size - 1; i++)
            rest.ranks[rest.size++] = la.ranks[i];
        MPI_Group_excl(a, 2, out, &c);
        expect(world, c, rest);
        free(rest.ranks);
    }
    expect(world, a, la);
    expect(world, b, lb);
    free(la.ranks);
    free(lb.ranks);
}

static void check_ranges(MPI_Group world, int p)
{
    int ranges[2][3] = {{p - 1, 0, -2}, {p % 2, p - 1, 2}};
    list_t list = {0, malloc((size_t)p * sizeof(int))};
    MPI_Group made;
    int n = p > 1 ? 2 : 1;

    for (int r = p - 1; r >= 0; r -= 2)
        list.ranks[list.size++] = r;
    for (int r = p % 2; n > 1 && r < p; r += 2)
        list.ranks[list.size++] = r;
    MPI_Group_range_incl(world, n, ranges, &made);
    expect(world, made, list);
    list.size = 0;
    for (int r = 0; r < p; r++)
        if ((p - 1 - r) % 2)
            list.ranks[list.size++] = r;
    MPI_Group_range_excl(world, 1, ranges, &made);
    expect(world, made, list);
    free(list.ranks);
}

static void check_errors(MPI_Group world, int p)
{
    int twice[2] = {0, 0}, beyond[1], code, ranges[1][3] = {{0, 0, 0}};
    MPI_Group made = MPI_GROUP_NULL;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    beyond[0] = p;
    code = MPI_Group_incl(world, 2, twice, &made);
    CHECK_EQUAL(code, MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Group_incl(world, 1, beyond, &made), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Group_excl(world, 2, twice, &made), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Group_range_incl(world, 1, ranges, &made), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Group_incl(world, -1, twice, &made), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Group_union(world, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    CHECK_EQUAL(MPI_Group_size(MPI_GROUP_NULL, &code), MPI_ERR_GROUP);
    CHECK(made == MPI_GROUP_NULL);
    CHECK_EQUAL(MPI_Group_incl(world, 0, NULL, &made), MPI_SUCCESS);
    CHECK(made == MPI_GROUP_EMPTY);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Group world, self, empty = MPI_GROUP_EMPTY;
    int p, rank, none = MPI_PROC_NULL, out;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Group_translate_ranks(world, 1, &none, self, &out);
    CHECK_EQUAL(out, MPI_PROC_NULL);
    MPI_Group_translate_ranks(self, 1, (int[]){0}, world, &out);
    CHECK_EQUAL(out, rank);
    MPI_Group_compare(world, self, &out);
    CHECK_EQUAL(out, p == 1 ? MPI_IDENT : MPI_UNEQUAL);
    MPI_Group_size(empty, &out);
    CHECK_EQUAL(out, 0);
    for (unsigned seed = 1; seed <= 40; seed++)
        check_random(world, p, seed * 77u + (unsigned)rank);
    check_equality(world, p);
    check_ranges(world, p);
    check_errors(world, p);
    MPI_Group_free(&world);
    MPI_Group_free(&self);
    MPI_Finalize();
    return 0;
}
