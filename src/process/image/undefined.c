/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that no library defines. A library may refer to some that its users never call; in a
 * process of its own a call of one ends the process, with its name. Each gets a few instructions
 * that call undefined() with the number of its name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/image/lookup.h"
#include "process/ops/ops.h"

enum { MOST = 4096 };

static struct {
    const char *path, *name;
} names[MOST];
static int name_count;

/* As the dynamic linker does it. */
static __attribute__((noreturn)) void undefined(size_t number)
{
    fprintf(stderr, "%s: symbol lookup error: %s: undefined symbol: %s\n", process_runtime.name,
            names[number].path, names[number].name);
    fflush(stderr);
    _exit(127);
}

#if defined(__x86_64__)
/* movabs $number, %rdi; movabs $undefined, %rax; jmp *%rax */
typedef struct __attribute__((packed)) {
    char load_number[2];
    uint64_t number;
    char load_function[2];
    uint64_t function;
    char jump[2];
    char rest[10];
} stub_t;

static stub_t make_stub(size_t number)
{
    return (stub_t){.load_number = "\x48\xbf",
                    .number = number,
                    .load_function = "\x48\xb8",
                    .function = (uintptr_t)undefined,
                    .jump = "\xff\xe0"};
}
#elif defined(__aarch64__)
/* ldr x0, number; ldr x16, function; br x16 */
typedef struct {
    uint32_t code[4];
    uint64_t number, function;
} stub_t;

static stub_t make_stub(size_t number)
{
    return (stub_t){.code = {0x58000080, 0x580000b0, 0xd61f0200, 0},
                    .number = number,
                    .function = (uintptr_t)undefined};
}
#else
typedef struct {
    char none;
} stub_t;

static stub_t make_stub(size_t number)
{
    (void)number;
    return (stub_t){0};
}
#endif

/* All stubs are written at once, and then only read. */
static stub_t *make_stubs(void)
{
    size_t size = MOST * sizeof(stub_t);
    stub_t *stubs = sizeof(stub_t) == 1 ? MAP_FAILED
                                        : mmap(NULL, size, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (stubs == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < MOST; i++)
        stubs[i] = make_stub(i);
    __builtin___clear_cache((char *)stubs, (char *)(stubs + MOST));
    return mprotect(stubs, size, PROT_READ | PROT_EXEC) == 0 ? stubs : NULL;
}

void *process_undefined_function(const char *path, const char *name)
{
    static stub_t *stubs;

    if (stubs == NULL)
        stubs = make_stubs();
    for (int i = 0; i < name_count; i++)
        if (strcmp(names[i].name, name) == 0)
            return &stubs[i];
    if (stubs == NULL || name_count == MOST)
        return NULL;
    names[name_count].path = path;
    names[name_count].name = name;
    return &stubs[name_count++];
}
