/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compiled description: code for a machine with a stack of 64-bit cells, which can stop at any
 * instruction and continue later.
 *
 * A cell holds an integer (32-bit ones extended as their type says), the bits of a double (of a
 * float, too, rounded as such) or an address. An address is the number of a block of memory and an
 * offset in it (memory.h): block 0 has the variables of the program and the frames of functions.
 */
#ifndef XY_PROGRAM_CODE_H
#define XY_PROGRAM_CODE_H

#include "program/expr.h"
#include "program/program.h"

/* Kinds of arithmetic: after the usual conversions there are six. */
#define CODE_ARITHMETIC(X, op) X(op, I32) X(op, U32) X(op, I64) X(op, U64) X(op, F32) X(op, F64)
#define CODE_INTEGERS(X, op)   X(op, I32) X(op, U32) X(op, I64) X(op, U64)
#define CODE_ENUM(op, kind)    OP_##op##_##kind,

typedef enum {
    OP_CONSTANT, /* push arg */
    OP_POOL,     /* push pool[arg] */
    OP_ADDRESS_LOCAL,
    OP_ADDRESS_GLOBAL, /* push the address of frame + arg, of arg */
    OP_LOCAL_I32,
    OP_LOCAL_64,
    OP_LOCAL, /* push the variable at frame + arg, of kind x */
    OP_SET_LOCAL_I32,
    OP_SET_LOCAL_64,
    OP_SET_LOCAL, /* store the top there and keep it */
    OP_GLOBAL,
    OP_SET_GLOBAL,
    OP_LOAD,   /* address -> value of kind x */
    OP_STORE,  /* address value -> value */
    OP_COPY,   /* address address -> address: arg bytes from the second to the first */
    OP_INDEX,  /* address i -> address + i * dims[arg].size */
    OP_OFFSET, /* address -> address + arg */
    OP_DUP,
    OP_POP,
    OP_SWAP,
    OP_JUMP,  /* to arg */
    OP_AGAIN, /* the same, backward: counted */
    OP_JUMP_ZERO,
    OP_JUMP_NOT, /* pop, jump if it is 0, is not 0 (integers) */
    OP_TRUE_F64, /* double -> 0 or 1 */
    OP_NOT,
    OP_CONVERT, /* from kind x to kind y of arithmetic or memory */
    OP_CALL,    /* functions[arg] */
    OP_RETURN,  /* with the top as the value */
    OP_LIBRARY, /* library[arg] of x arguments */
    OP_NEW,     /* bytes -> address of a block that goes with the frame; frame + arg has it */
    OP_MPI,     /* sites[arg] */
    OP_KERNEL,
    OP_COMPUTE,
    OP_UNKNOWN,  /* unknowns[arg] was not given */
    OP_RECORDED, /* push its value, of a recorded run, as a double */
    OP_END,      /* of the process */
    CODE_ARITHMETIC(CODE_ENUM, ADD) CODE_ARITHMETIC(CODE_ENUM, SUBTRACT)
        CODE_ARITHMETIC(CODE_ENUM, MULTIPLY) CODE_ARITHMETIC(CODE_ENUM, DIVIDE)
            CODE_INTEGERS(CODE_ENUM, MODULO) CODE_INTEGERS(CODE_ENUM, LEFT)
                CODE_INTEGERS(CODE_ENUM, RIGHT) CODE_ARITHMETIC(CODE_ENUM, LESS)
                    CODE_ARITHMETIC(CODE_ENUM, LESS_EQUAL) CODE_ARITHMETIC(CODE_ENUM, EQUAL)
                        CODE_ARITHMETIC(CODE_ENUM, NOT_EQUAL) CODE_ARITHMETIC(CODE_ENUM, NEGATE)
                            CODE_ARITHMETIC(CODE_ENUM, LOWER) CODE_ARITHMETIC(CODE_ENUM, HIGHER)
                                OP_AND,
    OP_XOR,
    OP_OR,
    OP_INVERT_I32,
    OP_INVERT_U32,
    OP_INVERT_64,
    /* Several of the above in one, which stand behind it (fuse.c). */
    OP_STEP_AND_DROP,  /* LOCAL_I32 LOCAL_I32 CONSTANT ADD_I32 SET_LOCAL_I32 POP POP */
    OP_STEP,           /* LOCAL_I32 CONSTANT ADD_I32 SET_LOCAL_I32 POP */
    OP_UNLESS_LESS,    /* LOCAL_I32 CONSTANT LESS_I32 JUMP_ZERO */
    OP_UNLESS_LESS_OF, /* LOCAL_I32 LOCAL_I32 LESS_I32 JUMP_ZERO */
    OP_ELEMENT,        /* ADDRESS_LOCAL LOCAL_I32 INDEX */
    OP_ELEMENT_VALUE,  /* ADDRESS_LOCAL LOCAL_I32 INDEX LOAD */
    OP_CONSTANT_VALUE, /* LOCAL_64 CONSTANT INDEX LOAD */
    OP_INDEX_VALUE,    /* INDEX LOAD */
    OP_PUT,            /* SET_LOCAL_I32 POP */
    OP_PUT_CONSTANT,   /* CONSTANT SET_LOCAL_I32 POP */
    OP_ADD_CONSTANT,   /* CONSTANT ADD_I32 */
    OP_LOCAL_CONSTANT, /* LOCAL_I32 CONSTANT */
    OP_LOCALS,         /* LOCAL_I32 LOCAL_I32 */
    OP_COUNT
} op_t;

typedef struct {
    uint16_t op;
    uint8_t x, y;
    int32_t arg;
} insn_t;

typedef struct {
    const char *name;
    const xy_node_t *node;
    const type_t *result;
    const type_t **parameters;
    int32_t *offsets; /* of the parameters in the frame */
    int32_t count;    /* of parameters */
    int32_t entry;    /* of its code */
    int32_t frame;    /* bytes */
    int32_t depth;    /* cells that it may push */
} function_t;

/* Where the variables of getopt() are; those of the program come behind. */
enum { CODE_OPTARG = 16, CODE_OPTIND = 24, CODE_OPTERR = 28, CODE_OPTOPT = 32 };

/* A statement that an instruction belongs to: what errors and the critical path name. */
typedef struct {
    const char *file;
    const char *what; /* the MPI call, the kernel; or NULL */
    long line;
} code_place_t;

typedef struct {
    uint64_t size;
    int64_t count; /* of the array; -1: not known */
} code_dim_t;

/* An <mpi>, <kernel> or <compute> element: its arguments are on the stack. */
typedef struct {
    const xy_node_t *node;
    const xy_mpi_call_t *call; /* of <mpi> */
    const char *name;          /* of <kernel>, <compute> */
    int32_t count;             /* of arguments */
    uint32_t given;            /* bit i: argument i is there, else its cell is 0 */
    /* Used by the driver. */
    void (*run)(void);
    int32_t extra, index, model;
} code_site_t;

typedef struct {
    const char *name, *reason;
    place_t place;
    bool is_given;
    bool is_memory; /* the elements of an array, asked for where they are read */
} code_unknown_t;

typedef struct {
    xy_arena_t *arena; /* of types, expressions and strings */
    types_t types;
    xy_vec_t insns;     /* of insn_t */
    xy_vec_t at;        /* of uint32_t: places, one for each insn */
    xy_vec_t pool;      /* of int64_t */
    xy_vec_t dims;      /* of code_dim_t */
    xy_vec_t places;    /* of code_place_t */
    xy_vec_t functions; /* of function_t */
    xy_vec_t sites;     /* of code_site_t */
    xy_vec_t unknowns;  /* of code_unknown_t */
    xy_text_t strings;  /* literals, which every process has behind its variables */
    uint64_t globals;   /* bytes of variables outside of functions */
    int32_t start;      /* function that sets them */
    int32_t main;       /* function */
    int32_t entry;      /* of a process */
} code_t;

typedef xy_predict_given_t code_assume_t;

/* Compile; errors are reported with file and line of the C program. The program must live as long
 * as the code. EINVAL, EPARSE, ENOMEM; EUSAGE: there is no unknown of the name of an assumption. */
xy_status_t code_compile(const xy_program_t *program, const code_assume_t *assumed, size_t count,
                         code_t **code_p);
void code_destroy(code_t *code); /* NULL is fine */
/* Let instructions that often stand together be run as one; what the code does is the same. */
void code_fuse(code_t *code);

/* All MPI calls of functions.def, in the order of their names. */
extern const xy_mpi_call_t program_mpi_calls[];
extern const size_t program_mpi_calls_count;

typedef struct {
    const char *name, *handle; /* "MPI_INT", "MPI_Datatype"; a number has no handle */
    int64_t value;
} program_constant_t;

/* The numbers and handles of mpi.h, in its order, ended by {0}. */
extern const program_constant_t program_mpi_constants[];

#endif
