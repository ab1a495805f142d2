#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Long proofs, for which make test has no time: random programs in random settings, and all tests
# again and again, half of the time beside a full load.
#
#   scripts/soak.sh [MINUTES [SEED]]     (30 minutes; a seed repeats the same choices)
#
# A quarter of the time goes to each part: random traffic between ranks, the whole suite under load,
# fuzzing, mutants. What fails is printed as a command that shows it again. The last line is
# `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/lib.sh

case ${1:-} in
-h | --help) sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
*[!0-9]*) echo "soak: '$1' is no number of minutes" >&2; exit 2 ;;
esac
part=$((${1:-30} * 60 / 4))
seed=${2:-$(date +%s)}
RANDOM=$((seed % 32768))
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

one_of() {
    shift $((RANDOM % $#))
    echo "$1"
}

# A program of random messages, with settings nobody chose.
random_program() {
    local settings=()
    read -ra settings <<<"$(one_of "" "--workers 1" "--comm-cores 1" "--progress none" "--progress threads" \
        "--split 2 --comm-cores 1" "--split adaptive" "--comm-cores 1 --algorithm allreduce=rabenseifner,bcast=chain")"
    local command=(build/dev/bin/mpiexec "${settings[@]}" -n "$(one_of 2 3 5 8 17 64 200)"
        build/dev/tests/mpi/mpi_traffic 3 "$RANDOM")
    if timeout 300 "${command[@]}" >build/logs/soak.log 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say_bad "failed: ${command[*]}"
        tail -5 build/logs/soak.log
    fi
}

soak_random() {
    local end=$((SECONDS + part))
    while [ $SECONDS -lt $end ]; do
        [ $((RANDOM % 2)) -eq 0 ] || start_load
        for ((i = 0; i < 10 && SECONDS < end; i++)); do
            random_program
        done
        stop_load
    done
}

# Batches, so that the end of the time ends no test half-way.
soak_suite() {
    local end=$((SECONDS + part)) log=build/logs/soak-suite.log names line
    mapfile -t names < <(ctest --test-dir build/dev -N -LE bench | sed -n 's/^ *Test *#[0-9]*: //p')
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
for name in random suite fuzz mutants; do
    say_step "$name ($part s, seed $seed)"
    "soak_$name"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
