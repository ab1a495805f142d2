# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A crash is reported with its line, whatever the program holds at that moment.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
ulimit -c 0
ldconfig -p 2>/dev/null | grep -q libdw.so.1 || [ -e /usr/lib/libdw.so.1 ] || skip "libdw is not installed"

# line FILE MARK: the line that ends with the comment MARK, as FILE:LINE.
line() {
    echo "$1:$(grep -n "/\* $2 \*/\$" "$sources/$1" | cut -d: -f1)"
}
build crash -fno-inline
"$bin/mpicc" -g -shared -fPIC "$sources/crash_plugin.c" -o crash_plugin.so

# crashes CODE KIND PLACE OPTION...: in the rank's own code.
crashes() {
    local code=$1 kind=$2 place=$3
    shift 3
    run "$code" "$@" ./crash "$kind"
    says "$err" "mpiexec: rank 1: "
    says "$err" ", at $place"
}
# All, with the options.
all_crash() {
    for kind in fault print in_stdout in_stderr held_elsewhere blocked; do
        crashes 139 "$kind" "$(line crash.c "$kind")" "$@"
    done
    for kind in free_twice free_inside stop; do
        crashes 134 "$kind" "$(line crash.c "$kind")" "$@"
    done
    crashes 136 divide "$(line crash.c divide)" "$@"
    crashes 135 bus "$(line crash.c bus)" "$@"
    crashes 139 in_dlopen "$(line crash_plugin.c begin)" "$@"
    says "$err" "  in_dlopen at $(line crash.c in_dlopen)"
    crashes 139 in_handler "$(line crash.c on_signal)" "$@"
    says "$err" "  in_handler at $(line crash.c in_handler)"
    # Nothing is left of its stack but the place itself.
    crashes 139 smash "$(line crash.c smash)" "$@"
    run 139 "$@" ./crash overflow
    says "$err" "rank 1: stack overflow in program code"
    says "$err" "  recurse at $(line crash.c recurse)"
    # In a thread of the rank.
    run 139 "$@" ./crash fault thread
    says "$err" "  fault at $(line crash.c fault)"
    says "$err" "  run at $(line crash.c run)"
    run 134 "$@" ./crash free_twice thread
    says "$err" "  free_twice at $(line crash.c free_twice)"
    says "$err" "  run at $(line crash.c run)"
}
all_crash -n 2
all_crash -n 2 --check
all_crash -n 2 --processes 2

# Data that arrive where there is no room. What lies behind a block in the heap belongs to anybody, or to
# nobody: a job that this ends says so.
build past
past() { # CALL OPTION...
    local call=$1
    shift
    for buffer in stack page constant; do
        for count in 100000 2000000; do
            case " $* " in # --check finds most of them before anything is copied
            *" --check "*)
                code=0
                timeout 240 "$bin/mpiexec" -n 2 "$@" ./past $buffer $count "$call" >out 2>err || code=$?
                err=$(cat err)
                [ $code = 139 ] || [[ $code = 121 && $err = *"at past.c:"*" [buffer-"* ]] || die "$buffer $count $call $*: $code: $err"
                [ $code = 139 ] || continue
                ;;
            *) run 139 -n 2 "$@" ./past $buffer $count "$call" ;;
            esac
            # In one process the sender may be the one that copies.
            says "$err" "mpiexec: rank "
            says "$err" ": segmentation fault (address 0x"
            says "$err" ", at past.c:"
        done
    done
}
number=0
for call in recv irecv bcast allreduce get; do
    past $call
    for options in --check "--processes 2" "--processes 2 --net tcp"; do
        # shellcheck disable=SC2086
        is_chosen $number 5 && past $call $options
        number=$((number + 1))
    done
done
for options in "" --check "--processes 2" "--check --processes 2" "--processes 2 --net tcp"; do
    # shellcheck disable=SC2086
    for call in recv irecv; do
        code=0
        timeout 240 "$bin/mpiexec" -n 2 $options ./past heap 2000000 $call >out 2>err || code=$?
        [ $code = 0 ] || grep -aq 'mpiexec: ' err || die "mpiexec $options: code $code: $(cat out err)"
        [ $code != 124 ] || die "mpiexec $options does not end: $(cat out err)"
    done
done
