#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Install the .deb of build/package in a bare Debian and run the page docs/getting-started.md there.
#
#   scripts/check-package.sh DIR [MIRROR]       (needs root, debootstrap and the network)
#
# DIR is made by debootstrap (bookworm) when it is not there yet, and kept; remove it yourself. MIRROR is the
# archive to use; apt's own by default. Make the packages first, with `make package`.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2; }
root=$(realpath -m "$1")
deb=$(ls build/package/xylem-*.deb)
archive=$(ls build/package/xylem-*.tar.gz)
[ -x "$root/usr/bin/apt-get" ] ||
    debootstrap --variant=minbase --components=main bookworm "$root" "${2:-http://deb.debian.org/debian}"

# How this machine's apt reaches the network.
cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
grep -lE 'Pre-Install-Pkgs|Post-Invoke|Pre-Invoke' -r "$root/etc/apt/apt.conf.d" | xargs -r rm -f
[ ! -d /usr/local/share/ca-certificates ] || cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
[ -e "$root/etc/hosts" ] || echo "127.0.0.1 localhost" >"$root/etc/hosts"
rm -rf "$root/try" && mkdir -p "$root/try/tests" "$root/try/prefix"
cp -r docs examples machines "$root/try/"
cp tests/docs_test.py "$root/try/tests/"
cp "$deb" "$root/try/xylem.deb"
tar -C "$root/try/prefix" --strip-components=1 -xzf "$archive"

mounted=()
unmount_all() {
    local path
    for path in "${mounted[@]}"; do
        umount -l "$path"
    done
}
trap unmount_all EXIT
for pair in proc:proc sysfs:sys tmpfs:dev/shm; do
    mkdir -p "$root/${pair#*:}"
    mount -t "${pair%%:*}" "${pair%%:*}" "$root/${pair#*:}"
    mounted+=("$root/${pair#*:}")
done

# The page's commands find Xylem as its users do: in PATH.
# shellcheck disable=SC2016 # the inner shell expands
chroot "$root" /usr/bin/env -i PATH=/opt/xylem/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive bash -ec '
    apt-get -q update >/dev/null
    apt-get -q install -y /try/xylem.deb >/try/install.log || { tail /try/install.log; exit 1; }
    cd /try
    [ "$(command -v mpicc)" = /opt/xylem/bin/mpicc ]
    python3 tests/docs_test.py docs/getting-started.md /opt/xylem /try
    prefix/bin/xylem --version'
