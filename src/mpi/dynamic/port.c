/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: where a rank waits for others of the same job that know its name.
 *
 * A port is a context of messages to the rank that has opened it. Who connects sends it the context
 * of a bridge; who accepts takes such a message, from anyone, and both meet over the bridge. So it
 * does not matter who comes first, and several may wait at one port.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"

typedef struct port {
    int rank;
    uint32_t context;
    struct port *next;
} port_t;

/* Ports that ranks of this process have opened. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static port_t *ports;

#define PREFIX "xylem-port"

void dynamic_place_write(char *text, size_t room, const char *prefix, int rank, uint32_t context)
{
    snprintf(text, room, "%s:%016" PRIx64 ":%d:%" PRIu32, prefix, mpi_job->id, rank, context);
}

/* Written again it must be the same: numbers have one form, and fit. */
bool dynamic_place_read(const char *text, const char *prefix, int *rank_p, uint32_t *context_p)
{
    char again[MPI_MAX_PORT_NAME], *end;
    const char *rank = strncmp(text, prefix, strlen(prefix)) == 0
                           ? strchr(text + strlen(prefix) + (text[strlen(prefix)] == ':'), ':')
                           : NULL;
    unsigned long number;

    if (rank == NULL)
        return false;
    number = strtoul(rank + 1, &end, 10);
    if (*end != ':' || number >= (unsigned long)mpi_job->capacity)
        return false;
    *rank_p = (int)number;
    *context_p = (uint32_t)strtoul(end + 1, NULL, 10);
    dynamic_place_write(again, sizeof(again), prefix, *rank_p, *context_p);
    return strcmp(text, again) == 0;
}

static void write_name(char name[MPI_MAX_PORT_NAME], int rank, uint32_t context)
{
    dynamic_place_write(name, MPI_MAX_PORT_NAME, PREFIX, rank, context);
}

static bool read_name(const char *name, int *rank_p, uint32_t *context_p)
{
    return dynamic_place_read(name, PREFIX, rank_p, context_p);
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

int impl_open_port(mpi_rank_t *self, MPI_Info info, char *port_name)
{
    int code = mpi_info_check(NULL, info);
    port_t *port = code == MPI_SUCCESS ? xy_malloc(sizeof *port) : NULL;

    if (code != MPI_SUCCESS)
        return code;
    if (!port)
        return mpi_error_memory(NULL, "a port");
    port->rank = self->world;
    port->context = mpi_context_new(1);
    write_name(port_name, port->rank, port->context);
    pthread_mutex_lock(&lock);
    port->next = ports;
    ports = port;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* A line about a name that is no port of this job. */
static void refuse_name(dynamic_found_t *found, const char *name)
{
    if (strncmp(name, PREFIX ":", sizeof PREFIX) == 0)
        dynamic_fail(found, MPI_ERR_PORT,
                     "the port '%.100s' belongs to another job; ports connect ranks of one job: "
                     "start both programs with one mpiexec, separated by ':'",
                     name);
    else
        dynamic_fail(found, MPI_ERR_PORT, "'%.100s' is not the name of a port", name);
}

/* The port, if the rank that has opened it is here: whether it still is open. */
static bool find_port(const char *name, int *rank_p, uint32_t *context_p, dynamic_found_t *found)
{
    if (!name || !read_name(name, rank_p, context_p)) {
        refuse_name(found, name ? name : "");
        return false;
    }
    if (mpi_rank_is_here(mpi_job, *rank_p) && !is_open(*rank_p, *context_p)) {
        dynamic_fail(found, MPI_ERR_PORT, "the port '%.100s' was closed", name);
        return false;
    }
    return true;
}

int impl_close_port(mpi_rank_t *self, const char *port_name)
{
    dynamic_found_t found = {.code = MPI_SUCCESS};
    uint32_t context;
    int rank;

    if (!find_port(port_name, &rank, &context, &found))
        return mpi_error(NULL, found.code, "%s", found.why);
    if (rank != self->world)
        return mpi_error(NULL, MPI_ERR_PORT,
                         "rank %d has opened the port '%.100s', and only it can close it", rank,
                         port_name);
    close_one(rank, context);
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

/* What who connects says. */
typedef struct {
    int world;
    uint32_t bridge;
} knock_t;

/* All ranks of the job, as messages to a port have them. */
static mpi_comm_t port_comm(const mpi_comm_t *like, mpi_group_t *everybody, uint32_t context)
{
    *everybody = (mpi_group_t){.references = 1, .size = mpi_job->capacity};
    return (mpi_comm_t){.context = context | XMPI_CONTEXT_SHADOW,
                        .rank = like->owner->world,
                        .size = mpi_job->capacity,
                        .mark = XMPI_COMM_LIVE,
                        .group = everybody,
                        .owner = like->owner,
                        .references = 1,
                        .errhandler = like->errhandler,
                        .info = MPI_INFO_NULL,
                        .name = "a port"};
}

static void connect_at_root(mpi_comm_t *comm, const char *name, dynamic_found_t *found)
{
    knock_t knock = {.world = comm->owner->world};
    const mpi_call_t call = comm->owner->call;
    mpi_group_t everybody;
    mpi_comm_t port;
    uint32_t context;
    int owner;

    if (!find_port(name, &owner, &context, found))
        return;
    if (owner == comm->owner->world) {
        dynamic_fail(found, MPI_ERR_PORT,
                     "this rank has opened the port '%.100s' itself; another one has to connect",
                     name);
        return;
    }
    knock.bridge = mpi_context_new(1);
    port = port_comm(comm, &everybody, context);
    found->code =
        impl_send(comm->owner, &knock, sizeof knock, MPI_BYTE, owner, 0, (MPI_Comm)(void *)&port);
    comm->owner->call = call;
    found->context = knock.bridge;
    found->other = owner;
}

static void accept_at_root(mpi_comm_t *comm, const char *name, dynamic_found_t *found)
{
    const mpi_call_t call = comm->owner->call;
    mpi_group_t everybody;
    mpi_comm_t port;
    uint32_t context;
    knock_t knock;
    int owner;

    if (!find_port(name, &owner, &context, found))
        return;
    if (owner != comm->owner->world) {
        dynamic_fail(found, MPI_ERR_PORT,
                     "rank %d has opened the port '%.100s', and only it can accept there", owner,
                     name);
        return;
    }
    port = port_comm(comm, &everybody, context);
    found->code = impl_recv(comm->owner, &knock, sizeof knock, MPI_BYTE, MPI_ANY_SOURCE, 0,
                            (MPI_Comm)(void *)&port, MPI_STATUS_IGNORE);
    comm->owner->call = call;
    found->context = knock.bridge;
    found->other = knock.world;
}

/* The one that connects is the first of the bridge. */
static int meet(const char *name, MPI_Info info, int root, MPI_Comm handle, bool connects,
                MPI_Comm *newcomm)
{
    dynamic_found_t found = {.code = MPI_SUCCESS};
    dynamic_bridge_t bridge;
    mpi_comm_t *comm, *made;
    int code = dynamic_check(handle, root, &comm), leader;

    if (code == MPI_SUCCESS)
        code = mpi_info_check(comm, info);
    if (code != MPI_SUCCESS)
        return code;
    if (comm->rank == root)
        (connects ? connect_at_root : accept_at_root)(comm, name, &found);
    code = dynamic_tell(comm, root, &found);
    if (code != MPI_SUCCESS)
        return code;
    leader = mpi_comm_world_rank(comm, root);
    dynamic_bridge(&bridge, comm, found.context, connects ? leader : found.other,
                   connects ? found.other : leader);
    code = mpi_intercomm_make(comm, root, &bridge.comm, connects ? 1 : 0, 0, &made);
    if (code == MPI_SUCCESS)
        *newcomm = mpi_comm_handle(made);
    return code;
}

int impl_comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm)
{
    return meet(port_name, info, root, comm, false, newcomm);
}

int impl_comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *newcomm)
{
    return meet(port_name, info, root, comm, true, newcomm);
}
