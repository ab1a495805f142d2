/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Program descriptions: the messages and kernels of a C program, and the code that controls them.
 * `xylem scan` writes one, `xylem predict` walks it, and people can read and write it: XML with one
 * element for each C statement that was kept, with file and line.
 *
 *   xy_program_t *p;
 *   xy_node_t *main, *loop;
 *
 *   xy_program_create("ring", &p);
 *   main = xy_program_add(p, NULL, XY_NODE_FUNCTION, "ring.c", 5);
 *   xy_program_set(p, main, "name", "main");
 *   loop = xy_program_add(p, main, XY_NODE_FOR, "ring.c", 12);
 *   xy_program_set(p, loop, "start", "i = 0");
 *   xy_program_set(p, loop, "test", "i < n");
 *   xy_program_set(p, loop, "step", "i++");
 *   xy_program_add_mpi(p, loop, "ring.c", 13, "MPI_Send", 6, texts);
 *   st = xy_program_failed(p) ? XY_ENOMEM : xy_program_write(p, "ring.xml");
 *   xy_program_destroy(p);
 *
 * The elements, with their attributes (* must be there); all have `line`, and `file` where it is
 * not that of the element around it:
 *
 *   program    name version*                     the root
 *   struct     name*                             contains fields
 *   field      name* type*
 *   variable   name* type* value                 of the file or, inside a function, of its block
 *   function   name* type                        type of the result; void when absent
 *   parameter  name* type*                       first in its function
 *   do         c*                                an expression statement
 *   block                                        { ... }
 *   if         c*                                contains what is done; then perhaps one <else>
 *   else
 *   for        start test step                   start may declare: "int i = 0"
 *   while      c*
 *   repeat     c*                                do { ... } while (c)
 *   switch     c*                                contains <case> and <default> marks as C does
 *   case       value*
 *   default
 *   break, continue
 *   goto       label*                            to the <label> of the function
 *   label      name*
 *   return     c
 *   mpi        call*, and the parameters by their names in the standard
 *   kernel     name* sizes                       a known kernel; sizes "m, n, k" as it takes them
 *   compute    name* count                       a loop outside of known kernels: `count` passes
 *                                                through its innermost body, costed by name
 *   team       name* sizes                       OpenMP: "parallel" begins a team of "threads",
 *                                                "static" and "dynamic" a loop of "passes, chunk"
 * (0: the schedule's own) that it shares; "pass" is in front of each pass of a loop that is there;
 *                                                "barrier"; "end" is that of the inner of them
 *   unknown    name* reason* target              cannot be known: `target` is set by --assume
 * NAME=EXPRESSION
 *
 * Attributes `c`, `start`, `test`, `step`, `value`, `sizes`, `count`, `target` and those of MPI
 * calls are C expressions: all operators of C (assignment, ++, comma, ?:, &, *, [], . and ->,
 * casts, sizeof), calls of functions of the description, literals, and the functions of the C
 * library that `xylem predict` knows (abs, fmin, sqrt, pow, atoi, strtol, strcmp, getopt, malloc,
 * free, ...; MPI_Wtime too). `value` of an array may be a list in braces. Types are written as C
 * writes them in casts, with the dimensions at the end: "int", "double *", "MPI_Request[4]",
 * "int[n][2]", "struct grid"; typedef names of scalars must be resolved. Pointers, arrays, structs
 * and malloc work as in C, in the memory that each simulated process has of its own.
 *
 * Names are looked up as C does: blocks nest. A variable outside of functions is one per process.
 *
 * Nothing is thread safe; nothing parks.
 */
#ifndef XY_PROGRAM_PROGRAM_H
#define XY_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/base.h"

enum { XY_PROGRAM_VERSION = 1 };

typedef enum {
    XY_NODE_PROGRAM,
    XY_NODE_STRUCT,
    XY_NODE_FIELD,
    XY_NODE_VARIABLE,
    XY_NODE_FUNCTION,
    XY_NODE_PARAMETER,
    XY_NODE_DO,
    XY_NODE_BLOCK,
    XY_NODE_IF,
    XY_NODE_ELSE,
    XY_NODE_FOR,
    XY_NODE_WHILE,
    XY_NODE_REPEAT,
    XY_NODE_SWITCH,
    XY_NODE_CASE,
    XY_NODE_DEFAULT,
    XY_NODE_BREAK,
    XY_NODE_CONTINUE,
    XY_NODE_GOTO,
    XY_NODE_LABEL,
    XY_NODE_RETURN,
    XY_NODE_MPI,
    XY_NODE_KERNEL,
    XY_NODE_COMPUTE,
    XY_NODE_UNKNOWN,
    XY_NODE_TEAM,
    XY_NODE_KINDS
} xy_node_kind_t;

typedef struct xy_node_attr {
    const char *name, *value;
    struct xy_node_attr *next;
} xy_node_attr_t;

/* One element. All strings belong to the program. */
typedef struct xy_node {
    xy_node_kind_t kind;
    const char *file; /* never NULL; "" when not known */
    long line;        /* 0: not known */
    xy_node_attr_t *attr;
    struct xy_node *child, *last, *next, *parent;
} xy_node_t;

typedef struct xy_program xy_program_t;

/* An empty description. On success the caller owns *program_p. */
xy_status_t xy_program_create(const char *name, xy_program_t **program_p);
void xy_program_destroy(xy_program_t *program); /* NULL is fine */
xy_node_t *xy_program_root(const xy_program_t *program);

/* Put an element at the end of `parent` (NULL: the root). `file` NULL: that of the parent. NULL
 * when memory ran out, in silence; the functions below accept NULL as the node and as the parent
 * after that, so that one look at xy_program_failed() at the end is enough. */
xy_node_t *xy_program_add(xy_program_t *program, xy_node_t *parent, xy_node_kind_t kind,
                          const char *file, long line);
/* Set an attribute, copying the value; a second time replaces it. NULL removes it. */
void xy_program_set(xy_program_t *program, xy_node_t *node, const char *name, const char *value);
/* An <mpi> element from the arguments as the call has them, in order: texts[i] NULL leaves one out
 * (buffers). The call must be known (xy_mpi_call_find) and have `count` arguments. */
xy_node_t *xy_program_add_mpi(xy_program_t *program, xy_node_t *parent, const char *file, long line,
                              const char *call, int count, const char *const texts[]);
bool xy_program_failed(const xy_program_t *program);

/* The attribute's value, or NULL. */
const char *xy_node_attr(const xy_node_t *node, const char *name);
/* "function", "mpi": the name of the element. */
const char *xy_node_name(xy_node_kind_t kind);

/* The role of an argument of an MPI call in the description. */
enum {
    XY_ARG_BUFFER = 'b',  /* data: left out, but MPI_IN_PLACE; or a pointer to variables that are
                             kept: then what is sent arrives there, too ("&n" of MPI_Bcast) */
    XY_ARG_VALUE = 'v',   /* a number or a handle, as an expression */
    XY_ARG_POINTER = 'p', /* an array that is read, or the address of what the call sets: "&rank",
                             "requests", "MPI_STATUS_IGNORE". The variable must be kept */
    XY_ARG_IGNORED = 'x', /* strings, functions, info: left out */
};

enum { XY_MPI_ARGS_MAX = 14 };

typedef struct {
    const char *name;                  /* "MPI_Send" */
    const char *kinds;                 /* XY_ARG_... of each argument: "bvvvvv" */
    const char *args[XY_MPI_ARGS_MAX]; /* their names: "buf", "count", ...; NULL after the last */
    bool has_large;                    /* MPI_..._c reads and sets the same arrays and variables */
} xy_mpi_call_t;

/* The call of this name, or whose form with large counts has it; NULL: `xylem predict` cannot walk
 * it. */
const xy_mpi_call_t *xy_mpi_call_find(const char *name);

/* Write to a file ("-": standard output), and read: what is written reads back as the same. EPARSE
 * with file and line: not XML, an element or attribute that is not known or that is missing, one in
 * the wrong place, a number that is none. Expressions are looked at when the program is compiled.
 */
xy_status_t xy_program_write(const xy_program_t *program, const char *path);
void xy_program_print(const xy_program_t *program, FILE *file);
xy_status_t xy_program_read(const char *path, xy_program_t **program_p);
xy_status_t xy_program_parse(const char *data, size_t size, const char *path,
                             xy_program_t **program_p);

#include "program/formula.h"  /* values of expressions */
#include "program/predict.h"  /* from a description to a time */
#include "program/recorded.h" /* values from a recorded run */
#include "program/replay.h"   /* from a recorded run to a time */
#include "program/scan.h"     /* from C sources to a description */

#endif
