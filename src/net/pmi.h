/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process management interfaces: the launcher of another MPI or of a batch system has started this
 * process as one of several, and provides a key-value space. It is used only to exchange addresses;
 * messages use the transports of this component.
 *
 *   xy_pmi_t *pmi;
 *   st = xy_pmi_open(60, &pmi);                   (all processes)
 *   st = xy_pmi_meet(pmi, is_plain, &meeting);    (versions, hosts, a secret)
 *   st = xy_pmi_exchange(pmi, card, cards);
 *   xy_pmi_close(pmi);
 *
 * Reading the key-value space, or the connections of the launcher, does not reveal the secret:
 * process 0 encrypts it for each other process under a key that both agree on by X25519. The space
 * must be authentic: a process that can write to it can join the job.
 *
 * One thread at a time calls these functions.
 */
#ifndef XY_NET_PMI_H
#define XY_NET_PMI_H

#include <stdbool.h>

#include "base/base.h"
#include "net/control.h"

typedef struct xy_pmi xy_pmi_t;

/* The data that all processes have about each other. */
typedef struct {
    const char **hosts; /* [size] names */
    bool is_local;      /* all are on one machine */
    uint8_t secret[XY_SECRET_BYTES];
} xy_pmi_meeting_t;

/* Can the environment's launcher be used? Otherwise `why` has half a line about it. */
bool xy_pmi_is_there(char why[XY_WHY_SIZE]);
/* A process that waits for the others for more than `seconds` (0: without end) says so and ends.
 * XYLEM_PMI names the interface to use; by default the first of the table that the environment
 * offers. */
xy_status_t xy_pmi_open(double seconds, xy_pmi_t **pmi_p);
int xy_pmi_rank(const xy_pmi_t *pmi);
int xy_pmi_size(const xy_pmi_t *pmi);
/* Compare versions, and agree on a secret; `is_plain`: in clear text. Fails in all processes that
 * see a wrong one. The caller owns the names. */
xy_status_t xy_pmi_meet(xy_pmi_t *pmi, bool is_plain, xy_pmi_meeting_t *meeting);
/* As xy_net_exchange_fn: the texts of all, which the caller frees. */
xy_status_t xy_pmi_exchange(xy_pmi_t *pmi, const char *text, char **texts);
/* End all processes with this exit code; returns where the launcher does not end this one. */
void xy_pmi_abort(xy_pmi_t *pmi, int code);
/* This process needs the launcher no more. NULL is fine. */
void xy_pmi_close(xy_pmi_t *pmi);

#endif
