#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Follow README.md as a new user does, command by command, and print how long the first results take.
#
#   scripts/new-user-trial.sh      in a fresh clone; in a bare system: TARGETS=trial scripts/check-clean-root.sh DIR
#
# The commands are those of the console blocks in front of 'How fast it is', as they are written. After the first
# example a program of the user's is compiled and run. The script prints the times from the first command to the
# first own program, to the first report of a deadlock and to the first report page. The exit code is 1 if a
# command does not print the result of the README.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD
log=build/new-user-trial.log
mkdir -p build

# shellcheck disable=SC2016 # patterns of sed
commands() {
    sed '/^## How fast it is/q' README.md | sed -n '/^```console/,/^```$/s/^\$ \(.*\)/\1/p'
}

# The time since the beginning, in seconds.
elapsed() {
    echo $((SECONDS - begin))
}

# try COMMAND: run it in this shell, as typed. The mistakes of the README end with an error, so the exit code is not used.
try() {
    echo "\$ $1" | tee -a "$log"
    eval "$1" >"$work/build/trial.out" 2>&1 </dev/null || true
    cat "$work/build/trial.out" >>"$log"
}

# shows TEXT: the last command printed it.
shows() {
    grep -q -- "$1" "$work/build/trial.out" && return
    echo "new-user-trial: the last command did not print '$1'; $log has its output" >&2
    tail -5 "$work/build/trial.out" >&2
    exit 1
}

own_program() {
    cat >own.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("the sum is %d\n", sum);
    MPI_Finalize();
    return 0;
}
END
    try "mpicc own.c -o own"
    try "mpiexec -n 64 ./own"
    shows "the sum is 2016"
}

: >"$log"
begin=$SECONDS
own='' deadlock='' page=''
while IFS= read -r line; do
    try "$line"
    case $line in
    "make demo"*) shows "docs/getting-started.md" ;;
    *"mpiexec -n 1000 ./hello"*)
        shows "1000 of 1000 ranks said hello"
        own_program
        own=$(elapsed)
        ;;
    *./deadlock)
        shows "deadlock: no rank can make progress"
        shows "at deadlock.c:"
        deadlock=$(elapsed)
        ;;
    *"-o report.html"*)
        grep -q '</html>' report.html || { echo "new-user-trial: report.html is no page" >&2; exit 1; }
        page=$(elapsed)
        ;;
    esac
done < <(commands)
rm -f own own.c hello deadlock report.html
if [ -z "$own" ] || [ -z "$deadlock" ] || [ -z "$page" ]; then
    echo "new-user-trial: README.md lacks a step" >&2
    exit 1
fi
printf 'first own program     %4d s\nfirst deadlock report %4d s\nfirst report page     %4d s\n' "$own" "$deadlock" "$page"
