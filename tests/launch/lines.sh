# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2054
# Messages name lines: of the program, of its libraries, and when the debugging information lies in
# another file.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
ulimit -c 0

# line FILE MARK: the line that ends with the comment MARK, as FILE:LINE.
line() {
    echo "$1:$(grep -n "/\* $2 \*/\$" "$sources/$1" | cut -d: -f1)"
}
ldconfig -p 2>/dev/null | grep -q libdw.so.1 || [ -e /usr/lib/libdw.so.1 ] || skip "libdw is not installed"

here=(-L. -Wl,-rpath,"\$ORIGIN" -llines)
"$bin/mpicc" -g -O1 -shared -fPIC "$sources/lines_library.c" -o liblines.so
build lines "${here[@]}"

# says_lines: a deadlock and a crash, in the program and in the library.
says_lines() {
    run 1 -n 2 "$@" ./lines wait
    says "$err" "ranks 0-1: in MPI_Recv from any rank, tag 0 on MPI_COMM_WORLD, at $(line lines.c wait)"
    run 139 -n 1 "$@" ./lines crash
    says "$err" "in program code, at $(line lines.c crash)"
    says "$err" "  crash at $(line lines.c crash)"
    says "$err" "  main at lines.c:"
    run 1 -n 2 "$@" ./lines library
    says "$err" "on MPI_COMM_WORLD, at $(line lines_library.c wait)"
    run 139 -n 1 "$@" ./lines library_crash
    says "$err" "in program code, at $(line lines_library.c crash)"
    says "$err" "  main at lines.c:"
}
says_lines
says_lines --stack-size 64k
says_lines --privatize lines
# No message waits for a server.
DEBUGINFOD_URLS=http://192.0.2.1/ says_lines

# What was split off is found beside the file, and below .debug.
for file in lines liblines.so; do
    objcopy --only-keep-debug $file $file.debug
    strip --strip-unneeded $file
    objcopy --add-gnu-debuglink=$file.debug $file
done
says_lines
mkdir .debug
mv ./*.debug .debug
says_lines
# Without it there are offsets, and symbols that the file exports.
rm -r .debug
DEBUGINFOD_URLS=http://192.0.2.1/ run 1 -n 2 ./lines wait
says "$err" "on MPI_COMM_WORLD, at offset 0x"
run 139 -n 1 ./lines crash
says "$err" "in program code, at ./lines+0x"
run 1 -n 2 ./lines library
says "$err" "in library_wait+0x"

# The C++ runtime says what was thrown; the report, where.
build lines_thrown
run 134 -n 2 ./lines_thrown
says "$err" "the matrix is singular"
says "$err" "rank 1: aborted (SIGABRT)"
says "$err" "at $(line lines_thrown.cc throw)"
