#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The checks of make test: a fixed set, the same on every commit, in the order in which it fails fastest:
#   dev      build with warnings as errors; whole programs, the source tree, the documents, the install; unit tests
#            only where the stage asan does not run them (make check runs those of a change, make soak all)
#   lint     formatting, sizes, clang-tidy of a fixed fortieth of the files (make lint: all, and the analyzer)
#   asan     build with clang; unit tests and half of some MPI programs under AddressSanitizer and
#            UndefinedBehaviorSanitizer; each fuzz target with a fixed number of inputs
#   tsan     unit tests of the components below MPI in which threads meet, under ThreadSanitizer (make soak: all of
#            them, and the other half of the MPI programs)
#   mutants  a fixed dozen of small changes that each break a promise: a test must fail for each
#            (mutants=all: every one of tests/mutants)
# and in make soak, which leaves out no test, no case, no file and no mutant and draws a seed:
#   random   random MPI programs with random options, half of the time beside a full load
#   innocent correct programs that look stuck for a while: no false alarm
#   load     the tests again, in any order beside a full load
#   fuzz     each fuzz target, from the corpus of earlier runs
#   generated  small mistakes in lines that changed lately; those that no unit test notices are printed, and
#            are no failures
#
#   scripts/test.sh                          the first five
#   scripts/test.sh STAGE...                 some of them
#   XYLEM_SOAK=1 scripts/test.sh [STAGE...]  with all cases
#
# A stage that fails does not stop the others. Logs are in build/logs/, results.csv there has the result and
# the seconds of each test. The last line is `N passed, N failed`. XYLEM_SEED=TEXT draws other random
# numbers; SOAK_MINUTES is the time of each of the last five stages (6). For scripts/nightly.sh, XYLEM_UNTIL ends
# the last stage at a time in seconds since 1970, each other one after half of the time that is left, and
# XYLEM_BEFORE names the results of an earlier run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/lib.sh

logs=build/logs
results=$logs/results.csv
mkdir -p "$logs"
echo "stage,name,result,seconds" >"$results"
passed=0 failed=0
failures=() left_out=() wrapper=() times=() load=() scratch="" ahead=""
if [ -n "${XYLEM_SOAK:-}" ]; then
    XYLEM_SEED=${XYLEM_SEED:-$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')}
    export XYLEM_TIMEOUT_FACTOR=${XYLEM_TIMEOUT_FACTOR:-12} # all cases of a test take minutes
    fixed=(-LE bench)
    every_stage="dev lint asan tsan mutants random innocent load fuzz generated"
else
    XYLEM_SEED=${XYLEM_SEED:-xylem}
    export XYLEM_TIDY_FAST=${XYLEM_TIDY_FAST:-1} # the static analyzer is left to make lint
    fixed=(-LE "bench|soak")
    every_stage="dev lint asan tsan mutants"
fi
export XYLEM_SEED
once= # unit tests run under AddressSanitizer, and not in dev as well
part=$((${SOAK_MINUTES:-6} * 60))
until=${XYLEM_UNTIL:-}
jobs=$(($(nproc) + 1)) # some tests wait for something; ranks that lose their core to another test wait for much longer

note_failure() {
    failed=$((failed + 1))
    failures+=("$1")
}

# seconds_left [MOST]: how long something may take, 1 s or more; with XYLEM_UNTIL at most until then.
seconds_left() {
    local left=${1:-1000000}
    [ -z "$until" ] || [ $((until - $(date +%s))) -ge "$left" ] || left=$((until - $(date +%s)))
    echo $((left > 1 ? left : 1))
}

# within COMMAND...: run it, in a limited run until the end of the stage (exit code 124).
within() {
    if [ -n "$until" ]; then
        timeout "$(seconds_left)" "$@"
    else
        "$@"
    fi
}

# Tests write and sync many small files. On a disk each takes milliseconds, in which other ranks of the test spin; so
# their temporary files are in memory, where there is enough and programs may be run from it.
use_memory() {
    local room
    room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)
    [ "${room:-0}" -ge 2000000 ] && scratch=$(mktemp -d /dev/shm/tests.XXXXXX) || return 0
    if install -m 755 /bin/true "$scratch/true" && "$scratch/true" 2>/dev/null; then
        export TMPDIR=$scratch
    fi
    rm -f "$scratch/true"
}

# Keep every core busy with something else.
start_load() {
    local core
    for ((core = 0; core < $(nproc); core++)); do
        (while :; do :; done) &
        load+=($!)
    done
}

stop_load() {
    [ ${#load[@]} -gt 0 ] || return
    kill "${load[@]}" 2>/dev/null
    wait "${load[@]}" 2>/dev/null
    load=()
}

# build_ahead: compile the sanitized trees in the time that tests leave idle. The scheduler runs tasks of this class only
# where no other wants a core, so the tests do not notice.
build_ahead() {
    command -v chrt >/dev/null && chrt --idle 0 true 2>/dev/null || return 0
    set -m
    (
        chrt --idle --pid 0 $BASHPID
        compile asan sanitized && compile tsan threaded
    ) &
    ahead=$!
    set +m
}

# end_ahead [kill]: wait for it, or end it.
end_ahead() {
    [ -n "$ahead" ] || return 0
    [ "${1:-}" != kill ] || kill -- "-$ahead" 2>/dev/null
    wait "$ahead" 2>/dev/null
    ahead=
}

clean_up() {
    stop_load
    end_ahead kill
    [ -z "$scratch" ] || rm -rf "$scratch"
}
trap clean_up EXIT

# compile PRESET [TARGET]. A tree that is made here is optimised only where programs compute for long
# (XYLEM_COMPONENTS_THAT_COMPUTE in cmake/XylemComponent.cmake) and has lines of source for reports, and no more: that takes
# the compiler half as long. A tree that is there keeps its flags; make soak and make demo compile with -O2.
compile() {
    local flags=()
    if [ "$1" = dev ]; then
        flags=("-DXYLEM_BUILD_UNIT_TESTS=$([ -n "$once" ] && echo OFF || echo ON)")
        [ -n "${XYLEM_SOAK:-}" ] || [ -e build/dev/CMakeCache.txt ] || flags+=("-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 -g1 -DNDEBUG")
    fi
    { cmake --preset "$1" "${flags[@]}" && within cmake --build --preset "$1" --target "${2:-all}"; } >"$logs/$1-build.log" 2>&1
}

# build PRESET [TARGET]: one more thing that passes or fails.
build() {
    local code=0 begin=$SECONDS
    end_ahead
    compile "$@" || code=$?
    echo "   $((SECONDS - begin)) s for the build"
    if [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
        echo "$1,build,passed,$((SECONDS - begin))" >>"$results"
        return
    fi
    if [ "$code" -eq 124 ]; then
        left_out+=("$1: the build did not end in time")
        return 1
    fi
    tail -40 "$logs/$1-build.log"
    echo "$1,build,failed,$((SECONDS - begin))" >>"$results"
    note_failure "$1: the build (log: $logs/$1-build.log)"
    return 1
}

# ended_tests LOG: the name, the result and the seconds of each test of a log of ctest.
ended_tests() {
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) [ .]*(\*\*\*)?([A-Z][A-Za-z]*).* ([0-9.]+) sec.*/\1 \3 \4/p' "$1"
}

# run_tests PRESET JOBS CTEST-OPTIONS...: run tests and count their results.
run_tests() {
    local preset=$1 parallel=$2 stage=$1${kind:+-$kind} good=0 bad=0 code=0 name result seconds
    local log=$logs/$stage${batch:+-$batch}-tests.log
    shift 2
    within "${wrapper[@]}" ctest --test-dir "build/$preset" -j "$parallel" --output-on-failure \
        --no-tests=error "$@" >"$log" 2>&1 || code=$?
    while read -r name result seconds; do
        case $result in
        Passed) good=$((good + 1)) ;;
        Skipped | Disabled) left_out+=("$stage: $name") ;;
        *)
            bad=$((bad + 1))
            note_failure "$stage: $name (log: $log)"
            ;;
        esac
        echo "$stage,$name,${result,,},$seconds" >>"$results"
    done < <(ended_tests "$log")
    passed=$((passed + good))
    if [ "$bad" -gt 0 ]; then
        grep -vE ' Passed +[0-9.]+ sec$|^ +Start ' "$log"
        echo "   again: XYLEM_SEED=$XYLEM_SEED ${XYLEM_SOAK:+XYLEM_SOAK=1 }ctest --test-dir build/$preset -R '^NAME\$'"
    elif [ $code -eq 124 ]; then
        left_out+=("$stage: tests that did not end in time")
    elif [ $code -ne 0 ]; then
        tail -20 "$log"
        note_failure "$stage: ctest ended with exit code $code (log: $log)"
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
    [ "$(uname -m)" = aarch64 ] && [ -z "${XYLEM_SOAK:-}" ]
}

stage_dev() {
    build dev || return
    [ -z "$once" ] || build_ahead
    run_tests dev "$([ -n "$ahead" ] && nproc || echo "$jobs")" -LE "${fixed[1]}${once:+|also_asan}"
}

# Sanitizers slow programs down but find what others cannot; most whole-program tests stay with dev.
stage_asan() {
    if ! command -v clang >/dev/null; then
        left_out+=("asan: clang is not installed (see packages.txt)")
        return
    fi
    local wrapper=() leaks=1
    fixed_addresses
    leaks_are_slow && leaks=0
    build asan sanitized || return
    ASAN_OPTIONS=detect_leaks=$leaks UBSAN_OPTIONS=print_stacktrace=1 \
        run_tests asan "$jobs" -L "unit|sanitize|fuzz" "${fixed[@]}"
    if [ $leaks -eq 0 ]; then
        echo "   leaks are looked for in the tests labelled leaks: that takes seconds in each here"
        kind=leaks ASAN_OPTIONS=detect_leaks=1 run_tests asan "$jobs" -L leaks
    fi
}

stage_tsan() {
    local wrapper=()
    local target=threaded labels=threads
    fixed_addresses
    [ -z "${XYLEM_SOAK:-}" ] || target=sanitized labels="unit|sanitize"
    build tsan $target && TSAN_OPTIONS=halt_on_error=1 run_tests tsan "$jobs" -L "$labels" "${fixed[@]}"
}

stage_lint() {
    local log=$logs/lint.log line
    within scripts/lint.sh >"$log" 2>&1 || cat "$log"
    passed=$((passed + $(grep -cE '^lint [a-z]+: ok$' "$log")))
    sed -nE 's/^lint ([a-z]+): (ok|failed)$/lint,\1,\2,/p' "$log" >>"$results"
    while IFS= read -r line; do
        note_failure "$line (log: $log)"
    done < <(sed -nE 's/^(lint [a-z]+): failed$/\1/p' "$log")
    while IFS= read -r line; do
        left_out+=("$line")
    done < <(grep -E '^lint .*; left out$' "$log")
}

stage_mutants() {
    local log=$logs/mutants.log which=--quick
    [ "${1:-}" != all ] && [ -z "${XYLEM_SOAK:-}" ] || which=--all
    build dev || return # up to date after the stage dev
    tests/mutants/run.py "$which" ${until:+--until "$until"} ${XYLEM_BEFORE:+--before "$XYLEM_BEFORE"} >"$log" 2>&1
    cat "$log"
    grep -qE '^[0-9]+ passed, ' "$log" || note_failure "mutants: none ran (log: $log)"
    passed=$((passed + $(grep -c '^killed ' "$log")))
    sed -nE 's/^(killed|survived|endless|unbuilt|unapplied|untested|unreached) +([^ ]+) \(([0-9]+) s\).*/mutants,\2,\1,\3/p' "$log" >>"$results"
    while IFS= read -r line; do
        note_failure "mutants: $line (log: $log)"
    done < <(sed -nE 's/^(survived|endless|unbuilt|unapplied|untested|unreached) +([^ ]+) .*/\2 \1/p' "$log")
    grep -q '^left out ' "$log" && left_out+=("mutants: $(sed -nE 's/^left out for lack of time: //p' "$log")")
}

# count_runs STAGE RAN FAILED LOG: what a generator of programs says; nothing is a failure.
count_runs() {
    passed=$((passed + ${2:-0} - ${3:-0}))
    [ "${3:-1}" -eq 0 ] || note_failure "$1: ${3:-all} of ${2:-0} runs with XYLEM_SEED=$XYLEM_SEED (log: $4)"
    echo "$1,runs,$([ "${3:-1}" -eq 0 ] && echo passed || echo failed),$part" >>"$results"
}

# Random programs with random options (tests/mpi/random), beside a load every second time; half of them
# with --check, which must find nothing.
stage_random() {
    local end log=$logs/random.log batch=0 ran bad
    local ways=(--jobs=2 --jobs=2 --check --check)
    build dev || return
    end=$((SECONDS + $(seconds_left "$part")))
    while [ $SECONDS -lt $end ]; do
        [ $((batch % 2)) -eq 0 ] || start_load
        tests/mpi/random/run.py --seed "$XYLEM_SEED.$batch" --seconds $((end - SECONDS < 60 ? end - SECONDS + 1 : 60)) \
            --pretend build/dev/tests/mpi/libmpi_more_cores.so --timeout 300 "${ways[batch % 4]}" >"$log" 2>&1
        stop_load
        grep -v '^random programs: ' "$log"
        read -r ran bad < <(sed -nE 's/^random programs: ([0-9]+) ran, ([0-9]+) failed.*/\1 \2/p' "$log")
        count_runs "random.$batch" "$ran" "$bad" "$log"
        batch=$((batch + 1))
    done
}

# Correct programs that look stuck for a while (tests/mpi/innocent.py), beside a load of its own.
stage_innocent() {
    local log=$logs/innocent.log ran bad
    build dev || return
    tests/mpi/innocent.py build/dev/bin/mpiexec build/dev/tests/mpi/mpi_innocent --runs 1000 \
        --seconds "$(seconds_left "$part")" --load "$(nproc)" >"$log" 2>&1
    grep -v '^[0-9]* runs, ' "$log"
    read -r ran bad < <(sed -nE 's/^([0-9]+) runs, ([0-9]+) failed$/\1 \2/p' "$log")
    count_runs innocent "$ran" "$bad" "$log"
}

# Batches, so that the end of the time ends no test half-way.
stage_load() {
    local end names batch=0 bad_before=$failed
    build dev || return
    mapfile -t names < <(ctest --test-dir build/dev -N -LE 'bench|soak' | sed -n 's/^ *Test *#[0-9]*: //p' |
        shuf --random-source=<(yes "$XYLEM_SEED"))
    end=$((SECONDS + $(seconds_left "$part")))
    start_load
    while [ $SECONDS -lt $end ] && [ $((batch * 20)) -lt ${#names[@]} ]; do
        XYLEM_SOAK='' kind=load run_tests dev "$(nproc)" \
            -R "^($(printf '%s\n' "${names[@]:batch * 20:20}" | sed 's/[.+]/\\&/g' | paste -sd '|'))\$"
        batch=$((batch + 1))
    done
    stop_load
    echo "   $((failed - bad_before)) failed beside a full load"
}

stage_fuzz() {
    local targets
    command -v clang >/dev/null || { left_out+=("fuzz: clang is not installed (see packages.txt)"); return; }
    build asan sanitized || return
    targets=$(ctest --test-dir build/asan -N -L fuzz | grep -c 'Test *#')
    kind=fuzz XYLEM_FUZZ_SECONDS=$(($(seconds_left "$part") * $(nproc) / (targets + 1) + 1)) \
        run_tests asan "$(nproc)" -L fuzz
}

stage_generated() {
    local log=$logs/generated.log
    build dev || return
    tests/mutants/generate.py --seed "$XYLEM_SEED" --seconds "$(seconds_left "$part")" >"$log" 2>&1 ||
        note_failure "generated: generate.py failed (log: $log)"
    cat "$log"
}

# use_python: tests start Python many hundred times. The system's starts in a fifth of the time of one behind a script,
# as pyenv's, and has the modules that packages.txt installs.
use_python() {
    [ -x /usr/bin/python3 ] && [ "$(command -v python3)" != /usr/bin/python3 ] || return 0
    mkdir -p build/tools && ln -sfn /usr/bin/python3 build/tools/python3 && export PATH=$PWD/build/tools:$PATH
}

scripts/install-packages.sh build test browser || exit 1
use_memory
use_python
stages=${*:-$every_stage}
[ -n "${XYLEM_SOAK:-}" ] || [[ " $stages " != *" asan "* ]] || ! command -v clang >/dev/null || once=1
echo "random numbers of XYLEM_SEED=$XYLEM_SEED"
for name in $stages; do
    declare -F "stage_${name%%=*}" >/dev/null || { echo "test: no stage $name" >&2; exit 2; }
    [ "$(seconds_left)" -gt 1 ] || { left_out+=("$name: no time is left"); continue; }
    begin=$SECONDS
    [ -z "$until" ] || [ "$name" = "${stages##* }" ] || until=$(($(date +%s) + $(seconds_left) / 2))
    say_step "$name"
    "stage_${name%%=*}" "${name#*=}"
    echo "   $((SECONDS - begin)) s"
    times+=("$name $((SECONDS - begin)) s")
    until=${XYLEM_UNTIL:-}
done

if [ ${#left_out[@]} -gt 0 ]; then
    echo "Left out:"
    printf '  %s\n' "${left_out[@]}"
fi
if [ ${#failures[@]} -gt 0 ]; then
    say_bad "Failed:"
    printf '  %s\n' "${failures[@]}"
    echo "again: XYLEM_SEED=$XYLEM_SEED ${XYLEM_SOAK:+XYLEM_SOAK=1 }scripts/test.sh STAGE..."
fi
printf '%s, ' "${times[@]}"
echo "all of it $SECONDS s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
