/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executable of mpiexec. Two things must be in the main program of the process and cannot be in
 * the library: being linked with the library before the C library, so that its functions come first
 * everywhere; and the block of thread-local memory that stands where a main program's thread-local
 * variables are, which the ranks use in turn.
 */
#include <stdio.h>

int mpi_launch_main(int argc, char **argv);

enum { RESERVE = 64 << 10 };

/* Variables of programs may be aligned to a page. On aarch64 the block must begin where a program's
 * usually begins, 16 bytes behind the thread pointer. */
#if defined(__aarch64__)
enum { ALIGNMENT = 16 };
#else
enum { ALIGNMENT = 4096 };
#endif

static _Thread_local _Alignas(ALIGNMENT) volatile char reserve[RESERVE];

int main(int argc, char **argv)
{
    reserve[0] = 0; /* kept by the linker because it is used */
    return mpi_launch_main(argc, argv);
}
