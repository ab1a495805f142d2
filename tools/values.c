/* SPDX-License-Identifier: BSD-3-Clause */
#include "values.h"

#include <string.h>

xy_status_t values_fail(const char *option, const char *text)
{
    return xy_fail(XY_EUSAGE,
                   "%s '%s': write NAME=VALUES, as in n=1000,2000 or P=1..64*2 or "
                   "n=100..500+100",
                   option, text);
}

xy_status_t values_add(xy_vec_t *values, const char *item, const char *option, const char *text)
{
    char copy[128], *dots, *sign;
    double low, high, by = 1;
    bool is_factor;

    snprintf(copy, sizeof(copy), "%s", item);
    dots = strstr(copy, "..");
    sign = dots != NULL ? strpbrk(dots + 2, "*+") : NULL;
    is_factor = sign != NULL && *sign == '*';
    if (sign != NULL) {
        if (!xy_parse_double(sign + 1, &by))
            return values_fail(option, text);
        *sign = '\0';
    }
    if (dots != NULL)
        *dots = '\0';
    if (!xy_parse_double(copy, &low) || (dots != NULL && !xy_parse_double(dots + 2, &high)))
        return values_fail(option, text);
    if (dots == NULL)
        high = low;
    if (!(by > (is_factor ? 1 : 0)) || (is_factor && !(low > 0)))
        return values_fail(option, text);
    for (double x = low; x <= high * (1 + 1e-12); x = is_factor ? x * by : x + by) {
        if (values->count >= VALUES_MAX || xy_vec_append(values, &x) != XY_OK)
            return xy_fail(XY_ELIMIT, "%s '%s': too many values", option, text);
        if (dots == NULL)
            break;
    }
    return XY_OK;
}
