/* SPDX-License-Identifier: BSD-3-Clause */
/* The info key "soft": "1,4,8:16:2". */
#include <limits.h>

#include "mpi/dynamic/dynamic.h"

/* A number, which `*text_p` then is behind. False: there is none, or it is too large. */
static bool read_number(const char **text_p, int *value_p)
{
    const char *text = *text_p;
    bool is_negative = *text == '-';
    long value = 0;

    text += is_negative;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = 10 * value + (*text - '0');
        if (value > INT_MAX)
            return false;
    }
    *text_p = text;
    *value_p = (int)(is_negative ? -value : value);
    return true;
}

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* The largest of from, from + step, ... that is not beyond `to`, and is 1 to `most`; -1: none. */
static int largest(long from, long to, long step, int most)
{
    long low = step > 0 ? from : to, high = step > 0 ? to : from, size = step > 0 ? step : -step;
    long first, top = high < most ? high : most;

    if (low > high)
        return -1;
    if (step < 0) /* the numbers are counted from the upper end */
        low = high - (high - low) / size * size;
    first = low;
    if (top < first)
        return -1;
    top = first + (top - first) / size * size;
    return top >= 1 ? (int)top : -1;
}

int dynamic_soft(const char *text, int most)
{
    int best = -1;

    for (text = skip_blanks(text);; text = skip_blanks(text + 1)) {
        int part[3], count = 0, found;

        do {
            text = skip_blanks(text + (count > 0));
            if (count == 3 || !read_number(&text, &part[count]))
                return -2;
            count++;
            text = skip_blanks(text);
        } while (*text == ':');
        if (count == 3 && part[2] == 0)
            return -2;
        found = largest(part[0], count > 1 ? part[1] : part[0], count > 2 ? part[2] : 1, most);
        best = found > best ? found : best;
        if (*text == '\0')
            return best;
        if (*text != ',')
            return -2;
    }
}
