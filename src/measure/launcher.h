/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An installed MPI: its launcher, and the probe compiled for it (private to the component).
 *
 *   measure_launcher_t l;
 *   st = measure_launcher_find(NULL, &l);
 *   st = measure_launcher_prepare(&l, NULL, NULL);
 *   st = measure_launcher_words(&l, 2, NULL, NULL, &words);     (mpirun -np 2 .../probe)
 *   measure_words_cleanup(&words);
 *   measure_launcher_cleanup(&l);
 */
#ifndef XY_MEASURE_LAUNCHER_H
#define XY_MEASURE_LAUNCHER_H

#include "base/base.h"

enum { COST_HEADERS = 4 }; /* that the probe includes */

typedef enum { COST_OPEN_MPI, COST_HYDRA, COST_SLURM } measure_launcher_kind_t;

typedef struct {
    measure_launcher_kind_t kind;
    char command[256];
    char directory[64]; /* ours, with the files below; "": not prepared */
    char source[96], program[96], headers[COST_HEADERS][96];
    char hostfile[96]; /* "": this machine */
    int per_host;      /* processes on each of its hosts */
    xy_scratch_t *guards[5 + COST_HEADERS];
} measure_launcher_t;

/* The launcher of this name (NULL: mpirun, mpiexec or srun, whichever is here). ENOENT: none, or
 * not one that is known. */
xy_status_t measure_launcher_find(const char *wanted, measure_launcher_t *launcher_p);

/* Compile the probe with `compiler` (NULL: mpicc) in a fresh directory, with a file of the `hosts`
 * (of char *; NULL: this machine) beside it. */
xy_status_t measure_launcher_prepare(measure_launcher_t *l, const char *compiler,
                                     const xy_vec_t *hosts);
void measure_launcher_cleanup(measure_launcher_t *l); /* removes the directory */

/* `l`, prepared, for `count` processes on one host: *one_p has a file of hosts of its own in the
 * same directory, which goes with `l`; only measure_launcher_words may be called with it. */
xy_status_t measure_launcher_one_host(const measure_launcher_t *l, const char *host, int count,
                                      measure_launcher_t *one_p);

/* The words that start `count` processes of the probe, appended to `words` (of char *): the caller
 * frees them, also on failure. `agent`: how to reach a host; `extra` (of const char *): more words
 * for the launcher; both may be NULL. */
xy_status_t measure_launcher_words(const measure_launcher_t *l, size_t count, const char *agent,
                                   const xy_vec_t *extra, xy_vec_t *words);

/* Append a word, in new memory. ENOMEM is reported. */
xy_status_t measure_words_push(xy_vec_t *words, const char *word);
/* All of a list ended by NULL. */
xy_status_t measure_words_push_all(xy_vec_t *words, const char *const *list);
void measure_words_cleanup(xy_vec_t *words);

#endif
