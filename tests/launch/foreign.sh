# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Programs for another MPI are refused, wherever that comes from; nothing else is affected.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# refused LIBRARY COMMAND...: once, with what to do.
refused() {
    local library=$1
    shift
    run 1 -n 3 "$@"
    says "$err" "uses another MPI ($library), and each of its 3 processes would be a job of its own"
    says "$err" "compile it with the mpicc of Xylem, or start it with the mpirun of that MPI"
    [ "$(grep -c 'another MPI' <<<"$err")" = 1 ] || die "not refused once: $err"
    [[ $out != *"one of"* && $out != *initialised* ]] || die "it has run: $out"
}
ran=0
foreign() { # MPI LIBRARY LAUNCHER...
    local mpi=$1 library=$2
    shift 2
    command -v "mpicc.$mpi" >/dev/null && command -v "$1" >/dev/null || return 0
    "mpicc.$mpi" "$sources/foreign.c" -o "foreign.$mpi"
    cc -DLOADED="\"$library\"" "$sources/foreign.c" -o "loads.$mpi" -ldl
    refused "$library" "./foreign.$mpi"
    refused "$library" sh -c "./foreign.$mpi"
    refused "$library" "./loads.$mpi"
    # Alone it is what it is without a launcher.
    run 0 -n 1 "./foreign.$mpi"
    says "$out" "one of 1"
    # Its own launcher, inside of ours.
    run 0 -n 2 sh -c "$* -n 2 ./foreign.$mpi"
    [ "$(grep -c '^one of 2$' <<<"$out")" = 4 ] || die "$mpi inside: $out $err"
    ran=1
}
foreign openmpi libmpi.so.40 mpirun.openmpi --oversubscribe
foreign mpich libmpich.so.12 mpiexec.mpich

# Programs for Xylem behind a wrapper, also with a sanitizer, and those without MPI.
build foreign
run 0 -n 3 sh -c ./foreign
[ "$(grep -c '^one of 3$' <<<"$out")" = 3 ] || die "$out"
if "$bin/mpicc" -fsanitize=address "$sources/foreign.c" -o sanitized 2>/dev/null && ASAN_OPTIONS=detect_leaks=0 ./sanitized >/dev/null 2>&1; then
    ASAN_OPTIONS=detect_leaks=0 run 0 -n 3 sh -c ./sanitized
    [ "$(grep -c '^one of 3$' <<<"$out")" = 3 ] || die "$out"
fi
run 0 -n 2 sh -c 'echo hello'
same "$out" $'hello\nhello'
quiet
[ $ran = 1 ] || skip "no other MPI is installed"
