/* SPDX-License-Identifier: BSD-3-Clause */
/* Cards, "PORT ADDRESS ADDRESS...": where a listener is found, and connecting to one of them. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "net/greet.h"

/* A card from anywhere: at most so many addresses are tried. */
enum { MOST_ADDRESSES = 32 };
/* After a link was cut, systems keep for some seconds that a neighbour was not there: seconds in
 * which it is asked again, and between two times. */
#define AGAIN_SECONDS 15.0
#define AGAIN_PAUSE   0.2

/* Write an address as text; false for link-local and other addresses that no other machine can use.
 */
static bool text_of(const struct sockaddr *address, char text[64])
{
    if (address == NULL)
        return false;
    if (address->sa_family == AF_INET)
        return inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, 64) !=
               NULL;
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

        if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
            return inet_ntop(AF_INET, six->sin6_addr.s6_addr + 12, text, 64) != NULL;
        return !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) &&
               inet_ntop(AF_INET6, &six->sin6_addr, text, 64) != NULL;
    }
    return false;
}

bool xy_socket_address(int fd, char text[64])
{
    struct sockaddr_storage own;
    socklen_t size = sizeof(own);

    return getsockname(fd, (struct sockaddr *)&own, &size) == 0 &&
           text_of((struct sockaddr *)&own, text);
}

bool net_rules_interface(int number, char name[NET_RULES_INTERFACE])
{
    const char *at = net_rules()->interface;

    for (; number > 0 && *at != '\0'; number--)
        at += strcspn(at, ","), at += *at == ',';
    snprintf(name, NET_RULES_INTERFACE, "%.*s", (int)strcspn(at, ","), at);
    return *at != '\0';
}

/* Add the addresses of an interface (NULL: of all), either of the loopback or of others. */
static void add_some(xy_text_t *card, const struct ifaddrs *all, const char *interface,
                     bool loopback)
{
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
        char text[64];

        if ((i->ifa_flags & IFF_UP) != 0 &&
            (interface == NULL || strcmp(interface, i->ifa_name) == 0) &&
            ((i->ifa_flags & IFF_LOOPBACK) != 0) == loopback && text_of(i->ifa_addr, text))
            xy_text_addf(card, " %s", text);
    }
}

/* Add the addresses of an interface; NULL: of those of the rules in turn, or all. The loopback's
 * come last, as they are reached from this machine only. */
static void add_addresses(xy_text_t *card, const struct ifaddrs *all, const char *interface)
{
    char name[NET_RULES_INTERFACE];

    for (int i = 0; interface == NULL && net_rules_interface(i, name); i++)
        add_addresses(card, all, name);
    if (interface != NULL || net_rules()->interface[0] == '\0') {
        add_some(card, all, interface, false);
        add_some(card, all, interface, true);
    }
}

bool net_has_interface(void)
{
    struct ifaddrs *all = NULL;
    xy_text_t found = XY_TEXT_INIT;
    bool is_there;

    if (net_rules()->interface[0] == '\0' || getifaddrs(&all) != 0)
        return true;
    add_addresses(&found, all, NULL);
    is_there = found.length > 0;
    xy_text_cleanup(&found);
    freeifaddrs(all);
    return is_there;
}

char *xy_listener_card(const xy_listener_t *listener, const char *first)
{
    return net_listener_card(listener, first, NULL);
}

char *net_listener_card(const xy_listener_t *listener, const char *first, const char *interface)
{
    xy_text_t card = XY_TEXT_INIT;
    struct ifaddrs *all = NULL;

    xy_text_addf(&card, "%u", net_listener_port(listener));
    if (net_listener_is_local(listener)) {
        xy_text_add(&card, " 127.0.0.1");
    } else {
        if (first != NULL && net_rules()->interface[0] == '\0')
            xy_text_addf(&card, " %s", first);
        if (getifaddrs(&all) != 0)
            all = NULL;
        add_addresses(&card, all, interface);
        if (all != NULL)
            freeifaddrs(all);
    }
    if (!card.failed)
        return card.s;
    xy_text_cleanup(&card);
    return NULL;
}

bool net_address_read(const char *text, uint16_t port, struct sockaddr_storage *address,
                      socklen_t *size_p)
{
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof(*address));
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        *size_p = sizeof(*four);
        return true;
    }
    if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        *size_p = sizeof(*six);
        return true;
    }
    return false;
}

/* Connect to one address and greet the listener there; returns the socket, or -1 and the reason in
 * `why`. */
static int try_address(const char *text, uint16_t port, const uint8_t secret[XY_SECRET_BYTES],
                       int name, int own, double deadline, xy_seal_t **seal_p,
                       char why[XY_WHY_SIZE])
{
    struct sockaddr_storage address;
    socklen_t size;
    int fd;

    if (!net_address_read(text, port, &address, &size)) {
        snprintf(why, XY_WHY_SIZE, "'%.64s' is not an address", text);
        return -1;
    }
    fd = net_connect_to((struct sockaddr *)&address, size, deadline, why);
    if (fd < 0 || net_greet(fd, secret, name, own, deadline, seal_p, why))
        return fd;
    close(fd);
    return -1;
}

/* May it be reached a moment later? */
static bool is_passing(int code)
{
    return code == EHOSTUNREACH || code == ENETUNREACH || code == ENETDOWN || code == EHOSTDOWN;
}

/* Does a failure say more than those of other addresses before? A loopback address reaches this
 * machine only. */
static bool is_telling(const char *text, const char *why)
{
    return why[0] == '\0' || (strncmp(text, "127.", 4) != 0 && strcmp(text, "::1") != 0);
}

/* Addresses in turn, each with its part of what is left of the time. *again_p: one of them may be
 * reached later. */
static int try_all(const char *addresses, uint16_t port, const uint8_t secret[XY_SECRET_BYTES],
                   int name, int own, double deadline, bool *again_p, xy_seal_t **seal_p,
                   char why[XY_WHY_SIZE])
{
    int fd = -1, left = 0;
    char text[64], reason[XY_WHY_SIZE];

    for (const char *at = addresses; *at != '\0'; at++)
        left += *at == ' ';
    if (left > MOST_ADDRESSES)
        left = MOST_ADDRESSES;
    for (const char *at = addresses; *at == ' ' && left > 0 && fd < 0; left--) {
        size_t n = strcspn(++at, " ");
        double now = net_now();

        snprintf(text, sizeof(text), "%.*s", n < sizeof(text) ? (int)n : 0, at);
        errno = 0;
        fd = try_address(text, port, secret, name, own, now + (deadline - now) / (left > 1 ? 2 : 1),
                         seal_p, reason);
        if (fd < 0 && is_telling(text, why))
            memcpy(why, reason, XY_WHY_SIZE);
        *again_p = *again_p || (fd < 0 && is_passing(errno));
        at += n;
    }
    return fd;
}

int xy_card_connect(const char *card, const uint8_t secret[XY_SECRET_BYTES], int name, int own,
                    double deadline, xy_seal_t **seal_p, char why[XY_WHY_SIZE])
{
    const struct timespec pause = {.tv_nsec = (long)(AGAIN_PAUSE * 1e9)};
    double last = net_now() + AGAIN_SECONDS;
    char *end;
    long port = strtol(card, &end, 10);
    bool again = true;
    int fd = -1;

    why[0] = '\0';
    while (fd < 0 && again && port > 0 && port <= 65535) {
        again = false;
        fd = try_all(end, (uint16_t)port, secret, name, own, deadline, &again, seal_p, why);
        again = again && net_now() + AGAIN_PAUSE < (deadline < last ? deadline : last);
        if (fd < 0 && again)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    if (fd < 0 && why[0] == '\0')
        snprintf(why, XY_WHY_SIZE, "it has no address");
    return fd;
}
