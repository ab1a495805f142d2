/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/knot.h"

#include <stddef.h>

static int rank_at(const knot_wait_t *wait, int i)
{
    return wait->ranks != NULL ? wait->ranks[i] : i;
}

static bool has_message(const knot_rank_t *rank, const void *message)
{
    for (int i = 0; i < rank->messages_count; i++)
        if (rank->messages[i] == message)
            return true;
    return false;
}

/* One that waits does not help itself. */
static bool is_any_free(const knot_wait_t *wait, const bool *stuck, int self)
{
    for (int i = 0; i < wait->count; i++)
        if (!stuck[rank_at(wait, i)] && rank_at(wait, i) != self)
            return true;
    return false;
}

static int first_stuck(const knot_wait_t *wait, const bool *stuck)
{
    for (int i = 0; i < wait->count; i++)
        if (stuck[rank_at(wait, i)])
            return rank_at(wait, i);
    return -1;
}

bool check_knot_is_open(const knot_rank_t *ranks, const bool *stuck, int rank,
                        const knot_wait_t *wait)
{
    switch (wait->kind) {
    case KNOT_RANK:
        return !stuck[wait->rank];
    case KNOT_SEND:
        return !stuck[wait->rank] || !has_message(&ranks[wait->rank], wait->message);
    case KNOT_ANY_OF:
        return is_any_free(wait, stuck, rank);
    case KNOT_ALL_OF:
        return first_stuck(wait, stuck) < 0;
    default:
        return true;
    }
}

int check_knot_partner(const knot_rank_t *ranks, const bool *stuck, int rank,
                       const knot_wait_t *wait)
{
    if (check_knot_is_open(ranks, stuck, rank, wait) || wait->kind == KNOT_ANY_OF)
        return -1;
    return wait->kind == KNOT_ALL_OF ? first_stuck(wait, stuck) : wait->rank;
}

static bool may_go_on(const knot_rank_t *ranks, const bool *stuck, int r)
{
    const knot_rank_t *rank = &ranks[r];
    int open = 0;

    for (int i = 0; i < rank->count; i++)
        open += check_knot_is_open(ranks, stuck, r, &rank->waits[i]);
    return rank->is_any && rank->count > 0 ? open > 0 : open == rank->count;
}

int check_knot_find(const knot_rank_t *ranks, int size, bool *stuck)
{
    bool changes = true;
    int members = 0;

    for (int r = 0; r < size; r++) {
        stuck[r] = ranks[r].is_parked;
        members += stuck[r];
    }
    while (changes && members > 0) {
        changes = false;
        for (int r = 0; r < size; r++)
            if (stuck[r] && may_go_on(ranks, stuck, r)) {
                stuck[r] = false;
                members--;
                changes = true;
            }
    }
    return members;
}
