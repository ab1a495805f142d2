/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch for aarch64 (AAPCS64). A context is the stack pointer of a stack that holds, upwards:
 *
 *   +0 x29 x30  +16 x19 .. x28  +96 d8 .. d15  +160 fpcr  +168 fpsr
 *
 * Writing fpcr (the modes) or fpsr (the exception flags) synchronises the floating-point pipeline,
 * so each is written only when it differs. Flags stay raised, so contexts that compute soon have
 * the same ones.
 */
        .section .note.GNU-stack, "", %progbits
        .text
        .globl  fiber_switch
        .hidden fiber_switch
        .type   fiber_switch, %function
        .p2align 4
fiber_switch:
        .cfi_startproc
        hint    #34                             /* bti c */
        stp     x29, x30, [sp, #-176]!
        .cfi_def_cfa_offset 176
        .cfi_offset x29, -176
        .cfi_offset x30, -168
        stp     x19, x20, [sp, #16]
        .cfi_offset x19, -160
        .cfi_offset x20, -152
        stp     x21, x22, [sp, #32]
        .cfi_offset x21, -144
        .cfi_offset x22, -136
        stp     x23, x24, [sp, #48]
        .cfi_offset x23, -128
        .cfi_offset x24, -120
        stp     x25, x26, [sp, #64]
        .cfi_offset x25, -112
        .cfi_offset x26, -104
        stp     x27, x28, [sp, #80]
        .cfi_offset x27, -96
        .cfi_offset x28, -88
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mrs     x9, fpcr
        mrs     x12, fpsr
        stp     x9, x12, [sp, #160]
        mov     x10, sp
        str     x10, [x0]
        mov     sp, x1
        ldp     x11, x13, [sp, #160]
        cmp     x9, x11
        b.ne    2f
1:      cmp     x12, x13
        b.ne    3f
4:      ldp     d14, d15, [sp, #144]
        ldp     d12, d13, [sp, #128]
        ldp     d10, d11, [sp, #112]
        ldp     d8, d9, [sp, #96]
        ldp     x27, x28, [sp, #80]
        ldp     x25, x26, [sp, #64]
        ldp     x23, x24, [sp, #48]
        ldp     x21, x22, [sp, #32]
        ldp     x19, x20, [sp, #16]
        .cfi_remember_state
        ldp     x29, x30, [sp], #176
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        ret
2:      .cfi_restore_state
        msr     fpcr, x11
        b       1b
3:      msr     fpsr, x13
        b       4b
        .cfi_endproc
        .size   fiber_switch, . - fiber_switch

/* The first return of a prepared context lands here, with the entry in x19. There is no caller:
 * unwinders stop at the undefined x30. The nop belongs to it because they look up pc - 4. */
        .globl  fiber_switch_start
        .hidden fiber_switch_start
        .type   fiber_switch_start, %function
        .p2align 4
        .cfi_startproc
        .cfi_undefined x30
        nop
fiber_switch_start:
        hint    #36                             /* bti j */
        mov     x29, xzr
        mov     x30, xzr
        blr     x19
        brk     #1
        .cfi_endproc
        .size   fiber_switch_start, . - fiber_switch_start

/* void *fiber_switch_prepare(void *low, void *high, void (*entry)(void)) */
        .globl  fiber_switch_prepare
        .hidden fiber_switch_prepare
        .type   fiber_switch_prepare, %function
        .p2align 4
fiber_switch_prepare:
        .cfi_startproc
        hint    #34
        and     x0, x1, #-16
        sub     x0, x0, #192
        adrp    x9, fiber_switch_start
        add     x9, x9, :lo12:fiber_switch_start
        stp     xzr, x9, [x0]
        stp     x2, xzr, [x0, #16]
        stp     xzr, xzr, [x0, #32]
        stp     xzr, xzr, [x0, #48]
        stp     xzr, xzr, [x0, #64]
        stp     xzr, xzr, [x0, #80]
        stp     xzr, xzr, [x0, #96]
        stp     xzr, xzr, [x0, #112]
        stp     xzr, xzr, [x0, #128]
        stp     xzr, xzr, [x0, #144]
        stp     xzr, xzr, [x0, #160]            /* fpcr, fpsr: as a process starts */
        stp     xzr, xzr, [x0, #176]
        ret
        .cfi_endproc
        .size   fiber_switch_prepare, . - fiber_switch_prepare
