/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A socket between each two processes. Each listens, gives its card to the others, connects to
 * those before it and is reached by those behind it. The order has no cycle: nothing waits for
 * ever, though connections are made one after the other.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "net/private.h"

static void close_all(int *fds, int count)
{
    for (int p = 0; p < count; p++)
        if (fds[p] >= 0) {
            close(fds[p]);
            fds[p] = -1;
        }
}

static xy_status_t connect_down(const xy_net_config_t *config, char **cards, double deadline,
                                int *fds)
{
    for (int p = 0; p < config->process; p++) {
        char why[XY_WHY_SIZE];

        fds[p] = xy_card_connect(cards[p], config->secret, p, config->process, deadline, why);
        if (fds[p] < 0)
            return xy_fail(XY_EIO,
                           "process %d cannot connect to process %d (port and addresses: %s): %s",
                           config->process, p, cards[p], why);
    }
    return XY_OK;
}

static xy_status_t accept_up(const xy_net_config_t *config, xy_listener_t *listener,
                             double deadline, int *fds)
{
    int missing = config->processes - config->process - 1;

    while (missing > 0) {
        int name, fd = xy_listener_accept(listener, &name);

        if (fd >= 0 && (name <= config->process || fds[name] >= 0)) {
            close(fd);
        } else if (fd >= 0) {
            fds[name] = fd;
            missing--;
        } else if (!net_await(xy_listener_fd(listener), POLLIN, deadline)) {
            for (name = config->process + 1; fds[name] >= 0;)
                name++;
            return xy_fail(XY_EIO, "process %d was not reached by process %d within %g s",
                           config->process, name, config->seconds);
        }
    }
    return XY_OK;
}

xy_status_t net_mesh_open(const xy_net_config_t *config, int *fds)
{
    double deadline = net_now() + config->seconds;
    char **cards = xy_calloc((size_t)config->processes, sizeof(char *)), *own = NULL;
    xy_listener_t *listener = NULL;
    xy_status_t st = XY_ENOMEM;

    for (int p = 0; p < config->processes; p++)
        fds[p] = -1;
    if (cards != NULL)
        st = xy_listener_open(config->secret, config->process, config->processes, config->is_local,
                              &listener);
    if (st == XY_OK)
        own = xy_listener_card(listener, config->address);
    if (cards == NULL || (st == XY_OK && own == NULL))
        st = xy_fail_memory("connecting the processes");
    if (st == XY_OK)
        st = config->exchange(config->exchange_arg, own, cards);
    if (st == XY_OK)
        st = connect_down(config, cards, deadline, fds);
    if (st == XY_OK)
        st = accept_up(config, listener, deadline, fds);
    if (st != XY_OK)
        close_all(fds, config->processes);
    xy_listener_close(listener);
    for (int p = 0; cards != NULL && p < config->processes; p++)
        xy_free(cards[p]);
    xy_free(cards);
    xy_free(own);
    return st;
}
