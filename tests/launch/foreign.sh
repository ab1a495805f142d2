# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Programs for an MPI that no library stands in for are refused, wherever that comes from; nothing else is
# affected.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# refused LIBRARY COMMAND...: once, with what to do.
refused() {
    local library=$1
    shift
    run 1 -n 3 "$@"
    says "$err" "uses another MPI ($library), and each of its ranks would be a job of its own"
    says "$err" "compile it with the mpicc of Xylem, or start it with the mpirun of that MPI"
    [ "$(grep -c 'another MPI' <<<"$err")" = 1 ] || die "not refused once: $err"
    [[ $out != *"one of"* && $out != *initialised* ]] || die "it has run: $out"
}
ran=0
# An MPI that has no library of Xylem to stand in for it.
cat >other.c <<'END'
#include <stdio.h>
int MPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv)
{
    return argc == NULL && argv == NULL ? puts("initialised") < 0 : 0;
}
int MPI_Finalize(void);
int MPI_Finalize(void)
{
    return 0;
}
int MPI_Get_version(int *version, int *subversion);
int MPI_Get_version(int *version, int *subversion)
{
    return *version = *subversion = 0;
}
END
# Programs for Xylem have the headers; these only need some.
mkdir include
echo 'int MPI_Init(int *, char ***); int MPI_Finalize(void); int MPI_Get_version(int *, int *);' >include/mpi.h
library=libmpi.so.99
cc -shared -fPIC other.c -Wl,-soname,$library -o $library
export LD_LIBRARY_PATH=$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cc -DLOADED="\"$library\"" "$sources/foreign.c" -o loads -ldl
cc -Iinclude -DPLUGGED -shared -fPIC "$sources/foreign.c" $library -o plug.so
cc -Iinclude -DPLUGGED -DLINKED -shared -fPIC "$sources/foreign.c" $library -o linked.so
"$bin/mpicc" -DWITH_MPI -DLOADED="\"$library\"" "$sources/foreign.c" -o rank
"$bin/mpicc" -DWITH_MPI -DPLUGGED -DLOADED='"./plug.so"' "$sources/foreign.c" -o plugged
"$bin/mpicc" -DWITH_MPI -DPLUGGED -DLOADED='"./linked.so"' "$sources/foreign.c" -o unused
cc -DPLUGGED -DLOADED='"./plug.so"' "$sources/foreign.c" -o plain -ldl
for command in ./loads ./rank ./plugged ./plain "sh -c ./rank" "sh -c ./plugged" "--share $library -q ./rank"; do
    # shellcheck disable=SC2086 # several words
    refused $library $command
done
# Once also where one process comes when another has ended.
mkfifo ended
# shellcheck disable=SC2016 # for that shell
refused $library sh -c 'if [ $PMI_RANK = 0 ]; then ./loads; echo >ended; exit 1; fi
    [ $PMI_RANK = 2 ] || read -r _ <ended; exec ./loads'
# Without initialising it a plug-in may be linked with it.
run 0 -n 3 ./unused
same "$out" $'linked\nlinked\nlinked'
# Interpreters.
if command -v python3 >/dev/null; then
    refused $library python3 -c "import ctypes; ctypes.CDLL('$library').MPI_Init(None, None); print('initialised')"
    refused $library python3 -c "import ctypes; ctypes.CDLL('./plug.so').plug()"
fi

ran=0
foreign() { # MPI LAUNCHER...: an MPI that has one
    local mpi=$1
    shift
    command -v "mpicc.$mpi" >/dev/null && command -v "$1" >/dev/null || return 0
    "mpicc.$mpi" "$sources/foreign.c" -o "foreign.$mpi"
    # Its own launcher, inside of ours.
    run 0 -n 2 sh -c "$* -n 2 ./foreign.$mpi"
    [ "$(grep -c '^one of 2$' <<<"$out")" = 4 ] || die "$mpi inside: $out $err"
    ran=1
}
# The library is a part of the program: its own messages give it away, also without symbols.
cat >inside.c <<'END'
#include <stdio.h>
int MPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv)
{
    return fprintf(stderr, argc == NULL ? "" : MARK, (void *)argc, (void *)argv);
}
int main(void)
{
    MPI_Init(NULL, NULL);
    return puts("one of 1") < 0;
}
END
inside() { # NAME MARK OPTION...
    local name=$1 mark=$2
    shift 2
    cc -DMARK="\"$mark\"" inside.c -Wno-format -o inside "$@" 2>/dev/null || return 0
    refused "$name, linked statically" ./inside
    strip inside
    refused "$name, linked statically" ./inside
    run 0 -n 1 ./inside
    same "$out" "one of 1"
}
for options in "-O0" "-O0 -static" "-O0 -static-pie"; do
    # shellcheck disable=SC2086 # several words
    inside "MPICH or a relative" '**mpi_init_thread %p %p' $options
    # shellcheck disable=SC2086
    inside "Open MPI" mpi_init:startup:internal-failure $options
done
for mpich in /usr/lib/*/libmpich.a; do
    if [ -f "$mpich" ] && cc -I"${mpich%/*}/mpich/include" -I"/usr/include/$(basename "${mpich%/*}")/mpich" \
        "$sources/foreign.c" "$mpich" -lhwloc -lucp -lucs -lm -o inside 2>/dev/null; then
        refused "MPICH or a relative, linked statically" ./inside
    fi
done
# Stubs for programs without MPI are no MPI.
cc -DMARK='"stub"' inside.c -o inside
run 0 -n 2 ./inside
same "$out" $'one of 1\none of 1'

foreign openmpi mpirun.openmpi --oversubscribe
foreign mpich mpiexec.mpich

# Programs for Xylem behind a wrapper, also with a sanitizer, and those without MPI.
build foreign
run 0 -n 3 sh -c ./foreign
[ "$(grep -c '^one of 3$' <<<"$out")" = 3 ] || die "$out"
if "$bin/mpicc" -fsanitize=address "$sources/foreign.c" -o sanitized 2>/dev/null && ASAN_OPTIONS=detect_leaks=0 ./sanitized >/dev/null 2>&1; then
    ASAN_OPTIONS=detect_leaks=0 run 0 -n 3 sh -c ./sanitized
    [ "$(grep -c '^one of 3$' <<<"$out")" = 3 ] || die "$out"
fi
# A mpiexec among the processes makes a copy of the library that refuses for its ranks.
run 0 -n 2 sh -c "$bin/mpiexec -n 2 ./foreign"
[ "$(grep -c '^one of 2$' <<<"$out")" = 4 ] || die "$out"
run 0 -n 2 sh -c 'echo hello'
same "$out" $'hello\nhello'
quiet
[ $ran = 1 ] || skip "no other MPI is installed"
