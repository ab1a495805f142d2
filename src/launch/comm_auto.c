/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --comm-cores auto: how many cores to keep for communication.
 *
 * The model of split-tree (coll/split.h) says how long a collective beside a computation takes when
 * the ranks share n - k of n cores and the best number of levels is split off: the k of least time
 * is taken, the smallest on ties. It wants the computation of all cores together between a start
 * and its Wait, in transfers of a buffer. A job that runs with `auto` measures it and notes it at
 * its end beside the file of costs, by program and number of ranks; the next run of the same finds
 * it there. Before, the model's own is taken: a program that computes as long as it communicates.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/coll.h"
#include "cost/cost.h"
#include "launch/launch.h"
#include "process/process.h"

enum { LINES_MAX = 1000 }; /* programs that are remembered */

/* ---- The model ---- */

int mpi_comm_auto_cores(int cores, int ranks, double work)
{
    double least = INFINITY;
    int best = 0;

    for (int k = 0; k < cores; k++) {
        xy_split_t s = {.cores = cores, .ranks = ranks, .compute_cores = cores - k, .base = 2};
        double time;

        if (work > 0.0) {
            s.has_compute = true;
            s.compute = work / (cores - k);
        }
        time = xy_split_overlapped(&s, xy_split_best(&s));
        if (time < least * (1.0 - 1e-9)) {
            least = time;
            best = k;
        }
    }
    return best;
}

/* ---- What was measured before: lines "RANKS WORK PROGRAM" ---- */

/* NULL: there is no place for it, or no memory. */
static char *file_name(void)
{
    char *store = xy_costs_where(), *path;

    if (store == NULL)
        return NULL;
    path = xy_sprintf("%s.overlap", store);
    xy_free(store);
    return path;
}

/* Is this the line of the program? Then *work_p is set. */
static bool parse_line(const char *line, const char *program, int ranks, double *work_p)
{
    char *end;
    long found = strtol(line, &end, 10);
    double work = strtod(end, &end);

    if (found != ranks || *end != ' ' || strcmp(end + 1, program) != 0 || !(work > 0) ||
        !isfinite(work))
        return false;
    *work_p = work;
    return true;
}

/* Read the computation noted for a program and number of ranks; 0 if there is none. */
static double recall(const char *path, const char *program, int ranks)
{
    double work = 0.0;
    char *data = NULL, *rest;
    size_t size;

    if (access(path, R_OK) != 0 || xy_file_read(path, 1 << 20, &data, &size) != XY_OK)
        return 0.0;
    rest = data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (parse_line(line, program, ranks, &work))
            break;
    xy_free(data);
    return work;
}

/* The file again with the line of this program first; old programs drop off the end. */
static void rewrite(FILE *to, const char *path, const char *program, int ranks, double work)
{
    char *data = NULL, *rest;
    size_t size;
    double ignored;
    int lines = 1;

    fprintf(to, "%d %.6g %s\n", ranks, work, program);
    if (access(path, R_OK) != 0 || xy_file_read(path, 1 << 20, &data, &size) != XY_OK)
        return;
    rest = data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && lines < LINES_MAX;)
        if (*line != '\0' && !parse_line(line, program, ranks, &ignored)) {
            fprintf(to, "%s\n", line);
            lines++;
        }
    xy_free(data);
}

/* Store the line; a failure is reported, and no error of the job. */
static void note_in(const char *path, const char *program, int ranks, double work)
{
    int error = xy_try_directories(path);
    xy_out_t *out;

    if (error != 0) {
        xy_warn("--comm-cores auto: the measurement of this run is not stored in '%s': %s; set "
                "XYLEM_COSTS to another path",
                path, strerror(error));
        return;
    }
    if (xy_out_open(path, &out) != XY_OK)
        return;
    rewrite(xy_out_file(out), path, program, ranks, work);
    (void)xy_out_commit(out);
}

void mpi_comm_auto_note(const char *program, int ranks, double work)
{
    char *path = file_name(), *full = realpath(program, NULL);

    if (path == NULL)
        xy_warn("--comm-cores auto: the measurement of this run is not stored: neither HOME nor "
                "XDG_CACHE_HOME is set; set XYLEM_COSTS to a path");
    else if (full != NULL && work > 0.0 && strchr(full, '\n') == NULL)
        note_in(path, full, ranks, work);
    free(full);
    xy_free(path);
}

int mpi_comm_auto(const mpi_launch_values_t *values, int cores, int ranks, const char *program)
{
    char *path = file_name(), *full = realpath(program, NULL);
    double work = path != NULL && full != NULL ? recall(path, full, ranks) : 0.0;
    int k = mpi_comm_auto_cores(cores, ranks, work);

    free(full);
    xy_free(path);
    if (values->verbose)
        process_say("%d of %d cores communicate: the best by the model for %s", k, cores,
                    work > 0 ? "the computation measured before"
                             : "a program that computes as long as it communicates");
    return k;
}
