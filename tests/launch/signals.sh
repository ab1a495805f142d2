# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# SIGUSR1 and SIGUSR2 reach every rank's own handler.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build signals
run 0 -n 3 ./signals
quiet
same "$out" $'0 saw 11\n1 saw 2\n2 saw 13'
