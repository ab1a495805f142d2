/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem place: put processes where they talk cheaply. */
#include <string.h>

#include "place/place.h"
#include "place_predict.h"
#include "verbs.h"

typedef struct {
    const char *machine, *strategy, *metric, *cost, *weights, *load, *output, *svg, *heatmap,
        *write;
    const char *baseline, *costs_file, *library;
    double speed;
    bool compare, json, predict;
    long seed, restarts;
} values_t;

static const char *const metrics[] = {"size", "msg", "avg", NULL};
static const char *const costs[] = {"weighted", "hops", NULL};
static const char *const libraries[] = {"xylem", "openmpi", "mpich", NULL};

static const xy_option_t options[] = {
    {"machine", 'm', XY_OPT_STRING, "MACHINE", offsetof(values_t, machine),
     .complete = "machine file", XY_COMMON("place"),
     .help = "place on this machine; any source of 'xylem machine', or torus:8x8x8, mesh:32x32 "
             "(default: this machine)",
     .env = "XYLEM_MACHINE"},
    {"strategy", 's', XY_OPT_STRING, "NAME", offsetof(values_t, strategy), XY_COMMON("place"),
     .help = "choose the strategy; or a plug-in, by its path (docs/plugins.md)", .preset = "auto",
     .table = XY_TABLE(xy_strategies)},
    {"compare", 'c', XY_OPT_FLAG, .offset = offsetof(values_t, compare), XY_COMMON("place"),
     .help = "place by all strategies and print a table"},
    {"metric", 0, XY_OPT_CHOICE, "METRIC", offsetof(values_t, metric), XY_ADVANCED("place"),
     .help = "measure traffic by bytes (size), messages (msg), or the mean size of a message (avg)",
     .preset = "size", .choices = metrics},
    {"cost", 0, XY_OPT_CHOICE, "COST", offsetof(values_t, cost), XY_ADVANCED("place"),
     .help =
         "choose the cost to minimize: links by their weights (weighted) or each link as 1 (hops)",
     .preset = "weighted", .choices = costs},
    {"weights", 'w', XY_OPT_STRING, "W:W:...", offsetof(values_t, weights), XY_ADVANCED("place"),
     .help = "set the weights of the links from the cores up (default 1:10:100:...); of a torus or "
             "mesh, by "
             "dimension (default 1)"},
    {"load", 0, XY_OPT_STRING, "FILE", offsetof(values_t, load), XY_ADVANCED("place"),
     .help = "read the work of each process from FILE, one number per line, to balance cores with "
             "several processes",
     .complete = "file"},
    {"seed", 0, XY_OPT_LONG, "N", offsetof(values_t, seed), XY_ADVANCED("place"),
     .help = "set the seed of the random numbers; the same seed gives the same placement",
     .preset = "1", .min = 0, .max = 1e15},
    {"restarts", 0, XY_OPT_LONG, "N", offsetof(values_t, restarts), XY_ADVANCED("place"),
     .help = "set the number of random starts of mpipp", .preset = "5", .min = 1, .max = 1000},
    {"predict", 0, XY_OPT_FLAG, .offset = offsetof(values_t, predict), XY_COMMON("predict"),
     .help = "predict the run times of this placement and of --baseline; of a trace with its "
             "computation, of a matrix for communication alone"},
    {"baseline", 0, XY_OPT_CHOICE, "NAME", offsetof(values_t, baseline), .needs = "predict",
     XY_COMMON("predict"), .help = "with --predict: compare with this strategy",
     .preset = "scatter_numa", .table = XY_TABLE(xy_strategies)},
    {"costs", 0, XY_OPT_STRING, "FILE", offsetof(values_t, costs_file), .needs = "predict",
     XY_COMMON("predict"),
     .help = "with --predict: read message models from FILE; those of 'xylem calibrate'",
     .complete = "file"},
    {"library", 'l', XY_OPT_CHOICE, "NAME", offsetof(values_t, library), .needs = "predict",
     XY_ADVANCED("predict"),
     .help = "with --predict: simulate the collectives of this library (default: xylem)",
     .choices = libraries},
    {"speed", 0, XY_OPT_DOUBLE, "FACTOR", offsetof(values_t, speed), .needs = "predict",
     XY_ADVANCED("predict"),
     .help = "with --predict: assume that cores of MACHINE compute FACTOR times as fast as those "
             "of the "
             "recorded run",
     .preset = "1", .min = 1e-6, .max = 1e6},
    {"output", 'o', XY_OPT_CHOICE, "FORMAT", offsetof(values_t, output), XY_COMMON("output"),
     .help = "print the placement for a launcher", .choices = xy_place_format_names},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("output"),
     .help = "print the result as JSON; strategy, seconds, costs and the core of each process"},
    {"svg", 0, XY_OPT_STRING, "FILE", offsetof(values_t, svg), XY_COMMON("output"),
     .help = "draw the placement and the traffic on each level; on the tree of the machine",
     .complete = "file"},
    {"heatmap", 0, XY_OPT_STRING, "FILE", offsetof(values_t, heatmap), XY_COMMON("output"),
     .help = "draw the matrix as a heat map", .complete = "file"},
    {"write", 0, XY_OPT_STRING, "FILE", offsetof(values_t, write), XY_COMMON("output"),
     .help = "write the matrix in the format of the name; .mat, .mtx, .graph or .csv",
     .complete = "file"},
    {0}};

/* The data of one call. */
typedef struct {
    const values_t *v;
    const char *path;
    xy_metric_t metric;
    xy_matrix_t *matrix;
    xy_machine_t *machine; /* NULL: a torus or mesh */
    xy_target_t *target;
    double *load;
    place_predict_t *predict; /* NULL: no prediction */
    double before;            /* predicted time with the baseline */
} job_t;

/* The launcher binds ranks to cores, not to hardware threads. */
static xy_status_t keep_cores(xy_machine_t **machine_p)
{
    xy_machine_t *cores;
    xy_status_t st = xy_cores_machine(*machine_p, &cores);

    if (st == XY_OK) {
        xy_machine_destroy(*machine_p);
        *machine_p = cores;
    }
    return st;
}

/* Loads the machine or grid to place on. */
static xy_status_t load_target(job_t *j)
{
    const char *source = j->v->machine;
    xy_weights_t weights = {0};
    xy_status_t st = XY_OK;

    if (j->v->weights != NULL)
        st = xy_weights_parse(j->v->weights, &weights);
    if (st != XY_OK)
        return st;
    if (source != NULL && xy_target_is_grid_text(source))
        return xy_target_grid(source, &weights, &j->target);
    st = xy_machine_load(source, &j->machine);
    if (st == XY_OK)
        st = xy_target_check(j->machine);
    if (st == XY_OK &&
        (j->predict != NULL || (j->v->output != NULL && strcmp(j->v->output, "xylem") == 0)))
        st = keep_cores(&j->machine);
    else if (st == XY_OK)
        xy_cores_exclude_threads(j->machine, j->matrix->n);
    return st == XY_OK ? xy_target_create(j->machine, &weights, &j->target) : st;
}

static xy_status_t print_heatmap(const void *arg, FILE *file)
{
    const job_t *j = arg;

    return xy_matrix_print_svg(j->matrix, j->metric, j->path, file);
}

typedef struct {
    const job_t *job;
    const xy_place_t *place;
} tree_t;

static xy_status_t print_tree(const void *arg, FILE *file)
{
    const job_t *j = ((const tree_t *)arg)->job;
    const char *name = j->v->machine != NULL ? j->v->machine
                       : j->machine != NULL  ? j->machine->name
                                             : "";

    return xy_place_print_svg(((const tree_t *)arg)->place, j->matrix, j->metric, j->target, name,
                              file);
}

static xy_status_t print_matrix(const void *arg, FILE *file)
{
    const job_t *j = arg;

    return xy_matrix_write(j->matrix, xy_matrix_guess(j->v->write, ""), file);
}

static xy_status_t compute(const job_t *j, const char *strategy, xy_place_t **place_p)
{
    xy_place_options_t o = {
        .strategy = strategy,
        .metric = j->metric,
        .objective = strcmp(j->v->cost, "hops") == 0 ? XY_OBJECTIVE_HOPS : XY_OBJECTIVE_WEIGHTED,
        .seed = (uint64_t)j->v->seed,
        .restarts = (uint32_t)j->v->restarts,
        .load = j->load,
    };

    return xy_place_compute(j->matrix, j->target, &o, place_p);
}

/* Predict the time of a run with the placement; -1 without --predict. */
static xy_status_t predict(const job_t *j, const xy_place_t *place, double *seconds_p)
{
    *seconds_p = -1;
    return j->predict != NULL && j->v->predict
               ? place_predict_seconds(j->predict, place->leaf_of, seconds_p)
               : XY_OK;
}

static xy_status_t print_launcher(const job_t *j, const xy_place_t *p)
{
    int format = 0;

    while (strcmp(xy_place_format_names[format], j->v->output) != 0)
        format++;
    return xy_place_print(p, j->target, j->machine, (xy_place_format_t)format, stdout);
}

static void print_one(const job_t *j, const xy_place_t *p, double seconds)
{
    xy_json_t json;

    if (j->v->json) {
        xy_json_init(&json, stdout, false);
        xy_place_print_json(p, j->target, seconds, &json);
        return;
    }
    xy_place_print_text(p, j->target, stdout);
    if (seconds >= 0)
        place_predict_print(j->predict, seconds, j->before, j->v->baseline, stdout);
}

/* Places by one strategy and prints the placement. */
static xy_status_t place_one(const job_t *j)
{
    xy_place_t *p;
    double seconds = -1;
    xy_status_t st = compute(j, j->v->strategy, &p);

    if (st != XY_OK)
        return st;
    st = xy_out_write(j->v->svg, print_tree, &(tree_t){j, p});
    if (st == XY_OK)
        st = predict(j, p, &seconds);
    if (st == XY_OK && j->v->output != NULL)
        st = print_launcher(j, p);
    else if (st == XY_OK)
        print_one(j, p, seconds);
    xy_place_destroy(p);
    return st;
}

enum { ROWS_MAX = 32 };

typedef struct {
    xy_place_t *places[ROWS_MAX];
    const char *why[ROWS_MAX];
    double runs[ROWS_MAX];
    int count;
} rows_t;

/* Places by the next strategy, or notes the reason why not. */
static xy_status_t add_row(const job_t *j, rows_t *rows)
{
    int i = rows->count++;
    const xy_strategy_t *s = xy_strategies[i];
    xy_status_t st;

    if (s->limit > 0 && j->matrix->n > s->limit) {
        rows->why[i] = "takes too long for so many processes";
        return XY_OK;
    }
    if (!xy_strategy_is_available(s)) {
        rows->why[i] = "needs a library that is not here";
        return XY_OK;
    }
    st = compute(j, s->name, &rows->places[i]);
    if (st == XY_ELIMIT) { /* it has said so */
        rows->why[i] = "cannot place on this machine";
        return XY_OK;
    }
    return st == XY_OK ? predict(j, rows->places[i], &rows->runs[i]) : st;
}

/* Prints the placements of all strategies. */
static void print_rows(const job_t *j, const rows_t *rows)
{
    xy_json_t json;

    if (!j->v->json) {
        xy_place_print_table(rows->places, rows->why, j->v->predict ? rows->runs : NULL,
                             rows->count, stdout);
        return;
    }
    xy_json_init(&json, stdout, false);
    xy_json_begin_array(&json, NULL);
    for (int i = 0; i < rows->count; i++)
        if (rows->places[i] != NULL)
            xy_place_print_json(rows->places[i], j->target, rows->runs[i], &json);
    xy_json_end(&json);
}

static xy_status_t compare(const job_t *j)
{
    rows_t rows = {.count = 0};
    xy_status_t st = XY_OK;

    while (st == XY_OK && xy_strategies[rows.count] != NULL && rows.count < ROWS_MAX)
        st = add_row(j, &rows);
    if (st == XY_OK)
        print_rows(j, &rows);
    for (int i = 0; i < rows.count; i++)
        xy_place_destroy(rows.places[i]);
    return st;
}

/* ---- What there is to place ---- */

/* A trace has its matrix only by the prediction of what its collectives send. */
static xy_status_t read_matrix(job_t *j)
{
    bool is_trace = xy_trace_is_trace(j->path);
    place_predict_options_t o = {j->v->machine, j->v->costs_file, j->v->library, j->v->speed};
    xy_status_t st = is_trace || j->v->predict ? place_predict_open(&o, &j->predict) : XY_OK;

    if (st != XY_OK)
        return st;
    if (is_trace)
        return place_predict_trace(j->predict, j->path, &j->matrix);
    st = xy_matrix_read(j->path, &j->matrix);
    return st == XY_OK && j->predict != NULL ? place_predict_matrix(j->predict, j->matrix) : st;
}

/* Predicts the run time of the baseline placement, with --predict. */
static xy_status_t predict_baseline(job_t *j)
{
    xy_place_t *p;
    xy_status_t st;

    if (!j->v->predict)
        return XY_OK;
    st = compute(j, j->v->baseline, &p);
    if (st != XY_OK)
        return st;
    st = predict(j, p, &j->before);
    xy_place_destroy(p);
    return st;
}

/* Reads the loads and places by one strategy or by all. */
static xy_status_t place(job_t *j)
{
    xy_status_t st = j->v->load != NULL ? xy_loads_read(j->v->load, j->matrix->n, &j->load) : XY_OK;

    if (st == XY_OK && j->matrix->n > j->target->leaves)
        xy_warn("%s: %u processes for %u core%s, which run up to %u each", j->path, j->matrix->n,
                j->target->leaves, j->target->leaves == 1 ? "" : "s",
                (j->matrix->n + j->target->leaves - 1) / j->target->leaves);
    if (st == XY_OK)
        st = predict_baseline(j);
    if (st == XY_OK)
        st = j->v->compare ? compare(j) : place_one(j);
    return st;
}

/* Entry point of 'xylem place'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    job_t j = {.v = values, .path = argv[0]};
    xy_status_t st;

    (void)command, (void)argc;
    xy_metric_parse(j.v->metric, &j.metric);
    st = read_matrix(&j);
    if (st == XY_OK)
        st = xy_out_write(j.v->heatmap, print_heatmap, &j);
    if (st == XY_OK)
        st = xy_out_write(j.v->write, print_matrix, &j);
    if (st == XY_OK)
        st = load_target(&j);
    if (st == XY_OK)
        st = place(&j);
    place_predict_close(j.predict);
    xy_target_destroy(j.target);
    xy_machine_destroy(j.machine);
    xy_matrix_destroy(j.matrix);
    xy_free(j.load);
    return st == XY_OK ? xy_stdout_check() : st;
}

static const xy_section_t sections[] = {
    {"MATRICES",
     "TreeMatch .mat (n rows of n numbers), Matrix Market .mtx, METIS .graph, CSV (source,target,"
     "bytes[,messages] or n rows of n numbers), and files of Open MPI's monitoring component "
     "(.prof). Rows are senders, columns receivers. A trace (mpiexec --trace) is one, too: its "
     "messages, and those of its collectives on MACHINE."},
    {"LAUNCHERS", "- cores: physical numbers, one for each rank.\n\n"
                  "- mpich: arguments of mpiexec; several hosts need MPICH 5.\n\n"
                  "- mpich-hosts: mpiexec -f FILE, any MPICH.\n\n"
                  "- rankfile: mpirun --rankfile FILE (Open MPI 4).\n\n"
                  "- rankfile5: mpirun --map-by rankfile:file=FILE (Open MPI 5).\n\n"
                  "- slurm: SLURM_HOSTFILE=FILE srun -m arbitrary.\n\n"
                  "- xylem: lines RANK CPU for xylem run --place, on one host."},
    {0}};

const xy_command_t verb_place = {
    .name = "place",
    .summary = "place processes on cores by their communication matrix",
    .synopsis = "MATRIX|TRACE",
    .description =
        "Reads how much each process sends to each other one, and finds a core for each process so "
        "that processes "
        "that communicate much are near each other in the machine. With more cores than processes "
        "the best cores are used; with more processes than cores each core gets its share.\n\n"
        "hop-bytes is the sum over all messages of bytes times links crossed; weighted counts each "
        "link by its weight; busiest link is the largest number of bytes that cross one link.",
    .examples = "xylem place app.mat --machine 16x2x8\n    the cores of all ranks\n"
                "xylem place app.mat --compare\n    all strategies on this machine\n"
                "xylem place run.xyt -m haswell8x32 --predict\n    the run time that a "
                "recorded run gains there\n"
                "xylem place app.mat -o rankfile >ranks\n    for mpirun --rankfile ranks\n",
    .options = options,
    .sections = sections,
    .values_size = sizeof(values_t),
    .positional_min = 1,
    .positional_max = 1,
    .complete = "file",
    .run = run,
};
