/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of ports, which ranks publish and look up. The first process of the job keeps them, and the
 * others ask it. Where XYLEM_NAMES names a directory, it keeps them in files there, too, which
 * other jobs read.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/p2p/p2p.h"

enum { SERVICE_MOST = 2048, KEEPER = 0 };

typedef struct name {
    char *service;
    char port[MPI_MAX_PORT_NAME];
    int rank; /* that has published it */
    struct name *next;
} name_t;

typedef enum { PUBLISH, UNPUBLISH, LOOK_UP } deed_t;

/* A request to the keeper. */
typedef struct {
    int32_t deed, rank;
    char port[MPI_MAX_PORT_NAME];
    char service[SERVICE_MOST];
} question_t;

/* The entry of the name before the deed, and why the deed failed. */
typedef struct {
    int32_t is_known, rank, has_no_memory;
    char port[MPI_MAX_PORT_NAME], why[DYNAMIC_NAME_WHY];
} answer_t;

_Static_assert(sizeof(question_t) <= XMPI_NEWS_MOST && sizeof(answer_t) <= XMPI_NEWS_MOST,
               "both fit into a message");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static name_t *names; /* in the keeper */

/* ---- The keeper ---- */

/* With the lock. */
static name_t **find(const char *service)
{
    name_t **link = &names;

    while (*link && strcmp((*link)->service, service) != 0)
        link = &(*link)->next;
    return link;
}

/* Allocate a published name; NULL without memory. */
static name_t *name_new(const question_t *question)
{
    name_t *name = xy_calloc(1, sizeof *name);

    if (!name)
        return NULL;
    name->service = xy_strdup(question->service);
    name->rank = question->rank;
    memcpy(name->port, question->port, sizeof name->port);
    if (!name->service) {
        xy_free(name);
        return NULL;
    }
    return name;
}

/* With the lock. */
static void take_out(name_t **link)
{
    name_t *name = *link;

    *link = name->next;
    dynamic_name_file_remove(name->service, name->port);
    xy_free(name->service);
    xy_free(name);
}

/* Add the name to the end of the list; with the lock. */
static void put_in(name_t **link, const question_t *question, answer_t *answer)
{
    *link = name_new(question);
    answer->has_no_memory = *link == NULL;
    if (*link && !dynamic_name_file_write(question->service, question->port, answer->why) &&
        answer->why[0] != '\0')
        take_out(link);
}

/* Do what a rank asks for. */
static void keep(const question_t *question, answer_t *answer)
{
    name_t **link;

    *answer = (answer_t){.rank = -1};
    pthread_mutex_lock(&lock);
    link = find(question->service);
    if (*link) {
        answer->is_known = 1;
        answer->rank = (*link)->rank;
        memcpy(answer->port, (*link)->port, sizeof answer->port);
        if (question->deed == UNPUBLISH && strcmp(question->port, answer->port) == 0)
            take_out(link);
    } else if (question->deed == PUBLISH) {
        put_in(link, question, answer);
    }
    pthread_mutex_unlock(&lock);
}

size_t dynamic_name_answer(const char *bytes, size_t size, char *answer_bytes)
{
    question_t question = {0};
    answer_t answer;

    memcpy(&question, bytes, size < sizeof question ? size : sizeof question);
    question.service[SERVICE_MOST - 1] = '\0';
    keep(&question, &answer);
    memcpy(answer_bytes, &answer, sizeof answer);
    return sizeof answer;
}

/* ---- The others ---- */

/* Let the keeper do it; what it had for the name is in *answer. */
static int ask_keeper(const mpi_rank_t *self, deed_t deed, const char *service, const char *port,
                      answer_t *answer)
{
    question_t question = {.deed = deed, .rank = self->world};
    size_t length = strlen(service);

    *answer = (answer_t){.rank = -1};
    if (length >= SERVICE_MOST)
        return mpi_error(NULL, deed == LOOK_UP ? MPI_ERR_NAME : MPI_ERR_SERVICE,
                         "the name has %zu characters; at most %d are possible", length,
                         SERVICE_MOST - 1);
    memcpy(question.service, service, length + 1);
    snprintf(question.port, sizeof question.port, "%s", port);
    if (mpi_job->process == KEEPER)
        keep(&question, answer);
    else
        mpi_network_ask_name(KEEPER, &question, offsetof(question_t, service) + length + 1, answer,
                             sizeof *answer);
    if (answer->has_no_memory)
        return mpi_error_memory(NULL, "a name");
    return answer->why[0] == '\0' ? MPI_SUCCESS
                                  : mpi_error(NULL, MPI_ERR_SERVICE, "%s", answer->why);
}

int impl_publish_name(mpi_rank_t *self, const char *service_name, MPI_Info info,
                      const char *port_name)
{
    int code = mpi_info_check(NULL, info);
    answer_t answer;

    if (code != MPI_SUCCESS)
        return code;
    dynamic_ask(self);
    code = ask_keeper(self, PUBLISH, service_name, port_name, &answer);
    if (code != MPI_SUCCESS || !answer.is_known)
        return code;
    return mpi_error(NULL, MPI_ERR_SERVICE,
                     "the name '%.100s' is taken: rank %d has published it; unpublish it first",
                     service_name, answer.rank);
}

int impl_unpublish_name(mpi_rank_t *self, const char *service_name, MPI_Info info,
                        const char *port_name)
{
    int code = mpi_info_check(NULL, info);
    answer_t answer;

    if (code != MPI_SUCCESS)
        return code;
    dynamic_ask(self);
    code = ask_keeper(self, UNPUBLISH, service_name, port_name, &answer);
    if (code != MPI_SUCCESS)
        return code;
    if (!answer.is_known)
        return mpi_error(NULL, MPI_ERR_SERVICE, "the name '%.100s' was not published",
                         service_name);
    if (strcmp(answer.port, port_name) != 0)
        return mpi_error(NULL, MPI_ERR_SERVICE, "the name '%.100s' was published for another port",
                         service_name);
    return MPI_SUCCESS;
}

int impl_lookup_name(mpi_rank_t *self, const char *service_name, MPI_Info info, char *port_name)
{
    int code = mpi_info_check(NULL, info);
    answer_t answer;

    if (code != MPI_SUCCESS)
        return code;
    dynamic_ask(self);
    code = ask_keeper(self, LOOK_UP, service_name, "", &answer);
    if (code != MPI_SUCCESS)
        return code;
    if (answer.is_known)
        memcpy(port_name, answer.port, strlen(answer.port) + 1);
    if (answer.is_known || dynamic_name_file_read(service_name, port_name))
        return MPI_SUCCESS;
    return mpi_error(NULL, MPI_ERR_NAME, "no rank has published the name '%.100s'%s", service_name,
                     getenv("XYLEM_NAMES") == NULL
                         ? " in this job; for names of others, set XYLEM_NAMES to a directory "
                           "that all can write to"
                         : "");
}

void dynamic_names_end(void)
{
    pthread_mutex_lock(&lock);
    while (names)
        take_out(&names);
    pthread_mutex_unlock(&lock);
}
