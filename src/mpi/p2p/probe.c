/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Probe, MPI_Iprobe and their matched forms. */
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

static int check(mpi_rank_t *self, int source, int tag, MPI_Comm comm, xy_envelope_t *envelope,
                 mpi_comm_t **comm_p)
{
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, NULL, 0, MPI_BYTE, source, tag, true, &t);

    if (error != MPI_SUCCESS)
        return error;
    *envelope = (xy_envelope_t){t.comm->context, source, tag};
    *comm_p = t.comm;
    return MPI_SUCCESS;
}

static void describe(MPI_Status *status, const mpi_message_t *m)
{
    mpi_completion_t completion = {
        .source = m->entry.envelope.source, .tag = m->entry.envelope.tag, .bytes = m->bytes};

    mpi_status_set(status, &completion);
}

/* Park until a message fits; whatever arrives readies those that probe, and they look again. */
static mpi_message_t *find_or_wait(mpi_rank_t *self, const xy_envelope_t *envelope)
{
    xy_match_entry_t *found;

    if (xy_match_find(&self->match, envelope) == NULL)
        mpi_request_before_wait(self, NULL, 0); /* others may run, and messages arrive */
    while ((found = xy_match_find(&self->match, envelope)) == NULL) {
        self->waiter->waits_count = 0;
        self->waiter->next = self->probers;
        self->probers = self->waiter;
        mpi_account_park(self);
        xy_fiber_park();
        mpi_account_resume(self);
    }
    return (mpi_message_t *)found;
}

/* Look, and if there is nothing let the others run and look once more. */
static mpi_message_t *find_or_yield(mpi_rank_t *self, const xy_envelope_t *envelope)
{
    xy_match_entry_t *found = xy_match_find(&self->match, envelope);

    if (found == NULL) {
        mpi_request_before_wait(self, NULL, 0);
        mpi_polling_begin(self, NULL, 0, false);
        xy_fiber_yield();
        mpi_polling_end(self);
        found = xy_match_find(&self->match, envelope);
    }
    return (mpi_message_t *)found;
}

static MPI_Message take(mpi_rank_t *self, mpi_message_t *m, mpi_comm_t *comm)
{
    if (mpi_p2p_engine == NULL)
        xy_match_drop(&self->match, &m->entry);
    mpi_message_take(self, m, comm);
    return (MPI_Message)(void *)m;
}

static mpi_message_t *find(mpi_rank_t *self, const xy_envelope_t *envelope, mpi_comm_t *comm,
                           bool waits, bool takes)
{
    if (mpi_p2p_engine != NULL) {
        mpi_message_t *found;

        mpi_account_park(self);
        found = mpi_p2p_engine->probe(self, envelope, comm, waits, takes);
        mpi_account_resume(self);
        return found;
    }
    return waits ? find_or_wait(self, envelope) : find_or_yield(self, envelope);
}

/* All four. flag: NULL waits; message: NULL leaves what was found where it is. */
int part_probe(mpi_rank_t *self, int source, int tag, MPI_Comm comm, int *flag,
               MPI_Message *message, MPI_Status *status)
{
    xy_envelope_t envelope;
    mpi_message_t *m = NULL;
    mpi_comm_t *object;
    int error = check(self, source, tag, comm, &envelope, &object);

    if (error != MPI_SUCCESS)
        return error;
    if (source == MPI_PROC_NULL)
        mpi_status_set(status, &mpi_completion_null_peer);
    else if ((m = find(self, &envelope, object, flag == NULL, message != NULL)) != NULL)
        describe(status, m);
    if (m == NULL && source != MPI_PROC_NULL && mpi_survives &&
        (error = mpi_survive_error(object, source)) != MPI_SUCCESS)
        return mpi_survive_raise(object, error);
    if (flag != NULL)
        *flag = m != NULL || source == MPI_PROC_NULL;
    if (message != NULL && source == MPI_PROC_NULL)
        *message = MPI_MESSAGE_NO_PROC;
    else if (message != NULL)
        *message = m ? take(self, m, object) : MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}
