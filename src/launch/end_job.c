/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/end_job.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "launch/rank_process.h"
#include "mpi/check/check.h"
#include "mpi/p2p/p2p.h"

static process_t *processes;
static int process_count;
static size_t stack_size; /* of a rank */
static _Atomic int first_code;
static atomic_flag is_over = ATOMIC_FLAG_INIT;

void mpi_finish_setup(process_t *all, int count, size_t stack)
{
    stack_size = stack;
    processes = all;
    process_count = count;
}

int mpi_finish_code(void)
{
    return first_code;
}

static void (*before_end)(int code);

void mpi_finish_before_end(void (*leaving)(int code))
{
    before_end = leaving;
}

void mpi_finish_announce(int code)
{
    if (before_end != NULL)
        before_end(code);
}

/* The C library's _exit: this library's ends ranks. */
static void end_process(int code) __attribute__((noreturn));
static void end_process(int code)
{
    static void (*next)(int);

    mpi_finish_announce(code);
    if (next == NULL)
        next = (void (*)(int))process_interpose_next("_exit");
    next(code);
    __builtin_unreachable();
}

static _Thread_local bool ends_job;

/* Only the first thread to come here ends the process; the others wait for it. A signal that
 * interrupts the end on its own thread ends the process at once. The rank's code on this thread has
 * ended: the C library's functions do not switch to another rank any more. */
static void claim_the_end(int code)
{
    process_self = NULL;
    if (ends_job)
        end_process(code);
    while (atomic_flag_test_and_set(&is_over))
        pause();
    ends_job = true;
}

void mpi_finish_flush(void)
{
    process_streams_flush_all(processes, mpi_job != NULL ? mpi_job->size : process_count);
    fflush(stdout);
    mpi_trace_cut();
}

void mpi_finish_job(int code)
{
    claim_the_end(code);
    mpi_finish_flush();
    code = mpi_check_finish(code);
    end_process(code == 0 && process_streams_failed() ? 1 : code);
}

/* The signal that ended a rank, for the files of --check; its rank < 0: none. */
static struct {
    int rank, code;
    char place[160], message[512];
} crash = {.rank = -1};

void mpi_finish_note_crash(int rank, const char *place, const char *message)
{
    crash.rank = rank;
    snprintf(crash.place, sizeof(crash.place), "%s", place);
    snprintf(crash.message, sizeof(crash.message), "%s", message);
}

static void write_findings(void)
{
    if (crash.rank >= 0)
        mpi_check_end(&(mpi_check_end_t){.kind = XMPI_FINDING_CRASH,
                                         .rank = crash.rank,
                                         .other = -1,
                                         .places = {crash.place},
                                         .message = crash.message});
    mpi_check_finish(crash.code);
}

void mpi_finish_write_now(int code)
{
    crash.code = code;
    if (mpi_checks.is_on)
        process_crash_call(write_findings);
}

void mpi_finish_now(int code)
{
    claim_the_end(code);
    mpi_trace_cut();
    mpi_finish_write_now(code);
    end_process(code);
}

/* `is_early`: it had to call more of MPI. */
static void fail_rank(const process_t *process, int code, const char *how, bool is_early)
{
    const mpi_rank_t *rank = mpi_rank_of(process);
    const char *call = rank != NULL ? rank->call.name : NULL;
    char text[160];

    snprintf(text, sizeof(text), "ended with exit code %d%s%s%s", code, how,
             call != NULL ? ", in " : "", call != NULL ? call : "");
    process_say("rank %d %s", process->number, text);
    if (is_early)
        mpi_check_end(&(mpi_check_end_t){.kind = XMPI_FINDING_EARLY_EXIT,
                                         .rank = process->number,
                                         .other = -1,
                                         .message = text});
}

/* Do other ranks of this process continue? */
static bool has_others(const mpi_rank_t *rank)
{
    for (int r = 0; r < mpi_job->size; r++)
        if (&mpi_job->ranks[r] != rank && mpi_job->ranks[r].worker != NULL &&
            mpi_job->ranks[r].phase != XMPI_RANK_FINALIZED)
            return true;
    return false;
}

void mpi_finish_rank(process_t *process, int code)
{
    mpi_rank_t *rank = mpi_rank_of(process);
    mpi_rank_phase_t phase = rank->phase;
    bool is_alone;
    int none = 0;

    mpi_thread_come_home(rank);
    is_alone = rank->own.fiber == NULL || xy_fiber_self() != rank->own.fiber;
    if (mpi_phase_is_running(phase) && mpi_survives && !is_alone && has_others(rank)) {
        fail_rank(process, code, " without calling MPI_Finalize", true);
        mpi_survive_leave(rank);
        rank->phase = rank->world_phase = XMPI_RANK_FINALIZED;
        return;
    }
    if (mpi_phase_is_running(phase)) {
        fail_rank(process, code,
                  rank->world_phase == XMPI_RANK_RUNNING ? " without calling MPI_Finalize"
                                                         : " without calling MPI_Session_finalize",
                  true);
        mpi_finish_job(code != 0 ? code : 1);
    }
    if (code != 0 && phase == XMPI_RANK_BEFORE_INIT) {
        fail_rank(process, code, " before MPI_Init", true);
        mpi_finish_job(code);
    }
    if (code != 0 && atomic_compare_exchange_strong(&first_code, &none, code))
        fail_rank(process, code, "", false);
    if (is_alone) /* a thread that the rank made has called exit */
        mpi_finish_job(code);
}

static _Atomic bool is_abort;

bool mpi_finish_is_abort(void)
{
    return is_abort;
}

void mpi_finish_abort(int code)
{
    is_abort = true;
    code &= 0377;
    mpi_finish_job(code != 0 ? code : 1);
}

void mpi_finish_claim_report(void)
{
    static atomic_flag is_claimed = ATOMIC_FLAG_INIT;

    while (atomic_flag_test_and_set(&is_claimed))
        pause();
}

void mpi_finish_stuck(void)
{
    char cause[1200], message[sizeof(cause) + 64];

    mpi_finish_claim_report();
    process_say("deadlock: no rank can make progress");
    mpi_job_report(mpi_job, 32);
    mpi_job_explain(mpi_job, cause, sizeof(cause));
    if (cause[0] != '\0')
        fprintf(stderr, "  cause: %s\n", cause);
    snprintf(message, sizeof(message), "no rank can make progress%s%s",
             cause[0] != '\0' ? "; " : "", cause);
    mpi_check_end(&(mpi_check_end_t){
        .kind = XMPI_FINDING_DEADLOCK, .rank = -1, .other = -1, .message = message});
    mpi_finish_job(1);
}

void mpi_finish_overflow(mpi_rank_t *rank)
{
    const char *call = rank != NULL ? rank->call.name : NULL;
    int world = rank != NULL ? rank->world : -1;
    char size[32], stack[4096], text[256];

    process_crash_begin(SIGSEGV, NULL);
    process_crash_describe_stack(NULL, stack, sizeof(stack));
    snprintf(text, sizeof(text),
             "stack overflow in %s; its stack has %s, --stack-size or 'ulimit -s' gives a larger "
             "one",
             call != NULL ? call : "program code", xy_format_size(stack_size, size));
    process_say("rank %d: %s", world, text);
    mpi_finish_note_crash(world, "", text);
    process_crash_say_stack(stack);
    mpi_finish_now(128 + SIGSEGV);
}
