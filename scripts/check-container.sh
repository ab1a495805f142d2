#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Build packaging/Containerfile from the last commit and run an example with 4 ranks in the container.
#
#   scripts/check-container.sh ROOT    (needs root, buildah and the network of apt)
#
# ROOT is a bare Debian 12 as debootstrap makes it, and is not changed: where no image can be pulled, a copy of it takes the place of
# debian:bookworm-slim. Images and containers of this check are kept below ROOT-storage, apart from those of the
# machine. The last line is `N passed, N failed`.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -eq 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
root=$(realpath -m "$1")
[ -x "$root/usr/bin/apt-get" ] || { echo "check-container: '$root' is not a root of debootstrap" >&2; exit 1; }
command -v buildah >/dev/null || { echo "check-container: buildah is not installed" >&2; exit 1; }

storage=$root-storage
mkdir -p "$storage"
buildah=(buildah --root "$storage/images" --runroot "$storage/run")
work=$(mktemp -d)
container=
clean() {
    rm -rf "$work"
    [ -z "$container" ] || "${buildah[@]}" rm "$container" >/dev/null
}
trap clean EXIT

passed=0 failed=0
# step TEXT COMMAND...: one more thing that passes or fails.
step() {
    local begin=$SECONDS word=passed
    echo "== $1"
    if "${@:2}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) word=FAILED
    fi
    echo "== $word after $((SECONDS - begin)) s: $1"
    [ $word = passed ]
}

# The image that the Containerfile starts from, made of ROOT; the archives are those of the published image.
make_base() {
    container=$("${buildah[@]}" from scratch)
    "${buildah[@]}" add -q "$container" "$root" / >/dev/null
    cat >"$work/debian.sources" <<END
Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://deb.debian.org/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
    "${buildah[@]}" add -q "$container" "$work/debian.sources" /etc/apt/sources.list.d/debian.sources >/dev/null
    "${buildah[@]}" run --isolation chroot "$container" -- rm -f /etc/apt/sources.list
    "${buildah[@]}" commit -q --rm "$container" docker.io/library/debian:bookworm-slim
    container=
}

build_image() {
    git clone -q --no-local . "$work/source"
    "${buildah[@]}" bud --isolation chroot --pull-never -t xylem -f "$work/source/packaging/Containerfile" "$work/source"
}

# inside COMMANDS: run by a shell in a container of the image.
inside() {
    "${buildah[@]}" run --isolation chroot "$container" -- sh -ec "$1"
}

# shellcheck disable=SC2016 # the inner shell expands
use_image() {
    container=$("${buildah[@]}" from --pull-never xylem)
    "${buildah[@]}" add -q "$container" examples /examples >/dev/null
    step "compile and run with 4 ranks" inside '
        cd /examples && mpicc hello.c -o hello && mpiexec -n 4 ./hello | tee /tmp/out
        tail -1 /tmp/out | grep -qx "4 of 4 ranks said hello"' || :
    step "report a deadlock with its line" inside '
        cd /examples && mpicc -g deadlock.c -o deadlock && ! mpiexec -n 2 ./deadlock 2>/tmp/err
        cat /tmp/err && grep -q "at deadlock.c:" /tmp/err' || :
    step "show what was found" inside 'xylem info' || :
    step "no libraries are missing" inside '! ldd /opt/xylem/bin/* /opt/xylem/lib/*.so 2>/dev/null | grep "not found"' || :
}

if "${buildah[@]}" inspect --type image debian:bookworm-slim >/dev/null 2>&1 || step "make the base image" make_base; then
    if step "build packaging/Containerfile" build_image; then
        use_image
    fi
fi
echo "all of it took $SECONDS s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
