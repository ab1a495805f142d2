# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A job on hosts that have nothing in common but a network: messages and one trace over tcp.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build several
host alpha 1gbit
host beta 200mbit
run 0 -n 3 --hosts alpha:2,beta:1 --launcher ./agent --trace run.xyt --monitor talk ./several messages </dev/null
says "$out" "rank 2 of 3 here 0 of 1 on beta"
quiet
grep -q '^2,0,2000,4$' talk/program.csv || die "no messages from beta to alpha"
expect 0 "$bin/xylem" view run.xyt
says "$out" "recorded by 2 processes; their clocks are aligned, each within"
gone
