/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A socket between each two processes. Each listens, gives its card to the others, connects to
 * those before it and is reached by those behind it. The order has no cycle: nothing waits for
 * ever, though connections are made one after the other.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "net/greet.h"

static void close_all(net_wire_t *wires, int count)
{
    for (int p = 0; p < count; p++)
        net_wire_close(&wires[p]);
}

/* Connect to all processes with lower numbers. */
static xy_status_t connect_down(const xy_net_config_t *config, char **cards, double deadline,
                                net_wire_t *wires)
{
    for (int p = 0; p < config->process; p++) {
        char why[XY_WHY_SIZE];

        wires[p].fd = xy_card_connect(cards[p], config->secret, p, config->process, deadline,
                                      &wires[p].seal, why);
        if (wires[p].fd < 0)
            return xy_fail(XY_EIO,
                           "process %d cannot connect to process %d (port and addresses: %s): %s",
                           config->process, p, cards[p], why);
    }
    return XY_OK;
}

/* Has each process an address for others? */
static bool have_addresses(const xy_net_config_t *config, char **cards)
{
    for (int p = 0; p < config->processes; p++)
        if (strchr(cards[p], ' ') == NULL)
            return false;
    return true;
}

/* Accept the connections of all processes with higher numbers; others are closed. */
static xy_status_t accept_up(const xy_net_config_t *config, xy_listener_t *listener,
                             double deadline, net_wire_t *wires)
{
    int missing = config->processes - config->process - 1;

    while (missing > 0) {
        net_wire_t wire = {0};
        int name;

        wire.fd = xy_listener_accept(listener, &name, &wire.seal);
        if (wire.fd >= 0 && (name <= config->process || wires[name].fd >= 0)) {
            net_wire_close(&wire);
        } else if (wire.fd >= 0) {
            wires[name] = wire;
            missing--;
        } else if (!net_await(xy_listener_fd(listener), POLLIN, deadline)) {
            for (name = config->process + 1; wires[name].fd >= 0;)
                name++;
            return xy_fail(XY_EIO, "process %d was not reached by process %d within %g s",
                           config->process, name, config->seconds);
        }
    }
    return XY_OK;
}

xy_status_t net_mesh_open(const xy_net_config_t *config, const char *interface, net_wire_t *wires)
{
    double deadline = net_now() + config->seconds;
    char **cards = xy_calloc((size_t)config->processes, sizeof(char *)), *own = NULL;
    xy_listener_t *listener = NULL;
    xy_status_t st = XY_ENOMEM;
    bool is_wanted;

    for (int p = 0; p < config->processes; p++)
        wires[p] = (net_wire_t){.fd = -1};
    if (cards != NULL)
        st = xy_listener_open(config->secret, config->process, config->processes, config->is_local,
                              &listener);
    if (st == XY_OK)
        own = net_listener_card(listener, config->address, interface);
    if (cards == NULL || (st == XY_OK && own == NULL))
        st = xy_fail_memory("connecting the processes");
    if (st == XY_OK)
        st = config->exchange(config->exchange_arg, own, cards);
    is_wanted = st == XY_OK && (interface == NULL || have_addresses(config, cards));
    if (is_wanted)
        st = connect_down(config, cards, deadline, wires);
    if (is_wanted && st == XY_OK)
        st = accept_up(config, listener, deadline, wires);
    if (st != XY_OK)
        close_all(wires, config->processes);
    xy_listener_close(listener);
    for (int p = 0; cards != NULL && p < config->processes; p++)
        xy_free(cards[p]);
    xy_free(cards);
    xy_free(own);
    return st;
}
