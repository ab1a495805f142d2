/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "calibrate.h"
#include "fiber/fiber.h"

enum { TIMES = 200, SIZES = 75 /* about so many sizes of messages, with those at jumps */ };

/* A PU at each distance from the first. */
typedef struct {
    int first, other;
    const char *name;
} level_t;

enum { LEVELS_MAX = 16 };

/* The levels, nearest first, beginning with the PU itself; how many. */
static int list_levels(const xy_machine_t *live, level_t levels[LEVELS_MAX])
{
    xy_obj_t first = XY_OBJ_NONE;
    uint32_t seen = 0;
    int n = 0;

    for (uint32_t i = 0; i < live->leaves && n < LEVELS_MAX; i++) {
        xy_obj_t leaf = live->leaf[i];
        uint32_t hops;

        if (!xy_machine_is_usable(live, leaf))
            continue;
        if (first == XY_OBJ_NONE) {
            first = leaf;
            levels[n++] =
                (level_t){(int)live->physical[leaf], (int)live->physical[leaf], XY_COSTS_PU};
            continue;
        }
        /* Leaves are in tree order: a new distance is a greater one. */
        hops = xy_machine_hops(live, first, leaf);
        if (hops <= seen)
            continue;
        seen = hops;
        levels[n] = (level_t){levels[0].first, (int)live->physical[leaf], XY_COSTS_LOCAL};
        if (n > 1)
            levels[n].name = xy_obj_type_name(
                (xy_obj_type_t)live->type[xy_machine_common_ancestor(live, first, leaf)]);
        n++;
    }
    return n;
}

/* ---- Fibers ---- */

static xy_status_t measure_fibers(const xy_calibration_t *c, xy_fiber_cost_t what, const char *name,
                                  const char *text, const int cpus[2], xy_costs_t *costs)
{
    const bool is_two = what == XY_FIBER_WAKE || what == XY_FIBER_WAKE_ASLEEP;
    double seconds[TIMES], begin = xy_now();
    xy_status_t st = xy_fiber_measure(what, cpus, seconds, TIMES);

    if (c->bar != NULL)
        xy_progress_step(c->bar, (uint64_t)(1000 * (xy_now() - begin)));
    return st == XY_OK ? xy_calibrate_constant(c, name, text, cpus[0], is_two ? cpus[1] : cpus[0],
                                               seconds, TIMES, costs)
                       : st;
}

xy_status_t calibrate_fibers(const xy_calibration_t *c, const xy_machine_t *live, xy_costs_t *costs)
{
    level_t levels[LEVELS_MAX];
    int count = list_levels(live, levels), cpus[2];
    xy_status_t st;

    if (count == 0)
        return XY_OK;
    cpus[0] = levels[0].first;
    cpus[1] = levels[count > 1].other;
    st = measure_fibers(c, XY_FIBER_SWITCH, "switch", "switch of fibers", cpus, costs);
    if (st == XY_OK)
        st = measure_fibers(c, XY_FIBER_POLL, "poll", "poll of an idle core", cpus, costs);
    if (st == XY_OK && count > 1)
        st = measure_fibers(c, XY_FIBER_WAKE, "wake", "wake-up of a polling core", cpus, costs);
    if (st == XY_OK && count > 1)
        st = measure_fibers(c, XY_FIBER_WAKE_ASLEEP, "wake-asleep", "wake-up of a sleeping core",
                            cpus, costs);
    return st;
}

/* ---- Messages ---- */

typedef struct {
    const char *launcher, *probe;
} command_t;

/* Words that start so many processes of the probe on one core, or on two. */
static xy_status_t list_words(const command_t *command, int processes, int core, int other,
                              xy_vec_t *words)
{
    char cores[32], count[16];
    const char *const list[] = {command->launcher, "-n", count, "-cores", cores, command->probe};
    xy_status_t st = XY_OK;

    snprintf(count, sizeof(count), "%d", processes);
    if (core == other)
        snprintf(cores, sizeof(cores), "%d", core);
    else
        snprintf(cores, sizeof(cores), "%d,%d", core, other);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && st == XY_OK; i++) {
        char *word = xy_strdup(list[i]);

        if (word == NULL || xy_vec_append(words, &word) != XY_OK) {
            xy_free(word);
            st = xy_fail_memory("starting processes");
        }
    }
    return st;
}

static void free_words(xy_vec_t *words)
{
    for (size_t i = 0; i < words->count; i++)
        xy_free(XY_VEC_AT(words, char *, i));
    xy_vec_cleanup(words);
}

/* Two processes of one core are measured while two are busy on `busy`. */
static xy_status_t measure_level(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                                 const level_t *level, int busy, const command_t *command,
                                 xy_costs_t *costs)
{
    xy_messages_calibration_t here = *m;
    xy_vec_t words = XY_VEC_INIT(char *), alone = XY_VEC_INIT(char *);
    bool is_shared = level->first == level->other;
    bool has_others = is_shared && busy != level->first;
    xy_status_t st = list_words(command, has_others ? 4 : 2, level->first,
                                has_others ? busy : level->other, &words);

    if (st == XY_OK && is_shared)
        st = list_words(command, 2, level->first, level->first, &alone);
    here.words = &words;
    here.alone = is_shared ? &alone : NULL;
    here.cluster = level->name;
    if (st == XY_OK)
        st = xy_calibrate_messages(c, &here, costs);
    free_words(&words);
    free_words(&alone);
    return st;
}

/* On the first core and the nearest other one: alone, a core need not ask what others have for it.
 */
static xy_status_t measure_crowd(int core, int other, const command_t *command, xy_costs_t *costs)
{
    xy_vec_t words = XY_VEC_INIT(char *);
    xy_status_t st =
        list_words(command, XY_MESSAGE_CROWD * (core != other ? 2 : 1), core, other, &words);

    if (st == XY_OK)
        st = xy_calibrate_crowd(&words, costs);
    free_words(&words);
    return st;
}

/* One that is too noisy was reported; the others continue. */
static xy_status_t count_failed(xy_status_t st, int *failed_p)
{
    if (st != XY_EINVAL)
        return st;
    ++*failed_p;
    return XY_OK;
}

/* Measures messages at each distance between processors, then on one processor, then with many
 * ranks per core. */
static xy_status_t measure_messages(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                                    double seconds, const xy_machine_t *live,
                                    const command_t *command, xy_costs_t *costs, int *failed_p)
{
    level_t levels[LEVELS_MAX];
    xy_messages_calibration_t one = *m;
    int count = list_levels(live, levels), nearest;
    xy_status_t st = XY_OK;

    one.budget = seconds / fmax(count, 1);
    one.seconds = fmin(seconds / (SIZES * fmax(count, 1)), 0.16);
    if (count == 0)
        return XY_OK;
    nearest = levels[count > 1].other;
    /* The nearest other PU first: it is the default. */
    for (int i = 1; i < count && st == XY_OK; i++)
        st = count_failed(measure_level(c, &one, &levels[i], nearest, command, costs), failed_p);
    if (st == XY_OK)
        st = count_failed(measure_level(c, &one, &levels[0], nearest, command, costs), failed_p);
    if (st == XY_OK)
        st = measure_crowd(levels[0].first, nearest, command, costs);
    return st;
}

xy_status_t calibrate_own_messages(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                                   double seconds, const xy_machine_t *live, xy_costs_t *costs,
                                   int *failed_p)
{
    char *launcher = xy_beside("mpiexec"), *probe = xy_beside("../lib/xylem/xylem-probe");
    const command_t command = {launcher, probe};
    xy_status_t st = XY_OK;

    if (launcher != NULL && probe != NULL && access(launcher, X_OK) == 0 &&
        access(probe, X_OK) == 0)
        st = measure_messages(c, m, seconds, live, &command, costs, failed_p);
    else
        xy_warn("there is no mpiexec with its probe beside this program; messages are left out");
    xy_free(launcher);
    xy_free(probe);
    return st;
}
