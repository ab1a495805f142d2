/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of addresses that may overlap, and a search for those that meet another one:
 *
 *   check_spans_t spans = NULL;
 *   check_spans_add(&spans, &access->span);           (its `low` and `high` are set)
 *   check_spans_each(spans, low, high, visit, &found);
 *   check_spans_remove(&spans, &access->span);
 *
 * A span is a member of its owner's record, which it names by its address. All calls take
 * logarithmic time, the search in addition for each span that it finds.
 */
#ifndef XY_MPI_CHECK_SPAN_H
#define XY_MPI_CHECK_SPAN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct check_span {
    const char *low, *high; /* low < high */
    /* Links of the tree: */
    const char *most; /* the greatest `high` from here downwards */
    struct check_span *left, *right;
    uint64_t weight;
} check_span_t;

typedef check_span_t *check_spans_t;

void check_spans_add(check_spans_t *spans, check_span_t *span);
/* It must be one of them. */
void check_spans_remove(check_spans_t *spans, check_span_t *span);
/* Move the end of one of them to `high`, which lies behind it. */
void check_spans_extend(check_spans_t spans, check_span_t *span, const char *high);
/* Call `visit` for each span that has a byte in [low, high), in the order of their beginnings,
 * until it returns false. It must not add or remove any. */
typedef bool (*check_span_fn)(check_span_t *span, void *argument);
bool check_spans_each(check_spans_t spans, const char *low, const char *high, check_span_fn visit,
                      void *argument);

/* One that has a byte in [low, high), of spans that do not overlap; NULL: there is none. */
check_span_t *check_spans_find(check_spans_t spans, const char *low, const char *high);

#endif
