/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions and types from anywhere: an error, or code that runs to an end. The first line is a
 * type, the rest an expression. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "program/process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static bool mpi(process_t *p, const code_site_t *site, int64_t *args)
{
    (void)p, (void)site, (void)args;
    return true;
}

static bool kernel(process_t *p, const code_site_t *site, const double *sizes)
{
    (void)p, (void)site, (void)sizes;
    return true;
}

static bool loop(process_t *p, const code_site_t *site, double count)
{
    (void)p, (void)site, (void)count;
    return true;
}

static double now(process_t *p)
{
    (void)p;
    return 0;
}

static const process_ops_t ops = {.mpi = mpi, .kernel = kernel, .compute = loop, .now = now};

/* Returns a program with a variable of type `type` and a kernel of the sizes `text` in a loop; the
 * caller owns it. */
static xy_program_t *build(const char *type, const char *text)
{
    xy_program_t *program;
    xy_node_t *function, *node;

    if (xy_program_create("fuzz", &program) != XY_OK)
        exit(1);
    function = xy_program_add(program, NULL, XY_NODE_FUNCTION, "f.c", 1);
    xy_program_set(program, function, "name", "main");
    node = xy_program_add(program, function, XY_NODE_VARIABLE, NULL, 2);
    xy_program_set(program, node, "name", "x");
    xy_program_set(program, node, "type", type);
    node = xy_program_add(program, function, XY_NODE_VARIABLE, NULL, 3);
    xy_program_set(program, node, "name", "i");
    xy_program_set(program, node, "type", "int");
    node = xy_program_add(program, function, XY_NODE_WHILE, NULL, 4);
    xy_program_set(program, node, "c", "i++ < 3");
    node = xy_program_add(program, node, XY_NODE_KERNEL, NULL, 5);
    xy_program_set(program, node, "name", "k");
    xy_program_set(program, node, "sizes", text);
    return program;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const argv[] = {"fuzz"};
    process_config_t config = {.ops = &ops,
                               .argc = 1,
                               .argv = argv,
                               .pass_limit = 100,
                               .stack_limit = 1 << 16,
                               .heap_limit = 1 << 16};
    char *text = xy_strndup((const char *)data, size), *line;
    xy_program_t *program;
    process_t process;
    code_t *code;

    xy_error_handler_set(ignore, NULL);
    if (text == NULL)
        exit(1);
    line = strchr(text, '\n');
    if (line != NULL)
        *line++ = '\0';
    program = build(line != NULL ? text : "int", line != NULL ? line : text);
    if (code_compile(program, NULL, 0, &code) == XY_OK) {
        config.code = code;
        code_fuse(code);
        if (process_init(&process, &config, 0) != XY_OK)
            exit(1);
        while (!process_run(&process))
            ;
        process_cleanup(&process);
        code_destroy(code);
    }
    xy_program_destroy(program);
    xy_free(text);
    return 0;
}
