/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of one rank each that make one job: a wrapper, a script or an interpreter stands
 * between mpiexec and the program. They meet at a socket of mpiexec, exchange there how to reach
 * each other, and say there that they leave; the rest is between themselves. What they say is in
 * bindings.h, and mpiexec's half in launch/joined.c.
 */
#include "mpi/bindings/join.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <xylem.h>

#include "mpi/bindings/bindings.h"
#include "mpi/p2p/p2p.h"
#include "net/net.h"

enum { OPEN_SECONDS = 60 };

static struct {
    xy_channel_t link;
    int size;
    xy_net_t *net;
    int *process_of;
} joined = {.link = {.fd = -1}};

static xy_status_t lost_mpiexec(void)
{
    return xy_fail(XY_EIO, "the mpiexec that has started this process is gone");
}

static int connect_to(const char *name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || length + 1 > sizeof(to.sun_path))
        return fd;
    memcpy(to.sun_path + 1, name, length);
    if (connect(fd, (const struct sockaddr *)&to,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The next frame, which is of that kind. */
static xy_status_t await(uint32_t kind, xy_frame_t *frame)
{
    xy_channel_answer_t answer;

    do
        answer = xy_channel_await(&joined.link, 1e9, frame);
    while (answer == XY_CHANNEL_NOTHING);
    if (answer == XY_CHANNEL_END)
        return lost_mpiexec();
    if (frame->kind == kind)
        return XY_OK;
    xy_frame_free(frame);
    return xy_fail(XY_EPARSE, "what mpiexec says is not understood; are all parts of Xylem of one "
                              "version?");
}

static xy_status_t exchange(void *arg, const char *card, char **cards)
{
    xy_frame_t frame;
    const char *at, *end;
    xy_status_t st;

    (void)arg;
    if (!xy_channel_send(&joined.link, XMPI_JOIN_CARD, card, strlen(card)))
        return lost_mpiexec();
    st = await(XMPI_JOIN_CARDS, &frame);
    if (st != XY_OK)
        return st;
    at = frame.bytes;
    end = frame.bytes + frame.size;
    for (int p = 0; p < joined.size && st == XY_OK; p++) {
        cards[p] = at < end ? xy_strdup(at) : NULL; /* a frame has a NUL behind it in any case */
        if (cards[p] == NULL)
            st = xy_fail_memory("connecting the processes");
        else
            at += strlen(at) + 1;
    }
    xy_frame_free(&frame);
    return st;
}

/* Wait until all others have come; the secret is for the network between them. */
static xy_status_t meet(const mpi_others_t *others, uint8_t secret[XY_SECRET_BYTES])
{
    xy_frame_t frame;
    char hello[64];
    xy_status_t st;
    int n;

    xy_channel_init(&joined.link, connect_to(others->socket));
    if (joined.link.fd < 0)
        return lost_mpiexec();
    n = snprintf(hello, sizeof(hello), "%d %s", others->rank, xylem_version());
    if (!xy_channel_send(&joined.link, XMPI_JOIN_HELLO, hello, (size_t)n))
        return lost_mpiexec();
    st = await(XMPI_JOIN_ALL, &frame);
    if (st != XY_OK)
        return st;
    if (!xy_secret_read(frame.bytes, secret))
        st = xy_fail(XY_EPARSE, "what mpiexec says is not understood");
    xy_frame_free(&frame);
    return st;
}

static xy_status_t connect_all(const mpi_others_t *others, const uint8_t *secret)
{
    xy_net_config_t config = {.process = others->rank,
                              .processes = others->size,
                              .transport = "auto",
                              .is_local = true,
                              .exchange = exchange,
                              .seconds = OPEN_SECONDS};

    memcpy(config.secret, secret, sizeof(config.secret));
    return xy_net_open(&config, &joined.net);
}

xy_status_t mpi_join(const mpi_others_t *others, mpi_job_config_t *config)
{
    uint8_t secret[XY_SECRET_BYTES];
    xy_status_t st = meet(others, secret);

    joined.size = others->size;
    if (st == XY_OK)
        st = connect_all(others, secret);
    if (st != XY_OK)
        return st;
    joined.process_of = xy_calloc((size_t)others->size, sizeof(int));
    if (joined.process_of == NULL)
        return xy_fail_memory("joining the other processes");
    for (int r = 0; r < others->size; r++)
        joined.process_of[r] = r;
    setenv(XMPI_LAUNCHED, XMPI_LAUNCHED_RANK, 1); /* for processes that the program starts */
    config->id = xy_secret_number(secret);
    config->size = others->size;
    config->process = others->rank;
    config->processes = others->size;
    config->process_of = joined.process_of;
    config->net = joined.net;
    return XY_OK;
}

static bool has_left;

bool mpi_join_is_in(void)
{
    return joined.link.fd >= 0;
}

bool mpi_join_is_over(void)
{
    return has_left;
}

void mpi_join_leave(void)
{
    if (joined.link.fd < 0) {
        if (mpi_job->adopted != NULL) /* other jobs that it is connected to hear of its end */
            mpi_network_end();
        return;
    }
    has_left = true;
    mpi_network_end();
    xy_net_close(joined.net);
    xy_channel_send(&joined.link, XMPI_JOIN_LEAVE, NULL, 0);
    xy_channel_close(&joined.link);
}
