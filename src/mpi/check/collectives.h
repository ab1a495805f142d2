/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of collectives: what a member sends from and receives into. */
#ifndef XY_MPI_CHECK_COLLECTIVES_H
#define XY_MPI_CHECK_COLLECTIVES_H

/* After the job is made, before ranks run: look at each collective that begins. */
void check_collectives_begin(void);

#endif
