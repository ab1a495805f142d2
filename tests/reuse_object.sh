#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A compiler launcher (CMAKE_C_COMPILER_LAUNCHER) for a second configuration of the same tree: take
# the object that another build tree has, where the optional libraries cannot make a difference.
#
#   tests/reuse_object.sh OTHER_BUILD COMPILER OPTION... -o OBJECT -c SOURCE
#
# Both trees must have the same compiler and flags. A difference shows in a source only by name:
# XYLEM_HAVE_ or a header of the library; no header of the source tree may say XYLEM_HAVE_ (the test that
# uses this checks that).
other=$1
shift
object='' source='' depends=''
words=("$@")
for ((i = 0; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
    -o) object=${words[i + 1]} ;;
    -c) source=${words[i + 1]} ;;
    -MF) depends=${words[i + 1]} ;;
    esac
done
if [ -z "$object" ] || [ -z "$source" ] || [ ! -f "$other/$object" ] || [ "$source" -nt "$other/$object" ] ||
    grep -qE 'XYLEM_HAVE_|#include <(hwloc|libxml/|metis)' "$source"; then
    exec "$@"
fi
[ -z "$depends" ] || echo "$object: $source" >"$depends"
cp "$other/$object" "$object"
