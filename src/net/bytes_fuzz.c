/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes from the network: frames of the control connection, the tcp transport, and strangers at a
 * listener. Whatever comes, nothing is written where it does not belong, and no stranger gets in.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/greet.h"
#include "testing/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static void pair(int fds[2], const uint8_t *data, size_t size)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 ||
        send(fds[0], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
        abort();
}

static void read_frames(xy_seal_t *seal, const uint8_t *data, size_t size)
{
    int fds[2];
    xy_channel_t link;
    xy_frame_t frame;

    pair(fds, data, size);
    if (!xy_channel_init(&link, fds[1], seal))
        abort();
    while (xy_channel_read(&link, &frame) == XY_CHANNEL_FRAME)
        xy_frame_free(&frame);
    xy_channel_close(&link);
    close(fds[0]);
}

/* ---- tcp ---- */

enum { TAKEN = 1000 };

static void on_message(void *context, int from, const void *bytes, size_t size)
{
    volatile const char *p = bytes;

    (void)context;
    for (size_t i = 0; i < size; i++)
        (void)p[i];
    if (from != 0)
        abort();
}

static void on_done(void *context, void *token)
{
    if (++*(int *)token > 1)
        abort();
    (void)context;
}

static void on_lost(void *context, int process, const char *why)
{
    (void)why;
    if (process != 0 || ++*(int *)context > 1)
        abort();
}

static void read_transport(xy_seal_t *seal, const uint8_t *data, size_t size)
{
    static const xy_net_events_t events = {on_message, on_done, on_lost};
    xy_net_config_t config = {.process = 1, .processes = 2};
    net_wire_t wires[2] = {{.fd = -1}, {.fd = -1}};
    int ends[2], lost = 0, done[2] = {0};
    char *taken[2] = {malloc(TAKEN), malloc(1)};
    xy_net_t *net;

    pair(ends, data, size);
    wires[0].fd = ends[1];
    wires[0].seal = seal;
    if (net_tcp_make(&config, wires, 1, &net) != XY_OK)
        abort();
    xy_net_listen(net, &events, &lost);
    xy_net_take(net, 0, 1, taken[0], TAKEN, &done[0]);
    xy_net_take(net, 0, 2, taken[1], 1, &done[1]);
    while (xy_net_poll(net))
        ;
    close(ends[0]);
    while (xy_net_poll(net))
        ;
    xy_net_close(net);
    free(taken[0]);
    free(taken[1]);
}

/* ---- A listener ---- */

static void knock(const uint8_t *data, size_t size)
{
    static const uint8_t secret[XY_SECRET_BYTES] = {1};
    static xy_listener_t *listener;
    static struct sockaddr_storage to;
    static socklen_t to_size;
    char why[XY_WHY_SIZE];
    xy_seal_t *seal;
    int fd, name;

    if (listener == NULL &&
        (xy_listener_open(secret, 0, 4, true, &listener) != XY_OK ||
         !net_address_read("127.0.0.1", net_listener_port(listener), &to, &to_size)))
        abort();
    fd = net_connect_to((struct sockaddr *)&to, to_size, net_now() + 60, why);
    if (fd < 0)
        return;
    if (size > 0)
        (void)!send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    for (int i = 0; i < 4; i++)
        if (xy_listener_accept(listener, &name, &seal) >= 0)
            abort();
    close(fd);
}

static void read_card(const uint8_t *data, size_t size)
{
    static const uint8_t secret[XY_SECRET_BYTES] = {1};
    char *text = malloc(size + 3), why[XY_WHY_SIZE];
    xy_seal_t *seal;

    /* A port that no address of this machine has, so that nothing is reached. */
    memcpy(text, "0 ", 2);
    memcpy(text + 2, data, size);
    text[size + 2] = '\0';
    if (xy_card_connect(text, secret, 0, 1, 0, &seal, why) >= 0)
        abort();
    xy_secret_read(text, (uint8_t[XY_SECRET_BYTES]){0});
    free(text);
}

/* Half of the inputs are records of the other end, whose contents are the input. */
static void read_sealed(void (*body)(xy_seal_t *, const uint8_t *, size_t), const uint8_t *data,
                        size_t size)
{
    struct iovec piece = {(void *)(uintptr_t)data, size};
    uint8_t *record = malloc(NET_SEAL_RECORD);
    size_t taken, length = size;
    xy_seal_t *seals[2];

    if (size > 0 && testing_seals(net_seal_choose(3, net_seal_ciphers()), seals)) {
        memcpy(record, data, size);
        if (data[0] % 2 == 0)
            length = net_seal_wrap(seals[0], &piece, 1, 0, record, &taken);
        body(seals[1], record, length);
        xy_seal_free(seals[0]);
    }
    free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 30000)
        return 0;
    xy_error_handler_set(ignore, NULL);
    switch (data[0] % 6) {
    case 0:
        read_frames(NULL, data + 1, size - 1);
        break;
    case 1:
        read_transport(NULL, data + 1, size - 1);
        break;
    case 4:
    case 5:
        read_sealed(data[0] % 6 == 4 ? read_frames : read_transport, data + 1, size - 1);
        break;
    case 2:
        knock(data + 1, size - 1);
        break;
    default:
        read_card(data + 1, size - 1);
    }
    return 0;
}
