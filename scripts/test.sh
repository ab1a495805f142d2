#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Everything that is checked, in the order in which it fails fastest:
#   dev      build with warnings as errors; all tests but those labelled bench or long, and half of
#            those that are alike; the source tree, the documents, the install
#   lint     formatting, sizes, clang-tidy of a tenth of the files (make lint: all, and the analyzer)
#   asan     build with clang; unit tests and half of some MPI programs under AddressSanitizer and
#            UndefinedBehaviorSanitizer; each fuzz target, half of them for a second
#   tsan     unit tests of what has threads and the other half of the MPI programs under ThreadSanitizer
#            (with the next commit it may be the first half)
#   mutants  three small changes that each break a promise, chosen by the hash of the commit: a test
#            must fail for each (mutants=all: every one of tests/mutants)
#
#   scripts/test.sh            all of them
#   scripts/test.sh STAGE...   some of them
#
# A stage that fails does not stop the others. Logs are in build/logs/. The last line is
# `N passed, N failed`. XYLEM_FUZZ_SECONDS fuzzes for longer.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/lib.sh

logs=build/logs
mkdir -p "$logs"
passed=0 failed=0
failures=() left_out=() wrapper=() prepared=()
XYLEM_SEED=${XYLEM_SEED:-$(git rev-parse HEAD 2>/dev/null || echo xylem)}
export XYLEM_SEED
export XYLEM_TIDY_FAST=${XYLEM_TIDY_FAST:-1} # the static analyzer is left to make lint
turn=$((16#$(sha256sum <<<"$XYLEM_SEED" | head -c 1) % 2)) # of tests with the labels turn_0 and turn_1, those run
jobs=$(($(nproc) * 2)) # many tests wait for something: two for each core keep it busy

note_failure() {
    failed=$((failed + 1))
    failures+=("$1")
}

# compile PRESET [TARGET]. A tree that is made here has lines of source for reports, and no more: that takes the
# compiler a tenth less. One that is there keeps its flags.
compile() {
    local lines=()
    [ "$1" != dev ] || [ -e build/dev/CMakeCache.txt ] || lines=("-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG")
    { cmake --preset "$1" "${lines[@]}" && cmake --build --preset "$1" --target "${2:-all}"; } >"$logs/$1-build.log" 2>&1
}

# prepare PRESET...: compile for the sanitized stages with what other work leaves of the machine. Tests wait for
# much, and compilers need not wait for them.
prepare() {
    local preset
    for preset in "$@"; do
        rm -f "$logs/$preset-build.code"
        prepared+=("$preset")
    done
    set -m # a group of its own, to end all of it
    (
        renice -n 19 -p "$BASHPID" >/dev/null
        for preset in "$@"; do
            compile "$preset" sanitized
            echo $? >"$logs/$preset-build.ended"
            mv "$logs/$preset-build.ended" "$logs/$preset-build.code"
        done
    ) &
    preparer=$!
    set +m
    trap 'kill -- -$preparer 2>/dev/null' EXIT
}

# build PRESET [TARGET]: one more thing that passes or fails.
build() {
    local code=1
    if [[ " ${prepared[*]} " == *" $1 "* ]]; then
        while [ ! -e "$logs/$1-build.code" ] && kill -0 "$preparer" 2>/dev/null; do sleep 0.2; done
        read -r code 2>/dev/null <"$logs/$1-build.code"
    else
        compile "$@"
        code=$?
    fi
    if [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
        return
    fi
    tail -40 "$logs/$1-build.log"
    note_failure "$1: the build (log: $logs/$1-build.log)"
    return 1
}

# run_tests PRESET JOBS CTEST-OPTIONS...: count what ctest says of each test.
run_tests() {
    local preset=$1 parallel=$2 log=$logs/$1${part:+-$part}-tests.log line
    shift 2
    "${wrapper[@]}" ctest --test-dir "build/$preset" -j "$parallel" --output-on-failure --no-tests=error "$@" \
        >"$log" 2>&1
    local code=$?
    local good bad
    good=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed ' "$log")
    passed=$((passed + good))
    bad=0
    while IFS= read -r line; do
        note_failure "$preset: $line (log: $log)"
        bad=$((bad + 1))
    done < <(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Timeout|Exception|Not Run|Required).*/\1/p' "$log")
    while IFS= read -r line; do
        left_out+=("$preset: $line")
    done < <(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*Skipped.*/\1/p' "$log")
    if [ "$bad" -gt 0 ]; then
        grep -vE ' Passed +[0-9.]+ sec$|^ +Start ' "$log"
    elif [ $code -ne 0 ]; then
        tail -20 "$log"
        note_failure "$preset: ctest ended with exit code $code (log: $log)"
    fi
    echo "   $good passed, $bad failed"
}

# Sanitizers of older compilers do not start where a new kernel scatters addresses widely; where it
# is allowed, their programs run without that.
fixed_addresses() {
    if setarch "$(uname -m)" -R true 2>/dev/null; then
        wrapper=(setarch "$(uname -m)" -R)
    fi
}

# On aarch64 the address sanitizers of gcc 12 and clang 14 walk through a table of all regions of the
# address space when a program ends: 3 to 4 s of every program, where others take milliseconds.
leaks_are_slow() {
    [ "$(uname -m)" = aarch64 ]
}

# The random programs of a commit are always the same; the next commit has others.
stage_dev() {
    local sanitized=()
    echo "   random programs of seed $XYLEM_SEED"
    build dev || return
    [[ " $stages " != *" asan "* ]] || ! command -v clang >/dev/null || sanitized+=(asan)
    [[ " $stages " != *" tsan "* ]] || sanitized+=(tsan)
    [ ${#sanitized[@]} -eq 0 ] || prepare "${sanitized[@]}"
    run_tests dev "$jobs" -LE "bench|long|turn_$((1 - turn))"
}

# Sanitizers slow programs down but find what others cannot; most whole-program tests stay with dev.
stage_asan() {
    if ! command -v clang >/dev/null; then
        left_out+=("asan: clang is not installed (see packages.txt)")
        return
    fi
    local wrapper=() leaks=1 first
    fixed_addresses
    leaks_are_slow && leaks=0
    build asan sanitized || return
    ASAN_OPTIONS=detect_leaks=$leaks UBSAN_OPTIONS=print_stacktrace=1 \
        run_tests asan "$jobs" -L "unit|sanitize|fuzz" -LE "turn_$((1 - turn))"
    if [ $leaks -eq 0 ]; then
        echo "   leaks are looked for in a fortieth of the unit tests: that takes seconds in each here"
        first=$((16#$(sha256sum <<<"$XYLEM_SEED" | head -c 4) % 40 + 1))
        part=leaks ASAN_OPTIONS=detect_leaks=1 run_tests asan "$jobs" -L unit -I "$first,,40"
    fi
}

stage_tsan() {
    local wrapper=()
    fixed_addresses
    build tsan sanitized && TSAN_OPTIONS=halt_on_error=1 run_tests tsan "$jobs" -L "unit|sanitize" -LE "turn_$turn"
}

stage_lint() {
    local log=$logs/lint.log line
    scripts/lint.sh >"$log" 2>&1 || cat "$log"
    passed=$((passed + $(grep -cE '^lint [a-z]+: ok$' "$log")))
    while IFS= read -r line; do
        note_failure "$line (log: $log)"
    done < <(sed -nE 's/^(lint [a-z]+): failed$/\1/p' "$log")
    while IFS= read -r line; do
        left_out+=("$line")
    done < <(grep -E '^lint .*; left out$' "$log")
}

stage_mutants() {
    local log=$logs/mutants.log which=(--pick 3)
    [ "${1:-}" != all ] || which=()
    build dev || return # up to date after the stage dev
    tests/mutants/run.py "${which[@]}" >"$log" 2>&1
    case $? in
    77) left_out+=("mutants: this system allows no private mounts") ;;
    esac
    cat "$log"
    passed=$((passed + $(grep -c '^killed ' "$log")))
    while IFS= read -r line; do
        note_failure "mutants: $line (log: $log)"
    done < <(sed -nE 's/^(survived|unbuilt|unapplied|untested) +([^ ]+) .*/\2 \1/p' "$log")
}

scripts/install-packages.sh build test browser || exit 1
stages=${*:-dev lint asan tsan mutants}
for name in $stages; do
    declare -F "stage_${name%%=*}" >/dev/null || { echo "test: no stage $name" >&2; exit 2; }
    begin=$SECONDS
    say_step "$name"
    "stage_${name%%=*}" "${name#*=}"
    echo "   $((SECONDS - begin)) s"
done

if [ ${#left_out[@]} -gt 0 ]; then
    echo "Left out:"
    printf '  %s\n' "${left_out[@]}"
fi
if [ ${#failures[@]} -gt 0 ]; then
    say_bad "Failed:"
    printf '  %s\n' "${failures[@]}"
fi
echo "all of it took $SECONDS s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
