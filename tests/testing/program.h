/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this component. */
#ifndef XY_TESTING_PROGRAM_H
#define XY_TESTING_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/program.h"
#include "testing/base.h"

/* The description as text; the caller frees it. */
static inline char *testing_print(const xy_program_t *program)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        exit(1);
    xy_program_print(program, file);
    if (fclose(file) != 0)
        exit(1);
    return text;
}

#endif
