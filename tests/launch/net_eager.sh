# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What is sent at once between processes: as much as the transport takes well, unless --eager says otherwise.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build net_eager
# crosses BYTES OPTIONS...
crosses() {
    local bytes=$1
    shift
    run 0 -n 2 --processes 2 "$@" ./net_eager "$bytes" </dev/null
    says "$out" "rank 1: 0 wrong"
}
# waits BYTES OPTIONS...
waits() {
    local bytes=$1
    shift
    run 1 -n 2 --processes 2 "$@" ./net_eager "$bytes" </dev/null
    says "$err" "deadlock: no rank can make progress"
}
crosses 65536 --net tcp
waits 65537 --net tcp
crosses 16384 --net shm
waits 16385 --net shm
crosses 20000 --net tcp --eager 20000
waits 20001 --net tcp --eager 20000
XYLEM_EAGER=1000 waits 1001 --net tcp
if command -v mpiexec.hydra >/dev/null && ldconfig -p 2>/dev/null | grep -q libmpich.so.12; then
    crosses 32000 --net mpi-only --launcher mpiexec.hydra
    waits 32001 --net mpi-only --launcher mpiexec.hydra
fi
