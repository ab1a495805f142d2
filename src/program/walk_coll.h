/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of a walk: how their calls are laid out. */
#ifndef XY_PROGRAM_WALK_COLL_H
#define XY_PROGRAM_WALK_COLL_H

#include "program/walk.h"

enum { WALK_COLLECTIVE_MASK = 31, WALK_NONBLOCKING = 32 };
enum { WALK_NO_ROOT = -1 }; /* intercommunicator: the root is another one of the own group */

/* Where in the call an argument is; -1: it has none. */
typedef struct {
    int send, send_count, send_type, send_at;
    int receive, receive_count, receive_type, receive_at;
    int op, root, comm;
} walk_layout_t;

extern const walk_layout_t walk_layouts[XY_COLL_COUNT];

/* The root as the communicator numbers its members; 0 where there is none. */
int32_t walk_root(const walk_comm_t *comm, int32_t rank, const code_site_t *site,
                  const int64_t *args);
/* The member comes to its next collective, in *r, which is done at once where there is nothing to
 * wait for. */
bool walk_coll_begin(walker_t *w, walk_member_t *m, const code_site_t *site, const int64_t *args,
                     walk_request_t *r);
bool walk_is_in_place(const code_site_t *site, const int64_t *args);
/* Does the description keep data of this call? */
bool walk_has_data(const code_site_t *site);
/* accumulated = accumulated op next, of `count` elements; false: not known how. */
bool walk_reduce(int64_t op, int64_t type, uint64_t count, void *accumulated, const void *next);

#endif
