/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks and MPIs that no library stands in for (translation.h). A rank may load the library of such
 * an MPI, by itself or with a plug-in; initialised, it would be a job of its own in every rank. So
 * the functions that do that refuse the job. What only links such a library, and never initialises
 * it, runs.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "launch/end_job.h"
#include "launch/other_mpi.h"
#include "launch/translation.h"

static char found_library[256];

static const char *program_name(void)
{
    const process_t *self = process_self;

    return self != NULL && self->argc > 0 ? self->argv[0] : "the program";
}

/* Report the refusal, once, and end the job. */
static void refuse(void)
{
    mpi_finish_claim_report();
    xy_fail(XY_EUNSUPPORTED, XMPI_OTHER_REFUSED, program_name(), found_library);
    mpi_finish_job(1);
}

void *mpi_foreign_guard(const char *library, const char *name)
{
    if (!mpi_other_is_init(name) || !mpi_other_is_library(library))
        return NULL;
    if (found_library[0] == '\0')
        snprintf(found_library, sizeof(found_library), "%s", library);
    return (void *)refuse;
}

void *mpi_foreign_guard_shared(const char *name, void *found)
{
    struct link_map *map = NULL;
    Dl_info info;
    void *guard = found != NULL && mpi_job->size > 1 &&
                          dladdr1(found, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 &&
                          !mpi_translation_is(map->l_name)
                      ? mpi_foreign_guard(mpi_other_name(map), name)
                      : NULL;

    return guard != NULL ? guard : found;
}
