# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Where the thread of the network runs: on machines that are pretended (the unit tests of src/sched
# have all sorts of them) it is computed, here it really runs there, and mpiexec -v says so.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build net_place
printf '#!/bin/sh\nshift\nexec "$@"\n' >agent
chmod +x agent
unset SLURM_JOB_NODELIST SLURM_JOB_ID PBS_NODEFILE

# on PLACE: two processes that have all cores of this machine each, and a rank on the first.
on() {
    run 0 -n 2 -v --hosts alpha:1,beta:1 --launcher ./agent --net-place "$1" ./net_place </dev/null
}
# cores PATTERN: on which the thread of each process may run.
cores() {
    for r in 0 1; do
        grep -qE "^rank $r: the network's thread may run on $1\$" <<<"$out" || die "not on $1: $out"
    done
}

all=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
on any
cores "$all"
says "$err" "on alpha: messages go over tcp, up to "
says "$err" "its thread runs on any core"
on bind
first=$(sed -n "s/.*rank 0 runs '.*' on core \([0-9]*\) of .*/\1/p" <<<"$err")
cores "$first"
says "$err" "its thread runs on core $first (bind)"
if [ "$(nproc)" -gt 1 ]; then
    on numa
    says "$err" "(numa)"
    on dedicated
    says "$err" "(dedicated)"
    core=$(sed -n "s/.*alpha.*its thread runs on core \([0-9]*\) (dedicated).*/\1/p" <<<"$err")
    cores "$core"
    [ "$core" != "$first" ] || die "a rank is on the core of the thread"
fi
if [ "$(cat /sys/devices/system/cpu/smt/active 2>/dev/null || echo 0)" = 0 ]; then
    run 1 -n 2 --processes 2 --net-place smt ./net_place
    says "$err" "placement 'smt' needs two hardware threads per core and this machine has one"
fi
run 1 --hosts "alpha:$(nproc),beta:$(nproc)" --launcher ./agent --net-place dedicated \
    ./net_place </dev/null
says "$err" "placement 'dedicated' needs a core without ranks"
run 2 -n 2 --processes 2 --net-place nowhere ./net_place
says "$err" "nowhere"
