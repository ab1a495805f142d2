/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Images as the unwinder and debugging aids see them. The dynamic linker does not know of images;
 * exceptions, backtraces and dladdr ask these functions, which answer for images and pass all other
 * questions on.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static uintptr_t load_address(const process_module_t *module, const char *image)
{
    return (uintptr_t)image + module->offset - module->elf->low;
}

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
XY_INTERPOSE int _dl_find_object(void *address, struct dl_find_object *result)
{
    const process_program_t *program;
    const process_module_t *module;
    const char *image = process_image_find(address, &program, &module);

    if (image == NULL)
        return XY_NEXT(_dl_find_object)(address, result);
    if (module->elf->unwind == 0)
        return -1;
    memset(result, 0, sizeof(*result));
    result->dlfo_map_start = (void *)(uintptr_t)(image + module->offset);
    result->dlfo_map_end = (char *)result->dlfo_map_start + (module->elf->high - module->elf->low);
    result->dlfo_eh_frame = (void *)(load_address(module, image) + module->elf->unwind);
    return 0;
}
#endif

/* Call `visit` for each module of an image as dl_iterate_phdr() does; stops at a result other than
 * 0. */
static int visit_modules(const process_program_t *program, const char *image,
                         int (*visit)(struct dl_phdr_info *, size_t, void *), void *argument)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < program->modules.count; i++) {
        const process_module_t *module = &XY_VEC_AT(&program->modules, process_module_t, i);
        struct dl_phdr_info info = {
            .dlpi_addr = load_address(module, image),
            .dlpi_name = module->elf->path,
            .dlpi_phdr = module->elf->segments,
            .dlpi_phnum = (ElfW(Half))module->elf->segment_count,
        };

        result = visit(&info, sizeof(info), argument);
    }
    return result;
}

/* For sanitizers: the data of all images refers to memory that is not lost, and the lines of all
 * are asked for. */
static int visit_all(int (*visit)(struct dl_phdr_info *, size_t, void *), void *argument)
{
    const process_program_t *program;
    int result = 0;

    for (int p = 0; result == 0 && (program = process_program_at(p)) != NULL; p++)
        for (int i = 0; result == 0 && i < program->images; i++)
            result = visit_modules(program, program->region + (size_t)i * program->stride, visit,
                                   argument);
    return result;
}

/* The images of other processes are not reported; there may be thousands. */
XY_INTERPOSE int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *),
                                 void *argument)
{
    const process_t *process = process_self;
    int result = XY_NEXT(dl_iterate_phdr)(visit, argument);

    if (result != 0)
        return result;
    if (process_sanitizer_is_there())
        return visit_all(visit, argument);
    if (process == NULL)
        return 0;
    result = visit_modules(process->program, process->image, visit, argument);
    for (size_t i = 0; result == 0 && i < process->plugins.count; i++) {
        const process_program_t *plugin =
            XY_VEC_AT(&process->plugins, const process_program_t *, i);

        result =
            visit_modules(plugin, process_image_of_plugin(plugin, process->image), visit, argument);
    }
    return result;
}

static atomic_bool makes_index;

void process_index_symbols(bool is_on)
{
    atomic_store_explicit(&makes_index, is_on, memory_order_relaxed);
}

XY_INTERPOSE int dladdr(const void *address, Dl_info *info)
{
    const process_program_t *program;
    const process_module_t *module;
    const char *image = process_image_find(address, &program, &module);
    const ElfW(Sym) * symbol;

    if (image == NULL)
        return XY_NEXT(dladdr)(address, info);
    info->dli_fname = module->elf->path;
    info->dli_fbase = (void *)(uintptr_t)(image + module->offset);
    if (atomic_load_explicit(&makes_index, memory_order_relaxed))
        process_elf_index(module->elf);
    symbol = process_elf_nearest(module->elf, (uintptr_t)address - load_address(module, image));
    info->dli_sname = symbol != NULL ? process_elf_string(module->elf, symbol->st_name) : NULL;
    info->dli_saddr =
        symbol != NULL ? (void *)(load_address(module, image) + symbol->st_value) : NULL;
    return 1;
}
