/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an algorithm by the virtual clock: its record, run as a script.
 *
 * Agreements of all ranks (communicators, whether all have memory) are the most messages of small
 * products, and the same for all algorithms: one is simulated alone, and they are counted.
 */
#include <stdlib.h>

#include "dense/dense.h"

enum { TAG = 1, TAG_EXCHANGE = 2 };

/* Adds an operation of a rank to the script. */
static void play(xylem_script *s, int rank, const dense_op_t *op, const int *group_of)
{
    switch (op->kind) {
    case DENSE_COMPUTE:
        xylem_script_compute(s, rank, op->seconds);
        break;
    case DENSE_SEND:
        xylem_script_isend(s, rank, op->peer, TAG, op->bytes);
        break;
    case DENSE_RECEIVE:
        xylem_script_irecv(s, rank, op->peer, TAG, op->bytes);
        xylem_script_wait(s, rank);
        break;
    case DENSE_WAIT:
        xylem_script_wait(s, rank);
        break;
    case DENSE_EXCHANGE:
        xylem_script_irecv(s, rank, op->source, TAG_EXCHANGE, op->more);
        xylem_script_isend(s, rank, op->peer, TAG_EXCHANGE, op->bytes);
        xylem_script_wait(s, rank);
        break;
    case DENSE_BCAST:
        xylem_script_bcast(s, rank, group_of[op->group], op->peer, op->bytes);
        break;
    }
}

/* The numbers of the groups in the script; NULL: no memory. */
static int *make_groups(xylem_script *s, const dense_record_t *record)
{
    int *numbers = calloc((size_t)record->group_count + 1, sizeof(*numbers));
    int *members = calloc((size_t)record->ranks, sizeof(*members));

    for (int g = 0; numbers != NULL && members != NULL && g < record->group_count; g++) {
        const dense_group_t *group = &record->groups[g];

        for (int i = 0; i < group->count; i++)
            members[i] = group->first + i * group->stride;
        numbers[g] = xylem_script_group(s, members, group->count);
    }
    if (members == NULL) {
        free(numbers);
        numbers = NULL;
    }
    free(members);
    return numbers;
}

double dense_simulate(const dense_record_t *record, const dense_place_t *place)
{
    xylem_script *s = NULL;
    int *groups;
    double seconds = 0;

    if (xylem_script_create(record->ranks, &s) != 0)
        return 0;
    groups = make_groups(s, record);
    for (int r = 0; groups != NULL && r < record->ranks; r++)
        for (int i = 0; i < record->of[r].count; i++)
            play(s, r, &record->of[r].ops[i], groups);
    if (groups == NULL || xylem_script_run(s, place->platform, &seconds) != 0)
        seconds = 0;
    free(groups);
    xylem_script_free(s);
    return seconds > 0 ? seconds + place->begin + record->agreements * place->agree : 0;
}
