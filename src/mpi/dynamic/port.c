/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: where a rank waits for others, of the same job or another one, that know its name.
 *
 * A port is a context of messages to the rank that has opened it. Who connects sends it the context
 * of a bridge; who accepts takes such a message, from anyone, and both meet over the bridge. So it
 * does not matter who comes first, and several may wait at one port.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/p2p/p2p.h"
#include "mpi/virtual/virtual.h"

typedef struct port {
    int rank;
    uint32_t context;
    struct port *next;
} port_t;

/* Ports that ranks of this process have opened. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static port_t *ports;

#define PREFIX        "xylem-port"
#define FIRST_PAUSE   20e-6
#define LONGEST_PAUSE 5e-3

dynamic_place_t dynamic_place(int rank, uint32_t context)
{
    dynamic_place_t place = {
        .job = mpi_job->id, .rank = rank, .context = context, .process = mpi_job->process};

    if (mpi_link_open() == XY_OK && mpi_link_card() != NULL) {
        snprintf(place.secret, sizeof place.secret, "%s", mpi_link_secret());
        snprintf(place.card, sizeof place.card, "%s", mpi_link_card());
    }
    return place;
}

bool dynamic_place_is_own(const dynamic_place_t *place)
{
    return place->job == mpi_job->id && place->rank < mpi_job->capacity;
}

static bool is_open(int rank, uint32_t context)
{
    const port_t *port;

    pthread_mutex_lock(&lock);
    for (port = ports; port && (port->rank != rank || port->context != context);)
        port = port->next;
    pthread_mutex_unlock(&lock);
    return port != NULL;
}

/* False: there is none. */
static bool close_one(int rank, uint32_t context)
{
    port_t **link = &ports, *port;

    pthread_mutex_lock(&lock);
    while (*link && ((*link)->rank != rank || (*link)->context != context))
        link = &(*link)->next;
    port = *link;
    if (port)
        *link = port->next;
    pthread_mutex_unlock(&lock);
    xy_free(port);
    return port != NULL;
}

/* The info key "xylem_scope": "job", or what else there is. */
static bool is_for_this_job(MPI_Info info)
{
    const char *scope =
        info == MPI_INFO_NULL ? NULL : mpi_info_value(mpi_info_of(info), "xylem_scope");

    return scope && strcmp(scope, "job") == 0;
}

int impl_open_port(mpi_rank_t *self, MPI_Info info, char *port_name)
{
    int code = mpi_info_check(NULL, info);
    port_t *port = code == MPI_SUCCESS ? xy_malloc(sizeof *port) : NULL;
    dynamic_place_t place;
    bool is_private;

    if (code != MPI_SUCCESS)
        return code;
    if (!port)
        return mpi_error_memory(NULL, "a port");
    port->rank = self->world;
    port->context = mpi_context_new(1);
    is_private = is_for_this_job(info);
    place =
        is_private
            ? (dynamic_place_t){.job = mpi_job->id, .rank = port->rank, .context = port->context}
            : dynamic_place(port->rank, port->context);
    dynamic_place_print(&place, PREFIX, port_name);
    pthread_mutex_lock(&lock);
    port->next = ports;
    ports = port;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* A port of this job, or (`may_be_far`) of another one, as its name says. If the rank that has
 * opened it is here: is it still open? */
static bool find_port(const char *name, bool may_be_far, dynamic_place_t *place,
                      dynamic_found_t *found)
{
    if (!name || !dynamic_place_parse(name, PREFIX, place)) {
        dynamic_fail(found, MPI_ERR_PORT, "'%.100s' is not the name of a port", name ? name : "");
        return false;
    }
    if (!dynamic_place_is_own(place)) {
        if (!may_be_far)
            dynamic_fail(found, MPI_ERR_PORT, "the port '%.60s' belongs to another job", name);
        return may_be_far;
    }
    if (mpi_rank_is_here(mpi_job, place->rank) && !is_open(place->rank, place->context)) {
        dynamic_fail(found, MPI_ERR_PORT, "the port '%.60s' was closed", name);
        return false;
    }
    return true;
}

int impl_close_port(mpi_rank_t *self, const char *port_name)
{
    dynamic_found_t found = {.code = MPI_SUCCESS};
    dynamic_place_t place;

    if (mpi_job->clock)
        mpi_virtual_sync(self);
    if (!find_port(port_name, false, &place, &found))
        return mpi_error(NULL, found.code, "%s", found.why);
    if (place.rank != self->world)
        return mpi_error(NULL, MPI_ERR_PORT,
                         "rank %d has opened the port '%.60s', and only it can close it",
                         place.rank, port_name);
    close_one(place.rank, place.context);
    return MPI_SUCCESS;
}

void dynamic_ports_close(const mpi_rank_t *rank)
{
    for (;;) {
        const port_t *port;
        uint32_t context = 0;

        pthread_mutex_lock(&lock);
        for (port = ports; port && port->rank != rank->world;)
            port = port->next;
        if (port)
            context = port->context;
        pthread_mutex_unlock(&lock);
        if (!port)
            return;
        close_one(rank->world, context);
    }
}

/* ---- Meeting at a port ---- */

/* The message of a connecting rank. */
typedef struct {
    mpi_rank_name_t who;
    uint32_t bridge;   /* its context, as the two jobs tell it each other */
    uint32_t is_brief; /* it goes away after a time (welcome.c) */
} knock_t;

/* All ranks of the job, and of those it is connected to, as messages to a port have them. */
static mpi_comm_t port_comm(const mpi_comm_t *like, mpi_group_t *everybody, uint32_t context)
{
    *everybody = (mpi_group_t){.references = 1, .size = mpi_job->numbers};
    return (mpi_comm_t){.context = context | XMPI_CONTEXT_SHADOW,
                        .rank = like->owner->world,
                        .size = mpi_job->numbers,
                        .mark = XMPI_COMM_LIVE,
                        .group = everybody,
                        .owner = like->owner,
                        .references = 1,
                        .acked = INT_MAX, /* others may fail */
                        .errhandler = like->errhandler,
                        .info = MPI_INFO_NULL,
                        .name = "a port"};
}

/* The rank that has opened the port of another job; *link_p is that to it. -1: none. */
static int find_far(const dynamic_place_t *place, const char *name, int *link_p,
                    dynamic_found_t *found)
{
    uint64_t is_there = 0;
    char why[XY_WHY_SIZE];
    int owner, process;

    if (place->secret[0] == '\0') {
        dynamic_fail(found, MPI_ERR_PORT,
                     "the port '%.60s' belongs to another job, and was opened for it alone: by "
                     "\"xylem_scope\", or because it runs in virtual time or has more than %d "
                     "processes",
                     name, XMPI_LINK_PROCESSES);
        return -1;
    }
    process = mpi_link_connect(place->job, place->process, place->card, place->secret, why);
    if (process < 0) {
        dynamic_fail(found, MPI_ERR_PORT,
                     "the job of the port '%.60s' cannot be reached at %.200s: %s", name,
                     place->card, why);
        return -1;
    }
    *link_p = mpi_link_to(process);
    owner = mpi_link_rank(process, place->rank);
    if (owner < 0 ||
        !mpi_network_ask_port(process, (uint64_t)place->rank << 32 | place->context, &is_there) ||
        !is_there) {
        dynamic_fail(found, MPI_ERR_PORT, "the port '%.60s' was closed", name);
        return -1;
    }
    return owner;
}

uint64_t dynamic_port_answer(uint64_t question)
{
    return is_open((int)(question >> 32), (uint32_t)question);
}

/* At the root of MPI_Comm_connect: find the port and send the context of the bridge to its owner.
 */
static void connect_at_root(mpi_comm_t *comm, const char *name, MPI_Info info,
                            dynamic_found_t *found)
{
    knock_t knock = {.who = mpi_rank_name(comm->owner->world)};
    const mpi_call_t call = comm->owner->call;
    dynamic_place_t place;
    mpi_group_t everybody;
    mpi_comm_t port;
    int owner, link = 0;
    double limit;

    if (mpi_job->clock)
        mpi_virtual_sync(comm->owner); /* one that others have closed before is closed */
    if (!dynamic_limit(info, &limit, found) || !find_port(name, true, &place, found))
        return;
    owner = dynamic_place_is_own(&place) ? place.rank : find_far(&place, name, &link, found);
    if (owner < 0)
        return;
    if (owner == comm->owner->world) {
        dynamic_fail(found, MPI_ERR_PORT,
                     "this rank has opened the port '%.60s' itself; another one has to connect",
                     name);
        return;
    }
    knock.bridge = mpi_link_context_new(link, 1);
    knock.is_brief = limit >= 0;
    port = port_comm(comm, &everybody, place.context);
    found->code =
        impl_send(comm->owner, &knock, sizeof knock, MPI_BYTE, owner, 0, (MPI_Comm)(void *)&port);
    comm->owner->call = call;
    found->context = mpi_link_context(link, knock.bridge);
    found->other = owner;
    if (found->code == MPI_SUCCESS && knock.is_brief)
        dynamic_welcome_await(comm, limit, name, found);
}

/* Find the rank that has knocked; false: it is a rank of a job that is gone. */
static bool find_guest(const knock_t *knock, dynamic_found_t *found)
{
    bool is_own = knock->who.job == mpi_job->id;
    int process = is_own ? 0 : mpi_link_find(knock->who.job, knock->who.process);

    found->other = process >= 0 ? mpi_rank_named(&knock->who) : -1;
    if (found->other >= 0)
        found->context = mpi_link_context(is_own ? 0 : mpi_link_to(process), knock->bridge);
    return found->other >= 0;
}

/* At the root of MPI_Comm_accept: take the next guest that can still be reached. */
static void accept_at_root(mpi_comm_t *comm, const char *name, MPI_Info info,
                           dynamic_found_t *found)
{
    const mpi_call_t call = comm->owner->call;
    dynamic_place_t place;
    mpi_group_t everybody;
    mpi_comm_t port;
    knock_t knock = {0};

    (void)info;
    if (!find_port(name, false, &place, found))
        return;
    if (place.rank != comm->owner->world) {
        dynamic_fail(found, MPI_ERR_PORT,
                     "rank %d has opened the port '%.60s', and only it can accept there",
                     place.rank, name);
        return;
    }
    port = port_comm(comm, &everybody, place.context);
    do {
        found->code = impl_recv(comm->owner, &knock, sizeof knock, MPI_BYTE, MPI_ANY_SOURCE, 0,
                                (MPI_Comm)(void *)&port, MPI_STATUS_IGNORE);
        comm->owner->call = call;
    } while (
        found->code == MPI_SUCCESS &&
        (!find_guest(&knock, found) || (knock.is_brief && !dynamic_welcome_give(comm, found))));
}

/* Take one knock that comes while `goes_on` says so; false: none. */
static bool await_knock(mpi_rank_t *self, MPI_Comm port, knock_t *knock,
                        bool (*goes_on)(void *, dynamic_found_t *), void *arg,
                        dynamic_found_t *found)
{
    double pause = FIRST_PAUSE;
    MPI_Request request;

    found->code =
        impl_irecv(self, knock, sizeof *knock, MPI_BYTE, MPI_ANY_SOURCE, 0, port, &request);
    while (found->code == MPI_SUCCESS && !mpi_request_of(request)->is_done) {
        if (!goes_on(arg, found)) {
            impl_cancel(self, &request);
            break;
        }
        xy_fiber_sleep(pause);
        pause = pause < LONGEST_PAUSE ? 2 * pause : pause;
    }
    if (request != MPI_REQUEST_NULL)
        impl_wait(self, &request, MPI_STATUS_IGNORE);
    return found->code == MPI_SUCCESS;
}

void dynamic_port_await(mpi_comm_t *comm, const char *name,
                        bool (*goes_on)(void *arg, dynamic_found_t *found), void *arg,
                        dynamic_found_t *found)
{
    const mpi_call_t call = comm->owner->call;
    dynamic_place_t place;
    mpi_group_t everybody;
    mpi_comm_t port;
    knock_t knock = {0};

    if (!find_port(name, false, &place, found))
        return;
    mpi_link_expect(1);
    port = port_comm(comm, &everybody, place.context);
    while (await_knock(comm->owner, (MPI_Comm)(void *)&port, &knock, goes_on, arg, found) &&
           !find_guest(&knock, found))
        continue;
    comm->owner->call = call;
    if (found->code != MPI_SUCCESS)
        mpi_link_expect(-1);
}

static bool is_for_others(const char *name)
{
    dynamic_place_t place;

    return name && dynamic_place_parse(name, PREFIX, &place) && place.secret[0] != '\0';
}

/* Meet at a port; the connecting side is the first of the bridge. */
static int meet(mpi_comm_t *comm, const char *name, MPI_Info info, int root, bool connects,
                mpi_comm_t **made_p)
{
    dynamic_found_t found = {.code = MPI_SUCCESS};
    dynamic_bridge_t bridge;
    int code = mpi_info_check(comm, info), leader;
    bool expects = false; /* of another job to come, which cannot be known to be a deadlock */

    if (code != MPI_SUCCESS)
        return code;
    if (comm->rank == root) {
        expects = !connects && is_for_others(name);
        mpi_link_expect(expects);
        (connects ? connect_at_root : accept_at_root)(comm, name, info, &found);
        if (!expects && found.code == MPI_SUCCESS && mpi_rank_is_foreign(mpi_job, found.other)) {
            expects = true;
            mpi_link_expect(1);
        }
    }
    code = dynamic_tell(comm, root, &found);
    if (code != MPI_SUCCESS) {
        mpi_link_expect(-expects);
        return code;
    }
    leader = mpi_comm_world_rank(comm, root);
    dynamic_bridge(&bridge, comm, found.context, connects ? leader : found.other,
                   connects ? found.other : leader);
    code = mpi_intercomm_make(comm, root, &bridge.comm, connects ? 1 : 0, 0, made_p);
    mpi_link_expect(-expects);
    return code;
}

int part_comm_meet(const char *name, MPI_Info info, int root, MPI_Comm handle, bool connects,
                   MPI_Comm *newcomm)
{
    mpi_comm_t *comm, *made;
    int code = dynamic_check(handle, root, &comm);

    if (code == MPI_SUCCESS)
        code = meet(comm, name, info, root, connects, &made);
    if (code == MPI_SUCCESS)
        *newcomm = mpi_comm_handle(made);
    return code;
}

int dynamic_port_connect(mpi_comm_t *comm, const char *name, mpi_comm_t **made_p)
{
    return meet(comm, name, MPI_INFO_NULL, 0, true, made_p);
}
