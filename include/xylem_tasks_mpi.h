/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks of xylem.h on the ranks of an MPI job: the transport of their messages.
 *
 *   #include <mpi.h>
 *   #include <xylem_tasks_mpi.h>
 *
 *   xylem_messages messages;
 *   xylem_tasks_mpi_open(MPI_COMM_WORLD, &messages);
 *   xylem_tasks_run(t, &(xylem_run_options){.clock = XYLEM_REAL, .messages = &messages}, NULL);
 *   xylem_tasks_mpi_close(&messages);
 *
 * All of it is in this header, so that it calls the MPI library of the program, whichever that is.
 * docs/tasks.md is the guide.
 */
#ifndef XYLEM_TASKS_MPI_H
#define XYLEM_TASKS_MPI_H

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <xylem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Messages in flight: request i is message numbers[i]. Completed and not yet reported: done. */
typedef struct {
    MPI_Comm comm;
    MPI_Request *requests;
    int *numbers, *ended, *done;
    int count, room, done_count;
} xylem_tasks_mpi;

static inline int xylem_tasks_mpi_grow(xylem_tasks_mpi *m)
{
    size_t room = m->room > 0 ? 2 * (size_t)m->room : 64;
    int **lists[3] = {&m->numbers, &m->ended, &m->done};
    void *requests = realloc(m->requests, room * sizeof(*m->requests));

    if (requests == NULL)
        return MPI_ERR_OTHER;
    m->requests = (MPI_Request *)requests;
    for (int i = 0; i < 3; i++) {
        void *list = realloc(*lists[i], room * sizeof(int));

        if (list == NULL)
            return MPI_ERR_OTHER;
        *lists[i] = (int *)list;
    }
    m->room = (int)room;
    return 0;
}

static inline int xylem_tasks_mpi_start(void *arg, int number, int is_send, int peer, int tag,
                                        void *buffer, unsigned long long bytes)
{
    xylem_tasks_mpi *m = (xylem_tasks_mpi *)arg;
    int failed = m->count == m->room ? xylem_tasks_mpi_grow(m) : 0;

    if (failed != 0 || bytes > INT_MAX)
        return failed != 0 ? failed : MPI_ERR_COUNT;
    m->numbers[m->count] = number;
    failed =
        is_send
            ? MPI_Isend(buffer, (int)bytes, MPI_BYTE, peer, tag, m->comm, &m->requests[m->count])
            : MPI_Irecv(buffer, (int)bytes, MPI_BYTE, peer, tag, m->comm, &m->requests[m->count]);
    m->count += failed == MPI_SUCCESS;
    return failed;
}

/* All requests are looked at, however few may be told: a rank may wait for any of them. */
static inline int xylem_tasks_mpi_look(xylem_tasks_mpi *m, int is_waiting)
{
    int count = 0, kept = 0;
    int failed = is_waiting
                     ? MPI_Waitsome(m->count, m->requests, &count, m->ended, MPI_STATUSES_IGNORE)
                     : MPI_Testsome(m->count, m->requests, &count, m->ended, MPI_STATUSES_IGNORE);

    if (failed != MPI_SUCCESS)
        return failed;
    for (int i = 0; i < count; i++) {
        m->done[m->done_count++] = m->numbers[m->ended[i]];
        m->numbers[m->ended[i]] = -1;
    }
    for (int i = 0; i < m->count && count > 0; i++)
        if (m->numbers[i] >= 0) {
            m->requests[kept] = m->requests[i];
            m->numbers[kept++] = m->numbers[i];
        }
    m->count = count > 0 ? kept : m->count;
    return 0;
}

static inline int xylem_tasks_mpi_finish(void *arg, int is_waiting, int *numbers, int most,
                                         int *count)
{
    xylem_tasks_mpi *m = (xylem_tasks_mpi *)arg;
    int failed = m->done_count == 0 && m->count > 0 ? xylem_tasks_mpi_look(m, is_waiting) : 0;

    *count = 0;
    while (*count < most && m->done_count > 0)
        numbers[(*count)++] = m->done[--m->done_count];
    return failed;
}

/* Find the ranks that share the GPUs of this machine. */
static inline int xylem_tasks_mpi_near(MPI_Comm comm, xylem_messages *messages)
{
    MPI_Comm near_comm;
    int failed = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near_comm);

    messages->near_ranks = messages->near_rank = 0;
    if (failed != 0)
        return failed;
    MPI_Comm_rank(near_comm, &messages->near_rank);
    MPI_Comm_size(near_comm, &messages->near_ranks);
    return MPI_Comm_free(&near_comm);
}

/* A duplicate of the communicator carries the messages, so that they meet no other ones.
 * Collective. 0, or an error of MPI. */
static inline int xylem_tasks_mpi_open(MPI_Comm comm, xylem_messages *messages)
{
    xylem_tasks_mpi *m = (xylem_tasks_mpi *)calloc(1, sizeof(*m));
    int *last, is_set = 0, failed = m != NULL ? 0 : MPI_ERR_OTHER;

    if (failed == 0)
        failed = MPI_Comm_dup(comm, &m->comm);
    if (failed == 0)
        failed = MPI_Comm_get_attr(m->comm, MPI_TAG_UB, &last, &is_set);
    if (failed != 0) {
        free(m);
        return failed;
    }
    failed = xylem_tasks_mpi_near(m->comm, messages);
    messages->arg = m;
    messages->last_tag = is_set ? *last : 32767;
    messages->start = xylem_tasks_mpi_start;
    messages->finish = xylem_tasks_mpi_finish;
    MPI_Comm_rank(m->comm, &messages->rank);
    MPI_Comm_size(m->comm, &messages->ranks);
    return failed;
}

/* All runs are complete. Collective. */
static inline void xylem_tasks_mpi_close(xylem_messages *messages)
{
    xylem_tasks_mpi *m = (xylem_tasks_mpi *)messages->arg;

    MPI_Comm_free(&m->comm);
    free(m->requests);
    free(m->numbers);
    free(m->ended);
    free(m->done);
    free(m);
}

#ifdef __cplusplus
}
#endif

#endif
