/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports that end the job with and without --check, as findings: for the files.
 *
 * They were printed when they come here. The lines of a table of ranks come one by one before the
 * report that they belong to.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/check/findings.h"

static xy_vec_t lines = XY_VEC_INIT(check_line_t);

static bool copy_set(const xy_bitset_t *from, xy_bitset_t *to)
{
    if (xy_bitset_init(to, from->bits) != XY_OK)
        return false;
    for (size_t r = xy_bitset_next(from, 0); r < from->bits; r = xy_bitset_next(from, r + 1))
        xy_bitset_set(to, r);
    return true;
}

void check_line_add_at(const xy_bitset_t *ranks, const char *text, const char *place)
{
    check_line_t line = {.text = xy_strdup(text)};

    if (line.text == NULL || !copy_set(ranks, &line.ranks) ||
        xy_vec_append(&lines, &line) != XY_OK) {
        xy_bitset_cleanup(&line.ranks);
        xy_free(line.text);
        return; /* the line was printed */
    }
    snprintf(XY_VEC_AT(&lines, check_line_t, lines.count - 1).place, CHECK_PLACE_SIZE, "%s", place);
}

void check_line_add(const xy_bitset_t *ranks, const char *text, const void *site)
{
    char place[CHECK_PLACE_SIZE];

    check_place_name(site, place);
    check_line_add_at(ranks, text, place);
}

static const check_line_t *line_at(size_t i)
{
    return &XY_VEC_AT(&lines, check_line_t, i);
}

/* Take the first two places in a table of ranks. */
static void take_places(check_finding_t *made)
{
    int taken = 0;

    for (size_t i = 0; i < lines.count && taken < 2; i++)
        if (line_at(i)->place[0] != '\0' &&
            (taken == 0 || strcmp(line_at(i)->place, made->places[0]) != 0))
            strcpy(made->places[taken++], line_at(i)->place);
}

/* "rank 3: ..." has the number in `ranks` already. */
static const char *without_rank(const char *message, int rank)
{
    char front[32];
    int length = snprintf(front, sizeof(front), "rank %d: ", rank);

    return strncmp(message, front, (size_t)length) == 0 ? message + length : message;
}

static bool is_of(const mpi_check_end_t *end, int rank)
{
    if (end->ranks != NULL)
        return end->ranks[rank];
    return end->rank < 0 || rank == end->rank || rank == end->other;
}

void mpi_check_end(const mpi_check_end_t *end)
{
    check_finding_t made = {.kind = end->kind, .count = 1, .is_printed = true};

    if (mpi_finding_store == NULL)
        return;
    made.message = xy_strdup(without_rank(end->message, end->rank));
    if (made.message == NULL || xy_bitset_init(&made.ranks, (size_t)mpi_job->numbers) != XY_OK) {
        xy_free(made.message);
        return;
    }
    for (int r = 0; r < mpi_job->size; r++)
        if (is_of(end, r))
            xy_bitset_set(&made.ranks, (size_t)r);
    for (int i = 0; i < 2; i++)
        if (end->places[i] != NULL)
            snprintf(made.places[i], CHECK_PLACE_SIZE, "%s", end->places[i]);
    if (made.places[0][0] == '\0')
        take_places(&made);
    made.lines = lines;
    lines = XY_VEC_INIT(check_line_t);
    check_findings_end(&made);
}

void check_end_of_finding(const mpi_finding_t *finding, const char *message)
{
    char places[2][CHECK_PLACE_SIZE];

    check_place_name(finding->sites[0], places[0]);
    check_place_name(finding->sites[1], places[1]);
    mpi_check_end(&(mpi_check_end_t){.kind = finding->kind,
                                     .rank = finding->rank,
                                     .other = finding->other,
                                     .places = {places[0], places[1]},
                                     .message = message});
}
