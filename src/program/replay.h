/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay of a recorded run on another machine, or with another placement, by the virtual clock.
 *
 *   xy_replay_t *replay;
 *   xy_replay_result_t r;
 *   st = xy_replay_from_trace(log, &replay);
 *   st = xy_replay_run(replay, &job_config, 1, &r);
 *   printf("%g s\n", r.seconds);
 *   xy_replay_result_cleanup(&r);
 *   xy_replay_destroy(replay);
 *
 * From a trace of a real run: each process repeats its computation, sends, receives and collectives
 * in the recorded order. It waits for a message in the call in which the message met its receive,
 * and for nonblocking operations in the next MPI_Wait or MPI_Test. So no wait depends on a later
 * event of the recorded run, and the replay ends as the run did. Blocks of different sizes in one
 * collective become blocks of their mean.
 *
 * From a matrix, which has no order and no computation: every process sends its messages in as many
 * rounds as the busiest pair has messages, evenly, and completes its messages in each round. The
 * time is that of communication alone.
 *
 * A replay never changes once it is made; any thread may run it.
 */
#ifndef XY_PROGRAM_REPLAY_H
#define XY_PROGRAM_REPLAY_H

#include "place/place.h"
#include "sim/sim.h"
#include "trace/trace.h"

typedef struct xy_replay xy_replay_t;

typedef struct {
    double seconds;
    xy_vec_t pairs; /* of xy_vjob_pair_t, when the job was to count them */
} xy_replay_result_t;

/* On success the caller owns *replay_p. EINVAL (reported): the trace has no ranks, in virtual time
 * or of an older version; ranks or members are missing. */
xy_status_t xy_replay_from_trace(const xy_trace_log_t *log, xy_replay_t **replay_p);
xy_status_t xy_replay_from_matrix(const xy_matrix_t *matrix, xy_replay_t **replay_p);
void xy_replay_destroy(xy_replay_t *replay); /* NULL is fine */
int32_t xy_replay_procs(const xy_replay_t *replay);
bool xy_replay_has_computation(const xy_replay_t *replay);
/* The script of the replay, to be changed before it is run for the first time. Of a trace, the mark
 * of an operation is the step of its call, or of the call behind a computation. */
xy_script_t *xy_replay_script(xy_replay_t *replay);

/* `job`: all but the callbacks, for that number of processes. Computation is `speed` times as fast
 * as it was. EINVAL (reported): processes wait for each other. */
xy_status_t xy_replay_run(const xy_replay_t *replay, const xy_vjob_config_t *job, double speed,
                          xy_replay_result_t *result);
void xy_replay_result_cleanup(xy_replay_result_t *result);

/* The matrix of bytes between processes, from the counts of a job. The caller owns *matrix_p. */
xy_status_t xy_pairs_matrix(const xy_vec_t *pairs, int32_t procs, xy_matrix_t **matrix_p);

#endif
