# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Over which interfaces, ports and version of IP hosts are connected.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build secret
host alpha 1gbit
host beta 1gbit
ip link add bridge1 type bridge
ip link set bridge1 up
for i in 1 2; do # a second network, which mpiexec does not reach
    name=$([ $i = 1 ] && echo alpha || echo beta)
    ip link add "w$i" type veth peer name eth1 netns "$(cat "$name.pid")"
    ip link set "w$i" master bridge1 up
    within "$name" ip addr add "10.78.0.1$i/24" dev eth1
    within "$name" ip link set eth1 up
done

# captured INTERFACES OPTION...: run the job and record it.
captured() {
    local interfaces=$1
    shift
    rm -f packets packets.up
    # shellcheck disable=SC2086
    python3 "$XYLEM_SOURCE_DIR/tests/launch/capture.py" packets $interfaces &
    local capture=$!
    until [ -e packets.up ]; do sleep 0.01; done
    run 0 -n 2 --hosts alpha:1,beta:1 --launcher ./agent "$@" ./secret text </dev/null
    kill "$capture"
    wait "$capture" || die "the packets were not recorded"
    says "$out" "rank 1 has the message"
    gone
}

captured "v1 v2" --net-ports 20100-20103
[ -s packets.ports ] || die "nobody was connected to"
if grep -qv ' 2010[0-3]$' packets.ports; then die "other ports: $(cat packets.ports)"; fi

captured "w1 w2" --net-interface eth1,bridge0
[ "$(stat -c %s packets)" -gt 1000000 ] || die "the message did not go over eth1"
captured "w1 w2" --net-interface eth0,bridge0
[ "$(stat -c %s packets)" -lt 1000 ] || die "the message did not go over eth0"
# Large messages go over both interfaces, and each carries at least one of four pieces.
for lines in "v1 v2" "w1 w2"; do
    captured "$lines" --net-interface eth0,eth1,bridge0 -v
    says "$err" "large ones on 2 interfaces"
    [ "$(stat -c %s packets)" -gt 300000 ] || die "nothing of the large message went over $lines"
done

ends 2 "--net-ports '9-5' are not ports" -n 2 --hosts alpha:1,beta:1 --launcher ./agent --net-ports 9-5 ./secret text
ends 2 "--net-interface nosuch0: there is no such interface" -n 2 --hosts alpha:1,beta:1 --launcher ./agent --net-interface nosuch0 ./secret text

# Without IPv4.
ip addr add fd77::1/64 dev bridge0 nodad
ip addr del 10.77.0.1/24 dev bridge0
for i in 1 2; do
    name=$([ $i = 1 ] && echo alpha || echo beta)
    within "$name" ip link set eth1 down
    within "$name" ip addr add "fd77::1$i/64" dev eth0 nodad
    within "$name" ip addr del "10.77.0.1$i/24" dev eth0
done
captured "v1 v2"
grep -q '^fd77::' packets.ports || die "not over IPv6: $(cat packets.ports)"
if grep -qa 'text' packets; then die "in clear text over IPv6"; fi
