# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sleeping and yielding let other ranks run.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build waits
run 0 -n 2 --workers 1 ./waits
quiet
