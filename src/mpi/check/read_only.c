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

bool check_can_write(const void *address)
{
    const int populate_write = 23; /* MADV_POPULATE_WRITE */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    return madvise((void *)((uintptr_t)address / page * page), page, populate_write) == 0;
}

/* Is the byte in a mapping that may be read, and not written? */
static bool is_mapped_read_only(const char *address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[5] = "";
    uintptr_t low, high;
    bool is_found = false;

    while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL)
        is_found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &low, &high, rights) == 3 &&
                   (uintptr_t)address >= low && (uintptr_t)address < high;
    if (maps != NULL)
        fclose(maps);
    return is_found && rights[0] == 'r' && rights[1] == '-';
}

static bool is_read_only(const char *address)
{
    return !check_can_write(address) && is_mapped_read_only(address);
}

void check_read_only_look(const mpi_rank_t *self, const check_area_t *area)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_READ_ONLY,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, NULL}};
    bool is_first = is_read_only(area->low);
    char here[160], what[200] = "";
    mpi_variable_t variable;

    if ((!is_first && !is_read_only(area->high - 1)) || mpi_finding_is_known(&finding))
        return;
    if (mpi_caller_variable(is_first ? area->low : area->high - 1, &variable))
        snprintf(what, sizeof(what), ": the variable '%s' of %zu bytes", variable.name,
                 variable.size);
    mpi_finding_add(&finding, "%s%s %s receives into memory that cannot be written%s",
                    mpi_call_start_of(self->call.name), self->call.name,
                    check_place_text(self->call.caller, here), what);
}
