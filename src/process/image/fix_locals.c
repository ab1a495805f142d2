/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Relocations of thread-local variables. There are three ways to address one:
 *
 *   initial exec    a word: the distance from the thread pointer
 *   dynamic         two words for __tls_get_addr: the library's number, and where in its block
 *   descriptor      two words: a function that returns the distance, and its argument
 *
 * The modules' own variables lie in the block of the launcher's executable (locals.c), which is
 * what the two words name. Those of other libraries are where the dynamic linker has put them.
 */
#include <pthread.h>

#include "process/image/lookup.h"

extern void *__tls_get_addr(process_tls_index_t *index);

#if defined(__x86_64__)
enum {
    R_DISTANCE = R_X86_64_TPOFF64,
    R_LIBRARY = R_X86_64_DTPMOD64,
    R_PLACE = R_X86_64_DTPOFF64,
    R_DESCRIPTOR = R_X86_64_TLSDESC,
};

/* Called with the address of the descriptor in %rax; no other register may change. */
__asm__(".pushsection .text\n"
        ".hidden process_locals_distance\n"
        ".globl process_locals_distance\n"
        ".type process_locals_distance, @function\n"
        "process_locals_distance:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq 8(%rax), %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size process_locals_distance, . - process_locals_distance\n"
        ".popsection\n");
#elif defined(__aarch64__)
enum {
    R_DISTANCE = R_AARCH64_TLS_TPREL,
    R_LIBRARY = R_AARCH64_TLS_DTPMOD,
    R_PLACE = R_AARCH64_TLS_DTPREL,
    R_DESCRIPTOR = R_AARCH64_TLSDESC,
};

/* Called with the address of the descriptor in x0; no other register may change. */
__asm__(".pushsection .text\n"
        ".hidden process_locals_distance\n"
        ".globl process_locals_distance\n"
        ".type process_locals_distance, %function\n"
        "process_locals_distance:\n"
        "    .cfi_startproc\n"
        "    hint 34\n" /* bti c */
        "    ldr x0, [x0, #8]\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size process_locals_distance, . - process_locals_distance\n"
        ".popsection\n");
#else
enum { R_DISTANCE = 101, R_LIBRARY, R_PLACE, R_DESCRIPTOR };
void process_locals_distance(void) {}
#endif

extern void process_locals_distance(void) __attribute__((visibility("hidden")));

enum { EXECUTABLE = 1 }; /* the dynamic linker's number of the block that locals.c divides */

bool process_fixup_is_local(unsigned type)
{
    return type == R_DISTANCE || type == R_LIBRARY || type == R_PLACE || type == R_DESCRIPTOR;
}

bool process_fixup_is_distance(unsigned type)
{
    return type == R_DISTANCE || type == R_DESCRIPTOR;
}

bool process_fixup_is_second(unsigned type)
{
    return type == R_PLACE;
}

static ptrdiff_t from_thread_pointer(const void *address)
{
    return (const char *)address - (const char *)__builtin_thread_pointer();
}

/* Where the executable's block begins, from the thread pointer. */
static ptrdiff_t executable_block(void)
{
    process_tls_index_t index = {.module = EXECUTABLE};

    return from_thread_pointer(__tls_get_addr(&index));
}

typedef struct {
    const char *name, *version;
    ptrdiff_t distance;
} question_t;

static void *ask(void *argument)
{
    question_t *q = argument;

    q->distance = from_thread_pointer(process_lookup_outside(q->name, q->version));
    return NULL;
}

/* Is a variable outside of the modules at this distance in other threads, too? */
static bool is_fixed(const char *name, const char *version, ptrdiff_t distance)
{
    question_t question = {.name = name, .version = version};
    pthread_t thread;

    return pthread_create(&thread, NULL, ask, &question) == 0 && pthread_join(thread, NULL) == 0 &&
           question.distance == distance;
}

typedef struct {
    const process_module_t *owner; /* NULL: outside, or nowhere (a weak symbol) */
    void *outside;                 /* the variable of this thread */
    int64_t value;                 /* in the owner's block, with the addend */
} local_t;

/* Find the variable of a TLS relocation: in a module of the program, or outside in a shared
 * library. */
static xy_status_t find(const process_program_t *program, const process_module_t *module,
                        const ElfW(Rela) * entry, local_t *local)
{
    size_t index = ELF64_R_SYM(entry->r_info);
    const ElfW(Sym) *symbol = process_elf_symbol(module->elf, index), *other = NULL;
    const char *name;

    *local = (local_t){.owner = module, .value = entry->r_addend};
    if (symbol == NULL)
        return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the symbol table is broken");
    if (index == 0)
        return XY_OK;
    name = process_elf_string(module->elf, symbol->st_name);
    if (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
        ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT)
        local->owner = process_lookup_inside(program, name, process_elf_version(module->elf, index),
                                             NULL, &other);
    symbol = other != NULL ? other : symbol;
    if (symbol->st_shndx != SHN_UNDEF) {
        local->owner = other != NULL ? local->owner : module;
        local->value += (int64_t)symbol->st_value;
        return local->owner->elf->tls != NULL ? XY_OK : process_fixup_undefined(module, name);
    }
    local->owner = NULL;
    local->outside = process_lookup_outside(name, process_elf_version(module->elf, index));
    if (local->outside == NULL && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
        return process_fixup_undefined(module, name);
    if (local->outside != NULL &&
        process_fixup_is_distance((unsigned)ELF64_R_TYPE(entry->r_info)) &&
        !is_fixed(name, process_elf_version(module->elf, index),
                  from_thread_pointer(local->outside)))
        return xy_fail_at(XY_EUNSUPPORTED, module->elf->path, 0,
                          "the thread-local variable '%s' belongs to a library that could not be "
                          "preloaded; LD_PRELOAD takes no path with blanks or colons",
                          name);
    return XY_OK;
}

static int64_t distance_of(const local_t *local)
{
    if (local->owner != NULL)
        return local->owner->tls + local->value;
    return local->outside != NULL ? from_thread_pointer(local->outside) + local->value : 0;
}

static process_tls_index_t index_of(const local_t *local)
{
    process_tls_index_t index = {.module = 0};

    if (local->owner != NULL)
        return (process_tls_index_t){
            .module = EXECUTABLE,
            .offset = (unsigned long)(distance_of(local) - executable_block()),
        };
    if (local->outside != NULL && process_lookup_block(local->outside, &index))
        index.offset += (unsigned long)local->value;
    return index;
}

enum { PAIR = 16 }; /* bytes of two words */

static xy_status_t fail_broken(const process_module_t *module)
{
    return xy_fail_at(XY_EPARSE, module->elf->path, 0, "the relocations are broken");
}

/* The second word has no relocation of its own where the linker knows the place in the block. */
static xy_status_t fix_library(process_program_t *program, const process_module_t *module,
                               uint64_t where, const ElfW(Rela) * entry, const local_t *local)
{
    const int64_t *place = process_elf_at(module->elf, entry->r_offset + 8, sizeof(*place));
    local_t block = {.owner = local->owner, .value = place != NULL ? *place : 0};
    xy_status_t st =
        process_fixup_add(program, where, PROCESS_FIXUP_VALUE, (int64_t)index_of(local).module, 0);

    if (st != XY_OK || local->owner == NULL)
        return st;
    if (!process_fixup_fits(module, entry->r_offset, PAIR))
        return fail_broken(module);
    return process_fixup_add(program, where + 8, PROCESS_FIXUP_VALUE,
                             (int64_t)index_of(&block).offset, 0);
}

xy_status_t process_fixup_local(process_program_t *program, const process_module_t *module,
                                const ElfW(Rela) * entry)
{
    uint64_t where = process_module_offset(module, entry->r_offset);
    local_t local;
    xy_status_t st = find(program, module, entry, &local);

    if (st != XY_OK)
        return st;
    switch (ELF64_R_TYPE(entry->r_info)) {
    case R_DISTANCE:
        return process_fixup_add(program, where, PROCESS_FIXUP_VALUE, distance_of(&local), 0);
    case R_LIBRARY:
        return fix_library(program, module, where, entry, &local);
    case R_PLACE:
        return process_fixup_add(program, where, PROCESS_FIXUP_VALUE,
                                 (int64_t)index_of(&local).offset, 0);
    default:
        if (!process_fixup_fits(module, entry->r_offset, PAIR))
            return fail_broken(module);
        st = process_fixup_add(program, where, PROCESS_FIXUP_VALUE,
                               (int64_t)(intptr_t)process_locals_distance, 0);
        return st != XY_OK ? st
                           : process_fixup_add(program, where + 8, PROCESS_FIXUP_VALUE,
                                               distance_of(&local), 0);
    }
}
