# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Hosts that fail while a job goes on: killed, stopped and unreachable processes; the survivors are on other hosts.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build survive
"$bin/mpicc" -O2 "$XYLEM_SOURCE_DIR/examples/survive.c" -o rod
for name in alpha beta gamma; do host $name 1gbit; done
on=(--survive --launcher ./agent --heartbeat 3s --hosts)

# A host with two ranks is lost, in the middle of the heat equation; its partner has the state.
run 0 -n 3 --survive ./rod
whole=$out
run 0 -n 3 "${on[@]}" alpha,beta,gamma ./rod 2 130 </dev/null
same "$out" "$whole"
says "$err" "process 2 on gamma (rank 2) was ended by signal 9"
gone
run 0 -n 4 "${on[@]}" alpha:2,beta:1,gamma:1 ./survive 5 kill </dev/null
says "$out" "3 survivors"
gone

# Stopped, and cut off: the heartbeat ends it, and nothing of it stays.
run 0 -n 3 "${on[@]}" alpha,beta,gamma ./survive 6 stop </dev/null
says "$out" "2 survivors"
says "$err" "process 2 on gamma (rank 2) has not answered for 3 s"
gone
