/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of a collective in virtual time.
 *
 * The simulated job decides the messages and their times; the bytes do not travel with them. A
 * member leaves a copy of its data when it arrives, so that it may write to its buffers as soon as
 * its own part is complete, and takes its result when its part completes: by then all contributors
 * have arrived. Reductions are made in the order of the ranks, whatever the algorithm, as in real
 * runs.
 */
#ifndef XY_MPI_VIRTUAL_DATA_H
#define XY_MPI_VIRTUAL_DATA_H

#include "mpi/coll/coll.h"

/* The data of one member: blocks one after the other; of a reduction, the vector as it lies in
 * memory. */
typedef struct {
    char *memory;
    uint64_t *offsets; /* [blocks + 1], or NULL: all have `block` bytes */
    uint64_t block;
    uint16_t signature;   /* of its elements, where all blocks have the same, */
    uint16_t *signatures; /* [blocks] where they may differ, or NULL */
} virtual_input_t;

typedef struct {
    int size;
    virtual_input_t *inputs; /* [size] */
    char *result;            /* of a reduction, once it has been made; or NULL */
    char *high_result;       /* the same for the high group of an intercommunicator */
    int prefixes;            /* of a scan: so many inputs have become the sum up to them */
} virtual_data_t;

/* XY_ENOMEM in silence, here and below. */
xy_status_t virtual_data_init(virtual_data_t *data, int size);
void virtual_data_cleanup(virtual_data_t *data);
/* The member of `call` has arrived. */
xy_status_t virtual_data_give(virtual_data_t *data, const coll_call_t *call);
/* Its part is complete. */
xy_status_t virtual_data_take(virtual_data_t *data, const coll_call_t *call);

#endif
