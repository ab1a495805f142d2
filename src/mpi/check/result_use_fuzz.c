/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the code behind a call: following it ends, and reads nothing else. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check/result_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    const uint8_t *data;
    size_t size;
} code_t;

static bool fetch(uint64_t address, unsigned char *bytes, void *argument)
{
    const code_t *code = argument;

    if (address >= code->size)
        return false;
    memset(bytes, 0, CHECK_CODE_LONGEST);
    for (size_t i = 0; i < CHECK_CODE_LONGEST && address + i < code->size; i++)
        bytes[i] = code->data[address + i];
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const check_machine_t *machines[] = {&check_aarch64, &check_x86_64};

    for (int i = 0; i < 2; i++) {
        code_t code = {data, size};
        check_code_t first;
        unsigned char bytes[CHECK_CODE_LONGEST];

        if (!fetch(0, bytes, &code))
            return 0;
        first = machines[i]->decode(bytes);
        if (first.kind != CHECK_CODE_UNKNOWN &&
            (first.length == 0 || first.length > CHECK_CODE_LONGEST))
            abort();
        check_result_use(machines[i], size / 2, fetch, &code);
    }
    return 0;
}
