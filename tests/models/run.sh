#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Search a Promela model exhaustively, then once for each definition that breaks a part of the
# protocol: the first must find no error, each of the others one.
#
#   run.sh MODEL [BROKEN_PART...]
set -euo pipefail
command -v spin >/dev/null || {
    echo "left out: spin is not installed"
    exit 77
}
model=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# search [-DPART]: prints the number of errors
search() {
    spin -DPOSTS=3 "$@" -a "$model" >/dev/null
    "${CC:-cc}" -O2 -w -DSAFETY -DMEMLIM=2000 -o pan pan.c
    ./pan -m100000 | tee -a pan.log | sed -n 's/.*errors: //p'
}

errors=$(search)
[ "$errors" = 0 ] || {
    cat pan.log
    echo "the model has an error"
    exit 1
}
for part in "$@"; do
    errors=$(search "-D$part")
    [ "$errors" = 1 ] || {
        echo "the search does not notice $part: the model proves nothing"
        exit 1
    }
done
