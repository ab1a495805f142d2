/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that runs the code of a process. */
#include <math.h>

#include "program/c_library.h"
#include "program/process.h"

/* Returns the cell of a value of type `kind` in memory, sign-extended; reals become doubles. */
static inline int64_t load(const void *at, int kind)
{
    int64_t value = 0;
    int32_t number;
    float f;

    /* Most are of these two; a copy of a size that is known is one instruction. */
    if (kind == TYPE_I32) {
        memcpy(&number, at, sizeof(number));
        return number;
    }
    if (kind == TYPE_U64 || kind == TYPE_I64) {
        memcpy(&value, at, sizeof(value));
        return value;
    }
    memcpy(&value, at, kind == TYPE_F32 ? 0 : (size_t)type_basic((type_kind_t)kind)->size);
    switch (kind) {
    case TYPE_I8:
        return (int8_t)value;
    case TYPE_I16:
        return (int16_t)value;
    case TYPE_F32:
        memcpy(&f, at, sizeof(f));
        return real_cell(f);
    default: /* unsigned ones and those of 64 bits; little endian, as all we build for */
        return value;
    }
}

/* Writes a cell to memory as a value of type `kind`. */
static inline void store(void *at, int kind, int64_t value)
{
    int32_t number = (int32_t)value;
    float f;

    if (kind == TYPE_I32) {
        memcpy(at, &number, sizeof(number));
    } else if (kind == TYPE_F32) {
        f = (float)cell_real(value);
        memcpy(at, &f, sizeof(f));
    } else {
        memcpy(at, &value, (size_t)type_basic((type_kind_t)kind)->size);
    }
}

/* Is what was loaded not known? The value decides fast that it is. */
static inline bool is_blank(const void *at, int kind, int64_t value)
{
    if (kind == TYPE_I32)
        return value == PROCESS_BLANK_32;
    if (kind == TYPE_U64 || kind == TYPE_I64 || kind == TYPE_F64 || kind == TYPE_POINTER)
        return value == PROCESS_BLANK_64;
    return *(const uint8_t *)at == PROCESS_BLANK &&
           process_is_blank(at, (size_t)type_basic((type_kind_t)kind)->size);
}

/* Integers from a cell to a type: C's conversion. */
static int64_t narrow(int64_t value, int to)
{
    switch (to) {
    case TYPE_BOOL:
        return value != 0;
    case TYPE_I8:
        return (int8_t)value;
    case TYPE_U8:
        return (uint8_t)value;
    case TYPE_I16:
        return (int16_t)value;
    case TYPE_U16:
        return (uint16_t)value;
    case TYPE_I32:
        return (int32_t)value;
    case TYPE_U32:
        return (uint32_t)value;
    default:
        return value;
    }
}

/* Converts a cell between types; fails for reals outside the range of 64-bit integers. */
static bool convert(process_t *p, int from, int to, int64_t *cell)
{
    bool is_real = from == TYPE_F32 || from == TYPE_F64;
    double real = cell_real(*cell);

    if (to == TYPE_F32 || to == TYPE_F64) {
        if (!is_real)
            real = from == TYPE_U64 ? (double)(uint64_t)*cell : (double)*cell;
        *cell = real_cell(to == TYPE_F32 ? (float)real : real);
        return true;
    }
    if (!is_real) {
        *cell = narrow(*cell, to);
        return true;
    }
    if (to == TYPE_BOOL) {
        *cell = real != 0;
        return true;
    }
    if (to == TYPE_U64 && real >= 0x1p63 && real < 0x1p64) {
        *cell = (int64_t)(uint64_t)real;
        return true;
    }
    if (!(real > -0x1p63 && real < 0x1p63))
        return process_fail(p, "%g does not fit into an integer", real);
    *cell = narrow((int64_t)real, to);
    return true;
}

/* Enlarges the operand stack to at least `depth` cells. */
static bool grow_stack(process_t *p, int32_t depth)
{
    int32_t capacity = p->stack_capacity;
    int64_t *stack;

    while (capacity < depth)
        capacity *= 2;
    stack = xy_realloc_array(p->stack, (size_t)capacity, sizeof(*stack));
    if (stack == NULL)
        return process_fail_memory(p);
    p->stack = stack;
    p->stack_capacity = capacity;
    return true;
}

/* Enlarges the memory of variables to twice `need` bytes, up to the limit of the configuration. */
static bool grow_memory(process_t *p, uint64_t need)
{
    uint64_t capacity = need * 2;
    uint8_t *memory;

    if (need > p->config->stack_limit)
        return process_fail(p, "more than %llu MiB of variables: a recursion without end?",
                            (unsigned long long)(p->config->stack_limit >> 20));
    memory = xy_realloc(p->memory, capacity);
    if (memory == NULL)
        return process_fail_memory(p);
    p->memory = memory;
    p->capacity = capacity;
    return true;
}

/* The address may be of the frame of a function that has just returned a struct: its memory is
 * still there, below the capacity. */
static bool copy_struct(process_t *p, uint64_t to, uint64_t from, uint64_t size)
{
    bool is_gone = from >= p->used && from + size <= p->capacity;
    const void *source = is_gone ? p->memory + from : process_at(p, from, size);
    void *target = source != NULL ? process_at(p, to, size) : NULL;

    if (target == NULL)
        return false;
    memmove(target, source, size);
    return true;
}

enum { CALLS_MAX = 100000 }; /* of functions inside each other */

/* Enters a function: checks the limits, clears its frame and moves the arguments from the stack. */
static bool call(process_t *p, int32_t index)
{
    const function_t *f = &XY_VEC_AT(&p->config->code->functions, function_t, index);
    frame_t back = {.pc = p->pc, .function = p->function, .frame = p->frame};
    uint32_t base = (uint32_t)p->used;

    back.made = (int32_t)p->made.count;
    if (p->used + (uint64_t)f->frame > p->capacity && !grow_memory(p, p->used + (uint64_t)f->frame))
        return false;
    if (p->depth + f->depth > p->stack_capacity && !grow_stack(p, p->depth + f->depth))
        return false;
    if (p->frames.count >= CALLS_MAX)
        return process_fail(p, "%d calls inside each other: a recursion without end?", CALLS_MAX);
    if (xy_vec_append(&p->frames, &back) != XY_OK)
        return process_fail_memory(p);
    p->used += (uint64_t)f->frame;
    p->depth -= f->count;
    memset(p->memory + base, PROCESS_BLANK, (size_t)f->frame);
    for (int i = 0; i < f->count; i++)
        if (f->parameters[i]->kind == TYPE_STRUCT &&
            !copy_struct(p, base + (uint64_t)f->offsets[i], (uint64_t)p->stack[p->depth + i],
                         f->parameters[i]->size))
            return false;
    for (int i = 0; i < f->count; i++)
        if (f->parameters[i]->kind != TYPE_STRUCT)
            store(p->memory + base + f->offsets[i],
                  f->parameters[i]->kind == TYPE_POINTER ? TYPE_U64 : f->parameters[i]->kind,
                  p->stack[p->depth + i]);
    p->frame = base;
    p->function = index;
    p->pc = f->entry;
    return true;
}

/* Leaves a function: frees the blocks made in it and restores the frame of the caller. */
static void give_back(process_t *p)
{
    frame_t back = XY_VEC_AT(&p->frames, frame_t, p->frames.count - 1);

    while (p->made.count > (size_t)back.made) {
        process_release(p, (uint64_t)XY_VEC_AT(&p->made, int32_t, p->made.count - 1)
                               << PROCESS_BLOCK_BITS);
        xy_vec_pop(&p->made);
    }
    xy_vec_pop(&p->frames);
    p->used = p->frame;
    p->pc = back.pc;
    p->function = back.function;
    p->frame = back.frame;
}

/* An array that goes with its frame. */
static bool make_array(process_t *p, int64_t bytes, int32_t offset)
{
    uint64_t address;
    int32_t number;

    if (bytes < 0)
        return process_fail(p, "an array of a negative length");
    address = process_allocate(p, (uint64_t)bytes);
    number = (int32_t)(address >> PROCESS_BLOCK_BITS);
    if (address == 0)
        return false;
    if (xy_vec_append(&p->made, &number) != XY_OK)
        return process_fail_memory(p);
    memcpy(p->memory + p->frame + offset, &address, 8);
    return true;
}

static bool index_array(process_t *p, const code_dim_t *dim, int64_t *address, int64_t i)
{
    if (dim->count >= 0 && (i < 0 || i >= dim->count))
        return process_fail(p, "index %lld of an array of %lld", (long long)i,
                            (long long)dim->count);
    *address = (int64_t)((uint64_t)*address + (uint64_t)i * dim->size);
    return true;
}

/* Fails with a list of all unknown values that were not given. */
static bool fail_unknown(process_t *p)
{
    const xy_vec_t *unknowns = &p->config->code->unknowns;
    xy_text_t list = XY_TEXT_INIT;

    for (size_t i = 0; i < unknowns->count; i++) {
        const code_unknown_t *u = &XY_VEC_AT(unknowns, code_unknown_t, i);

        if (!u->is_given)
            xy_text_addf(&list, "%s %s (line %ld: %s)", list.length > 0 ? "," : "", u->name,
                         u->place.line, u->reason);
    }
    if (list.failed)
        process_fail_memory(p);
    else
        process_fail(p, "not known:%s; give it with --assume NAME=VALUE",
                     list.s != NULL ? list.s : "");
    xy_text_cleanup(&list);
    return false;
}

/* A value that is not known, where the driver has it. */
static bool ask(process_t *p, int32_t unknown, int64_t *top)
{
    double value;

    if (p->config->ops->recorded == NULL || !p->config->ops->recorded(p, unknown, &value))
        return p->is_over ? false : fail_unknown(p);
    *top = real_cell(value);
    p->depth++;
    return true;
}

static bool fail_passes(process_t *p)
{
    return process_fail(p,
                        "loops have made %lld passes; raise --limit if this is not an endless loop",
                        (long long)p->passes);
}

/* Wrapping as the hardware does: what overflows is undefined in C anyway. */
#define CELL_I32(v) ((int64_t)(int32_t)(v))
#define CELL_U32(v) ((int64_t)(uint32_t)(v))
#define CELL_I64(v) ((int64_t)(v))
#define CELL_U64(v) ((int64_t)(v))
#define CELL_F32(v) real_cell((float)(v))
#define CELL_F64(v) real_cell(v)
#define ARG_I32(c)  ((uint64_t)(c))
#define ARG_U32(c)  ((uint64_t)(c))
#define ARG_I64(c)  ((uint64_t)(c))
#define ARG_U64(c)  ((uint64_t)(c))
#define ARG_F32(c)  cell_real(c)
#define ARG_F64(c)  cell_real(c)
/* As the type orders them. */
#define ORD_I32(c) (c)
#define ORD_U32(c) (c)
#define ORD_I64(c) (c)
#define ORD_U64(c) ((uint64_t)(c))
#define ORD_F32(c) cell_real(c)
#define ORD_F64(c) cell_real(c)

#define BINARY(name, kind, sign)                                                                   \
    case OP_##name##_##kind:                                                                       \
        top--;                                                                                     \
        top[-1] = CELL_##kind(ARG_##kind(top[-1]) sign ARG_##kind(top[0]));                        \
        break;
#define ADD(op, kind)      BINARY(op, kind, +)
#define SUBTRACT(op, kind) BINARY(op, kind, -)
#define MULTIPLY(op, kind) BINARY(op, kind, *)
#define COMPARE(name, kind, sign)                                                                  \
    case OP_##name##_##kind:                                                                       \
        top--;                                                                                     \
        top[-1] = ORD_##kind(top[-1]) sign ORD_##kind(top[0]);                                     \
        break;
#define LESS(op, kind)       COMPARE(op, kind, <)
#define LESS_EQUAL(op, kind) COMPARE(op, kind, <=)
#define EQUAL(op, kind)      COMPARE(op, kind, ==)
#define NOT_EQUAL(op, kind)  COMPARE(op, kind, !=)
#define LOWER(name, kind)                                                                          \
    case OP_##name##_##kind:                                                                       \
        top--;                                                                                     \
        if (ORD_##kind(top[0]) < ORD_##kind(top[-1]))                                              \
            top[-1] = top[0];                                                                      \
        break;
#define HIGHER(name, kind)                                                                         \
    case OP_##name##_##kind:                                                                       \
        top--;                                                                                     \
        if (ORD_##kind(top[0]) > ORD_##kind(top[-1]))                                              \
            top[-1] = top[0];                                                                      \
        break;
#define NEGATE_F(kind)                                                                             \
    case OP_NEGATE_##kind:                                                                         \
        top[-1] = CELL_##kind(-cell_real(top[-1]));                                                \
        break;
#define NEGATE_I(op, kind)                                                                         \
    case OP_NEGATE_##kind:                                                                         \
        top[-1] = CELL_##kind(0 - (uint64_t)top[-1]);                                              \
        break;
#define DIVIDE(op, kind)                                                                           \
    case OP_DIVIDE_##kind:                                                                         \
        top--;                                                                                     \
        if (top[0] == 0) {                                                                         \
            p->pc = (int32_t)(next - insns);                                                       \
            process_fail(p, "a division by zero");                                                 \
            goto out;                                                                              \
        }                                                                                          \
        top[-1] = top[0] == -1 && ORD_##kind(top[0]) < 1                                           \
                      ? CELL_##kind(0 - (uint64_t)top[-1])                                         \
                      : CELL_##kind(ORD_##kind(top[-1]) / ORD_##kind(top[0]));                     \
        break;
#define MODULO(op, kind)                                                                           \
    case OP_MODULO_##kind:                                                                         \
        top--;                                                                                     \
        if (top[0] == 0) {                                                                         \
            p->pc = (int32_t)(next - insns);                                                       \
            process_fail(p, "a division by zero");                                                 \
            goto out;                                                                              \
        }                                                                                          \
        top[-1] = top[0] == -1 && ORD_##kind(top[0]) < 1                                           \
                      ? 0                                                                          \
                      : CELL_##kind(ORD_##kind(top[-1]) % ORD_##kind(top[0]));                     \
        break;
#define LEFT(op, kind)                                                                             \
    case OP_LEFT_##kind:                                                                           \
        top--;                                                                                     \
        top[-1] = CELL_##kind((uint64_t)top[-1] << (top[0] & 63));                                 \
        break;
#define RIGHT(op, kind)                                                                            \
    case OP_RIGHT_##kind:                                                                          \
        top--;                                                                                     \
        top[-1] = CELL_##kind(ORD_##kind(top[-1]) >> (top[0] & 63));                               \
        break;

static inline uint64_t size_of(int kind)
{
    return kind == TYPE_I32 ? 4 : kind == TYPE_POINTER ? 8 : type_basic((type_kind_t)kind)->size;
}

static inline bool load_far(process_t *p, int kind, int64_t *top)
{
    const void *at = process_at(p, (uint64_t)top[-1], size_of(kind));

    if (at == NULL)
        return false;
    top[-1] = load(at, kind == TYPE_POINTER ? TYPE_U64 : kind);
    return !is_blank(at, kind, top[-1]) || process_fail_blank(p);
}

/* Instructions about addresses and functions, which change more than the stack. False: stop. */
static bool run_other(process_t *p, const insn_t *insn, int64_t *top)
{
    const code_t *code = p->config->code;
    const code_site_t *site;
    void *at;

    switch (insn->op) {
    case OP_STORE:
        at = process_at(p, (uint64_t)top[-2], size_of(insn->x));
        if (at == NULL)
            return false;
        store(at, insn->x == TYPE_POINTER ? TYPE_U64 : insn->x, top[-1]);
        top[-2] = top[-1];
        p->depth--;
        return true;
    case OP_COPY:
        p->depth--;
        return copy_struct(p, (uint64_t)top[-2], (uint64_t)top[-1], (uint64_t)insn->arg);
    case OP_CALL:
        return call(p, insn->arg);
    case OP_LIBRARY:
        top[-insn->x] = library[insn->arg].run(p, top - insn->x);
        p->depth += 1 - insn->x;
        return !p->is_over;
    case OP_NEW:
        p->depth--;
        return make_array(p, top[-1], insn->arg);
    case OP_UNKNOWN:
        return fail_unknown(p);
    case OP_RECORDED:
        return ask(p, insn->arg, top);
    default:
        break;
    }
    site = &XY_VEC_AT(&code->sites, code_site_t, insn->arg);
    if (insn->op == OP_MPI) {
        if (!p->config->ops->mpi(p, site, top - site->count))
            return false;
    } else {
        double sizes[XY_MPI_ARGS_MAX] = {1};

        for (int i = 0; i < site->count; i++)
            sizes[i] = cell_real(top[i - site->count]);
        if (!(insn->op == OP_KERNEL ? p->config->ops->kernel(p, site, sizes)
                                    : p->config->ops->compute(p, site, sizes[0])))
            return false;
    }
    p->phase = 0;
    p->depth -= site->count;
    return !p->is_over;
}

/* A variable of the frame. */
#define LOCAL_AT(type, offset) (*(type *)(void *)(frame + (offset)))
#define LOCAL(type)            LOCAL_AT(type, insn->arg)

/* Instructions that were fused: their operands are those of the ones behind. */
#define STEP(value, other, target, count)                                                          \
    if (LOCAL_AT(int32_t, (value)->arg) == PROCESS_BLANK_32)                                       \
        goto blank;                                                                                \
    LOCAL_AT(int32_t, (target)->arg) =                                                             \
        (int32_t)((uint32_t)LOCAL_AT(int32_t, (value)->arg) + (uint32_t)(other)->arg);             \
    next += (count);                                                                               \
    break;
#define UNLESS_LESS(limit)                                                                         \
    if (LOCAL(int32_t) == PROCESS_BLANK_32 || (limit) == PROCESS_BLANK_32)                         \
        goto blank;                                                                                \
    next = LOCAL(int32_t) < (limit) ? next + 3 : insns + insn[3].arg;                              \
    break;

/* The value of an element: INDEX and LOAD, which stand at `index` and behind it. */
#define VALUE(index, i, count)                                                                     \
    next += (count);                                                                               \
    p->pc = (int32_t)(next - insns);                                                               \
    if (!index_array(p, &dims[(index)->arg], top, i))                                              \
        goto out;                                                                                  \
    top++;                                                                                         \
    if (!load_far(p, (index)[1].x, top))                                                           \
        goto out;                                                                                  \
    break;

/* Run until something stops it; p->pc is then the instruction that did. Arithmetic on cells is the
 * same for several types.
 * NOLINTBEGIN(bugprone-branch-clone,misc-redundant-expression) */
static void run(process_t *p)
{
    const insn_t *insns = p->config->code->insns.data;
    const int64_t *pool = p->config->code->pool.data;
    const code_dim_t *dims = p->config->code->dims.data;
    int64_t *top = p->stack + p->depth, swap;
    uint8_t *frame = p->memory + p->frame;
    const insn_t *next = insns + p->pc;

    for (;;) {
        const insn_t *insn = next++;

        switch ((op_t)insn->op) {
        case OP_CONSTANT:
            *top++ = insn->arg;
            break;
        case OP_POOL:
            *top++ = pool[insn->arg];
            break;
        case OP_ADDRESS_LOCAL:
            *top++ = (int64_t)p->frame + insn->arg;
            break;
        case OP_ADDRESS_GLOBAL:
            *top++ = insn->arg;
            break;
        case OP_LOCAL_I32:
            *top = LOCAL(int32_t);
            if (*top++ == PROCESS_BLANK_32)
                goto blank;
            break;
        case OP_LOCAL_64:
            *top = LOCAL(int64_t);
            if (*top++ == PROCESS_BLANK_64)
                goto blank;
            break;
        case OP_LOCAL:
            *top = load(frame + insn->arg, insn->x);
            if (is_blank(frame + insn->arg, insn->x, *top++))
                goto blank;
            break;
        case OP_SET_LOCAL_I32:
            LOCAL(int32_t) = (int32_t)top[-1];
            break;
        case OP_SET_LOCAL_64:
            LOCAL(int64_t) = top[-1];
            break;
        case OP_SET_LOCAL:
            store(frame + insn->arg, insn->x, top[-1]);
            break;
        case OP_GLOBAL:
            *top = load(p->memory + insn->arg, insn->x == TYPE_POINTER ? TYPE_U64 : insn->x);
            if (is_blank(p->memory + insn->arg, insn->x, *top++))
                goto blank;
            break;
        case OP_SET_GLOBAL:
            store(p->memory + insn->arg, insn->x == TYPE_POINTER ? TYPE_U64 : insn->x, top[-1]);
            break;
        case OP_INDEX:
            top--;
            p->pc = (int32_t)(next - insns);
            if (!index_array(p, &dims[insn->arg], &top[-1], top[0]))
                goto out;
            break;
        case OP_OFFSET:
            top[-1] += insn->arg;
            break;
        case OP_DUP:
            top[0] = top[-1];
            top++;
            break;
        case OP_POP:
            top--;
            break;
        case OP_SWAP:
            swap = top[-1];
            top[-1] = top[-2];
            top[-2] = swap;
            break;
        case OP_JUMP:
            next = insns + insn->arg;
            break;
        case OP_AGAIN:
            if (++p->passes > p->config->pass_limit) {
                p->pc = (int32_t)(next - insns);
                fail_passes(p);
                goto out;
            }
            next = insns + insn->arg;
            break;
        case OP_JUMP_ZERO:
            if (*--top == 0)
                next = insns + insn->arg;
            break;
        case OP_JUMP_NOT:
            if (*--top != 0)
                next = insns + insn->arg;
            break;
        case OP_TRUE_F64:
            top[-1] = cell_real(top[-1]) != 0;
            break;
        case OP_NOT:
            top[-1] = top[-1] == 0;
            break;
        case OP_CONVERT:
            p->pc = (int32_t)(next - insns);
            if (!convert(p, insn->x, insn->y, &top[-1]))
                goto out;
            break;
        case OP_END:
            p->is_over = true;
            goto out;
            CODE_ARITHMETIC(ADD, ADD)
            CODE_ARITHMETIC(SUBTRACT, SUBTRACT)
            CODE_ARITHMETIC(MULTIPLY, MULTIPLY)
            CODE_ARITHMETIC(LESS, LESS)
            CODE_ARITHMETIC(LESS_EQUAL, LESS_EQUAL)
            CODE_ARITHMETIC(EQUAL, EQUAL)
            CODE_ARITHMETIC(NOT_EQUAL, NOT_EQUAL)
            CODE_ARITHMETIC(LOWER, LOWER)
            CODE_ARITHMETIC(HIGHER, HIGHER)
            CODE_INTEGERS(NEGATE_I, NEGATE)
            NEGATE_F(F32)
            NEGATE_F(F64)
            BINARY(DIVIDE, F32, /)
            BINARY(DIVIDE, F64, /)
            CODE_INTEGERS(DIVIDE, DIVIDE)
            CODE_INTEGERS(MODULO, MODULO)
            CODE_INTEGERS(LEFT, LEFT)
            CODE_INTEGERS(RIGHT, RIGHT)
        case OP_AND:
            top--;
            top[-1] &= top[0];
            break;
        case OP_XOR:
            top--;
            top[-1] ^= top[0];
            break;
        case OP_OR:
            top--;
            top[-1] |= top[0];
            break;
        case OP_INVERT_I32:
        case OP_INVERT_64:
            top[-1] = ~top[-1];
            break;
        case OP_INVERT_U32:
            top[-1] = (uint32_t)~top[-1];
            break;
        case OP_RETURN: /* statements leave nothing on the stack: the value is where it belongs */
            give_back(p);
            next = insns + p->pc;
            frame = p->memory + p->frame;
            break;
        case OP_LOAD:
            p->pc = (int32_t)(next - insns);
            if (!load_far(p, insn->x, top))
                goto out;
            break;
        case OP_STEP_AND_DROP:
            STEP(&insn[1], &insn[2], &insn[4], 6)
        case OP_STEP:
            STEP(insn, &insn[1], &insn[3], 4)
        case OP_UNLESS_LESS:
            UNLESS_LESS(insn[1].arg)
        case OP_UNLESS_LESS_OF:
            UNLESS_LESS(LOCAL_AT(int32_t, insn[1].arg))
        case OP_ELEMENT:
            *top = (int64_t)p->frame + insn->arg;
            if (LOCAL_AT(int32_t, insn[1].arg) == PROCESS_BLANK_32)
                goto blank;
            next += 2;
            p->pc = (int32_t)(next - insns);
            if (!index_array(p, &dims[insn[2].arg], top++, LOCAL_AT(int32_t, insn[1].arg)))
                goto out;
            break;
        case OP_ELEMENT_VALUE:
            *top = (int64_t)p->frame + insn->arg;
            if (LOCAL_AT(int32_t, insn[1].arg) == PROCESS_BLANK_32)
                goto blank;
            VALUE(&insn[2], LOCAL_AT(int32_t, insn[1].arg), 3)
        case OP_CONSTANT_VALUE:
            *top = LOCAL(int64_t);
            if (*top == PROCESS_BLANK_64)
                goto blank;
            VALUE(&insn[2], insn[1].arg, 3)
        case OP_INDEX_VALUE:
            top -= 2;
            VALUE(insn, top[1], 1)
        case OP_PUT:
            LOCAL(int32_t) = (int32_t) * --top;
            next++;
            break;
        case OP_PUT_CONSTANT:
            LOCAL_AT(int32_t, insn[1].arg) = insn->arg;
            next += 2;
            break;
        case OP_ADD_CONSTANT:
            top[-1] = CELL_I32(ARG_I32(top[-1]) + ARG_I32(insn->arg));
            next++;
            break;
        case OP_LOCAL_CONSTANT:
            *top = LOCAL(int32_t);
            if (*top++ == PROCESS_BLANK_32)
                goto blank;
            *top++ = insn[1].arg;
            next++;
            break;
        case OP_LOCALS:
            top[0] = LOCAL(int32_t);
            top[1] = LOCAL_AT(int32_t, insn[1].arg);
            if (top[0] == PROCESS_BLANK_32 || top[1] == PROCESS_BLANK_32)
                goto blank;
            top += 2;
            next++;
            break;
        case OP_STORE:
        case OP_COPY:
        case OP_CALL:
        case OP_LIBRARY:
        case OP_NEW:
        case OP_MPI:
        case OP_KERNEL:
        case OP_COMPUTE:
        case OP_UNKNOWN:
        case OP_RECORDED:
            p->pc = (int32_t)(next - insns);
            p->depth = (int32_t)(top - p->stack);
            if (!run_other(p, insn, top))
                goto out;
            next = insns + p->pc;
            top = p->stack + p->depth;
            frame = p->memory + p->frame;
            break;
        case OP_COUNT:
        default: /* there is no other: no look at whether it is in the table */
            __builtin_unreachable();
        }
    }
blank:
    p->pc = (int32_t)(next - insns);
    process_fail_blank(p);
out:
    return;
}

/* NOLINTEND(bugprone-branch-clone,misc-redundant-expression) */

bool process_run(process_t *p)
{
    if (p->pc < 0) {
        p->pc = p->config->code->entry;
        p->depth = 2;
    } else {
        p->pc--; /* the call that stopped is made again */
    }
    run(p);
    return p->is_over;
}
