/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/image/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void mpi_launch_say(const char *format, ...)
{
    char line[1024] = "mpiexec: ";
    va_list arguments;
    ssize_t ignored;
    size_t n;

    va_start(arguments, format);
    vsnprintf(line + 9, sizeof(line) - 11, format, arguments);
    va_end(arguments);
    n = strlen(line);
    line[n++] = '\n';
    ignored = write(STDERR_FILENO, line, n);
    (void)ignored;
}
