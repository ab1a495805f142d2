#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Does packages.txt name all that is needed? Run `make demo` and `make test` of a fresh clone in a
# bare Debian or Ubuntu.
#
#   scripts/check-clean-root.sh DIR [SUITE [MIRROR]]   (needs root, debootstrap and the network)
#
# DIR is made by debootstrap when it is not there yet (bookworm from the archive that this machine's
# apt uses, unless SUITE and MIRROR say otherwise), and kept; remove it yourself. Proxies are those of
# this machine's apt. The last commit is what is tested, not the working tree. TARGETS (`demo test`)
# says what is made. DEBOOTSTRAP_OPTIONS: Ubuntu from a Debian without the package ubuntu-keyring needs
# --no-check-gpg.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2; }
root=$(realpath -m "$1")
suite=${2:-bookworm}
if [ "$(id -u)" -ne 0 ]; then
    echo "check-clean-root: needs root, for debootstrap and chroot" >&2
    exit 1
fi

# The first mirror that this machine's apt uses for a Debian archive.
mirror() {
    local found
    # shellcheck disable=SC2016 # apt-get expands these itself
    found=$(apt-get indextargets --format '$(SITE) $(REPO_URI) $(CODENAME) $(COMPONENT)' 2>/dev/null |
        awk -v suite="$suite" '$4 == "main" && $3 == suite && !/security/ { print $2; exit }')
    if [ -z "$found" ]; then
        echo "check-clean-root: this machine's apt has no archive with $suite; name one as MIRROR" >&2
        return 1
    fi
    echo "$found"
}

if [ ! -x "$root/usr/bin/apt-get" ]; then
    from=${3:-}
    [ -n "$from" ] || from=$(mirror)
    options=(--variant=minbase --components=main)
    script=()
    case $from in
    *ubuntu*)
        options=(--variant=minbase "--components=main,universe")
        # Debian's debootstrap need not know a newer Ubuntu by name; all of them are made alike.
        [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=(gutsy)
        ;;
    esac
    # shellcheck disable=SC2086 # several words
    debootstrap "${options[@]}" ${DEBOOTSTRAP_OPTIONS:-} "$suite" "$root" "$from" "${script[@]}"
fi

# The apt of this machine, as far as it speaks of this suite: proxies, certificates, preferences.
copy_apt() {
    local path
    for path in /etc/apt/apt.conf /etc/apt/apt.conf.d; do
        [ ! -e "$path" ] || cp -r "$path" "$root/etc/apt/"
    done
    # Hooks of programs that are not there would stop apt.
    grep -lE 'Pre-Install-Pkgs|Post-Invoke|Pre-Invoke' -r "$root/etc/apt/apt.conf.d" 2>/dev/null | xargs -r rm -f
    # Every installed system has this file; debootstrap leaves it to the installer.
    [ -e "$root/etc/hosts" ] || echo "127.0.0.1 localhost" >"$root/etc/hosts"
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    [ ! -d /usr/local/share/ca-certificates ] || cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
}

mounted=()
unmount_all() {
    local i
    for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do
        umount "${mounted[i]}" || umount -l "${mounted[i]}"
    done
    mounted=()
}
trap unmount_all EXIT

mount_one() {
    local target=${!#}
    mkdir -p "$target"
    mount "$@"
    mounted+=("$target")
}

copy_apt
mount_one -t proc proc "$root/proc"
mount_one -t sysfs -o ro sysfs "$root/sys"
mount_one --bind /dev "$root/dev"
mount --make-private "$root/dev" # what is mounted below it stays out of this machine's own /dev
mount_one -t devpts devpts "$root/dev/pts"
mount_one -t tmpfs tmpfs "$root/dev/shm"

rm -rf "$root/xylem"
git clone -q --no-local . "$root/xylem"

proxies=()
for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
done
# A bare Debian has no make, and nobody can call the Makefile without one.
# shellcheck disable=SC2016 # the inner shell expands
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CI=true LC_ALL=C.UTF-8 \
    "${proxies[@]}" DEBIAN_FRONTEND=noninteractive TARGETS="${TARGETS:-demo test}" bash -c '
    set -e
    cd /xylem
    command -v make >/dev/null || { apt-get -q update && apt-get -q install -y --no-install-recommends make; } >/dev/null
    status=0
    for target in $TARGETS; do
        time make "$target" || status=1
    done
    exit $status'
