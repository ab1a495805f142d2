/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of programs that still keep the other processes of a core waiting (docs/c-library.md). */
#include <string.h>

#include "process/libc/block.h"
#include "process/libc/process_state.h"

static const char *const names[] = {
    "GOMP_parallel", "__kmpc_fork_call", "gethostbyname", "gethostbyaddr", "pause",
    "sigwait",       "sigwaitinfo",      "sigtimedwait",  "sigsuspend",    "aio_suspend",
    "sendfile",      "splice",           "tcdrain"};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static bool asks_for(const process_elf_t *elf, const char *name)
{
    const ElfW(Sym) * symbol;

    for (size_t i = 1; (symbol = process_elf_symbol(elf, i)) != NULL; i++) {
        if ((const char *)symbol >= elf->strings && elf->strings > elf->bytes + elf->symbols)
            break; /* the string table follows the symbols */
        if (symbol->st_shndx == SHN_UNDEF &&
            strcmp(process_elf_string(elf, symbol->st_name), name) == 0)
            return true;
    }
    return false;
}

void process_block_tell(const process_program_t *program)
{
    xy_text_t text = XY_TEXT_INIT;

    for (size_t m = 0; m < program->modules.count; m++)
        for (int i = 0; i < NAMES; i++)
            if (asks_for(XY_VEC_AT(&program->modules, process_module_t, m).elf, names[i]))
                xy_text_addf(&text, "%s%s", text.length > 0 ? ", " : "", names[i]);
    if (text.length > 0 && !text.failed)
        process_say("'%s' calls %s: other ranks of the core wait meanwhile", program->path, text.s);
    xy_text_cleanup(&text);
}
