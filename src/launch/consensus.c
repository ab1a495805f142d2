/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/consensus.h"

#include <limits.h>
#include <string.h>

enum { MISSING, SAID };

struct consensus_one {
    consensus_one_t *next;
    mpi_agree_answer_t answer;
    int kind, size;
    int missing;    /* members that have said nothing, and live */
    int proposer;   /* place of the member whose proposal it is */
    int32_t *ranks; /* [size] */
    char *state;    /* [size] */
};

static void destroy(consensus_one_t *one)
{
    if (one == NULL)
        return;
    xy_free(one->ranks);
    xy_free(one->state);
    xy_free(one);
}

static bool begin(consensus_t *c)
{
    if (c->is_failed == NULL)
        c->is_failed = xy_calloc((size_t)c->ranks, sizeof(*c->is_failed));
    if (c->is_failed == NULL)
        xy_fail_memory("agreeing");
    return c->is_failed != NULL;
}

/* Is what a rank has sent whole, and are its members ranks? */
static bool is_valid(const consensus_t *c, const mpi_agree_ask_t *ask, const int32_t *members,
                     size_t size)
{
    if (ask->size < 1 || ask->size > c->ranks ||
        size != sizeof(*ask) + (size_t)ask->size * sizeof(*members) || ask->rank < 0 ||
        ask->rank >= c->ranks)
        return false;
    for (int i = 0; i < ask->size; i++)
        if (members[i] < 0 || members[i] >= c->ranks)
            return false;
    return true;
}

/* The agreement that `ask` is about, which begins with its first member. NULL: no memory. */
static consensus_one_t *find(consensus_t *c, const mpi_agree_ask_t *ask, const int32_t *members)
{
    consensus_one_t *one = c->all;

    while (one != NULL &&
           (one->answer.context != ask->context || one->answer.number != ask->number))
        one = one->next;
    if (one != NULL)
        return one;
    one = xy_calloc(1, sizeof(*one));
    if (one == NULL)
        return NULL;
    one->ranks = xy_malloc((size_t)ask->size * sizeof(*one->ranks));
    one->state = xy_calloc((size_t)ask->size, 1);
    if (one->ranks == NULL || one->state == NULL) {
        destroy(one);
        return NULL;
    }
    memcpy(one->ranks, members, (size_t)ask->size * sizeof(*one->ranks));
    one->size = ask->size;
    one->kind = ask->kind;
    one->answer = (mpi_agree_answer_t){
        .context = ask->context, .number = ask->number, .flag = -1, .acked = INT_MAX};
    one->proposer = INT_MAX;
    for (int i = 0; i < one->size; i++)
        one->missing += !c->is_failed[one->ranks[i]];
    one->next = c->all;
    c->all = one;
    return one;
}

/* Answer, if nobody is missing. */
static void settle(consensus_t *c, consensus_one_t *one)
{
    consensus_one_t **link = &c->all;

    if (one->missing > 0)
        return;
    one->answer.failures = c->failures;
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    c->decide(&one->answer, c->arg);
    destroy(one);
}

/* Add the values of one member. */
static void add(consensus_one_t *one, int place, const mpi_agree_ask_t *ask)
{
    one->state[place] = SAID;
    one->answer.flag &= ask->flag;
    if (ask->acked < one->answer.acked)
        one->answer.acked = ask->acked;
    if (place < one->proposer) {
        one->proposer = place;
        one->answer.proposal = ask->proposal;
    }
}

xy_status_t consensus_ask(consensus_t *c, const void *bytes, size_t size)
{
    mpi_agree_ask_t ask;
    const int32_t *members = (const int32_t *)(const void *)((const char *)bytes + sizeof(ask));
    consensus_one_t *one;
    int place = 0;

    if (size < sizeof(ask))
        return XY_OK;
    memcpy(&ask, bytes, sizeof(ask));
    if (!is_valid(c, &ask, members, size))
        return XY_OK;
    one = begin(c) ? find(c, &ask, members) : NULL;
    if (one == NULL)
        return xy_fail_memory("agreeing");
    while (place < one->size && one->ranks[place] != ask.rank)
        place++;
    if (place == one->size || one->state[place] == SAID)
        return XY_OK;
    add(one, place, &ask);
    one->missing -= !c->is_failed[ask.rank];
    settle(c, one);
    return XY_OK;
}

bool consensus_fail(consensus_t *c, int rank)
{
    if (rank < 0 || rank >= c->ranks || !begin(c) || c->is_failed[rank])
        return false;
    c->is_failed[rank] = true;
    c->failures++;
    for (consensus_one_t *one = c->all; one != NULL; one = one->next)
        for (int i = 0; i < one->size; i++)
            one->missing -= one->ranks[i] == rank && one->state[i] == MISSING;
    return true;
}

void consensus_settle(consensus_t *c)
{
    for (consensus_one_t *one = c->all, *next; one != NULL; one = next) {
        next = one->next;
        settle(c, one);
    }
}
