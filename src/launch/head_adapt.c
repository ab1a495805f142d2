/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --adapt for a job of several processes: the head chooses when it knows the cores of all, the plan
 * goes to the processes with the job, and what they have counted comes back when their ranks have
 * ended. Profiles are put together in the order of processes, so that the result does not depend on
 * who ends first.
 */
#include <math.h>
#include <string.h>

#include "launch/head.h"
#include "mpi/adapt/adapt.h"

enum { RANKS_PLACED = 4096 }; /* more would take long to place, and their matrix much room */

/* Describe the processes: hosts, cores, slots, and the transport of messages between them. */
static void describe(const head_t *h, xy_text_t *text)
{
    xy_text_addf(text, "%d processes, %s, ppn %ld", h->count, h->values->net, (long)h->values->ppn);
    for (int i = 0; i < h->count; i++)
        xy_text_addf(text, "; %s %ld %ld", h->processes[i].host, h->processes[i].cores_there,
                     h->processes[i].slots);
}

xy_status_t head_adapt(head_t *h)
{
    mpi_adapt_place_t place = {.ranks = h->size, .nodes = h->count, .node_cores = INT32_MAX};
    xy_text_t processes = XY_TEXT_INIT;
    xy_status_t st;

    if (strcmp(h->values->adapt, "off") == 0)
        return XY_OK;
    for (int i = 0; i < h->count; i++) {
        long cores = h->processes[i].cores_there;

        place.cores += (int)cores;
        if (cores < place.node_cores)
            place.node_cores = (int)cores;
    }
    describe(h, &processes);
    place.processes = processes.s;
    h->adapted = *h->values;
    st = processes.failed
             ? xy_fail_memory("choosing")
             : mpi_launch_adapt_at(h->job->parts, &place, &h->adapted, h->job->settings);
    xy_text_cleanup(&processes);
    if (st == XY_OK)
        h->values = &h->adapted;
    if (st == XY_OK && h->values->verbose)
        mpi_launch_adapt_say();
    return st;
}

/* ---- The end ---- */

void head_take_profile(head_process_t *p, const xy_frame_t *frame)
{
    char *text = xy_strdup(frame->bytes); /* a frame has a NUL behind it in any case */
    mpi_profile_t *profile = xy_malloc(sizeof(*profile));

    if (text != NULL && profile != NULL && mpi_profile_parse(text, profile)) {
        xy_free(p->profile);
        p->profile = profile;
        profile = NULL;
    }
    xy_free(text);
    xy_free(profile);
}

/* The process of each rank; NULL: memory ran out. */
static int *find_processes(const head_t *h)
{
    int *process_of = xy_malloc((size_t)h->size * sizeof(int)), r = 0;

    for (int p = 0; process_of != NULL && p < h->count; p++)
        for (int i = 0; i < h->processes[p].ranks; i++, r++)
            process_of[r] = p;
    if (process_of != NULL && h->process_of != NULL)
        memcpy(process_of, h->process_of, (size_t)h->size * sizeof(int));
    return process_of;
}

/* The part of the run that its messages take, by the formulas of what they cross. */
static xy_status_t find_share(const head_t *h, const xy_matrix_t *m, double seconds,
                              mpi_profile_t *profile)
{
    xy_coll_link_t here = xy_coll_link_default, between = here;
    xy_link_cost_t calibrated;
    int *process_of = find_processes(h);

    if (process_of == NULL)
        return xy_fail_memory("choosing");
    if (xy_link_read(&calibrated))
        here =
            (xy_coll_link_t){calibrated.alpha, calibrated.beta, calibrated.gamma, calibrated.copy};
    between.alpha = profile->alpha;
    between.beta = profile->beta;
    profile->share = fmin(1, mpi_launch_sending(m, &here, &between, process_of) / seconds);
    xy_free(process_of);
    return XY_OK;
}

/* Find the gain of placing the ranks. Messages of the program only: those of collectives go between
 * whole processes, whichever ranks are there. */
static xy_status_t find_gain(const head_t *h, const xy_matrix_t *program, double *gain_p)
{
    if (h->size > RANKS_PLACED || program->first[program->n] == 0)
        return XY_OK;
    return head_place_gain(h, program, gain_p);
}

/* Note the merged profile and matrix of a counted run; nothing is noted if a process sent no
 * profile. */
static void end_counted(const head_t *h, double seconds)
{
    const xy_traffic_choice_t everything = {true, true, XY_TRAFFIC_ANY, XY_TRAFFIC_ANY,
                                            XY_TRAFFIC_ANY},
                              of_program = {true, false, XY_TRAFFIC_ANY, XY_TRAFFIC_ANY,
                                            XY_TRAFFIC_ANY};
    const xy_traffic_t *t = head_traffic(h);
    mpi_profile_t profile = {.gain = 1};
    xy_matrix_t *m = NULL, *program = NULL;

    for (int i = 0; i < h->count; i++) {
        if (h->processes[i].profile == NULL)
            return; /* memory ran out there */
        mpi_profile_merge(&profile, h->processes[i].profile);
    }
    if (t != NULL && xy_traffic_matrix(t, &everything, &m) == XY_OK &&
        xy_traffic_matrix(t, &of_program, &program) == XY_OK &&
        find_share(h, m, seconds, &profile) == XY_OK &&
        find_gain(h, program, &profile.gain) == XY_OK)
        mpi_launch_adapt_ended(&profile, program, seconds);
    xy_matrix_destroy(m);
    xy_matrix_destroy(program);
}

void head_adapt_end(const head_t *h, double seconds)
{
    if (mpi_launch_adapt_counts())
        end_counted(h, seconds);
    else
        mpi_launch_adapt_ended(NULL, NULL, seconds);
}
