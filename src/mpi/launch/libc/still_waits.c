/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program calls that still keeps the other ranks of a core waiting (docs/private.md). */
#include <string.h>

#include "mpi/launch/libc/block.h"
#include "mpi/launch/libc/process.h"

static const char *const names[] = {
    "GOMP_parallel", "__kmpc_fork_call", "gethostbyname", "gethostbyaddr", "pause",
    "sigwait",       "sigwaitinfo",      "sigtimedwait",  "sigsuspend",    "aio_suspend",
    "sendfile",      "splice",           "tcdrain"};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static bool asks_for(const mpi_elf_t *elf, const char *name)
{
    const ElfW(Sym) * symbol;

    for (size_t i = 1; (symbol = mpi_elf_symbol(elf, i)) != NULL; i++) {
        if ((const char *)symbol >= elf->strings && elf->strings > elf->bytes + elf->symbols)
            break; /* the string table follows the symbols */
        if (symbol->st_shndx == SHN_UNDEF &&
            strcmp(mpi_elf_string(elf, symbol->st_name), name) == 0)
            return true;
    }
    return false;
}

void mpi_block_tell(const mpi_program_t *program)
{
    xy_text_t text = XY_TEXT_INIT;

    for (size_t m = 0; m < program->modules.count; m++)
        for (int i = 0; i < NAMES; i++)
            if (asks_for(XY_VEC_AT(&program->modules, mpi_module_t, m).elf, names[i]))
                xy_text_addf(&text, "%s%s", text.length > 0 ? ", " : "", names[i]);
    if (text.length > 0 && !text.failed)
        mpi_launch_say("'%s' calls %s: other ranks of the core wait meanwhile", program->path,
                       text.s);
    xy_text_cleanup(&text);
}
