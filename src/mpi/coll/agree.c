/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: one member computes for all, as the making of a communicator does. */
#include "mpi/coll/coll.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 160 };

void mpi_topic_tell_list(char *text, size_t room, const char *name, const int *list, int count)
{
    size_t length = strlen(text);

    length += (size_t)snprintf(text + length, room - length, ", %s", name);
    for (int i = 0; i < count && length < room; i++)
        length += (size_t)snprintf(text + length, room - length, " %d", list[i]);
}

static bool find_different(const mpi_topic_t *const *topics, int n, int *a_p, int *b_p)
{
    *a_p = 0;
    for (*b_p = 1; *b_p < n; ++*b_p)
        if (topics[*b_p]->value != topics[0]->value)
            return true;
    return false;
}

/* `topics`: room for n. */
static void compare_topics(coll_call_t *const *calls, int n, const mpi_topic_t **topics)
{
    char text_a[TEXT] = "", text_b[TEXT] = "";
    int a, b;

    for (int r = 0; r < n; r++) {
        topics[r] = calls[r]->topic;
        if (topics[r] == NULL)
            return;
    }
    if (!(topics[0]->find != NULL ? topics[0]->find : find_different)(topics, n, &a, &b))
        return;
    topics[a]->describe(topics[a], topics[b], text_a, sizeof(text_a));
    topics[b]->describe(topics[b], topics[a], text_b, sizeof(text_b));
    coll_disagree_about(calls[a], text_a, calls[b], text_b);
}

void coll_agree_lead(coll_call_t **calls, int n)
{
    void **inputs = (void **)(void *)(calls + n), **outputs = inputs + n;

    if (calls[0]->topic != NULL)
        compare_topics(calls, n, (const mpi_topic_t **)(void *)inputs);
    for (int r = 0; r < n; r++) {
        inputs[r] = (void *)(uintptr_t)calls[r]->send;
        outputs[r] = calls[r]->receive;
    }
    calls[0]->leader(inputs, n, outputs);
}

static void lead(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    int n = local->coll->size;
    coll_call_t **calls;

    (void)piece;
    if (local->index != 0) /* offloaded: all groups' pieces are done */
        return;
    calls = coll_scratch(3 * (size_t)n * sizeof(void *));
    for (int r = 0; r < n; r++)
        calls[r] = coll_call_of(local, slot, r);
    coll_agree_lead(calls, n);
}

const coll_ops_t coll_agree = {.name = "the making of a communicator",
                               .collective = XY_COLL_COUNT,
                               .piece = lead,
                               .needs_exit_barrier = coll_exit_always,
                               .is_led = true};

int mpi_coll_agree(mpi_comm_t *comm, const void *input, void *output, mpi_leader_fn leader)
{
    coll_call_t call = {.kind = &coll_agree,
                        .comm = comm,
                        .send = input,
                        .receive = output,
                        .leader = leader,
                        .topic = mpi_self->topic,
                        .agreed = coll_agree_name(mpi_self)};

    mpi_self->topic = NULL;
    mpi_self->call.comm = comm;
    mpi_self->call.peer = MPI_UNDEFINED;
    return coll_run(mpi_self, &call);
}
