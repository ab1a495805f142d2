/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of the system that many processes with many private libraries reach: mappings of a
 * process, and its address space. They are looked at before the first process is made, as the
 * message of a system call that fails later names no cure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "process/image/load_program.h"

enum { OF_PROCESS = 2 /* its stack, and the guard behind it */, SPARE = 1000 };

/* A number in a file of the kernel's; 0: it is not there. */
static size_t read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    char text[32];
    size_t number;

    if (file == NULL)
        return 0;
    number = fgets(text, sizeof(text), file) != NULL ? strtoull(text, NULL, 10) : 0;
    fclose(file);
    return number;
}

/* How many mappings an image takes: for each module its code, its data, and what lies behind. */
static size_t mappings_of(const process_program_t *program)
{
    const process_module_t *modules = program->modules.data;
    size_t count = 0;

    for (size_t i = 0; i < program->modules.count; i++) {
        const process_elf_t *elf = modules[i].elf;
        size_t end = modules[i].offset + (elf->high - elf->low);
        size_t next = i + 1 < program->modules.count ? modules[i + 1].offset : program->stride;
        bool has_rest = end < next || elf->writable + modules[i].data_size < elf->high;

        count += elf->writable > elf->low;
        count +=
            modules[i].is_copied ? elf->high > elf->writable || has_rest : 1 + (size_t)has_rest;
    }
    return count;
}

xy_status_t process_program_check_mappings(const process_program_t *program)
{
    static size_t before; /* of programs that were loaded earlier */
    size_t most = read_number("/proc/sys/vm/max_map_count");
    size_t wanted = before + (mappings_of(program) + OF_PROCESS) * (size_t)program->images + SPARE;
    size_t libraries = program->modules.count - 1;

    if (most == 0 || wanted <= most) {
        before = wanted - SPARE;
        return XY_OK;
    }
    return xy_fail(
        XY_ELIMIT,
        "%d ranks with their own copies of '%s' and %zu libraries take %zu mappings, and "
        "the kernel allows a process %zu; raise this limit with 'sysctl -w "
        "vm.max_map_count=%zu', run the ranks in %zu processes (--processes), share "
        "libraries (--share, -v lists them), or start fewer ranks",
        program->images, program->path, libraries, wanted, most, 2 * wanted, wanted / most + 1);
}

xy_status_t process_program_check_space(const process_program_t *program)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t wanted =
        program->stride * (size_t)program->images + read_number("/proc/self/statm") * page;
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        wanted <= limit.rlim_cur)
        return XY_OK;
    return xy_fail(
        XY_ELIMIT,
        "%d ranks with their own copies of '%s' and %zu libraries take %zu MiB of address "
        "space, and a process may have %zu; raise this limit with 'ulimit -v unlimited', "
        "share libraries (--share, -v lists them), or start fewer ranks",
        program->images, program->path, program->modules.count - 1, wanted >> 20,
        (size_t)limit.rlim_cur >> 20);
}
