# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# mpiexec --check: exit codes, files of findings, suppressions. What is found is in tests/bugs.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build check
run 0 -n 3 ./check
quiet
run 120 --check -n 3 ./check
says "$err" "mpiexec: warning: ranks 0-2: 1 communicator never freed: made by MPI_Comm_dup (at check.c:"
says "$err" "mpiexec: warning: rank 0: 1 info object never freed: made by MPI_Info_create (at check.c:"
[ "$(wc -l <<<"$err")" = 2 ] || die "more than two lines: $err"
expect 120 "$bin/xylem" run --check -n 3 ./check
# The program's own code goes before.
run 7 --check -n 3 ./check 7
says "$err" "never freed"
# With -v leaks are printed, and change nothing.
run 0 -v -n 3 ./check
says "$err" "rank 0: 1 info object never freed"

# Suppressions.
cat >rules <<'END'
# known
never-freed check.c:*   # all of it
never-received nowhere.c:1
END
run 0 --check --check-suppress rules -n 3 ./check
quiet
run 0 -v --check --check-suppress rules -n 3 ./check
says "$err" "rules:3: nothing was suppressed by this rule"
echo 'never-freed' >bad
run 1 --check --check-suppress bad -n 3 ./check
says "$err" "bad:1: a rule is a class and a place"
echo 'never-freet check.c:1' >bad
run 1 --check --check-suppress bad -n 3 ./check
says "$err" "bad:1: no class 'never-freet'; did you mean 'never-freed'?"
echo 'deadlock check.c:1' >bad
run 1 --check --check-suppress bad -n 3 ./check
says "$err" "bad:1: 'deadlock' ends the job: it cannot be suppressed"
run 1 --check --check-suppress missing -n 3 ./check
says "$err" "missing"

# Files.
line=$(grep -n MPI_Info_create "$sources/check.c" | cut -d: -f1)
echo "* check.c:$line" >rules
run 120 --check --check-suppress rules --check-json out.json --check-sarif out.sarif -n 3 ./check
python3 "$sources/check_files.py" out.json out.sarif "$sources/check.c" || die "the files are not right"
# From the directory in which the program was compiled, a forge finds the file.
mkdir -p part
cp "$sources/check.c" part/check.c
"$bin/mpicc" -g part/check.c -o placed_check
run 120 --check --check-suppress rules --check-json out.json --check-sarif out.sarif -n 3 ./placed_check
python3 "$sources/check_files.py" out.json out.sarif part/check.c || die "the files have other paths"

# What ends a job with and without --check is in the files, too, with its own exit code.
mistake() { # CLASS CODE RANKS [OPTION...]
    local class=$1 code=$2 ranks=$3
    shift 3
    run "$code" "$@" --check --check-json out.json --check-sarif out.sarif -n 3 ./check "$class"
    python3 "$sources/check_ends.py" "$sources/check.c" "$class" "$code" "$ranks" out.json out.sarif ||
        die "$class: the files are not right: $(cat out.json)"
}
mistake deadlock 1 0,1,2
mistake disagreement 1 0,2
mistake excess 15 0,1
mistake truncation 15 1
mistake not-ready 1 1
mistake call-error 4 1
mistake rma-error 50 2
mistake wrong-time 1 1
mistake aborted 9 1
mistake early-exit 3 1
mistake time-limit 124 0,1,2 --timeout 0.5
ulimit -c 0
mistake crash 139 1

# A receive buffer that is read too early, and who may do so.
run 121 --check=buffers -n 2 ./check own early
says "$err" "rank 0: the receive buffer of MPI_Irecv at check.c:"
run 0 --check=buffers -n 2 ./check child early
quiet
run 0 --check=buffers -n 2 ./check handler early
quiet

# Other orders: some seeds find the deadlock, and find it again.
run 0 --check -n 3 ./check race
run 120 --check=strict -n 3 ./check race
says "$err" "took the message of rank 1; it could have taken that of rank 2"
failing=
passing=
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    code=0
    timeout 240 "$bin/mpiexec" --check=shuffle:$seed -n 3 ./check race >out.txt 2>err.txt || code=$?
    case $code in
        1) failing=$seed; cp err.txt failing.txt ;;
        0) passing=$seed ;;
        *) die "seed $seed: exit code $code: $(cat err.txt)" ;;
    esac
done
[ -n "$failing" ] || die "no seed finds the deadlock"
[ -n "$passing" ] || die "every seed finds the deadlock"
grep -q "deadlock: no rank can make progress" failing.txt || die "$(cat failing.txt)"
grep -q "mpiexec: --check=shuffle:$failing makes this run again" failing.txt || die "$(cat failing.txt)"
run 1 --check=shuffle:"$failing" -n 3 ./check race
[ "$err" = "$(cat failing.txt)" ] || die "another report: $err"
run 0 --check=shuffle:"$passing" -n 3 ./check race

# Wrong command lines.
run 2 --check=shuffle:many -n 3 ./check
run 120 --check --comm-cores 1 -n 3 ./check
says "$err" "1 info object never freed"
run 1 --check --comm-cores 1 --processes 2 -n 3 ./check
says "$err" "--comm-cores"
run 2 --check=leak -n 3 ./check
says "$err" "--check: there is no 'leak'; there are leaks"
run 2 --check-json x.json -n 3 ./check
says "$err" "option --check-json has no effect without --check"
run 120 --check --virtual core:2 -n 2 ./check
says "$err" "1 info object never freed"
run 1 --check -n 2 true
says "$err" "does not use MPI"
