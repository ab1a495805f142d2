# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016
# Programs that cannot have private images, programs without MPI, and programs that are not there.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build private -no-pie -fno-pie
run 1 -n 2 ./private
says "$err" "linked to a fixed address"
says "$err" "-pie"
run 0 -n 1 ./private x
[ "$out" = "rank 0" ] || die "$out"
run 0 -n 2 --share-globals ./private
says "$out" "not private"

cat >tls.c <<END
#include <mpi.h>
_Thread_local char much[300 << 20];
int main(int c, char **v) { MPI_Init(&c, &v); much[c] = 1; MPI_Finalize(); return 0; }
END
"$bin/mpicc" tls.c -o tls
run 1 -n 2 ./tls
says "$err" "314572800 bytes of thread-local variables"
./tls || die "alone it must run"

# Without MPI: processes of their own.
run 0 -n 3 -l sh -c 'echo $PMI_RANK of $OMPI_COMM_WORLD_SIZE; echo error >&2'
same "$out" $'[0] 0 of 3\n[1] 1 of 3\n[2] 2 of 3'
same "$err" $'[0] error\n[1] error\n[2] error'
run 0 -n 2 hostname
[ "$(wc -l <<<"$out")" = 2 ] || die "$out"
run 3 -n 2 sh -c 'exit $((3 * PMI_RANK))'
says "$err" "rank 1 ended with exit code 3"
run 137 -n 2 sh -c '[ $PMI_RANK = 0 ] || kill -9 $$'
says "$err" "rank 1 was ended by signal 9"
expect 0 "$bin/mpiexec" -n 2 cat <<<text
[ "$out" = text ] || die "standard input goes to the first: $out"
printf 'echo script $PMI_RANK $1\n' >plain_script # no first line
chmod +x plain_script
run 0 -n 1 plain_script x
[ "$out" = "script 0 x" ] || die "$out"

run 127 -n 2 ./absent
says "$err" "the program './absent' does not exist"
run 127 -n 2 absent
says "$err" "in PATH or in the working directory"
: >file
run 126 -n 2 ./file
says "$err" "chmod +x ./file"
run 126 -n 2 ./
says "$err" "is a directory"
build private
run 0 -n 2 private # in the working directory
run 1 -n 1 ./private : -n 1 hostname
says "$err" "programs of one job must be of one kind"
head -c 3000 private >broken
chmod +x broken
run 1 -n 2 ./broken
says "$err" "broken"

# Alone, a program is rank 0 of 1.
out=$(./private x)
[ "$out" = "rank 0" ] || die "$out"
