/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions that often stand together are run as one: the first becomes another instruction that
 * does what all of them do and continues behind them. The others stay where they are, as its
 * operands and for jumps that lead to them, so nothing moves.
 *
 *   for (...; i < 4; i++)      12 instructions in each pass: LOCAL CONSTANT LESS JUMP_ZERO, ...,
 *                              LOCAL LOCAL CONSTANT ADD SET_LOCAL POP POP, AGAIN
 *                              3 when they are fused: UNLESS_LESS, ..., STEP_AND_DROP, AGAIN
 */
#include "program/code.h"

enum { FUSED_MAX = 7 };

typedef struct {
    op_t fused;
    int count;
    uint16_t ops[FUSED_MAX];
} pattern_t;

/* Longer ones first. */
static const pattern_t patterns[] = {
    {OP_STEP_AND_DROP,
     7,
     {OP_LOCAL_I32, OP_LOCAL_I32, OP_CONSTANT, OP_ADD_I32, OP_SET_LOCAL_I32, OP_POP, OP_POP}},
    {OP_STEP, 5, {OP_LOCAL_I32, OP_CONSTANT, OP_ADD_I32, OP_SET_LOCAL_I32, OP_POP}},
    {OP_UNLESS_LESS, 4, {OP_LOCAL_I32, OP_CONSTANT, OP_LESS_I32, OP_JUMP_ZERO}},
    {OP_UNLESS_LESS_OF, 4, {OP_LOCAL_I32, OP_LOCAL_I32, OP_LESS_I32, OP_JUMP_ZERO}},
    {OP_ELEMENT_VALUE, 4, {OP_ADDRESS_LOCAL, OP_LOCAL_I32, OP_INDEX, OP_LOAD}},
    {OP_CONSTANT_VALUE, 4, {OP_LOCAL_64, OP_CONSTANT, OP_INDEX, OP_LOAD}},
    {OP_PUT_CONSTANT, 3, {OP_CONSTANT, OP_SET_LOCAL_I32, OP_POP}},
    {OP_ELEMENT, 3, {OP_ADDRESS_LOCAL, OP_LOCAL_I32, OP_INDEX}},
    {OP_PUT, 2, {OP_SET_LOCAL_I32, OP_POP}},
    {OP_INDEX_VALUE, 2, {OP_INDEX, OP_LOAD}},
    {OP_ADD_CONSTANT, 2, {OP_CONSTANT, OP_ADD_I32}},
    {OP_LOCAL_CONSTANT, 2, {OP_LOCAL_I32, OP_CONSTANT}},
    {OP_LOCALS, 2, {OP_LOCAL_I32, OP_LOCAL_I32}},
};

static bool is_there(const insn_t *insn, size_t left, const pattern_t *p)
{
    bool is_same = (size_t)p->count <= left;

    for (int i = 0; i < p->count && is_same; i++)
        is_same = insn[i].op == p->ops[i];
    return is_same;
}

/* Fuse pairs of instructions; the instructions after the current one are still as they were
 * compiled. */
void code_fuse(code_t *code)
{
    insn_t *insns = code->insns.data;
    size_t count = code->insns.count;

    for (size_t at = 0; at < count; at++)
        for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++)
            if (is_there(&insns[at], count - at, &patterns[k])) {
                insns[at].op = (uint16_t)patterns[k].fused;
                break;
            }
}
