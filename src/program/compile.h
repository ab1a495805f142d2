/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler of descriptions, between its files. */
#ifndef XY_PROGRAM_COMPILE_H
#define XY_PROGRAM_COMPILE_H

#include "program/code.h"

typedef struct variable {
    const char *name;
    size_t length;
    const type_t *type; /* of arrays that are made when declared: a pointer to their elements */
    int32_t offset;
    bool is_global;
    struct variable *outer; /* the one declared before */
} variable_t;

/* Jumps out of a loop or switch that are not resolved yet: chained through their args. */
typedef struct jumps {
    int32_t breaks, continues; /* the last of each, -1: none */
    bool is_loop;
    struct jumps *outer;
} jumps_t;

/* The switch around: the jumps to its cases, in their order, and the next one. */
typedef struct cases {
    xy_vec_t jumps;
    size_t next;
    int32_t otherwise;
    bool has_default;
    struct cases *outer;
} cases_t;

/* A label of the function, and the jumps forward to it: chained through their args. */
typedef struct label {
    const char *name;
    int32_t at; /* -1: not there yet */
    int32_t jumps;
    place_t place; /* of the first jump */
    struct label *next;
} label_t;

typedef struct {
    code_t *code;
    const code_assume_t *assumed;
    size_t assumed_count;
    function_t *function; /* the function being compiled; its vector does not grow then */
    variable_t *scope;    /* visible variables, innermost first */
    jumps_t *jumps;
    cases_t *cases;
    label_t *labels;
    bool is_top;   /* outside of functions: variables are of the program */
    int32_t frame; /* bytes used by the variables of this block and those around it */
    int32_t depth; /* cells on the stack here */
    int32_t nesting, work;
    place_t place;
    uint32_t place_index;
    xy_status_t status; /* the first failure, which has been said */
} compiler_t;

/* Say what is wrong at this place, once; NULL. */
const type_t *compile_fail(compiler_t *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const type_t *compile_fail_memory(compiler_t *c);
/* Where the next instructions are from. */
void compile_at(compiler_t *c, const xy_node_t *node, const char *what);

int32_t emit(compiler_t *c, op_t op, int x, int y, int64_t arg);
int32_t emit_here(const compiler_t *c); /* the number of the next instruction */
void emit_undo(compiler_t *c);          /* the last one, which left the stack as deep as it was */
void emit_target(compiler_t *c, int32_t jump);
void emit_integer(compiler_t *c, int64_t value);
void emit_real(compiler_t *c, double value);
/* The top from one type to the other; false (reported): it cannot be. */
bool emit_convert(compiler_t *c, const type_t *from, const type_t *to);
/* The top becomes an integer that is 0 where C says false. */
bool emit_truth(compiler_t *c, const type_t *type);
void emit_load(compiler_t *c, const type_t *type);

/* Emit the value of `e`; its type, or NULL when it failed. Arrays and structs are their addresses.
 */
const type_t *compile_value(compiler_t *c, const expr_t *e);
/* The type that it would have; nothing is emitted. */
const type_t *compile_type_of(compiler_t *c, const expr_t *e);
/* The same, converted. */
bool compile_value_as(compiler_t *c, const expr_t *e, const type_t *type);
/* Emit the address of `e`; the type of what is there. `is_end`: an index may be one behind the
 * last.
 */
const type_t *compile_address(compiler_t *c, const expr_t *e, bool is_end);
const type_t *compile_assign(compiler_t *c, const expr_t *e);
/* Emit `to = from` of two bytes in memory, whose value is not needed; false: it is not that. The
 * byte may be a part of a value that nothing has set: it is copied as it is. An address is left. */
bool compile_byte_copy(compiler_t *c, const expr_t *e);
const type_t *compile_increment(compiler_t *c, const expr_t *e);
const type_t *compile_call(compiler_t *c, const expr_t *e);
/* Two values are on the stack, already of the same arithmetic type. */
const type_t *compile_operator(compiler_t *c, operator_t op, const type_t *type);
/* The type of both after the usual conversions. */
const type_t *compile_common(const type_t *a, const type_t *b);
const type_t *compile_promote(const type_t *type);

/* Is `e` at a place that is known now: a variable, or a member of one? */
typedef struct {
    bool is_global;
    int32_t offset;
    const type_t *type;
} direct_t;
bool compile_direct(const compiler_t *c, const expr_t *e, direct_t *direct_p);
void emit_direct(compiler_t *c, const direct_t *direct); /* its value */
/* The named constants of MPI and the C library: MPI_COMM_WORLD, NULL, INT_MAX. */
bool compile_constant(const char *name, size_t length, int64_t *value_p, const type_t **type_p);

/* Declare a variable of the block, or of the program, and set it. */
void compile_variable(compiler_t *c, const char *name, size_t length, const type_t *type,
                      const expr_t *value);
/* Room in the frame, or among the variables of the program. */
int32_t compile_reserve(compiler_t *c, uint64_t size, uint64_t align, bool is_global);
void compile_mpi(compiler_t *c, const xy_node_t *node);
void compile_kernel(compiler_t *c, const xy_node_t *node);

#endif
