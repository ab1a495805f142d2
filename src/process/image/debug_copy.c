/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy of a program for gdb, in which its variables are local symbols.
 *
 * gdb takes a global variable of a shared object from the first object that has a symbol of that
 * name, because the main program may hold a copy of it. Among images that is always the first
 * process's. Local symbols are not looked for elsewhere, so that gdb stays in the image it found
 * the variable in. The copy is a file in memory that lives as long as the host.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/image/load_program.h"

static void make_local(char *bytes, size_t size, const ElfW(Shdr) * section)
{
    ElfW(Sym) *symbols = (void *)(bytes + section->sh_offset);

    if (section->sh_type != SHT_SYMTAB || section->sh_offset > size ||
        section->sh_size > size - section->sh_offset ||
        section->sh_offset % _Alignof(ElfW(Sym)) != 0)
        return;
    for (size_t i = 0; i < section->sh_size / sizeof(*symbols); i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT && symbols[i].st_shndx != SHN_UNDEF)
            symbols[i].st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
}

static void make_variables_local(char *bytes, size_t size)
{
    const ElfW(Ehdr) *header = (const void *)bytes;
    const ElfW(Shdr) *sections = (const void *)(bytes + header->e_shoff);

    if (header->e_shoff > size || header->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
        header->e_shentsize != sizeof(*sections) ||
        header->e_shnum > (size - header->e_shoff) / sizeof(*sections))
        return;
    for (size_t i = 0; i < header->e_shnum; i++)
        make_local(bytes, size, &sections[i]);
}

char *process_elf_debug_copy(const process_elf_t *elf)
{
    int fd = memfd_create("program", MFD_CLOEXEC);
    char *bytes = fd >= 0 && ftruncate(fd, (off_t)elf->size) == 0
                      ? mmap(NULL, elf->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                      : MAP_FAILED;

    if (bytes == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    memcpy(bytes, elf->bytes, elf->size);
    make_variables_local(bytes, elf->size);
    munmap(bytes, elf->size);
    return xy_sprintf("/proc/%ld/fd/%d", (long)getpid(), fd);
}
