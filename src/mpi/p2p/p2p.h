/* SPDX-License-Identifier: BSD-3-Clause */
/* Point to point: requests, messages, and what is made of them. */
#ifndef XY_MPI_P2P_P2P_H
#define XY_MPI_P2P_P2P_H

#include "mpi/p2p/bsend.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/multi_request.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/transfer.h"

extern const mpi_layer_t mpi_p2p_layer;

/* What the MPI functions do, for calls that are made of messages. */
#include "mpi/p2p/calls.h"
#include "mpi/p2p/fast.h"

#endif
