/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions from anywhere: an error, or a tree that writes and reads back as the same text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static char *print(const xy_program_t *program)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xy_program_t *program, *back;
    char *first, *second;

    xy_error_handler_set(ignore, NULL);
    if (xy_program_parse((const char *)data, size, "fuzz", &program) != XY_OK)
        return 0;
    first = print(program);
    if (xy_program_parse(first, strlen(first), "back", &back) != XY_OK)
        abort();
    second = print(back);
    if (strcmp(first, second) != 0)
        abort();
    free(first);
    free(second);
    xy_program_destroy(program);
    xy_program_destroy(back);
    return 0;
}
