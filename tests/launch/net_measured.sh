# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What was calibrated of an installed MPI says which messages are sent at once when it carries a job.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build net_place
export XYLEM_COSTS=$PWD/store
printf '1e-6 1e10 2000 here Open MPI\n1e-6 1e10 3000 here MPICH\n9e-6 1e10 4000 between MPICH\n' >store.carriers
tried=0
for launcher in mpirun.openmpi mpiexec.hydra; do
    command -v $launcher >/dev/null || continue
    tried=1
    [ $launcher = mpirun.openmpi ] && bytes=1904 || bytes=2904
    run 0 -n 2 -v --processes 2 --net mpi-only --launcher $launcher ./net_place </dev/null
    says "$err" "messages go over mpi-only, up to $bytes bytes at once"
    XYLEM_COSTS=$PWD/none run 0 -n 2 -v --processes 2 --net mpi-only --launcher $launcher ./net_place </dev/null
    bytes=32000
    says "$err" "messages go over mpi-only, up to $bytes bytes at once"
done
[ $tried = 1 ] || skip "no other MPI is installed"
