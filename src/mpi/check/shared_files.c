/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last accesses of the ranks of this process to files that they have opened together. Two that
 * meet in a byte conflict if one of them writes and the second rank has heard of nothing since the
 * first (order.h). A file is known by the context of its communicator, which is never used again.
 */
#include "mpi/check/shared_files.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/check/findings.h"
#include "mpi/check/order.h"
#include "mpi/check/span.h"

/* Runs of bytes of one access that are compared, and those of all accesses to one file. */
enum { RUNS = 256, KEPT = 4096 };

/* A run of bytes; its span has offsets in the file in place of addresses. */
typedef struct {
    check_span_t span; /* first */
    int rank;
    bool is_write;
    uint64_t time;
    uint64_t hash; /* of all data that the access writes */
    const char *call;
    const void *site;
} run_t;

typedef struct {
    check_spans_t spans;
    run_t *runs[KEPT]; /* the next one replaces the oldest */
    size_t next;
} file_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static xy_hash_t *files; /* of file_t, by context */

/* With the lock held. NULL: memory ran out, and nothing is compared. */
static file_t *find_file(uint32_t context)
{
    file_t *file;

    if (files == NULL) {
        files = xy_malloc(sizeof(*files));
        if (files == NULL)
            return NULL;
        xy_hash_init(files, XY_HASH_U64);
    }
    file = xy_hash_get(files, context);
    if (file != NULL)
        return file;
    file = xy_calloc(1, sizeof(*file));
    if (file != NULL && xy_hash_set(files, context, file) != XY_OK) {
        xy_free(file);
        file = NULL;
    }
    return file;
}

/* The first conflict of a run. */
typedef struct {
    const run_t *now, *found;
    uint64_t heard;
} search_t;

/* Do both write the same data, as a header that each rank knows? Then their order is all one. */
static bool is_same_data(const run_t *a, const run_t *b)
{
    return a->is_write && b->is_write && a->hash == b->hash && a->span.low == b->span.low &&
           a->span.high == b->span.high;
}

static bool compare(check_span_t *span, void *argument)
{
    const run_t *before = (const run_t *)span;
    search_t *search = argument;

    if (before->rank != search->now->rank && (before->is_write || search->now->is_write) &&
        search->heard < before->time && !is_same_data(before, search->now))
        search->found = before;
    return search->found == NULL;
}

/* Report two accesses; nothing is locked, as a finding may end the job. */
static void report(const run_t *now, const run_t *before, const char *name)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_FILE_CONFLICT,
                             .rank = now->rank,
                             .other = before->rank,
                             .sites = {now->site, before->site}};
    const char *low = now->span.low > before->span.low ? now->span.low : before->span.low;
    char here[160], there[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding,
                    "%s %s and %s of rank %d %s use the same byte %lld of '%s', and nothing orders "
                    "them; put MPI_File_sync, MPI_Barrier and MPI_File_sync between them, or use "
                    "MPI_File_set_atomicity",
                    now->call, check_place_text(now->site, here), before->call, before->rank,
                    check_place_text(before->site, there), (long long)(uintptr_t)low, name);
}

/* Keep a run in place of the oldest one. */
static void keep(file_t *file, const run_t *now)
{
    run_t **slot = &file->runs[file->next];

    if (*slot != NULL)
        check_spans_remove(&file->spans, &(*slot)->span);
    else
        *slot = xy_malloc(sizeof(**slot));
    if (*slot == NULL)
        return;
    **slot = *now;
    check_spans_add(&file->spans, &(*slot)->span);
    file->next = (file->next + 1) % KEPT;
}

/* Compare one run with those of others and keep it. False: it has a conflict, which is *before. */
static bool add(file_t *file, const run_t *now, uint64_t heard, run_t *before)
{
    search_t search = {.now = now, .heard = heard};

    check_spans_each(file->spans, now->span.low, now->span.high, compare, &search);
    if (search.found != NULL)
        *before = *search.found;
    else
        keep(file, now);
    return search.found == NULL;
}

static check_span_t span_of(int64_t offset, int64_t bytes)
{
    return (check_span_t){.low = (const char *)(uintptr_t)offset,
                          .high = (const char *)(uintptr_t)(offset + bytes)};
}

/* All runs of an access, as far as they are compared. False: the last one has a conflict. */
static bool add_runs(file_t *file, const io_access_t *access, run_t *now, uint64_t heard,
                     run_t *before)
{
    const io_view_t *view = access->view;
    size_t left = access->bytes, length;
    io_walk_t walk;

    if (view->is_plain) {
        now->span = span_of(view->disp + access->at, (int64_t)left);
        return add(file, now, heard, before);
    }
    io_walk_begin(&walk, view, access->at);
    for (int i = 0; i < RUNS && left > 0; i++, left -= length) {
        int64_t offset = io_walk_run(&walk, &length);

        length = length < left ? length : left;
        now->span = span_of(offset, (int64_t)length);
        if (!add(file, now, heard, before))
            return false;
        io_walk_advance(&walk, length);
    }
    return true;
}

/* Ordered accesses get their place later. */
void check_shared_files_access(const mpi_rank_t *self, const io_access_t *access)
{
    run_t before, now = {.rank = self->world,
                         .is_write = access->is_write,
                         .call = self->call.name,
                         .site = self->call.caller};
    check_area_t data = check_area_make(access->memory, access->count, access->type);
    uint64_t heard = check_order_heard(self);
    bool is_right = true;
    file_t *file;

    if (access->is_atomic || access->bytes == 0 || mpi_job->processes > 1 ||
        self->call.comm == NULL || self->call.comm->size == 1 ||
        strstr(self->call.name, "_ordered") != NULL)
        return;
    now.time = check_order_now();
    now.hash = access->is_write ? check_area_hash(&data) : 0;
    pthread_mutex_lock(&lock);
    file = find_file(self->call.comm->context);
    if (file != NULL)
        is_right = add_runs(file, access, &now, heard, &before);
    pthread_mutex_unlock(&lock);
    if (!is_right)
        report(&now, &before, access->shared->name);
}
