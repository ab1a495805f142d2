/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions of x86-64 and the register rax: those that compilers put behind a call. Bytes of it
 * alone (al, ah, ax) do not overwrite it; such instructions are not understood.
 */
#include <string.h>

#include "mpi/check/result_use.h"

typedef struct {
    const unsigned char *bytes;
    size_t at; /* the next one */
    bool is_short, is_wide, has_rex;
    unsigned rex;
    unsigned mod, reg, rm;
    bool uses_address; /* rax is part of an address in memory */
    bool is_local;     /* memory below rbp, which unoptimized code has as frame pointer: */
    int64_t place;
} text_t;

static unsigned next(text_t *t)
{
    return t->at < CHECK_CODE_LONGEST ? t->bytes[t->at++] : 0;
}

static int64_t number(text_t *t, int size)
{
    uint32_t value = 0;

    for (int i = 0; i < size; i++)
        value |= (uint32_t)next(t) << 8 * i;
    return size == 1 ? (int8_t)value : (int32_t)value;
}

static check_code_t unknown(void)
{
    return (check_code_t){.kind = CHECK_CODE_UNKNOWN};
}

static check_code_t plain(bool reads, bool writes)
{
    return (check_code_t){.kind = CHECK_CODE_PLAIN, .reads = reads, .writes = writes};
}

/* Read the operands after the opcode: two registers, or one and a place in memory. */
static void read_operands(text_t *t)
{
    unsigned byte = next(t);

    t->mod = byte >> 6;
    t->reg = (byte >> 3 & 7) | (t->rex & 4) << 1;
    t->rm = (byte & 7) | (t->rex & 1) << 3;
    if (t->mod == 3)
        return;
    if ((byte & 7) == 4) {
        unsigned sib = next(t);
        unsigned base = (sib & 7) | (t->rex & 1) << 3, index = (sib >> 3 & 7) | (t->rex & 2) << 2;
        bool has_base = (sib & 7) != 5 || t->mod != 0;

        t->uses_address = (has_base && base == 0) || index == 0;
        t->at += has_base ? 0 : 4;
    } else {
        bool is_relative = t->mod == 0 && (byte & 7) == 5;

        t->uses_address = !is_relative && t->rm == 0;
        t->at += is_relative ? 4 : 0;
    }
    t->place = t->mod == 0 ? 0 : number(t, t->mod == 1 ? 1 : 4);
    t->is_local = t->mod != 0 && (byte & 7) == 5 && t->rm == 5 && t->place < 0;
}

static bool has_rm(const text_t *t)
{
    return t->mod == 3 ? t->rm == 0 : t->uses_address;
}

/* Is it the low byte of a register? Without REX, number 4 is ah. */
static bool is_low(const text_t *t, unsigned reg)
{
    return reg == 0 || (reg == 4 && !t->has_rex);
}

/* Both operands are read; the register `written` is, too. */
static check_code_t compute(text_t *t, bool is_byte)
{
    read_operands(t);
    if (is_byte && (is_low(t, t->reg) || (t->mod == 3 && is_low(t, t->rm))))
        return unknown();
    return plain(t->reg == 0 || has_rm(t), false);
}

/* add, or, adc, sbb, and, sub, xor, cmp */
static check_code_t arithmetic(text_t *t, unsigned opcode)
{
    unsigned form = opcode & 7, operation = opcode >> 3;
    check_code_t code;

    if (form > 3)
        return unknown(); /* of the register itself */
    code = compute(t, (form & 1) == 0);
    if ((operation == 6 || operation == 5) && (form & 1) == 1 && t->mod == 3 && t->reg == 0 &&
        t->rm == 0 && !t->is_short)
        return plain(false, true); /* the usual 0 */
    return code;
}

/* The register is written, the other operand read. */
static check_code_t load(text_t *t, bool is_byte_source)
{
    read_operands(t);
    if (t->is_short && t->reg == 0)
        return unknown();
    if (is_byte_source && t->mod == 3 && is_low(t, t->rm))
        return unknown();
    return plain(has_rm(t), t->reg == 0);
}

static check_code_t store(text_t *t, bool is_byte)
{
    read_operands(t);
    if (is_byte && (is_low(t, t->reg) || (t->mod == 3 && is_low(t, t->rm))))
        return unknown();
    if (t->is_short && t->mod == 3 && t->rm == 0)
        return unknown();
    return plain(t->reg == 0 || t->uses_address, t->mod == 3 && t->rm == 0);
}

/* A constant follows the one operand. */
static check_code_t with_constant(text_t *t, bool is_byte, int size, bool is_move)
{
    read_operands(t);
    t->at += (size_t)size;
    if (is_byte && t->mod == 3 && is_low(t, t->rm))
        return unknown();
    if (is_move && t->mod == 3)
        return t->is_short && t->rm == 0 ? unknown() : plain(false, t->rm == 0);
    return plain(has_rm(t), false);
}

static check_code_t jump(text_t *t, int size, bool is_branch)
{
    int64_t distance = number(t, size);

    return (check_code_t){.kind = is_branch ? CHECK_CODE_BRANCH : CHECK_CODE_JUMP,
                          .target = distance}; /* from its end, until it is known */
}

/* Opcodes behind 0f. */
static check_code_t decode_two(text_t *t)
{
    static const unsigned char vector[] = {0x10, 0x11, 0x12, 0x14, 0x16, 0x28, 0x29, 0x2e, 0x2f,
                                           0x51, 0x54, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d,
                                           0x5e, 0x5f, 0x6f, 0x7f, 0xd6, 0xef, 0xfe};
    unsigned opcode = next(t);

    if (opcode >= 0x80 && opcode <= 0x8f)
        return jump(t, 4, true);
    if (opcode == 0x1e || opcode == 0x1f) { /* endbr64, nop */
        read_operands(t);
        return plain(false, false);
    }
    if (opcode == 0xb6 || opcode == 0xbe)
        return load(t, true);
    if (opcode == 0xb7 || opcode == 0xbf || opcode == 0x2c || opcode == 0x2d)
        return opcode < 0x30 && t->bytes[0] == 0x66 ? unknown() : load(t, false);
    if (opcode == 0xaf || (opcode >= 0x40 && opcode <= 0x4f))
        return compute(t, false);
    if (opcode == 0x2a || opcode == 0x6e) { /* from a register */
        read_operands(t);
        return plain(has_rm(t), false);
    }
    if (memchr(vector, (int)opcode, sizeof(vector)) == NULL)
        return unknown();
    read_operands(t);
    return plain(t->uses_address, false);
}

/* Decode an instruction of the groups 0xf7 and 0xff: test, not, neg, inc, dec, push and indirect
 * calls. */
static check_code_t decode_group(text_t *t, unsigned opcode)
{
    size_t start = t->at;

    read_operands(t);
    if (opcode == 0xff && t->reg % 8 == 2)
        return has_rm(t) ? plain(true, false) : (check_code_t){.kind = CHECK_CODE_CALL};
    if (opcode == 0xff && (t->reg % 8 <= 1 || t->reg % 8 == 6))
        return plain(has_rm(t), false);
    if (opcode == 0xf7 && t->reg % 8 == 0) {
        t->at = start;
        return with_constant(t, false, t->is_short ? 2 : 4, false);
    }
    if (opcode == 0xf7 && (t->reg % 8 == 2 || t->reg % 8 == 3))
        return plain(has_rm(t), false);
    return unknown();
}

/* Opcodes with a register of their own. */
static check_code_t decode_register(text_t *t, unsigned opcode)
{
    bool is_rax = (opcode & 7) == 0 && (t->rex & 1) == 0;

    if (opcode < 0x58) /* push */
        return plain(is_rax, false);
    if (opcode >= 0xb8) /* mov */
        t->at += t->is_wide ? 8 : t->is_short ? 2 : 4;
    return t->is_short && is_rax ? unknown() : plain(false, is_rax);
}

/* Decode an instruction with a one-byte opcode; unknown ones end the search. */
static check_code_t decode_one(text_t *t, unsigned opcode)
{
    int constant = t->is_short ? 2 : 4;

    if (opcode < 0x40)
        return arithmetic(t, opcode);
    if ((opcode >= 0x50 && opcode <= 0x5f) || (opcode >= 0xb8 && opcode <= 0xbf))
        return decode_register(t, opcode);
    if (opcode >= 0x70 && opcode <= 0x7f)
        return jump(t, 1, true);
    switch (opcode) {
    case 0x63:
    case 0x8b:
    case 0x8d:
        return load(t, false);
    case 0x69:
    case 0x6b: {
        check_code_t code = load(t, false);

        t->at += opcode == 0x69 ? (size_t)constant : 1;
        return code;
    }
    case 0x68:
        t->at += 4;
        return plain(false, false);
    case 0x6a:
        t->at += 1;
        return plain(false, false);
    case 0x80:
        return with_constant(t, true, 1, false);
    case 0x81:
        return with_constant(t, false, constant, false);
    case 0x83:
    case 0xc1:
        return with_constant(t, false, 1, false);
    case 0xc6:
        return with_constant(t, true, 1, true);
    case 0xc7:
        return with_constant(t, false, constant, true);
    case 0x84:
        return compute(t, true);
    case 0x85:
        return compute(t, false);
    case 0x88:
        return store(t, true);
    case 0x89:
        return store(t, false);
    case 0xd1:
    case 0xd3:
        return with_constant(t, false, 0, false);
    case 0x90:
    case 0xc9: /* leave */
        return plain(false, false);
    case 0xc3:
        return (check_code_t){.kind = CHECK_CODE_RETURN};
    case 0xe8:
        t->at += 4;
        return (check_code_t){.kind = CHECK_CODE_CALL};
    case 0xe9:
        return jump(t, 4, false);
    case 0xeb:
        return jump(t, 1, false);
    case 0xf7:
    case 0xff:
        return decode_group(t, opcode);
    default:
        return unknown();
    }
}

/* Note the use that an instruction makes of a local variable. */
static void note_place(const text_t *t, unsigned opcode, check_code_t *code)
{
    bool is_move = (opcode == 0x89 || opcode == 0xc7) && !t->is_short;

    if (!t->is_local || code->kind == CHECK_CODE_UNKNOWN)
        return;
    code->place = t->place;
    code->place_bytes = opcode == 0x0f ? 16 : t->is_wide ? 8 : 4;
    code->place_use = opcode == 0x8d                                 ? CHECK_PLACE_NAMED
                      : !is_move                                     ? CHECK_PLACE_READ
                      : opcode == 0x89 && t->reg == 0 && !t->is_wide ? CHECK_PLACE_KEEPS
                                                                     : CHECK_PLACE_WRITTEN;
}

/* Decode the instruction at `bytes` with its prefixes; unknown ones end the search. */
static check_code_t decode(const unsigned char *bytes)
{
    text_t t = {.bytes = bytes};
    unsigned opcode = next(&t);
    check_code_t code;

    while (opcode == 0x66 || opcode == 0xf2 || opcode == 0xf3 || opcode == 0x2e || opcode == 0x64) {
        t.is_short |= opcode == 0x66;
        if (t.at > 4)
            return unknown();
        opcode = next(&t);
    }
    if (opcode >= 0x40 && opcode <= 0x4f) {
        t.rex = opcode & 0xf;
        t.has_rex = true;
        t.is_wide = (opcode & 8) != 0;
        opcode = next(&t);
    }
    code = opcode == 0x0f ? decode_two(&t) : decode_one(&t, opcode);
    if (t.at > CHECK_CODE_LONGEST)
        return unknown();
    note_place(&t, opcode, &code);
    code.length = t.at;
    code.target += (int64_t)t.at;
    return code;
}

const check_machine_t check_x86_64 = {.decode = decode, .passes_result = false};
