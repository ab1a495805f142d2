/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of waiting ranks as text: names of ports, and the data exchanged over the socket of
 * MPI_Comm_join.
 *
 *   xylem-port:JOB:RANK:CONTEXT                     JOB has 16 hexadecimal digits
 *   xylem-port:JOB:RANK:CONTEXT:PROCESS:SECRET:40123,ADDRESS,ADDRESS
 *
 * The second form is that of a job that others can connect to. PROCESS, of that job, has the rank
 * and listens at the addresses.
 */
#ifndef XY_MPI_DYNAMIC_PLACE_H
#define XY_MPI_DYNAMIC_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACE_TEXT = 1024, PLACE_SECRET = 33, PLACE_CARD = 900 };

typedef struct {
    uint64_t job;
    int rank;
    uint32_t context;
    int process;               /* of that job, where the rank is */
    char secret[PLACE_SECRET]; /* "": others cannot connect */
    char card[PLACE_CARD];     /* as xy_card_connect takes it */
} dynamic_place_t;

/* Addresses at the end of the card for which there is no room are left out. */
void dynamic_place_print(const dynamic_place_t *place, const char *prefix, char text[PLACE_TEXT]);
/* False: it is no such text. One that is accepted would be printed again as it is. */
bool dynamic_place_parse(const char *text, const char *prefix, dynamic_place_t *place);

#endif
