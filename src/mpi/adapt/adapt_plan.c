/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans as words: "default", or what they do otherwise with '+' between. */
#include <stdio.h>
#include <string.h>

#include "mpi/adapt/adapt.h"

enum { COMM_CORES_MAX = 1 << 16, PROCS_MAX = 1 << 24 };

static void add(xy_text_t *text, const char *word)
{
    xy_text_addf(text, "%s%s", text->length > 0 ? "+" : "", word);
}

static void add_pick(xy_text_t *text, const xy_coll_pick_t *p)
{
    xy_text_addf(text, "%s%s/%d/%llu:%s", text->length > 0 ? "+" : "", xy_coll_name(p->collective),
                 p->procs, 1ull << p->step, p->algorithm->name);
}

bool mpi_plan_format(const mpi_plan_t *plan, char word[XMPI_PLAN_WORD])
{
    xy_text_t text = XY_TEXT_INIT;
    char number[32];
    bool fits;

    if (plan->is_placed)
        add(&text, "place:matrix");
    if (plan->is_split)
        add(&text, "split:auto");
    snprintf(number, sizeof(number), "comm-cores:%d", plan->comm_cores);
    if (plan->comm_cores > 0)
        add(&text, number);
    for (size_t i = 0; i < plan->pick_count; i++)
        add_pick(&text, &plan->picks[i]);
    if (text.length == 0)
        xy_text_add(&text, XMPI_ADAPT_DEFAULT);
    fits = !text.failed && text.length < XMPI_PLAN_WORD;
    if (fits)
        memcpy(word, text.s, text.length + 1);
    xy_text_cleanup(&text);
    return fits;
}

/* ---- Reading ---- */

/* "allreduce/64/1048576:ring"; cut into pieces. */
static bool parse_pick(char *word, mpi_plan_t *plan)
{
    char *rest = word, *collective = strsep(&rest, "/"), *procs = strsep(&rest, "/");
    char *bytes = strsep(&rest, ":");
    xy_coll_pick_t p;
    long ranks, size;

    if (rest == NULL || plan->pick_count == XMPI_PLAN_PICKS ||
        !xy_coll_parse(collective, &p.collective) || !xy_parse_long(procs, &ranks) || ranks < 1 ||
        ranks > PROCS_MAX || !xy_parse_long(bytes, &size) || size < 1)
        return false;
    p.procs = (int)ranks;
    p.step = xy_coll_step((uint64_t)size);
    p.algorithm = xy_coll_find(p.collective, rest);
    plan->picks[plan->pick_count++] = p;
    return p.algorithm != NULL && !p.algorithm->is_direct;
}

/* Parse one piece of a plan; false if it is none. */
static bool parse_piece(char *word, mpi_plan_t *plan)
{
    long cores;

    if (strcmp(word, "place:matrix") == 0)
        return plan->is_placed = true;
    if (strcmp(word, "split:auto") == 0)
        return plan->is_split = true;
    if (strncmp(word, "comm-cores:", 11) != 0)
        return parse_pick(word, plan);
    if (!xy_parse_long(word + 11, &cores) || cores < 1 || cores > COMM_CORES_MAX)
        return false;
    plan->comm_cores = (int)cores;
    return true;
}

bool mpi_plan_parse(const char *word, mpi_plan_t *plan)
{
    char copy[XMPI_PLAN_WORD], *rest = copy;
    mpi_plan_t p = {0};

    if (strlen(word) >= sizeof(copy))
        return false;
    memcpy(copy, word, strlen(word) + 1);
    if (strcmp(word, XMPI_ADAPT_DEFAULT) != 0)
        for (char *piece; (piece = strsep(&rest, "+")) != NULL;)
            if (!parse_piece(piece, &p))
                return false;
    *plan = p;
    return true;
}
