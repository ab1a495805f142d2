/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/image/elf.h"

#include <errno.h>
#include <fcntl.h>
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

const void *mpi_elf_at(const mpi_elf_t *elf, uintptr_t address, size_t size)
{
    for (int i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *s = &elf->segments[i];

        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz ||
            size > s->p_filesz - (address - s->p_vaddr))
            continue;
        return elf->bytes + s->p_offset + (address - s->p_vaddr);
    }
    return NULL;
}

const char *mpi_elf_string(const mpi_elf_t *elf, size_t offset)
{
    return offset < elf->strings_size ? elf->strings + offset : "";
}

static const char *need_of_version(const mpi_elf_t *elf, unsigned index)
{
    uintptr_t at = elf->version_needs.address;
    const ElfW(Verneed) * need;

    for (size_t i = 0; i < elf->version_needs.size; i++) {
        uintptr_t aux_at;

        need = mpi_elf_at(elf, at, sizeof(*need));
        if (need == NULL)
            return NULL;
        aux_at = at + need->vn_aux;
        for (unsigned j = 0; j < need->vn_cnt; j++) {
            const ElfW(Vernaux) *aux = mpi_elf_at(elf, aux_at, sizeof(*aux));

            if (aux == NULL)
                return NULL;
            if ((aux->vna_other & 0x7fff) == index)
                return mpi_elf_string(elf, aux->vna_name);
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

const char *mpi_elf_version(const mpi_elf_t *elf, size_t symbol)
{
    const ElfW(Half) * version;
    unsigned index;

    if (elf->versions == 0)
        return NULL;
    version = mpi_elf_at(elf, elf->versions + symbol * sizeof(*version), sizeof(*version));
    index = version != NULL ? *version & 0x7fff : 0;
    return index > 1 ? need_of_version(elf, index) : NULL;
}

const ElfW(Sym) * mpi_elf_symbol(const mpi_elf_t *elf, size_t index)
{
    return mpi_elf_at(elf, elf->symbols + index * sizeof(ElfW(Sym)), sizeof(ElfW(Sym)));
}

static bool is_definition(const mpi_elf_t *elf, size_t index, const char *name)
{
    const ElfW(Sym) *symbol = mpi_elf_symbol(elf, index);

    return symbol != NULL && symbol->st_shndx != SHN_UNDEF &&
           strcmp(mpi_elf_string(elf, symbol->st_name), name) == 0;
}

/* The table: bucket count, first hashed symbol, bloom words, shift; the bloom filter, the buckets,
 * and one hash per symbol whose last bit ends a bucket. The filter is skipped: few names are asked
 * for. */
const ElfW(Sym) * mpi_elf_lookup(const mpi_elf_t *elf, const char *name)
{
    const uint32_t *head = elf->gnu_hash != 0 ? mpi_elf_at(elf, elf->gnu_hash, 16) : NULL;
    const uint32_t *bucket, *chain;
    uint32_t hash = 5381;
    uintptr_t buckets;

    if (head == NULL || head[0] == 0)
        return NULL;
    for (const char *c = name; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    buckets = elf->gnu_hash + 16 + (uintptr_t)head[2] * sizeof(ElfW(Addr));
    bucket = mpi_elf_at(elf, buckets + 4 * (uintptr_t)(hash % head[0]), 4);
    for (uint32_t i = bucket != NULL ? *bucket : 0; i >= head[1] && i != 0; i++) {
        chain = mpi_elf_at(elf, buckets + 4 * ((uintptr_t)head[0] + i - head[1]), 4);
        if (chain == NULL)
            return NULL;
        if ((*chain | 1) == (hash | 1) && is_definition(elf, i, name))
            return mpi_elf_symbol(elf, i);
        if ((*chain & 1) != 0)
            return NULL;
    }
    return NULL;
}

const ElfW(Sym) * mpi_elf_nearest(const mpi_elf_t *elf, uintptr_t address)
{
    const ElfW(Sym) *best = NULL, *symbol;

    for (size_t i = 1; (symbol = mpi_elf_symbol(elf, i)) != NULL; i++) {
        if ((const char *)symbol >= elf->strings && elf->strings > elf->bytes + elf->symbols)
            break; /* the string table follows the symbols */
        if (symbol->st_shndx != SHN_UNDEF && symbol->st_value <= address &&
            address - symbol->st_value < (symbol->st_size > 0 ? symbol->st_size : 1) &&
            (best == NULL || symbol->st_value > best->st_value))
            best = symbol;
    }
    return best;
}

bool mpi_elf_defines_prefix(const mpi_elf_t *elf, const char *prefix)
{
    const uint32_t *head = elf->gnu_hash != 0 ? mpi_elf_at(elf, elf->gnu_hash, 16) : NULL;
    const ElfW(Sym) * symbol;
    const uint32_t *chain;
    uintptr_t chains;

    if (head == NULL)
        return false;
    /* The symbols that are defined are those behind the first hashed one; each has a chain word. */
    chains = elf->gnu_hash + 16 + (uintptr_t)head[2] * sizeof(ElfW(Addr)) + 4 * (uintptr_t)head[0];
    for (size_t i = head[1]; (symbol = mpi_elf_symbol(elf, i)) != NULL; i++) {
        const char *name = mpi_elf_string(elf, symbol->st_name);

        chain = mpi_elf_at(elf, chains + 4 * (i - head[1]), 4);
        if (chain == NULL || (const char *)symbol == elf->strings)
            return false;
        if (symbol->st_shndx != SHN_UNDEF && strncmp(name, prefix, strlen(prefix)) == 0)
            return true;
    }
    return false;
}

static bool segments_are_sane(const mpi_elf_t *elf)
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

static void measure(mpi_elf_t *elf)
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
    uintptr_t soname, rpath, runpath;
} raw_dynamic_t;

static void read_relocation_entry(mpi_elf_t *elf, const ElfW(Dyn) * d)
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

static void read_entry(mpi_elf_t *elf, const ElfW(Dyn) * d, raw_dynamic_t *raw)
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
        elf->gnu_hash = d->d_un.d_ptr;
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

static xy_status_t finish_dynamic(mpi_elf_t *elf, const raw_dynamic_t *raw)
{
    elf->strings = mpi_elf_at(elf, raw->strings, elf->strings_size);
    if (elf->strings == NULL || elf->strings_size == 0 ||
        elf->strings[elf->strings_size - 1] != '\0')
        return xy_fail_at(XY_EPARSE, elf->path, 0, "the dynamic string table is broken");
    elf->soname = raw->soname != 0 ? mpi_elf_string(elf, raw->soname) : NULL;
    elf->rpath = raw->rpath != 0 ? mpi_elf_string(elf, raw->rpath) : NULL;
    elf->runpath = raw->runpath != 0 ? mpi_elf_string(elf, raw->runpath) : NULL;
    for (size_t i = 0; i < raw->needed_count; i++) {
        const char *name = mpi_elf_string(elf, raw->needed[i]);

        if (xy_vec_append(&elf->needed, &name) != XY_OK)
            return xy_fail_memory("reading a program");
    }
    return XY_OK;
}

static xy_status_t read_dynamic(mpi_elf_t *elf, const ElfW(Phdr) * segment)
{
    const ElfW(Dyn) *d = (const void *)(elf->bytes + segment->p_offset);
    size_t count = segment->p_filesz / sizeof(*d);
    raw_dynamic_t raw = {.needed_count = 0};

    for (size_t i = 0; i < count && d[i].d_tag != DT_NULL; i++)
        read_entry(elf, &d[i], &raw);
    return finish_dynamic(elf, &raw);
}

static bool is_header_usable(mpi_elf_t *elf)
{
    const ElfW(Ehdr) *h = (const void *)elf->bytes;

    if (elf->size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    elf->kind = XMPI_ELF_FOREIGN;
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

static xy_status_t parse(mpi_elf_t *elf)
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
        elf->kind = has_interpreter ? XMPI_ELF_FIXED : XMPI_ELF_STATIC;
    else
        elf->kind = has_interpreter ? XMPI_ELF_PIE : XMPI_ELF_LIBRARY;
    return dynamic != NULL ? read_dynamic(elf, dynamic) : XY_OK;
}

static xy_status_t map(mpi_elf_t *elf)
{
    struct stat about;

    elf->fd = open(elf->path, O_RDONLY | O_CLOEXEC);
    if (elf->fd < 0 || fstat(elf->fd, &about) != 0)
        return xy_fail_errno(errno, elf->path, "open");
    elf->size = (size_t)about.st_size;
    if (elf->size == 0)
        return XY_OK;
    elf->bytes = mmap(NULL, elf->size, PROT_READ, MAP_PRIVATE, elf->fd, 0);
    if (elf->bytes == MAP_FAILED) {
        elf->bytes = NULL;
        return xy_fail_errno(errno, elf->path, "map");
    }
    return parse(elf);
}

xy_status_t mpi_elf_open(const char *path, mpi_elf_t **elf_p)
{
    mpi_elf_t *elf = xy_calloc(1, sizeof(*elf));
    xy_status_t st;

    if (elf == NULL)
        return xy_fail_memory("opening a program");
    elf->fd = -1;
    elf->needed = XY_VEC_INIT(const char *);
    elf->path = xy_strdup(path);
    st = elf->path != NULL ? map(elf) : xy_fail_memory("opening a program");
    if (st != XY_OK) {
        mpi_elf_close(elf);
        return st;
    }
    *elf_p = elf;
    return XY_OK;
}

void mpi_elf_close(mpi_elf_t *elf)
{
    if (elf == NULL)
        return;
    if (elf->bytes != NULL)
        munmap((void *)(uintptr_t)elf->bytes, elf->size);
    if (elf->fd >= 0)
        close(elf->fd);
    xy_vec_cleanup(&elf->needed);
    xy_free(elf->path);
    xy_free(elf);
}
