/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions of aarch64 and register 0. The names of groups and fields are those of the
 * architecture's manual (C4.1): all registers that a group may read are taken as read.
 */
#include <string.h>

#include "mpi/check/result_use.h"

static unsigned bits(uint32_t word, int high, int low)
{
    return word >> low & ((1u << (high - low + 1)) - 1);
}

static bool is_0(uint32_t word, int low)
{
    return bits(word, low + 4, low) == 0;
}

static int64_t offset_of(uint32_t word, int high, int low)
{
    uint32_t field = bits(word, high, low), sign = 1u << (high - low);

    return 4 * ((int64_t)(field ^ sign) - (int64_t)sign);
}

static check_code_t unknown(void)
{
    return (check_code_t){.kind = CHECK_CODE_UNKNOWN};
}

static check_code_t plain(bool reads, bool writes)
{
    return (check_code_t){.kind = CHECK_CODE_PLAIN, .reads = reads, .writes = writes, .length = 4};
}

/* Data processing, immediate: Rn at 5, Rd at 0. */
static check_code_t immediate(uint32_t word)
{
    unsigned group = bits(word, 25, 23), opc = bits(word, 30, 29);
    bool rn = is_0(word, 5), rd = is_0(word, 0);

    switch (group) {
    case 0:
    case 1: /* adr, adrp */
        return plain(false, rd);
    case 5: /* movn, movz, movk */
        return plain(opc == 3 && rd, rd);
    case 6: /* bitfields; bfm keeps bits */
        return plain(rn || (opc == 1 && rd), rd);
    case 7: /* extr */
        return plain(rn || is_0(word, 16), rd);
    default: /* add, sub, and, orr, eor */
        return plain(rn, rd);
    }
}

/* Decode a branch, a call, a return or one of few system instructions. */
static check_code_t branch(uint32_t word)
{
    check_code_t code = {.kind = CHECK_CODE_BRANCH, .length = 4};

    if (bits(word, 30, 26) == 0x05) { /* b, bl */
        code.kind = bits(word, 31, 31) != 0 ? CHECK_CODE_CALL : CHECK_CODE_JUMP;
        code.target = offset_of(word, 25, 0);
    } else if (bits(word, 31, 24) == 0x54) { /* b.cond */
        code.target = offset_of(word, 23, 5);
    } else if (bits(word, 30, 25) == 0x1a) { /* cbz, cbnz */
        code.reads = is_0(word, 0);
        code.target = offset_of(word, 23, 5);
    } else if (bits(word, 30, 25) == 0x1b) { /* tbz, tbnz */
        code.reads = is_0(word, 0);
        code.target = offset_of(word, 18, 5);
    } else if ((word & 0xfffffc1fu) == 0xd65f0000u) { /* ret */
        code.kind = CHECK_CODE_RETURN;
    } else if (word == 0xd503201fu || word == 0xd50323bfu || word == 0xd50323ffu) {
        return plain(false, false);           /* nop, autiasp, autibsp */
    } else if (bits(word, 31, 20) == 0xd53) { /* mrs */
        return plain(false, is_0(word, 0));
    } else {
        return unknown();
    }
    return code;
}

/* ldp, stp: Rt2 at 10, Rn at 5, Rt at 0. */
static check_code_t pair(uint32_t word)
{
    bool is_vector = bits(word, 26, 26) != 0, is_load = bits(word, 22, 22) != 0;
    bool touches = !is_vector && (is_0(word, 0) || is_0(word, 10));

    return plain(is_0(word, 5) || (touches && !is_load), touches && is_load);
}

/* Decode a load or store: whether it reads or writes register 0. */
static check_code_t load_store(uint32_t word)
{
    unsigned group = bits(word, 29, 27), opc = bits(word, 23, 22);
    bool is_vector = bits(word, 26, 26) != 0, rt = !is_vector && is_0(word, 0);
    bool is_load = is_vector ? (opc & 1) != 0 : opc != 0, has_rm = false;

    if (group == 3 && bits(word, 24, 24) == 0) /* of a literal */
        return bits(word, 31, 30) == 3 ? unknown() : plain(false, rt);
    if (group == 5)
        return pair(word);
    if (group != 7)
        return unknown();
    if (bits(word, 24, 24) == 0 && bits(word, 21, 21) != 0) {
        has_rm = bits(word, 11, 10) == 2;
        if (!has_rm)
            return unknown(); /* atomics */
    }
    if (!is_vector && bits(word, 31, 30) == 3 && opc >= 2)
        return unknown(); /* prefetches */
    return plain(is_0(word, 5) || (has_rm && is_0(word, 16)) || (rt && !is_load), rt && is_load);
}

/* Data processing, registers: Rm at 16, Ra at 10, Rn at 5, Rd at 0. */
static check_code_t registers(uint32_t word)
{
    unsigned group = bits(word, 28, 24);
    bool reads = is_0(word, 5) || is_0(word, 16), rd = is_0(word, 0);

    if (group == 0x1a && bits(word, 23, 21) == 2) /* ccmp: flags in the place of Rd */
        rd = false;
    if (group == 0x1b)
        reads = reads || is_0(word, 10);
    return plain(reads, rd);
}

/* Arithmetic between vector registers, and constants. */
static check_code_t vectors(uint32_t word)
{
    bool is_scalar = (word & 0xff200000u) == 0x1e200000u && bits(word, 15, 10) != 0;
    bool is_constant = (word & 0x9ff80400u) == 0x0f000400u;

    return is_scalar || is_constant ? plain(false, false) : unknown();
}

/* Decode the instruction at `bytes`; unknown ones end the search. */
static check_code_t decode(const unsigned char *bytes)
{
    uint32_t word;
    unsigned group;

    memcpy(&word, bytes, sizeof(word));
    group = bits(word, 28, 25);
    if ((group & 0xe) == 0x8)
        return immediate(word);
    if ((group & 0xe) == 0xa)
        return branch(word);
    if ((group & 0x5) == 0x4)
        return load_store(word);
    if ((group & 0x7) == 0x5)
        return registers(word);
    return (group & 0x7) == 0x7 ? vectors(word) : unknown();
}

const check_machine_t check_aarch64 = {.decode = decode, .passes_result = true};
