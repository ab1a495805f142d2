#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is said about mistakes: mistakes.sh PROGRAM MPIEXEC [OPTION]...
# shellcheck source=tests/mpi/expect.sh
. "$(dirname "$0")/expect.sh"

expect 4 0 none
expect 4 1 circle_recv "$deadlock" 'rank 0: in MPI_Recv from rank 3, tag 17 on MPI_COMM_WORLD' \
    'rank 3: in MPI_Recv from rank 2, tag 17 on MPI_COMM_WORLD'
expect 4 1 circle_any "$deadlock" 'ranks 0-3: in MPI_Recv from any rank, any tag'
expect 1000 1 circle_any "$deadlock" 'ranks 0-999: in MPI_Recv from any rank, any tag'
expect 4 1 circle_send "$deadlock" 'rank 0: in MPI_Send to rank 1, tag 18'
expect 4 1 circle_ssend "$deadlock" 'rank 2: in MPI_Ssend to rank 3, tag 19'
expect 4 1 wrong_tag "$deadlock" 'rank 1: in MPI_Recv from rank 0, tag 21'
expect 4 1 wait_one "$deadlock" 'rank 1: in MPI_Wait, at .*, for MPI_Irecv from rank 0, tag 22 on MPI_COMM_WORLD, at '
expect 4 1 wait_all "$deadlock" 'rank 2: in MPI_Waitall, at .*, for MPI_Irecv from rank 1, tag 24'
expect 4 1 wait_any "$deadlock" 'rank 3: in MPI_Waitany, at .*, for MPI_Irecv from rank 2, tag 25'
expect 4 1 probe "$deadlock" 'rank 1: in MPI_Probe from rank 0, tag 26'
expect 4 1 barrier_without_0 "$deadlock" 'rank 0: in MPI_Recv from rank 3, tag 27' \
    'ranks 1-3: in MPI_Barrier on MPI_COMM_WORLD'
expect 4 1 last_one_left "$deadlock" 'ranks 0-2: in MPI_Recv from rank 3, tag 28' \
    'rank 3: .*MPI_Finalize'
expect 4 1 nonblocking_without_0 "$deadlock" 'rank 0: in MPI_Recv from any rank' \
    'ranks 1-3: in MPI_Wait'
expect 4 1 other_persistent "$deadlock" 'rank 2: in MPI_Wait, at .*, for MPI_Iallreduce on MPI_COMM_WORLD' \
    'ranks 0-1,3: in MPI_Wait, at .*, for MPI_Start of MPI_Allreduce_init on MPI_COMM_WORLD'
expect 4 1 persistent_without_0 "$deadlock" 'rank 0: in MPI_Recv from any rank' \
    'ranks 1-3: in MPI_Wait, at .*, for MPI_Start of MPI_Allreduce_init on MPI_COMM_WORLD, at '

# Either of two ranks that disagree may be named first.
disagree() {
    local mistake=$1 one=$2 other=$3
    local place=' at mistakes\.c:[0-9]+'
    expect 4 1 "$mistake" 'ranks disagree about collective [0-9]+ of (MPI_COMM_WORLD|a communicator of 2 ranks|an intercommunicator of 2 and 2 ranks): ' \
        "(rank $one$place, rank $other$place|rank $other$place, rank $one$place); all members must make the same calls"
    if [ "$(grep -c 'ranks disagree' <<<"$message")" -gt 1 ]; then
        echo "$mistake: is reported more than once: $message"
        failures=$((failures + 1))
    fi
}
disagree other_collective '[013] calls MPI_Allreduce' '2 calls MPI_Bcast with root 1'
disagree other_root '[013] calls MPI_Bcast with root 1' '2 calls MPI_Bcast with root 3'
disagree other_size '[013] calls MPI_Allreduce with 16 bytes' '2 calls MPI_Allreduce with 20 bytes'
disagree other_nonblocking '[013] calls MPI_Iscan' '2 calls MPI_Ibarrier'
disagree other_barrier '[013] calls MPI_Barrier' '2 calls MPI_Ibarrier'
disagree other_init '[013] calls MPI_Start of MPI_Bcast_init with root [01]' \
    '2 calls MPI_Start of MPI_Bcast_init with root [01]'
disagree inter_other_root '[01] calls MPI_Bcast with root 2 \(0 in the other group\)' '3 calls MPI_Bcast with root MPI_ROOT'
disagree inter_no_root '[01] calls MPI_Bcast with root 2 \(0 in the other group\)' '2 calls MPI_Bcast with root MPI_PROC_NULL'
disagree inter_two_sides '[01] calls MPI_Bcast with root MPI_PROC_NULL' \
    '[23] calls MPI_Bcast with root MPI_PROC_NULL'
disagree other_maker '[013] calls MPI_Comm_dup' '2 calls MPI_Comm_split'
disagree other_maker_first '0 calls MPI_Comm_dup' '[123] calls MPI_Comm_split'
disagree other_topology '[013] calls MPI_Comm_dup' '2 calls MPI_Cart_create'
disagree maker_at_end '[013] calls MPI_Comm_dup' '2 calls MPI_Finalize'
disagree other_variant '[013] calls MPI_Allgather' '2 calls MPI_Allgatherv'
disagree other_engine '[013] calls MPI_Ibarrier' '2 calls MPI_Ibcast with root 1'
disagree other_engine_blocking '[013] calls MPI_Barrier' '2 calls MPI_Ibcast with root 1'
disagree one_more '[013] calls MPI_Barrier' '2 calls MPI_Ibcast with root 1'
disagree other_in_part '2 calls MPI_Gather with root 3 \(0 in it\)' '3 calls MPI_Alltoall'
disagree left_bcast '[013] calls MPI_Bcast with 16 bytes' '2 calls MPI_Bcast with 20 bytes'
disagree left_large '[013] calls MPI_Bcast with 16 bytes' '2 calls MPI_Bcast with 8000 bytes'
disagree left_reduce '[013] calls MPI_Reduce with root 0' '2 calls MPI_Barrier'
disagree left_root '[013] calls MPI_Reduce with root 2' '2 calls MPI_Reduce with root 0'
disagree left_one_more '[013] calls MPI_Scan' '2 calls MPI_Gather with root 1'
disagree left_empty '[013] calls MPI_Allreduce with 16 bytes' '2 calls MPI_Allreduce with 0 bytes'
disagree left_empty_first '[123] calls MPI_Allreduce with 16 bytes' '0 calls MPI_Allreduce with 0 bytes'
disagree left_empty_rooted '[013] calls MPI_Bcast with 16 bytes' '2 calls MPI_Bcast with 0 bytes'

expect 4 15 too_long 'rank 1: MPI_Recv: .*40 bytes.*20.*MPI_ERR_TRUNCATE'
expect 4 15 too_long_large 'rank 1: MPI_Recv: .*4194304 bytes.*4194300.*MPI_ERR_TRUNCATE'
expect 4 42 abort_while_waiting \
    'MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD with errorcode 42'
exit $((failures > 0))
