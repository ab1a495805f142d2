/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a real run, read from its trace. The lines of places are asked of addr2line, all of
 * a program at once. */
#include "program/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/recorded_calls.h"
#include "trace/trace.h"

/* ---- addr2line ---- */

enum { ADDRESSES = 256 }; /* of one command */

typedef struct {
    const char *program; /* not ended: `length` bytes */
    size_t length;
    uint32_t sites[ADDRESSES];
    size_t count;
} batch_t;

/* The whole output of a command, ended by NUL, or NULL: it could not run or failed. */
static char *output_of(char *const argv[])
{
    posix_spawn_file_actions_t actions;
    xy_text_t text = XY_TEXT_INIT;
    char buffer[4096];
    int ends[2], status = 1;
    ssize_t n;
    pid_t pid;
    bool started;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    started = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (started &&
           ((n = read(ends[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            xy_text_add_bytes(&text, buffer, (size_t)n);
    close(ends[0]);
    if (!started || waitpid(pid, &status, 0) != pid || status != 0 || text.failed) {
        xy_text_cleanup(&text);
        return NULL;
    }
    return text.s;
}

/* "DIRECTORY/solve.c:12 (discriminator 3)" */
static bool parse_line(char *text, recorded_place_t *place, xy_arena_t *arena)
{
    char *slash, *colon;

    text[strcspn(text, " ")] = '\0';
    colon = strrchr(text, ':');
    if (text[0] == '?' || colon == NULL || !xy_parse_long(colon + 1, &place->line))
        return false;
    *colon = '\0';
    slash = strrchr(text, '/');
    text = slash != NULL ? slash + 1 : text;
    place->file = xy_arena_strndup(arena, text, strlen(text));
    return place->file != NULL && place->line > 0;
}

/* lines[i] of the sites of the batch. */
static xy_status_t ask(const xy_trace_log_t *log, const batch_t *batch, recorded_place_t *lines,
                       xy_arena_t *arena)
{
    char command[] = "addr2line", of[] = "-e", *argv[ADDRESSES + 4] = {command, of};
    char *program = xy_strndup(batch->program, batch->length), *text, *rest, *line;
    xy_status_t st = XY_OK;

    if (program == NULL)
        return XY_ENOMEM;
    argv[2] = program;
    for (size_t i = 0; i < batch->count; i++)
        argv[3 + i] = (char *)(uintptr_t)log->sites[batch->sites[i]] + batch->length + 1;
    if (access(program, R_OK) != 0) {
        st = xy_fail_errno(errno, program, "read its lines, for the calls of the trace");
        xy_free(program);
        return st;
    }
    text = output_of(argv);
    if (text == NULL)
        st = xy_fail(XY_ENOENT, "addr2line does not run on %s; it is in the package binutils",
                     program);
    rest = text;
    for (size_t i = 0; i < batch->count && st == XY_OK; i++) {
        line = strsep(&rest, "\n");
        if (line != NULL)
            parse_line(line, &lines[batch->sites[i]], arena);
    }
    xy_free(text);
    xy_free(program);
    return st;
}

/* The lines of all sites, [site_count]; those without have no file. */
static xy_status_t find_lines(const xy_trace_log_t *log, xy_arena_t *arena, recorded_place_t *lines)
{
    batch_t batch = {0};
    xy_status_t st = XY_OK;

    for (size_t i = 1; i < log->site_count && st == XY_OK; i++) {
        const char *plus = strrchr(log->sites[i], '+');
        size_t length = plus != NULL ? (size_t)(plus - log->sites[i]) : 0;

        if (plus == NULL)
            continue;
        if (batch.count > 0 && (batch.count == ADDRESSES || batch.length != length ||
                                strncmp(batch.program, log->sites[i], length) != 0)) {
            st = ask(log, &batch, lines, arena);
            batch.count = 0;
        }
        batch.program = log->sites[i];
        batch.length = length;
        batch.sites[batch.count++] = (uint32_t)i;
    }
    return st == XY_OK && batch.count > 0 ? ask(log, &batch, lines, arena) : st;
}

/* ---- Calls ---- */

static bool is_same(const recorded_place_t *a, const recorded_place_t *b)
{
    return a->line == b->line && strcmp(a->name, b->name) == 0 && strcmp(a->file, b->file) == 0;
}

/* Sets *place_p to the number of a call's name and source line, adding it if it is new. */
static xy_status_t find_place(xy_recorded_t *r, const xy_trace_log_t *log, const xy_trace_step_t *s,
                              const recorded_place_t *line, uint32_t *place_p)
{
    recorded_place_t place = {log->labels[s->label], line->file != NULL ? line->file : "",
                              line->line};

    /* Most often it is the last one, or one of a few. */
    for (size_t i = r->places.count; i-- > 0;)
        if (is_same(&XY_VEC_AT(&r->places, recorded_place_t, i), &place)) {
            *place_p = (uint32_t)i;
            return XY_OK;
        }
    *place_p = (uint32_t)r->places.count;
    place.name = xy_arena_strndup(r->arena, place.name, strlen(place.name));
    return place.name != NULL ? xy_vec_append(&r->places, &place) : XY_ENOMEM;
}

static void note(recorded_call_t *call, const xy_trace_step_t *s)
{
    if (call->has_bytes)
        return;
    call->has_bytes = s->kind != XY_TRACE_STEP_RECEIVED;
    call->is_received = s->kind == XY_TRACE_STEP_RECEIVED;
    call->bytes = s->kind == XY_TRACE_STEP_COLLECTIVE ? s->bytes * s->element : s->bytes;
    call->peer = s->kind == XY_TRACE_STEP_COLLECTIVE ? -1 : (int32_t)s->peer;
}

/* Collects the calls of all ranks with their places; `first` gets the index of each rank's first
 * call. */
static xy_status_t read_calls(xy_recorded_t *r, const xy_trace_log_t *log,
                              const recorded_place_t *lines)
{
    for (size_t i = 0; i < log->step_count; i++) {
        const xy_trace_step_t *s = &log->steps[i];
        recorded_call_t call = {.peer = -1};

        if (i == 0 || s->rank != log->steps[i - 1].rank)
            r->first[s->rank] = r->calls.count;
        if (s->kind != XY_TRACE_STEP_CALL) {
            if (r->calls.count > r->first[s->rank])
                note(&XY_VEC_AT(&r->calls, recorded_call_t, r->calls.count - 1), s);
            continue;
        }
        if (find_place(r, log, s, &lines[s->site], &call.place) != XY_OK ||
            xy_vec_append(&r->calls, &call) != XY_OK)
            return XY_ENOMEM;
        r->first[s->rank + 1] = r->calls.count;
    }
    return XY_OK;
}

static xy_status_t check(const xy_recorded_t *r, const xy_trace_log_t *log)
{
    for (size_t i = 0; i < r->places.count; i++)
        if (XY_VEC_AT(&r->places, recorded_place_t, i).line > 0)
            return XY_OK;
    return xy_fail(XY_EINVAL,
                   "%s: no line of a call is known; build the program with -g and record it again",
                   log->path);
}

/* Sets *procs_p to the number of ranks in a log; fails if one of them has no steps. */
static xy_status_t count_ranks(const xy_trace_log_t *log, int32_t *procs_p)
{
    uint32_t ranks = 0;

    for (size_t i = 0; i < log->step_count; i++)
        if (log->steps[i].rank >= ranks) {
            if (log->steps[i].rank > ranks)
                return xy_fail(XY_EINVAL, "%s: rank %u made no call; the trace is incomplete",
                               log->path, ranks);
            ranks++;
        }
    *procs_p = (int32_t)ranks;
    if (ranks == 0)
        return xy_fail(XY_EINVAL,
                       "%s has no calls of ranks; trace a real run with 'mpiexec --trace'",
                       log->path);
    return XY_OK;
}

/* Fills `r` from a log: ranks, source lines, calls and their check. */
static xy_status_t read_log(xy_recorded_t *r, const xy_trace_log_t *log)
{
    recorded_place_t *lines = xy_calloc(log->site_count + 1, sizeof(*lines));
    xy_status_t st = count_ranks(log, &r->procs);

    if (st == XY_OK) {
        r->first = xy_calloc((size_t)r->procs + 1, sizeof(*r->first));
        st = lines != NULL && r->first != NULL ? find_lines(log, r->arena, lines) : XY_ENOMEM;
    }
    if (st == XY_OK)
        st = read_calls(r, log, lines);
    if (st == XY_OK)
        st = check(r, log);
    xy_free(lines);
    return st;
}

xy_status_t xy_recorded_read(const char *path, xy_recorded_t **recorded_p)
{
    xy_recorded_t *r;
    xy_trace_log_t *log;
    xy_status_t st = xy_trace_read(path, &log);

    if (st != XY_OK)
        return st;
    r = xy_calloc(1, sizeof(*r));
    st = r != NULL ? xy_arena_create(&r->arena) : XY_ENOMEM;
    if (st == XY_OK) {
        r->places = XY_VEC_INIT(recorded_place_t);
        r->calls = XY_VEC_INIT(recorded_call_t);
        r->path = xy_strdup(path);
        st = r->path != NULL ? read_log(r, log) : XY_ENOMEM;
    }
    xy_trace_log_free(log);
    if (st == XY_OK) {
        *recorded_p = r;
        return XY_OK;
    }
    xy_recorded_destroy(r);
    return st == XY_ENOMEM ? xy_fail_memory("reading a recorded run") : st;
}

void xy_recorded_destroy(xy_recorded_t *recorded)
{
    if (recorded == NULL)
        return;
    xy_vec_cleanup(&recorded->places);
    xy_vec_cleanup(&recorded->calls);
    xy_arena_destroy(recorded->arena);
    xy_free(recorded->first);
    xy_free(recorded->path);
    xy_free(recorded);
}

int32_t xy_recorded_procs(const xy_recorded_t *recorded)
{
    return recorded->procs;
}
