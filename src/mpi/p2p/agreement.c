/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements of the members of a communicator that live. Each sends its value to mpiexec, which
 * answers all of them when no member that lives is missing (launch/consensus.h).
 */
#include <pthread.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mpi_agree_t *waiting; /* of all ranks here */

/* Both groups of an intercommunicator: the other side has the same list. */
static const mpi_group_t *members_of(const mpi_comm_t *comm)
{
    return comm->remote != NULL ? comm->merged->group : comm->group;
}

/* Send what the calling rank says. */
static xy_status_t ask(const mpi_rank_t *self, const mpi_comm_t *comm, mpi_agree_ask_t head)
{
    const mpi_group_t *group = members_of(comm);
    size_t bytes = sizeof(head) + (size_t)group->size * sizeof(int32_t);
    char *message = xy_malloc(bytes);
    int32_t *members;

    if (message == NULL)
        return XY_ENOMEM;
    head.rank = self->world;
    head.size = group->size;
    memcpy(message, &head, sizeof(head));
    members = (int32_t *)(void *)(message + sizeof(head));
    for (int i = 0; i < group->size; i++)
        members[i] = mpi_group_world(group, i);
    mpi_survive_ops()->agree(message, bytes);
    xy_free(message);
    return XY_OK;
}

static void forget(mpi_request_t *request)
{
    xy_free(request->extra);
}

xy_status_t mpi_agree_start(mpi_rank_t *self, mpi_comm_t *comm, mpi_agree_kind_t kind, int flag,
                            mpi_agree_t *agree)
{
    mpi_agree_ask_t head = {.context = comm->context,
                            .number = comm->agreements++,
                            .kind = kind,
                            .flag = flag,
                            .acked = comm->acked};
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_COLL);

    if (request == NULL)
        return XY_ENOMEM;
    if (kind == XMPI_AGREE_SHRINK)
        head.proposal = mpi_link_context_new(0, 2);
    request->buffer = NULL;
    request->comm = comm;
    mpi_comm_hold(comm);
    request->call = self->call;
    request->extra = agree;
    request->release = forget;
    agree->request = request;
    agree->answer = (mpi_agree_answer_t){.context = head.context, .number = head.number};
    pthread_mutex_lock(&lock);
    agree->next = waiting;
    waiting = agree;
    pthread_mutex_unlock(&lock);
    return ask(self, comm, head);
}

xy_status_t mpi_agree_run(mpi_rank_t *self, mpi_comm_t *comm, mpi_agree_kind_t kind, int flag,
                          mpi_agree_answer_t *answer_p)
{
    mpi_agree_t *agree = xy_calloc(1, sizeof(*agree));

    if (agree == NULL || mpi_agree_start(self, comm, kind, flag, agree) != XY_OK)
        return XY_ENOMEM;
    agree->request->is_active = false; /* no handle of the program: nothing to report */
    mpi_request_wait(self, agree->request);
    *answer_p = agree->answer;
    mpi_request_free(agree->request);
    return XY_OK;
}

bool mpi_agree_all(mpi_rank_t *self, mpi_comm_t *comm, bool is_fine, bool *is_whole_p)
{
    mpi_agree_answer_t answer = {.flag = 0};

    if (mpi_agree_run(self, comm, XMPI_AGREE_FLAG, is_fine, &answer) != XY_OK) {
        xy_fail_memory("agreeing"); /* the others wait for this one */
        mpi_job->abort(1);
    }
    *is_whole_p = mpi_survive_members(comm, 0, answer.failures) == 0;
    return answer.flag != 0;
}

typedef struct {
    remote_errand_t errand; /* must be first */
    mpi_agree_t *agree;
} finish_t;

/* On the worker of the rank, or at its gate. */
static void finish(remote_errand_t *errand)
{
    mpi_agree_t *agree = ((finish_t *)(void *)errand)->agree;

    if (agree->done != NULL)
        agree->done(agree);
    mpi_request_complete(agree->request);
    xy_free(errand);
}

/* Take the next one that this answer is for; NULL: there is none. */
static mpi_agree_t *take(const mpi_agree_answer_t *answer)
{
    mpi_agree_t **link = &waiting, *found;

    pthread_mutex_lock(&lock);
    while (*link != NULL &&
           ((*link)->answer.context != answer->context || (*link)->answer.number != answer->number))
        link = &(*link)->next;
    found = *link;
    if (found != NULL)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

void mpi_survive_agreed(const mpi_agree_answer_t *answer)
{
    mpi_agree_t *agree;

    while ((agree = take(answer)) != NULL) {
        finish_t *errand = xy_malloc(sizeof(*errand));

        if (errand == NULL) {
            xy_fail_memory("agreeing");
            mpi_job->abort(1);
            return;
        }
        agree->answer = *answer;
        *errand = (finish_t){.errand.run = finish, .agree = agree};
        mpi_network_post(agree->request->owner->worker, &errand->errand);
    }
}
