/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of GCC's OpenMP in virtual time. Its runtime makes the system call futex itself, where
 * nothing can be put in front. A filter of the kernel (seccomp) stops these calls, which are known
 * by the address of their code, and no others; the handler of its signal makes them by turns
 * (turns.h). The filter comes with the first thread that this runtime makes, and stays. With it,
 * programs that the job starts get no more rights than it has.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "process/libc/interpose.h"
#include "process/libc/turns.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

typedef struct {
    const char *inside; /* an address of the library */
    uintptr_t begin, end;
} code_t;

/* Callback of dl_iterate_phdr: the segment of code with the address. */
static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
    code_t *code = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0 ||
            (uintptr_t)code->inside - begin >= segment->p_memsz)
            continue;
        code->begin = begin;
        code->end = begin + segment->p_memsz;
        return 1;
    }
    return 0;
}

/* The registers of the call. */
static void read_call(const ucontext_t *context, long a[6])
{
#if defined(__x86_64__)
    const greg_t *r = context->uc_mcontext.gregs;
    const int numbers[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

    for (int i = 0; i < 6; i++)
        a[i] = (long)r[numbers[i]];
#elif defined(__aarch64__)
    for (int i = 0; i < 6; i++)
        a[i] = (long)context->uc_mcontext.regs[i];
#endif
}

static void write_result(ucontext_t *context, long result)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
    context->uc_mcontext.regs[0] = (unsigned long)result;
#endif
}

/* Outside of turns, the call as it was made. A wait without a limit has one argument more than
 * others. */
static long make_call(const long a[6])
{
    int operation = (int)a[1] & FUTEX_CMD_MASK;
    bool has_limit = (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && a[3] != 0;
    long result;

    if (process_turns_are_taken() && process_is_in_program(process_self) && !has_limit) {
        result = process_turn_futex((const int *)a[0], (int)a[1], (int)a[2], INFINITY);
        if (result != -ENOSYS)
            return result;
    }
    result = XY_NEXT(syscall)(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
    return result >= 0 ? result : -errno;
}

/* The thread may lose its turn here, and continue later. */
static void on_call(int number, siginfo_t *info, void *context)
{
    int error = errno;
    long a[6] = {0};

    (void)number;
    (void)info;
    read_call(context, a);
    write_result(context, make_call(a));
    errno = error;
}

/* The signal may come again before its handler has returned: another fiber runs meanwhile. */
static bool set_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigemptyset(&action.sa_mask);
    return XY_NEXT(sigaction)(SIGSYS, &action, NULL) == 0;
}

/* Ask the kernel to stop calls of futex from this code, on all threads; false: it does not. */
static bool set_filter(const code_t *code)
{
    const uint32_t word = sizeof(uint32_t), at = offsetof(struct seccomp_data, instruction_pointer);
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + word), /* the upper half */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(code->begin >> 32), 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)code->begin, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)code->end, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(lines) / sizeof(lines[0]), .filter = lines};

    if (code->begin >> 32 != code->end >> 32)
        return false;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           XY_NEXT(syscall)(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                            &program) == 0;
}

static bool is_openmp(const void *caller)
{
    Dl_info info;
    const char *name;

    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
        return false;
    name = strrchr(info.dli_fname, '/');
    return strncmp(name != NULL ? name + 1 : info.dli_fname, "libgomp.so", 10) == 0;
}

bool process_turns_can_have(const void *caller)
{
    static enum { UNKNOWN, CAN, CANNOT } can;
    code_t code = {.inside = caller};

    if (!is_openmp(caller))
        return true;
    if (can == UNKNOWN)
        can = dl_iterate_phdr(find_code, &code) != 0 && set_handler() && set_filter(&code) ? CAN
                                                                                           : CANNOT;
    return can == CAN;
}
