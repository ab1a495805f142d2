/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last accesses of the ranks of this process to files that they have opened together. Two that
 * meet in a byte conflict if one of them writes and the second rank has heard of nothing since the
 * first (order.h). A file is known by the context of its communicator, which is never used again.
 *
 * Clocks of several processes are not the same: there two accesses conflict that follow the same
 * barrier, or belong to the same collective access. They are compared when the file is closed.
 */
#include "mpi/check/shared_files.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

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
    check_meeting_t after; /* of several processes: the barrier before it */
    uint64_t turn;         /* names a collective access; 0: it is none */
    uint64_t hash;         /* of all data that the access writes */
    const char *call;
    const void *site;
} run_t;

typedef struct file {
    LIST_ENTRY(file) link;
    uint32_t context;
    check_spans_t spans;
    run_t *runs[KEPT]; /* the next one replaces the oldest */
    size_t next;
    int closed; /* members here */
} file_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, file) files; /* that are open and have been accessed */

/* With the lock held. NULL: it is not known. */
static file_t *find_file(uint32_t context)
{
    file_t *file;

    LIST_FOREACH(file, &files, link)
    if (file->context == context)
        return file;
    return NULL;
}

/* With the lock held. NULL: memory ran out, and nothing is compared. */
static file_t *make_file(uint32_t context)
{
    file_t *file = find_file(context);

    if (file != NULL)
        return file;
    file = xy_calloc(1, sizeof(*file));
    if (file == NULL)
        return NULL;
    file->context = context;
    LIST_INSERT_HEAD(&files, file, link);
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

/* A collective read and a collective write: the members do not agree, which is reported. */
static bool is_disagreement(const run_t *a, const run_t *b)
{
    return a->turn != 0 && b->turn != 0 && a->is_write != b->is_write;
}

static bool compare(check_span_t *span, void *argument)
{
    const run_t *before = (const run_t *)span;
    search_t *search = argument;

    if (before->rank != search->now->rank && (before->is_write || search->now->is_write) &&
        search->heard < before->time && !is_same_data(before, search->now) &&
        !is_disagreement(before, search->now))
        search->found = before;
    return search->found == NULL;
}

/* The other access of a report. */
typedef struct {
    int rank;
    const char *low; /* the first byte */
    const char *call, *place;
    const void *site; /* NULL: in another process */
} other_t;

/* Report two accesses; nothing is locked, as a finding may end the job. */
static void report(const run_t *now, const other_t *other, const char *name)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_FILE_CONFLICT,
                             .rank = now->rank,
                             .other = other->rank,
                             .sites = {now->site, other->site}};
    const char *low = now->span.low > other->low ? now->span.low : other->low;
    char here[CHECK_TEXT_SIZE];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding,
                    "%s %s and %s of rank %d %s use the same byte %lld of '%s', and nothing orders "
                    "them; put MPI_File_sync, MPI_Barrier and MPI_File_sync between them, or use "
                    "MPI_File_set_atomicity",
                    now->call, check_place_text(now->site, here), other->call, other->rank,
                    other->place, (long long)(uintptr_t)low, name);
}

static void report_here(const run_t *now, const run_t *before, const char *name)
{
    char place[CHECK_TEXT_SIZE];
    other_t other = {.rank = before->rank,
                     .low = before->span.low,
                     .call = before->call,
                     .place = check_place_text(before->site, place),
                     .site = before->site};

    report(now, &other, name);
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

/* Compare one run with those of others, in one process, and keep it. False: it has a conflict,
 * which is *before. */
static bool add(file_t *file, const run_t *now, uint64_t heard, run_t *before)
{
    search_t search = {.now = now, .heard = heard};

    if (mpi_job->processes == 1)
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

/* The name of the next collective access of a member: they have the same numbers. */
static uint64_t turn_of(const mpi_rank_t *self)
{
    const mpi_file_t *file = (const mpi_file_t *)self->call.comm->file;

    return strstr(self->call.name, "_all") != NULL ? xy_hash_u64(file->collectives) | 1 : 0;
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

    if (access->is_atomic || access->bytes == 0 || self->call.comm == NULL ||
        self->call.comm->size == 1 || strstr(self->call.name, "_ordered") != NULL)
        return;
    now.time = check_order_now();
    now.after = check_order_barrier(self);
    now.turn = turn_of(self);
    now.hash = access->is_write ? check_area_hash(&data) : 0;
    pthread_mutex_lock(&lock);
    file = make_file(self->call.comm->context);
    if (file != NULL)
        is_right = add_runs(file, access, &now, heard, &before);
    pthread_mutex_unlock(&lock);
    if (!is_right)
        report_here(&now, &before, access->shared->name);
}

/* ---- Between processes ---- */

/* A run of a member, and the last runs of one. */
typedef struct {
    int64_t low, high;
    check_meeting_t after;
    uint64_t turn, hash;
    int rank;
    bool is_write;
    char call[40], place[CHECK_TEXT_SIZE];
} far_run_t;

typedef struct {
    int64_t count;
    far_run_t runs[];
} far_list_t;

/* `last`: the one before it in the list, which mostly has its place; or NULL. */
static void describe(far_run_t *far, const run_t *run, const run_t *last, const far_run_t *last_far)
{
    char place[CHECK_TEXT_SIZE];

    *far = (far_run_t){.low = (int64_t)(uintptr_t)run->span.low,
                       .high = (int64_t)(uintptr_t)run->span.high,
                       .after = run->after,
                       .turn = run->turn,
                       .hash = run->hash,
                       .rank = run->rank,
                       .is_write = run->is_write};
    snprintf(far->call, sizeof(far->call), "%s", run->call);
    snprintf(far->place, sizeof(far->place), "%s",
             last != NULL && last->site == run->site ? last_far->place
                                                     : check_place_text(run->site, place));
}

/* The last `most` runs of a rank that others can be compared with; NULL: no memory. */
static far_list_t *list_runs(const file_t *file, int rank, size_t most)
{
    far_list_t *list = xy_calloc(1, sizeof(*list) + most * sizeof(list->runs[0]));
    const run_t *run, *last = NULL;

    for (size_t i = 1; list != NULL && i <= KEPT && (size_t)list->count < most; i++) {
        run = file->runs[(file->next + KEPT - i) % KEPT];
        if (run == NULL || run->rank != rank || (run->after.number == 0 && run->turn == 0))
            continue;
        describe(&list->runs[list->count], run, last, &list->runs[list->count - 1]);
        list->count++;
        last = run;
    }
    return list;
}

/* A search for an own run that conflicts with one of another rank. */
typedef struct {
    const far_run_t *far;
    int rank;
    run_t found;
} far_search_t;

static bool has_no_order(const run_t *own, const far_run_t *far)
{
    return (own->turn != 0 && own->turn == far->turn) ||
           (own->after.number != 0 && own->after.number == far->after.number &&
            own->after.comm == far->after.comm);
}

/* Does an own run conflict with the other? False ends the search. */
static bool compare_far(check_span_t *span, void *argument)
{
    const run_t *own = (const run_t *)span;
    far_search_t *search = argument;
    const far_run_t *far = search->far;
    bool is_same = own->is_write && far->is_write && own->hash == far->hash &&
                   (uintptr_t)own->span.low == (uintptr_t)far->low &&
                   (uintptr_t)own->span.high == (uintptr_t)far->high;

    if (own->rank == search->rank && (own->is_write || far->is_write) && !is_same &&
        has_no_order(own, far))
        search->found = *own;
    return search->found.call == NULL;
}

/* Compare the runs of a member, of this process or not, with those of a higher rank here; the first
 * ones, which are the last of the list, first. */
static void compare_list(const file_t *file, const far_list_t *list, int rank, const char *name)
{
    for (int64_t i = list->count - 1; i >= 0 && list->runs[i].rank < rank; i--) {
        const far_run_t *far = &list->runs[i];
        far_search_t search = {.far = far, .rank = rank};
        other_t other = {.rank = far->rank,
                         .low = (const char *)(uintptr_t)far->low,
                         .call = far->call,
                         .place = far->place};

        check_spans_each(file->spans, (const char *)(uintptr_t)far->low,
                         (const char *)(uintptr_t)far->high, compare_far, &search);
        if (search.found.call != NULL)
            report(&search.found, &other, name);
    }
}

/* The runs of all members, which change no more. Without memory the others get an empty list. */
static void exchange(const mpi_file_t *given, const file_t *file)
{
    enum { LEAST = 16 };
    size_t size = (size_t)given->comm->size, most = KEPT / size, stride;
    int rank = given->owner->world;
    far_list_t none = {.count = 0};
    far_list_t *own = list_runs(file, rank, most > LEAST ? most : LEAST);
    const far_list_t *sent = own != NULL ? own : &none;
    char *all;

    all = mpi_spread_exchange(given->comm, sent,
                              sizeof(none) + (size_t)sent->count * sizeof(none.runs[0]), &stride);
    xy_free(own);
    for (size_t r = 0; r < size; r++)
        compare_list(file, (const far_list_t *)(const void *)(all + r * stride), rank,
                     given->shared->name);
    xy_free(all);
}

static void forget(file_t *file)
{
    for (size_t i = 0; i < KEPT; i++)
        xy_free(file->runs[i]);
    xy_free(file);
}

void check_shared_files_close(const mpi_file_t *given)
{
    static const file_t none;
    file_t *file;
    bool is_last;

    pthread_mutex_lock(&lock);
    file = find_file(given->comm->context);
    pthread_mutex_unlock(&lock);
    if (io_is_spread(given) && !mpi_survives)
        exchange(given, file != NULL ? file : &none);
    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    is_last = ++file->closed == given->here->size;
    if (is_last)
        LIST_REMOVE(file, link);
    pthread_mutex_unlock(&lock);
    if (is_last)
        forget(file);
}
