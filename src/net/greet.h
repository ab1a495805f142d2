/* SPDX-License-Identifier: BSD-3-Clause */
/* Between greet.c and card.c: listeners, and the connector's half of a greeting. */
#ifndef XY_NET_GREET_H
#define XY_NET_GREET_H

#include <sys/socket.h>

#include "net/net_private.h"

enum { NET_RULES_INTERFACE = sizeof(((xy_net_rules_t *)0)->interface) };

uint16_t net_listener_port(const xy_listener_t *listener);
bool net_listener_is_local(const xy_listener_t *listener);

/* Connect until then; -1, with half a line of why. */
int net_connect_to(const struct sockaddr *to, socklen_t size, double deadline,
                   char why[XY_WHY_SIZE]);
/* Prove the secret to the listener `name`, and see it proved. */
bool net_greet(int fd, const uint8_t secret[XY_SECRET_BYTES], int name, int own, double deadline,
               xy_seal_t **seal_p, char why[XY_WHY_SIZE]);
const xy_net_rules_t *net_rules(void);
/* The interface with this number of the rules, from 0; false: there are not so many. */
bool net_rules_interface(int number, char name[NET_RULES_INTERFACE]);
/* Has this machine an address at an interface of the rules? */
bool net_has_interface(void);
/* The card of xy_listener_card, with the addresses of one interface alone unless it is NULL. */
char *net_listener_card(const xy_listener_t *listener, const char *first, const char *interface);
/* "127.0.0.1", "fe80::1"; false: it is none. */
bool net_address_read(const char *text, uint16_t port, struct sockaddr_storage *address,
                      socklen_t *size_p);

#endif
