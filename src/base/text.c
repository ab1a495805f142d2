/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Make room for `more` bytes and the final zero; false without memory, which marks the text as
 * failed. */
static bool text_make_room(xy_text_t *text, size_t more)
{
    size_t need, capacity;
    char *s;

    if (text->failed)
        return false;
    need = text->length + more + 1;
    if (need <= text->capacity)
        return true;
    capacity = text->capacity * 2 > need ? text->capacity * 2 : need + 32;
    s = xy_realloc(text->s, capacity);
    if (s == NULL) {
        text->failed = true;
        return false;
    }
    text->s = s;
    text->capacity = capacity;
    return true;
}

void xy_text_add_bytes(xy_text_t *text, const char *s, size_t n)
{
    if (!text_make_room(text, n))
        return;
    memcpy(text->s + text->length, s, n);
    text->length += n;
    text->s[text->length] = '\0';
}

void xy_text_add(xy_text_t *text, const char *s)
{
    xy_text_add_bytes(text, s, strlen(s));
}

void xy_text_addf(xy_text_t *text, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        text->failed = true;
        return;
    }
    if (!text_make_room(text, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(text->s + text->length, (size_t)n + 1, format, args);
    va_end(args);
    text->length += (size_t)n;
}

void xy_text_cleanup(xy_text_t *text)
{
    xy_free(text->s);
    *text = XY_TEXT_INIT;
}

bool xy_parse_long(const char *s, long *value_p)
{
    char *end;
    long value;

    if (!isdigit((unsigned char)s[0]) &&
        !((s[0] == '-' || s[0] == '+') && isdigit((unsigned char)s[1])))
        return false;
    errno = 0;
    value = strtol(s, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *value_p = value;
    return true;
}

/* The C locale's rules whatever the program's locale is. */
static locale_t c_locale(void)
{
    static locale_t locale;
    locale_t fresh, expected = 0;

    if (__atomic_load_n(&locale, __ATOMIC_ACQUIRE) == 0) {
        fresh = newlocale(LC_ALL_MASK, "C", 0);
        /* Release: the reader above sees a complete object. The loser of a race frees its own. */
        if (!__atomic_compare_exchange_n(&locale, &expected, fresh, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE) &&
            fresh != 0)
            freelocale(fresh);
    }
    return __atomic_load_n(&locale, __ATOMIC_ACQUIRE);
}

/* A decimal number at the start of `s`; *end_p is behind it. No hexadecimal, "inf" or "nan". */
static bool read_decimal(const char *s, double *value_p, const char **end_p)
{
    const char *digits = s + (*s == '-' || *s == '+');
    locale_t locale = c_locale();
    char *end;
    double value;

    if (!isdigit((unsigned char)digits[0]) &&
        !(digits[0] == '.' && isdigit((unsigned char)digits[1])))
        return false;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        return false;
    value = locale != 0 ? strtod_l(s, &end, locale) : strtod(s, &end);
    if (!isfinite(value))
        return false;
    *value_p = value;
    *end_p = end;
    return true;
}

bool xy_parse_double(const char *s, double *value_p)
{
    const char *end;
    double value;

    if (!read_decimal(s, &value, &end) || *end != '\0')
        return false;
    *value_p = value;
    return true;
}

/* The power of two of a unit such as "", "K", "KB" or "KiB"; -1: no unit. */
static int size_shift(const char *unit)
{
    static const char letters[] = "KMGT";
    const char *letter;
    int shift = 0;

    if (*unit != '\0' && *unit != 'B') {
        letter = strchr(letters, *unit == 'k' ? 'K' : *unit);
        if (letter == NULL)
            return -1;
        shift = 10 * (int)(letter - letters + 1);
        unit++;
        if (unit[0] == 'i' && unit[1] == 'B')
            unit++;
    }
    unit += *unit == 'B';
    return *unit == '\0' ? shift : -1;
}

bool xy_parse_size(const char *s, uint64_t *value_p)
{
    const char *end, *digits;
    unsigned long long whole;
    double value;
    int shift;

    if (!read_decimal(s, &value, &end) || *s == '-')
        return false;
    while (*end == ' ')
        end++;
    shift = size_shift(end);
    if (shift < 0)
        return false;
    /* Whole numbers are read exactly: a double has only 53 bits. */
    digits = s + (*s == '+');
    if (digits[strspn(digits, "0123456789")] != '.' &&
        digits[strspn(digits, "0123456789")] != 'e' &&
        digits[strspn(digits, "0123456789")] != 'E') {
        errno = 0;
        whole = strtoull(digits, NULL, 10);
        if (errno != 0 || whole > UINT64_MAX >> shift)
            return false;
        *value_p = (uint64_t)whole << shift;
        return true;
    }
    value = ldexp(value, shift);
    if (value >= 0x1p64)
        return false;
    *value_p = (uint64_t)(value + 0.5);
    return true;
}

bool xy_parse_seconds(const char *s, double *value_p)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
                 {"ns", 1e-9}, {"m", 60}, {"h", 3600}};
    const char *end;
    double value;

    if (!read_decimal(s, &value, &end))
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].name) == 0 && isfinite(value * units[i].factor)) {
            *value_p = value * units[i].factor;
            return true;
        }
    return false;
}

/* Three significant digits without trailing zeros: 1.5, 12.3, 123, 1023. */
static char *format_scaled(double value, const char *unit, char buffer[32])
{
    double magnitude = fabs(value);
    int digits = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
    int n = snprintf(buffer, 32, "%.*f", digits, value);

    if (n > 0 && n < 32 && digits > 0) {
        while (buffer[n - 1] == '0')
            n--;
        n -= buffer[n - 1] == '.' || buffer[n - 1] == ',';
    }
    if (n > 0 && n < 32)
        snprintf(buffer + n, (size_t)(32 - n), " %s", unit);
    return buffer;
}

char *xy_format_size(uint64_t bytes, char buffer[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    /* 1023.5 KiB would be printed as "1024 KiB": it is 1 MiB. */
    while (value >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    return format_scaled(value, units[unit], buffer);
}

char *xy_format_seconds(double seconds, char buffer[32])
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    size_t unit = 0;

    if (!isfinite(seconds) || fabs(seconds) >= 1e15) {
        snprintf(buffer, 32, "%g s", seconds);
        return buffer;
    }
    /* 999.5 us would be printed as "1000 us": it is 1 ms. */
    while (seconds != 0 && fabs(seconds) < 0.9995 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        seconds *= 1000;
        unit++;
    }
    return format_scaled(seconds, units[unit], buffer);
}

char *xy_format_bandwidth(double bytes_per_second, char buffer[32])
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"};
    double value = bytes_per_second;
    size_t unit = 0;

    if (!isfinite(value) || fabs(value) >= 1e21) {
        snprintf(buffer, 32, "%g B/s", value);
        return buffer;
    }
    while (fabs(value) >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1000;
        unit++;
    }
    return format_scaled(value, units[unit], buffer);
}

char *xy_format_double(double value, char buffer[32])
{
    /* If fewer than 15 digits are enough, 15 give the same text: %g drops the zeros. That does
     * not hold for subnormal numbers, which have fewer digits. */
    int digits = fabs(value) < DBL_MIN ? 1 : 15;
    char *point;

    for (; digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    /* A locale may have put a comma. */
    point = strchr(buffer, ',');
    if (point != NULL)
        *point = '.';
    return buffer;
}

enum { LONGEST_WORD = 63 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t d = a < b ? a : b;

    return d < c ? d : c;
}

/* Edits (insert, delete, replace, swap of neighbours, case) that make `a` of `b`. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_WORD + 1];
    size_t *two_back = rows[0], *previous = rows[1], *row = rows[2], *unused;
    size_t na = strlen(a), nb = strlen(b);

    for (size_t j = 0; j <= nb; j++)
        previous[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);

            row[j] = least(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two_back[j - 2] + 1 < row[j])
                row[j] = two_back[j - 2] + 1;
        }
        unused = two_back;
        two_back = previous;
        previous = row;
        row = unused;
    }
    return previous[nb];
}

const char *xy_nearest_word(const char *word, const char *const *words)
{
    size_t length = strlen(word);
    size_t best = SIZE_MAX, distance;
    const char *nearest = NULL;

    if (length == 0 || length > LONGEST_WORD)
        return NULL;
    for (; *words != NULL; words++) {
        if (strlen(*words) > LONGEST_WORD)
            continue;
        distance = edit_distance(word, *words);
        /* A beginning of at least three letters counts as near: "mach" means "machine". */
        if (length >= 3 && strncasecmp(*words, word, length) == 0 && distance > 1)
            distance = 1;
        if (distance < best) {
            best = distance;
            nearest = *words;
        }
    }
    /* A third of the letters may be wrong; in short words one. */
    return best <= (length < 6 ? 1 : length / 3) ? nearest : NULL;
}

size_t xy_utf8_length(const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return n;
}
