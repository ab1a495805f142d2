# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# valgrind names the lines of rank code, in every rank.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
sources=$XYLEM_SOURCE_DIR/tests/debug

command -v valgrind >/dev/null || {
    echo "left out: valgrind is not installed"
    exit 77
}
build sanitized -O0

# grind ARGUMENT...: mpiexec under memcheck; all it printed is in $out.
grind() {
    expect 0 timeout 240 valgrind --leak-check=full \
        --suppressions="$XYLEM_SOURCE_DIR/tools/valgrind/xylem.supp" "$bin/mpiexec" "$@"
    out=$out$'\n'$err
}

# line TEXT: the line of the program with this remark.
line() {
    grep -n "/\* $1 \*/" "$sources/sanitized.c" | cut -d: -f1
}

if [ -n "${XYLEM_SOAK:-}" ]; then
    grind -n 2 ./sanitized
    says "$out" "ERROR SUMMARY: 0 errors"
fi

# In processes of their own valgrind sees the program, and nothing of what mpiexec adds.
expect 0 timeout 240 "$bin/mpiexec" -n 2 valgrind -q --error-exitcode=9 ./sanitized
[[ $err != *==* ]] || die "$err"
if [ -n "${XYLEM_SOAK:-}" ]; then
    expect 0 timeout 240 "$bin/mpiexec" -n 2 sh -c 'exec valgrind -q ./sanitized'
    [[ $err != *uninitialised* ]] || die "$err"
fi

grind -n 3 ./sanitized heap leak
says "$out" "Invalid write of size 1"
says "$out" "blunder (sanitized.c:$(line heap))"
says "$out" "main (sanitized.c:"
[[ $out != *"???"* ]] || die "$out"

# The leak of each rank, with its line; of those that debuggers are to know.
[ "$(grep -c "lose (sanitized.c:" <<<"$out")" -ge 1 ] || die "$out"
says "$out" "17 bytes in 1 blocks are definitely lost"
if [ -n "${XYLEM_SOAK:-}" ]; then
    grind -n 3 --debug-ranks none ./sanitized heap
    says "$out" "Invalid write of size 1"
    [[ $out != *"blunder (sanitized.c:"* ]] || die "$out"
fi

is_chosen 1 2 || exit 0
# A private library has its lines as well, and so does a plug-in that uses symbols of the program and
# is private for that.
cat >helper.c <<END
#include <stdlib.h>
int helper_calls;
__attribute__((noinline)) void helper_blunder(void)
{
    char *volatile p = malloc(8);
    p[8] = (char)++helper_calls;
    free(p);
}
END
cat >plugin.c <<END
#include <stdlib.h>
extern int used_by_plugin;
void plugin_blunder(void)
{
    char *volatile p = malloc(8);
    p[8] = (char)++used_by_plugin;
    free(p);
}
END
cat >loader.c <<END
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int used_by_plugin;
void helper_blunder(void);
int main(int argc, char **argv)
{
    void *plugin;
    MPI_Init(&argc, &argv);
    helper_blunder();
    plugin = dlopen("./plugin.so", RTLD_NOW);
    if (plugin == NULL)
        printf("%s\n", dlerror());
    else
        ((void (*)(void))dlsym(plugin, "plugin_blunder"))();
    MPI_Finalize();
    return used_by_plugin != 1;
}
END
gcc -g -shared -fPIC helper.c -o libhelper.so
gcc -g -shared -fPIC plugin.c -o plugin.so
"$bin/mpicc" -g -rdynamic loader.c -o loader -L. -lhelper -Wl,-rpath,"$PWD" -ldl
grind -n 2 --privatize helper ./loader
says "$out" "helper_blunder (helper.c:6)"
says "$out" "plugin_blunder (plugin.c:6)"
[ -z "$(find /tmp -maxdepth 1 -name 'xylem-valgrind-*' -newer loader.c)" ] || die "files were left in /tmp"
