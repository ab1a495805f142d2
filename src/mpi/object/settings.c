/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/settings.h"

#include <stdio.h>
#include <string.h>

#include "mpi/object/comm.h"
#include "mpi/object/error.h"
#include "mpi/object/info.h"

static const char *const progress_names[] = {[XMPI_PROGRESS_TASKS] = "tasks",
                                             [XMPI_PROGRESS_NONE] = "none",
                                             [XMPI_PROGRESS_THREADS] = "threads"};
enum { PROGRESS_NAMES = sizeof(progress_names) / sizeof(progress_names[0]), SPLIT_MAX = 64 };

bool mpi_settings_progress(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY])
{
    for (int i = 0; i < PROGRESS_NAMES; i++)
        if (strcmp(text, progress_names[i]) == 0) {
            s->progress = (mpi_progress_t)i;
            /* A hint: where ranks move, a thread would stay behind. */
            if (s->progress == XMPI_PROGRESS_THREADS && mpi_job != NULL && mpi_job->moves != NULL)
                s->progress = XMPI_PROGRESS_TASKS;
            return true;
        }
    snprintf(why, XMPI_SETTINGS_WHY, "'%s' is not a progress mode; there are tasks, threads, none",
             text);
    return false;
}

bool mpi_settings_split(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY])
{
    long levels;

    if (strcmp(text, "off") == 0)
        s->split = XMPI_SPLIT_OFF;
    else if (strcmp(text, "auto") == 0)
        s->split = XMPI_SPLIT_AUTO;
    else if (strcmp(text, "adaptive") == 0)
        s->split = XMPI_SPLIT_ADAPTIVE;
    else if (xy_parse_long(text, &levels) && levels >= 0 && levels <= SPLIT_MAX)
        s->split = (int)levels;
    else {
        snprintf(
            why, XMPI_SETTINGS_WHY,
            "'%s' is not a split; give a number of tree levels (0 to %d), auto, adaptive or off",
            text, SPLIT_MAX);
        return false;
    }
    return true;
}

/* The names of the algorithms of a collective, for messages. */
static void list_algorithms(xy_collective_t collective, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; xy_coll_algorithms()[i] != NULL; i++) {
        const xy_coll_algorithm_t *a = xy_coll_algorithms()[i];

        if ((a->collectives >> collective & 1) != 0 && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", a->name);
    }
}

static bool parse_collective(const char *name, xy_collective_t *collective_p, char *why)
{
    const char *nearest;

    if (xy_coll_parse(name, collective_p))
        return true;
    nearest = xy_nearest_word(name, xy_coll_names());
    snprintf(why, XMPI_SETTINGS_WHY, "there is no collective '%s'%s%s", name,
             nearest != NULL ? "; did you mean " : "; see 'xylem explain coll'",
             nearest != NULL ? nearest : "");
    return false;
}

/* "allreduce=ring"; "auto" gives the choice back. */
static bool parse_pair(mpi_settings_t *s, char *pair, char *why)
{
    char *name = strchr(pair, '=');
    char names[200];
    xy_collective_t collective;

    if (name == NULL) {
        snprintf(why, XMPI_SETTINGS_WHY, "'%s' is not of the form COLLECTIVE=ALGORITHM", pair);
        return false;
    }
    *name++ = '\0';
    if (!parse_collective(pair, &collective, why))
        return false;
    if (xy_plugin_is_path(name)) {
        snprintf(why, XMPI_SETTINGS_WHY, "the algorithm '%s' cannot be used", name);
        return xy_coll_find_plugin(collective, name, &s->algorithm[collective]) == XY_OK;
    }
    s->algorithm[collective] = xy_coll_find(collective, name);
    if (s->algorithm[collective] != NULL || strcmp(name, "auto") == 0)
        return true;
    list_algorithms(collective, names, sizeof(names));
    snprintf(why, XMPI_SETTINGS_WHY, "%s has no algorithm '%s'; there are %s, auto", pair, name,
             names);
    return false;
}

typedef bool (*parse_fn)(mpi_settings_t *s, char *word, char *why);

/* Words with commas between them. */
static bool parse_list(mpi_settings_t *s, const char *text, parse_fn parse, char *why)
{
    char *copy = xy_strdup(text), *rest = copy;
    bool is_good = copy != NULL;

    if (!is_good)
        snprintf(why, XMPI_SETTINGS_WHY, "memory ran out");
    for (char *word; is_good && (word = strsep(&rest, ",")) != NULL;)
        is_good = *word == '\0' || parse(s, word, why);
    xy_free(copy);
    return is_good;
}

bool mpi_settings_algorithm(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY])
{
    return parse_list(s, text, parse_pair, why);
}

/* ---- Progress threads ---- */

/* Names of a NULL-terminated array of structs that begin with their name. */
static void list_names(const void *const *table, char *text, size_t size)
{
    size_t used = 0;

    for (int i = 0; table[i] != NULL && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s, ", *(const char *const *)table[i]);
}

/* "numa", for all collectives, or "scan=odd-even": the entry of `table`, NULL for auto. */
static bool parse_entry(char *word, const void *const *table, const char *what, const void **slots,
                        char *why)
{
    char *name = strchr(word, '='), names[160];
    xy_collective_t collective = XY_COLL_COUNT;
    const void *found = NULL;

    if (name != NULL) {
        *name++ = '\0';
        if (!parse_collective(word, &collective, why))
            return false;
    } else {
        name = word;
    }
    for (int i = 0; table[i] != NULL; i++)
        if (strcmp(*(const char *const *)table[i], name) == 0)
            found = table[i];
    if (found == NULL && strcmp(name, "auto") != 0) {
        list_names(table, names, sizeof(names));
        snprintf(why, XMPI_SETTINGS_WHY, "'%s' is not %s of progress threads; there are %sauto",
                 name, what, names);
        return false;
    }
    for (int c = 0; c < XY_COLL_COUNT; c++)
        if (collective == XY_COLL_COUNT || collective == (xy_collective_t)c)
            slots[c] = found;
    return true;
}

static bool parse_place(mpi_settings_t *s, char *word, char *why)
{
    return parse_entry(word, (const void *const *)xy_threads_all, "a place",
                       (const void **)s->place, why);
}

static bool parse_order(mpi_settings_t *s, char *word, char *why)
{
    return parse_entry(word, (const void *const *)xy_order_all, "an order", (const void **)s->order,
                       why);
}

int mpi_settings_place_index(const xy_threads_t *place)
{
    int i = 0;

    while (xy_threads_all[i] != place)
        i++;
    return i;
}

/* Has the job the workers for it? */
static bool has_workers(const xy_threads_t *place, char *why)
{
    const int *table = mpi_job != NULL && mpi_job->thread_worker_of != NULL
                           ? mpi_job->thread_worker_of[mpi_settings_place_index(place)]
                           : NULL;
    bool is_dedicated = strcmp(place->name, "dedicated") == 0;

    if (mpi_job != NULL && mpi_job->size > mpi_job->started) {
        snprintf(why, XMPI_SETTINGS_WHY,
                 "progress threads are for jobs that have not spawned ranks; leave the hint out");
        return false;
    }
    if (mpi_job == NULL || table != NULL || (!place->on_sibling && !is_dedicated) ||
        (is_dedicated && mpi_job->comm_workers >= mpi_job->size))
        return true;
    snprintf(why, XMPI_SETTINGS_WHY,
             "the job has no cores for '%s'; start it with --progress threads --progress-place %s",
             place->name, place->name);
    return false;
}

bool mpi_settings_place(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY])
{
    if (!parse_list(s, text, parse_place, why))
        return false;
    for (int c = 0; c < XY_COLL_COUNT; c++)
        if (s->place[c] != NULL && !has_workers(s->place[c], why))
            return false;
    return true;
}

bool mpi_settings_order(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY])
{
    return parse_list(s, text, parse_order, why);
}

static bool parse_priority(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY])
{
    long priority;

    if (!xy_parse_long(text, &priority) || priority < 0 || priority > XY_ORDER_PRIORITY_MAX) {
        snprintf(why, XMPI_SETTINGS_WHY, "'%s' is not a priority; give a number from 0 to %d", text,
                 XY_ORDER_PRIORITY_MAX);
        return false;
    }
    s->priority = (int)priority;
    return true;
}

const mpi_settings_t *mpi_settings_of(const mpi_comm_t *comm)
{
    return comm->settings != NULL ? comm->settings : mpi_job->settings;
}

typedef struct {
    const char *key;
    bool (*parse)(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY]);
} key_t;

static const key_t keys[] = {
    {"xylem_progress", mpi_settings_progress},    {"xylem_progress_place", mpi_settings_place},
    {"xylem_progress_order", mpi_settings_order}, {"xylem_progress_priority", parse_priority},
    {"xylem_split", mpi_settings_split},          {"xylem_algorithm", mpi_settings_algorithm}};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* A key that begins like ours and is none: a mistake that would go unnoticed. */
static int refuse_unknown(mpi_comm_t *comm, const mpi_info_t *info)
{
    for (size_t i = 0; i < info->pairs.count; i++) {
        const char *key = XY_VEC_AT(&info->pairs, mpi_pair_t, i).key;
        bool is_known = strncmp(key, "xylem_", 6) != 0;

        for (int k = 0; k < KEYS; k++)
            is_known |= strcmp(key, keys[k].key) == 0;
        if (!is_known)
            return mpi_error(comm, MPI_ERR_INFO_KEY,
                             "there is no hint '%s'; there are xylem_progress, "
                             "xylem_progress_place, xylem_progress_order, xylem_progress_priority, "
                             "xylem_split, xylem_algorithm",
                             key);
    }
    return MPI_SUCCESS;
}

void mpi_settings_mark(const mpi_settings_t *s, mpi_job_t *job)
{
    for (int c = 0; c < XY_COLL_COUNT; c++)
        if (s->algorithm[c] != NULL)
            job->is_apart = true;
}

int mpi_settings_apply(mpi_comm_t *comm, const mpi_info_t *info)
{
    mpi_settings_t made = *mpi_job->settings;
    char why[XMPI_SETTINGS_WHY];
    bool has_some = false;
    int code = info != NULL ? refuse_unknown(comm, info) : MPI_SUCCESS;

    for (int k = 0; k < KEYS && code == MPI_SUCCESS; k++) {
        const char *value = mpi_info_value(info, keys[k].key);

        has_some |= value != NULL;
        if (value != NULL && !keys[k].parse(&made, value, why))
            code = mpi_error(comm, MPI_ERR_INFO_VALUE, "%s: %s", keys[k].key, why);
    }
    if (code != MPI_SUCCESS)
        return code;
    if (has_some && comm->settings == NULL) {
        comm->settings = xy_malloc(sizeof(made));
        if (comm->settings == NULL)
            return mpi_error_memory(comm, "the hints of a communicator");
    }
    if (has_some) {
        *comm->settings = made;
        mpi_settings_mark(&made, mpi_job);
    } else {
        xy_free(comm->settings);
        comm->settings = NULL;
    }
    return MPI_SUCCESS;
}

static xy_status_t tell_split(const mpi_settings_t *s, mpi_info_t *info)
{
    static const char *const words[] = {"off", "auto", "adaptive"};
    char text[16];

    snprintf(text, sizeof(text), "%d", s->split);
    return mpi_info_put(info, "xylem_split", s->split < 0 ? words[-1 - s->split] : text);
}

/* Put the chosen algorithms into an info object. */
static xy_status_t tell_algorithms(const mpi_settings_t *s, mpi_info_t *info)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st = XY_OK;

    for (int c = 0; c < XY_COLL_COUNT; c++)
        if (s->algorithm[c] != NULL)
            xy_text_addf(&text, "%s%s=%s", text.s != NULL ? "," : "",
                         xy_coll_name((xy_collective_t)c), s->algorithm[c]->name);
    if (text.failed)
        st = XY_ENOMEM;
    else if (text.s != NULL)
        st = mpi_info_put(info, "xylem_algorithm", text.s);
    xy_text_cleanup(&text);
    return st;
}

static const char *name_of(const void *entry)
{
    return entry != NULL ? *(const char *const *)entry : "auto";
}

/* One word for all collectives, or COLLECTIVE=WORD for those that are not left to the model. */
static xy_status_t tell_entries(const void *const *slots, const char *key, mpi_info_t *info)
{
    xy_text_t text = XY_TEXT_INIT;
    bool is_one = true;
    xy_status_t st = XY_OK;

    for (int c = 1; c < XY_COLL_COUNT; c++)
        is_one &= slots[c] == slots[0];
    if (is_one)
        return mpi_info_put(info, key, name_of(slots[0]));
    for (int c = 0; c < XY_COLL_COUNT; c++)
        if (slots[c] != NULL)
            xy_text_addf(&text, "%s%s=%s", text.s != NULL ? "," : "",
                         xy_coll_name((xy_collective_t)c), name_of(slots[c]));
    st = text.failed ? XY_ENOMEM : mpi_info_put(info, key, text.s);
    xy_text_cleanup(&text);
    return st;
}

static xy_status_t tell_threads(const mpi_settings_t *s, mpi_info_t *info)
{
    char text[16];
    xy_status_t st = tell_entries((const void *const *)s->place, "xylem_progress_place", info);

    if (st == XY_OK)
        st = tell_entries((const void *const *)s->order, "xylem_progress_order", info);
    snprintf(text, sizeof(text), "%d", s->priority);
    return st == XY_OK ? mpi_info_put(info, "xylem_progress_priority", text) : st;
}

xy_status_t mpi_settings_tell(const mpi_comm_t *comm, mpi_info_t *info)
{
    const mpi_settings_t *s = mpi_settings_of(comm);
    xy_status_t st = mpi_info_put(info, "xylem_progress", progress_names[s->progress]);

    if (st == XY_OK)
        st = tell_threads(s, info);
    if (st == XY_OK)
        st = tell_split(s, info);
    return st == XY_OK ? tell_algorithms(s, info) : st;
}
