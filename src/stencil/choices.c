/* SPDX-License-Identifier: BSD-3-Clause */
#include "stencil/choices.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <xylem.h>

#include "stencil/own.h"

static const char HEAD[] = "xylem choices ", VERSION[] = "1 " XYLEM_VERSION;
enum { BYTES_MAX = 1 << 20, KEPT_MAX = 1000, WORKERS_MAX = 4096 };
/* The words of a value; no limit of the memory is -1. */
enum { POLICY, EVICTION, ROUNDS, MEMORY, GPUS, CORES, AHEAD, FIELDS };

/* ---- Keys ---- */

char *stencil_choices_key(const stencil_real_t *r)
{
    const xy_stencil_t *s = &r->grid;
    const xy_task_sim_t *how = &r->run->how;
    char device[128];

    if (s->load == XY_STENCIL_FILE || (how->policy != NULL && xy_plugin_is_path(how->policy)))
        return NULL;
    snprintf(device, sizeof(device), "%s", r->gpu != NULL ? stencil_gpu_name(r) : "cores");
    for (char *c = device; *c != '\0'; c++)
        *c = *c == '\t' || *c == '\n' ? ' ' : *c;
    return xy_sprintf(
        "%s; %d gpus, %d workers, %" PRIu64 " bytes; %s %" PRId64 "x%" PRId64 "x%" PRId64
        " blocks of %" PRIu64 ", %d points, kernel %" PRIx64
        ", %d iterations, check %d, load %d, parts %d, %s; "
        "policy %s, eviction %s, rounds %d, ahead %d, all %d, file %d, alpha %g, beta %g",
        device, r->gpu != NULL ? (int)stencil_gpu_count(r) : 0, (int)r->workers, r->run->memory,
        xy_stencil_graph_name(s->graph), s->blocks[0], s->blocks[1], s->blocks[2], s->block_bytes,
        s->points, s->own != NULL ? s->own->print : 0, s->iterations, s->check_every, (int)s->load,
        s->parts, xy_stencil_precision_name(s), how->policy != NULL ? how->policy : "-",
        how->eviction != NULL ? how->eviction : "-", (int)how->params.extra_rounds,
        (int)how->params.look_ahead, r->run->is_using_all, r->run->file != NULL, how->params.alpha,
        how->params.beta);
}

/* ---- Reading ---- */

static const char *policy_of(const char *name)
{
    const xy_task_policy_t *p = xy_table_find(XY_TABLE(xy_task_policies), name);

    return p != NULL && p->trials == NULL ? p->name : NULL;
}

static const char *eviction_of(const char *name)
{
    for (int i = 0; xy_task_evictions[i].name != NULL; i++)
        if (strcmp(xy_task_evictions[i].name, name) == 0)
            return xy_task_evictions[i].name;
    return NULL;
}

/* "closure clean-first 0 0 1 0 2"; "-" is a policy or an eviction that was left to the engine. */
static bool parse_value(char *text, stencil_choice_t *c)
{
    static const long most[FIELDS] = {[ROUNDS] = 64,
                                      [MEMORY] = INT64_MAX,
                                      [GPUS] = WORKERS_MAX,
                                      [CORES] = WORKERS_MAX,
                                      [AHEAD] = 64};
    char *words[FIELDS], *rest = text;
    long v[FIELDS] = {0};
    int n = 0;

    for (char *word; (word = strsep(&rest, " ")) != NULL; n++) {
        if (n == FIELDS || (n >= ROUNDS && (!xy_parse_long(word, &v[n]) || v[n] > most[n] ||
                                            v[n] < (n == MEMORY ? -1 : 0))))
            return false;
        words[n] = word;
    }
    if (n != FIELDS)
        return false;
    *c = (stencil_choice_t){.policy = policy_of(words[POLICY]),
                            .eviction = eviction_of(words[EVICTION]),
                            .extra_rounds = (int32_t)v[ROUNDS],
                            .memory = v[MEMORY] < 0 ? XY_TASK_NO_LIMIT : (uint64_t)v[MEMORY],
                            .gpus = (int32_t)v[GPUS],
                            .cores = (int32_t)v[CORES],
                            .look_ahead = (int32_t)v[AHEAD]};
    return (c->policy != NULL || strcmp(words[POLICY], "-") == 0) &&
           (c->eviction != NULL || strcmp(words[EVICTION], "-") == 0);
}

static xy_status_t add(stencil_choices_t *c, const char *key, const stencil_choice_t *value)
{
    return xy_vec_append(&c->keys, &key) == XY_OK && xy_vec_append(&c->values, value) == XY_OK
               ? XY_OK
               : xy_fail_memory("reading earlier choices");
}

static void forget(stencil_choices_t *c)
{
    c->keys.count = c->values.count = 0;
}

/* Reads the stored choices; a malformed line discards all of them, with a warning. */
static xy_status_t read_lines(char *rest, const char *path, stencil_choices_t *c)
{
    xy_status_t st = XY_OK;
    long number = 1;

    for (char *line; st == XY_OK && (line = strsep(&rest, "\n")) != NULL;) {
        char *tab = strchr(line, '\t');
        stencil_choice_t value;

        number++;
        if (*line == '\0')
            continue;
        if (tab != NULL)
            *tab = '\0';
        if (tab == NULL || !parse_value(tab + 1, &value)) {
            xy_warn("%s:%ld: not a choice; the file is not used, and will be replaced", path,
                    number);
            forget(c);
            return XY_OK;
        }
        st = add(c, line, &value);
    }
    return st;
}

xy_status_t stencil_choices_parse(char *text, const char *path, stencil_choices_t *c)
{
    char *rest = text, *head;

    c->keys = (xy_vec_t)XY_VEC_INIT(const char *);
    c->values = (xy_vec_t)XY_VEC_INIT(stencil_choice_t);
    if (*text == '\0')
        return XY_OK;
    head = strsep(&rest, "\n");
    if (strncmp(head, HEAD, sizeof(HEAD) - 1) != 0)
        return xy_fail(XY_EPARSE,
                       "'%s' is not a file of choices; give another --choices, or 'none'", path);
    if (strcmp(head + sizeof(HEAD) - 1, VERSION) != 0) {
        xy_warn("%s is of another version of Xylem; it is not used, and will be replaced", path);
        return XY_OK;
    }
    return rest != NULL ? read_lines(rest, path, c) : XY_OK;
}

xy_status_t stencil_choices_read(const char *path, stencil_choices_t *c)
{
    xy_status_t st;

    *c = (stencil_choices_t){.keys = XY_VEC_INIT(const char *),
                             .values = XY_VEC_INIT(stencil_choice_t)};
    if (access(path, F_OK) != 0)
        return XY_OK;
    st = xy_file_read_text(path, BYTES_MAX, &c->text);
    return st == XY_OK ? stencil_choices_parse(c->text, path, c) : st;
}

void stencil_choices_cleanup(stencil_choices_t *c)
{
    xy_vec_cleanup(&c->keys);
    xy_vec_cleanup(&c->values);
    xy_free(c->text);
}

/* ---- Finding ---- */

bool stencil_choices_find(const stencil_choices_t *c, const char *key, stencil_choice_t *choice)
{
    for (size_t i = c->keys.count; i-- > 0;) {
        const stencil_choice_t *v = &XY_VEC_AT(&c->values, stencil_choice_t, i);

        if (strcmp(XY_VEC_AT(&c->keys, const char *, i), key) != 0)
            continue;
        if (v->gpus > choice->gpus || v->cores > choice->cores || v->gpus + v->cores == 0)
            return false;
        *choice = *v;
        return true;
    }
    return false;
}

/* ---- Keeping ---- */

typedef struct {
    const stencil_choices_t *choices;
    const char *key;
    const stencil_choice_t *choice;
} written_t;

static void write_one(FILE *file, const char *key, const stencil_choice_t *v)
{
    int64_t memory = v->memory <= INT64_MAX ? (int64_t)v->memory : -1;

    fprintf(file, "%s\t%s %s %d %" PRId64 " %d %d %d\n", key, v->policy != NULL ? v->policy : "-",
            v->eviction != NULL ? v->eviction : "-", (int)v->extra_rounds, memory, (int)v->gpus,
            (int)v->cores, (int)v->look_ahead);
}

/* Writes the latest choices and the new one; the callback of xy_out_write(). */
static xy_status_t write_all(const void *arg, FILE *file)
{
    const written_t *w = arg;
    size_t n = w->choices->keys.count, first = n >= KEPT_MAX ? n - (KEPT_MAX - 1) : 0;

    fprintf(file, "%s%s\n", HEAD, VERSION);
    for (size_t i = first; i < n; i++) {
        const char *key = XY_VEC_AT(&w->choices->keys, const char *, i);

        if (strcmp(key, w->key) != 0)
            write_one(file, key, &XY_VEC_AT(&w->choices->values, stencil_choice_t, i));
    }
    write_one(file, w->key, w->choice);
    return XY_OK;
}

void stencil_choices_keep(stencil_choices_t *c, const char *path, const char *key,
                          const stencil_choice_t *choice)
{
    written_t w = {c, key, choice};

    if (xy_try_directories(path) != 0 || xy_out_write(path, write_all, &w) != XY_OK)
        xy_warn("the choice of this run is not kept in %s", path);
}
