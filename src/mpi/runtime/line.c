/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/line.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The part of libdwfl's interface that is used here, which has been stable since its first release:
 * declared because the library is found at run time. */
typedef struct dwfl dwfl_t;
typedef struct dwfl_module dwfl_module_t;
typedef struct dwfl_line dwfl_line_t;

typedef struct {
    int (*find_elf)(dwfl_module_t *, void **, const char *, uint64_t, char **, void **);
    int (*find_debuginfo)(dwfl_module_t *, void **, const char *, uint64_t, const char *,
                          const char *, uint32_t, char **);
    int (*section_address)(dwfl_module_t *, void **, const char *, uint64_t, const char *, uint32_t,
                           const void *, uint64_t *);
    char **debuginfo_path;
} callbacks_t;

/* An entry of the debugging information (Dwarf_Die): only its size is known here. */
typedef struct {
    void *parts[4];
} die_t;
enum { DW_TAG_SUBPROGRAM = 0x2e };

typedef Elf64_Sym symbol_t; /* GElf_Sym, on every machine */

static struct {
    dwfl_t *(*begin)(const callbacks_t *callbacks);
    void (*end)(dwfl_t *dwfl);
    dwfl_module_t *(*report_elf)(dwfl_t *dwfl, const char *name, const char *path, int fd,
                                 uint64_t base, bool add_vaddr);
    int (*report_end)(dwfl_t *dwfl, void *removed, void *arg);
    const char *(*module_info)(dwfl_module_t *module, void ***userdata, uint64_t *start,
                               uint64_t *end, uint64_t *dwarf_bias, uint64_t *symbol_bias,
                               const char **main_file, const char **debug_file);
    dwfl_line_t *(*module_getsrc)(dwfl_module_t *module, uint64_t address);
    const char *(*lineinfo)(dwfl_line_t *line, uint64_t *address, int *number, int *column,
                            uint64_t *time, uint64_t *length);
    const char *(*line_comp_dir)(dwfl_line_t *line);
    const char *(*module_addrname)(dwfl_module_t *module, uint64_t address);
    const char *(*module_addrinfo)(dwfl_module_t *module, uint64_t address, uint64_t *offset,
                                   symbol_t *symbol, uint32_t *section, void **elf, uint64_t *bias);
    die_t *(*module_addrdie)(dwfl_module_t *module, uint64_t address, uint64_t *bias);
    int (*getscopes)(die_t *unit, uint64_t address, die_t **scopes);
    int (*tag)(die_t *die);
    const char *(*diename)(die_t *die);
    int (*standard_find_debuginfo)(dwfl_module_t *, void **, const char *, uint64_t, const char *,
                                   const char *, uint32_t, char **);
} dw;

static const mpi_line_import_t symbols[] = {
    {"dwfl_begin", &dw.begin},
    {"dwfl_end", &dw.end},
    {"dwfl_report_elf", &dw.report_elf},
    {"dwfl_report_end", &dw.report_end},
    {"dwfl_module_info", &dw.module_info},
    {"dwfl_module_getsrc", &dw.module_getsrc},
    {"dwfl_lineinfo", &dw.lineinfo},
    {"dwfl_line_comp_dir", &dw.line_comp_dir},
    {"dwfl_module_addrname", &dw.module_addrname},
    {"dwfl_module_addrinfo", &dw.module_addrinfo},
    {"dwfl_module_addrdie", &dw.module_addrdie},
    {"dwarf_getscopes", &dw.getscopes},
    {"dwarf_tag", &dw.tag},
    {"dwarf_diename", &dw.diename},
    {"dwfl_standard_find_debuginfo", &dw.standard_find_debuginfo},
};

enum { FILES = 8 };

/* The files that were asked for last: reading their tables is most of the work. */
static struct {
    char *path;
    dwfl_t *dwfl;
    dwfl_module_t *module; /* NULL: it cannot be read */
} files[FILES];
static int next_file;
static char *no_path; /* where split-off information lies: the usual places */
static callbacks_t callbacks = {.debuginfo_path = &no_path};

static void *library;

static bool import(const mpi_line_import_t *imports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, imports[i].name);

        if (address == NULL)
            return false;
        memcpy(imports[i].function, &address, sizeof(address));
    }
    return true;
}

/* Load libdw on first use; false if it is missing. */
static bool load(void)
{
    static enum { UNTRIED, LOADED, MISSING } state;

    if (state != UNTRIED)
        return state == LOADED;
    state = MISSING;
    library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !import(symbols, sizeof(symbols) / sizeof(symbols[0])))
        return false;
    callbacks.find_debuginfo = dw.standard_find_debuginfo;
    state = LOADED;
    return true;
}

/* Open the debugging information of a file in a slot of the cache, in place of the file there. */
static void open_file(const char *path, int at)
{
    const uint64_t base = (uint64_t)1 << 32; /* any; an address of 0 would mean none to some */

    if (files[at].dwfl != NULL)
        dw.end(files[at].dwfl);
    free(files[at].path);
    files[at].module = NULL;
    files[at].path = strdup(path);
    files[at].dwfl = dw.begin(&callbacks);
    if (files[at].dwfl == NULL)
        return;
    files[at].module = dw.report_elf(files[at].dwfl, path, path, -1, base, true);
    dw.report_end(files[at].dwfl, NULL, NULL);
}

static dwfl_module_t *module_of(const char *path)
{
    int at;

    for (int i = 0; i < FILES; i++)
        if (files[i].path != NULL && strcmp(files[i].path, path) == 0)
            return files[i].module;
    at = next_file++ % FILES;
    open_file(path, at);
    return files[at].module;
}

/* Its lowest address. False: it cannot be read. */
static bool module_start(const char *path, dwfl_module_t **module_p, uint64_t *start_p)
{
    *module_p = module_of(path);
    return *module_p != NULL &&
           dw.module_info(*module_p, NULL, start_p, NULL, NULL, NULL, NULL, NULL) != NULL;
}

static void copy_name(char *to, const char *from)
{
    snprintf(to, XMPI_LINE_TEXT, "%s", from != NULL ? from : "");
}

/* The name in the source of the function at an address; of C++ functions the symbol has another. */
static void find_function(dwfl_module_t *module, uint64_t address, char *name)
{
    uint64_t bias = 0;
    die_t *unit = NULL, *scopes = NULL;
    int count = 0;

    copy_name(name, dw.module_addrname(module, address));
    if (name[0] == '$') /* on aarch64 a mark of the kind of code, where no function is known */
        name[0] = '\0';
    if (strncmp(name, "_Z", 2) == 0)
        unit = dw.module_addrdie(module, address, &bias);
    if (unit != NULL)
        count = dw.getscopes(unit, address - bias, &scopes);
    for (int i = 0; i < count; i++)
        if (dw.tag(&scopes[i]) == DW_TAG_SUBPROGRAM && dw.diename(&scopes[i]) != NULL) {
            copy_name(name, dw.diename(&scopes[i]));
            break;
        }
    free(scopes);
}

/* `file` from `directory`, or from the current directory, if it lies below one of them. */
static void copy_path(const char *file, const char *directory, char *path)
{
    char here[XMPI_LINE_PATH];
    const char *below[2] = {directory, getcwd(here, sizeof(here))};

    snprintf(path, XMPI_LINE_PATH, "%s", file);
    for (int i = 0; i < 2; i++) {
        size_t length = below[i] != NULL ? strlen(below[i]) : 0;

        if (length > 0 && strncmp(file, below[i], length) == 0 && file[length] == '/') {
            snprintf(path, XMPI_LINE_PATH, "%s", file + length + 1);
            return;
        }
    }
}

/* Find source file and line of an offset in a file, and its function if that is wanted; false if
 * none is known. */
static bool find(const char *path, size_t offset, mpi_wanted_t wanted, mpi_line_t *line)
{
    dwfl_module_t *module;
    dwfl_line_t *found;
    const char *file = NULL, *slash;
    uint64_t start;

    if (!module_start(path, &module, &start))
        return false;
    found = dw.module_getsrc(module, start + offset);
    if (found != NULL)
        file = dw.lineinfo(found, NULL, &line->number, NULL, NULL, NULL);
    slash = file != NULL ? strrchr(file, '/') : NULL;
    copy_name(line->file, slash != NULL ? slash + 1 : file);
    if (file != NULL)
        copy_path(file, dw.line_comp_dir(found), line->path);
    if (line->number <= 0)
        line->file[0] = '\0';
    /* All symbols of the file are compared. */
    if (wanted == XMPI_WANT_BOTH || (wanted == XMPI_WANT_EITHER && line->file[0] == '\0'))
        find_function(module, start + offset, line->function);
    return line->file[0] != '\0' || line->function[0] != '\0';
}

/* Find the symbol that contains an offset in a file; false if there is none. */
static bool find_symbol(const char *path, size_t offset, mpi_symbol_t *symbol)
{
    symbol_t found = {.st_size = 0};
    uint64_t start, inside = 0;
    dwfl_module_t *module;
    const char *name;

    if (!module_start(path, &module, &start))
        return false;
    name = dw.module_addrinfo(module, start + offset, &inside, &found, NULL, NULL, NULL);
    if (name == NULL || inside >= found.st_size)
        return false;
    copy_name(symbol->name, name);
    symbol->offset = offset - inside;
    symbol->size = found.st_size;
    return true;
}

/* Files of debugging information are not fetched from servers: a message would wait for them. */
static char *forbid_servers(void)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    char *kept = urls != NULL ? strdup(urls) : NULL;

    if (kept != NULL)
        unsetenv("DEBUGINFOD_URLS");
    return kept;
}

static void allow_servers(char *kept)
{
    if (kept != NULL)
        setenv("DEBUGINFOD_URLS", kept, 1);
    free(kept);
}

bool mpi_line_find(const char *path, size_t offset, mpi_wanted_t wanted, mpi_line_t *line)
{
    char *kept = forbid_servers();
    bool is_found;

    memset(line, 0, sizeof(*line));
    is_found = load() && find(path, offset, wanted, line);
    allow_servers(kept);
    return is_found;
}

bool mpi_line_symbol(const char *path, size_t offset, mpi_symbol_t *symbol)
{
    char *kept = forbid_servers();
    bool is_found;

    memset(symbol, 0, sizeof(*symbol));
    is_found = load() && find_symbol(path, offset, symbol);
    allow_servers(kept);
    return is_found;
}

void *mpi_line_module(const char *path, const mpi_line_import_t *imports, size_t count,
                      uint64_t *start_p)
{
    char *kept = forbid_servers();
    dwfl_module_t *module = NULL;
    bool is_found = load() && import(imports, count) && module_start(path, &module, start_p);

    allow_servers(kept);
    return is_found ? module : NULL;
}
