/* SPDX-License-Identifier: BSD-3-Clause */
/* Latencies, bandwidths and sizes as they stand in files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_internal.h"

typedef struct {
    const char *name;
    double factor;
} unit_t;

/* Networks are sold in decimal units; the binary ones are there for memories. Larger first: the
 * writer takes the first that gives a number of at least 1. */
static const unit_t bandwidth_units[] = {
    {"TB/s", 1e12},
    {"GB/s", 1e9},
    {"MB/s", 1e6},
    {"kB/s", 1e3},
    {"KB/s", 1e3},
    {"GiB/s", 1073741824.0},
    {"MiB/s", 1048576.0},
    {"KiB/s", 1024.0},
    {"kiB/s", 1024.0},
    {"Tbit/s", 1e12 / 8},
    {"Gbit/s", 1e9 / 8},
    {"Mbit/s", 1e6 / 8},
    {"Tb/s", 1e12 / 8},
    {"Gb/s", 1e9 / 8},
    {"Mb/s", 1e6 / 8},
    {"Gbps", 1e9 / 8},
    {"Mbps", 1e6 / 8},
    {"B/s", 1},
    {"TiB/s", 1099511627776.0},
};

/* Dividing by a power of ten rounds once, so that "9.5us" is the same number as 9.5e-6. */
bool machine_parse_latency(const char *s, double *seconds_p)
{
    static const unit_t units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}};
    size_t length = strlen(s);
    double v, divisor = 0;
    char number[64];

    for (size_t i = 0; i < 3; i++)
        if (length > 2 && strcmp(s + length - 2, units[i].name) == 0)
            divisor = units[i].factor;
    if (divisor > 0 && length - 2 < sizeof(number)) {
        length -= 2;
        while (length > 0 && s[length - 1] == ' ')
            length--;
        memcpy(number, s, length);
        number[length] = '\0';
        if (!xy_parse_double(number, &v))
            return false;
        v /= divisor;
    } else if (!xy_parse_seconds(s, &v)) {
        return false;
    }
    if (!isfinite(v) || signbit(v))
        return false;
    *seconds_p = v;
    return true;
}

bool machine_parse_bandwidth(const char *s, double *bytes_per_second_p)
{
    size_t length = strlen(s);
    char number[64];
    double v, factor = 1;

    for (size_t i = 0; i < sizeof(bandwidth_units) / sizeof(*bandwidth_units); i++) {
        size_t n = strlen(bandwidth_units[i].name);

        /* "5MB/s" also ends in "B/s": a unit counts when a digit, a point or a space is before. */
        if (length > n && strcmp(s + length - n, bandwidth_units[i].name) == 0 &&
            strchr("0123456789. ", s[length - n - 1]) != NULL) {
            factor = bandwidth_units[i].factor;
            length -= n;
            break;
        }
    }
    while (length > 0 && s[length - 1] == ' ')
        length--;
    if (length == 0 || length >= sizeof(number))
        return false;
    memcpy(number, s, length);
    number[length] = '\0';
    if (!xy_parse_double(number, &v) || !(v * factor > 0) || !isfinite(v * factor))
        return false;
    *bytes_per_second_p = v * factor;
    return true;
}

char *machine_format_latency(double seconds, char buffer[48])
{
    static const unit_t units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    double back;
    char plain[32];

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (seconds < units[i].factor)
            continue;
        snprintf(buffer, 48, "%.10g%s", seconds / units[i].factor, units[i].name);
        if (machine_parse_latency(buffer, &back) && back == seconds)
            return buffer;
        break;
    }
    snprintf(buffer, 48, "%s", xy_format_double(seconds, plain));
    return buffer;
}

char *machine_format_bandwidth(double bytes_per_second, char buffer[48])
{
    double back;
    char plain[32];

    for (size_t i = 0; i < 4; i++) {
        if (bytes_per_second < bandwidth_units[i].factor)
            continue;
        snprintf(buffer, 48, "%.10g%s", bytes_per_second / bandwidth_units[i].factor,
                 bandwidth_units[i].name);
        if (machine_parse_bandwidth(buffer, &back) && back == bytes_per_second)
            return buffer;
        break;
    }
    snprintf(buffer, 48, "%s", xy_format_double(bytes_per_second, plain));
    return buffer;
}

char *machine_format_bytes(uint64_t bytes, char buffer[48])
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;

    while (i < 4 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    snprintf(buffer, 48, "%llu%s", (unsigned long long)bytes, units[i]);
    return buffer;
}
