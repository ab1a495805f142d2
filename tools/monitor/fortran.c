/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs in Fortran. The Fortran libraries of Open MPI and MPICH call the PMPI functions of the C
 * library, most of them (MPICH: those of mpi_f08), so functions with MPI names in front of the
 * library are not reached. When the program starts, the places through which a Fortran library
 * calls PMPI_Send and its like get the address of this library's MPI_Send. Everything else that
 * calls PMPI functions (this library, other tools, the MPI library itself) stays as it is.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor.h"

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#else
enum { JUMP_SLOT = -1, GLOB_DAT = -1 }; /* unknown: Fortran programs are not monitored */
#endif

/* A library in memory. */
typedef struct {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *strings;
} object_t;

/* The function of this library that has the name without its P; NULL: it has none. */
static void *counted(const char *name)
{
    static void *self;
    void *function;
    Dl_info own, other;

    if (dladdr((void *)(uintptr_t)MPI_Send, &own) == 0)
        return NULL;
    if (self == NULL)
        self = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    function = self != NULL ? dlsym(self, name + 1) : NULL;
    return function != NULL && dladdr(function, &other) != 0 && other.dli_fbase == own.dli_fbase
               ? function
               : NULL;
}

/* The linker has made such places read-only where the library asks for it. */
static void put(void **place, void *function)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)place & -page;

    if (mprotect((void *)first, page, PROT_READ | PROT_WRITE) == 0)
        *place = function;
}

/* Redirects the PMPI calls of a Fortran library to the functions that count. */
static void redirect(const object_t *object, const ElfW(Rela) * relocations, size_t size)
{
    for (size_t i = 0; i < size / sizeof(*relocations); i++) {
        const ElfW(Rela) *r = &relocations[i];
        const char *name = object->strings + object->symbols[ELF64_R_SYM(r->r_info)].st_name;
        void *function;

        if ((ELF64_R_TYPE(r->r_info) != JUMP_SLOT && ELF64_R_TYPE(r->r_info) != GLOB_DAT) ||
            strncmp(name, "PMPI_", 5) != 0)
            continue;
        function = counted(name);
        if (function != NULL)
            put((void **)(object->base + r->r_offset), function);
    }
}

/* The dynamic linker has made the addresses in the dynamic section absolute. */
static void redirect_object(uintptr_t base, const ElfW(Dyn) * dynamic)
{
    object_t object = {.base = base};
    uintptr_t plt = 0, rela = 0;
    size_t plt_size = 0, rela_size = 0;

    for (; dynamic->d_tag != DT_NULL; dynamic++)
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            object.symbols = (const ElfW(Sym) *)dynamic->d_un.d_ptr;
            break;
        case DT_STRTAB:
            object.strings = (const char *)dynamic->d_un.d_ptr;
            break;
        case DT_JMPREL:
            plt = dynamic->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            plt_size = dynamic->d_un.d_val;
            break;
        case DT_RELA:
            rela = dynamic->d_un.d_ptr;
            break;
        case DT_RELASZ:
            rela_size = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    if (object.symbols == NULL || object.strings == NULL)
        return;
    redirect(&object, (const ElfW(Rela) *)plt, plt_size);
    redirect(&object, (const ElfW(Rela) *)rela, rela_size);
}

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    static const char *const names[] = {"/libmpi_mpifh", "/libmpi_usempi", "/libmpichfort",
                                        "/libmpifort"};

    (void)size, (void)unused;
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
        for (int i = 0; strstr(info->dlpi_name, names[n]) != NULL && i < info->dlpi_phnum; i++)
            if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
                redirect_object(info->dlpi_addr,
                                (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    return 0;
}

__attribute__((constructor)) static void redirect_all(void)
{
    dl_iterate_phdr(visit, NULL);
}
