#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# start.sh SCRIPT [WORD...]: run a whole-program test in an empty directory that is removed afterwards.
set -eu
WORK=$(mktemp -d)
export WORK
trap 'chmod -R u+w "$WORK"; rm -rf "$WORK"' EXIT
cd "$WORK"
bash "$@"
