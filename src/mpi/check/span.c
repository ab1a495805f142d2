/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A search tree by the beginnings of the spans in which each node knows how far its subtree
 * reaches. It is a heap by weights, which are random: so its depth is logarithmic.
 */
#include "mpi/check/span.h"

#include <stddef.h>

#include "base/base.h"

static bool is_before(const check_span_t *a, const check_span_t *b)
{
    return a->low < b->low || (a->low == b->low && (uintptr_t)a < (uintptr_t)b);
}

static void update(check_span_t *s)
{
    s->most = s->high;
    if (s->left != NULL && s->left->most > s->most)
        s->most = s->left->most;
    if (s->right != NULL && s->right->most > s->most)
        s->most = s->right->most;
}

/* Divide a tree into the spans before `at` and the others. */
static void split(check_span_t *tree, const check_span_t *at, check_span_t **before,
                  check_span_t **behind)
{
    if (tree == NULL) {
        *before = *behind = NULL;
        return;
    }
    if (is_before(tree, at)) {
        *before = tree;
        split(tree->right, at, &tree->right, behind);
    } else {
        *behind = tree;
        split(tree->left, at, before, &tree->left);
    }
    update(tree);
}

/* One tree of two; all of `before` come before those of `behind`. */
static check_span_t *join(check_span_t *before, check_span_t *behind)
{
    if (before == NULL || behind == NULL)
        return before != NULL ? before : behind;
    if (before->weight >= behind->weight) {
        before->right = join(before->right, behind);
        update(before);
        return before;
    }
    behind->left = join(before, behind->left);
    update(behind);
    return behind;
}

/* Add a span to a tree; returns the root. */
static check_span_t *insert(check_span_t *tree, check_span_t *span)
{
    if (tree == NULL || tree->weight < span->weight) {
        split(tree, span, &span->left, &span->right);
        update(span);
        return span;
    }
    if (is_before(span, tree))
        tree->left = insert(tree->left, span);
    else
        tree->right = insert(tree->right, span);
    update(tree);
    return tree;
}

static check_span_t *take_out(check_span_t *tree, check_span_t *span)
{
    if (tree == span)
        return join(span->left, span->right);
    if (is_before(span, tree))
        tree->left = take_out(tree->left, span);
    else
        tree->right = take_out(tree->right, span);
    update(tree);
    return tree;
}

void check_spans_add(check_spans_t *spans, check_span_t *span)
{
    span->weight = xy_hash_u64((uintptr_t)span ^ (uintptr_t)span->low << 20);
    *spans = insert(*spans, span);
}

void check_spans_remove(check_spans_t *spans, check_span_t *span)
{
    *spans = take_out(*spans, span);
}

void check_spans_extend(check_spans_t spans, check_span_t *span, const char *high)
{
    span->high = high;
    for (check_span_t *s = spans;; s = is_before(span, s) ? s->left : s->right) {
        if (s->most < high)
            s->most = high;
        if (s == span)
            return;
    }
}

bool check_spans_each(check_spans_t spans, const char *low, const char *high, check_span_fn visit,
                      void *argument)
{
    for (check_span_t *s = spans; s != NULL && s->most > low; s = s->right) {
        if (!check_spans_each(s->left, low, high, visit, argument))
            return false;
        if (s->low >= high)
            return true;
        if (s->high > low && !visit(s, argument))
            return false;
    }
    return true;
}

check_span_t *check_spans_find(check_spans_t spans, const char *low, const char *high)
{
    check_span_t *s = spans;

    while (s != NULL && (s->low >= high || s->high <= low))
        s = s->low >= high ? s->left : s->right;
    return s;
}
