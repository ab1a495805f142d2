/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment: init and finalize, time, names and versions, abort, memory.
 */
#include "mpi/object/object.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xylem.h>

#include "mpi/bindings/bindings.h"
#include "mpi/bindings/calls.h"
#include "mpi/bindings/join.h"
#include "mpi/check/check.h"
#include "mpi/coll/coll.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

mpi_rank_t *mpi_rank_begin(const char *name, const void *site, int *code_p)
{
    *code_p = MPI_SUCCESS;
    if (!mpi_self && !mpi_job) {
        xy_status_t status = mpi_singleton_begin();

        if (status != XY_OK) {
            *code_p = mpi_error_status(NULL, status, "the program could not become a rank");
            return NULL;
        }
    }
    if (!mpi_self)
        mpi_enter_refused(name, site);
    return mpi_self;
}

int mpi_rank_grant(mpi_rank_t *self, int required)
{
    int level = required < mpi_thread_level_most() ? required : mpi_thread_level_most();
    int before = self->thread_level;

    if (level > before)
        self->thread_level = level;
    if (level >= MPI_THREAD_SERIALIZED && before < MPI_THREAD_SERIALIZED &&
        mpi_threads_begin(self, level) != XY_OK)
        mpi_job->abort(1);
    return level;
}

void mpi_rank_set_phase(mpi_rank_t *self)
{
    bool has_sessions_only = self->sessions > 0 && self->world_phase != XMPI_RANK_RUNNING;
    mpi_rank_phase_t phase = self->sessions > 0 ? XMPI_RANK_RUNNING : self->world_phase;

    self->named_world = has_sessions_only ? NULL : self->comm_world;
    if (self->phase != phase)
        self->phase = phase;
}

/* MPI_Init and MPI_Init_thread: begin the rank, grant a thread level and meet the parent of a
 * spawned rank. */
static int init(const char *name, const void *site, int required, int *provided)
{
    int code;
    mpi_rank_t *self = mpi_rank_begin(name, site, &code);

    if (!self)
        return code;
    mpi_call_begin(self, name, site);
    if (self->world_phase != XMPI_RANK_BEFORE_INIT)
        return mpi_leave(
            self, mpi_error(NULL, MPI_ERR_OTHER, "MPI was already initialized%s",
                            self->world_phase == XMPI_RANK_FINALIZED ? " and finalized" : ""));
    self->world_phase = XMPI_RANK_RUNNING;
    mpi_rank_set_phase(self);
    code = mpi_rank_grant(self, required);
    if (provided)
        *provided = code;
    return mpi_leave(self, mpi_origin_meet(self));
}

int impl_init(const char *name, const void *site, int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return init(name, site, MPI_THREAD_SINGLE, NULL);
}

int impl_init_thread(const char *name, const void *site, int *argc, char ***argv, int required,
                     int *provided)
{
    (void)argc;
    (void)argv;
    return init(name, site, required, provided);
}

static void nothing(void *const *inputs, int size, void *const *outputs)
{
    (void)inputs;
    (void)size;
    (void)outputs;
}

/* Processes that joined others leave them together, as in MPI_Finalize. */
void mpi_rank_end_session(mpi_rank_t *self)
{
    if (--self->sessions == 0 && self->world_phase != XMPI_RANK_RUNNING) {
        if (!mpi_join_is_in() ||
            mpi_coll_agree(self->comm_world, NULL, NULL, nothing) == MPI_SUCCESS)
            mpi_join_leave();
        mpi_rank_look_back(self, false);
    }
    mpi_rank_set_phase(self);
}

/* Wait for all live ranks. */
static int meet_living(mpi_rank_t *self)
{
    mpi_agree_answer_t answer;

    if (mpi_agree_run(self, self->comm_world, XMPI_AGREE_END, 0, &answer) != XY_OK)
        return mpi_error_memory(NULL, "the end of the job");
    return MPI_SUCCESS;
}

/* First the program's own clean-up, which may still use MPI; then a barrier, so that no rank
 * ends while another still takes its messages. */
static int finalize(mpi_rank_t *self)
{
    int code = mpi_attributes_delete(XMPI_ATTR_COMM, MPI_COMM_SELF, &self->comm_self->attributes);

    if (code != MPI_SUCCESS)
        return mpi_error_raise(NULL, code, "the delete function of an attribute failed");
    self->call.name = "MPI_Finalize";
    mpi_rank_look_ahead(self);
    code = mpi_survives ? meet_living(self) : mpi_coll_agree(self->comm_world, NULL, NULL, nothing);
    if (code != MPI_SUCCESS)
        return code;
    if (self->sessions == 0)
        mpi_rank_look_back(self, true);
    self->world_phase = XMPI_RANK_FINALIZED;
    mpi_rank_set_phase(self);
    return MPI_SUCCESS;
}

int impl_finalize(mpi_rank_t *self)
{
    bool is_main = mpi_thread_here == NULL || mpi_thread_here->is_main;
    int error;

    if (!is_main)
        return mpi_error(
            NULL, MPI_ERR_OTHER,
            "called by a thread other than that of MPI_Init; call it in the main thread");
    mpi_thread_be_alone(self, "all threads must have returned from their calls, join them first");
    error = finalize(self);
    if (error == MPI_SUCCESS && self->sessions == 0)
        mpi_join_leave();
    /* No helper comes in any more: what comes now is the end of the fiber. Threads of other ranks
     * do. */
    if (error == MPI_SUCCESS && self->sessions == 0 &&
        !(self->gate != NULL && self->gate->is_shared))
        self->depth++;
    return error;
}

/* The rank of the calling thread, whether or not that may call MPI; NULL: there is none. */
static const mpi_rank_t *rank_here(void)
{
    if (mpi_self || mpi_thread_owner)
        return mpi_self ? mpi_self : mpi_thread_owner;
    return mpi_job ? mpi_job->adopted : NULL;
}

int impl_initialized(int *flag)
{
    const mpi_rank_t *rank = rank_here();

    *flag = rank && rank->world_phase != XMPI_RANK_BEFORE_INIT;
    return MPI_SUCCESS;
}

int impl_finalized(int *flag)
{
    const mpi_rank_t *rank = rank_here();

    *flag = rank && rank->world_phase == XMPI_RANK_FINALIZED;
    return MPI_SUCCESS;
}

int impl_query_thread(mpi_rank_t *self, int *provided)
{
    *provided = self->thread_level;
    return MPI_SUCCESS;
}

/* Other threads may ask, so nothing is entered: they are not the main one. Inside a call that calls
 * the program back, theirs is the rank as well. */
int impl_is_thread_main(int *flag)
{
    *flag = mpi_self != NULL && (mpi_thread_here == NULL || mpi_thread_here->is_main);
    return MPI_SUCCESS;
}

/* A thread that may not call MPI has the time of its rank. */
static mpi_rank_t *rank_of_clock(void)
{
    return mpi_self != NULL ? mpi_self : mpi_thread_owner;
}

double impl_wtime(void)
{
    mpi_rank_t *self = rank_of_clock();

    mpi_polling_other();
    if (__builtin_expect(self != NULL && mpi_job->clock != NULL, 0))
        return mpi_job->clock->now(self);
    return xy_now();
}

double impl_wtick(void)
{
    struct timespec tick;

    if (rank_of_clock() != NULL && mpi_job->clock != NULL)
        return mpi_job->clock->tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

int impl_get_processor_name(char *name, int *resultlen)
{
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0)
        strcpy(name, "localhost");
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

int impl_get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int impl_get_library_version(char *version, int *resultlen)
{
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Xylem %s (MPI %d.%d)",
                          XYLEM_VERSION, MPI_VERSION, MPI_SUBVERSION);
    return MPI_SUCCESS;
}

int impl_abi_get_version(int *abi_major, int *abi_minor)
{
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

/* Make the info object of MPI_Abi_get_info; the program owns it. */
static int abi_get_info(MPI_Info *info)
{
    static const struct {
        const char *key, *value;
    } sizes[] = {
        {"mpi_aint_size", sizeof(MPI_Aint) == 8 ? "8" : "4"},
        {"mpi_count_size", sizeof(MPI_Count) == 8 ? "8" : "4"},
        {"mpi_offset_size", sizeof(MPI_Offset) == 8 ? "8" : "4"},
    };
    mpi_info_t *made = mpi_info_copy(NULL);

    for (size_t i = 0; made && i < sizeof sizes / sizeof sizes[0]; i++) {
        if (mpi_info_put(made, sizes[i].key, sizes[i].value) != XY_OK) {
            mpi_info_destroy(made);
            made = NULL;
        }
    }
    if (!made)
        return mpi_error_memory(NULL, "an info object");
    *info = (MPI_Info)(void *)made;
    return MPI_SUCCESS;
}

int impl_abi_get_info(MPI_Info *info)
{
    return abi_get_info(info);
}

/* Allowed at any time, and with any communicator: the whole job ends. */
int impl_abort(MPI_Comm comm, int errorcode)
{
    const mpi_rank_t *self = rank_here();
    const mpi_comm_t *object = mpi_self ? mpi_comm_of(comm) : NULL;
    mpi_finding_t finding = {.kind = XMPI_FINDING_ABORTED,
                             .rank = self ? self->world : -1,
                             .other = -1,
                             .sites = {mpi_self ? mpi_self->call.caller : NULL}};
    char place[160] = "", number[32] = "";

    if (self && self->origin) /* others have a world with such a rank, too */
        snprintf(number, sizeof number, " (rank %d of the job)", self->world);
    if (mpi_self)
        mpi_caller_describe(mpi_self->call.caller, place, sizeof place);
    mpi_finding_end(&finding,
                    "MPI_ABORT was invoked on rank %d in communicator %s%s with errorcode %d%s%s%s",
                    object ? object->rank
                    : self ? self->world
                           : 0,
                    object ? mpi_comm_name(object) : "MPI_COMM_WORLD", number, errorcode,
                    place[0] ? " (" : "", place, place[0] ? ")" : "");
    mpi_abort(errorcode);
}

/* For profilers that put their own in front; the monitor begins a new phase, and --report counts
 * from 1 on and not from 0 on. */
int impl_pcontrol(const int level)
{
    if (mpi_self == NULL)
        return MPI_SUCCESS;
    mpi_monitor_phase(mpi_self);
    mpi_account_control(mpi_self, level != 0);
    return MPI_SUCCESS;
}

int impl_alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    void *memory = NULL;
    int code = mpi_info_check(NULL, info);

    if (code != MPI_SUCCESS)
        return code;
    if (!baseptr)
        return mpi_error_null(NULL, "baseptr");
    if (size < 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the size is %lld", (long long)size);
    if (size > 0 &&
        posix_memalign(&memory, mpi_info_alignment(mpi_info_of(info)), (size_t)size) != 0)
        return mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out for %lld bytes", (long long)size);
    if (mpi_dispatch.check.allocated != NULL)
        mpi_dispatch.check.allocated(memory, (size_t)size);
    memcpy(baseptr, &memory, sizeof memory);
    return MPI_SUCCESS;
}

int impl_free_mem(void *base)
{
    if (mpi_dispatch.check.freed == NULL || !mpi_dispatch.check.freed(base))
        free(base);
    return MPI_SUCCESS;
}

int impl_get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)(intptr_t)location;
    return MPI_SUCCESS;
}

/* Through unsigned arithmetic: differences of addresses may wrap. */
MPI_Aint impl_aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint impl_aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
