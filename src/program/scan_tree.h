/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A C program as the scan sees it: clang's tree with names resolved, macros expanded and constants
 * evaluated. scan_clang.c makes it, and is the only file that knows clang.
 *
 * All of it lies in the arena of the scan and is freed with it.
 */
#ifndef XY_PROGRAM_SCAN_TREE_H
#define XY_PROGRAM_SCAN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct scan_type scan_type_t;
typedef struct scan_record scan_record_t;
typedef struct scan_decl scan_decl_t;
typedef struct scan_expr scan_expr_t;
typedef struct scan_stmt scan_stmt_t;
typedef struct scan_team scan_team_t; /* threads of OpenMP: scan_openmp.h */
typedef struct scan_node scan_node_t; /* an object in memory: scan_alias.h */

/* A piece of a source file: `first` and `last` are offsets of its first byte and behind its last.
 */
typedef struct {
    int file; /* number of the source, -1: none */
    long line;
    long first, last;
} scan_place_t;

typedef enum {
    SCAN_OTHER, /* functions, unions, complex numbers: no value that can be followed */
    SCAN_VOID,
    SCAN_INT,
    SCAN_REAL,
    SCAN_HANDLE, /* MPI_Comm and its like */
    SCAN_POINTER,
    SCAN_ARRAY,
    SCAN_STRUCT,
} scan_type_kind_t;

struct scan_type {
    scan_type_kind_t kind;
    long bytes; /* 0: not known */
    int align;
    bool is_unsigned, is_char, is_bool, is_enum, is_const;
    bool is_wide;          /* long double, which predictions do not compute with */
    bool is_code;          /* an integer: the number of a function that a pointer points to */
    const scan_type_t *of; /* pointer, array */
    long count;            /* array; -1: known at run time only */
    const scan_record_t *record;
    const char *handle; /* "MPI_Comm" */
};

typedef struct scan_field {
    const char *name;
    const scan_record_t *record;
    const scan_type_t *type;
    scan_node_t *node;
    int bits;      /* of a bit-field; -1: none */
    bool is_named; /* in an expression that is kept */
    struct scan_field *next;
} scan_field_t;

struct scan_record {
    const char *name;
    scan_field_t *fields;
    bool is_named, is_emitted;
    bool is_whole;   /* its layout matters: all members are there */
    bool has_shared; /* unions or bit-fields: no layout */
    bool is_cast;    /* memory of it is looked at through pointers of other types */
};

struct scan_decl {
    const char *name;
    const scan_type_t *type;
    scan_place_t at;
    bool is_function, is_global, is_static, is_extern, is_parameter;
    scan_expr_t *init;
    scan_expr_t *dims; /* sizes of an array known at run time, a list */
    /* Functions: */
    scan_decl_t *params, *next;
    const scan_type_t *result;
    scan_stmt_t *body; /* NULL: defined elsewhere */
    bool is_system;    /* of the C library or another system header */
    bool is_looked;    /* a search has been inside it */
    long id;
    const char *emitted;    /* its name in the description, when it is not `name` */
    scan_node_t *node;      /* the object; of a function: what it returns */
    bool is_named;          /* in an expression that is kept */
    bool is_kept;           /* a parameter that is part of the slice */
    struct scan_flow *flow; /* of a function: scan_slice.h */
};

typedef enum {
    SCAN_E_INT,    /* value; with a handle's type, its bits */
    SCAN_E_REAL,   /* real */
    SCAN_E_STRING, /* text, with its quotes */
    SCAN_E_NAME,   /* decl */
    SCAN_E_UNARY,  /* op a */
    SCAN_E_BINARY, /* a op b */
    SCAN_E_ASSIGN, /* a op= b; op 0 is plain */
    SCAN_E_STEP,   /* ++ and --: op '+' or '-', is_post */
    SCAN_E_CHOICE, /* a ? b : c */
    SCAN_E_CALL,   /* decl, or through a pointer when NULL; args */
    SCAN_E_INDEX,  /* a[b] */
    SCAN_E_MEMBER, /* a.text; a->text when a is a pointer */
    SCAN_E_CAST,   /* (type)a */
    SCAN_E_LIST,   /* { args }; text of an argument's `field` names a member */
    SCAN_E_OTHER,  /* text: what it is; args: what is done inside */
} scan_expr_kind_t;

/* Operators are their characters; these have two. */
enum {
    SCAN_OP_EQ = 256,
    SCAN_OP_NE,
    SCAN_OP_LE,
    SCAN_OP_GE,
    SCAN_OP_AND,
    SCAN_OP_OR,
    SCAN_OP_SHL,
    SCAN_OP_SHR,
    SCAN_OP_DEREF,
    SCAN_OP_ADDRESS,
    SCAN_OP_COMMA,
};

struct scan_expr {
    scan_expr_kind_t kind;
    int op;
    bool is_post;
    const scan_type_t *type;
    scan_place_t at;
    scan_expr_t *a, *b, *c;
    scan_expr_t *args, *next;
    scan_decl_t *decl;
    const char *text;
    const char *field; /* designated member in a list */
    bool has_place;    /* [index] = of a list: `place` */
    long long place;
    long long value;
    double real;
    scan_node_t *node;    /* the result of a call of malloc */
    bool is_kept;         /* an effect (assignment, step, call) that is part of the slice */
    bool is_unknown;      /* its value cannot be known */
    const char *stand_in; /* the variable that has it then */
};

typedef enum {
    SCAN_S_EMPTY,
    SCAN_S_EXPR,
    SCAN_S_DECL, /* decl, with its init */
    SCAN_S_BLOCK,
    SCAN_S_IF,
    SCAN_S_FOR, /* init; cond; step; body */
    SCAN_S_WHILE,
    SCAN_S_DO,
    SCAN_S_SWITCH,
    SCAN_S_CASE,    /* a label inside the block of a switch: cond is its value */
    SCAN_S_DEFAULT, /* the same for default: */
    SCAN_S_BREAK,
    SCAN_S_CONTINUE,
    SCAN_S_RETURN,
    SCAN_S_GOTO, /* and labels: is_label */
    SCAN_S_OTHER,
} scan_stmt_kind_t;

struct scan_stmt {
    scan_stmt_kind_t kind;
    scan_place_t at;
    scan_expr_t *cond, *step;
    scan_stmt_t *init, *body, *other; /* other: else */
    scan_decl_t *decl;
    scan_stmt_t *next;
    bool is_kept;
    bool is_forced; /* a loop that is kept for the costs of those inside */
    bool is_label;
    const char *label;      /* its name, or that of the target; NULL: a computed goto */
    scan_stmt_t *target;    /* of a goto, once it is sliced: the label */
    uint64_t *live;         /* of a label: what is needed there */
    scan_team_t *team;      /* of a block: its threads */
    bool is_failure;        /* an if whose body ends the program: assumed not to happen */
    struct scan_work *work; /* a loop that is dropped, and what its inner loops do */
    scan_stmt_t *prev;      /* in the same block */
    int order, end;         /* its number in the order of the text, and that behind its last part */
};

/* Passes through a loop: the product of the factors. */
typedef struct scan_work {
    const scan_stmt_t *loop;
    scan_expr_t *factors; /* a list; NULL: the loop is costed as a whole */
    struct scan_work *next;
} scan_work_t;

/* A source file. `text` is NULL until it is read for --show. */
typedef struct {
    const char *path;
    char *text;
    size_t size;
    bool is_system;
} scan_file_t;

#endif
