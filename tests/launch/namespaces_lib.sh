# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by tests that need hosts: network namespaces of this machine, each with a name of its own,
# behind a bridge. Starts the test again in a namespace for mpiexec; skips it where that is not
# allowed. Nothing stays behind: a namespace is gone with its last process.
#
#   host NAME RATE [SECONDS]
#                      a host with a link of RATE (tc tbf), such as 200mbit, and a clock that is SECONDS ahead
#   ./agent            what --launcher takes
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
needs ip tc unshare nsenter hostname
if [ -z "${XYLEM_NAMESPACE-}" ]; then
    unshare --net --uts --time true 2>/dev/null || skip "this system allows no network or time namespaces"
    XYLEM_NAMESPACE=1 exec unshare --net --mount --ipc bash "$0" "$@"
fi
. "$XYLEM_SOURCE_DIR/tests/launch/several_lib.sh"

holders=
host_count=0
leave() {
    local pid
    for pid in $holders; do
        kill "$pid" 2>/dev/null
    done
}
trap leave EXIT

ip link set lo up
# With an address of its own: it would take that of a new link, and the hosts would not know.
ip link add bridge0 address 02:00:00:77:00:01 type bridge 2>/dev/null || skip "this kernel has no bridges"
ip addr add 10.77.0.1/24 dev bridge0
ip link set bridge0 up

# within NAME COMMAND...: on that host.
within() {
    local pid
    pid=$(cat "$1.pid")
    shift
    nsenter -t "$pid" --net --uts --time "$@"
}
host() {
    local name=$1 rate=$2 ahead=${3:-0} pid
    host_count=$((host_count + 1))
    rm -f "$name.up"
    unshare --net --uts --time --monotonic "$ahead" sh -c "hostname $name; echo >$name.up; exec sleep 900" >/dev/null 2>&1 &
    pid=$!
    holders="$holders $pid"
    until [ -e "$name.up" ]; do sleep 0.01; done
    echo "$pid" >"$name.pid"
    ip link add "v$host_count" type veth peer name eth0 netns "$pid" || skip "this kernel has no veth links"
    ip link set "v$host_count" master bridge0 up
    within "$name" ip addr add "10.77.0.$((host_count + 10))/24" dev eth0
    within "$name" ip link set eth0 up
    within "$name" ip link set lo up
    tc qdisc add dev "v$host_count" root tbf rate "$rate" burst 64kb latency 50ms 2>/dev/null || skip "this kernel has no tbf queue"
    within "$name" tc qdisc add dev eth0 root tbf rate "$rate" burst 64kb latency 50ms
}
cat >agent <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done # options that Hydra gives to ssh
pid=$(cat "$(dirname "$0")/$1.pid") || exit 1
shift
[ "$*" != /bin/sh ] || set -- exec /bin/sh
exec nsenter -t "$pid" --net --uts --time sh -c "$*"
END
chmod +x agent
