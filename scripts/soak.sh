#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Long proofs, for which make test has no time: random programs in random settings, and all tests
# again and again, half of the time beside a full load.
#
#   scripts/soak.sh [MINUTES [SEED]]     (30 minutes; a seed repeats the same choices)
#
# First come the tests of the simulated node with all points of which make test takes a sample. Then a
# fifth of the time goes to each part: random programs, correct programs that look stuck (1000 runs at
# most: no false alarm), the whole suite under load, fuzzing, mutants. What fails is printed as a
# command that shows it again. The last line is `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/lib.sh

case ${1:-} in
-h | --help) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
*[!0-9]*) echo "soak: '$1' is no number of minutes" >&2; exit 2 ;;
esac
part=$((${1:-30} * 60 / 5))
seed=${2:-$(date +%s)}
passed=0 failed=0
load=()

start_load() {
    local core
    for ((core = 0; core < $(nproc); core++)); do
        (while :; do :; done) &
        load+=($!)
    done
}

stop_load() {
    [ ${#load[@]} -eq 0 ] || kill "${load[@]}" 2>/dev/null
    wait 2>/dev/null
    load=()
}
trap stop_load EXIT

# Random programs with random options (tests/mpi/random), beside a load every second time; half of them
# with --check, which must find nothing.
soak_random() {
    local end=$((SECONDS + part)) batch=0 log=build/logs/soak-random.log ran bad
    local ways=(--jobs=2 --jobs=2 --check --check)
    while [ $SECONDS -lt $end ]; do
        [ $((batch % 2)) -eq 0 ] || start_load
        tests/mpi/random/run.py --seed "$seed.$batch" --seconds $((end - SECONDS < 60 ? end - SECONDS + 1 : 60)) \
            --pretend build/dev/tests/mpi/libmpi_more_cores.so --timeout 300 "${ways[batch % 4]}" >"$log" 2>&1
        stop_load
        grep -v '^random programs: ' "$log"
        read -r ran bad < <(sed -nE 's/^random programs: ([0-9]+) ran, ([0-9]+) failed.*/\1 \2/p' "$log")
        passed=$((passed + ${ran:-0} - ${bad:-0}))
        failed=$((failed + ${bad:-1}))
        batch=$((batch + 1))
    done
}

# Correct programs that look stuck for a while (tests/mpi/innocent.py), beside a load of its own.
soak_innocent() {
    local log=build/logs/soak-innocent.log ran bad
    tests/mpi/innocent.py build/dev/bin/mpiexec build/dev/tests/mpi/mpi_innocent --runs 1000 --seconds "$part" \
        --seed $((seed % 2147483647)) --load "$(nproc)" >"$log" 2>&1
    grep -v '^[0-9]* runs, ' "$log"
    read -r ran bad < <(sed -nE 's/^([0-9]+) runs, ([0-9]+) failed$/\1 \2/p' "$log")
    passed=$((passed + ${ran:-0} - ${bad:-0}))
    failed=$((failed + ${bad:-1}))
}

# Batches, so that the end of the time ends no test half-way.
soak_suite() {
    local end=$((SECONDS + part)) log=build/logs/soak-suite.log names line
    mapfile -t names < <(ctest --test-dir build/dev -N | sed -n 's/^ *Test *#[0-9]*: //p')
    start_load
    while [ $SECONDS -lt $end ]; do
        ctest --test-dir build/dev -j "$(nproc)" --output-on-failure \
            -R "^($(shuf -n 20 -e "${names[@]}" | sed 's/[.+]/\\&/g' | paste -sd '|'))\$" >"$log" 2>&1
        passed=$((passed + $(grep -cE ' Passed +[0-9.]+ sec' "$log")))
        while IFS= read -r line; do
            failed=$((failed + 1))
            say_bad "failed under load: ctest --test-dir build/dev -R '^$line\$'"
            cp "$log" "build/logs/soak-$line.log"
        done < <(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Timeout|Exception).*/\1/p' "$log")
    done
    stop_load
}

soak_points() {
    local log=build/logs/soak-points.log
    XYLEM_SOAK=1 ctest --test-dir build/dev -j "$(nproc)" --timeout 600 --output-on-failure \
        -R '^(sim\.(split|study)|bugs\.reports)$' >"$log" 2>&1 || { failed=$((failed + 1)); tail -30 "$log"; }
    passed=$((passed + $(grep -cE ' Passed +[0-9.]+ sec' "$log")))
}

soak_fuzz() {
    if ! command -v clang >/dev/null; then
        echo "left out: fuzzing (clang is not installed)"
        return
    fi
    local targets log=build/logs/soak-fuzz.log
    { cmake --preset asan && cmake --build --preset asan --target sanitized; } >"$log" 2>&1 ||
        { failed=$((failed + 1)); tail -30 "$log"; return; }
    targets=$(ctest --test-dir build/asan -N -L fuzz | grep -c 'Test *#')
    XYLEM_FUZZ_SECONDS=$((part * $(nproc) / (targets + 1) + 1)) ctest --test-dir build/asan -L fuzz -j "$(nproc)" \
        --output-on-failure --timeout $((part + 600)) >"$log" 2>&1 || { failed=$((failed + 1)); tail -30 "$log"; }
    passed=$((passed + $(grep -cE ' Passed +[0-9.]+ sec' "$log")))
}

soak_mutants() {
    local log=build/logs/soak-mutants.log
    timeout "$part" tests/mutants/run.py --pick $((part / 20 + 1)) >"$log" 2>&1
    passed=$((passed + $(grep -c '^killed ' "$log")))
    failed=$((failed + $(grep -cE '^(survived|unbuilt|unapplied|untested) ' "$log")))
    grep -vE '^killed ' "$log"
}

mkdir -p build/logs
scripts/install-packages.sh build test || exit 1
say_step "build"
if ! { cmake --preset dev && cmake --build --preset dev; } >build/logs/soak-build.log 2>&1; then
    say_bad "the build failed (log: build/logs/soak-build.log)"
    exit 1
fi
say_step "points"
soak_points
for name in random innocent suite fuzz mutants; do
    say_step "$name ($part s, seed $seed)"
    "soak_$name"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
