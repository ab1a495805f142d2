# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2086,SC2317 # options are several words; the table names functions
# Faults on hosts (network namespaces): each line of the table says what happens to a running job, within how many
# seconds it must end, with which exit code, and what is printed. Nothing may stay: no process, no file, no shared memory.
# WHAT of a line is a function, which is called when all ranks run; before_WHAT is called before the job starts.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"
needs setsid ps ss awk python3 mount ipcs

"$bin/mpicc" -g -O1 "$XYLEM_SOURCE_DIR/tests/hosts/work.c" -o work
host alpha 1gbit
host beta 1gbit
host gamma 1gbit 432000 # its clock is five days ahead
export TMPDIR=$PWD/temporary
mkdir "$TMPDIR" full program
cp work program/work
case $PWD in
/dev/shm/*) shared= ;;
*)
    shared=/dev/shm # of this test alone
    mount -t tmpfs none $shared
    ;;
esac
hosts=$XYLEM_SOURCE_DIR/tests/hosts
# The agent, with the fault of a host in front.
cat >faulty <<'END'
#!/bin/sh
here=$(dirname "$0")
[ ! -e "$here/fault-$1" ] || . "$here/fault-$1"
exec "$here/agent" "$@"
END
chmod +x faulty

# on HOST PATTERN: the processes there that match, besides the one that holds the host.
on() {
    local holder net
    holder=$(cat "$1.pid")
    net=$(readlink "/proc/$holder/ns/net")
    ps -eo pid=,netns=,args= | awk -v "net=${net//[!0-9]/}" -v "holder=$holder" '$2 == net && $1 != holder && /'"$2"'/ { print $1 }'
}
# node HOST: the process of the job there.
node() { on "$1" mpiexec | sort -n | tail -1; }
link() { ip link set "v$1" "$2"; }
blackhole() { within "$1" ip route "$2" blackhole 10.77.0.0/25; }
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
nothing() { :; }
interrupt_head() { kill -INT "$head"; }
hang_up_head() { kill -HUP "$head"; }
quit_head() { kill -QUIT "$head"; }

# Packets.
lose_beta() { within beta nft 'add table ip t; add chain ip t o { type filter hook output priority 0; }; add rule ip t o numgen random mod 20 == 0 drop'; }
deaf_beta() { within beta nft 'add table ip t; add chain ip t i { type filter hook input priority 0; }; add rule ip t i iif eth0 drop'; }
deaf_for_a_second() { deaf_beta; sleep 1; within beta nft delete table ip t; }
small_frames() { within beta ip link set eth0 mtu 700; }
reset_beta() { within beta ss -K state established '( dst 10.77.0.11 )' >/dev/null; }
reset_head() { within beta ss -K state established '( dst 10.77.0.1 )' >/dev/null; }
# relay HOST WHAT
relay() {
    local address
    relayed=$1
    rm -f relay.out
    address=$(within "$1" ip -o -4 addr show dev eth0 | awk '{ print $4 }')
    echo "$address" >"$1.address"
    python3 "$hosts/relay.py" "$(cat "$1.pid")" "$address" bridge0 "${@:2}" >relay.out &
    relay=$!
    until grep -qs ready relay.out; do
        kill -0 "$relay" || die "no relay"
        sleep 0.02
    done
}
unrelay() {
    kill "$relay"
    wait "$relay" 2>/dev/null || true
    within "$relayed" ip addr add "$(cat "$relayed.address")" dev eth0
    within "$relayed" ip link set eth0 up
    relay=
}
before_delay() { relay beta delay; }
delay() { :; }
before_reorder() { relay beta reorder; }
reorder() { :; }
before_twice() { relay beta twice; }
twice() { :; }
before_flip() { relay beta flip; }
flip() { :; }

# Strangers.
other_user() { within alpha python3 "$hosts/stranger.py" user "$head" "$(node alpha)" "$(node beta)"; }

# record: what all say to the doors of the job from now on.
ports=20000-20015
record() {
    rm -f greetings record.out
    python3 "$hosts/stranger.py" record greetings ${ports/-/ } >record.out &
    recorder=$!
    until grep -qs ready record.out; do
        kill -0 "$recorder" || die "no recorder"
        sleep 0.02
    done
}
# Strangers come while mpiexec waits for beta: its door shuts when all processes have come.
knock() {
    local i
    for ((i = 0; i < 400; i++)); do
        [ ! -s greetings ] || break
        sleep 0.05
    done
    within gamma python3 "$hosts/stranger.py" "$1" greetings $ports "${@:2}" || knocked=failed
    touch go
}
before_knock() {
    rm -f go
    record
    # shellcheck disable=SC2016 # the fault knows $here
    echo 'while [ ! -e "$here/go" ]; do sleep 0.05; done' >fault-beta
}
before_replay() { before_knock; }
during_replay() { knock replay; }
replay() { :; }
before_version() { before_knock; }
during_version() { knock version; }
version() { :; }
before_garbage() { before_knock; }
during_garbage() { knock garbage; }
garbage() { :; }
before_flood() { before_knock; }
during_flood() { knock flood 500; }
flood() { :; }
before_rush() { # from before the start
    rush=()
    for _ in 1 2 3; do
        within gamma python3 -c '
import resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
held, end = [], time.monotonic() + 8
while time.monotonic() < end:
    for port in range(20000, 20016):
        one = socket.socket()
        one.settimeout(0.2)
        try:
            one.connect(("10.77.0.1", port))
            held.append(one)
        except OSError:
            one.close()
    held = held[-2000:]' &
        rush+=($!)
    done
}
rush() { :; }

# What is wrong on a host.
# Another version of Xylem, whose number is as long.
before_other_xylem() {
    local number library=$XYLEM_BUILD_DIR/lib/libmpi_abi.so.0
    number=$("$bin/mpiexec" --version | grep -o '[0-9]*\.[0-9]*\.[0-9]*' | head -1)
    sed "s/\\x00${number//./\\.}\\x00/\\x00${number%?}9\\x00/g" "$library" >other
    ! cmp -s other "$library" || die "the version is not in $library"
    echo "exec unshare --mount sh -c 'mount --bind $PWD/other $library; exec \"\$@\"' sh \"\$here/agent\" \"\$@\"" >fault-beta
}
other_xylem() { :; }
before_launcher_fails() { echo 'exit 255' >fault-beta; }
launcher_fails() { :; }
before_no_program() { echo "exec unshare --mount sh -c 'mount -t tmpfs none $PWD/program; exec \"\$@\"' sh \"\$here/agent\" \"\$@\"" >fault-beta; }
no_program() { :; }
before_no_way() { blackhole beta add; }
no_way() { :; }
fill() {
    mount -t tmpfs -o size=64k none "$1"
    head -c 65536 /dev/zero >"$1/filling" 2>/dev/null || :
}
before_full_temporary() { fill "$TMPDIR"; }
full_temporary() { :; }
before_full_disk() { mount -t tmpfs -o size=16k none full; }
full_disk() { :; }


mend() {
    local pid
    link 2 up
    link 3 up
    blackhole beta del 2>/dev/null || true
    within beta nft delete table ip t 2>/dev/null || true
    [ -z "$relay" ] || unrelay
    for pid in $recorder "${rush[@]}"; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    recorder='' rush=()
    within beta ip link set eth0 mtu 1500
    umount "$TMPDIR" full 2>/dev/null || true
    rm -f fault-*
    tc qdisc change dev v2 root tbf rate 1gbit burst 64kb latency 50ms
}

# left: processes on the hosts besides those that hold them; files; shared memory.
left() {
    local name pid
    for _ in {1..150}; do
        for name in alpha beta gamma; do
            pid=$(on $name . | head -1)
            [ -z "$pid" ] || break
        done
        [ -n "$pid" ] || break
        sleep 0.1
    done
    [ -z "$pid" ] || die "process $pid is left on $name: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    [ -z "$(find "$TMPDIR" $shared -mindepth 1)" ] || die "files are left: $(find "$TMPDIR" $shared -mindepth 1)"
    ! ipcs -m | grep '^0x' || die "shared memory is left"
}

# inject NAME WHAT SECONDS CODE MESSAGE OPTIONS: one line of the table.
inject() {
    local what=$2 limit=$3 code=$4 message=$5 begun got
    rm -f ready
    relay=
    recorder=
    rush=()
    knocked=
    head=
    trap 'mend; { [ -z "$head" ] || kill -9 "$head"; } 2>/dev/null || :' EXIT
    ! declare -F "before_$what" >/dev/null || "before_$what"
    begun=$SECONDS
    setsid env --default-signal=INT,QUIT "$bin/mpiexec" -n 3 --hosts alpha:1,beta:1,gamma:1 --launcher ./faulty --heartbeat 3s $6 >out 2>err </dev/null &
    head=$!
    ! declare -F "during_$what" >/dev/null || "during_$what"
    while [ ! -e ready ] && kill -0 "$head" 2>/dev/null; do
        [ $((SECONDS - begun)) -le "$(testing_limit "$limit")" ] || die "$1: no start: $(cat err)"
        sleep 0.05
    done
    if [ -e ready ]; then
        begun=$SECONDS
        $what
    fi
    got=0
    wait "$head" || got=$?
    [ $((SECONDS - begun)) -le "$(testing_limit "$limit")" ] || die "$1: took $((SECONDS - begun)) s"
    [ "$got" = "$code" ] || die "$1: exit code $got instead of $code: $(cat out err)"
    [ -z "$knocked" ] || die "$1: see above; mpiexec: $(cat out err)"
    [ -z "$message" ] || grep -qF -- "$message" out err || die "$1: expected '$message' in: $(cat out err)"
    mend
    left
    echo "$1: ok after $((SECONDS - begun)) s"
}

table=${1:-$XYLEM_SOURCE_DIR/tests/hosts/injections.txt}
number=0
failed=0
while IFS='|' read -r name what limit code message options; do
    number=$((number + 1))
    is_chosen "$number" 12 || continue
    if declare -f "$what" | grep -q ' nft ' && ! command -v nft >/dev/null; then
        echo "$name: left out, nft is not installed"
        continue
    fi
    (inject "$name" "$what" "$limit" "$code" "$message" "$options") || failed=1
done <"$table"
exit "$failed"
