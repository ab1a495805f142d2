/* SPDX-License-Identifier: BSD-3-Clause */
/* The executable of a host: a block of thread-local memory where a main program has its
 * thread-local variables, which the processes use in turn. All else is in the library. */
int many_main(int argc, char **argv);

enum { RESERVE = 4096 };

#if defined(__aarch64__)
enum { ALIGNMENT = 16 };
#else
enum { ALIGNMENT = 64 };
#endif

static _Thread_local _Alignas(ALIGNMENT) volatile char reserve[RESERVE];

int main(int argc, char **argv)
{
    reserve[0] = 0; /* kept by the linker because it is used */
    return many_main(argc, argv);
}
