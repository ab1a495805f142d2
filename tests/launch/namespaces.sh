# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A job on hosts that have nothing in common but a network: messages and one trace over tcp.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build several
host alpha 1gbit
host beta 200mbit 432000
run 0 -n 3 --hosts alpha:2,beta:1 --launcher ./agent --trace run.xyt --monitor talk ./several messages </dev/null
says "$out" "rank 2 of 3 here 0 of 1 on beta"
quiet
grep -q '^2,0,2000,4$' talk/program.csv || die "no messages from beta to alpha"
expect 0 "$bin/xylem" view run.xyt
says "$out" "recorded by 2 processes; their clocks are aligned, each within"
# The clock of beta is five days ahead.
"$bin/xylem" view run.xyt --json >run.json
python3 -c 'import json; run = json.load(open("run.json")); assert 0 <= run["begin"] < run["end"] < 600, run' ||
    die "the trace of hosts with different clocks is no run of seconds"
gone

# The way from beta to alpha is missing for a while, as after a cut link: it is tried again.
within beta ip route add unreachable 10.77.0.11
{
    sleep 1
    within beta ip route del unreachable 10.77.0.11
} &
run 0 -n 2 --hosts alpha:1,beta:1 --launcher ./agent ./several messages </dev/null
wait $!
says "$out" "rank 1 of 2 here 0 of 1 on beta"
gone

# Two jobs on these hosts meet: each process of the one connects to those of the other.
XYLEM_NAMES=$(mktemp -d)
export XYLEM_NAMES
"$bin/mpicc" "$XYLEM_SOURCE_DIR/examples/service.c" -o service
"$bin/mpiexec" -n 3 --hosts alpha:1,beta:2 --launcher ./agent ./service serve </dev/null >served 2>&1 &
run 0 -n 3 --hosts beta:2,alpha:1 --launcher ./agent ./service ask </dev/null
same "$out" "the sum is 33"
wait $! || die "the server: $(cat served)"
same "$(cat served)" "served 3 ranks"
gone
