# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2086,SC2317 # options are several words; the table names functions
# Faults on hosts (network namespaces): each line of the table says what happens to a running job, within how many
# seconds it must end, with which exit code, and what is printed. Nothing may stay: no process, no file.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"
needs setsid ps ss awk

"$bin/mpicc" -g -O1 "$XYLEM_SOURCE_DIR/tests/hosts/work.c" -o work
host alpha 1gbit
host beta 1gbit
host gamma 1gbit 432000 # its clock is five days ahead
export TMPDIR=$PWD/temporary
mkdir "$TMPDIR"

# node HOST: the process of the job there.
node() {
    local net
    net=$(readlink "/proc/$(cat "$1.pid")/ns/net")
    ps -eo pid=,netns=,args= | awk -v "net=${net//[!0-9]/}" '$2 == net && /mpiexec/ { print $1 }' | sort -n | tail -1
}
link() { ip link set "v$1" "$2"; }
blackhole() { within "$1" ip route "$2" blackhole 10.77.0.0/25; }
ports() { ss -Hltn | awk '{n = split($4, a, ":"); print a[n]}' | sort -u; }
# Some bytes, or none, to all ports of mpiexec, COUNT times; the connections stay open for a second.
strangers() {
    local port i
    for port in $(ports); do
        for ((i = 0; i < $1; i++)); do
            (exec 3<>"/dev/tcp/10.77.0.1/$port" && { [ -z "$2" ] || head -c "$2" /dev/urandom >&3; } && sleep 1) 2>/dev/null &
        done
    done
    sleep 1
}

kill_beta() { kill -9 "$(node beta)"; }
kill_alpha() { kill -9 "$(node alpha)"; }
kill_two() { kill -9 "$(node beta)" "$(node gamma)"; }
abort_beta() { kill -ABRT "$(node beta)"; }
stop_beta() { kill -STOP "$(node beta)"; }
pause_beta() { stop_beta; sleep 1; kill -CONT "$(node beta)"; }
stop_and_kill() {
    local alpha
    alpha=$(node alpha)
    stop_beta
    kill -9 "$alpha"
}
kill_head() { kill -9 "$head"; }
term_head() { kill -TERM "$head"; }
pause_head() { kill -STOP "$head"; sleep 4; kill -CONT "$head"; }
cut_beta() { link 2 down; }
cut_two() { link 2 down; link 3 down; }
blink_beta() { link 2 down; sleep 1; link 2 up; }
blackhole_beta() { blackhole beta add; }
glance_beta() { blackhole beta add; sleep 1; blackhole beta del; }
slow_beta() { tc qdisc change dev v2 root tbf rate 8mbit burst 64kb latency 400ms; }
idle_strangers() { strangers 20 ""; }
garbage() { strangers 3 500; }
nothing() { :; }

mend() {
    link 2 up
    link 3 up
    blackhole beta del 2>/dev/null || true
    tc qdisc change dev v2 root tbf rate 1gbit burst 64kb latency 50ms
}

# left: processes on the hosts besides those that hold them; files.
left() {
    local name pid
    for _ in {1..150}; do
        for name in alpha beta gamma; do
            pid=$(node $name)
            [ -z "$pid" ] || break
        done
        [ -n "$pid" ] || break
        sleep 0.1
    done
    [ -z "$pid" ] || die "process $pid is left on $name: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    [ -z "$(ls -A "$TMPDIR")" ] || die "files are left: $(ls -A "$TMPDIR")"
}

# inject NAME WHAT SECONDS CODE MESSAGE OPTIONS: one line of the table.
inject() {
    local what=$2 limit=$3 code=$4 message=$5 begun got
    rm -f ready
    # shellcheck disable=SC2016
    setsid "$bin/mpiexec" -n 3 --hosts alpha:1,beta:1,gamma:1 --launcher ./agent --heartbeat 3s $6 >out 2>err </dev/null &
    head=$!
    for _ in {1..600}; do
        [ ! -e ready ] || break
        sleep 0.05
    done
    [ -e ready ] || die "$1: no start: $(cat err)"
    begun=$SECONDS
    $what
    got=0
    wait "$head" || got=$?
    [ $((SECONDS - begun)) -le "$(testing_limit "$limit")" ] || die "$1: took $((SECONDS - begun)) s"
    [ "$got" = "$code" ] || die "$1: exit code $got instead of $code: $(cat out err)"
    [ -z "$message" ] || grep -qF -- "$message" out err || die "$1: expected '$message' in: $(cat out err)"
    mend
    left
    echo "$1: ok after $((SECONDS - begun)) s"
}

number=0
failed=0
while IFS='|' read -r name what limit code message options; do
    number=$((number + 1))
    is_chosen "$number" 9 || continue
    (inject "$name" "$what" "$limit" "$code" "$message" "$options") || failed=1
done <"$XYLEM_SOURCE_DIR/tests/hosts/injections.txt"
exit "$failed"
