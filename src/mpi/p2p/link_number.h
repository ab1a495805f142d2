/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of links, which process 0 of a job gives out; for peer_link.c. */
#ifndef XY_MPI_P2P_LINK_NUMBER_H
#define XY_MPI_P2P_LINK_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* A process needs the number of the link to a job, or has no such link any more. */
void link_number_take(uint64_t job);
void link_number_drop(int number);
/* Forget all. */
void link_number_reset(void);

/* In peer_link.c: the number that was asked for; 0: there are too many. Inside an event of the
 * network, or of link_number_take. */
void link_number_came(uint64_t job, int number);

#endif
