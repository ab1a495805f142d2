/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing one of several ways to do the same thing, by predicted times and the measured times of
 * earlier runs.
 *
 *   xy_parameter_t n = {"n", 4096};
 *   xy_candidate_t c[] = {{"columns", 1.31, 0.1}, {"fox", 1.18, 0.1}};
 *   xy_choose_t q = {.instance = {"matmul", "node7", &n, 1}, .candidates = c, .count = 2,
 *                    .history = history, .reference = XY_CHOOSE_NONE, .loss = 0.02};
 *   xy_estimate_of_t of[2];
 *   xy_choice_t choice;
 *
 *   xy_choose(&q, of, &choice);
 *   ... run c[choice.chosen], measure it ...
 *   xy_history_append(path, &(xy_run_t){.instance = q.instance, ...}, 1);
 *
 * Estimates. The logarithm of measured over predicted time is taken as normal: a part that all
 * candidates of the problem have in common (the machine is slower than its models), a part of the
 * candidate, as large as the error of its prediction, a part that grows with the distance between
 * instances (the logarithm of the ratio of their parameters), and the noise of a run. The estimate
 * of an instance and its spread follow from the earlier runs of this problem on this host.
 *
 * Loss. Without a reference the least estimate is chosen. With `loss` > 0 another candidate that
 * may be better is tried now and then: only while the losses of all trials, this one at its worst
 * included, are at most `loss` of the time measured so far without those losses. With a reference
 * (the candidate that runs without a choice) every other candidate is such a trial: a series of
 * runs is slower than the reference by at most `loss` while each time is within the two standard
 * deviations of its estimate.
 *
 * Nothing parks. A history may be read from any thread while no thread changes it; files may be
 * changed by any number of processes at once.
 */
#ifndef XY_CHOOSE_CHOOSE_H
#define XY_CHOOSE_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

enum { XY_CHOOSE_PARAMETERS_MAX = 16, XY_CHOOSE_WORD_MAX = 127, XY_HISTORY_RECENT = 250 };

typedef struct {
    const char *name;
    double value;
} xy_parameter_t;

/* Words are 1 to XY_CHOOSE_WORD_MAX printable characters without blanks, ',' and '='. */
typedef struct {
    const char *problem, *host;
    const xy_parameter_t *parameters;
    size_t count;
} xy_instance_t;

/* ---- History ---- */

typedef struct {
    xy_instance_t instance;
    int64_t time; /* seconds since 1970 */
    const char *alternative;
    double predicted, measured; /* seconds, > 0 */
    double instead;             /* a trial: what would have run instead was to take this; else 0 */
} xy_run_t;

typedef struct {
    xy_vec_t runs; /* of xy_run_t, oldest first */
    xy_arena_t *words;
} xy_history_t;

/* $XYLEM_HISTORY, else below $XDG_CACHE_HOME or ~/.cache. The caller frees *path_p. ENOENT: no
 * home (reported). */
xy_status_t xy_history_path(char **path_p);

/* The last XY_HISTORY_RECENT runs of a problem on a host (NULL: all runs, and on all hosts). A file
 * that is not there is an empty history. Lines that are none are left out, with one warning that
 * names the first; those of other problems are passed over. The caller owns *history_p. */
xy_status_t xy_history_load(const char *path, const char *problem, const char *host,
                            xy_history_t **history_p);
void xy_history_destroy(xy_history_t *history); /* NULL is fine */

/* Add runs to the file, which is made with the directories above it where it is missing. When it
 * has grown beyond 1 MiB the older half goes. EINVAL: a word or a time that no line can hold. */
xy_status_t xy_history_append(const char *path, const xy_run_t *runs, size_t count);
/* Add what is in another file and not yet in this one; *added_p: how much. EPARSE: a line of it is
 * none; nothing is added. */
xy_status_t xy_history_import(const char *path, const char *from, size_t *added_p);
/* Remove the runs of a problem on a host (NULL: of all), and lines that are none; how many. What
 * mpiexec --adapt keeps beside the file for them goes, too. */
xy_status_t xy_history_clear(const char *path, const char *problem, const char *host,
                             size_t *removed_p);
/* One line per run, as the file has them. */
void xy_history_print(const xy_history_t *history, FILE *file);

/* Whether it can stand in a history. */
bool xy_choose_is_word(const char *word);

/* ---- Decision ---- */

#define XY_CHOOSE_NONE ((size_t)-1)

typedef struct {
    const char *name;
    double predicted; /* seconds, > 0; INFINITY: not for this instance */
    double error;     /* relative, of the prediction; < 0: not known */
} xy_candidate_t;

typedef struct {
    xy_instance_t instance;
    const xy_candidate_t *candidates;
    size_t count;
    const xy_history_t *history; /* of this problem and host; NULL: none */
    size_t reference;            /* the candidate used without a choice; or XY_CHOOSE_NONE */
    double loss;
    double noise;    /* of runs, relative; 0: 5 % */
    bool is_settled; /* nothing is tried that is not estimated to be the best */
} xy_choose_t;

typedef struct {
    double seconds;   /* corrected */
    double low, high; /* two standard deviations around it, */
    double deviation; /* of its logarithm */
    size_t runs;      /* measured, of this candidate */
    double nearest;   /* distance to the nearest of them, as a ratio; 0: there is none */
} xy_estimate_of_t;

typedef struct {
    size_t chosen;
    size_t best;     /* by the estimates */
    bool is_trial;   /* chosen to learn, or instead of the reference */
    double instead;  /* for the history */
    double sure;     /* probability that `best` is the best of all */
    double spent;    /* seconds that trials have lost */
    double measured; /* seconds of all runs of the problem here */
} xy_choice_t;

/* `of` has room for all candidates. EINVAL (reported): there is no candidate for this instance, or
 * a prediction is no time. */
xy_status_t xy_choose(const xy_choose_t *request, xy_estimate_of_t *of, xy_choice_t *choice_p);

/* ---- Reconsidering inside a run (reconsider.c) ---- */

/*
 * The choice for calls that a run makes again and again. Their times arrive as medians of `length`
 * calls, first of XY_RECONSIDER_WINDOW. The first median is that of the choice. When two in a row
 * are more than XY_RECONSIDER_LEAP times it, or less than its inverse, each other candidate is
 * tried for XY_RECONSIDER_TRIAL calls, cheapest prediction first, and takes the place of the chosen
 * one where it saves XY_RECONSIDER_GAIN. A trial waits until all losses, its own included if it
 * takes twice as long as predicted, are at most `loss` of the time of the calls so far.
 *
 * The same medians give the same decisions: where several decide, they agree on the medians.
 */
enum { XY_RECONSIDER_MAX = 16, XY_RECONSIDER_WINDOW = 64, XY_RECONSIDER_TRIAL = 8 };
#define XY_RECONSIDER_LEAP 1.5
#define XY_RECONSIDER_GAIN 0.1

typedef struct {
    int count, chosen;                   /* candidates; the one that is used without a trial */
    int current, length;                 /* candidate of the next calls; how many */
    double predicted[XY_RECONSIDER_MAX]; /* of each; only ratios matter */
    double loss;
    double base;        /* the median at the choice; 0: not yet known */
    double now;         /* the last median of the chosen one */
    double spent, lost; /* seconds of all calls; by trials */
    int departed;       /* windows in a row */
    uint32_t untried;   /* bit 1 << candidate: its trial is to come */
} xy_reconsider_t;

/* Candidates with their predicted times, at most XY_RECONSIDER_MAX; 0 is chosen. */
void xy_reconsider_init(xy_reconsider_t *r, const double *predicted, int count, double loss);
/* The median of the last `length` calls. True: another candidate than before is the chosen one. */
bool xy_reconsider_add(xy_reconsider_t *r, double seconds);
/* The median; the array is sorted. */
double xy_reconsider_median(double *seconds, int count);

#endif
