#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Objects of 4096 ranks: nothing of them is left, and the processor time grows with the number of ranks
# (four times as many ranks may take nine times as long; what is quadratic takes sixteen times).
#
#   objects.sh MPIEXEC PROGRAM
set -eu

mpiexec=$1 program=$2
few=$("$mpiexec" -n 1024 "$program" objects | tail -1)
many=$("$mpiexec" -n 4096 "$program" objects | tail -1)
echo "processor time: $few s for 1024 ranks, $many s for 4096"
awk "BEGIN { exit !($many <= 9 * $few) }"
