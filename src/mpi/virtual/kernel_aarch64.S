/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stubs in front of kernels, for aarch64 (AAPCS64); see kernel_x86_64.S. `registers` are x0 to x7.
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
        hint    #34                             /* bti c */
        mov     w16, #number
        b       kernel_called
        .set    number, number + 1
        .endr
        .size   virtual_kernel_stubs, . - virtual_kernel_stubs

        .type   kernel_called, %function
        .p2align 4
kernel_called:
        .cfi_startproc
        stp     x29, x30, [sp, #-224]!
        .cfi_def_cfa_offset 224
        .cfi_offset x29, -224
        .cfi_offset x30, -216
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        stp     x2, x3, [sp, #32]
        stp     x4, x5, [sp, #48]
        stp     x6, x7, [sp, #64]
        stp     q0, q1, [sp, #80]
        stp     q2, q3, [sp, #112]
        stp     q4, q5, [sp, #144]
        stp     q6, q7, [sp, #176]
        str     x8, [sp, #208]
        mov     w0, w16
        add     x1, sp, #16
        add     x2, sp, #224
        bl      virtual_kernel_called
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x3, [sp, #32]
        ldp     x4, x5, [sp, #48]
        ldp     x6, x7, [sp, #64]
        ldp     q0, q1, [sp, #80]
        ldp     q2, q3, [sp, #112]
        ldp     q4, q5, [sp, #144]
        ldp     q6, q7, [sp, #176]
        ldr     x8, [sp, #208]
        ldp     x29, x30, [sp], #224
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        br      x16
        .cfi_endproc
        .size   kernel_called, . - kernel_called
