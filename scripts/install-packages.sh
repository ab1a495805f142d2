#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Install what is missing of packages.txt.
#
#   scripts/install-packages.sh SECTION...          (build, test, browser)
#
# On Debian and Ubuntu missing packages are installed, with sudo when not root, and it says so
# first. Elsewhere the list is printed. Either way the exit code is 0 when the tools of the build
# can be called, so that a machine set up by other means is not stopped here.
set -euo pipefail
cd "$(dirname "$0")/.."

list=packages.txt

# The lines of one section, without comments: `a` or `a | b`.
section() {
    awk -v want="[$1]" '
        { sub(/#.*/, ""); gsub(/^[ \t]+|[ \t]+$/, "") }
        /^\[/ { on = ($0 == want); next }
        on && NF { print }' "$list"
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The first name of `a | b` that apt can install, or nothing.
first_available() {
    local name
    for name in ${1//|/ }; do
        if apt-cache show --no-all-versions "$name" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

# Whether the first name that this release knows is installed. A later name does not do when an
# earlier one could be had: it may hold less there.
is_satisfied() {
    local name
    for name in ${1//|/ }; do
        if is_installed "$name"; then
            return 0
        elif [ "$name" != "$1" ] && [ "$(first_available "$name")" = "$name" ]; then
            return 1
        fi
    done
    return 1
}

# The end of every road but the good one: go on when the build can, say what to do when not.
go_on_if_possible() {
    local tool absent=()
    for tool in cmake ninja pkg-config make; do
        command -v "$tool" >/dev/null || absent+=("$tool")
    done
    command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null ||
        absent+=("a C compiler")
    if [ ${#absent[@]} -gt 0 ]; then
        echo "install-packages: cannot build without: ${absent[*]}; install them and try again" >&2
        exit 1
    fi
    exit 0
}

[ $# -gt 0 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
if [ "$1" = -h ] || [ "$1" = --help ]; then
    sed -n '3,9s/^# \{0,1\}//p' "$0"
    exit 0
fi

system=unknown
if [ -r /etc/os-release ]; then
    system=$(. /etc/os-release && echo "${ID:-unknown}")
fi

wanted=()
for name in "$@"; do
    if [ "$name" = browser ] && [ "$system" = ubuntu ]; then
        continue
    fi
    mapfile -t lines < <(section "$name")
    [ ${#lines[@]} -gt 0 ] || { echo "install-packages: no section [$name] in $list" >&2; exit 2; }
    wanted+=("${lines[@]}")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu; the packages used are, by their Debian names:"
    printf '  %s\n' "${wanted[@]}"
    go_on_if_possible
fi

missing=()
for entry in "${wanted[@]}"; do
    is_satisfied "$entry" || missing+=("$entry")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "Missing packages, and no sudo to install them with:"
        printf '  %s\n' "${missing[@]}"
        go_on_if_possible
    fi
    as_root=(sudo)
    echo "Installing missing packages with sudo (it may ask for your password):"
else
    echo "Installing missing packages:"
fi
printf '  %s\n' "${missing[@]}"

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
"${apt[@]}" update >/dev/null || echo "install-packages: apt-get update failed; going on with the lists at hand" >&2

names=()
for entry in "${missing[@]}"; do
    name=$(first_available "$entry")
    if [ -n "$name" ]; then
        names+=("$name")
    else
        echo "install-packages: this release has no package $entry; what needs it is left out" >&2
    fi
done
[ ${#names[@]} -gt 0 ] || go_on_if_possible
if ! "${apt[@]}" install -y --no-install-recommends "${names[@]}" >/dev/null; then
    echo "install-packages: apt-get could not install: ${names[*]}" >&2
    go_on_if_possible
fi
