/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text: numbers read strictly, sizes and times written for people, the nearest word.
 */
#ifndef XY_BASE_TEXT_H
#define XY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The end of a noun that is counted: "1 rank", "2 ranks". */
static inline const char *xy_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* A growing string. `s` is always terminated once something was added; NULL while empty. When
 * memory runs out `failed` is set and later additions do nothing: check once, at the end. */
typedef struct {
    char *s;
    size_t length;
    size_t capacity;
    bool failed;
} xy_text_t;

#define XY_TEXT_INIT ((xy_text_t){0})
void xy_text_add(xy_text_t *text, const char *s);
void xy_text_add_bytes(xy_text_t *text, const char *s, size_t n);
void xy_text_addf(xy_text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xy_text_cleanup(xy_text_t *text);

/* The whole string must be one number in the C locale; false otherwise, in silence. Doubles must
 * be finite. Sizes take k, K, M, G, T (powers of 1024), with an optional "B" or "iB" behind. Times
 * are in seconds and take ns, us, ms, s, m, h. */
bool xy_parse_long(const char *s, long *value_p);
bool xy_parse_double(const char *s, double *value_p);
bool xy_parse_size(const char *s, uint64_t *value_p);
bool xy_parse_seconds(const char *s, double *value_p);

/* For people: "1.5 MiB", "3.25 us", "12.3 GB/s". `buffer` has 32 bytes; returned for printf. */
char *xy_format_size(uint64_t bytes, char buffer[32]);
char *xy_format_seconds(double seconds, char buffer[32]);
char *xy_format_bandwidth(double bytes_per_second, char buffer[32]);
/* The shortest text that reads back as the same double. */
char *xy_format_double(double value, char buffer[32]);

/* The word of `words` (NULL-terminated) nearest to `word`, or NULL when none is near enough to be
 * what a person meant. */
const char *xy_nearest_word(const char *word, const char *const *words);

/* Bytes (1 to 4) of the UTF-8 character at `s`; 0 when it is not valid: overlong forms, surrogates
 * and values beyond U+10FFFF are not. */
size_t xy_utf8_length(const char *s);

#endif
