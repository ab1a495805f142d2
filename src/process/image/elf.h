/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ELF file as a loader sees it: its segments and its dynamic section.
 *
 *   process_elf_t *elf;
 *   st = process_elf_open("./a.out", &elf);
 *   if (elf->kind == PROCESS_ELF_PIE && elf->needed.count > 0) ...
 *   process_elf_close(elf);
 *
 * Files come from anywhere: every offset is checked before it is followed.
 */
#ifndef XY_PROCESS_IMAGE_ELF_H
#define XY_PROCESS_IMAGE_ELF_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"

typedef enum {
    PROCESS_ELF_NONE,    /* a script, or something of another kind */
    PROCESS_ELF_FOREIGN, /* ELF, but not for this machine */
    PROCESS_ELF_STATIC,  /* no dynamic section: statically linked */
    PROCESS_ELF_FIXED,   /* linked to a fixed address (-no-pie) */
    PROCESS_ELF_PIE,     /* position-independent executable */
    PROCESS_ELF_LIBRARY, /* shared library: no program interpreter */
} process_elf_kind_t;

typedef struct {
    uintptr_t address; /* as linked, relative to the load address */
    size_t size;       /* bytes */
} process_elf_part_t;

/* DT_GNU_HASH, checked: a bloom filter, buckets with the first symbol of each, and a word per
 * symbol from the `first` on. No filter: there is no such table. */
typedef struct {
    const ElfW(Addr) * filter;
    const uint32_t *buckets, *chains;
    uint32_t filter_count, shift, bucket_count, first;
    size_t chain_count; /* at most; the table does not say where it ends */
} process_elf_hash_t;

/* A name to look up in many files: its hash is computed once. */
typedef struct {
    const char *name;
    const char *version; /* NULL: the default one */
    uint32_t hash;
} process_elf_name_t;

typedef struct {
    char *path;
    const char *bytes; /* the file, mapped */
    size_t size;
    int fd;
    dev_t device; /* of the file, and its number there */
    ino_t number;
    process_elf_kind_t kind;
    const ElfW(Ehdr) * header;
    const ElfW(Phdr) * segments;
    int segment_count;
    uintptr_t low, high;       /* its range in memory, in whole pages */
    uintptr_t writable;        /* from this page on it is written to; below: read only */
    bool has_code_in_writable; /* or read-only parts behind written ones: not a usual layout */
    const ElfW(Phdr) * tls;    /* or NULL */
    const ElfW(Phdr) * relro;  /* read only after relocation; or NULL */
    uintptr_t unwind;          /* PT_GNU_EH_FRAME, 0: none */

    const char *strings;
    size_t strings_size;
    uintptr_t symbols;
    uintptr_t versions; /* 0: none */
    process_elf_hash_t gnu_hash;
    uintptr_t old_hash; /* DT_HASH; 0: none. Without either nothing is exported */
    process_elf_part_t version_needs, version_definitions;
    process_elf_part_t rela, plt, relr;
    process_elf_part_t preinit, init, fini; /* arrays of functions */
    uintptr_t init_function, fini_function;
    bool has_text_relocations;
    bool has_static_tls; /* needs its thread-local variables at a fixed distance */
    bool is_symbolic;    /* its own definitions come first */
    bool binds_now;      /* undefined functions are an error when it is loaded */
    const char *soname;
    const char *rpath, *runpath;
    xy_vec_t needed;                           /* of const char * */
    _Atomic(struct process_elf_index *) index; /* of its symbols, by address; NULL: not made */
} process_elf_t;

/* Open and parse. A file that is no ELF file of this machine is no error but has another kind.
 * ENOENT, EACCES and broken files are reported. On success the caller owns *elf_p. */
xy_status_t process_elf_open(const char *path, process_elf_t **elf_p);
void process_elf_close(process_elf_t *elf); /* NULL is fine */

/* The bytes in the file of `size` bytes at a linked address; NULL when they are not all there. */
const void *process_elf_at(const process_elf_t *elf, uintptr_t address, size_t size);
/* A string of the dynamic string table; "" when the offset is wrong. */
const char *process_elf_string(const process_elf_t *elf, size_t offset);
/* The symbol with a number; NULL: there is none. */
const ElfW(Sym) * process_elf_symbol(const process_elf_t *elf, size_t index);
/* The symbol this file defines under a name, or NULL. */
const ElfW(Sym) * process_elf_lookup(const process_elf_t *elf, const char *name);
/* The symbol whose bytes have a linked address among them, or NULL: the one that begins last. Looks
 * at all symbols, unless there is an index. Allocates nothing. */
const ElfW(Sym) * process_elf_nearest(const process_elf_t *elf, uintptr_t address);
/* Make the index of its symbols, if there is none yet. Without memory there is none, in silence.
 * Any thread. */
void process_elf_index(process_elf_t *elf);
/* The same for a reference to one version of it (process_elf_version): a file without versions
 * serves all. */
process_elf_name_t process_elf_name(const char *name, const char *version);
const ElfW(Sym) *
    process_elf_lookup_name(const process_elf_t *elf, const process_elf_name_t *wanted);
/* Does it define a symbol that `is_wanted`? */
bool process_elf_defines_any(const process_elf_t *elf,
                             bool (*is_wanted)(const char *name, void *argument), void *argument);
/* Does it have a heap of its own, malloc and free? With malloc alone it hands out memory of the C
 * library, which frees it. */
bool process_elf_is_allocator(const process_elf_t *elf);
/* Can code change any of its variables, thread-local ones included? A file without section headers
 * counts as one with variables. */
bool process_elf_has_variables(const process_elf_t *elf);
/* The version a symbol is wanted in ("GLIBC_2.34"), or NULL. */
const char *process_elf_version(const process_elf_t *elf, size_t symbol);

/* The file of a needed library, as the dynamic linker finds it, in fresh memory; NULL: not there,
 * or memory ran out. */
char *process_elf_find_library(const process_elf_t *elf, const char *name);
/* The same in the directories that `elf` and LD_LIBRARY_PATH name, without the system's. */
char *process_elf_find_own_library(const process_elf_t *elf, const char *name);
/* Is it the file of the runtime that stands in for a library of this name? Some stand in for
 * several; with its own path: is it one of them? */
bool process_elf_stands_in(const process_elf_t *elf, const char *name);

#endif
