/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/ops/ops.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const _Atomic bool is_never;

/* Until a runtime sets it. */
process_runtime_t process_runtime = {.name = "xylem", .noun = "process", .watches = &is_never};

void process_say(const char *format, ...)
{
    char line[1024];
    int room = (int)sizeof(line) - 1,
        n = snprintf(line, sizeof(line), "%s: ", process_runtime.name);
    va_list arguments;
    ssize_t ignored;

    va_start(arguments, format);
    n += vsnprintf(line + n, (size_t)(room - n), format, arguments);
    va_end(arguments);
    n = n < room ? n : room - 1;
    line[n++] = '\n';
    ignored = write(STDERR_FILENO, line, (size_t)n);
    (void)ignored;
}
