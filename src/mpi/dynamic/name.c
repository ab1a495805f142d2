/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of ports, which ranks of one process publish and look up. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"

typedef struct name {
    char *service;
    char port[MPI_MAX_PORT_NAME];
    int rank; /* that has published it */
    struct name *next;
} name_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static name_t *names;

/* With the lock. */
static name_t **find(const char *service)
{
    name_t **link = &names;

    while (*link && strcmp((*link)->service, service) != 0)
        link = &(*link)->next;
    return link;
}

static void name_free(name_t *name)
{
    if (name)
        xy_free(name->service);
    xy_free(name);
}

static name_t *name_new(const mpi_rank_t *self, const char *service, const char *port)
{
    name_t *name = xy_calloc(1, sizeof *name);

    if (!name)
        return NULL;
    name->service = xy_strdup(service);
    name->rank = self->world;
    snprintf(name->port, sizeof name->port, "%s", port);
    if (!name->service) {
        xy_free(name);
        return NULL;
    }
    return name;
}

int impl_publish_name(mpi_rank_t *self, const char *service_name, MPI_Info info,
                      const char *port_name)
{
    int code = mpi_info_check(NULL, info), by = -1;
    name_t *name = code == MPI_SUCCESS ? name_new(self, service_name, port_name) : NULL, **link;

    if (code != MPI_SUCCESS)
        return code;
    if (!name)
        return mpi_error_memory(NULL, "a name");
    pthread_mutex_lock(&lock);
    link = find(service_name);
    if (*link)
        by = (*link)->rank;
    else
        *link = name;
    pthread_mutex_unlock(&lock);
    if (by < 0)
        return MPI_SUCCESS;
    name_free(name);
    return mpi_error(NULL, MPI_ERR_SERVICE,
                     "the name '%.100s' is taken: rank %d has published it; unpublish it first",
                     service_name, by);
}

int impl_unpublish_name(mpi_rank_t *self, const char *service_name, MPI_Info info,
                        const char *port_name)
{
    int code = mpi_info_check(NULL, info);
    name_t **link, *name;
    bool is_other;

    (void)self;
    if (code != MPI_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    link = find(service_name);
    name = *link;
    is_other = name && strcmp(name->port, port_name) != 0;
    if (name && !is_other)
        *link = name->next;
    pthread_mutex_unlock(&lock);
    if (!name)
        return mpi_error(NULL, MPI_ERR_SERVICE, "the name '%.100s' was not published",
                         service_name);
    if (is_other)
        return mpi_error(NULL, MPI_ERR_SERVICE, "the name '%.100s' was published for another port",
                         service_name);
    name_free(name);
    return MPI_SUCCESS;
}

int impl_lookup_name(mpi_rank_t *self, const char *service_name, MPI_Info info, char *port_name)
{
    int code = mpi_info_check(NULL, info);
    const name_t *name;

    (void)self;
    if (code != MPI_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    name = *find(service_name);
    if (name)
        memcpy(port_name, name->port, strlen(name->port) + 1);
    pthread_mutex_unlock(&lock);
    if (name)
        return MPI_SUCCESS;
    return mpi_error(NULL, MPI_ERR_NAME, "no rank has published the name '%.100s'%s", service_name,
                     mpi_job->processes > 1
                         ? " in this process; names are known to the ranks of one process only"
                         : "");
}
