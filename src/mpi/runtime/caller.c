/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executables rarely export their functions, so the dynamic linker knows little. The line is in the
 * program's debugging information (line.h). Reading it takes more stack than a rank may have left,
 * and what reads it must not be taken for the rank's own code: it runs on a thread of its own.
 */
#include "mpi/runtime/caller.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/runtime/layer.h"
#include "mpi/runtime/line.h"

enum { TEXT_SIZE = 2 * XMPI_LINE_TEXT + 64, REMEMBERED = 32, VARIABLES = 64, CALLS = 512 };

/* The places described last. */
typedef struct {
    size_t offset;
    uint64_t program; /* a hash of its name */
    char text[TEXT_SIZE];
    char path[XMPI_LINE_PATH + 16]; /* "examples/ring.c:12"; "": not known */
} place_t;
static place_t remembered[REMEMBERED];
static int remembered_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int (*create_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                            void *) = pthread_create;

void mpi_caller_set_threads(int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                                          void *))
{
    create_thread = create;
}

int mpi_caller_create_thread(pthread_t *thread, void *(*function)(void *), void *argument)
{
    return create_thread(thread, NULL, function, argument);
}

static bool (*find_file)(const void *address, Dl_info *info);

void mpi_caller_set_files(bool (*find)(const void *address, Dl_info *info))
{
    find_file = find;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

/* An address in a file, and what is asked about it. */
typedef struct {
    const Dl_info *info;
    size_t offset; /* from where the file begins in memory */
    mpi_wanted_t wanted;
    mpi_line_t line;
    mpi_symbol_t symbol;
    mpi_typed_t *variables; /* [VARIABLES] */
    int count;
    bool is_found;
} question_t;

static void *answer(void *arg)
{
    question_t *q = arg;

    q->is_found = mpi_line_find(q->info->dli_fname, q->offset, q->wanted, &q->line);
    return NULL;
}

static void *answer_symbol(void *arg)
{
    question_t *q = arg;

    q->is_found = mpi_line_symbol(q->info->dli_fname, q->offset, &q->symbol);
    return NULL;
}

static void *answer_variables(void *arg)
{
    question_t *q = arg;

    q->count = mpi_variables_of_call(q->info->dli_fname, q->offset, q->variables, VARIABLES);
    return NULL;
}

static void *answer_global(void *arg)
{
    question_t *q = arg;

    q->is_found = mpi_variables_global(q->info->dli_fname, q->offset, q->variables);
    return NULL;
}

/* The thread is one of mpi_caller_run_aside. */
static _Thread_local bool is_aside __attribute__((tls_model("initial-exec")));

typedef struct {
    void *(*function)(void *);
    void *argument;
} aside_t;

/* The body of that thread. */
static void *run(void *arg)
{
    const aside_t *a = arg;

    is_aside = true;
    a->function(a->argument);
    return NULL;
}

bool mpi_caller_run_aside(void *(*function)(void *), void *argument)
{
    aside_t a = {function, argument};
    pthread_attr_t attributes;
    pthread_t thread;
    bool is_running;

    if (is_aside) {
        function(argument);
        return true;
    }
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, XMPI_CALLER_STACK);
    is_running = create_thread(&thread, &attributes, run, &a) == 0;
    pthread_attr_destroy(&attributes);
    if (is_running)
        pthread_join(thread, NULL);
    return is_running;
}

static void describe_line(const question_t *q, const char *address, char *text, size_t size)
{
    if (q->line.file[0] != '\0')
        snprintf(text, size, "at %s:%d", q->line.file, q->line.number);
    else if (q->info->dli_sname != NULL)
        snprintf(text, size, "in %s+0x%zx", q->info->dli_sname,
                 (size_t)(address - (const char *)q->info->dli_saddr));
    else if (q->line.function[0] != '\0')
        snprintf(text, size, "in %s", q->line.function);
    else
        snprintf(text, size, "at offset 0x%zx of the program", q->offset);
}

/* The place, from what is known or by looking it up. With the lock held. */
static const place_t *place_of(question_t *q, const char *address)
{
    static place_t last;
    uint64_t program = hash_of(q->info->dli_fname);
    place_t *place = &last;

    for (int i = 0; i < remembered_count; i++)
        if (remembered[i].offset == q->offset && remembered[i].program == program)
            return &remembered[i];
    if (remembered_count < REMEMBERED)
        place = &remembered[remembered_count++];
    q->wanted = q->info->dli_sname != NULL ? XMPI_WANT_LINE : XMPI_WANT_EITHER;
    if (q->info->dli_fname != NULL)
        mpi_caller_run_aside(answer, q);
    *place = (place_t){.offset = q->offset, .program = program};
    describe_line(q, address, place->text, sizeof(place->text));
    if (q->line.file[0] != '\0')
        snprintf(place->path, sizeof(place->path), "%s:%d", q->line.path, q->line.number);
    return place;
}

/* dladdr() also looks for the nearest symbol, among all of the file. */
static bool locate(const char *address, bool needs_symbol, Dl_info *info, question_t *q)
{
    memset(q, 0, sizeof(*q));
    memset(info, 0, sizeof(*info));
    q->info = info;
    if ((needs_symbol || find_file == NULL || !find_file(address, info)) &&
        (dladdr(address, info) == 0 || info->dli_fbase == NULL))
        return false;
    q->offset = (size_t)(address - (const char *)info->dli_fbase);
    return needs_symbol || info->dli_fname != NULL;
}

/* The text of a place, or its path where that is known and asked for. */
static void describe(const void *site, bool has_path, char *text, size_t size)
{
    const char *address = (const char *)site - 1; /* in the call, not after it */
    const place_t *place;
    Dl_info info;
    question_t q;

    text[0] = '\0';
    if (site == NULL ||
        (mpi_dispatch.describe_site != NULL && mpi_dispatch.describe_site(site, text, size)) ||
        !locate(address, true, &info, &q))
        return;
    pthread_mutex_lock(&lock);
    place = place_of(&q, address);
    snprintf(text, size, "%s", has_path && place->path[0] != '\0' ? place->path : place->text);
    pthread_mutex_unlock(&lock);
}

void mpi_caller_describe(const void *site, char *text, size_t size)
{
    describe(site, false, text, size);
}

void mpi_caller_describe_path(const void *site, char *text, size_t size)
{
    describe(site, true, text, size);
}

/* The symbol of an offset, from those found last or by looking it up. With the lock held. */
static const mpi_symbol_t *symbol_of(question_t *q)
{
    static struct {
        uint64_t program;
        mpi_symbol_t symbol;
    } known[REMEMBERED];
    static int next;
    uint64_t program = hash_of(q->info->dli_fname);

    for (int i = 0; i < REMEMBERED; i++)
        if (known[i].program == program && q->offset >= known[i].symbol.offset &&
            q->offset - known[i].symbol.offset < known[i].symbol.size)
            return known[i].symbol.name[0] != '\0' ? &known[i].symbol : NULL;
    mpi_caller_run_aside(answer_symbol, q);
    if (!q->is_found) /* nothing is known of this byte */
        q->symbol = (mpi_symbol_t){.offset = q->offset, .size = 1};
    next = (next + 1) % REMEMBERED;
    known[next].program = program;
    known[next].symbol = q->symbol;
    return q->is_found ? &known[next].symbol : NULL;
}

bool mpi_caller_variable(const void *address, mpi_variable_t *variable)
{
    const mpi_symbol_t *symbol;
    Dl_info info;
    question_t q;

    *variable = (mpi_variable_t){.low = NULL};
    if (!locate(address, false, &info, &q))
        return false;
    pthread_mutex_lock(&lock);
    symbol = symbol_of(&q);
    if (symbol != NULL) {
        variable->low = (const char *)info.dli_fbase + symbol->offset;
        variable->size = symbol->size;
        snprintf(variable->name, sizeof(variable->name), "%s", symbol->name);
    }
    pthread_mutex_unlock(&lock);
    return symbol != NULL;
}

static void *answer_void(void *arg)
{
    question_t *q = arg;

    q->is_found = mpi_variables_is_void(q->info->dli_fname, q->offset);
    return NULL;
}

bool mpi_caller_is_void(const void *site)
{
    Dl_info info;
    question_t q;

    if (site == NULL || !locate((const char *)site - 1, false, &info, &q))
        return false;
    pthread_mutex_lock(&lock);
    mpi_caller_run_aside(answer_void, &q);
    pthread_mutex_unlock(&lock);
    return q.is_found;
}

/* The variables of the calls looked at first. */
typedef struct {
    uint64_t program;
    size_t offset;
    int count;
    mpi_typed_t *variables;
} call_t;

/* With the lock held. NULL: there are too many calls, or there is no memory. */
static const call_t *call_of(question_t *q)
{
    static call_t calls[CALLS];
    static int known;
    static mpi_typed_t found[VARIABLES];
    uint64_t program = hash_of(q->info->dli_fname);
    call_t *call = &calls[known];

    for (int i = 0; i < known; i++)
        if (calls[i].offset == q->offset && calls[i].program == program)
            return &calls[i];
    if (known == CALLS)
        return NULL;
    q->variables = found;
    mpi_caller_run_aside(answer_variables, q);
    *call = (call_t){.program = program, .offset = q->offset, .count = q->count};
    call->variables = malloc(sizeof(found[0]) * (size_t)(q->count > 0 ? q->count : 1));
    if (call->variables == NULL)
        return NULL;
    memcpy(call->variables, found, sizeof(found[0]) * (size_t)q->count);
    known++;
    return call;
}

int mpi_caller_variables(const void *site, const mpi_typed_t **found_p, const char **base_p)
{
    const call_t *call = NULL;
    Dl_info info;
    question_t q;

    *found_p = NULL;
    if (site == NULL || !locate((const char *)site - 1, false, &info, &q))
        return 0;
    pthread_mutex_lock(&lock);
    call = call_of(&q);
    pthread_mutex_unlock(&lock);
    if (call == NULL)
        return 0;
    *found_p = call->variables;
    *base_p = info.dli_fbase;
    return call->count;
}

/* A variable asked for last, or a byte that belongs to none. */
typedef struct {
    uint64_t program;
    bool is_known;
    mpi_typed_t variable;
} global_t;

static bool has_byte(const global_t *g, uint64_t program, size_t offset)
{
    return g->program == program && offset - (size_t)g->variable.place < g->variable.size;
}

/* With the lock held. */
static const global_t *global_of(question_t *q)
{
    static global_t known[REMEMBERED];
    static int next;
    uint64_t program = hash_of(q->info->dli_fname);
    global_t *g;

    for (int i = 0; i < REMEMBERED; i++)
        if (has_byte(&known[i], program, q->offset))
            return &known[i];
    next = (next + 1) % REMEMBERED;
    g = &known[next];
    *g = (global_t){.program = program};
    q->variables = &g->variable;
    mpi_caller_run_aside(answer_global, q);
    g->is_known = q->is_found;
    if (!g->is_known)
        g->variable = (mpi_typed_t){.place = (int64_t)q->offset, .size = 1};
    return g;
}

bool mpi_caller_global(const void *address, mpi_typed_t *found, const char **low_p)
{
    const global_t *g;
    bool is_known;
    Dl_info info;
    question_t q;

    if (!locate(address, false, &info, &q))
        return false;
    pthread_mutex_lock(&lock);
    g = global_of(&q);
    is_known = g->is_known;
    *found = g->variable;
    *low_p = (const char *)info.dli_fbase + g->variable.place;
    pthread_mutex_unlock(&lock);
    return is_known;
}

void mpi_caller_describe_frame(const Dl_info *info, size_t offset, char *text, size_t size)
{
    question_t q = {.info = info, .offset = offset, .wanted = XMPI_WANT_BOTH};
    char place[TEXT_SIZE];

    answer(&q);
    describe_line(&q, (const char *)info->dli_fbase + offset, place, sizeof(place));
    snprintf(text, size, "%s%s%s", q.line.file[0] != '\0' ? q.line.function : "",
             q.line.file[0] != '\0' && q.line.function[0] != '\0' ? " " : "", place);
}
