/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiexec --adapt: choosing how to run a program by its earlier runs.
 *
 * One problem for the chooser (choose.h) is one program with its arguments, ranks and machine. Its
 * alternatives are *plans*: the default, and plans that change something: place the ranks by their
 * messages, reserve cores for communication, split trees, or use another algorithm for the calls of
 * one collective with one size on communicators of one size. The measured time is that of the whole
 * run, so that no plan is chosen for a part that does not matter. The default is the reference:
 * trials of all plans together lose at most XMPI_ADAPT_LOSS.
 *
 *   run 1           the default; its calls and its matrix are counted: the *profile*
 * (adapt_profile.c) later runs      the chooser is asked for all plans that were measured, and for
 * those that differ from the best of them in one thing; predicted times are the time of the
 * default, changed by formulas for what the plan changes (forecast.c)
 *
 * Decisions are made by the launcher, before there are ranks: all ranks of a job see the same plan.
 * In a job of several processes the head makes them, sends the plan with the job, and adds up the
 * counts of the processes.
 */
#ifndef XY_MPI_ADAPT_ADAPT_H
#define XY_MPI_ADAPT_ADAPT_H

#include "choose/choose.h"
#include "coll/coll.h"
#include "sim/sim.h"

#define XMPI_ADAPT_LOSS    0.02
#define XMPI_ADAPT_DEFAULT "default"

enum { XMPI_PLAN_PICKS = 4, XMPI_PLAN_WORD = XY_CHOOSE_WORD_MAX + 1, XMPI_PROFILE_CALLS = 16 };

/* ---- Plans (adapt_plan.c) ---- */

/* All 0: the default. */
typedef struct {
    bool is_placed; /* by the matrix of the profile */
    bool is_split;  /* trees, by the model */
    int comm_cores;
    xy_coll_pick_t picks[XMPI_PLAN_PICKS];
    size_t pick_count;
} mpi_plan_t;

/* As a word of the history: "place:matrix+allreduce/64/1048576:ring". False: it is too long. */
bool mpi_plan_format(const mpi_plan_t *plan, char word[XMPI_PLAN_WORD]);
/* False, in silence: it is none. */
bool mpi_plan_parse(const char *word, mpi_plan_t *plan);

/* ---- Profiles (adapt_profile.c) ---- */

/* The times of calls by several algorithms, each alone: the one that ran first. */
typedef struct {
    const xy_coll_algorithm_t *algorithm[XY_COLL_CANDIDATES_MAX];
    double seconds[XY_COLL_CANDIDATES_MAX];
    int count;
    bool is_simulated; /* else by formulas */
} mpi_ways_t;

/* The counts of a run by default. */
typedef struct mpi_profile {
    double share; /* of its time that is not computing, 0 to 1 */
    double gain; /* cost of messages when placed by the matrix, relative to the default; 1: no gain,
                    or not known */
    double alpha, beta; /* of messages between processes, seconds and seconds per byte; 0: all
                           ranks are in one */
    xy_vjob_calls_t calls[XMPI_PROFILE_CALLS]; /* the calls that took the most time, with 0 seconds
                                                  where that is not known */
    mpi_ways_t ways[XMPI_PROFILE_CALLS];       /* of each */
    size_t call_count;
} mpi_profile_t;

/* Keep those that matter of `calls` (of xy_vjob_calls_t), with what their formulas say. */
void mpi_profile_calls(mpi_profile_t *profile, const xy_vec_t *calls);
/* Several processes have made some of the calls together and others at the same time: each call is
 * counted as often as in the process that made most of them. */
void mpi_profile_merge(mpi_profile_t *all, const mpi_profile_t *one);
void mpi_profile_format(const mpi_profile_t *profile, xy_text_t *text);
/* Changes the text. False, in silence: it is none. */
bool mpi_profile_parse(char *text, mpi_profile_t *profile);
xy_status_t mpi_profile_write(const mpi_profile_t *profile, const char *path);
/* XY_ENOENT, in silence: there is none. An invalid file causes one warning, and counts as
 * missing. */
xy_status_t mpi_profile_read(const char *path, mpi_profile_t *profile);

/* ---- Decisions (decide.c) ---- */

typedef struct {
    xy_instance_t instance;
    const xy_history_t *history;  /* of this problem and host */
    const mpi_profile_t *profile; /* NULL: none yet */
    bool learns;                  /* else only what was measured is used */
    double noise;                 /* of runs, relative; 0: usual */
    /* The allowed changes. */
    int ranks, cores, nodes;
    int node_cores; /* of the smallest node */
    bool may_place, may_split;
    bool may_keep_cores;  /* the same number on each node; */
    bool may_share_cores; /* ... also where ranks share the others then */
    uint32_t fixed;       /* bit 1 << XY_COLL_...: the user has named its algorithm */
} mpi_adapt_t;

typedef struct {
    mpi_plan_t plan;
    char word[XMPI_PLAN_WORD];
    double predicted; /* for the history; 0: nothing is known */
    double expected, low, high;
    double otherwise; /* the expected time of the default */
    double instead;   /* for the history */
    size_t runs, default_runs;
    double lost, measured; /* by trials; all runs so far */
    bool is_settled;       /* not a trial: measured, and the best of what was */
} mpi_adapt_choice_t;

xy_status_t mpi_adapt_choose(const mpi_adapt_t *adapt, mpi_adapt_choice_t *choice_p);

/* ---- Between the files ---- */

/* Seconds of a plan where the default takes `base`, and the relative error of that. */
xy_candidate_t mpi_forecast(const mpi_adapt_t *adapt, const mpi_plan_t *plan, double base);
#endif
