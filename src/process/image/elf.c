/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/image/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { THIS_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { THIS_MACHINE = EM_AARCH64 };
#else
enum { THIS_MACHINE = EM_NONE };
#endif

/* The bytes in the file from a linked address to the end of its segment; NULL: none. */
static const char *bytes_from(const process_elf_t *elf, uintptr_t address, size_t *size_p)
{
    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];

        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz)
            continue;
        *size_p = s->p_filesz - (address - s->p_vaddr);
        return elf->bytes + s->p_offset + (address - s->p_vaddr);
    }
    return NULL;
}

const void *process_elf_at(const process_elf_t *elf, uintptr_t address, size_t size)
{
    size_t most = 0;
    const char *bytes = bytes_from(elf, address, &most);

    return size <= most ? bytes : NULL;
}

const char *process_elf_string(const process_elf_t *elf, size_t offset)
{
    return offset < elf->strings_size ? elf->strings + offset : "";
}

/* The name of needed version `index`; NULL if the file needs no such version. */
static const char *need_of_version(const process_elf_t *elf, unsigned index)
{
    uintptr_t at = elf->version_needs.address;
    const ElfW(Verneed) * need;

    for (size_t i = 0; i < elf->version_needs.size; i++) {
        uintptr_t aux_at;

        need = process_elf_at(elf, at, sizeof(*need));
        if (need == NULL)
            return NULL;
        aux_at = at + need->vn_aux;
        for (unsigned j = 0; j < need->vn_cnt; j++) {
            const ElfW(Vernaux) *aux = process_elf_at(elf, aux_at, sizeof(*aux));

            if (aux == NULL)
                return NULL;
            if ((aux->vna_other & 0x7fff) == index)
                return process_elf_string(elf, aux->vna_name);
            if (aux->vna_next < sizeof(*aux))
                break;
            aux_at += aux->vna_next;
        }
        if (need->vn_next < sizeof(*need))
            break;
        at += need->vn_next;
    }
    return NULL;
}

/* The name of a version that this file defines, by its number. */
static const char *defined_version(const process_elf_t *elf, unsigned index)
{
    uintptr_t at = elf->version_definitions.address;

    for (size_t i = 0; i < elf->version_definitions.size; i++) {
        const ElfW(Verdef) *definition = process_elf_at(elf, at, sizeof(*definition));
        const ElfW(Verdaux) * aux;

        if (definition == NULL)
            return NULL;
        if ((definition->vd_ndx & 0x7fff) == index) {
            aux = process_elf_at(elf, at + definition->vd_aux, sizeof(*aux));
            return aux != NULL ? process_elf_string(elf, aux->vda_name) : NULL;
        }
        if (definition->vd_next < sizeof(*definition))
            return NULL;
        at += definition->vd_next;
    }
    return NULL;
}

const char *process_elf_version(const process_elf_t *elf, size_t symbol)
{
    const ElfW(Half) * version;
    const char *needed;
    unsigned index;

    if (elf->versions == 0)
        return NULL;
    version = process_elf_at(elf, elf->versions + symbol * sizeof(*version), sizeof(*version));
    index = version != NULL ? *version & 0x7fff : 0;
    needed = index > 1 ? need_of_version(elf, index) : NULL;
    return needed != NULL || index <= 1 ? needed : defined_version(elf, index);
}

const ElfW(Sym) * process_elf_symbol(const process_elf_t *elf, size_t index)
{
    return process_elf_at(elf, elf->symbols + index * sizeof(ElfW(Sym)), sizeof(ElfW(Sym)));
}

/* The dynamic linker's rule: without a version the default one counts, which is not hidden. */
static bool has_version(const process_elf_t *elf, const char *version, size_t index)
{
    const ElfW(Half) *own =
        elf->versions != 0 && elf->version_definitions.size > 0
            ? process_elf_at(elf, elf->versions + index * sizeof(*own), sizeof(*own))
            : NULL;
    const char *name;

    if (own == NULL)
        return true;
    if (version == NULL)
        return (*own & 0x8000) == 0;
    name = (*own & 0x7fff) > 1 ? defined_version(elf, *own & 0x7fff) : NULL;
    return name == NULL || strcmp(name, version) == 0;
}

static bool is_definition(const process_elf_t *elf, const process_elf_name_t *wanted, size_t index)
{
    const ElfW(Sym) *symbol = process_elf_symbol(elf, index);

    return symbol != NULL && symbol->st_shndx != SHN_UNDEF &&
           strcmp(process_elf_string(elf, symbol->st_name), wanted->name) == 0 &&
           has_version(elf, wanted->version, index);
}

/* Find the parts of the GNU hash table: bucket count, first hashed symbol, bloom words, shift; the
 * bloom filter, the buckets, and one hash per symbol whose last bit ends a bucket. A broken table
 * has no filter. */
static void read_gnu_hash(process_elf_t *elf, uintptr_t address)
{
    process_elf_hash_t *table = &elf->gnu_hash;
    size_t most = 0, size;
    const uint32_t *head = (const void *)bytes_from(elf, address, &most);

    if (address == 0 || most < 16 || (uintptr_t)head % _Alignof(ElfW(Addr)) != 0 || head[0] == 0 ||
        head[2] == 0)
        return;
    size = 16 + (size_t)head[2] * sizeof(ElfW(Addr)) + 4 * (size_t)head[0];
    if (size > most)
        return;
    table->bucket_count = head[0];
    table->first = head[1];
    table->filter_count = head[2];
    table->shift = head[3] % 32;
    table->filter = (const void *)(head + 4);
    table->buckets = (const void *)(table->filter + head[2]);
    table->chains = table->buckets + head[0];
    /* Each defined symbol has a chain word; other tables follow the last. */
    table->chain_count = (most - size) / 4;
}

/* Index of a definition by the GNU hash table; 0 if there is none. */
static size_t find_gnu(const process_elf_t *elf, const process_elf_name_t *wanted)
{
    const process_elf_hash_t *table = &elf->gnu_hash;
    uint32_t hash = wanted->hash;
    ElfW(Addr) filter = table->filter[hash / 64 % table->filter_count];

    if (((filter >> hash % 64) & (filter >> (hash >> table->shift) % 64) & 1) == 0)
        return 0;
    for (uint32_t i = table->buckets[hash % table->bucket_count];
         i >= table->first && i != 0 && i - table->first < table->chain_count; i++) {
        uint32_t chain = table->chains[i - table->first];

        if ((chain | 1) == (hash | 1) && is_definition(elf, wanted, i))
            return i;
        if ((chain & 1) != 0)
            return 0;
    }
    return 0;
}

/* The older table: counts of buckets and of symbols, the buckets, and the next symbol of each. */
static size_t find_old(const process_elf_t *elf, const process_elf_name_t *wanted)
{
    const uint32_t *head = process_elf_at(elf, elf->old_hash, 8);
    const uint32_t *next;
    uint32_t hash = 0;

    if (head == NULL || head[0] == 0)
        return 0;
    for (const char *c = wanted->name; *c != '\0'; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ ((hash & 0xf0000000) >> 24)) & 0x0fffffff;
    }
    next = process_elf_at(elf, elf->old_hash + 8 + 4 * (uintptr_t)(hash % head[0]), 4);
    for (uint32_t steps = 0; next != NULL && *next != 0 && steps < head[1]; steps++) {
        if (is_definition(elf, wanted, *next))
            return *next;
        next = process_elf_at(elf, elf->old_hash + 8 + 4 * ((uintptr_t)head[0] + *next), 4);
    }
    return 0;
}

process_elf_name_t process_elf_name(const char *name, const char *version)
{
    process_elf_name_t wanted = {.name = name, .version = version, .hash = 5381};

    for (const char *c = name; *c != '\0'; c++)
        wanted.hash = wanted.hash * 33 + (unsigned char)*c;
    return wanted;
}

const ElfW(Sym) *
    process_elf_lookup_name(const process_elf_t *elf, const process_elf_name_t *wanted)
{
    size_t found = 0;

    if (elf->gnu_hash.filter != NULL)
        found = find_gnu(elf, wanted);
    else if (elf->old_hash != 0)
        found = find_old(elf, wanted);
    return found != 0 ? process_elf_symbol(elf, found) : NULL;
}

const ElfW(Sym) * process_elf_lookup(const process_elf_t *elf, const char *name)
{
    process_elf_name_t wanted = process_elf_name(name, NULL);

    return process_elf_lookup_name(elf, &wanted);
}

/* How many symbols there are, and the first that may be defined. */
static size_t count_symbols(const process_elf_t *elf, size_t *first_p)
{
    const process_elf_hash_t *table = &elf->gnu_hash;
    const uint32_t *old = elf->old_hash != 0 ? process_elf_at(elf, elf->old_hash, 8) : NULL;
    size_t n;

    *first_p = table->filter != NULL ? table->first : 1;
    if (table->filter == NULL || old != NULL)
        return old != NULL ? old[1] : 0;
    for (n = table->first; n - table->first < table->chain_count; n++) {
        const void *symbol = process_elf_symbol(elf, n);

        if (symbol == NULL || symbol == elf->strings)
            break;
    }
    return n;
}

/* ---- Symbols by address ---- */

typedef struct {
    uintptr_t low, reach; /* reach: the largest end of this symbol and all before it */
    size_t number;
} index_entry_t;

struct process_elf_index {
    size_t count;
    index_entry_t entry[]; /* by `low`, then number */
};

static uintptr_t end_of(const ElfW(Sym) * symbol)
{
    uintptr_t size = symbol->st_size > 0 ? symbol->st_size : 1;

    return size < UINTPTR_MAX - symbol->st_value ? symbol->st_value + size : UINTPTR_MAX;
}

static int by_address(const void *left, const void *right)
{
    const index_entry_t *a = left, *b = right;

    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* NULL: memory ran out. */
static struct process_elf_index *make_index(const process_elf_t *elf)
{
    size_t first, count = count_symbols(elf, &first), n = 0;
    struct process_elf_index *index =
        xy_malloc(sizeof(*index) + (count + 1) * sizeof(index->entry[0]));
    uintptr_t reach = 0;

    for (size_t i = first; i < count && index != NULL; i++) {
        const ElfW(Sym) *symbol = process_elf_symbol(elf, i);

        if (symbol != NULL && symbol->st_shndx != SHN_UNDEF)
            index->entry[n++] = (index_entry_t){symbol->st_value, end_of(symbol), i};
    }
    if (index == NULL)
        return NULL;
    qsort(index->entry, n, sizeof(index->entry[0]), by_address);
    for (size_t i = 0; i < n; i++) {
        reach = index->entry[i].reach > reach ? index->entry[i].reach : reach;
        index->entry[i].reach = reach;
    }
    index->count = n;
    return index;
}

void process_elf_index(process_elf_t *elf)
{
    struct process_elf_index *none = NULL, *made;

    if (atomic_load_explicit(&elf->index, memory_order_acquire) != NULL)
        return;
    made = make_index(elf);
    if (made != NULL && !atomic_compare_exchange_strong_explicit(
                            &elf->index, &none, made, memory_order_acq_rel, memory_order_relaxed))
        xy_free(made); /* another thread was faster */
}

static bool has_address(const ElfW(Sym) * symbol, uintptr_t address)
{
    return symbol->st_value <= address && address < end_of(symbol);
}

/* Find the first of the symbols that begin at the same address, as below. */
static const ElfW(Sym) *
    find_indexed(const process_elf_t *elf, const struct process_elf_index *index, uintptr_t address)
{
    const ElfW(Sym) *best = NULL;
    size_t low = 0, high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (index->entry[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && index->entry[low - 1].reach > address; low--) {
        const ElfW(Sym) *symbol = process_elf_symbol(elf, index->entry[low - 1].number);

        if (best != NULL && symbol->st_value != best->st_value)
            break;
        if (has_address(symbol, address))
            best = symbol;
    }
    return best;
}

const ElfW(Sym) * process_elf_nearest(const process_elf_t *elf, uintptr_t address)
{
    const struct process_elf_index *index = atomic_load_explicit(&elf->index, memory_order_acquire);
    const ElfW(Sym) *best = NULL;
    size_t first, count;

    if (index != NULL)
        return find_indexed(elf, index, address);
    count = count_symbols(elf, &first);
    for (size_t i = first; i < count; i++) {
        const ElfW(Sym) *symbol = process_elf_symbol(elf, i);

        if (symbol != NULL && symbol->st_shndx != SHN_UNDEF && has_address(symbol, address) &&
            (best == NULL || symbol->st_value > best->st_value))
            best = symbol;
    }
    return best;
}

bool process_elf_defines_any(const process_elf_t *elf,
                             bool (*is_wanted)(const char *name, void *argument), void *argument)
{
    size_t first, count = count_symbols(elf, &first);

    for (size_t i = first; i < count; i++) {
        const ElfW(Sym) *symbol = process_elf_symbol(elf, i);

        if (symbol != NULL && symbol->st_shndx != SHN_UNDEF &&
            is_wanted(process_elf_string(elf, symbol->st_name), argument))
            return true;
    }
    return false;
}

bool process_elf_is_allocator(const process_elf_t *elf)
{
    return process_elf_lookup(elf, "malloc") != NULL && process_elf_lookup(elf, "free") != NULL;
}

/* Compilers add one word of .data to every library, __dso_handle, which holds its own address. */
static bool is_own_handle(const process_elf_t *elf, const ElfW(Shdr) * section)
{
    const ElfW(Rela) *entry = process_elf_at(elf, elf->rela.address, elf->rela.size);
    const ElfW(Addr) *content = process_elf_at(elf, section->sh_addr, sizeof(*content));

    if (section->sh_size != sizeof(*content) || content == NULL)
        return false;
    for (size_t i = 0; entry != NULL && i < elf->rela.size / sizeof(*entry); i++)
        if (entry[i].r_offset == section->sh_addr)
            return ELF64_R_SYM(entry[i].r_info) == 0 &&
                   (ElfW(Addr))entry[i].r_addend == section->sh_addr;
    return *content == section->sh_addr; /* DT_RELR: the addend is there */
}

/* Is a section no variable of the code: read only after relocation, or for the dynamic linker? */
static bool is_constant(const process_elf_t *elf, const ElfW(Shdr) * section, const char *name)
{
    const ElfW(Phdr) *relro = elf->relro;
    bool is_relro = relro != NULL && section->sh_addr >= relro->p_vaddr &&
                    section->sh_addr + section->sh_size <= relro->p_vaddr + relro->p_memsz;

    return is_relro || strcmp(name, ".got.plt") == 0 || strcmp(name, ".got") == 0 ||
           (strcmp(name, ".data") == 0 && is_own_handle(elf, section));
}

bool process_elf_has_variables(const process_elf_t *elf)
{
    const ElfW(Ehdr) *h = elf->header;
    const ElfW(Shdr) *sections = (const void *)(elf->bytes + h->e_shoff), *names;

    if (elf->tls != NULL || h->e_shoff == 0 || h->e_shoff > elf->size ||
        h->e_shoff % _Alignof(ElfW(Shdr)) != 0 || h->e_shentsize != sizeof(*sections) ||
        h->e_shnum > (elf->size - h->e_shoff) / sizeof(*sections) || h->e_shstrndx >= h->e_shnum)
        return true;
    names = &sections[h->e_shstrndx];
    if (names->sh_offset > elf->size || names->sh_size > elf->size - names->sh_offset ||
        names->sh_size == 0 || elf->bytes[names->sh_offset + names->sh_size - 1] != '\0')
        return true;
    for (size_t i = 0; i < h->e_shnum; i++)
        if ((sections[i].sh_flags & SHF_WRITE) != 0 && (sections[i].sh_flags & SHF_ALLOC) != 0 &&
            sections[i].sh_size > 0 &&
            (sections[i].sh_name >= names->sh_size ||
             !is_constant(elf, &sections[i], elf->bytes + names->sh_offset + sections[i].sh_name)))
            return true;
    return false;
}

/* Whether all segments lie inside the file and have plausible sizes. */
static bool segments_are_sane(const process_elf_t *elf)
{
    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];

        if (s->p_type != PT_LOAD && s->p_type != PT_DYNAMIC && s->p_type != PT_TLS)
            continue;
        if (s->p_offset > elf->size || s->p_filesz > elf->size - s->p_offset ||
            s->p_memsz < s->p_filesz || s->p_vaddr > UINTPTR_MAX / 2 ||
            s->p_memsz > UINTPTR_MAX / 4 ||
            (s->p_type == PT_DYNAMIC && s->p_offset % _Alignof(ElfW(Dyn)) != 0))
            return false;
    }
    return true;
}

/* Set the bounds of the image and its writable part, and note the segments for TLS, unwinding and
 * RELRO. */
static void measure(process_elf_t *elf)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    elf->low = UINTPTR_MAX;
    elf->writable = UINTPTR_MAX;
    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];
        uintptr_t first = s->p_vaddr & -page, end = (s->p_vaddr + s->p_memsz + page - 1) & -page;

        if (s->p_type == PT_TLS && s->p_memsz > 0)
            elf->tls = s;
        if (s->p_type == PT_GNU_EH_FRAME)
            elf->unwind = s->p_vaddr;
        if (s->p_type == PT_GNU_RELRO)
            elf->relro = s;
        if (s->p_type != PT_LOAD || s->p_memsz == 0)
            continue;
        elf->low = first < elf->low ? first : elf->low;
        elf->high = end > elf->high ? end : elf->high;
        if ((s->p_flags & PF_W) != 0 && first < elf->writable)
            elf->writable = first;
        else if ((s->p_flags & PF_W) == 0 && end > elf->writable)
            elf->has_code_in_writable = true;
    }
    if (elf->writable == UINTPTR_MAX)
        elf->writable = elf->high;
}

typedef struct {
    uintptr_t strings, needed[512];
    size_t needed_count;
    uintptr_t soname, rpath, runpath, gnu_hash;
} raw_dynamic_t;

/* Store an entry of the dynamic section about relocations, constructors, flags or versions. */
static void read_relocation_entry(process_elf_t *elf, const ElfW(Dyn) * d)
{
    switch (d->d_tag) {
    case DT_RELA:
        elf->rela.address = d->d_un.d_ptr;
        break;
    case DT_RELASZ:
        elf->rela.size = d->d_un.d_val;
        break;
    case DT_JMPREL:
        elf->plt.address = d->d_un.d_ptr;
        break;
    case DT_PLTRELSZ:
        elf->plt.size = d->d_un.d_val;
        break;
    case 36:
        elf->relr.address = d->d_un.d_ptr;
        break; /* DT_RELR */
    case 35:
        elf->relr.size = d->d_un.d_val;
        break; /* DT_RELRSZ */
    case DT_PREINIT_ARRAY:
        elf->preinit.address = d->d_un.d_ptr;
        break;
    case DT_PREINIT_ARRAYSZ:
        elf->preinit.size = d->d_un.d_val;
        break;
    case DT_INIT_ARRAY:
        elf->init.address = d->d_un.d_ptr;
        break;
    case DT_INIT_ARRAYSZ:
        elf->init.size = d->d_un.d_val;
        break;
    case DT_FINI_ARRAY:
        elf->fini.address = d->d_un.d_ptr;
        break;
    case DT_FINI_ARRAYSZ:
        elf->fini.size = d->d_un.d_val;
        break;
    case DT_INIT:
        elf->init_function = d->d_un.d_ptr;
        break;
    case DT_FINI:
        elf->fini_function = d->d_un.d_ptr;
        break;
    case DT_TEXTREL:
        elf->has_text_relocations = true;
        break;
    case DT_FLAGS:
        elf->has_static_tls = (d->d_un.d_val & DF_STATIC_TLS) != 0;
        elf->is_symbolic |= (d->d_un.d_val & DF_SYMBOLIC) != 0;
        elf->binds_now |= (d->d_un.d_val & DF_BIND_NOW) != 0;
        break;
    case DT_FLAGS_1:
        elf->binds_now |= (d->d_un.d_val & DF_1_NOW) != 0;
        break;
    case DT_SYMBOLIC:
        elf->is_symbolic = true;
        break;
    case DT_BIND_NOW:
        elf->binds_now = true;
        break;
    case DT_VERDEF:
        elf->version_definitions.address = d->d_un.d_ptr;
        break;
    case DT_VERDEFNUM:
        elf->version_definitions.size = d->d_un.d_val;
        break;
    case DT_VERNEED:
        elf->version_needs.address = d->d_un.d_ptr;
        break;
    case DT_VERNEEDNUM:
        elf->version_needs.size = d->d_un.d_val;
        break;
    default:
        break;
    }
}

/* Store an entry of the dynamic section; strings are resolved later, in finish_dynamic(). */
static void read_entry(process_elf_t *elf, const ElfW(Dyn) * d, raw_dynamic_t *raw)
{
    switch (d->d_tag) {
    case DT_STRTAB:
        raw->strings = d->d_un.d_ptr;
        break;
    case DT_STRSZ:
        elf->strings_size = d->d_un.d_val;
        break;
    case DT_SYMTAB:
        elf->symbols = d->d_un.d_ptr;
        break;
    case DT_VERSYM:
        elf->versions = d->d_un.d_ptr;
        break;
    case DT_GNU_HASH:
        raw->gnu_hash = d->d_un.d_ptr;
        break;
    case DT_HASH:
        elf->old_hash = d->d_un.d_ptr;
        break;
    case DT_SONAME:
        raw->soname = d->d_un.d_val;
        break;
    case DT_RPATH:
        raw->rpath = d->d_un.d_val;
        break;
    case DT_RUNPATH:
        raw->runpath = d->d_un.d_val;
        break;
    case DT_NEEDED:
        if (raw->needed_count < sizeof(raw->needed) / sizeof(raw->needed[0]))
            raw->needed[raw->needed_count++] = d->d_un.d_val;
        break;
    default:
        read_relocation_entry(elf, d);
    }
}

/* Resolve the names in the dynamic section, now that the string table is known; checks that table.
 */
static xy_status_t finish_dynamic(process_elf_t *elf, const raw_dynamic_t *raw)
{
    elf->strings = process_elf_at(elf, raw->strings, elf->strings_size);
    if (elf->strings == NULL || elf->strings_size == 0 ||
        elf->strings[elf->strings_size - 1] != '\0')
        return xy_fail_at(XY_EPARSE, elf->path, 0, "the dynamic string table is broken");
    read_gnu_hash(elf, raw->gnu_hash);
    elf->soname = raw->soname != 0 ? process_elf_string(elf, raw->soname) : NULL;
    elf->rpath = raw->rpath != 0 ? process_elf_string(elf, raw->rpath) : NULL;
    elf->runpath = raw->runpath != 0 ? process_elf_string(elf, raw->runpath) : NULL;
    for (size_t i = 0; i < raw->needed_count; i++) {
        const char *name = process_elf_string(elf, raw->needed[i]);

        if (xy_vec_append(&elf->needed, &name) != XY_OK)
            return xy_fail_memory("reading a program");
    }
    return XY_OK;
}

static xy_status_t read_dynamic(process_elf_t *elf, const ElfW(Phdr) * segment)
{
    const ElfW(Dyn) *d = (const void *)(elf->bytes + segment->p_offset);
    size_t count = segment->p_filesz / sizeof(*d);
    raw_dynamic_t raw = {.needed_count = 0};

    for (size_t i = 0; i < count && d[i].d_tag != DT_NULL; i++)
        read_entry(elf, &d[i], &raw);
    return finish_dynamic(elf, &raw);
}

/* Whether this is an ELF file for this machine, whose headers it notes; any other ELF file is
 * foreign. */
static bool is_header_usable(process_elf_t *elf)
{
    const ElfW(Ehdr) *h = (const void *)elf->bytes;

    if (elf->size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    elf->kind = PROCESS_ELF_FOREIGN;
    if (h->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        h->e_machine != THIS_MACHINE || h->e_phentsize != sizeof(ElfW(Phdr)) ||
        (h->e_type != ET_DYN && h->e_type != ET_EXEC) || h->e_phoff > elf->size ||
        h->e_phoff % _Alignof(ElfW(Phdr)) != 0 ||
        h->e_phnum > (elf->size - h->e_phoff) / sizeof(ElfW(Phdr)))
        return false;
    elf->header = h;
    elf->segments = (const void *)(elf->bytes + h->e_phoff);
    elf->segment_count = h->e_phnum;
    return true;
}

/* Read headers, segments and the dynamic section; a file of an unknown kind is no error. */
static xy_status_t parse(process_elf_t *elf)
{
    const ElfW(Phdr) *dynamic = NULL;
    bool has_interpreter = false;

    if (!is_header_usable(elf))
        return XY_OK;
    if (!segments_are_sane(elf))
        return xy_fail_at(XY_EPARSE, elf->path, 0, "the program headers are broken");
    measure(elf);
    if (elf->tls != NULL && elf->tls->p_filesz > 0 &&
        (elf->tls->p_vaddr < elf->low || elf->tls->p_vaddr + elf->tls->p_filesz > elf->high))
        return xy_fail_at(XY_EPARSE, elf->path, 0, "the program headers are broken");
    for (int i = 0; i < elf->segment_count; i++) {
        if (elf->segments[i].p_type == PT_DYNAMIC)
            dynamic = &elf->segments[i];
        else if (elf->segments[i].p_type == PT_INTERP)
            has_interpreter = true;
    }
    if (elf->header->e_type == ET_EXEC)
        elf->kind = has_interpreter ? PROCESS_ELF_FIXED : PROCESS_ELF_STATIC;
    else
        elf->kind = has_interpreter ? PROCESS_ELF_PIE : PROCESS_ELF_LIBRARY;
    return dynamic != NULL ? read_dynamic(elf, dynamic) : XY_OK;
}

/* Map the file and parse it; process_elf_close() releases everything, also after a failure. */
static xy_status_t map(process_elf_t *elf)
{
    struct stat about;

    elf->fd = open(elf->path, O_RDONLY | O_CLOEXEC);
    if (elf->fd < 0 || fstat(elf->fd, &about) != 0)
        return xy_fail_errno(errno, elf->path, "open");
    elf->size = (size_t)about.st_size;
    elf->device = about.st_dev;
    elf->number = about.st_ino;
    if (elf->size == 0)
        return XY_OK;
    elf->bytes = mmap(NULL, elf->size, PROT_READ, MAP_PRIVATE, elf->fd, 0);
    if (elf->bytes == MAP_FAILED) {
        elf->bytes = NULL;
        return xy_fail_errno(errno, elf->path, "map");
    }
    return parse(elf);
}

xy_status_t process_elf_open(const char *path, process_elf_t **elf_p)
{
    process_elf_t *elf = xy_calloc(1, sizeof(*elf));
    xy_status_t st;

    if (elf == NULL)
        return xy_fail_memory("opening a program");
    elf->fd = -1;
    elf->needed = XY_VEC_INIT(const char *);
    elf->path = xy_strdup(path);
    st = elf->path != NULL ? map(elf) : xy_fail_memory("opening a program");
    if (st != XY_OK) {
        process_elf_close(elf);
        return st;
    }
    *elf_p = elf;
    return XY_OK;
}

void process_elf_close(process_elf_t *elf)
{
    if (elf == NULL)
        return;
    if (elf->bytes != NULL)
        munmap((void *)(uintptr_t)elf->bytes, elf->size);
    if (elf->fd >= 0)
        close(elf->fd);
    xy_vec_cleanup(&elf->needed);
    xy_free(atomic_load_explicit(&elf->index, memory_order_relaxed));
    xy_free(elf->path);
    xy_free(elf);
}
