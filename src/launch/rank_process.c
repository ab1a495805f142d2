/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/rank_process.h"

#include "launch/end_job.h"
#include "launch/other_mpi.h"
#include "launch/translation.h"
#include "launch/virtual_time.h"
#include "mpi/check/check.h"
#include "mpi/p2p/p2p.h"

void mpi_rank_give_process(mpi_rank_t *rank, process_t *process)
{
    process->owner = rank;
    process->fiber = &rank->own.fiber;
}

void mpi_rank_take_process(mpi_rank_t *rank, process_t *process)
{
    rank->process = process;
    if (process->program->block_at != 0)
        rank->fortran = process->image + process->program->block_at;
}

/* ---- Scheduling ---- */

static int count(void)
{
    return mpi_job->size;
}

/* Does a rank of another number live on its worker? */
static bool shares_core(const process_t *self)
{
    int home = mpi_job->home[self->number];

    if (mpi_job->moves != NULL) /* others may come */
        return mpi_job->size > 1;
    for (int r = 0; r < mpi_job->size; r++)
        if (r != self->number && mpi_job->home[r] == home)
            return true;
    return false;
}

/* A thread of the rank may spawn ranks, which come to the same core. */
static bool may_have_company(const process_t *self)
{
    const mpi_gate_t *gate = mpi_rank_of(self)->gate;

    return mpi_job->spawner != NULL && gate != NULL && gate->is_shared;
}

static bool is_inside(const process_t *self)
{
    return !mpi_is_in_program(mpi_rank_of(self));
}

static void yields(process_t *self)
{
    mpi_polling_other();
    mpi_go_inside_counted(mpi_rank_of(self));
}

static void continues(process_t *self)
{
    mpi_go_outside_counted(mpi_rank_of(self));
}

static double now(process_t *self)
{
    return mpi_job->clock->now(mpi_rank_of(self));
}

static void sleep_virtually(process_t *self, double seconds, bool parks)
{
    mpi_job->clock->sleep(mpi_rank_of(self), seconds, parks);
}

static void look(process_t *self)
{
    mpi_job->clock->look(mpi_rank_of(self));
}

static void *make_thread(process_t *self)
{
    return mpi_job->clock->thread_make(mpi_rank_of(self));
}

static void *here(process_t *self)
{
    return mpi_job->clock->here(mpi_rank_of(self));
}

static void block(process_t *self, double seconds)
{
    mpi_job->clock->block(mpi_rank_of(self), seconds);
}

static void wake(process_t *self, void *other)
{
    mpi_job->clock->wake(mpi_rank_of(self), other);
}

void mpi_rank_follow_clock(const mpi_job_t *job)
{
    static process_clock_t clock = {.now = now,
                                    .sleep = sleep_virtually,
                                    .look = look,
                                    .thread_make = make_thread,
                                    .here = here,
                                    .block = block,
                                    .wake = wake};

    if (job->clock != NULL) {
        clock.thread_begin = job->clock->thread_begin;
        clock.thread_end = job->clock->thread_end;
    }
    clock.reads_real_time = &job->reads_real_time;
    process_runtime.clock = job->clock != NULL ? &clock : NULL;
}

void mpi_rank_switched(mpi_rank_t *previous, mpi_rank_t *next)
{
    process_switch(previous != NULL ? previous->process : NULL,
                   next != NULL ? next->process : NULL); /* a progress thread is no rank */
}

void mpi_rank_switched_announced(mpi_rank_t *previous, mpi_rank_t *next)
{
    mpi_rank_switched(previous, next);
    if (next != NULL)
        process_sanitizer_switch(next->process);
}

void mpi_rank_process_watch(const mpi_job_t *job, const process_t *processes)
{
    size_t count = (size_t)job->capacity;

    process_sanitizer_add_root(job->ranks, count * sizeof(*job->ranks));
    process_sanitizer_add_root(processes, count * sizeof(*processes)); /* mapped memory */
    process_sanitizer_enter();
}

/* ---- Beginning and end ---- */

static void begin(process_t *self)
{
    mpi_thread_rank_begins(mpi_rank_of(self));
    if (mpi_job->clock != NULL)
        mpi_job->clock->begin(mpi_rank_of(self));
}

static void leave(process_t *self)
{
    if (mpi_job->clock != NULL)
        mpi_job->clock->end(mpi_rank_of(self));
    mpi_go_inside(mpi_rank_of(self));
}

static void forget(void)
{
    mpi_self = NULL;
}

/* ---- Threads ---- */

static void thread_count(process_t *self, int change)
{
    mpi_thread_count(mpi_rank_of(self), change);
}

static void thread_begin(process_t *self)
{
    mpi_thread_owner = mpi_rank_of(self);
}

static void carry(process_t *self, void (*moved)(void *self, void *low, void *high))
{
    mpi_thread_owner = NULL;
    mpi_thread_carry(mpi_rank_of(self), moved);
}

/* ---- Faults ---- */

static process_t *current(void)
{
    return mpi_self != NULL ? mpi_self->process : NULL;
}

/* A thread of the network writes to the memory of ranks: it works for that rank from now on. */
static process_t *owner_of_fault(const void *address)
{
    if (mpi_self == NULL && process_self == NULL)
        mpi_self = mpi_remote_receiver(address);
    return current();
}

static const char *call_of(const process_t *self, const void **site_p)
{
    const mpi_rank_t *rank = mpi_rank_of(self);

    if (rank == NULL || rank->call.name == NULL)
        return NULL;
    *site_p = rank->call.caller;
    return rank->call.name;
}

static void visit(const process_t *self, void (*function)(void))
{
    mpi_rank_t *rank = mpi_rank_of(self);

    if (rank != NULL && mpi_job->clock != NULL)
        mpi_job->clock->visit(rank, function);
}

static bool is_guarded(const void *address, bool is_child, const void *(*find_site)(void *),
                       void *context)
{
    return mpi_checks.is_on && mpi_check_fault(address, is_child, find_site, context);
}

static void guards_allow(bool is_allowed, void (*begins)(void))
{
    if (!is_allowed || mpi_checks.is_on)
        mpi_check_guards_allow(is_allowed, begins);
}

static void end_by_signal(int code)
{
    mpi_finish_write_now(code);
    mpi_finish_announce(code);
}

/* ---- Symbols ---- */

static void *substitute(const char *name, void *found)
{
    found = mpi_virtual_time_substitute(name, mpi_check_substitute(name, found));
    return process_openmp_substitute(name, process_device_substitute(name, found));
}

/* The file of the program or of a private library that has an address. */
static bool find_file(const void *address, Dl_info *info)
{
    const process_program_t *program;
    const process_module_t *module;
    const char *image = process_image_find(address, &program, &module);

    if (image == NULL)
        return false;
    info->dli_fname = module->elf->path;
    info->dli_fbase = (void *)(uintptr_t)(image + module->offset);
    return true;
}

void mpi_rank_refuse_other_mpi(void)
{
    process_runtime.refuse = mpi_foreign_guard;
}

static void found_block(process_t *self, char *address)
{
    if (mpi_rank_of(self)->fortran == NULL)
        mpi_rank_of(self)->fortran = address;
}

/* When the library is loaded: a program without a launcher uses devices, too. */
static __attribute__((constructor)) void set_runtime(void)
{
    mpi_caller_set_files(find_file);
    process_runtime = (process_runtime_t){
        .name = "mpiexec",
        .noun = "rank",
        .library = "libmpi_abi.so",
        .library_reason = "MPI itself",
        .own_files = "/libmpi",
        .tool_prefix = "MPI_",
        .tool_reason = "a tool that intercepts MPI calls",
        .block = "xylem_fortran_",
        .block_reason = "calls MPI from Fortran",
        .count = count,
        .shares_core = shares_core,
        .may_have_company = may_have_company,
        .is_inside = is_inside,
        .yields = yields,
        .continues = continues,
        .watches = &mpi_polling_is_timed,
        .acts = mpi_polling_other,
        .begin = begin,
        .end = mpi_finish_rank,
        .leave = leave,
        .forget = forget,
        .abort = mpi_finish_abort,
        .flush = mpi_finish_flush,
        .thread_count = thread_count,
        .thread_begin = thread_begin,
        .thread_end = mpi_thread_end,
        .carry = carry,
        .current = current,
        .owner_of_fault = owner_of_fault,
        .call_of = call_of,
        .visit = visit,
        .is_guarded = is_guarded,
        .guards_allow = guards_allow,
        .note_crash = mpi_finish_note_crash,
        .end_now = mpi_finish_now,
        .end_by_signal = end_by_signal,
        .describe_frame = mpi_caller_describe_frame,
        .substitute = substitute,
        .may_refuse = mpi_other_is_init,
        .refuse_shared = mpi_foreign_guard_shared,
        .stand_in = mpi_translation_find,
        .found_block = found_block,
        .uses_device = mpi_device_use,
    };
}
