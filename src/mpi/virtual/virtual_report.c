/* SPDX-License-Identifier: BSD-3-Clause */
/* Report the time of a run in virtual time. */
#include <math.h>

#include "draw/draw.h"
#include "mpi/virtual/private.h"

static const char *library_name(void)
{
    return virtual.config->job.library != NULL ? virtual.config->job.library : "xylem";
}

const xy_machine_t *mpi_virtual_machine(const int32_t **core_of_p)
{
    *core_of_p = virtual.config->job.core_of;
    return virtual.config->job.machine;
}

void mpi_virtual_say(FILE *file)
{
    xy_vjob_totals_t t;
    char bytes[32], seconds[32];

    xy_vjob_totals(virtual.job, &t);
    fprintf(file,
            "mpiexec: virtual time: %s on %s, %d rank%s; %llu message%s with %s, %llu of them in "
            "%llu collective%s\n",
            xy_format_seconds(xy_vjob_end(virtual.job), seconds), virtual.config->job.machine->name,
            mpi_job->size, xy_s((uint64_t)mpi_job->size),
            (unsigned long long)t.messages + t.coll_messages, xy_s(t.messages + t.coll_messages),
            xy_format_size(t.bytes + t.coll_bytes, bytes), (unsigned long long)t.coll_messages,
            (unsigned long long)t.collectives, xy_s(t.collectives));
}

static void print_totals(xy_json_t *json)
{
    xy_vjob_totals_t t;

    xy_vjob_totals(virtual.job, &t);
    xy_fields(json,
              "time %g messages %lu bytes %lu point_to_point_messages %lu point_to_point_bytes %lu "
              "collectives %lu events %lu",
              xy_vjob_end(virtual.job), t.messages + t.coll_messages, t.bytes + t.coll_bytes,
              t.messages, t.bytes, t.collectives, t.events);
}

/* Write the times and messages of one rank as JSON. */
static void print_process(xy_json_t *json, int32_t p)
{
    xy_vjob_proc_t of;

    xy_vjob_proc(virtual.job, p, &of);
    xy_fields_object(json, NULL,
                     "core %d end %g compute %g communication %g idle %g messages %lu bytes %lu",
                     virtual.config->job.core_of[p], of.end, of.compute, of.communication, of.idle,
                     of.messages, of.bytes);
}

void mpi_virtual_print_json(FILE *file)
{
    xy_json_t json;

    xy_json_init(&json, file, true);
    xy_json_begin_object(&json, NULL);
    xy_fields(&json, "machine %s library %s ranks %d", virtual.config->job.machine->name,
              library_name(), mpi_job->size);
    print_totals(&json);
    xy_json_begin_array(&json, "processes");
    for (int32_t p = 0; p < mpi_job->size; p++)
        print_process(&json, p);
    xy_json_end(&json);
    xy_json_end(&json);
}

xy_status_t mpi_virtual_monitor(mpi_job_t *job)
{
    xy_vec_t pairs = XY_VEC_INIT(xy_vjob_pair_t);
    xy_status_t st = xy_vjob_matrix(virtual.job, &pairs);

    for (size_t i = 0; i < pairs.count; i++) {
        const xy_vjob_pair_t *p = &XY_VEC_AT(&pairs, xy_vjob_pair_t, i);

        if (p->coll_messages > 0 && job->ranks[p->from].monitor != NULL)
            mpi_monitor_add_many(&job->ranks[p->from], p->to, job->ranks[0].comm_world->context,
                                 p->coll_messages, p->coll_bytes);
    }
    xy_vec_cleanup(&pairs);
    return st;
}

double mpi_virtual_seconds(void)
{
    return xy_vjob_end(virtual.job);
}

double mpi_virtual_share(void)
{
    double end = xy_vjob_end(virtual.job), most = 0;
    xy_vjob_proc_t of;

    for (int32_t p = 0; p < mpi_job->size; p++) {
        xy_vjob_proc(virtual.job, p, &of);
        most = fmax(most, of.compute + of.slept);
    }
    return end > most ? 1 - most / end : 0;
}

xy_status_t mpi_virtual_calls(xy_vec_t *calls)
{
    return xy_vjob_calls(virtual.job, calls);
}

xy_status_t mpi_virtual_try(const xy_vjob_calls_t *calls, const xy_coll_algorithm_t *algorithm,
                            double *seconds_p)
{
    return xy_vjob_try(virtual.job, calls, algorithm, seconds_p);
}

xy_status_t mpi_virtual_matrix(xy_matrix_t **matrix_p)
{
    xy_vec_t pairs = XY_VEC_INIT(xy_vjob_pair_t), entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_status_t st = xy_vjob_matrix(virtual.job, &pairs);

    for (size_t i = 0; i < pairs.count && st == XY_OK; i++) {
        const xy_vjob_pair_t *p = &XY_VEC_AT(&pairs, xy_vjob_pair_t, i);
        xy_matrix_entry_t e = {.from = (uint32_t)p->from,
                               .to = (uint32_t)p->to,
                               .bytes = (double)(p->bytes + p->coll_bytes),
                               .messages = (double)(p->messages + p->coll_messages)};

        if (xy_vec_append(&entries, &e) != XY_OK)
            st = xy_fail_memory("counting messages");
    }
    if (st == XY_OK)
        st = xy_matrix_build((uint32_t)mpi_job->size, entries.data, entries.count, true, matrix_p);
    xy_vec_cleanup(&pairs);
    xy_vec_cleanup(&entries);
    return st;
}

xy_status_t mpi_virtual_finish_trace(void)
{
    xy_trace_t *trace = virtual.trace;

    virtual.trace = NULL;
    return trace != NULL ? xy_trace_close(trace) : XY_OK;
}
