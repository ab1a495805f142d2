/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem info: the version, and what this installation has found on this machine. */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xylem.h>

#include "cost/cost.h"
#include "draw/draw.h"
#include "gpu/gpu.h"
#include "machine/machine.h"
#include "verbs.h"

#ifdef __clang__
#define COMPILER "" /* clang's version begins with its name */
#else
#define COMPILER "gcc "
#endif

typedef struct {
    bool json;
} values_t;

static const xy_option_t options[] = {{"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json),
                                       XY_COMMON("options"), .help = "print JSON"},
                                      {0}};

/* One line of the answer. */
typedef struct {
    const char *section, *name;
    bool is_found;
    char *value;
} row_t;

typedef struct {
    xy_vec_t rows; /* of row_t */
    bool is_full;
} info_t;

/* Takes `value`; NULL: no memory. */
static void add(info_t *info, const char *section, const char *name, bool is_found, char *value)
{
    const row_t row = {section, name, is_found, value};

    if (value == NULL || xy_vec_append(&info->rows, &row) != XY_OK) {
        xy_free(value);
        info->is_full = true;
    }
}

/* ---- The installation ---- */

static void add_file(info_t *info, const char *section, const char *name, const char *relative,
                     const char *missing)
{
    char *path = xy_beside(relative);
    bool is_found = path != NULL && access(path, R_OK) == 0;

    if (is_found) {
        add(info, section, name, true, path);
        return;
    }
    add(info, section, name, false, xy_strdup(missing));
    xy_free(path);
}

/* Adds version and parts of this installation. */
static void add_xylem(info_t *info)
{
    static const char section[] = "Xylem";

    add(info, section, "version", true, xy_strdup(xylem_version()));
    add(info, section, "MPI", true, xy_strdup("5.0, standard ABI 1"));
    add(info, section, "compiled with", true, xy_strdup(COMPILER __VERSION__));
    add_file(info, section, "launcher", "mpiexec", "there is no mpiexec beside this program");
    add_file(info, section, "library", "../lib/libmpi_abi.so", "there is no libmpi_abi.so");
    add_file(info, section, "Fortran modules", "../include/mpi_f08.mod",
             "mpif.h only; build with gfortran installed");
    add_file(info, section, "Open MPI programs", "../lib/xylem/openmpi",
             "cannot be run; this build has no translation");
    add_file(info, section, "MPICH programs", "../lib/xylem/mpich",
             "cannot be run; this build has no translation");
}

/* ---- Libraries ---- */

typedef struct {
    const char *name;
    const char *files[5]; /* tried in turn; ends with NULL */
    bool is_linked;       /* part of this program, if it is in the build */
    const char *use, *package;
} library_t;

static const library_t libraries[] = {
    {"hwloc", {"libhwloc.so"}, true, "reads this machine", "libhwloc-dev"},
    {"libxml2", {"libxml2.so"}, true, "reads machine files and costs", "libxml2-dev"},
    {"libdw", {"libdw.so.1"}, false, "source lines in messages", "libdw1"},
    {"libclang",
     {"libclang-19.so.19", "libclang-19.so.1"},
     false,
     "xylem scan, xylem predict PROGRAM.c",
     "libclang-19-dev"},
    {"Scotch",
     {"libscotch-7.0.so", "libscotch.so.7.0", "libscotch.so"},
     false,
     "xylem place --strategy scotch",
     "libscotch-7.0"},
    {"METIS", {"libmetis.so.5", "libmetis.so"}, false, "xylem place --strategy metis", "libmetis5"},
    {"LAPACKE", {"liblapacke.so.3", "liblapacke.so"}, false, "fits cost models", "liblapacke"},
    {"BLAS",
     {"libopenblas.so.0", "libcblas.so.3", "libblas.so.3"},
     false,
     "kernels of xylem calibrate",
     "libopenblas0"},
};

typedef struct {
    const char *prefix;
    const char *path;
} search_t;

static int compare_object(struct dl_phdr_info *object, size_t size, void *arg)
{
    search_t *search = arg;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : object->dlpi_name;

    (void)size;
    if (strncmp(name, search->prefix, strlen(search->prefix)) != 0)
        return 0;
    search->path = object->dlpi_name;
    return 1;
}

/* The path of a library, loaded if need be; NULL: there is none. */
static const char *find_library(const library_t *library)
{
    search_t search = {library->files[0], NULL};
    struct link_map *map;

    if (library->is_linked) {
        dl_iterate_phdr(compare_object, &search);
        return search.path;
    }
    for (const char *const *file = library->files; *file != NULL; file++) {
        void *handle = dlopen(*file, RTLD_LAZY | RTLD_LOCAL);

        if (handle != NULL && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
            return map->l_name;
    }
    return NULL;
}

/* Adds the optional libraries, found or missing. */
static void add_libraries(info_t *info)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 0); /* it starts its threads while it is loaded */
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        const library_t *library = &libraries[i];
        const char *path = find_library(library);
        char *file = path != NULL ? realpath(path, NULL) : NULL;

        if (path != NULL)
            add(info, "Libraries", library->name, true,
                xy_sprintf("%s (%s)", file != NULL ? file : path, library->use));
        else
            add(info, "Libraries", library->name, false,
                xy_sprintf("missing: %s; install %s%s", library->use, library->package,
                           library->is_linked ? " and build again" : ""));
        free(file);
    }
}

/* ---- The machine ---- */

/* Adds cores, NUMA nodes and the file of costs. */
static void add_machine(info_t *info)
{
    xy_machine_t *live;
    char *costs = xy_costs_where();
    bool is_there = costs != NULL && access(costs, R_OK) == 0;
    unsigned cores, nodes;

    if (xy_machine_load("live", &live) == XY_OK) {
        cores = xy_machine_count(live, XY_OBJ_CORE);
        nodes = xy_machine_count(live, XY_OBJ_NUMA);
        add(info, "Machine", "cores", true,
            xy_sprintf("%u core%s, %u NUMA node%s", cores, cores == 1 ? "" : "s", nodes,
                       nodes == 1 ? "" : "s"));
        xy_machine_destroy(live);
    }
    if (is_there)
        add(info, "Machine", "costs", true, costs);
    else
        add(info, "Machine", "costs", false, xy_strdup("not measured; run 'xylem calibrate'"));
    if (!is_there)
        xy_free(costs);
}

/* Adds the GPUs, and the drivers that do not work. */
static void add_gpus(info_t *info)
{
    const char *name, *why;
    xy_vec_t found;

    if (xy_gpu_list(&found) != XY_OK)
        return;
    for (size_t i = 0; i < found.count; i++) {
        const xy_gpu_info_t *gpu = &XY_VEC_AT(&found, xy_gpu_info_t, i);

        add(info, "GPUs", gpu->driver, true,
            xy_sprintf("%s, %.1f GiB", gpu->name, (double)gpu->memory / (1 << 30)));
    }
    for (size_t i = 0; xy_gpu_driver_state(i, &name, &why); i++)
        if (*why != '\0')
            add(info, "GPUs", name, false, xy_strdup(why));
    xy_vec_cleanup(&found);
}

/* ---- Other launchers ---- */

/* The first file of that name in PATH, but for links to this installation. The caller frees. */
static char *find_command(const char *name)
{
    const char *path = getenv("PATH");
    char *own = xy_beside("mpiexec"), *found = NULL;

    while (found == NULL && path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char *file = xy_sprintf("%.*s/%s", (int)length, path, name);
        char *target = file != NULL && access(file, X_OK) == 0 ? realpath(file, NULL) : NULL;

        if (target != NULL && (own == NULL || strcmp(target, own) != 0)) {
            found = file;
            file = NULL;
        }
        free(target);
        xy_free(file);
        path += length + (path[length] == ':');
    }
    xy_free(own);
    return found;
}

/* Adds launchers found in $PATH. */
static void add_others(info_t *info)
{
    static const struct {
        const char *name, *command, *missing;
    } others[] = {
        {"Open MPI", "mpirun.openmpi", "no mpirun.openmpi in PATH"},
        {"MPICH", "mpiexec.hydra", "no mpiexec.hydra in PATH"},
        {"Slurm", "srun", "no srun in PATH"},
        {"ssh", "ssh", "no ssh in PATH; jobs stay on one host"},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char *path = find_command(others[i].command);

        add(info, "Launchers", others[i].name, path != NULL,
            path != NULL ? path : xy_strdup(others[i].missing));
    }
}

/* ---- Output ---- */

static void print_text(const info_t *info)
{
    const char *section = "";

    for (size_t i = 0; i < info->rows.count; i++) {
        const row_t *row = &XY_VEC_AT(&info->rows, row_t, i);

        if (strcmp(section, row->section) != 0)
            printf("%s%s\n", *section != '\0' ? "\n" : "", row->section);
        section = row->section;
        printf("  %-18s %s%s\n", row->name, row->is_found ? "" : "- ", row->value);
    }
}

/* Writes all rows as JSON. */
static void print_json(const info_t *info)
{
    xy_json_t json;

    xy_json_init(&json, stdout, true);
    xy_json_begin_array(&json, NULL);
    for (size_t i = 0; i < info->rows.count; i++) {
        const row_t *row = &XY_VEC_AT(&info->rows, row_t, i);

        xy_fields_object(&json, NULL, "section %s name %s found %i value %s", row->section,
                         row->name, row->is_found, row->value);
    }
    xy_json_end(&json);
}

/* Entry point of 'xylem info'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const values_t *v = values;
    info_t info = {.rows = XY_VEC_INIT(row_t)};

    (void)command;
    (void)argc;
    (void)argv;
    add_xylem(&info);
    add_machine(&info);
    add_gpus(&info);
    add_libraries(&info);
    add_others(&info);
    (v->json ? print_json : print_text)(&info);
    for (size_t i = 0; i < info.rows.count; i++)
        xy_free(XY_VEC_AT(&info.rows, row_t, i).value);
    xy_vec_cleanup(&info.rows);
    return info.is_full ? xy_fail_memory("listing what was found") : XY_OK;
}

const xy_command_t verb_info = {
    .name = "info",
    .summary = "print the version and the libraries, GPUs and launchers found",
    .description =
        "Prints the version, the files of this installation, the machine, its GPUs, the optional "
        "libraries with their uses, and the other launchers in PATH. A line with '-' names a "
        "missing library and its package. Attach the output to reports of defects.",
    .examples = "xylem info\n    print everything\n"
                "xylem info --json\n    the same for programs: section, name, found, value",
    .options = options,
    .values_size = sizeof(values_t),
    .run = run,
};
