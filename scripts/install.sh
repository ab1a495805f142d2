#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Build for release and install.
#
#   scripts/install.sh PREFIX                (DESTDIR in the environment is honoured)
#   scripts/install.sh --uninstall PREFIX    removes the files of the last install
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n '3,6s/^# \{0,1\}//p' "$0"
    exit 2
}

# The manifest holds one installed path per line, without DESTDIR.
uninstall() {
    local manifest=build/install/install_manifest.txt path
    if [ ! -r "$manifest" ]; then
        echo "install: nothing was installed from this tree (no $manifest)" >&2
        exit 1
    fi
    while IFS= read -r path || [ -n "$path" ]; do
        case $path in
        "$1"/*) rm -f -- "${DESTDIR:-}$path" ;;
        *)
            echo "install: the last install was not into $1 but put $path; give that PREFIX" >&2
            exit 1
            ;;
        esac
    done <"$manifest"
    # Of the directories only those go that held these files and are now empty.
    sed 's|/[^/]*$||' "$manifest" | sort -ru | while IFS= read -r path; do
        while [ "$path" != "$1" ] && rmdir -- "${DESTDIR:-}$path" 2>/dev/null; do
            path=${path%/*}
        done
    done
    rmdir -- "${DESTDIR:-}$1" 2>/dev/null || true
}

if [ $# -eq 2 ] && [ "$1" = --uninstall ]; then
    uninstall "$(realpath -ms "$2")"
    exit 0
fi
if [ $# -ne 1 ] || [ -z "$1" ]; then
    usage
fi
prefix=$(realpath -ms "$1")
scripts/install-packages.sh build

# Its own build tree: the prefix is written into some files, and build/release stays as it was.
if [ -w build ] || [ ! -e build ]; then
    cmake --preset release -B build/install -DXYLEM_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$prefix" >/dev/null
    cmake --build build/install
fi
cmake --install build/install >/dev/null
echo "installed into ${DESTDIR:-}$prefix; put ${DESTDIR:-}$prefix/bin into PATH"
