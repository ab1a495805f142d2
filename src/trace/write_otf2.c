/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2, the format of Score-P, Vampir and Scalasca: a directory with the archive `traces.otf2`.
 *
 * Where a trace knows what ranks did, its locations are the ranks: regions are MPI calls, one for
 * each place, and what is between them is the region "compute". Other traces have a location for
 * each row and a region for each kind and label. The library is loaded when it is first needed, so
 * that nothing else depends on it.
 */
#include "base/base.h"
#include "trace/report.h"

#if XYLEM_HAVE_OTF2

#include <dlfcn.h>
#include <errno.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The functions of the library that are used. */
#define FUNCTIONS(X)                                                                               \
    X(Archive_Open)                                                                                \
    X(Archive_SetFlushCallbacks)                                                                   \
    X(Archive_SetSerialCollectiveCallbacks)                                                        \
    X(Archive_OpenEvtFiles)                                                                        \
    X(Archive_GetEvtWriter)                                                                        \
    X(Archive_CloseEvtWriter)                                                                      \
    X(Archive_CloseEvtFiles)                                                                       \
    X(Archive_OpenDefFiles)                                                                        \
    X(Archive_GetDefWriter)                                                                        \
    X(Archive_CloseDefWriter)                                                                      \
    X(Archive_CloseDefFiles)                                                                       \
    X(Archive_GetGlobalDefWriter)                                                                  \
    X(Archive_Close)                                                                               \
    X(EvtWriter_Enter)                                                                             \
    X(EvtWriter_Leave)                                                                             \
    X(EvtWriter_MpiSend)                                                                           \
    X(EvtWriter_MpiRecv)                                                                           \
    X(GlobalDefWriter_WriteClockProperties)                                                        \
    X(GlobalDefWriter_WriteString)                                                                 \
    X(GlobalDefWriter_WriteRegion)                                                                 \
    X(GlobalDefWriter_WriteSystemTreeNode)                                                         \
    X(GlobalDefWriter_WriteLocationGroup)                                                          \
    X(GlobalDefWriter_WriteLocation)                                                               \
    X(GlobalDefWriter_WriteGroup)                                                                  \
    X(GlobalDefWriter_WriteComm)                                                                   \
    X(Error_RegisterCallback)                                                                      \
    X(Error_GetDescription)

#define MEMBER(name) __typeof__(&OTF2_##name) name;
static struct {
    FUNCTIONS(MEMBER)
} otf2;

#define SYMBOL(name) {"OTF2_" #name, &otf2.name},
static const struct {
    const char *name;
    void *function; /* a pointer to a pointer */
} symbols[] = {FUNCTIONS(SYMBOL)};

enum { CHUNK = 1 << 20, WORLD = 0, ROOT = 0 };
enum { GROUP_LOCATIONS, GROUP_WORLD };

typedef enum { LEAVE, ENTER, SEND, RECEIVE } what_t;

typedef struct {
    uint64_t time;
    uint32_t location;
    what_t what;
    uint32_t region, peer;
    uint64_t bytes;
    size_t order; /* at equal times */
} event_t;

typedef struct {
    const char *name, *place;
    bool is_mpi;
} region_t;

typedef struct {
    const xy_trace_log_t *log;
    xy_trace_line_fn line;
    bool has_ranks;
    uint32_t locations;
    xy_vec_t events;  /* of event_t */
    xy_vec_t regions; /* of region_t */
    xy_hash_t index;  /* of regions: key to number + 1 */
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    uint32_t strings; /* written so far */
    OTF2_ErrorCode error;
    bool is_full;
} writing_t;

/* ---- What happened ---- */

static void add(writing_t *w, event_t event)
{
    event.order = w->events.count;
    w->is_full |= xy_vec_append(&w->events, &event) != XY_OK;
}

static uint64_t time_of(const writing_t *w, int64_t time)
{
    return (uint64_t)(time - w->log->begin);
}

/* The number of a region, by two indices into tables of the log. */
static uint32_t region_of(writing_t *w, uint32_t first, uint32_t second, region_t region)
{
    uint64_t key = (uint64_t)first << 32 | second;
    uintptr_t found = (uintptr_t)xy_hash_get(&w->index, key);

    if (found > 0)
        return (uint32_t)(found - 1);
    if (xy_vec_append(&w->regions, &region) != XY_OK ||
        xy_hash_set(&w->index, key, (void *)(uintptr_t)w->regions.count) != XY_OK) /* NOLINT */
        w->is_full = true;
    return (uint32_t)(w->regions.count > 0 ? w->regions.count - 1 : 0);
}

static uint32_t state_region(writing_t *w, const xy_trace_state_t *s)
{
    return region_of(w, s->kind, s->label,
                     (region_t){w->log->kinds[s->kind].name, w->log->labels[s->label], false});
}

/* Leave the states of the stack that are as deep as `depth`, inner ones first. */
static void leave(writing_t *w, xy_vec_t *stack, uint32_t depth)
{
    while (stack->count > depth) {
        const xy_trace_state_t *s = XY_VEC_AT(stack, const xy_trace_state_t *, stack->count - 1);

        add(w, (event_t){time_of(w, s->end), s->row, LEAVE, state_region(w, s), 0, 0, 0});
        xy_vec_pop(stack);
    }
}

/* States of a row come by their start, outer ones first. */
static void gather_rows(writing_t *w)
{
    const xy_trace_log_t *log = w->log;
    xy_vec_t stack = XY_VEC_INIT(const xy_trace_state_t *);

    w->locations = (uint32_t)log->row_count;
    for (size_t i = 0; i < log->state_count; i++) {
        const xy_trace_state_t *s = &log->states[i];

        leave(w, &stack, i > 0 && log->states[i - 1].row == s->row ? s->depth : 0);
        add(w, (event_t){time_of(w, s->start), s->row, ENTER, state_region(w, s), 0, 0, 0});
        w->is_full |= xy_vec_append(&stack, &s) != XY_OK;
    }
    leave(w, &stack, 0);
    xy_vec_cleanup(&stack);
    for (size_t i = 0; i < log->link_count; i++) {
        const xy_trace_link_t *l = &log->links[i];
        int64_t end = l->end > l->start ? l->end : l->start;

        add(w, (event_t){time_of(w, l->start), l->from, SEND, 0, l->to, l->bytes, 0});
        add(w, (event_t){time_of(w, end), l->to, RECEIVE, 0, l->from, l->bytes, 0});
    }
}

/* A call lasts until its rank computes again, or makes the next call. `at` is where the search for
 * that continues. */
static int64_t leave_of(const writing_t *w, const xy_trace_step_t *call, int64_t next, size_t *at)
{
    const xy_trace_row_info_t *row = &w->log->rows[call->row];

    for (; *at < row->state_count; (*at)++) {
        const xy_trace_state_t *s = &w->log->states[row->first_state + *at];

        if (s->start >= next)
            break;
        if (s->start >= call->time && s->id == (int64_t)call->rank &&
            w->log->kinds[s->kind].role == XY_TRACE_COMPUTE)
            return s->start;
    }
    return next;
}

/* The steps of a call, from step `i` on; returns the next call. */
static size_t gather_call(writing_t *w, size_t i, size_t *at)
{
    const xy_trace_log_t *log = w->log;
    const xy_trace_step_t *call = &log->steps[i];
    uint32_t region = region_of(w, call->label, call->site,
                                (region_t){log->labels[call->label], log->sites[call->site], true});
    size_t end = i + 1;
    int64_t next, leave, last = call->time;

    while (end < log->step_count && log->steps[end].rank == call->rank &&
           log->steps[end].kind != XY_TRACE_STEP_CALL)
        end++;
    next = end < log->step_count && log->steps[end].rank == call->rank ? log->steps[end].time
                                                                       : log->end;
    leave = leave_of(w, call, next, at);
    add(w, (event_t){time_of(w, call->time), call->rank, ENTER, region, 0, 0, 0});
    for (size_t k = i + 1; k < end; k++) {
        const xy_trace_step_t *s = &log->steps[k];

        last = s->time > last ? s->time : last;
        if (s->kind != XY_TRACE_STEP_COLLECTIVE && s->peer < w->locations)
            add(w,
                (event_t){time_of(w, s->time), s->rank,
                          s->kind == XY_TRACE_STEP_SENT ? SEND : RECEIVE, 0, s->peer, s->bytes, 0});
    }
    add(w, (event_t){time_of(w, leave > last ? leave : last), call->rank, LEAVE, region, 0, 0, 0});
    return end;
}

/* Collects the events of all ranks and sets the number of locations. */
static void gather_ranks(writing_t *w)
{
    const xy_trace_log_t *log = w->log;
    size_t at = 0;

    for (size_t i = 0; i < log->step_count; i++)
        if (log->steps[i].rank >= w->locations)
            w->locations = log->steps[i].rank + 1;
    for (size_t i = 0; i < log->step_count;) {
        if (i == 0 || log->steps[i].rank != log->steps[i - 1].rank)
            at = 0;
        if (log->steps[i].kind == XY_TRACE_STEP_CALL)
            i = gather_call(w, i, &at);
        else
            i++; /* before the first call that was recorded */
    }
}

static int by_location(const void *left, const void *right)
{
    const event_t *a = left, *b = right;

    if (a->location != b->location)
        return a->location < b->location ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- Definitions ---- */

static void note(writing_t *w, OTF2_ErrorCode code)
{
    if (w->error == OTF2_SUCCESS)
        w->error = code;
}

static OTF2_StringRef put_string(writing_t *w, const char *text)
{
    note(w, otf2.GlobalDefWriter_WriteString(w->definitions, w->strings, text));
    return w->strings++;
}

static OTF2_StringRef put_name(writing_t *w, const char *prefix, const char *name)
{
    char *text = xy_sprintf("%s%s", prefix, name);
    OTF2_StringRef string = put_string(w, text != NULL ? text : "");

    w->is_full |= text == NULL;
    xy_free(text);
    return string;
}

/* "MPI_Recv ring.c:25": viewers tell places apart by it. */
static void put_regions(writing_t *w)
{
    OTF2_StringRef nothing = put_string(w, "");

    for (size_t i = 0; i < w->regions.count; i++) {
        const region_t *r = &XY_VEC_AT(&w->regions, region_t, i);
        const char *slash = strrchr(r->place, '/'), *place = slash != NULL ? slash + 1 : r->place;
        char line[160];
        OTF2_StringRef name;
        char *text;

        if (r->is_mpi && w->line(r->place, line, sizeof(line)))
            place = line;
        text = place[0] != '\0' ? xy_sprintf("%s %s", r->name, place) : xy_strdup(r->name);
        name = put_string(w, text != NULL ? text : "");

        note(w, otf2.GlobalDefWriter_WriteRegion(
                    w->definitions, (OTF2_RegionRef)i, name, name, nothing,
                    r->is_mpi ? OTF2_REGION_ROLE_POINT2POINT : OTF2_REGION_ROLE_FUNCTION,
                    r->is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                    nothing, 0, 0));
        w->is_full |= text == NULL;
        xy_free(text);
    }
}

/* Each location is a process of its own, below the node of its row. */
static void put_locations(writing_t *w, const uint64_t *counts)
{
    const xy_trace_log_t *log = w->log;
    OTF2_StringRef machine = put_string(w, "machine");
    char number[32];

    note(w, otf2.GlobalDefWriter_WriteSystemTreeNode(
                w->definitions, ROOT, put_string(w, log->title[0] != '\0' ? log->title : "trace"),
                machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < w->locations; i++) {
        OTF2_StringRef name;

        snprintf(number, sizeof(number), "%u", (unsigned)i);
        name = w->has_ranks ? put_name(w, "rank ", number) : put_string(w, log->rows[i].name);
        note(w, otf2.GlobalDefWriter_WriteLocationGroup(w->definitions, i, name,
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, ROOT,
                                                        OTF2_UNDEFINED_LOCATION_GROUP));
        note(w, otf2.GlobalDefWriter_WriteLocation(w->definitions, i, name,
                                                   OTF2_LOCATION_TYPE_CPU_THREAD, counts[i], i));
    }
}

/* Writes the definition of MPI_COMM_WORLD. */
static void put_world(writing_t *w)
{
    uint64_t *members = xy_calloc(w->locations > 0 ? w->locations : 1, sizeof(*members));
    OTF2_StringRef nothing = put_string(w, "");

    if (members == NULL) {
        w->is_full = true;
        return;
    }
    for (uint32_t i = 0; i < w->locations; i++)
        members[i] = i;
    note(w, otf2.GlobalDefWriter_WriteGroup(w->definitions, GROUP_LOCATIONS, nothing,
                                            OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, w->locations, members));
    note(w, otf2.GlobalDefWriter_WriteGroup(w->definitions, GROUP_WORLD, nothing,
                                            OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, w->locations, members));
    note(w, otf2.GlobalDefWriter_WriteComm(w->definitions, WORLD, put_string(w, "MPI_COMM_WORLD"),
                                           GROUP_WORLD, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    xy_free(members);
}

/* ---- Events ---- */

/* Writes one event. */
static void put_event(writing_t *w, OTF2_EvtWriter *writer, const event_t *e)
{
    switch (e->what) {
    case ENTER:
        note(w, otf2.EvtWriter_Enter(writer, NULL, e->time, e->region));
        break;
    case LEAVE:
        note(w, otf2.EvtWriter_Leave(writer, NULL, e->time, e->region));
        break;
    case SEND:
        note(w, otf2.EvtWriter_MpiSend(writer, NULL, e->time, e->peer, WORLD, 0, e->bytes));
        break;
    case RECEIVE:
        note(w, otf2.EvtWriter_MpiRecv(writer, NULL, e->time, e->peer, WORLD, 0, e->bytes));
        break;
    }
}

/* Writes the events of each location, sorted by location, and counts them in `counts`. */
static void put_events(writing_t *w, uint64_t *counts)
{
    const event_t *all = w->events.data;
    size_t at = 0;

    note(w, otf2.Archive_OpenEvtFiles(w->archive));
    for (uint32_t i = 0; i < w->locations && w->error == OTF2_SUCCESS; i++) {
        OTF2_EvtWriter *writer = otf2.Archive_GetEvtWriter(w->archive, i);

        if (writer == NULL) {
            note(w, OTF2_ERROR_FILE_INTERACTION);
            return;
        }
        for (; at < w->events.count && all[at].location == i; at++, counts[i]++)
            put_event(w, writer, &all[at]);
        note(w, otf2.Archive_CloseEvtWriter(w->archive, writer));
    }
    note(w, otf2.Archive_CloseEvtFiles(w->archive));
}

/* Readers want a file of definitions for each location, though it has none of its own. */
static void put_local_definitions(writing_t *w)
{
    note(w, otf2.Archive_OpenDefFiles(w->archive));
    for (uint32_t i = 0; i < w->locations && w->error == OTF2_SUCCESS; i++) {
        OTF2_DefWriter *writer = otf2.Archive_GetDefWriter(w->archive, i);

        note(w, writer != NULL ? otf2.Archive_CloseDefWriter(w->archive, writer)
                               : OTF2_ERROR_FILE_INTERACTION);
    }
    note(w, otf2.Archive_CloseDefFiles(w->archive));
}

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_final)
{
    (void)user;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_final;
    return OTF2_FLUSH;
}

/* Writes events and definitions of an open archive. */
static void put_archive(writing_t *w)
{
    const xy_trace_log_t *log = w->log;
    static const OTF2_FlushCallbacks flushes = {.otf2_pre_flush = before_flush};
    uint64_t *counts = xy_calloc(w->locations > 0 ? w->locations : 1, sizeof(*counts));

    if (counts == NULL) {
        w->is_full = true;
        return;
    }
    note(w, otf2.Archive_SetFlushCallbacks(w->archive, &flushes, NULL));
    note(w, otf2.Archive_SetSerialCollectiveCallbacks(w->archive));
    put_events(w, counts);
    put_local_definitions(w);
    w->definitions = otf2.Archive_GetGlobalDefWriter(w->archive);
    if (w->definitions == NULL) {
        note(w, OTF2_ERROR_FILE_INTERACTION);
    } else {
        note(w, otf2.GlobalDefWriter_WriteClockProperties(
                    w->definitions, 1000000000, 0, (uint64_t)(log->end - log->begin) + 1,
                    log->wall_ns > 0 ? (uint64_t)log->wall_ns : OTF2_UNDEFINED_TIMESTAMP));
        put_regions(w);
        put_locations(w, counts);
        put_world(w);
    }
    xy_free(counts);
}

/* ---- The library, and the directory ---- */

/* Errors are reported here, once. */
static OTF2_ErrorCode on_error(void *user, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list arguments)
{
    (void)user;
    (void)file;
    (void)line;
    (void)function;
    (void)format;
    (void)arguments;
    return code;
}

/* Loads the OTF2 library and its functions; XY_EUNSUPPORTED if it is missing or too old. */
static xy_status_t load(void)
{
    void *library = dlopen(XYLEM_OTF2_FILE, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; library != NULL && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *found = dlsym(library, symbols[i].name);

        if (found == NULL)
            return xy_fail(XY_EUNSUPPORTED, "%s has no %s; install another version of it",
                           XYLEM_OTF2_FILE, symbols[i].name);
        memcpy(symbols[i].function, (void *)&found, sizeof(found));
    }
    if (library == NULL)
        return xy_fail(XY_EUNSUPPORTED, "the library of OTF2, %s, is not installed",
                       XYLEM_OTF2_FILE);
    otf2.Error_RegisterCallback(on_error, NULL);
    return XY_OK;
}

/* Existing files are not overwritten: an archive is many files. */
static xy_status_t make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return XY_OK;
    if (errno == EEXIST && rmdir(path) == 0 && mkdir(path, 0777) == 0) /* it was empty */
        return XY_OK;
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        return xy_fail(XY_EIO, "'%s' exists; remove it, or give another name", path);
    return xy_fail_errno(errno, path, "make the directory");
}

xy_status_t xy_trace_write_otf2(const xy_trace_log_t *log, const char *directory,
                                xy_trace_line_fn line)
{
    writing_t w = {.log = log,
                   .line = line,
                   .has_ranks = log->step_count > 0,
                   .events = XY_VEC_INIT(event_t),
                   .regions = XY_VEC_INIT(region_t)};
    xy_status_t st = load();

    if (st == XY_OK)
        st = make_directory(directory);
    if (st != XY_OK)
        return st;
    xy_hash_init(&w.index, XY_HASH_U64);
    if (w.has_ranks)
        gather_ranks(&w);
    else
        gather_rows(&w);
    if (w.events.count > 0)
        qsort(w.events.data, w.events.count, sizeof(event_t), by_location);
    w.archive = otf2.Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, CHUNK, CHUNK,
                                  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (w.archive != NULL) {
        put_archive(&w);
        note(&w, otf2.Archive_Close(w.archive));
    } else {
        note(&w, OTF2_ERROR_FILE_INTERACTION);
    }
    if (w.is_full)
        st = xy_fail_memory("writing a trace for OTF2");
    else if (w.error != OTF2_SUCCESS)
        st = xy_fail(XY_EIO, "'%s' cannot be written: %s", directory,
                     otf2.Error_GetDescription(w.error));
    xy_vec_cleanup(&w.events);
    xy_vec_cleanup(&w.regions);
    xy_hash_cleanup(&w.index);
    return st;
}

#else

xy_status_t xy_trace_write_otf2(const xy_trace_log_t *log, const char *directory,
                                xy_trace_line_fn line)
{
    (void)line;
    (void)log;
    (void)directory;
    return xy_fail(XY_EUNSUPPORTED, "OTF2 is not in this build; install libopen-trace-format2-dev "
                                    "and build again");
}

#endif
