#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Clusters of a latency matrix, in words, in JSON, and of matrices that are none.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

data=$XYLEM_SOURCE_DIR/tests/data/cost
expect 0 "$XYLEM" machine --clusters "$data/latency-grid5000-9.txt"
diff -u "$data/latency-grid5000-9.expected" "$WORK/.out" || die "prints otherwise"

expect 0 "$XYLEM" machine --clusters "$data/latency-grid5000-9.txt" --json
printf '%s\n' "$out" | python3 -c '
import json, sys
m = json.load(sys.stdin)
assert m["cluster_of"] == [1, 2, 3, 2, 4, 2, 3, 4, 1], m["cluster_of"]
assert m["machines"][0] == "bordereau-82" and len(m["clusters"]) == 4
'
# Any size: one machine, two, a thousand.
expect 0 "$XYLEM" machine --clusters - --json <<<'0'
says "$(tr -d ' \n' <<<"$out")" '"cluster_of":[1]'
expect 0 "$XYLEM" machine --clusters - --json <<<$'0 5\n5 0'
says "$(tr -d ' \n' <<<"$out")" '"cluster_of":[1,1]'
python3 -c '
n = 1000
for i in range(n):
    print(*[0 if i == j else 10 + (i + j) % 2 if i % 4 == j % 4 else 90 for j in range(n)])' >large.txt
expect 0 timeout 60 "$XYLEM" machine --clusters large.txt
says "$out" "1000 machines in 4 clusters"
says "$out" "and 234 more"

expect 1 "$XYLEM" machine --clusters missing.txt
one_line "$err"
expect 1 "$XYLEM" machine --clusters - <<<$'0 1\n1'
one_line "$err"
says "$err" ":2: 1 words for 2 machines"
head -c 3000 /dev/urandom >garbage
expect 1 "$XYLEM" machine --clusters garbage
one_line "$err"
expect 2 "$XYLEM" machine knl64 --clusters large.txt
expect 2 "$XYLEM" machine --clusters large.txt --rho 0.5
