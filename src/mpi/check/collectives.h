/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive buffers of the members of collectives. */
#ifndef XY_MPI_CHECK_COLLECTIVES_H
#define XY_MPI_CHECK_COLLECTIVES_H

/* After the job is made, before ranks run: look at each collective that begins. */
void check_collectives_begin(void);

#endif
