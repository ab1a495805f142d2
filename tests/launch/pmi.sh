# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Programs that another launcher has started: one process per rank, or several ranks in each.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

unset XYLEM_LAUNCHED PMI_FD PMI_RANK PMI_SIZE PMIX_RANK PMIX_NAMESPACE SLURM_PROCID SLURM_STEP_NUM_TASKS
build launched
server=(python3 "$sources/pmi_server.py")

# under CODE LAUNCHER... : run it and check the exit code.
under() {
    local code=$1
    shift
    expect "$code" timeout 240 "$@"
}

# fails LAUNCHER...: it ends with a code other than 0 and not by its time limit; $err as expect.
fails() {
    local code=0
    timeout 240 "$@" >/dev/null 2>err </dev/null || code=$?
    err=$(cat err)
    case $code in 0 | 124) die "'$*' ended with $code: $err" ;; esac
}

# works LAUNCHER... -n: what every launcher does.
works() {
    under 0 "$@" 4 ./launched
    [ "$out" = "4 ranks, sum 6, nodes 4" ] || die "$*: $out"
    under 5 "$@" 2 ./launched code
    under 7 "$@" 3 ./launched abort
    XYLEM_RANKS_PER_PROCESS=3 under 0 "$@" 2 ./launched
    [ "$out" = "6 ranks, sum 15, nodes 2" ] || die "several in each, $*: $out"
    XYLEM_RANKS_PER_PROCESS=2 under 7 "$@" 2 ./launched abort
}
works "${server[@]}"

# Wrong situations: one line about each, and no hang.
fails "${server[@]}" --version 1=0.0.1 2 ./launched
says "$err" "process 1 of the launcher has Xylem 0.0.1 and process"
fails "${server[@]}" --garbage 2 ./launched
says "$err" "does not speak PMI-1"
fails "${server[@]}" --refuse 2 ./launched
says "$err" "speaks PMI-2, and not PMI-1"
fails "${server[@]}" --leave 2 ./launched
says "$err" "the launcher that started process"
fails "${server[@]}" --lose 1 2 ./launched
says "$err" "process 1 of the launcher has published no address"
XYLEM_START_TIMEOUT=1 fails "${server[@]}" 2 ./launched never
says "$err" "process 0 of 2 has waited for the others for 1 s (XYLEM_START_TIMEOUT)"
XYLEM_START_TIMEOUT=1 fails "${server[@]}" 2 ./launched never sleeping
says "$err" "each process that the launcher has started must call MPI_Init"
under 9 "${server[@]}" 3 ./launched exit
under 137 "${server[@]}" --keep 3 ./launched kill
says "$err" "process 1 on "
XYLEM_PMI=pmi3 fails "${server[@]}" 2 ./launched
says "$err" "XYLEM_PMI is 'pmi3', which is none of"
SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 fails ./launched
says "$err" "use 'srun --mpi=pmi2' or 'srun --mpi=pmix'"
XYLEM_RANKS_PER_PROCESS=none fails "${server[@]}" 2 ./launched
says "$err" "XYLEM_RANKS_PER_PROCESS is 'none'"
PMI_RANK=0 PMI_SIZE=2 fails ./launched
says "$err" "is one of 2 processes of another launcher or a script"

# The secret is not in the key-value space, except where the user wants it so.
under 0 "${server[@]}" --log sealed 2 ./launched
grep -q '^xylem-s-1-0 e[0-9a-f]\{72\}$' sealed || die "an encrypted secret: $(cat sealed)"
XYLEM_NET_PLAIN=1 under 0 "${server[@]}" --log plain 2 ./launched
grep -q '^xylem-s-1-0 e[0-9a-f]\{32\}$' plain || die "a plain secret: $(cat plain)"

# Launchers that are installed here.
found=0
root=()
[ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
if command -v mpirun.openmpi >/dev/null && ldconfig -p | grep -q 'libpmix\.so\.2'; then
    works mpirun.openmpi "${root[@]}" --oversubscribe -n
    found=1
fi
if command -v mpiexec.hydra >/dev/null; then
    works mpiexec.hydra -n
    found=1
fi
[ "$found" = 1 ] || echo "without mpirun.openmpi and mpiexec.hydra: only the launcher of this test was used"
