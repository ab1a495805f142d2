# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# dlopen and dlsym in ranks: the program's own symbols, and plug-ins, private and shared.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

cc -shared -fPIC "$sources/plugin.c" -o free.so
build plugins -rdynamic -Wl,-rpath,"\$ORIGIN"
run 0 --workers 2 -n 4 ./plugins ./free.so
quiet
same "$out" "$(for r in 0 1 2 3; do echo "rank $r: 0 wrong, 9"; done)"

# One that uses the program's symbols, found in the program's own directory.
for how in -O1 -O0; do
    cc $how -shared -fPIC -DUSES "$sources/plugin.c" -o libuses.so
    for workers in 1 2; do
        run 0 --workers $workers -n 4 ./plugins libuses.so ./free.so
        quiet
        same "$out" "$(for r in 0 1 2 3; do
            echo "rank $r: 0 wrong, 10"
            echo "plug-in of $((100 * r + 100)) ends"
        done)"
    done
done
run 0 -n 1 --share-globals ./plugins libuses.so ./free.so
quiet

# What cannot be loaded is the program's to tell.
cc -shared -fPIC -x c - -o libuses.so <<<'int program_add(int); int missing(void); int plugin_run(int n) { return program_add(n) + missing(); }'
run 0 -n 2 ./plugins libuses.so
quiet
says "$out" "undefined symbol 'missing'"
