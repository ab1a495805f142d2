# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Streams: freopen, wide characters, output that is lost, descriptors that the caller has closed.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
export LC_ALL=C.UTF-8

build stdio
run 0 -n 4 --workers 1 ./stdio reopen
same "$out" $'before 0\nbefore 1\nbefore 2\nbefore 3\nprinted by 0\nx and more'
same "$err" "complained by 0"
[ "$(cat out.1)" = $'printed by 1\nx and more\nwritten' ] || die "out.1: $(cat out.1)"
[ "$(cat out.2)" = $'printed by 2\nx and more\nappended' ] || die "out.2: $(cat out.2)"
[ "$(cat out.3)" = $'printed by 3\nx and more' ] || die "out.3: $(cat out.3)"
for r in 1 2 3; do
    [ "$(cat err.$r)" = "complained by $r" ] || die "err.$r: $(cat err.$r)"
done
run 0 -n 2 -l ./stdio same
quiet
same "$out" $'[0] same 0\n[1] same 1'
run 0 -n 3 ./stdio input </dev/null
quiet
same "$out" "$(for r in 0 1 2; do echo "$r has line of $r"; echo "$r again $((10 * r / 10 % 10))"; done)"

run_input() { # CODE TEXT ARGUMENT...
    local text=$2 code=$1
    shift 2
    expect "$code" timeout 240 "$bin/mpiexec" "$@" <<<"$text"
}
run_input 0 $'w\u00f6rd\n\u00f6 rest' -n 2 --workers 1 ./stdio wide
same "$out" $'0: \u00fcml\u00e4ut\n1: \u00fcml\u00e4ut\n0 got w\u00f6rd, end 1\n1 got , end 1'
same "$err" $'0\u20ac\n1\u20ac'
build wide_streams
run_input 0 $'w\u00f6rd' -n 2 ./wide_streams
same "$out" $'rank 0 \u00fc w\u00f6rd\nrank 1 \u00fc nothing'
same "$err" $'e0\ne1'

# Code that refers to the streams in a library, which is what -fPIC is for.
c++ -fPIC -DLIBRARY -shared "$sources/cxx_state.cc" -o libcxx_state.so || die "libcxx_state.so"
build cxx_state -fPIC -L. -lcxx_state -Wl,-rpath,"$PWD"
run_input 0 7 -n 3 ./cxx_state
same "$out" $'0:   255 7\n0 says   254\n1: ...ff 1\n1 says ...fe\n2:   255 -1\n2 says   254'
quiet

run 0 -n 3 --workers 1 ./stdio children
quiet
# The child's text has no end of line: another rank's follows it.
same "$(grep -o 'kept by .\|child' <<<"$out")" $'kept by 0\nchild\nkept by 1\nkept by 2'

run 7 -n 2 ./stdio complain
same "$(grep -v '^mpiexec' <<<"$err")" "$(for r in 0 1; do
    echo "stdio: w$r: No such file or directory"
    echo "stdio: x$r"
    echo "./stdio: e$r: Permission denied"
    echo "./stdio:file:12: l$r"
    echo "p: No such file or directory"
done; echo "stdio: the end")"
says "$err" "rank 1 ended with exit code 7"

# What cannot be written is reported once, and the job has failed.
code=0
timeout 240 "$bin/mpiexec" -n 2 ./stdio full >/dev/full 2>.err || code=$?
err=$(cat .err)
[ "$code" = 1 ] || die "output to a full device: exit code $code"
same "${err/rank [01]:/rank N:}" $'0 failed error\n1 failed error
mpiexec: rank N: cannot write to standard output: No space left on device; what ranks print is lost'
code=0
timeout 240 "$bin/mpiexec" -n 2 ./stdio full 2>/dev/full >/dev/null || code=$?
[ "$code" = 1 ] || die "errors to a full device: exit code $code"
code=0
timeout 240 "$bin/mpiexec" -n 2 sh -c 'echo out' 2>.err >/dev/full || code=$?
[ "$code" = 1 ] || die "a program without MPI, output to a full device: exit code $code"
says "$(cat .err)" "cannot write to standard output: No space left on device"

# Descriptors that the caller closed are errors, not the next file that is opened.
expect 0 timeout 240 "$bin/mpiexec" -n 2 ./stdio closed <&-
same "$err" $'0 read -1, -1\n1 read -1, -1'
code=0
timeout 240 "$bin/mpiexec" -n 2 ./stdio full >&- 2>.err || code=$?
[ "$code" = 1 ] || die "closed output: exit code $code"
says "$(cat .err)" "cannot write to standard output: Bad file descriptor"
expect 0 timeout 240 "$bin/mpiexec" -n 2 ./stdio closed <&- >&-
