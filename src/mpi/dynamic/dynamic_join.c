/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_join: the two ends of a socket tell each other, over it, which ranks they are; the rest
 * is a meeting like the others.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/p2p/p2p.h"
#include "mpi/virtual/virtual.h"

/* A line of text, as the other end may be of another version or another MPI. */
enum { LINE = PLACE_TEXT };
#define PREFIX "xylem-join"

#define FIRST_PAUSE   20e-6
#define LONGEST_PAUSE 5e-3
/* In virtual time: who waits is late by a sixteenth of it. */
#define VIRTUAL_PAUSE  1e-6
#define VIRTUAL_GROWTH (1 + 1.0 / 16)

static void give_way(mpi_rank_t *self, double *pause)
{
    if (mpi_job->clock) {
        mpi_job->clock->sleep(self, *pause, true);
        *pause *= VIRTUAL_GROWTH;
        return;
    }
    xy_fiber_sleep(*pause);
    *pause = *pause < LONGEST_PAUSE ? 2 * *pause : *pause;
}

/* In virtual time, who looks next at the other end finds what was sent: TCP's answer says that it
 * is there, and may be late. */
static void await_arrival(int fd)
{
    const struct timespec round = {0, 100000};
    enum { ROUNDS = 20000 }; /* two seconds, for one who does not read */
    int left = 0;

    for (int i = 0; i < ROUNDS && ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0; i++)
        nanosleep(&round, NULL);
}

static bool is_tcp(int fd)
{
    int domain = AF_UNIX;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &(socklen_t){sizeof domain}) == 0 &&
           domain != AF_UNIX;
}

/* Send or receive the whole line; other ranks run while the socket is not ready. 0, or an errno. */
static int transfer(mpi_rank_t *self, int fd, char *line, bool sends)
{
    double first = mpi_job->clock ? VIRTUAL_PAUSE : FIRST_PAUSE, pause = first;
    size_t done = 0;

    while (done < LINE) {
        ssize_t n = sends ? send(fd, line + done, LINE - done, MSG_DONTWAIT | MSG_NOSIGNAL)
                          : recv(fd, line + done, LINE - done, MSG_DONTWAIT);

        if (n > 0) {
            done += (size_t)n;
            pause = first;
        } else if (n == 0) {
            return ECONNRESET;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            give_way(self, &pause);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    if (sends && mpi_job->clock && is_tcp(fd))
        await_arrival(fd);
    return 0;
}

/* Both have a context; that of the lower rank is the bridge's. */
static int join(mpi_rank_t *self, int other, bool is_first, uint32_t context, MPI_Comm *intercomm)
{
    dynamic_bridge_t bridge;
    mpi_comm_t *made;
    int code;

    dynamic_bridge(&bridge, self->comm_self, context, is_first ? self->world : other,
                   is_first ? other : self->world);
    code = mpi_intercomm_make(self->comm_self, 0, &bridge.comm, is_first ? 1 : 0, 0, &made);
    if (code == MPI_SUCCESS)
        *intercomm = mpi_comm_handle(made);
    return code;
}

/* Connect two jobs: the one with the lower number connects, and says over the socket how it went:
 * the context of the bridge, or 0. */
static int join_far(mpi_rank_t *self, int fd, const dynamic_place_t *theirs, MPI_Comm *intercomm)
{
    bool is_first = mpi_job->id < theirs->job;
    char line[LINE] = "", why[XY_WHY_SIZE];
    uint32_t wire = 0;
    int process = -1, error, code;

    if (is_first) {
        process = mpi_link_connect(theirs->job, theirs->process, theirs->card, theirs->secret, why);
        wire = process < 0 ? 0 : mpi_link_context_new(mpi_link_to(process), 1);
        snprintf(line, sizeof(line), "%" PRIu32, wire);
    }
    error = transfer(self, fd, line, is_first);
    if (error != 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the descriptor %d: %s", fd, strerror(error));
    if (!is_first) {
        line[LINE - 1] = '\0';
        wire = (uint32_t)strtoul(line, NULL, 10);
        process = wire == 0 ? -1 : mpi_link_find(theirs->job, theirs->process);
    }
    if (process < 0)
        return MPI_SUCCESS;
    mpi_link_expect(1);
    code = join(self, mpi_link_rank(process, theirs->rank), is_first,
                mpi_link_context(mpi_link_to(process), wire), intercomm);
    mpi_link_expect(-1);
    return code;
}

/* Where the other end is no rank that can be reached there is no communicator, which is no error.
 */
int impl_comm_join(mpi_rank_t *self, int fd, MPI_Comm *intercomm)
{
    dynamic_place_t own, theirs;
    char line[LINE] = "";
    int error;
    bool is_first;

    *intercomm = MPI_COMM_NULL;
    if (mpi_job->clock)
        mpi_virtual_sync(self);
    own = dynamic_place(self->world, mpi_context_new(1));
    dynamic_place_print(&own, PREFIX, line);
    error = transfer(self, fd, line, true);
    if (error == 0)
        error = transfer(self, fd, line, false);
    if (error != 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the descriptor %d: %s; it must be a connected socket",
                         fd, strerror(error));
    if (memchr(line, '\0', LINE) == NULL || !dynamic_place_parse(line, PREFIX, &theirs))
        return MPI_SUCCESS;
    if (theirs.job != mpi_job->id)
        return own.secret[0] == '\0' || theirs.secret[0] == '\0'
                   ? MPI_SUCCESS
                   : join_far(self, fd, &theirs, intercomm);
    if (!dynamic_place_is_own(&theirs))
        return MPI_SUCCESS;
    if (theirs.rank == self->world)
        return mpi_error(NULL, MPI_ERR_ARG, "both ends of the socket belong to this rank");
    is_first = self->world < theirs.rank;
    return join(self, theirs.rank, is_first, is_first ? own.context : theirs.context, intercomm);
}
