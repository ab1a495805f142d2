#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests in shell and in Python make the same number of a seed as tests in C (src/base/testing_test.c).
#
#   seeds.sh
set -euo pipefail
cd "$(dirname "$0")"
. ./testing.sh

bad=0
while read -r expected text; do
    for found in "shell $(testing_hash "$text")" \
        "python $(python3 -B -c 'import sys, testing; print(testing.hash_of(sys.argv[1]))' "$text")"; do
        [ "${found#* }" = "$expected" ] || { echo "$found for '$text', expected $expected" >&2; bad=1; }
    done
done <data/seeds.txt

# Both multiply limits of time.
[ "$(testing_limit 7)" = "$(python3 -B -c 'import testing; print(testing.seconds(7))')" ] || bad=1
[ "$(XYLEM_TIMEOUT_FACTOR=9 testing_limit 7)" = 63 ] || bad=1
timeout --preserve-status -s TERM 0.1 sleep 60 && bad=1
timeout 30 true || bad=1

# The sample does not depend on the seed.
unset XYLEM_SOAK
for seed in one two; do
    for n in {0..11}; do
        ! XYLEM_SEED=$seed is_chosen "$n" 3 || echo "$n"
    done | paste -sd ' '
    XYLEM_SEED=$seed python3 -B -c 'import testing; print(*(n for n in range(12) if testing.is_chosen(n, 3)))'
done | sort -u | cmp - <(echo "0 3 6 9") || bad=1
exit $bad
