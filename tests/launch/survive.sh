# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Jobs that survive: processes and ranks fail in all ways, and the others go on.
. "$XYLEM_SOURCE_DIR/tests/launch/several_lib.sh"

build survive
build survive_memory
host=$(hostname)

# loses HOW MESSAGE ARGUMENT...: what mpiexec says about the failure; the survivors end well.
loses() {
    local how=$1 message=$2
    shift 2
    run 0 --survive "$@" "$how"
    says "$out" survivors
    says "$err" "$message"
    gone
}
loses kill "process 2 on $host (rank 2) was ended by signal 9" -n 3 ./survive 1
loses exit "rank 2 ended with exit code 3 without calling MPI_Finalize" -n 3 ./survive 4
loses _exit "rank 2" -n 3 ./survive 0
loses exit "rank 3 ended with exit code 3" -n 4 ./survive handler
loses kill "process 2 on $host (rank 2) was ended by signal 9" -n 3 --net tcp ./survive handler
loses crash "rank 2: segmentation fault" -n 3 --net tcp ./survive 6
# A rank alone, of a process with others.
loses exit "rank 3 ended with exit code 3" -n 4 --processes 2 ./survive 7

# Windows and files: all cases, in processes of their own and with others.
for what in lock lock_all fence groups large request dynamic making file ordered opening; do
    for how in kill exit; do
        options=(-n 4 --net "$([ "$how" = kill ] && echo shm || echo tcp)")
        [ "$how" = kill ] || options+=(--processes 2)
        run 0 --survive "${options[@]}" ./survive_memory "$what" "$how"
        says "$out" "3 survivors"
        [ -z "$(find . -name '.memory.data*')" ] || die "the shared pointer of a file is left"
    done
done
gone

# Victims, ways, times and operations at random.
for i in {1..40}; do
    is_chosen "$i" 8 || continue
    seed=$(($(testing_seed) % 100000 + i))
    ranks=$((4 + i % 3))
    echo "random $seed with $ranks ranks"
    run 0 --survive -n "$ranks" ./survive random "$seed"
    says "$out" "survivors agree"
    gone
done

# Without the option a failure ends the job, and calls say how to survive.
ends 137 "process 2 on $host (rank 2) was ended by signal 9" -n 3 --processes 3 ./survive 0 kill
ends 2 "has no effect with --virtual" --survive --virtual cluster:2 -n 2 ./survive 0 kill
ends 1 "processes that do not survive" --survive -n 2 sh -c ./survive
# MPI_Abort ends it all the same.
ends 2 "MPI_ABORT was invoked" --survive -n 2 ./survive
