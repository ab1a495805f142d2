/* SPDX-License-Identifier: BSD-3-Clause */
/* Options for the standard streams of ranks. */
#include <string.h>

#include "launch/launch.h"
#include "launch/launch_node.h"
#include "process/process.h"

/* Read the rank of --stdin, or none or all. */
static xy_status_t read_input(const char *text, int size, bool is_several, int *rank_p)
{
    long rank = 0;

    if (text != NULL && strcmp(text, "all") == 0 && is_several)
        return xy_fail(XY_EUNSUPPORTED,
                       "--stdin all is for jobs of one process; give one rank, or read a file");
    if (text != NULL && strcmp(text, "all") == 0)
        rank = PROCESS_INPUT_ALL;
    else if (text != NULL && strcmp(text, "none") == 0)
        rank = PROCESS_INPUT_NONE;
    else if (text != NULL &&
             (!xy_parse_long(text, &rank) || rank < 0 || (size > 0 && rank >= size)))
        return xy_fail(XY_EUSAGE, "--stdin %s: give a rank of the job (0 to %d), none or all", text,
                       size > 0 ? size - 1 : 0);
    *rank_p = (int)rank;
    return XY_OK;
}

/* Several processes would overwrite each other's lines in one file. */
static xy_status_t check_pattern(const char *option, const char *pattern)
{
    if (pattern == NULL || strstr(pattern, "%r") != NULL)
        return XY_OK;
    return xy_fail(XY_EUNSUPPORTED,
                   "%s %s: several processes write such a file; give each rank its own with %%r",
                   option, pattern);
}

xy_status_t mpi_launch_output_check(const mpi_launch_values_t *v, int size, bool is_several,
                                    int *input_p)
{
    xy_status_t st = read_input(v->stdin_to, size, is_several, input_p);

    if (st == XY_OK && is_several)
        st = check_pattern("--outfile-pattern", v->output_pattern);
    if (st == XY_OK && is_several)
        st = check_pattern("--errfile-pattern", v->error_pattern);
    return st;
}

xy_status_t mpi_launch_output(const mpi_launch_values_t *v, int size, const mpi_node_job_t *node)
{
    process_streams_config_t c = {
        .tag = v->tag_output     ? PROCESS_TAG_STREAM
               : v->prepend_rank ? PROCESS_TAG_NUMBER
                                 : PROCESS_TAG_NONE,
        .has_time = v->has_time,
        .is_merged = v->is_merged,
        .directory = v->output_directory,
        .patterns = {v->output_pattern, v->error_pattern},
        .process = node != NULL ? node->process : 0,
        .host = node != NULL ? node->hosts[node->process] : NULL,
    };
    xy_status_t st = mpi_launch_output_check(v, size, node != NULL, &c.input);

    if (st == XY_OK)
        process_streams_setup(&c);
    return st;
}

bool mpi_launch_output_is_watched(const mpi_launch_values_t *values)
{
    return values->timeout > 0 || values->tag_output || values->prepend_rank || values->has_time ||
           values->is_merged || values->output_directory != NULL ||
           values->output_pattern != NULL || values->error_pattern != NULL ||
           values->stdin_to != NULL;
}
