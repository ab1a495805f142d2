/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/dynamic/place.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { JOB_DIGITS = 16 };

void dynamic_place_print(const dynamic_place_t *place, const char *prefix, char text[PLACE_TEXT])
{
    int used = snprintf(text, PLACE_TEXT, "%.64s:%016" PRIx64 ":%d:%" PRIu32, prefix, place->job,
                        place->rank, place->context);
    size_t size, room;

    if (place->secret[0] == '\0')
        return;
    used +=
        snprintf(text + used, PLACE_TEXT - (size_t)used, ":%d:%s:", place->process, place->secret);
    room = PLACE_TEXT - 1 - (size_t)used;
    size = strlen(place->card);
    if (size > room) /* whole addresses only */
        for (size = room; size > 0 && place->card[size] != ' ';)
            size--;
    for (size_t i = 0; i < size; i++)
        text[used + (int)i] = place->card[i] == ' ' ? ',' : place->card[i];
    text[used + (int)size] = '\0';
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `count` hexadecimal digits; what follows them, or NULL. */
static const char *read_hex(const char *text, int count, uint64_t *value_p)
{
    *value_p = 0;
    for (int i = 0; i < count; i++) {
        if (digit_of(text[i]) < 0)
            return NULL;
        *value_p = *value_p << 4 | (unsigned)digit_of(text[i]);
    }
    return text + count;
}

/* A number of one form only: no sign, no zeros before it. */
static const char *read_number(const char *text, uint64_t most, uint64_t *value_p)
{
    const char *at = text;

    *value_p = 0;
    while (*at >= '0' && *at <= '9' && *value_p <= most)
        *value_p = *value_p * 10 + (unsigned)(*at++ - '0');
    if (at == text || *value_p > most || (text[0] == '0' && at != text + 1))
        return NULL;
    return at;
}

static bool read_card(const char *text, char card[PLACE_CARD])
{
    size_t size = strspn(text, "0123456789abcdefABCDEF.:,%");

    if (size == 0 || size >= PLACE_CARD || text[size] != '\0')
        return false;
    for (size_t i = 0; i <= size; i++)
        card[i] = (char)(text[i] == ',' ? ' ' : text[i]);
    return true;
}

bool dynamic_place_parse(const char *text, const char *prefix, dynamic_place_t *place)
{
    size_t n = strlen(prefix);
    uint64_t number, unused;
    const char *at;

    *place = (dynamic_place_t){.job = 0};
    if (strncmp(text, prefix, n) != 0 || text[n] != ':')
        return false;
    at = read_hex(text + n + 1, JOB_DIGITS, &place->job);
    if (at == NULL || *at != ':' || (at = read_number(at + 1, INT_MAX, &number)) == NULL ||
        *at != ':')
        return false;
    place->rank = (int)number;
    at = read_number(at + 1, UINT32_MAX, &number);
    if (at == NULL)
        return false;
    place->context = (uint32_t)number;
    if (*at == '\0')
        return true;
    if (*at != ':' || (at = read_number(at + 1, INT_MAX, &number)) == NULL || *at != ':' ||
        read_hex(at + 1, PLACE_SECRET - 1, &unused) == NULL)
        return false;
    place->process = (int)number;
    memcpy(place->secret, at + 1, PLACE_SECRET - 1);
    at += PLACE_SECRET;
    return *at == ':' && read_card(at + 1, place->card);
}
