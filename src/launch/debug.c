/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For debuggers: which ranks they see, and a table by which a script finds out what each rank does
 * (tools/gdb/xylem.py). The table says where things are, so that the script works with a library
 * that has no debugging information, on a process that is stopped anywhere, and on a core file.
 */
#include <stddef.h>
#include <string.h>

#include "launch/launch.h"
#include "mpi/runtime/runtime.h"
#include "process/process.h"

enum { SHOWN_BY_DEFAULT = 64, TABLE_VERSION = 1 };

/* Numbers of 8 bytes each, in the order in which the script names them. An offset is in bytes from
 * the beginning of the object. */
typedef struct {
    uint64_t version;
    mpi_job_t *const *job;
    uint64_t job_size, job_ranks;
    uint64_t rank_bytes, rank_fiber, rank_phase, rank_call_name, rank_call_caller, rank_process;
    uint64_t process_ended, process_exit_code, process_image, process_program;
    uint64_t program_stride;
    const xy_fiber_layout_t *fiber;
    struct r_debug *const *images;
} debug_table_t;

#define AT(type, field) offsetof(type, field)

extern const debug_table_t xylem_debug;
__attribute__((visibility("default"), used)) const debug_table_t xylem_debug = {
    .version = TABLE_VERSION,
    .job = &mpi_job,
    .job_size = AT(mpi_job_t, size),
    .job_ranks = AT(mpi_job_t, ranks),
    .rank_bytes = sizeof(mpi_rank_t),
    .rank_fiber = AT(mpi_rank_t, fiber),
    .rank_phase = AT(mpi_rank_t, phase),
    .rank_call_name = AT(mpi_rank_t, call.name),
    .rank_call_caller = AT(mpi_rank_t, call.caller),
    .rank_process = AT(mpi_rank_t, process),
    .process_ended = AT(process_t, has_ended),
    .process_exit_code = AT(process_t, exit_code),
    .process_image = AT(process_t, image),
    .process_program = AT(process_t, program),
    .program_stride = AT(process_program_t, stride),
    .fiber = &xy_fiber_layout,
    .images = &process_images_list,
};

xy_status_t mpi_launch_choose_shown(const char *list, int size, xy_bitset_t *ranks)
{
    size_t count = list == NULL ? SHOWN_BY_DEFAULT : 0;

    if (xy_bitset_init(ranks, (size_t)size) != XY_OK)
        return xy_fail_memory("showing ranks to debuggers");
    if (list != NULL && strcmp(list, "all") == 0)
        count = ranks->bits;
    else if (list != NULL && strcmp(list, "none") != 0)
        return xy_bitset_parse(ranks, list, "--debug-ranks");
    for (size_t r = 0; r < count && r < ranks->bits; r++)
        xy_bitset_set(ranks, r);
    return XY_OK;
}

xy_status_t mpi_launch_show(const xy_vec_t *parts)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < parts->count && st == XY_OK; i++)
        if (XY_VEC_AT(parts, mpi_part_t, i).program != NULL) /* NULL: it runs in other processes */
            st = process_images_show(XY_VEC_AT(parts, mpi_part_t, i).program);
    if (st == XY_OK)
        process_images_publish();
    return st;
}

/* gprof counts calls, but its timer samples one program at a fixed place, and that is mpiexec. */
void mpi_launch_warn_profiler(const xy_vec_t *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const process_program_t *program = XY_VEC_AT(parts, mpi_part_t, i).program;
        const process_elf_t *elf =
            program != NULL ? XY_VEC_AT(&program->modules, process_module_t, 0).elf : NULL;

        if (elf != NULL && process_elf_lookup(elf, "__gmon_start__") != NULL)
            process_say("%s is compiled with -pg, but gprof does not see where ranks spend their "
                        "time; use perf: perf record -g mpiexec ... (-q leaves this out)",
                        elf->path);
    }
}
