/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does a program examine the result of a function? In the machine code after the call, the register
 * of the result is either read first, or overwritten. Where it is kept in a local variable, the
 * same is asked of that one.
 *
 *   if (check_result_use(&check_aarch64, (uintptr_t)return_address, copy, NULL) ==
 *       CHECK_RESULT_IGNORED)
 *       ...
 *
 * All paths are followed for a few instructions. Unknown instructions count as a use.
 */
#ifndef XY_MPI_CHECK_RESULT_USE_H
#define XY_MPI_CHECK_RESULT_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CHECK_RESULT_IGNORED, /* overwritten on all paths before it is read */
    CHECK_RESULT_LEFT, /* the same, or the function returns with it: its result, or it has none */
    CHECK_RESULT_USED  /* read, or not known */
} check_result_t;

/* One instruction, in terms of the register of results. */
typedef struct {
    enum {
        CHECK_CODE_PLAIN,
        CHECK_CODE_JUMP,   /* to the target */
        CHECK_CODE_BRANCH, /* to the target or not */
        CHECK_CODE_CALL,
        CHECK_CODE_RETURN,
        CHECK_CODE_UNKNOWN
    } kind;
    bool reads, writes; /* the register; a write is of all of it */
    size_t length;      /* bytes */
    int64_t target;     /* from the first byte */
    /* A place in the frame, in bytes from its register: */
    enum {
        CHECK_PLACE_NONE,
        CHECK_PLACE_READ,    /* or written in part */
        CHECK_PLACE_WRITTEN, /* all of it */
        CHECK_PLACE_KEEPS,   /* the same, with the register of results */
        CHECK_PLACE_NAMED    /* as an address: of this variable, or of one that begins there */
    } place_use;
    int64_t place;
    int place_bytes;
} check_code_t;

enum { CHECK_CODE_LONGEST = 16 };

typedef struct {
    /* `bytes` has CHECK_CODE_LONGEST. */
    check_code_t (*decode)(const unsigned char *bytes);
    bool passes_result; /* the register has the first argument of a call, too */
} check_machine_t;

extern const check_machine_t check_aarch64, check_x86_64;
/* The machine with the ELF number EM_AARCH64 and so on; NULL: it is not known. */
const check_machine_t *check_machine_find(int elf_machine);

/* Copy CHECK_CODE_LONGEST bytes of code. False: there is none. */
typedef bool (*check_fetch_fn)(uint64_t address, unsigned char *bytes, void *argument);

check_result_t check_result_use(const check_machine_t *machine, uint64_t address,
                                check_fetch_fn fetch, void *argument);

#endif
