/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_join: the two ends of a socket tell each other, over it, which ranks they are; the rest
 * is a meeting like the others.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"

/* A line of text, as the other end may be of another version or another MPI. */
enum { LINE = 64 };
#define PREFIX "xylem-join"

#define FIRST_PAUSE   20e-6
#define LONGEST_PAUSE 5e-3

/* Send or receive the whole line; other ranks run while the socket is not ready. 0, or an errno. */
static int transfer(int fd, char *line, bool sends)
{
    double pause = FIRST_PAUSE;
    size_t done = 0;

    while (done < LINE) {
        ssize_t n = sends ? send(fd, line + done, LINE - done, MSG_DONTWAIT | MSG_NOSIGNAL)
                          : recv(fd, line + done, LINE - done, MSG_DONTWAIT);

        if (n > 0) {
            done += (size_t)n;
            pause = FIRST_PAUSE;
        } else if (n == 0) {
            return ECONNRESET;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            xy_fiber_sleep(pause);
            pause = pause < LONGEST_PAUSE ? 2 * pause : pause;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* False: the other end is no rank of this job. */
static bool read_line(const char line[LINE], int *rank_p, uint32_t *context_p)
{
    return memchr(line, '\0', LINE) != NULL && dynamic_place_read(line, PREFIX, rank_p, context_p);
}

/* Both have a context; that of the lower rank is the bridge's. */
static int join(mpi_rank_t *self, int other, uint32_t context, MPI_Comm *intercomm)
{
    bool is_first = self->world < other;
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

/* Where the other end belongs to another job there is no communicator, which is no error. */
int impl_comm_join(mpi_rank_t *self, int fd, MPI_Comm *intercomm)
{
    uint32_t own = mpi_context_new(1), theirs;
    char line[LINE] = "";
    int other, error;

    *intercomm = MPI_COMM_NULL;
    if (mpi_job->clock != NULL)
        return mpi_error(NULL, MPI_ERR_UNSUPPORTED_OPERATION,
                         "sockets take no virtual time; run the job without --virtual");
    dynamic_place_write(line, sizeof(line), PREFIX, self->world, own);
    error = transfer(fd, line, true);
    if (error == 0)
        error = transfer(fd, line, false);
    if (error != 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the descriptor %d: %s; it must be a connected socket",
                         fd, strerror(error));
    if (!read_line(line, &other, &theirs))
        return MPI_SUCCESS;
    if (other == self->world)
        return mpi_error(NULL, MPI_ERR_ARG, "both ends of the socket belong to this rank");
    return join(self, other, self->world < other ? own : theirs, intercomm);
}
