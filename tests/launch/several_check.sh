# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# mpiexec --check with ranks in several processes: one report of all of them, one exit code, one set of files. What is
# found is in tests/bugs (bugs.processes).
. "$XYLEM_SOURCE_DIR/tests/launch/several_lib.sh"

build check
run 120 --check -n 5 --processes 3 ./check
says "$err" "mpiexec: warning: ranks 0-4: 1 communicator never freed: made by MPI_Comm_dup (at check.c:"
says "$err" "mpiexec: warning: rank 0: 1 info object never freed: made by MPI_Info_create (at check.c:"
[ "$(wc -l <<<"$err")" = 2 ] || die "more than two lines: $err"
run 7 --check -n 3 --processes 2 ./check 7
says "$err" "never freed"

# Suppressions and files.
line=$(grep -n MPI_Info_create "$sources/check.c" | cut -d: -f1)
printf '* check.c:%s\nnever-received nowhere.c:1\n' "$line" >rules
run 120 -v --check --check-suppress rules -n 3 --processes 3 ./check
says "$err" "rules:2: nothing was suppressed by this rule"
run 120 --check --check-suppress rules --check-json out.json --check-sarif out.sarif -n 3 --processes 2 ./check
python3 "$sources/check_files.py" out.json out.sarif "$sources/check.c" || die "the files are not right: $(cat out.json)"
run 1 --check --check-suppress missing -n 3 --processes 2 ./check
says "$err" "missing"

mistake() { # CLASS CODE RANKS [OPTION...]
    local class=$1 code=$2 ranks=$3
    shift 3
    run "$code" "$@" --check --check-json out.json --check-sarif out.sarif -n 3 --processes 3 ./check "$class"
    python3 "$sources/check_ends.py" "$sources/check.c" "$class" "$code" "$ranks" out.json out.sarif ||
        die "$class: the files are not right: $(cat out.json)"
}
mistake deadlock 1 0,1,2
mistake not-ready 1 1
mistake time-limit 124 0,1,2 --timeout 0.5
ulimit -c 0
mistake crash 139 1

# Errors of several processes are one where the program goes on.
run 121 --check=buffers,go-on -n 4 --processes 2 ./check own early
[ "$(grep -c 'error: rank' <<<"$err")" = 1 ] || die "not one error: $err"

# Data is sent from memory that is protected.
run 0 --check=buffers -n 4 --processes 2 ./check gather
quiet

# Orders of messages: the same ones again. Without a seed all processes have the same.
run 0 --check -n 3 --processes 3 ./check race
run 120 --check=strict -n 3 --processes 3 ./check race
says "$err" "took the message of rank 1; it could have taken that of rank 2"
failing=
for seed in 1 2 3 4 5 6 7 8; do
    [ -z "$failing" ] || break
    code=0
    timeout 240 "$bin/mpiexec" --check=shuffle:$seed -n 3 --processes 3 ./check race >out.txt 2>err.txt || code=$?
    case $code in
        1) failing=$seed ;;
        0) ;;
        *) die "seed $seed: exit code $code: $(cat err.txt)" ;;
    esac
done
[ -n "$failing" ] || die "no seed finds the deadlock"
run 1 --check=shuffle:"$failing" -n 3 --processes 3 ./check race
says "$err" "deadlock: no rank can make progress"
says "$err" "mpiexec: --check=shuffle:$failing makes this run again"
gone

run 1 --virtual "node:2 core:2" -n 2 --processes 2 ./check
says "$err" "--virtual is for jobs in one process: the virtual clock needs all ranks in one order"
