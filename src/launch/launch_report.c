/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --report: a profile of the run, from its beginning to the lines at its end. In a job of several
 * processes each sends its part to the head as the text of a profile.
 */
#include "launch/launch_report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch_node.h"
#include "mpi/virtual/virtual.h"
#include "process/process.h"

enum { PIECE = 1 << 20 };

static char *path; /* absolute: the program may change its directory; NULL: no file is asked for */

xy_status_t mpi_report_prepare(const mpi_launch_values_t *values)
{
    char here[PATH_MAX] = "";
    const char *file = values->report;

    if (file == NULL || file[0] == '\0')
        return XY_OK;
    if (file[0] != '/' && strcmp(file, "-") != 0 && getcwd(here, sizeof(here)) == NULL)
        return xy_fail_errno(errno, file, "find its directory");
    path = xy_sprintf("%s%s%s", here, here[0] != '\0' ? "/" : "", file);
    return path != NULL ? XY_OK : xy_fail_memory("preparing a report");
}

static const char *short_name(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash != NULL ? slash + 1 : program;
}

/* Add bytes and messages of each pair of ranks to the profile. */
static xy_status_t add_pairs(xy_profile_t *p, mpi_job_t *job)
{
    const xy_traffic_choice_t all = {true, true, XY_TRAFFIC_ANY, XY_TRAFFIC_ANY, XY_TRAFFIC_ANY};
    xy_matrix_t *m = NULL;
    xy_traffic_t t;
    xy_status_t st = mpi_monitor_collect(job, &t);

    if (st != XY_OK)
        return st;
    st = xy_traffic_matrix(&t, &all, &m);
    xy_traffic_cleanup(&t);
    for (uint32_t from = 0; st == XY_OK && from < m->n; from++)
        for (size_t k = m->first[from]; k < m->first[from + 1] && st == XY_OK; k++) {
            xy_profile_pair_t pair = {from, m->to[k], (uint64_t)m->bytes[k],
                                      (uint64_t)m->messages[k]};

            if (pair.to < p->ranks.count && xy_vec_append(&p->pairs, &pair) != XY_OK)
                st = xy_fail_memory("collecting a profile");
        }
    xy_matrix_destroy(m);
    return st;
}

static xy_status_t write_profile(const void *p, FILE *file)
{
    xy_profile_write(p, file);
    return XY_OK;
}

/* The file, and what a person wants to know at once. */
static xy_status_t show(xy_profile_t *p, bool is_quiet)
{
    xy_analysis_t *a;
    xy_status_t st = xy_profile_settle(p);

    if (st == XY_OK)
        st = xy_out_write(path, write_profile, p);
    if (st != XY_OK || is_quiet)
        return st;
    st = xy_analyse(p, 0, &a);
    if (st != XY_OK)
        return st;
    xy_report_brief(a, stderr);
    xy_analysis_destroy(a);
    return XY_OK;
}

/* ---- In the process of the ranks ---- */

/* Send the profile to the head as text, in pieces. */
static xy_status_t send(const xy_profile_t *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    bool is_sent = true;

    if (file == NULL)
        return xy_fail_memory("sending a profile");
    xy_profile_write(p, file);
    if (fclose(file) != 0) {
        free(text);
        return xy_fail_memory("sending a profile");
    }
    for (size_t at = 0; at < size && is_sent; at += PIECE)
        is_sent = node_send(NODE_REPORT, text + at, size - at < PIECE ? size - at : PIECE);
    free(text);
    return is_sent ? XY_OK : xy_fail(XY_EIO, "the mpiexec that started this process has ended");
}

xy_status_t mpi_report_finish(const mpi_launch_values_t *values, mpi_job_t *job,
                              const char *program, bool is_node)
{
    const int32_t *core_of = NULL;
    xy_profile_t *p;
    xy_status_t st;

    if (job->clock != NULL)
        mpi_virtual_machine(&core_of);
    process_index_symbols(true);
    st = mpi_account_collect(job, short_name(program), core_of, &p);
    process_index_symbols(false);
    if (st != XY_OK)
        return st;
    st = add_pairs(p, job);
    if (st == XY_OK)
        st = is_node ? send(p) : show(p, values->quiet);
    xy_profile_destroy(p);
    return st;
}

/* ---- In the head ---- */

static xy_text_t *parts; /* [count]: what each process has sent */
static int part_count;

void mpi_report_take(int process, int count, const void *bytes, size_t size)
{
    if (parts == NULL)
        parts = xy_calloc((size_t)count, sizeof(*parts));
    if (parts == NULL)
        return;
    part_count = count;
    xy_text_add_bytes(&parts[process], bytes, size);
}

/* Parse the profile of one process. The caller owns *one_p. */
static xy_status_t parse(const xy_text_t *part, xy_profile_t **one_p)
{
    if (part->s == NULL || part->failed)
        return xy_fail_memory("collecting profiles");
    return xy_profile_parse(part->s, "the profile of a process", one_p);
}

xy_status_t mpi_report_end(bool is_quiet)
{
    xy_profile_t **ones = xy_calloc((size_t)part_count + 1, sizeof(*ones)), *all = NULL;
    xy_status_t st = ones != NULL ? XY_OK : xy_fail_memory("collecting profiles");

    for (int i = 0; i < part_count && st == XY_OK; i++)
        st = parse(&parts[i], &ones[i]);
    if (st == XY_OK && part_count > 0)
        st = xy_profile_join(ones, (size_t)part_count, &all);
    if (st == XY_OK && all != NULL)
        st = show(all, is_quiet);
    for (int i = 0; i < part_count && ones != NULL; i++)
        xy_profile_destroy(ones[i]);
    xy_free(ones);
    xy_profile_destroy(all);
    return st;
}
