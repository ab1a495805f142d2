# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Messages that are given together with their announcement, over the installed MPIs, and the same where they are not.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build early
run 0 -n 2 --processes 2 --net tcp ./early left
says "$out" "early: all right"
for launcher in mpirun.openmpi mpiexec.hydra; do
    command -v $launcher >/dev/null || continue
    run 0 -n 2 --processes 2 --net mpi-only --launcher $launcher ./early left </dev/null
    says "$out" "early: all right"
    says "$err" "1 message never received"
    run 1 -n 2 --processes 2 --net mpi-only --launcher $launcher ./early stuck </dev/null
    says "$err" "deadlock: no rank can make progress"
    # Not to a process of this machine, which takes what it has asked for.
    run 0 -n 2 --processes 2 --net mpi --launcher $launcher ./early left </dev/null
    says "$out" "early: all right"
    # In processes of their own, which load both MPI libraries.
    run 0 -n 2 --processes 2 --net mpi --launcher $launcher env ./early left </dev/null
    says "$out" "early: all right"
done
