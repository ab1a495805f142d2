/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch for x86_64 (System V). A context is the stack pointer of a stack that holds, upwards:
 *
 *   +0 mxcsr (4 bytes)  +4 x87 control word  +6 x87 status word
 *   +8 r15 r14 r13 r12 rbx rbp  +56 return address
 *
 * Loading mxcsr or an x87 word costs more than the rest together, so they are loaded only when they
 * differ. The low six bits of mxcsr and of the status word are the exception flags, which belong to
 * the context. Flags stay raised, so contexts that compute soon have the same ones. The values are
 * read into registers before the stacks are exchanged: narrow loads, because a wide load of several
 * narrow stores would stall.
 */
#if defined(__ELF__)
        .section .note.GNU-stack, "", @progbits
#endif
        .text
        .globl  fiber_switch
        .hidden fiber_switch
        .type   fiber_switch, @function
        .p2align 4
fiber_switch:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        fnstsw  6(%rsp)
        movl    (%rsp), %eax
        movzwl  4(%rsp), %ecx
        movzwl  6(%rsp), %edx
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        cmpl    (%rsp), %eax
        jne     2f
1:      cmpw    4(%rsp), %cx
        jne     3f
4:      xorb    6(%rsp), %dl
        testb   $0x3f, %dl
        jne     5f
6:      addq    $8, %rsp
        .cfi_remember_state
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        /* All fibers switch from few call sites, so the return predictor is usually right; a jump
         * through a register would lose it for the callers as well. */
        ret
2:      .cfi_restore_state
        ldmxcsr (%rsp)
        jmp     1b
3:      fldcw   4(%rsp)
        jmp     4b
5:      fnclex                                  /* there is no load of the status word alone */
        movzbl  6(%rsp), %eax
        andl    $0x3f, %eax
        je      6b
        subq    $32, %rsp
        .cfi_adjust_cfa_offset 32
        fnstenv (%rsp)
        orb     %al, 4(%rsp)
        fldenv  (%rsp)
        addq    $32, %rsp
        .cfi_adjust_cfa_offset -32
        jmp     6b
        .cfi_endproc
        .size   fiber_switch, . - fiber_switch

/* The first return of a prepared context lands here, with the entry in rbx. There is no caller:
 * unwinders stop at the undefined rip. The nop belongs to it because they look up pc - 1. */
        .globl  fiber_switch_start
        .hidden fiber_switch_start
        .type   fiber_switch_start, @function
        .p2align 4
        .cfi_startproc
        .cfi_undefined rip
        nop
fiber_switch_start:
        endbr64
        xorl    %ebp, %ebp
        call    *%rbx
        ud2
        .cfi_endproc
        .size   fiber_switch_start, . - fiber_switch_start

/* void *fiber_switch_prepare(void *low, void *high, void (*entry)(void)) */
        .globl  fiber_switch_prepare
        .hidden fiber_switch_prepare
        .type   fiber_switch_prepare, @function
        .p2align 4
fiber_switch_prepare:
        .cfi_startproc
        endbr64
        leaq    -80(%rsi), %rax
        andq    $-16, %rax
        movl    $0x1f80, (%rax)                 /* as a process starts: no flag is raised */
        movl    $0x037f, 4(%rax)
        movq    $0, 8(%rax)
        movq    $0, 16(%rax)
        movq    $0, 24(%rax)
        movq    $0, 32(%rax)
        movq    %rdx, 40(%rax)                  /* rbx */
        movq    $0, 48(%rax)                    /* rbp */
        leaq    fiber_switch_start(%rip), %rcx
        movq    %rcx, 56(%rax)
        movq    $0, 64(%rax)
        movq    $0, 72(%rax)
        ret
        .cfi_endproc
        .size   fiber_switch_prepare, . - fiber_switch_prepare
