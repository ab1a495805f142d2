/* SPDX-License-Identifier: BSD-3-Clause */
/* Code as compilers write it behind a call, and what it does with the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "mpi/check/result_use.h"

typedef struct {
    const char *text; /* in words */
    const check_machine_t *machine;
    const char *code; /* in hexadecimal digits */
    check_result_t use;
} case_t;

static const case_t cases[] = {
    {"mov w0, #0; ret", &check_aarch64, "00008052 c0035fd6", CHECK_RESULT_IGNORED},
    {"ret", &check_aarch64, "c0035fd6", CHECK_RESULT_LEFT},
    {"nop; ldp x29, x30, [sp], #32; ret", &check_aarch64, "1f2003d5 fd7bc2a8 c0035fd6",
     CHECK_RESULT_LEFT},
    {"str w0, [sp, #28]; mov w0, #0", &check_aarch64, "e01f00b9 00008052", CHECK_RESULT_USED},
    {"cbz w0, .+8; ret; mov w0, #0; ret", &check_aarch64, "40000034 c0035fd6 00008052 c0035fd6",
     CHECK_RESULT_USED},
    {"cmp w0, #0; b.eq .+8", &check_aarch64, "1f000071 40000054", CHECK_RESULT_USED},
    {"mov w1, w0; mov w0, #0", &check_aarch64, "e103002a 00008052", CHECK_RESULT_USED},
    {"mov w19, w1; adrp x0, .; ret", &check_aarch64, "f303012a 00000090 c0035fd6",
     CHECK_RESULT_IGNORED},
    {"bl .+16: the result is its argument", &check_aarch64, "04000094", CHECK_RESULT_USED},
    {"ldr x0, [x0]", &check_aarch64, "000040f9", CHECK_RESULT_USED},
    {"ldr x0, [sp, #8]", &check_aarch64, "e00740f9", CHECK_RESULT_IGNORED},
    {"ldp x0, x1, [sp]", &check_aarch64, "e00740a9", CHECK_RESULT_IGNORED},
    {"stp x1, x0, [sp]", &check_aarch64, "e10300a9", CHECK_RESULT_USED},
    {"movk w0, #1", &check_aarch64, "20008072", CHECK_RESULT_USED},
    {"b .+8; str w0, [sp]; mov w0, #0", &check_aarch64, "02000014 e00300b9 00008052",
     CHECK_RESULT_IGNORED},
    {"cmp w1, w2; b.ne .+8; mov w0, #0; str w0, [sp]", &check_aarch64,
     "3f00026b 41000054 00008052 e00300b9", CHECK_RESULT_USED},
    {"cmp w1, w2; b.ne .+12; mov w0, #0; ret; mov w0, #1", &check_aarch64,
     "3f00026b 61000054 00008052 c0035fd6 20008052", CHECK_RESULT_IGNORED},
    {"add w1, w1, #1; b .-4: for ever", &check_aarch64, "21040011 ffffff17", CHECK_RESULT_IGNORED},
    {"ccmp w1, w2, #0, ne; str w0, [sp]", &check_aarch64, "2010427a e00300b9", CHECK_RESULT_USED},
    {"svc #0", &check_aarch64, "010000d4", CHECK_RESULT_USED},
    {"mov eax, 0; leave; ret", &check_x86_64, "b800000000 c9 c3", CHECK_RESULT_IGNORED},
    {"xor eax, eax", &check_x86_64, "31c0", CHECK_RESULT_IGNORED},
    {"xor eax, ecx", &check_x86_64, "31c8", CHECK_RESULT_USED},
    {"test eax, eax; je", &check_x86_64, "85c0 7402", CHECK_RESULT_USED},
    {"cmp eax, 0", &check_x86_64, "83f800", CHECK_RESULT_USED},
    {"mov [rbp-4], eax", &check_x86_64, "8945fc", CHECK_RESULT_USED},
    {"mov [rbp-4], eax; call .+5; leave; ret", &check_x86_64, "8945fc e800000000 c9 c3",
     CHECK_RESULT_IGNORED},
    {"mov [rbp-4], eax; call .+5; mov [rbp-4], eax; leave; ret", &check_x86_64,
     "8945fc e800000000 8945fc c9 c3", CHECK_RESULT_IGNORED},
    {"mov [rbp-4], eax; cmp dword [rbp-4], 0", &check_x86_64, "8945fc 837dfc00", CHECK_RESULT_USED},
    {"mov [rbp-4], eax; mov eax, [rbp-8]; leave; ret", &check_x86_64, "8945fc 8b45f8 c9 c3",
     CHECK_RESULT_IGNORED},
    {"mov [rbp-4], eax; mov rax, [rbp-8]; leave; ret", &check_x86_64, "8945fc 488b45f8 c9 c3",
     CHECK_RESULT_USED},
    {"mov [rbp-4], eax; lea rdi, [rbp-8]; call .+5; leave; ret", &check_x86_64,
     "8945fc 488d7df8 e800000000 c9 c3", CHECK_RESULT_USED},
    {"mov [rbp-4], eax; lea rdi, [rbp-3]; leave; ret", &check_x86_64, "8945fc 488d7dfd c9 c3",
     CHECK_RESULT_IGNORED},
    {"mov [rbp-4], eax; je .+5; mov ecx, [rbp-4]; leave; ret", &check_x86_64,
     "8945fc 7403 8b4dfc c9 c3", CHECK_RESULT_USED},
    {"mov [rbp+8], eax; leave; ret: not local", &check_x86_64, "894508 c9 c3", CHECK_RESULT_USED},
    {"mov dword [rbp-4], 1; mov eax, [rbp-8]", &check_x86_64, "c745fc01000000 8b45f8",
     CHECK_RESULT_IGNORED},
    {"mov eax, [rax]", &check_x86_64, "8b00", CHECK_RESULT_USED},
    {"lea rax, [rip+16]", &check_x86_64, "488d0510000000", CHECK_RESULT_IGNORED},
    {"lea rdi, [rax+8]", &check_x86_64, "488d7808", CHECK_RESULT_USED},
    {"lea rdi, [rcx+rax*4]", &check_x86_64, "488d3c81", CHECK_RESULT_USED},
    {"mov r8d, [r8]; call .+5", &check_x86_64, "458b00 e800000000", CHECK_RESULT_IGNORED},
    {"call rax", &check_x86_64, "ffd0", CHECK_RESULT_USED},
    {"mov al, 1", &check_x86_64, "b001", CHECK_RESULT_USED},
    {"mov ax, 1", &check_x86_64, "66b80100", CHECK_RESULT_USED},
    {"cdqe", &check_x86_64, "4898", CHECK_RESULT_USED},
    {"push rax", &check_x86_64, "50", CHECK_RESULT_USED},
    {"push r8; pop rax", &check_x86_64, "4150 58", CHECK_RESULT_IGNORED},
    {"add rsp, 8; pop rbx; ret", &check_x86_64, "4883c408 5b c3", CHECK_RESULT_LEFT},
    {"jmp .+4; push rax; ret", &check_x86_64, "eb01 50 c3", CHECK_RESULT_LEFT},
    {"mov ebx, eax", &check_x86_64, "89c3", CHECK_RESULT_USED},
    {"mov eax, ebx", &check_x86_64, "89d8", CHECK_RESULT_IGNORED},
    {"movss xmm0, [rbp-4]; call .+5", &check_x86_64, "f30f1045fc e800000000", CHECK_RESULT_IGNORED},
    {"cpuid", &check_x86_64, "0fa2", CHECK_RESULT_USED},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]), ROOM = 64 };

typedef struct {
    unsigned char bytes[ROOM];
    size_t size;
} code_t;

static code_t code_of(const char *digits)
{
    code_t code = {.size = 0};
    unsigned byte;

    for (; *digits != '\0'; digits += 2) {
        digits += *digits == ' ';
        assert_int_equal(sscanf(digits, "%2x", &byte), 1);
        code.bytes[code.size++] = (unsigned char)byte;
    }
    return code;
}

static bool fetch(uint64_t address, unsigned char *bytes, void *argument)
{
    const code_t *code = argument;

    if (address >= code->size)
        return false;
    memset(bytes, 0, CHECK_CODE_LONGEST);
    memcpy(bytes, code->bytes + address,
           code->size - address < CHECK_CODE_LONGEST ? code->size - address : CHECK_CODE_LONGEST);
    return true;
}

static void test_cases(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        code_t code = code_of(cases[i].code);
        check_result_t use = check_result_use(cases[i].machine, 0, fetch, &code);

        if (use != cases[i].use)
            fail_msg("%s: %d", cases[i].text, (int)use);
    }
}

/* Code that ends before the register is read or written is not known. */
static void test_cut(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        code_t code = code_of(cases[i].code);

        code.size = 0;
        assert_int_equal(check_result_use(cases[i].machine, 0, fetch, &code), CHECK_RESULT_USED);
    }
}

/* Paths are followed for a while only. */
static void test_long(void **state)
{
    code_t nops = {.size = ROOM};

    (void)state;
    memset(nops.bytes, 0x90, ROOM);
    assert_int_equal(check_result_use(&check_x86_64, 0, fetch, &nops), CHECK_RESULT_USED);
    nops.bytes[ROOM - 1] = 0xc3;
    assert_int_equal(check_result_use(&check_x86_64, 0, fetch, &nops), CHECK_RESULT_LEFT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
