# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A program in C++ with libraries in C, C++ and Fortran that have variables of their own, optimized
# across files and stripped: linked in, and as shared libraries that are private when listed.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
[ -e "$XYLEM_BUILD_DIR/include/mpi_f08.mod" ] || skip "this build has no Fortran modules"

cat >in_c.c <<'END'
static int sum;
_Thread_local int last;
int in_c(int n) { last = n; return (sum += n) + last; }
END
cat >in_cxx.cc <<'END'
#include <string>
#include <vector>
namespace {
struct Counter {
    std::vector<std::string> words{"one"};
    ~Counter() { words.clear(); }
} counter;
thread_local int calls = 100;
}
extern "C" int in_cxx(int n)
{
    static std::string text = "begin";
    for (int i = 0; i < n; i++)
        counter.words.push_back(text += 'x');
    return (int)(counter.words.size() + text.size()) + calls++;
}
END
cat >in_fortran.f90 <<'END'
module state
  use iso_c_binding
  integer(c_int) :: sum = 0
contains
  integer(c_int) function in_fortran(n) bind(c)
    use mpi
    integer(c_int), value :: n
    integer, save :: calls = 0
    integer :: rank, ierror
    common /block/ shared
    integer :: shared
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    calls = calls + 1
    sum = sum + n
    if (calls == 1) shared = 0
    shared = shared + n
    in_fortran = sum + shared + calls + 1000 * rank
  end function
end module
END
cat >languages.cc <<'END'
#include <mpi.h>
#include <cstdio>
extern "C" int in_c(int), in_cxx(int), in_fortran(int);
static int rounds;
int main(int argc, char **argv)
{
    int rank, c = 0, cxx = 0, fortran = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (; rounds < 3; rounds++) {
        MPI_Barrier(MPI_COMM_WORLD);
        c = in_c(rank + 1), cxx = in_cxx(rank + 1), fortran = in_fortran(rank + 1);
    }
    std::printf("%d: %d %d %d\n", rank, c, cxx, fortran);
    MPI_Finalize();
}
END
expected=$(for r in 0 1 2 3; do
    echo "$r: $((4 * (r + 1))) $((1 + 3 * (r + 1) + 5 + 3 * (r + 1) + 102)) $((6 * (r + 1) + 3 + 1000 * r))"
done)

options=(-O3 -flto -fPIC)
"$bin/mpicc" "${options[@]}" -c in_c.c &
"$bin/mpicxx" "${options[@]}" -c in_cxx.cc &
"$bin/mpifort" "${options[@]}" -c in_fortran.f90 || die "in_fortran.f90"
wait
"$bin/mpicxx" "${options[@]}" -s languages.cc in_c.o in_cxx.o in_fortran.o -lgfortran -o languages || die "languages.cc"
for workers in 1 2; do
    run 0 -n 4 --workers $workers ./languages
    quiet
    same "$out" "$expected"
done

for name in c cxx; do
    c++ "${options[@]}" -shared -s in_$name.o -o libin_$name.so || die "libin_$name.so"
done
"$bin/mpifort" "${options[@]}" -shared -s in_fortran.o -o libin_fortran.so || die "libin_fortran.so"
"$bin/mpicxx" "${options[@]}" -s languages.cc -L. -lin_c -lin_cxx -lin_fortran -Wl,-rpath,"\$ORIGIN" -o with_libraries ||
    die "with_libraries"
run 0 -n 4 --workers 2 --privatize in_c,in_cxx,in_fortran ./with_libraries
quiet
same "$out" "$expected"
