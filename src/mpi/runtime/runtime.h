/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime of the MPI library: the job, its ranks and workers, the packets between workers, and
 * what all layers above use. It knows no MPI call; the layers above register with it (layer.h).
 */
#ifndef XY_MPI_RUNTIME_RUNTIME_H
#define XY_MPI_RUNTIME_RUNTIME_H

#include "mpi/runtime/buffer.h"
#include "mpi/runtime/call.h"
#include "mpi/runtime/caller.h"
#include "mpi/runtime/copy_stream.h"
#include "mpi/runtime/gate.h"
#include "mpi/runtime/layer.h"
#include "mpi/runtime/match.h"
#include "mpi/runtime/monitor.h"
#include "mpi/runtime/packet.h"
#include "mpi/runtime/parallel.h"
#include "mpi/runtime/rank.h"
#include "mpi/runtime/trace.h"

#endif
