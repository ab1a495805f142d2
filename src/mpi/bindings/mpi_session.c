/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: MPI without MPI_Init, as often as a program or one of its libraries likes. A rank may
 * call MPI while it has a session, or between MPI_Init and MPI_Finalize. There are two process
 * sets, all ranks of the job and the rank itself; communicators are made of their groups.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mpi/bindings/bindings.h"
#include "mpi/bindings/calls.h"
#include "mpi/bindings/join.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

typedef struct {
    mpi_life_t life;
    MPI_Errhandler errhandler;
    mpi_info_t *info; /* the info object: the level of threads */
    mpi_session_part_t *part;
} session_t;

enum { WORLD, SELF, SETS };
static const char *const set_names[SETS] = {[WORLD] = "mpi://WORLD", [SELF] = "mpi://SELF"};

static const struct {
    const char *name;
    int level;
} levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
              {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
              {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
              {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};
enum { LEVELS = sizeof levels / sizeof levels[0] };

/* NULL: it is not a session. */
static session_t *session_find(MPI_Session handle)
{
    session_t *session = (session_t *)(void *)handle;

    return (uintptr_t)handle >= 4096 && mpi_life_is(&session->life, XMPI_LIFE_SESSION) ? session
                                                                                       : NULL;
}

/* NULL: it is not a session, *code_p is the error. */
static session_t *session_of(MPI_Session handle, int *code_p)
{
    session_t *session = session_find(handle);

    *code_p = MPI_SUCCESS;
    if (session)
        return session;
    session = (session_t *)(void *)handle;
    if ((uintptr_t)handle >= 4096)
        mpi_life_refuse(&session->life, XMPI_LIFE_SESSION);
    *code_p = mpi_error(NULL, MPI_ERR_SESSION, "the session is %s",
                        handle == MPI_SESSION_NULL ? "MPI_SESSION_NULL" : "not a handle");
    return NULL;
}

static int raise_on(session_t *session, int code, const char *message)
{
    return mpi_error_raise_session(session->errhandler, session, code, message);
}

/* Raise an error for a NULL argument; as an error of no object when the handler is fatal. */
static int raise_null(MPI_Errhandler handler, void *session, const char *argument)
{
    char message[64];

    if (handler == MPI_ERRORS_ARE_FATAL)
        return mpi_error_null(NULL, argument);
    snprintf(message, sizeof message, "the argument %s is NULL", argument);
    return mpi_error_raise_session(handler, session, MPI_ERR_ARG, message);
}

int mpi_session_refuse_null(const char *name, const void *site, MPI_Session handle,
                            const char *argument)
{
    mpi_rank_t *self = mpi_enter_any(name, site);
    session_t *session = self && mpi_phase_is_running(self->phase) ? session_find(handle) : NULL;

    return mpi_leave_any(self, session ? raise_null(session->errhandler, session, argument)
                                       : mpi_error_null(NULL, argument));
}

/* The level that the program asks for; without a request the highest. */
static int level_wanted(MPI_Info info)
{
    const char *name = mpi_info_value(mpi_info_of(info), "thread_level");

    if (!name)
        return MPI_THREAD_SINGLE;
    for (int i = 0; i < LEVELS; i++)
        if (strcmp(name, levels[i].name) == 0)
            return levels[i].level;
    return -1;
}

static const char *level_name(int level)
{
    const char *name = levels[0].name;

    for (int i = 0; i < LEVELS; i++)
        if (levels[i].level <= level)
            name = levels[i].name;
    return name;
}

/* NULL: memory ran out. */
static session_t *session_new(MPI_Errhandler errhandler, int level)
{
    session_t *session = xy_calloc(1, sizeof *session);

    if (!session)
        return NULL;
    session->info = mpi_info_copy(NULL);
    session->part = xy_calloc(1, sizeof *session->part);
    if (!session->info || !session->part ||
        mpi_info_put(session->info, "thread_level", level_name(level)) != XY_OK) {
        mpi_info_destroy(session->info);
        xy_free(session->part);
        xy_free(session);
        return NULL;
    }
    session->part->references = 1;
    session->errhandler = errhandler;
    mpi_errhandler_hold(mpi_errhandler_of(errhandler));
    mpi_life_begin(&session->life, XMPI_LIFE_SESSION);
    return session;
}

/* The rank may call MPI from now on, if it might not before. */
static int open_session(mpi_rank_t *self, MPI_Info info, MPI_Errhandler errhandler,
                        MPI_Session *handle)
{
    const char *why = mpi_errhandler_refuse(errhandler, XMPI_HANDLER_SESSION);
    int wanted;
    session_t *session;

    if (why)
        return mpi_error_raise(NULL, MPI_ERR_ERRHANDLER, why);
    if (!handle)
        return raise_null(errhandler, MPI_SESSION_NULL, "session");
    if (info != MPI_INFO_NULL && !mpi_info_of(info))
        return mpi_error_raise_session(errhandler, MPI_SESSION_NULL, MPI_ERR_INFO,
                                       "the info object is not a handle");
    if (mpi_join_is_over())
        return mpi_error_raise_session(
            errhandler, MPI_SESSION_NULL, MPI_ERR_OTHER,
            "a process behind a wrapper cannot use MPI again after its last session");
    wanted = level_wanted(info);
    if (wanted < 0)
        return mpi_error_raise_session(errhandler, MPI_SESSION_NULL, MPI_ERR_INFO_VALUE,
                                       "the value of thread_level is not the name of a level");
    self->sessions++;
    self->has_had_session = true;
    mpi_rank_set_phase(self);
    mpi_rank_grant(self, wanted); /* higher levels granted before remain */
    session = session_new(errhandler, self->thread_level);
    if (!session) {
        mpi_rank_end_session(self);
        return mpi_error_raise_session(errhandler, MPI_SESSION_NULL, MPI_ERR_NO_MEM,
                                       "memory ran out for a session");
    }
    *handle = (MPI_Session)(void *)session;
    return MPI_SUCCESS;
}

/* Threads of a rank may open sessions when they may call MPI. NULL: *code_p is the error. */
static mpi_rank_t *enter(const char *name, const void *site, int *code_p)
{
    mpi_rank_t *self = !mpi_self && mpi_job ? mpi_enter_any_thread(name, site) : NULL;

    if (self)
        return self;
    self = mpi_rank_begin(name, site, code_p);
    if (self)
        mpi_call_begin(self, name, site);
    return self;
}

int impl_session_init(const char *name, const void *site, MPI_Info info, MPI_Errhandler errhandler,
                      MPI_Session *session)
{
    int code;
    mpi_rank_t *self = enter(name, site, &code);

    if (!self)
        return code;
    return mpi_leave(self, open_session(self, info, errhandler, session));
}

int impl_session_finalize(mpi_rank_t *self, MPI_Session *handle)
{
    int code;
    session_t *session = session_of(*handle, &code);

    if (!session)
        return code;
    if (session->part->bsend) {
        mpi_bsend_flush(self, NULL, session->part->bsend);
        mpi_bsend_destroy(session->part->bsend);
        session->part->bsend = NULL;
    }
    mpi_session_part_release(session->part);
    mpi_life_end(&session->life);
    mpi_errhandler_release(mpi_errhandler_of(session->errhandler));
    mpi_info_destroy(session->info);
    mpi_life_bury(session);
    *handle = MPI_SESSION_NULL;
    mpi_rank_end_session(self);
    return MPI_SUCCESS;
}

int impl_session_get_info(MPI_Session handle, MPI_Info *info_used)
{
    int code;
    session_t *session = session_of(handle, &code);
    mpi_info_t *copy = session ? mpi_info_copy(session->info) : NULL;

    if (!session)
        return code;
    if (!copy)
        return raise_on(session, MPI_ERR_NO_MEM, "memory ran out for an info object");
    *info_used = (MPI_Info)(void *)copy;
    return MPI_SUCCESS;
}

/* ---- Process sets ---- */

int impl_session_get_num_psets(MPI_Session handle, MPI_Info info, int *npset_names)
{
    int code;

    (void)info; /* hints: there is nothing that they could change */
    if (session_of(handle, &code))
        *npset_names = SETS;
    return code;
}

int impl_session_get_nth_pset(MPI_Session handle, MPI_Info info, int n, int *pset_len,
                              char *pset_name)
{
    int code;
    session_t *session = session_of(handle, &code);

    (void)info;
    if (!session)
        return code;
    if (n < 0 || n >= SETS)
        return raise_on(session, MPI_ERR_ARG, "there is no process set of this number");
    if (*pset_len > 0 && !pset_name)
        return raise_on(session, MPI_ERR_ARG, "the buffer for the name of the process set is NULL");
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", set_names[n]);
    *pset_len = (int)strlen(set_names[n]) + 1;
    return MPI_SUCCESS;
}

/* SETS: there is none of that name. */
static int find_set(const char *name)
{
    int set = 0;

    while (set < SETS && strcasecmp(name, set_names[set]) != 0)
        set++;
    return set;
}

int impl_session_get_pset_info(MPI_Session handle, const char *pset_name, MPI_Info *info)
{
    int code, set = find_set(pset_name);
    session_t *session = session_of(handle, &code);
    mpi_info_t *made;
    char size[16];

    if (!session)
        return code;
    if (set == SETS)
        return raise_on(session, MPI_ERR_ARG, "there is no process set of this name");
    snprintf(size, sizeof size, "%d", set == WORLD ? mpi_self->comm_world->size : 1);
    made = mpi_info_copy(NULL);
    if (!made || mpi_info_put(made, "mpi_size", size) != XY_OK) {
        mpi_info_destroy(made);
        return raise_on(session, MPI_ERR_NO_MEM, "memory ran out for an info object");
    }
    *info = (MPI_Info)(void *)made;
    return MPI_SUCCESS;
}

static mpi_group_t *group_of_self(const mpi_rank_t *self)
{
    int *ranks = xy_malloc(sizeof *ranks);

    if (!ranks)
        return NULL;
    ranks[0] = self->world;
    return mpi_group_create(ranks, 1);
}

static mpi_group_t *group_of_world(const mpi_rank_t *self)
{
    mpi_group_hold(self->comm_world->group, 1);
    return self->comm_world->group;
}

/* A name that is none gives MPI_GROUP_NULL, and an error as with other libraries. */
int impl_group_from_session_pset(mpi_rank_t *self, MPI_Session handle, const char *pset_name,
                                 MPI_Group *newgroup)
{
    int code, set = find_set(pset_name);
    session_t *session = session_of(handle, &code);
    mpi_group_t *group;

    if (!session)
        return code;
    *newgroup = MPI_GROUP_NULL;
    if (set == SETS)
        return raise_on(session, MPI_ERR_ARG, "there is no process set of this name");
    group = set == WORLD ? group_of_world(self) : group_of_self(self);
    if (!group)
        return raise_on(session, MPI_ERR_NO_MEM, "memory ran out for a group");
    code = mpi_group_give(NULL, group, newgroup);
    if (code == MPI_SUCCESS)
        mpi_group_come_from(*newgroup, session->part);
    return code;
}

/* ---- Buffers ---- */

int impl_session_attach_buffer_c(MPI_Session handle, void *buffer, MPI_Count size)
{
    int code;
    session_t *session = session_of(handle, &code);

    if (!session)
        return code;
    if (size < 0)
        return raise_on(session, MPI_ERR_ARG, "the size is negative");
    if (session->part->bsend)
        return raise_on(session, MPI_ERR_BUFFER, "a buffer is attached already; detach it first");
    return mpi_bsend_attach(NULL, &session->part->bsend, buffer, size);
}

int impl_session_detach_buffer_c(mpi_rank_t *self, MPI_Session handle, void *buffer_addr,
                                 MPI_Count *size)
{
    int code;
    session_t *session = session_of(handle, &code);

    if (!session)
        return code;
    if (!buffer_addr)
        return raise_on(session, MPI_ERR_ARG, "buffer_addr is NULL");
    if (!session->part->bsend)
        return raise_on(session, MPI_ERR_BUFFER, "no buffer is attached");
    return mpi_bsend_detach(self, NULL, &session->part->bsend, buffer_addr, size);
}

int impl_session_detach_buffer(mpi_rank_t *self, MPI_Session session, void *buffer_addr, int *size)
{
    MPI_Count large = 0;
    int code = impl_session_detach_buffer_c(self, session, buffer_addr, &large);

    *size = large > INT_MAX ? MPI_UNDEFINED : (int)large;
    return code;
}

int impl_session_flush_buffer(mpi_rank_t *self, MPI_Session handle)
{
    int code;
    session_t *session = session_of(handle, &code);

    return session ? mpi_bsend_flush(self, NULL, session->part->bsend) : code;
}

int impl_session_iflush_buffer(mpi_rank_t *self, MPI_Session handle, MPI_Request *request)
{
    int code;
    session_t *session = session_of(handle, &code);

    return session ? mpi_bsend_iflush(self, NULL, session->part->bsend, request) : code;
}

/* ---- Error handlers ---- */

int impl_session_set_errhandler(MPI_Session handle, MPI_Errhandler errhandler)
{
    const char *why = mpi_errhandler_refuse(errhandler, XMPI_HANDLER_SESSION);
    int code;
    session_t *session = session_of(handle, &code);

    if (!session)
        return code;
    if (why)
        return raise_on(session, MPI_ERR_ERRHANDLER, why);
    mpi_errhandler_replace(&session->errhandler, errhandler);
    return MPI_SUCCESS;
}

int impl_session_get_errhandler(MPI_Session handle, MPI_Errhandler *errhandler)
{
    int code;
    session_t *session = session_of(handle, &code);

    if (session)
        *errhandler = mpi_errhandler_give(session->errhandler);
    return code;
}

int impl_session_call_errhandler(MPI_Session handle, int errorcode)
{
    int code;
    session_t *session = session_of(handle, &code);

    if (session)
        raise_on(session, errorcode, "the program raised this error");
    return code;
}
