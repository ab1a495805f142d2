#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem place --strategy ./mine.so and mpiexec --place ./mine.so: the example, and strategies that break a rule.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/plugins/lib.sh"

plugin greedy.so examples/plugins/greedy.c
plugin packed.so tests/plugins/faulty_strategy.c -Wno-unused-function
python3 - <<'END'
# Eight pairs that talk much, and a ring that talks little; partners are eight apart.
n = 16
rows = [[100 if abs(i - j) == 8 else 1 if (i - j) % n in (1, n - 1) else 0 for j in range(n)] for i in range(n)]
open("app.mat", "w").write("\n".join(" ".join(map(str, r)) for r in rows) + "\n")
END

cost() { # STRATEGY: the weighted cost; every process has a core of its own
    expect 0 "$XYLEM" place app.mat --machine 2x2x4 --strategy "$1" --json
    printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
r = r[0] if isinstance(r, list) else r
cores = r["cores"] if "cores" in r else r["core_of"]
assert len(set(map(str, cores))) == 16, cores
print(int(r["weighted"]))'
}
greedy=$(cost ./greedy.so)
[ "$greedy" -lt "$(cost packed)" ] || die "greedy.so is no better than packed"
[ "$(cost ./packed.so)" = "$(cost packed)" ] || die "two strategies that pack differ"
expect 0 "$XYLEM" place app.mat --machine 2x2x4 --strategy ./greedy.so
says "$out" "greedy.so"

refused() { # NAME MESSAGE
    expect 1 "$XYLEM" place app.mat --machine 2x2x4 --strategy "$1"
    one_line "$err"
    says "$err" "$2"
}
fault() { # FAULT MESSAGE
    plugin "$1.so" tests/plugins/faulty_strategy.c -Wno-unused "-D$1"
    refused "./$1.so" "$2"
}
refused ./none.so "none.so"
refused ./greedy.c.so "greedy.c.so"
fault NO_TABLE "it must define 'xylem_plugin_strategy'"
fault OTHER_VERSION "this Xylem has version 1"
fault NO_PLACE "no function 'place'"
fault REFUSES "'place' returned 3"
fault GOES_BEYOND "on leaf 16; there are 16"
fault FILLS_ONE "leaf 1, which may run 1 only"
fault FORGETS "places process 2 on leaf 4294967295"
expect 2 "$XYLEM" place app.mat --machine 2x2x4 --strategy greedyy
one_line "$err"

# The launcher.
mpiexec=$XYLEM_BUILD_DIR/bin/mpiexec
[ -x "$mpiexec" ] || exit 0
"$XYLEM_BUILD_DIR/bin/mpicc" -O1 "$XYLEM_SOURCE_DIR/tests/plugins/allreduce.c" -o allreduce
printf '0 1\n1 0\n' >two.mat
expect 0 "$mpiexec" -n 2 --place ./greedy.so --matrix two.mat ./allreduce
expect 0 "$mpiexec" -n 3 --place ./packed.so ./allreduce
expect 2 "$mpiexec" -n 2 --place ./greedy.so ./allreduce
says "$err" "--matrix"
expect 1 "$mpiexec" -n 2 --place ./GOES_BEYOND.so ./allreduce
says "$err" "GOES_BEYOND.so places process 0"
