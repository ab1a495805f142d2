/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point to point: messages between two ranks, and the requests that stand for them.
 *
 *   request.h        operations that were started and not yet completed; waiting and testing
 *   message.h        how bytes get from one rank to another
 *   transfer.h       the arguments of a call and their checks
 *   multi_request.h  one request for several messages
 *   partitioned.h    messages whose parts are handed over one by one
 *   bsend.h          buffered sends
 *   remote.h         messages to and from other processes; quiet.h: their deadlocks
 *   polling.h        tests and probes without success, for reports
 *   p2p_engine.h         who moves messages in virtual time
 *   survive.h        failures of ranks, which a job survives; agreements
 *   fast.h           frequent calls, compiled into their entry points; the others are declared in a
 *                    generated header
 *
 * Requests, queues and buffers of a rank are touched by its worker only, without locks; what
 * another worker does for a rank arrives as a packet. Calls may park the rank's fiber where MPI
 * lets them block.
 */
#ifndef XY_MPI_P2P_P2P_H
#define XY_MPI_P2P_P2P_H

#include "mpi/p2p/bsend.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/multi_request.h"
#include "mpi/p2p/p2p_engine.h"
#include "mpi/p2p/partitioned.h"
#include "mpi/p2p/peer_link.h"
#include "mpi/p2p/polling.h"
#include "mpi/p2p/remote.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/survive.h"
#include "mpi/p2p/transfer.h"

extern const mpi_layer_t mpi_p2p_layer;

/* The MPI functions, for calls that are made of messages. */
#include "mpi/p2p/calls.h"
#include "mpi/p2p/fast.h"

/* The largest message to another process that is sent at once: what `net` takes well, and what
 * --eager allows as well. */
uint64_t mpi_remote_room(const xy_net_t *net);
uint64_t mpi_remote_eager_limit(void);

#endif
