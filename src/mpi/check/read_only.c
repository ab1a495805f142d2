/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel is asked for a page to write to, which costs little. Only where it refuses, the table
 * of mappings says why: a page of a guard (guard.h) cannot be read either, and none is a crash.
 */
#include "mpi/check/read_only.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/check/check.h"
#include "mpi/check/findings.h"
#include "mpi/check/guard.h"

/* MADV_POPULATE_READ, MADV_POPULATE_WRITE */
enum { READ = 22, WRITE = 23 };

/* May the page of the address be used in this way? */
static bool can_use(const void *address, int advice)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    return madvise((void *)((uintptr_t)address / page * page), page, advice) == 0;
}

bool check_can_write(const void *address)
{
    return can_use(address, WRITE);
}

/* Memory without gaps and with one kind of access, or (all 0) none. */
typedef struct {
    uintptr_t low, high;
    bool is_readable, is_writable;
} mapping_t;

/* The mapping of a byte, with those behind it that may be used alike. */
static mapping_t find_mapping(const char *address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[5];
    mapping_t found = {0}, next = {0};

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &next.low, &next.high, rights) != 3)
            continue;
        next.is_readable = rights[0] == 'r';
        next.is_writable = rights[1] == 'w';
        if ((uintptr_t)address >= next.low && (uintptr_t)address < next.high)
            found = next;
        else if (found.high == next.low && found.is_readable == next.is_readable &&
                 found.is_writable == next.is_writable)
            found.high = next.high;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* Report a buffer whose mapping may be read only. */
static void report_read_only(const mpi_rank_t *self, const char *address)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_READ_ONLY,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, NULL}};
    char here[160], what[200] = "";
    mpi_variable_t variable;

    if (mpi_finding_is_known(&finding))
        return;
    if (mpi_caller_variable(address, &variable))
        snprintf(what, sizeof(what), ": the variable '%s' of %zu bytes", variable.name,
                 variable.size);
    mpi_finding_add(&finding, "%s%s %s %s memory that cannot be written%s",
                    mpi_call_start_of(self->call.name), self->call.name,
                    check_place_text(self->call.caller, here),
                    check_area_verb(self->call.name, true), what);
}

/* Report a buffer that begins in `mapping` and ends behind it. */
static void report_end(const mpi_rank_t *self, const check_area_t *area, bool is_receive,
                       const mapping_t *mapping)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_TOO_SMALL,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, NULL}};
    char here[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding,
                    "%s%s %s %s mapped memory; its count and datatype reach %lld bytes beyond the "
                    "end of the mapping",
                    mpi_call_start_of(self->call.name), self->call.name,
                    check_place_text(self->call.caller, here),
                    check_area_verb(self->call.name, is_receive),
                    (long long)((uintptr_t)area->high - mapping->high));
}

static bool allows(const mapping_t *mapping, bool is_receive)
{
    return is_receive ? mapping->is_writable : mapping->is_readable;
}

void check_read_only_look(const mpi_rank_t *self, const check_area_t *area, bool is_receive)
{
    const char *last = area->high - 1;
    int use = is_receive ? WRITE : READ;
    mapping_t low, high;

    if ((can_use(area->low, use) && can_use(last, use)) || mpi_is_on_device(last) ||
        check_guard_has(area->low) || check_guard_has(last))
        return;
    low = find_mapping(area->low); /* a kernel that does not know the request has them all */
    high = find_mapping(last);
    if (is_receive && low.is_readable && !low.is_writable)
        report_read_only(self, area->low);
    else if (is_receive && high.is_readable && !high.is_writable)
        report_read_only(self, last);
    else if (allows(&low, is_receive) && !high.is_readable && (uintptr_t)last >= low.high &&
             !can_use(last, use)) /* no guard that was there a moment ago */
        report_end(self, area, is_receive, &low);
}
