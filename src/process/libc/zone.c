/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dates and times: static answers per process, in the process's own time zone.
 *
 * The C library knows one zone, that of the variable TZ in its own environment. Before it converts
 * a time for a process, it is given that process's; it reads the zone's file only when the name
 * changes.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_known;
static char *zone_now; /* the C library's current TZ; NULL: none */

static void lock_zone(void)
{
    process_block_lock(&lock);
}

static void plain_tzset(void)
{
    XY_NEXT(tzset)();
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Change the C library's own environment. */
static void set_zone(const char *zone)
{
    if (zone != NULL)
        XY_NEXT(setenv)("TZ", zone, 1);
    else
        XY_NEXT(unsetenv)("TZ");
    xy_free(zone_now);
    zone_now = zone != NULL ? xy_strdup(zone) : NULL;
    is_known = zone == NULL || zone_now != NULL;
}

/* The variables of the C library, as this process sees them. */
static void show(process_t *process)
{
    memcpy(process->variables[PROCESS_VARIABLE_TZNAME], tzname, sizeof(tzname));
    PROCESS_VARIABLE(process, long, PROCESS_VARIABLE_TIMEZONE) = timezone;
    PROCESS_VARIABLE(process, int, PROCESS_VARIABLE_DAYLIGHT) = daylight;
}

/* Called with the lock held. */
static void enter_zone(process_t *process)
{
    const char *zone = process_environment_get(process, "TZ", 2);

    if (!is_known || !is_same(zone, zone_now))
        set_zone(zone);
    plain_tzset();
    show(process);
}

XY_INTERPOSE void tzset(void)
{
    process_t *process = process_self;

    if (process == NULL) {
        plain_tzset();
        return;
    }
    lock_zone();
    enter_zone(process);
    process_block_unlock(&lock);
}

XY_INTERPOSE struct tm *localtime_r(const time_t *when, struct tm *result)
{
    process_t *process = process_self;
    struct tm *answer;

    if (process == NULL)
        return XY_NEXT(localtime_r)(when, result);
    lock_zone();
    enter_zone(process);
    answer = XY_NEXT(localtime_r)(when, result);
    process_block_unlock(&lock);
    return answer;
}

XY_INTERPOSE time_t mktime(struct tm *tm)
{
    process_t *process = process_self;
    time_t when;

    if (process == NULL)
        return XY_NEXT(mktime)(tm);
    lock_zone();
    enter_zone(process);
    when = XY_NEXT(mktime)(tm);
    process_block_unlock(&lock);
    return when;
}

XY_INTERPOSE time_t timelocal(struct tm *tm)
{
    return mktime(tm);
}

XY_INTERPOSE struct tm *gmtime(const time_t *when)
{
    process_t *process = process_self;

    return process == NULL ? XY_NEXT(gmtime)(when) : gmtime_r(when, &process->time);
}

XY_INTERPOSE struct tm *localtime(const time_t *when)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(localtime)(when);
    return localtime_r(when, &process->time);
}

XY_INTERPOSE char *asctime(const struct tm *tm)
{
    process_t *process = process_self;

    return process == NULL ? XY_NEXT(asctime)(tm) : asctime_r(tm, process->time_text);
}

XY_INTERPOSE char *ctime(const time_t *when)
{
    return asctime(localtime(when));
}

XY_INTERPOSE char *ctime_r(const time_t *when, char *text)
{
    struct tm tm;

    return localtime_r(when, &tm) != NULL ? asctime_r(&tm, text) : NULL;
}
