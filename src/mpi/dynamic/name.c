/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of ports, which ranks publish and look up: in this process, and, where XYLEM_NAMES names a
 * directory, in files there, which other processes and jobs read.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"

typedef struct name {
    char *service;
    char port[MPI_MAX_PORT_NAME];
    int rank; /* that has published it */
    bool is_in_file;
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

/* With the lock, of one that is in the list. */
static void take_out(const char *service)
{
    name_t **link = find(service), *name = *link;

    *link = name->next;
    if (name->is_in_file)
        dynamic_name_file_remove(name->service, name->port);
    name_free(name);
}

/* For others: one that is published here already. */
static int publish_file(name_t *name)
{
    char why[DYNAMIC_NAME_WHY];
    int code = MPI_SUCCESS;

    pthread_mutex_lock(&lock);
    name->is_in_file = dynamic_name_file_write(name->service, name->port, why);
    if (!name->is_in_file && why[0] != '\0') {
        take_out(name->service);
        code = MPI_ERR_SERVICE;
    }
    pthread_mutex_unlock(&lock);
    return code == MPI_SUCCESS ? code : mpi_error(NULL, code, "%s", why);
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
    dynamic_ask(self);
    pthread_mutex_lock(&lock);
    link = find(service_name);
    if (*link)
        by = (*link)->rank;
    else
        *link = name;
    pthread_mutex_unlock(&lock);
    if (by < 0)
        return publish_file(name);
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

    if (code != MPI_SUCCESS)
        return code;
    dynamic_ask(self);
    pthread_mutex_lock(&lock);
    link = find(service_name);
    name = *link;
    is_other = name && strcmp(name->port, port_name) != 0;
    if (name && !is_other)
        take_out(service_name);
    pthread_mutex_unlock(&lock);
    if (!name)
        return mpi_error(NULL, MPI_ERR_SERVICE, "the name '%.100s' was not published",
                         service_name);
    if (is_other)
        return mpi_error(NULL, MPI_ERR_SERVICE, "the name '%.100s' was published for another port",
                         service_name);
    return MPI_SUCCESS;
}

int impl_lookup_name(mpi_rank_t *self, const char *service_name, MPI_Info info, char *port_name)
{
    int code = mpi_info_check(NULL, info);
    const name_t *name;

    if (code != MPI_SUCCESS)
        return code;
    dynamic_ask(self);
    pthread_mutex_lock(&lock);
    name = *find(service_name);
    if (name)
        memcpy(port_name, name->port, strlen(name->port) + 1);
    pthread_mutex_unlock(&lock);
    if (name || dynamic_name_file_read(service_name, port_name))
        return MPI_SUCCESS;
    return mpi_error(NULL, MPI_ERR_NAME, "no rank has published the name '%.100s'%s", service_name,
                     getenv("XYLEM_NAMES") == NULL
                         ? " in this process; for names of others, set XYLEM_NAMES to a directory "
                           "that all can write to"
                         : "");
}

void dynamic_names_end(void)
{
    pthread_mutex_lock(&lock);
    while (names)
        take_out(names->service);
    pthread_mutex_unlock(&lock);
}
