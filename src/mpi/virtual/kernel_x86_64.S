/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stubs in front of kernels, for x86_64 (System V ABI). Stub i leaves all arguments where they are,
 * calls virtual_kernel_called(i, registers, stack), and goes on in the function that this returns.
 * `registers` are rdi rsi rdx rcx r8 r9, `stack` the arguments behind them.
 */
        .section .note.GNU-stack, "", %progbits
        .text
        .globl  virtual_kernel_stubs
        .hidden virtual_kernel_stubs
        .type   virtual_kernel_stubs, %function
        .p2align 4
virtual_kernel_stubs:
        .set    number, 0
        .rept   1024                            /* as in kernels.c */
        .p2align 4
        movl    $number, %r11d
        jmp     kernel_called
        .set    number, number + 1
        .endr
        .size   virtual_kernel_stubs, . - virtual_kernel_stubs

        .type   kernel_called, %function
        .p2align 4
kernel_called:
        .cfi_startproc
        subq    $184, %rsp
        .cfi_adjust_cfa_offset 184
        movq    %rdi, 0(%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movups  %xmm0, 48(%rsp)
        movups  %xmm1, 64(%rsp)
        movups  %xmm2, 80(%rsp)
        movups  %xmm3, 96(%rsp)
        movups  %xmm4, 112(%rsp)
        movups  %xmm5, 128(%rsp)
        movups  %xmm6, 144(%rsp)
        movups  %xmm7, 160(%rsp)
        movl    %r11d, %edi
        movq    %rsp, %rsi
        leaq    192(%rsp), %rdx
        call    virtual_kernel_called
        movq    %rax, %r11
        movq    0(%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        movq    24(%rsp), %rcx
        movq    32(%rsp), %r8
        movq    40(%rsp), %r9
        movups  48(%rsp), %xmm0
        movups  64(%rsp), %xmm1
        movups  80(%rsp), %xmm2
        movups  96(%rsp), %xmm3
        movups  112(%rsp), %xmm4
        movups  128(%rsp), %xmm5
        movups  144(%rsp), %xmm6
        movups  160(%rsp), %xmm7
        addq    $184, %rsp
        .cfi_adjust_cfa_offset -184
        jmp     *%r11
        .cfi_endproc
        .size   kernel_called, . - kernel_called
