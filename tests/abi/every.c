/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call every function that is named on standard input, each in a process of its own, before
 * MPI_Init: it returns, or ends the process with a message. One that calls itself for ever, or
 * jumps to a name that nothing defines, is killed by a signal. C functions get zeros, those of
 * Fortran the address of zeros, whose lower half is 0: lengths of texts are among the arguments.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8000, LENGTH = 128, SECONDS = 20 };
#define PLACE ((void *)0x100000000000)

typedef long (*function_t)(void *, void *, void *, void *, void *, void *, void *, void *, void *,
                           void *, void *, void *, void *, void *);

static void call(void *function, void *argument)
{
    const struct rlimit no_core = {0, 0};
    void *const a = argument;
    int nowhere = open("/dev/null", O_RDWR);

    setrlimit(RLIMIT_CORE, &no_core);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    alarm(SECONDS);
    ((function_t)function)(a, a, a, a, a, a, a, a, a, a, a, a, a, a);
    _exit(0);
}

/* Functions of C that read or write a status, or a number, without looking at its address. */
static int needs_memory(const char *name)
{
    static const char *const parts[] = {"_Status_", "_T_event_get_num", "_Get_count",
                                        "_Get_elements", "_Test_cancelled"};

    for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(name, parts[i]) != NULL)
            return 1;
    return 0;
}

/* Does the call of a function end? Names are of C if they have capitals and small letters. */
static int ends(const char *name, void *function, void *zeros)
{
    int status,
        is_c = isupper((unsigned char)name[0]) && strpbrk(name, "abcdefghijklmnopqrstuvwxyz");
    pid_t child = fork();

    if (child == 0)
        call(function, is_c && !needs_memory(name) ? NULL : zeros);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 0;
    if (WIFSIGNALED(status))
        printf("%s: signal %d\n", name, WTERMSIG(status));
    return !WIFSIGNALED(status);
}

/* every [PART]: of all functions those with an even (0) or an odd (1) number. */
int main(int argc, char **argv)
{
    static char names[MOST][LENGTH];
    static void *seen[MOST];
    void *zeros = mmap(PLACE, 1 << 20, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    int n = 0, count = 0, wrong = 0, is_there, part = argc > 1 ? atoi(argv[1]) : -1;

    MPI_Initialized(&is_there); /* the library is needed */
    while (n < MOST && scanf("%127s", names[n]) == 1)
        n++;
    for (int at = 0; at < n && zeros == PLACE; at++) {
        const char *name = names[at];
        void *function = dlsym(RTLD_DEFAULT, name);
        int i = 0;

        while (i < count && seen[i] != function)
            i++;
        if (function == NULL) {
            printf("%s: not found\n", name);
            return 1;
        }
        if (i < count) /* another name of it */
            continue;
        seen[count++] = function;
        wrong += (part < 0 || count % 2 == part) && !ends(name, function, zeros);
    }
    printf("%d functions, %d wrong\n", count, wrong);
    return wrong > 0 || count < 800;
}
