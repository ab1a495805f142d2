/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/result_use.h"

#include <elf.h>

const check_machine_t *check_machine_find(int elf_machine)
{
    return elf_machine == EM_AARCH64  ? &check_aarch64
           : elf_machine == EM_X86_64 ? &check_x86_64
                                      : NULL;
}

enum { STEPS = 128, RESULT = 4 }; /* instructions on all paths; bytes of a result */

typedef struct {
    const check_machine_t *machine;
    check_fetch_fn fetch;
    void *argument;
    uint64_t seen[STEPS];
    int count;
} walk_t;

static bool is_seen(const walk_t *walk, uint64_t address)
{
    for (int i = 0; i < walk->count; i++)
        if (walk->seen[i] == address)
            return true;
    return false;
}

/* Does execution continue behind this instruction? */
static bool is_passed(const check_code_t *code)
{
    return code->kind == CHECK_CODE_PLAIN || code->kind == CHECK_CODE_JUMP ||
           code->kind == CHECK_CODE_BRANCH;
}

static check_result_t end_of(const walk_t *walk, const check_code_t *code)
{
    if (code->kind == CHECK_CODE_RETURN)
        return CHECK_RESULT_LEFT;
    return code->kind == CHECK_CODE_CALL && !walk->machine->passes_result ? CHECK_RESULT_IGNORED
                                                                          : CHECK_RESULT_USED;
}

static check_result_t worse(check_result_t a, check_result_t b)
{
    return a > b ? a : b;
}

/* From `address`, until the local variable at `place` is read or written on each path. Calls do not
 * read it, as its address is not taken on the way; where the function ends it is gone. */
static check_result_t follow_place(walk_t *walk, uint64_t address, int64_t place)
{
    check_result_t found = CHECK_RESULT_IGNORED;
    unsigned char bytes[CHECK_CODE_LONGEST];

    while (found != CHECK_RESULT_USED && !is_seen(walk, address)) {
        check_code_t code;
        bool meets;

        if (walk->count == STEPS || !walk->fetch(address, bytes, walk->argument))
            return CHECK_RESULT_USED;
        walk->seen[walk->count++] = address;
        code = walk->machine->decode(bytes);
        meets = code.place < place + RESULT && place < code.place + code.place_bytes;
        if (code.kind == CHECK_CODE_UNKNOWN ||
            (code.place_use == CHECK_PLACE_NAMED && code.place <= place) ||
            (code.place_use == CHECK_PLACE_READ && meets))
            return CHECK_RESULT_USED;
        if ((code.place_use >= CHECK_PLACE_WRITTEN && code.place_use != CHECK_PLACE_NAMED &&
             meets) ||
            code.kind == CHECK_CODE_RETURN)
            break;
        if (code.kind == CHECK_CODE_BRANCH)
            found = worse(found, follow_place(walk, address + code.length, place));
        address += code.kind == CHECK_CODE_PLAIN || code.kind == CHECK_CODE_CALL
                       ? code.length
                       : (uint64_t)code.target;
    }
    return found;
}

/* From `address`, until the register is read or written on each path. */
static check_result_t follow(walk_t *walk, uint64_t address)
{
    check_result_t found = CHECK_RESULT_IGNORED;
    unsigned char bytes[CHECK_CODE_LONGEST];

    while (found != CHECK_RESULT_USED && !is_seen(walk, address)) {
        check_code_t code;

        if (walk->count == STEPS || !walk->fetch(address, bytes, walk->argument))
            return CHECK_RESULT_USED;
        walk->seen[walk->count++] = address;
        code = walk->machine->decode(bytes);
        if (code.place_use == CHECK_PLACE_KEEPS) {
            walk_t kept = {walk->machine, walk->fetch, walk->argument, .count = 0};

            return worse(found, follow_place(&kept, address + code.length, code.place));
        }
        if (code.kind == CHECK_CODE_UNKNOWN || code.reads)
            return CHECK_RESULT_USED;
        if (code.writes)
            break;
        if (!is_passed(&code))
            return worse(found, end_of(walk, &code));
        if (code.kind == CHECK_CODE_BRANCH)
            found = worse(found, follow(walk, address + code.length));
        address += code.kind == CHECK_CODE_PLAIN ? code.length : (uint64_t)code.target;
    }
    return found;
}

check_result_t check_result_use(const check_machine_t *machine, uint64_t address,
                                check_fetch_fn fetch, void *argument)
{
    walk_t walk = {.machine = machine, .fetch = fetch, .argument = argument};

    return follow(&walk, address);
}
