/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xylem's MPI library: functions beyond MPI.
 *
 * Programs that include this header run with Xylem's library only (libmpi_abi.so, `mpicc`).
 *
 *   #include <mpi.h>
 *   #include <xylem_mpi.h>
 *
 *   MPI_Comm near;
 *   xylem_replace(MPI_COMM_WORLD, &near);      (counting begins)
 *   ... some steps on `near` ...
 *   MPI_Comm_free(&near);
 *   xylem_replace(MPI_COMM_WORLD, &near);      (ranks that communicated much are near each other)
 */
#ifndef XYLEM_XYLEM_MPI_H
#define XYLEM_XYLEM_MPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator of the same members with a new numbering, chosen by what the members have sent to
 * each other since they last called it, on any communicator: rank i of *newcomm continues the work
 * of rank i of `comm`, and ranks that communicate much are near each other in the machine. No rank
 * moves to another core; the program must send the data of rank i from rank i of `comm` to the rank
 * of MPI_COMM_WORLD that now has the number (see MPI_Group_translate_ranks).
 *
 * Messages are counted from the beginning with `mpiexec --monitor DIR`. Without it the first call
 * begins to count for the members of `comm`, and its ranks keep their numbers; so they do when no
 * other order is better. Topologies are kept; attributes and hints are not.
 *
 * Collective over `comm`, which must not be an intercommunicator. Returns MPI_SUCCESS or what the
 * error handler of `comm` returns. The caller frees *newcomm. */
__attribute__((visibility("default"))) int xylem_replace(MPI_Comm comm, MPI_Comm *newcomm);

/* In virtual time (mpiexec --virtual) the calling rank computes for so many seconds, beside what
 * --compute charges it; in real time nothing happens. For code whose time is known, and that is
 * left out. Negative times count nothing. */
__attribute__((visibility("default"))) void xylem_compute(double seconds);

#ifdef __cplusplus
}
#endif

#endif
