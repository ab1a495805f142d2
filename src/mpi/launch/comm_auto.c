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
#include <sys/stat.h>
#include <unistd.h>

#include "coll/coll.h"
#include "cost/cost.h"
#include "mpi/launch/launch.h"
#include "mpi/launch/libc/libc.h"

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

static char *file_name(void)
{
    char *store, *path;

    if (xy_costs_path(&store) != XY_OK)
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

static xy_status_t note_in(char *path, const char *program, int ranks, double work)
{
    char *slash = strrchr(path, '/');
    xy_out_t *out;
    xy_status_t st;

    if (slash != NULL && slash != path) {
        *slash = '\0';
        mkdir(path, 0777); /* opening reports the error */
        *slash = '/';
    }
    st = xy_out_open(path, &out);
    if (st != XY_OK)
        return st;
    rewrite(xy_out_file(out), path, program, ranks, work);
    return xy_out_commit(out);
}

xy_status_t mpi_comm_auto_note(const char *program, int ranks, double work)
{
    char *path = file_name(), *full = realpath(program, NULL);
    xy_status_t st = XY_OK;

    if (path != NULL && full != NULL && work > 0.0 && strchr(full, '\n') == NULL)
        st = note_in(path, full, ranks, work);
    free(full);
    xy_free(path);
    return st;
}

int mpi_comm_auto(const mpi_launch_values_t *values, int cores, int ranks, const char *program)
{
    char *path = file_name(), *full = realpath(program, NULL);
    double work = path != NULL && full != NULL ? recall(path, full, ranks) : 0.0;
    int k = mpi_comm_auto_cores(cores, ranks, work);

    free(full);
    xy_free(path);
    if (values->verbose)
        mpi_launch_say("%d of %d cores communicate: the best by the model for %s", k, cores,
                       work > 0 ? "the computation measured before"
                                : "a program that computes as long as it communicates");
    return k;
}
