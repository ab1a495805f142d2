/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Find the MPI function that a program has called, from the return address alone: messages need not
 * carry its name. In front of the return address is the call; its target is a stub of the linkage
 * table, which jumps to the address in a slot:
 *
 *   call   MPI_Isend@plt          jmp   *slot          slot: the function of the library
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mpi/runtime/caller.h"

static int32_t word_at(const unsigned char *at)
{
    int32_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

static const void *slot_at(const unsigned char *at)
{
    const void *value;

    memcpy(&value, at, sizeof(value));
    return value;
}

#if defined(__x86_64__)

/* Where the stub at `at` jumps to; NULL: it is no stub. */
static const void *follow_stub(const unsigned char *at)
{
    static const unsigned char endbr[4] = {0xf3, 0x0f, 0x1e, 0xfa};

    if (memcmp(at, endbr, sizeof(endbr)) == 0)
        at += sizeof(endbr);
    at += at[0] == 0xf2; /* bnd */
    return at[0] == 0xff && at[1] == 0x25 ? slot_at(at + 6 + word_at(at + 2)) : NULL;
}

/* The target of the call that returns to `site`; NULL: it is another instruction. */
static const unsigned char *target_of(const unsigned char *site, bool *is_function_p)
{
    *is_function_p = site[-6] == 0xff && site[-5] == 0x15;
    if (*is_function_p)
        return slot_at(site + word_at(site - 4));
    return site[-5] == 0xe8 ? site + word_at(site - 4) : NULL;
}

#elif defined(__aarch64__)

/* The function behind a stub of the linkage table; NULL if the code is no such stub. */
static const void *follow_stub(const unsigned char *at)
{
    uint32_t adrp, ldr;
    int64_t pages;

    at += (uint32_t)word_at(at) == 0xd503245fu ? 4 : 0; /* bti */
    adrp = (uint32_t)word_at(at);
    ldr = (uint32_t)word_at(at + 4);
    if ((adrp & 0x9f00001fu) != 0x90000010u || (ldr & 0xffc003ffu) != 0xf9400211u)
        return NULL;
    pages = (int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 43) >> 43;
    return slot_at((const unsigned char *)(((uintptr_t)at & ~(uintptr_t)4095) +
                                           (uintptr_t)(pages * 4096) + (ldr >> 10 & 0xfff) * 8));
}

static const unsigned char *target_of(const unsigned char *site, bool *is_function_p)
{
    int32_t word = word_at(site - 4);

    *is_function_p = false;
    if ((uint32_t)word >> 26 != 0x25)
        return NULL;
    return site - 4 + 4 * (ptrdiff_t)((int32_t)((uint32_t)word << 6) >> 6);
}

#else

static const void *follow_stub(const unsigned char *at)
{
    (void)at;
    return NULL;
}

static const unsigned char *target_of(const unsigned char *site, bool *is_function_p)
{
    (void)site;
    *is_function_p = false;
    return NULL;
}

#endif

/* "MPI_Isend" of the symbol at an address, which may be PMPI_Isend. */
static const char *name_of(const void *function)
{
    Dl_info info;
    const char *name;

    if (function == NULL || dladdr(function, &info) == 0 || info.dli_sname == NULL ||
        info.dli_saddr != function)
        return NULL;
    name = info.dli_sname + (info.dli_sname[0] == 'P');
    return strncmp(name, "MPI_", 4) == 0 ? name : NULL;
}

const char *mpi_caller_function(const void *site)
{
    const unsigned char *target;
    bool is_function;
    Dl_info info;

    if (site == NULL || dladdr((const char *)site - 1, &info) == 0)
        return NULL;
    target = target_of(site, &is_function);
    if (target == NULL || dladdr(target, &info) == 0)
        return NULL;
    return is_function ? name_of(target) : name_of(follow_stub(target));
}
