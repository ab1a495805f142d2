# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What crosses the network between hosts is encrypted: who records it finds no secret, no variable of the
# environment and no message. With --net-plain all of it is there, except for the secret.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build secret
host alpha 1gbit
host beta 1gbit
# The launcher's channel carries the secret of the job: keep what goes through it.
cat >recording <<'END'
#!/bin/sh
exec 3>>scripts
tee /proc/self/fd/3 | ./agent "$@"
END
chmod +x recording

export XYLEM_TEST_VARIABLE=variable-$RANDOM$RANDOM SOME_TOKEN=token-$RANDOM$RANDOM OTHER_TOKEN=other-$RANDOM$RANDOM
text=message-$RANDOM$RANDOM
# captured OPTION...: run the job and record it.
captured() {
    rm -f scripts packets packets.up
    python3 "$XYLEM_SOURCE_DIR/tests/launch/capture.py" packets v1 v2 &
    local capture=$!
    until [ -e packets.up ]; do sleep 0.01; done
    run 0 -n 2 --hosts alpha:1,beta:1 --launcher ./recording -x OTHER_TOKEN "$@" ./secret "$text" </dev/null
    kill "$capture"
    wait "$capture" || die "the packets were not recorded"
    says "$out" "rank 1 has the message and $XYLEM_TEST_VARIABLE, none, $OTHER_TOKEN"
    [ "$(stat -c %s packets)" -gt 100000 ] || die "the packets of the job were not recorded"
    gone
}
has() {
    grep -qaF -- "$1" packets
}

captured
for word in "$text" "$XYLEM_TEST_VARIABLE" "$SOME_TOKEN" "$OTHER_TOKEN" XYLEM_TEST_VARIABLE TOKEN PATH= ./secret; do
    if has "$word"; then die "in clear text on the network: $word"; fi
done
# hidden: the secret of the job that was recorded is not on the network.
hidden() {
    local secrets
    secrets=$(sed -n 's/.*XYLEM_NODE_SECRET=\([0-9a-f]*\).*/\1/p' scripts | sort -u)
    [ ${#secrets} = 32 ] || die "no secret went over the launcher's channel: $(cat scripts)"
    if has "$secrets"; then die "the secret of the job is in clear text on the network"; fi
    python3 -c 'import sys; sys.exit(bytes.fromhex(sys.argv[1]) in open("packets", "rb").read())' "$secrets" ||
        die "the bytes of the secret are on the network"
}
hidden

captured --net-plain
hidden
for word in "$text" "$XYLEM_TEST_VARIABLE" "$OTHER_TOKEN" XYLEM_TEST_VARIABLE=; do
    has "$word" || die "--net-plain: not found in what was recorded: $word"
done
if has "$SOME_TOKEN"; then die "a token that nobody asked for was sent"; fi

# The same with ranks that are processes of their own.
captured --net-plain env
hidden

# Where the library is missing, nothing is sent in clear text by accident.
library=$(ldconfig -p | sed -n 's/.*libcrypto.so.3 .*=> //p' | head -n 1)
[ -n "$library" ] || skip "libcrypto.so.3 is not where it is expected"
cat >without <<END
#!/bin/sh
mount --bind /dev/null $(readlink -f "$library") && exec "$bin/mpiexec" "\$@"
END
chmod +x without
expect 1 unshare --mount ./without -n 2 --hosts alpha:1,beta:1 --launcher ./agent ./secret "$text" </dev/null
says "$err" "connections between hosts are encrypted, and OpenSSL's libcrypto.so.3 is not on this machine"
expect 0 unshare --mount ./without -n 2 --hosts alpha:1,beta:1 --launcher ./agent --net-plain ./secret "$text" </dev/null
gone
