/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime of the MPI library. It knows no MPI call; the layers above register with it
 * (layer.h).
 *
 *   rank.h                the job, its ranks and its workers
 *   layer.h call.h        what layers add; entering and leaving a call
 *   packet.h buffer.h     packets between workers, and buffers of eager messages
 *   gate.h parallel.h     who may touch what a worker owns; work shared with idle workers
 *   thread.h              threads of ranks that call MPI
 *   copy_stream.h         copies past the caches
 *   device.h              memory of GPUs
 *   job_clock.h               the clock of a job in virtual time
 *   caller.h trace.h monitor.h    places of calls in the program; --trace; --monitor
 *   load_balance.h        which ranks move: --balance
 *   move.h                ranks that move between cores
 *   account.h             where the time goes; --report
 *   observe.h             events for tools
 *   runtime_live.h                what ranks do now, while someone outside looks
 *   finding.h             mistakes of the program
 *
 * A job is made once per process, by the launcher or by MPI_Init without one, and lives to the end
 * of the process. All that belongs to a rank is touched by its worker only, without locks; where
 * threads of ranks call MPI, a lock goes with the worker.
 */
#ifndef XY_MPI_RUNTIME_RUNTIME_H
#define XY_MPI_RUNTIME_RUNTIME_H

#include "mpi/runtime/account.h"
#include "mpi/runtime/buffer.h"
#include "mpi/runtime/call.h"
#include "mpi/runtime/caller.h"
#include "mpi/runtime/copy_stream.h"
#include "mpi/runtime/device.h"
#include "mpi/runtime/finding.h"
#include "mpi/runtime/gate.h"
#include "mpi/runtime/job_clock.h"
#include "mpi/runtime/layer.h"
#include "mpi/runtime/line.h"
#include "mpi/runtime/load_balance.h"
#include "mpi/runtime/monitor.h"
#include "mpi/runtime/move.h"
#include "mpi/runtime/observe.h"
#include "mpi/runtime/packet.h"
#include "mpi/runtime/parallel.h"
#include "mpi/runtime/rank.h"
#include "mpi/runtime/runtime_live.h"
#include "mpi/runtime/thread.h"
#include "mpi/runtime/trace.h"

#endif
