# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by the tests of plug-ins.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
needs cc

# plugin NAME SOURCE FLAGS...: the shared object NAME from a source of the tree.
plugin() {
    local name=$1 source=$2
    shift 2
    cc -O1 -Wall -Werror -shared -fPIC -I"$XYLEM_SOURCE_DIR/include" "$@" -o "$name" "$XYLEM_SOURCE_DIR/$source"
}
