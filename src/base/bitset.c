/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariant: bits at and beyond `bits` are clear in the last word. */
#include "base/bitset.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { WORD = 64 };

static size_t word_count(const xy_bitset_t *set)
{
    return set->bits / WORD + (set->bits % WORD != 0);
}

xy_status_t xy_bitset_init(xy_bitset_t *set, size_t bits)
{
    xy_bitset_t fresh = {.bits = bits};

    fresh.words = xy_calloc(word_count(&fresh), sizeof(*fresh.words));
    if (fresh.words == NULL)
        return XY_ENOMEM;
    *set = fresh;
    return XY_OK;
}

void xy_bitset_cleanup(xy_bitset_t *set)
{
    xy_free(set->words);
    *set = (xy_bitset_t){0};
}

void xy_bitset_set(xy_bitset_t *set, size_t bit)
{
    set->words[bit / WORD] |= UINT64_C(1) << bit % WORD;
}

void xy_bitset_clear(xy_bitset_t *set, size_t bit)
{
    set->words[bit / WORD] &= ~(UINT64_C(1) << bit % WORD);
}

bool xy_bitset_has(const xy_bitset_t *set, size_t bit)
{
    return bit < set->bits && (set->words[bit / WORD] >> bit % WORD & 1) != 0;
}

size_t xy_bitset_count(const xy_bitset_t *set)
{
    size_t count = 0;

    for (size_t i = 0; i < word_count(set); i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

size_t xy_bitset_next(const xy_bitset_t *set, size_t from)
{
    size_t words = word_count(set);
    uint64_t word;

    if (from >= set->bits)
        return set->bits;
    word = set->words[from / WORD] & ~UINT64_C(0) << from % WORD;
    for (size_t i = from / WORD;;) {
        if (word != 0)
            return i * WORD + (size_t)__builtin_ctzll(word);
        if (++i == words)
            return set->bits;
        word = set->words[i];
    }
}

/* One number at *s, which moves behind it. */
static bool read_index(const char **s, size_t *value_p)
{
    char *end;
    unsigned long long value;

    if (!isdigit((unsigned char)**s))
        return false;
    errno = 0;
    value = strtoull(*s, &end, 10);
    if (errno != 0 || value > SIZE_MAX)
        return false;
    *s = end;
    *value_p = (size_t)value;
    return true;
}

/* Read FIRST, FIRST-LAST or FIRST-LAST:STEP and move *s behind it; false on a syntax error or a
 * descending range. */
static bool read_range(const char **s, size_t *first_p, size_t *last_p, size_t *step_p)
{
    if (!read_index(s, first_p))
        return false;
    *last_p = *first_p;
    *step_p = 1;
    if (**s == '-') {
        ++*s;
        if (!read_index(s, last_p) || *last_p < *first_p)
            return false;
        if (**s == ':') {
            ++*s;
            if (!read_index(s, step_p) || *step_p == 0)
                return false;
        }
    }
    return **s == ',' || **s == '\0' || **s == '\n';
}

xy_status_t xy_bitset_parse(xy_bitset_t *set, const char *list, const char *what)
{
    const char *s = list;
    size_t first, last, step;
    xy_bitset_t fresh;

    if (xy_bitset_init(&fresh, set->bits) != XY_OK)
        return xy_fail_memory("reading a list of numbers");
    while (*s != '\0' && *s != '\n') {
        if (!read_range(&s, &first, &last, &step) ||
            (*s == ',' && (s[1] == '\0' || s[1] == '\n'))) {
            xy_bitset_cleanup(&fresh);
            return xy_fail(XY_EPARSE, "%s: '%s' is not a list of numbers; write it like 0-3,8",
                           what, list);
        }
        if (last >= set->bits) {
            xy_bitset_cleanup(&fresh);
            return xy_fail(XY_EPARSE, "%s: %zu in '%s' is too large; there are %zu, counted from 0",
                           what, last, list, set->bits);
        }
        for (size_t i = first; i <= last; i += step <= last - i ? step : last - i + 1)
            xy_bitset_set(&fresh, i);
        s += *s == ',';
    }
    xy_bitset_cleanup(set);
    *set = fresh;
    return XY_OK;
}

/* The last of the numbers that follow `first` at a distance of `step`, with none between them. */
static size_t end_of_steps(const xy_bitset_t *set, size_t first, size_t step)
{
    size_t last = first;

    while (xy_bitset_next(set, last + 1) == last + step && xy_bitset_has(set, last + step))
        last += step;
    return last;
}

char *xy_bitset_format(const xy_bitset_t *set)
{
    xy_text_t text = XY_TEXT_INIT;
    size_t first, last, step;

    xy_text_add(&text, "");
    for (first = xy_bitset_next(set, 0); first < set->bits; first = xy_bitset_next(set, last + 1)) {
        step = xy_bitset_next(set, first + 1) - first;
        last = end_of_steps(set, first, step);
        if (step > 1 && last < first + 3 * step) /* 1,3,5 is shorter than 1-5:2 */
            last = first;
        xy_text_addf(&text, "%s%zu", text.length > 0 ? "," : "", first);
        if (last > first)
            xy_text_addf(&text, "-%zu", last);
        if (last > first && step > 1)
            xy_text_addf(&text, ":%zu", step);
    }
    if (text.failed)
        xy_text_cleanup(&text);
    return text.s;
}
