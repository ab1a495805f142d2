/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a crashed job's stack, in a process of its own (see crash.c). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/libc/crash.h"
#include "process/libc/process_state.h"

enum { LINE_SIZE = 400 };

static void put(const char *line, int times)
{
    if (times > 1)
        printf("  %s (%d times)\n", line, times);
    else
        printf("  %s\n", line);
    fflush(stdout); /* print the known lines, even if the rest takes too long */
}

/* The line of the byte at `offset` from the lowest address of a file. */
static void describe(const char *path, size_t offset, char *line)
{
    Dl_info info = {.dli_fname = path};
    const ElfW(Sym) *symbol = NULL;
    process_elf_t *elf = NULL;

    if (process_elf_open(path, &elf) == XY_OK)
        symbol = process_elf_nearest(elf, elf->low + offset);
    if (symbol != NULL) {
        info.dli_sname = process_elf_string(elf, symbol->st_name);
        info.dli_saddr = (void *)(symbol->st_value - elf->low);
    }
    process_runtime.describe_frame(&info, offset, line, LINE_SIZE);
    process_elf_close(elf);
}

/* `arguments`: a file and an offset for each frame. Frames with the same line are one line. */
int process_crash_main(int count, char **arguments)
{
    char line[LINE_SIZE], last[LINE_SIZE] = "";
    int shown = 0, times = 0;

    for (int i = 0; i + 1 < count && shown < PROCESS_CRASH_LINES; i += 2) {
        describe(arguments[i], strtoull(arguments[i + 1], NULL, 16), line);
        if (strcmp(line, last) == 0) {
            times++;
            continue;
        }
        if (times > 0)
            put(last, times);
        shown += times > 0;
        memcpy(last, line, strlen(line) + 1);
        times = 1;
    }
    if (times > 0 && shown < PROCESS_CRASH_LINES)
        put(last, times);
    return 0;
}
