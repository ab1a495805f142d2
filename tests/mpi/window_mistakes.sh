#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is said about mistakes with windows: window_mistakes.sh PROGRAM MPIEXEC [OPTION]...
# shellcheck source=tests/mpi/expect.sh
. "$(dirname "$0")/expect.sh"

expect 4 0 none
expect 4 1 lock_held "$deadlock" \
    'ranks 0,2-3: in MPI_Win_lock on table, .*, for rank 0, which rank 1 has locked exclusively' \
    'rank 1: in MPI_Recv from rank 2' \
    '  cause: rank 1 waits for a message .*, rank 2 waits in MPI_Win_lock on table for rank 0, which rank 1 has locked$'
expect 4 1 lock_shared_held "$deadlock" \
    'ranks 0,2-3: in MPI_Win_lock on table, .*, for rank 0, which has 1 shared lock$'
expect 4 1 lock_all_held "$deadlock" \
    'ranks 0,2-3: in MPI_Win_lock_all on table, .*, for rank 0, which rank 1 has locked exclusively'
expect 4 1 lock_circle "$deadlock" \
    'rank 0: in MPI_Win_lock .*, for rank 1, which rank 1 has locked exclusively' \
    'rank 3: in MPI_Win_lock .*, for rank 0, which rank 0 has locked exclusively' \
    '  cause: rank 0 waits in MPI_Win_lock on table for rank 1, which rank 1 has locked, rank 1 waits .*'
expect 4 1 lock_reversed "$deadlock" \
    'rank 3: in MPI_Win_lock on stack, .*, for rank 2 \(1 in stack\), which rank 2 \(1 in stack\) has locked'
expect 4 1 start_without_post "$deadlock" \
    'ranks 0-3: in MPI_Win_start on table, .*, for MPI_Win_post of rank 0' \
    '  cause: rank 0 waits in MPI_Win_start on table for rank 0$'
expect 4 1 wait_without_complete "$deadlock" \
    'rank 0: in MPI_Win_wait on table, .*, for MPI_Win_complete of rank 0'
expect 4 1 fence_without_0 'ranks disagree .*MPI_Win_fence.*MPI_Win_free|MPI_Win_free.*MPI_Win_fence'
expect 4 1 fence_and_free 'ranks disagree .*MPI_Win_fence.*MPI_Win_free|MPI_Win_free.*MPI_Win_fence'

# The exit code of an error is its class.
expect 4 50 unlock_without_lock \
    'rank [0-3]: MPI_Win_unlock: rank 3 is not locked by this rank; .*MPI_ERR_RMA_SYNC'
expect 4 50 lock_twice 'MPI_Win_lock: rank 2 is locked by this rank already .*MPI_ERR_RMA_SYNC'
expect 4 50 fence_in_lock 'MPI_Win_fence: an access epoch of MPI_Win_lock is open .*MPI_ERR_RMA_SYNC'
expect 4 50 free_in_lock_all \
    'MPI_Win_free: an access epoch of MPI_Win_lock_all is open .*MPI_ERR_RMA_SYNC'
expect 4 50 complete_without_start \
    'MPI_Win_complete: no access epoch of MPI_Win_start is open; .*MPI_ERR_RMA_SYNC'
expect 4 50 put_outside 'MPI_Put: no epoch is open; MPI_Win_fence.*MPI_ERR_RMA_SYNC'
expect 4 48 put_too_far \
    'MPI_Put: 1 x MPI_INT at displacement 16 .* not inside the 64 bytes of rank 2 .*MPI_ERR_RMA_RANGE'
expect 4 56 freed 'MPI_Win_fence: the window is MPI_WIN_NULL.*freed .*MPI_ERR_WIN'
exit $((failures > 0))
