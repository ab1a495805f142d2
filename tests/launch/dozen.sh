# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2119
# Twelve shared libraries that keep ranks, communicators, files, C++ objects and thread-local variables
# in global variables, and plug-ins: private to each of 1000 ranks.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
. "$XYLEM_SOURCE_DIR/tests/launch/dozen_lib.sh"

build_dozen
for n in 1 7 1000; do
    run 0 -n $n ./dozen
    quiet
    [ "$out" = "0 wrong" ] || die "$n ranks: $out"
done
for n in 3 1000; do
    run 0 -n $n --workers 2 ./dozen plug-ins
    quiet
    [ "$out" = "0 wrong" ] || die "$n ranks with plug-ins: $out"
done

# What is private and why.
run 0 -n 2 -v ./dozen plug-ins
says "$err" "private library '$PWD/librank.so': it has variables"
says "$err" "private library '$PWD/libconstant.so': it uses private symbols of 'librank.so'"
says "$err" "private library '$PWD/plugin_a.so': it has variables"
says "$err" "private library '$PWD/libdependency.so': it has variables"
says "$err" "shared library 'libstdc++.so.6': a runtime of the compiler"
says "$err" "shared library 'libstdc++.so.6': a runtime of the compiler"

# A function that nothing defines is found missing when it is called, or at once.
run 127 -n 1 ./dozen undefined
says "$err" "undefined symbol: missing_function"
expect 1 env LD_BIND_NOW=1 timeout 240 "$bin/mpiexec" -n 1 ./dozen plug-ins
says "$out" "undefined symbol 'missing_function'"
