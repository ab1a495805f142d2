/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/options.h"

#include <stddef.h>

#include "net/net.h"
#include "place/place.h"
#include "sched/sched.h"

#define AT(field) .offset = offsetof(mpi_launch_values_t, field)

static const char *const net_place_names[] = {"any", "bind", "smt", "numa", "dedicated", NULL};
static const char *const progress_names[] = {"tasks", "threads", "none", NULL};
static const char *const level_names[] = {"slot",    "hwthread", "core",   "l1cache", "l2cache",
                                          "l3cache", "numa",     "socket", "node",    NULL};
static const char *const bind_to_names[] = {"core", "hwthread", "none", NULL};
static const char *const comm_core_names[] = {"auto", NULL};
static const char *const split_names[] = {"auto", "adaptive", "off", NULL};
static const char *const check_names[] = {"leaks",  "sends", "buffers", "wildcards", "windows",
                                          "errors", "go-on", "shuffle", "strict",    NULL};
static const char *const compute_names[] = {"none", "timed", "model", NULL};
static const char *const all_none[] = {"all", "none", NULL};
static const char *const gpu_names[] = {"close", "round", NULL};
static const char *const launcher_names[] = {"ssh", "srun", "mpirun", "mpiexec.hydra", NULL};
static const char *const on_off[] = {"on", "off", NULL};
static const char *const adapt_names[] = {"on", "off", "learn", NULL};
static const char *const n_names[] = {"np", "c", NULL};
static const char *const wdir_names[] = {"wd", NULL};
static const char *const host_names[] = {"hosts", "H", NULL};
static const char *const hostfile_names[] = {"f", "machinefile", "default-hostfile", NULL};
static const char *const prepend_names[] = {"prepend-rank", NULL};
static const char *const quiet_names[] = {"quiet", NULL};
static const char *const verbose_names[] = {"verbose", NULL};
static const char *const version_names[] = {"V", NULL};
static const char *const bind_names[] = {"bind-by", "binding", NULL};
static const char *const threads_names[] = {"cpus-per-proc", "cpus-per-rank", NULL};
static const char *const cpu_set_names[] = {"cpu-list", NULL};
static const char *const rankfile_names[] = {"rf", NULL};
static const char *const map_names[] = {"display-map", "display-devel-map", "print-rank-map", NULL};
static const char *const app_names[] = {"configfile", NULL};
static const char *const mca_names[] = {"gmca", "omca", "prtemca", NULL};
static const char *const default_names[] = {"genvall", "envall", "disable-hostname-propagation",
                                            NULL};
static const char *const survive_names[] = {"disable-auto-cleanup", NULL};
static const char *const library_names[] = {"xylem", "openmpi", "mpich", NULL};
static const char *const ppn_names[] = {"npernode", "N", "perhost", NULL};

/* Options and variables that make a job of several processes. */
#define SEVERAL "processes host hostfile net SLURM_JOB_NODELIST PBS_NODEFILE"

const xy_option_t mpi_launch_options[] = {
    {"n", 0, XY_OPT_LONG, "N", AT(n), .min = 1, .max = 1 << 24, .aliases = n_names,
     XY_COMMON("run"),
     .help =
         "start N ranks, by default one per core; any number of ranks runs on any number of cores"},
    {"x", 0, XY_OPT_LIST, "VAR[=VALUE]", AT(x), XY_COMMON("run"),
     .help = "set a variable of the ranks' environment; without VALUE it has the value that "
             "mpiexec has"},
    {"wdir", 0, XY_OPT_STRING, "DIR", AT(wdir), .aliases = wdir_names, .complete = "directory",
     XY_COMMON("run"), .help = "run in this directory; all programs of a job need the same one"},
    {"l", 0, XY_OPT_FLAG, AT(prepend_rank), .aliases = prepend_names, .excludes = "tag-output",
     XY_COMMON("run"), .help = "begin each line of output with its rank, '[0] '"},
    {"timeout", 0, XY_OPT_SECONDS, "SECONDS", AT(timeout), .env = "MPIEXEC_TIMEOUT",
     XY_COMMON("run"),
     .help = "end the job after this time; prints what each rank was doing and ends with exit code "
             "124; 0: never"},
    {"v", 0, XY_OPT_FLAG, AT(verbose), .aliases = verbose_names, XY_COMMON("run"),
     .help = "print what runs where and which calls block a core"},
    {"q", 0, XY_OPT_FLAG, AT(quiet), .aliases = quiet_names, XY_COMMON("run"),
     .help = "print no warnings"},
    {"version", 0, XY_OPT_FLAG, AT(version), .aliases = version_names, XY_COMMON("run"),
     .help = "print the version and exit"},
    {"env", 0, XY_OPT_PAIRS, "VAR VALUE", AT(env), XY_ADVANCED("run"),
     .help = "set a variable in the environment of the ranks of this program"},
    {"genv", 0, XY_OPT_PAIRS, "VAR VALUE", AT(genv), XY_ADVANCED("run"),
     .help = "set a variable in the environment of all ranks"},
    {"usize", 0, XY_OPT_LONG, "N", AT(usize), .min = 1, .max = 1 << 24, XY_ADVANCED("run"),
     .help =
         "set MPI_UNIVERSE_SIZE, the number of ranks together with those that the program spawns "
         "(MPI_Comm_spawn); as many cores are kept ready, and spawned ranks run on the remaining "
         "ones (default: one per core; spawned ranks then share the cores of the others)"},
    {"app", 0, XY_OPT_STRING, "FILE", AT(app_file), .aliases = app_names, .complete = "file",
     XY_ADVANCED("run"),
     .help = "read options, program and arguments from FILE, one program of the job per line; '#' "
             "begins a comment, words may be quoted"},
    {"stdin", 0, XY_OPT_STRING, "RANK|none|all", AT(stdin_to), XY_ADVANCED("run"),
     .choices = all_none,
     .help = "choose the rank that reads standard input (default: 0), none, or all; with all, each "
             "rank reads all of it, in jobs of one process"},
    {"tag-output", 0, XY_OPT_FLAG, AT(tag_output), XY_ADVANCED("run"),
     .help = "begin each line with rank and stream, '[1,0]<stdout>:'"},
    {"timestamp-output", 0, XY_OPT_FLAG, AT(has_time), XY_ADVANCED("run"),
     .help = "begin each line with the time"},
    {"merge-stderr-to-stdout", 0, XY_OPT_FLAG, AT(is_merged), .excludes = "errfile-pattern",
     XY_ADVANCED("run"), .help = "print standard error of the ranks to standard output"},
    {"output-filename", 0, XY_OPT_STRING, "DIR", AT(output_directory), XY_ADVANCED("run"),
     .complete = "directory",
     .help = "write output also to DIR/1/rank.N/stdout and stderr; DIR:nojobid omits the 1, "
             "DIR:nocopy prints nothing on the terminal"},
    {"outfile-pattern", 0, XY_OPT_STRING, "NAME", AT(output_pattern), .excludes = "output-filename",
     XY_ADVANCED("run"),
     .help = "write standard output to files instead; %r is the rank, %h the host, %p the process, "
             "%g 0; jobs in several processes need %r"},
    {"errfile-pattern", 0, XY_OPT_STRING, "NAME", AT(error_pattern), .excludes = "output-filename",
     XY_ADVANCED("run"), .help = "write standard error to files instead, as --outfile-pattern"},
    {"privatize", 0, XY_OPT_LIST, "LIB[,LIB]", AT(privatize), XY_ADVANCED("run"),
     .help = "give each rank its own copy of these libraries; only for libraries that are shared "
             "by default: those of the table in docs/private.md, and those without variables"},
    {"share", 0, XY_OPT_LIST, "LIB[,LIB]", AT(share), XY_ADVANCED("run"),
     .help = "load these shared libraries and their dependencies once for all ranks, with one set "
             "of global variables (default: one copy of each library per rank); -v lists all "
             "libraries and their cost"},
    {"share-globals", 0, XY_OPT_FLAG, AT(share_globals), XY_ADVANCED("run"),
     .help = "load the program once: ranks share its global variables and those of its libraries"},
    {"stack-size", 0, XY_OPT_SIZE, "SIZE", AT(stack_size), .min = 64 << 10, .max = 0x1p46,
     .env = "XYLEM_STACK_SIZE", XY_ADVANCED("run"),
     .help = "set the stack size of each rank; memory is allocated as it is touched (default: "
             "'ulimit -s', at least 256K, at most 1G, and at most 256G for all ranks together or "
             "8M each)"},
    {"eager", 0, XY_OPT_SIZE, "SIZE", AT(eager), .env = "XYLEM_EAGER", .preset = "16K",
     XY_ADVANCED("run"),
     .help = "copy messages up to this size when they are sent; larger ones wait for the receive "
             "and are copied once. Between processes the default is that of --net"},
    {"spin", 0, XY_OPT_SECONDS, "TIME", AT(spin), .env = "XYLEM_SPIN", .preset = "100us",
     XY_ADVANCED("run"),
     .help = "let an idle core look for work for this time before it sleeps; up to 20 times longer "
             "while it is woken soon again, and ten times longer on communication cores"},
    {"allow-run-as-root", 0, XY_OPT_IGNORED, .aliases = default_names, XY_ADVANCED("run"),
     .help = "accepted without effect; these are always on"},
    {"mca", 0, XY_OPT_PAIRS, "NAME VALUE", AT(ignored_pairs), .aliases = mca_names,
     XY_ADVANCED("run"), .help = "accepted with a warning; parameters of Open MPI have no effect"},
    {"place", 0, XY_OPT_STRING, "STRATEGY|FILE", AT(place), .env = "XYLEM_PLACE",
     .table = XY_TABLE(xy_strategies), .complete = "file", XY_COMMON("place"),
     .help = "place ranks by a strategy or by a file; a strategy is one of 'xylem place', some "
             "need --matrix; a file has lines 'RANK CORE', and '* STRATEGY' for the other ranks "
             "(default: scatter_numa, with --matrix auto); FILE.so is a plug-in (docs/plugins.md)"},
    {"matrix", 0, XY_OPT_STRING, "FILE", AT(matrix), .env = "XYLEM_MATRIX", .complete = "file",
     XY_COMMON("place"),
     .help = "read the communication matrix for --place from FILE; the bytes that each "
             "rank sends to each other rank, in any format of 'xylem place', such as the files of "
             "--monitor; without --place the strategy is auto"},
    {"cores", 0, XY_OPT_STRING, "LIST", AT(cores), .excludes = "virtual", .env = "XYLEM_CORES",
     XY_COMMON("place"),
     .help = "use only these cores, such as 0-3,8; in the numbering of the operating system"},
    {"threads-per-rank", 0, XY_OPT_LONG, "T", AT(threads_per_rank), .excludes = "virtual", .min = 1,
     .max = 1 << 20, .env = "XYLEM_THREADS_PER_RANK", .aliases = threads_names, XY_COMMON("place"),
     .help = "leave T cores to each rank for its threads; OpenMP starts T threads there"},
    {"map-by", 0, XY_OPT_STRING, "WHAT", AT(map_by), .excludes = "place matrix rankfile",
     XY_COMMON("place"), .choices = level_names,
     .help =
         "place ranks on each WHAT in turn; slot, hwthread, core, l1cache, l2cache, l3cache, numa, "
         "socket or node, as in Open MPI and MPICH. ppr:N:WHAT places N ranks on each, :PE=T at "
         "the end is --threads-per-rank T; also :OVERSUBSCRIBE, :NOOVERSUBSCRIBE, :HWTCPUS. On "
         "several hosts node places ranks on the hosts in turn; ppr of smaller parts is refused"},
    {"report-bindings", 0, XY_OPT_FLAG, AT(shows_map), .aliases = map_names, XY_COMMON("place"),
     .help = "print where each rank runs"},
    {"gpu-bind", 0, XY_OPT_STRING, "HOW", AT(gpu_bind), .env = "XYLEM_GPU_BIND", XY_COMMON("place"),
     .choices = gpu_names,
     .help =
         "choose the current GPU of each rank at its start; close: one near its core, in turn; "
         "round: all in turn; LIST: those of a list such as 0,1,1,0, in turn (default: the first "
         "GPU, and close with --gpus-per-rank). Ranks see all GPUs and can choose another (CUDA)"},
    {"gpus-per-rank", 0, XY_OPT_LONG, "N", AT(gpus_per_rank), .min = 1, .max = 64,
     XY_ADVANCED("place"),
     .help = "with --gpu-bind close or round: the next rank begins N GPUs further, so that each "
             "has N of its own where there are enough"},
    {"workers", 0, XY_OPT_LONG, "N", AT(workers), .excludes = "virtual", .min = 1, .max = 1 << 20,
     .env = "XYLEM_WORKERS", XY_ADVANCED("place"),
     .help = "use N cores on each host; an error if there are fewer"},
    {"rank-by", 0, XY_OPT_STRING, "WHAT", AT(rank_by), .needs = "map-by", XY_ADVANCED("place"),
     .choices = level_names, .help = "with --map-by: number the ranks over each WHAT in turn"},
    {"bind-to", 0, XY_OPT_STRING, "WHAT", AT(bind_to), .aliases = bind_names, XY_ADVANCED("place"),
     .choices = bind_to_names,
     .help = "bind ranks as Open MPI and MPICH do; a rank always runs on one core, so core, "
             "hwthread and none change nothing, and larger parts give a warning; core:T is "
             "--threads-per-rank T, user:LIST names the core of each rank"},
    {"rankfile", 0, XY_OPT_STRING, "FILE", AT(rankfile), .aliases = rankfile_names,
     .excludes = "place matrix bind-to", .complete = "file", XY_ADVANCED("place"),
     .help = "place ranks by a rankfile of Open MPI; its lines are 'rank N=HOST slot=CORE' or "
             "'slot=SOCKET:CORE', with cores counted as by 'xylem place -o rankfile'; on this "
             "machine only"},
    {"cpu-set", 0, XY_OPT_STRING, "LIST", AT(cpu_set), .aliases = cpu_set_names,
     .excludes = "cores workers virtual", XY_ADVANCED("place"),
     .help = "use only these cores, counted from 0 in the order of the machine; --cores takes the "
             "numbers of the operating system"},
    {"use-hwthread-cpus", 0, XY_OPT_FLAG, AT(each_thread), .excludes = "virtual",
     XY_ADVANCED("place"), .help = "count each hardware thread as a core"},
    {"oversubscribe", 0, XY_OPT_FLAG, AT(oversubscribe), XY_ADVANCED("place"),
     .help = "with --virtual: ranks may share cores; otherwise accepted without effect, as they "
             "always may"},
    {"nooversubscribe", 0, XY_OPT_FLAG, AT(no_oversubscribe), .excludes = "oversubscribe",
     XY_ADVANCED("place"), .help = "refuse to start more ranks than cores"},
    {"machine", 0, XY_OPT_STRING, "MACHINE", AT(machine), .complete = "machine file",
     .excludes = "virtual", XY_ADVANCED("place"),
     .help = "reorder ranks (MPI_Cart_create and others) as if rank r ran on core r of this "
             "machine; any name, file or text that 'xylem machine' reads, or torus:8x8"},
    {"comm-cores", 0, XY_OPT_STRING, "K|LIST|auto", AT(comm_cores), .env = "XYLEM_COMM_CORES",
     XY_COMMON("overlap"), .choices = comm_core_names,
     .help = "reserve K cores, or these, for communication; they progress nonblocking collectives "
             "while the ranks compute. K cores come from each NUMA node in turn; auto: the number "
             "that the model finds best for the computation measured in earlier runs"},
    {"progress", 0, XY_OPT_CHOICE, "HOW", AT(progress), .env = "XYLEM_PROGRESS", .preset = "tasks",
     .choices = progress_names, XY_COMMON("overlap"),
     .help = "choose how nonblocking collectives progress; tasks: communication cores and waiting "
             "ranks take pieces of the work; threads: a progress thread per rank does its part; "
             "none: only in Wait"},
    {"split", 0, XY_OPT_STRING, "S", AT(split), .env = "XYLEM_SPLIT", .preset = "off",
     XY_COMMON("overlap"), .choices = split_names,
     .help = "let ranks do S levels of a split tree; for nonblocking bcast, reduce, gather, "
             "scatter and allreduce the ranks do the S levels nearest the leaves themselves, in "
             "the start call or in Wait; a number, auto (chosen by the model), adaptive (chosen "
             "for the measured computation), off"},
    {"algorithm", 0, XY_OPT_LIST, "COLLECTIVE=NAME[,...]", AT(algorithm), .env = "XYLEM_ALGORITHM",
     .excludes = "virtual", XY_ADVANCED("overlap"), .complete = "algorithm",
     .help = "run a collective with this algorithm, such as allreduce=ring, or with that of a "
             "plug-in, such as allreduce=./mine.so; 'xylem explain coll' lists the algorithms"},
    {"progress-place", 0, XY_OPT_STRING, "[COLLECTIVE=]PLACE[,...]", AT(progress_place),
     .needs = "progress=threads", .env = "XYLEM_PROGRESS_PLACE", .preset = "auto",
     .table = XY_TABLE(xy_threads_all), XY_ADVANCED("overlap"),
     .help = "choose where progress threads run; numa: on the nearest communication core of the "
             "NUMA node; odd-even: on all communication cores in turn; bind: on the core of their "
             "rank; dedicated: each on a separate core; smt: on the sibling hardware thread of "
             "their rank; auto: where the model finds it best for each collective. Without "
             "--comm-cores all cores without ranks communicate"},
    {"progress-order", 0, XY_OPT_STRING, "[COLLECTIVE=]ORDER[,...]", AT(progress_order),
     .needs = "progress=threads", .env = "XYLEM_PROGRESS_ORDER", .preset = "auto",
     .table = XY_TABLE(xy_order_all), XY_EXPERIMENTAL("overlap"),
     .help = "choose the order of progress threads that share a core; round-robin; suspend: skip "
             "threads without a collective; semaphore: in the order of the data; "
             "suspend-semaphore; priority; auto: the best by the model"},
    {"progress-priority", 0, XY_OPT_LONG, "N", AT(progress_priority), .min = 0, .max = 20,
     .needs = "progress-order", .env = "XYLEM_PROGRESS_PRIORITY", .preset = "10",
     XY_EXPERIMENTAL("overlap"),
     .help = "set the priority of progress threads, with --progress-order priority; ranks have 0"},
    {"let-arrive", 0, XY_OPT_CHOICE, "on|off", AT(let_arrive),
     .needs = "comm-cores progress=threads adapt", .env = "XYLEM_LET_ARRIVE", .preset = "on",
     .choices = on_off, XY_EXPERIMENTAL("overlap"),
     .help = "let the other ranks of a core start a nonblocking collective first, with "
             "communication cores"},
    {"balance", 0, XY_OPT_STRING, "WHAT", AT(balance), .env = "XYLEM_BALANCE", .preset = "off",
     XY_EXPERIMENTAL("place"),
     .help = "move ranks between the cores of this machine while they run; load: so that all cores "
             "have the same to compute; random[:N]: at random, one in N polls, for tests; off"},
    {"adapt", 0, XY_OPT_CHOICE, "on|off|learn", AT(adapt), .env = "XYLEM_ADAPT", .preset = "off",
     .choices = adapt_names, XY_EXPERIMENTAL("overlap"),
     .help = "choose placement, communication cores, --split and algorithms of collectives by "
             "earlier runs of the same program; on uses their measurements; learn also tries other "
             "choices, so that all runs together take at most 2 % longer, and stores times in the "
             "history ('xylem choose --history show'); -v prints each choice and its reason"},
    {"check", 0, XY_OPT_STRING, "[=NAME,...]", AT(check), .env = "XYLEM_CHECK", XY_COMMON("check"),
     .choices = check_names,
     .help =
         "look for mistakes that did not fail in this run; ends with exit code 120 after "
         "warnings and 121 after errors. leaks: objects never freed; sends: sends that need "
         "buffering; buffers: buffers that are changed, used twice, too small, freed or of another "
         "type; wildcards: receives that "
         "could take other messages (exit code 120 only with strict); windows: conflicting "
         "one-sided accesses; errors: errors that calls return and the program ignores (default: "
         "all). "
         "An error ends the job, except with go-on; "
         "shuffle[:SEED] tries other orders of ranks and messages, on one core. The ranks of each "
         "of several processes run on one core, too"},
    {"deadlock-after", 0, XY_OPT_SECONDS, "SECONDS", AT(deadlock_after),
     .env = "XYLEM_DEADLOCK_AFTER", .preset = "5s", XY_COMMON("check"),
     .help = "end the job when ranks wait only for each other; after this time if other ranks "
             "continue (0: never), at once if none can"},
    {"polling-after", 0, XY_OPT_SECONDS, "SECONDS", AT(polling_after), .env = "XYLEM_POLLING_AFTER",
     .preset = "10s", XY_ADVANCED("check"),
     .help = "end the job when ranks have only tested or probed (MPI_Test, MPI_Iprobe) for this "
             "time for messages that cannot come; 0: never"},
    {"check-json", 0, XY_OPT_STRING, "FILE", AT(check_json), .complete = "file", .needs = "check",
     XY_ADVANCED("check"),
     .help = "with --check: write the findings as JSON; - is standard output"},
    {"check-sarif", 0, XY_OPT_STRING, "FILE", AT(check_sarif), .complete = "file", .needs = "check",
     XY_ADVANCED("check"),
     .help =
         "with --check: write the findings as SARIF 2.1.0, which forges show beside the source"},
    {"check-suppress", 0, XY_OPT_STRING, "FILE", AT(check_suppress), .complete = "file",
     .env = "XYLEM_CHECK_SUPPRESS", .needs = "check", XY_ADVANCED("check"),
     .help = "with --check: omit the findings that lines 'CLASS FILE:LINE' of FILE name, where * "
             "is any text; -v lists lines that match none"},
    {"debug-ranks", 0, XY_OPT_STRING, "LIST|all|none", AT(debug_ranks), .env = "XYLEM_DEBUG_RANKS",
     XY_ADVANCED("check"), .choices = all_none,
     .help = "choose the ranks whose code debuggers know, such as 0-3,8 (default: the first 64); "
             "each costs a debugger time and memory"},
    {"trace", 0, XY_OPT_STRING, "FILE", AT(trace), .complete = "file", .env = "XYLEM_TRACE",
     XY_COMMON("observe"),
     .help = "record cores, calls and messages for 'xylem view'; each core computes, progresses, "
             "waits or is idle"},
    {"report", 0, XY_OPT_STRING, "[=FILE]", AT(report), .complete = "file", .env = "XYLEM_REPORT",
     XY_COMMON("observe"),
     .help =
         "print where the time went; who waited for whom, in which call and at which line; FILE "
         "keeps the profile for 'xylem report'"},
    {"monitor", 0, XY_OPT_STRING, "DIR", AT(monitor), .complete = "directory",
     .env = "XYLEM_MONITOR", XY_COMMON("observe"),
     .help = "write communication matrices for 'xylem place'; they count how much each rank sends "
             "to each other rank"},
    {"trace-messages", 0, XY_OPT_STRING, "all|none|SIZE|ranks:LIST", AT(trace_messages),
     .env = "XYLEM_TRACE_MESSAGES", .needs = "trace", XY_ADVANCED("observe"), .choices = all_none,
     .help = "with --trace: record all messages between ranks (default), none, those of at least "
             "SIZE bytes, or those from or to some ranks, such as ranks:0-3,8"},
    {"monitor-slice", 0, XY_OPT_SECONDS, "TIME", AT(monitor_slice), .min = 1e-6, .max = 1e9,
     .excludes = "virtual", .env = "XYLEM_MONITOR_SLICE", .needs = "monitor",
     XY_ADVANCED("observe"),
     .help = "with --monitor: also write a matrix for each TIME of the run"},
    {"virtual", 0, XY_OPT_STRING, "MACHINE", AT(virtual_machine), .complete = "machine file",
     XY_COMMON("predict"),
     .help = "run in virtual time on this machine, real or not; any name, file or text that 'xylem "
             "machine' reads. Messages and collectives cost what its model says, and clocks and "
             "sleeps follow the virtual clock"},
    {"compute", 0, XY_OPT_STRING, "HOW", AT(compute), .preset = "timed", .needs = "virtual",
     XY_COMMON("predict"), .choices = compute_names,
     .help = "choose the virtual time of the program's own code; none: no time; timed: its "
             "processor time here, scaled by --costs, or times FACTOR with timed:FACTOR; model: "
             "what the models of --costs say for BLAS and LAPACK, and no time for the rest; "
             "trace:FILE: the times of a real run with --trace"},
    {"costs", 0, XY_OPT_STRING, "FILE", AT(costs), .complete = "file", .needs = "virtual",
     XY_COMMON("predict"),
     .help = "read models of messages and kernels from FILE; those that 'xylem calibrate' wrote "
             "(default: those in the file of the machine, if 'xylem calibrate --hosts' wrote it)"},
    {"compute-call", 0, XY_OPT_LIST, "NAME=TIME[,...]", AT(compute_call), .needs = "virtual",
     XY_ADVANCED("predict"),
     .help = "with --virtual: let a call of this function of another library take this time"},
    {"library", 0, XY_OPT_CHOICE, "NAME", AT(library), .choices = library_names, .preset = "xylem",
     .needs = "virtual", XY_ADVANCED("predict"),
     .help = "with --virtual: simulate the collectives of xylem, openmpi 4.1 or mpich 4.0"},
    {"costs-here", 0, XY_OPT_STRING, "FILE", AT(costs_here), .complete = "file", .needs = "virtual",
     XY_ADVANCED("predict"),
     .help = "with --virtual and --costs: models of this machine; they scale --compute timed by "
             "the ratio of the kernel times on both (default: those of 'xylem calibrate')"},
    {"json", 0, XY_OPT_STRING, "FILE", AT(json), .complete = "file", .needs = "virtual",
     XY_ADVANCED("predict"),
     .help = "with --virtual: write the times of the run as JSON; - is standard output"},
    {"spawn-time", 0, XY_OPT_SECONDS, "TIME", AT(spawn_time), .preset = "30us", .needs = "virtual",
     XY_EXPERIMENTAL("predict"),
     .help = "with --virtual: time to start one more rank (MPI_Comm_spawn), besides a message to "
             "its core"},
    {"share-data", 0, XY_OPT_SIZE, "SIZE", AT(share_data), .min = 1, .max = 1e18,
     .needs = "virtual", XY_EXPERIMENTAL("predict"),
     .help = "with --virtual: one copy for all ranks of blocks of SIZE and more that all ranks "
             "allocate at the same place of the program; more ranks fit in memory, but results are "
             "wrong"},
    {"host", 0, XY_OPT_STRING, "NAME[:SLOTS],...", AT(host), .aliases = host_names,
     XY_COMMON("hosts"),
     .help = "run on these hosts; one process on each runs its block of the ranks; without slots "
             "ranks are shared out by cores. In an allocation of Slurm or PBS its hosts are used"},
    {"hostfile", 0, XY_OPT_STRING, "FILE", AT(hostfile), .aliases = hostfile_names,
     .complete = "file", XY_COMMON("hosts"),
     .help = "run on the hosts in FILE; its lines are 'NAME', 'NAME:SLOTS' or 'NAME slots=SLOTS'"},
    {"ppn", 0, XY_OPT_LONG, "N", AT(ppn), .min = 1, .max = 1 << 20, .aliases = ppn_names,
     XY_COMMON("hosts"),
     .help = "start N ranks on each host; instead of slots; without effect on this machine alone"},
    {"processes", 0, XY_OPT_LONG, "K", AT(processes), .min = 1, .max = 1 << 12,
     .env = "XYLEM_PROCESSES", XY_COMMON("hosts"),
     .help = "run in K processes on this machine; each has its part of the cores, and messages "
             "between them use --net"},
    {"net", 0, XY_OPT_STRING, "TRANSPORT", AT(net), .env = "XYLEM_NET", .preset = "auto",
     .table = XY_TABLE(xy_net_transports), XY_COMMON("hosts"),
     .help = "choose the transport between processes; auto: the first that works here"},
    {"launcher", 0, XY_OPT_STRING, "COMMAND", AT(launcher), .needs = SEVERAL,
     .env = "XYLEM_LAUNCHER", XY_ADVANCED("hosts"), .choices = launcher_names,
     .help = "start the processes on hosts with this command; srun, mpirun or mpiexec.hydra start "
             "all, any other takes a host and a command, such as ssh (default: srun in an "
             "allocation of Slurm, the launcher of an installed MPI with --net mpi, else ssh)"},
    {"heartbeat", 0, XY_OPT_SECONDS, "SECONDS", AT(heartbeat), .needs = SEVERAL,
     .env = "XYLEM_HEARTBEAT", .preset = "30s", XY_ADVANCED("hosts"),
     .help = "end a job of several processes when one has not answered for this time; 0: never, "
             "for debuggers"},
    {"survive", 0, XY_OPT_FLAG, AT(survive), .excludes = "virtual check adapt",
     .env = "XYLEM_SURVIVE", .aliases = survive_names, XY_ADVANCED("hosts"),
     .help = "continue when a process or host fails; calls that need its ranks return errors "
             "(MPIX_ERR_PROC_FAILED), and the others can shrink their communicators. Without "
             "--processes or hosts each rank runs in a process of its own"},
    {"start-timeout", 0, XY_OPT_SECONDS, "SECONDS", AT(start_timeout), .needs = SEVERAL,
     .env = "XYLEM_START_TIMEOUT", .preset = "60s", XY_ADVANCED("hosts"),
     .help = "end a job of several processes when one has not started within this time; 0: never"},
    {"net-plain", 0, XY_OPT_FLAG, NULL, AT(net_plain), .needs = SEVERAL, .env = "XYLEM_NET_PLAIN",
     XY_ADVANCED("hosts"),
     .help =
         "do not encrypt connections between hosts; for networks that only trusted users reach"},
    {"net-interface", 0, XY_OPT_STRING, "NAME", AT(net_interface), .needs = SEVERAL,
     .env = "XYLEM_NET_INTERFACE", XY_ADVANCED("hosts"),
     .help = "connect hosts over their interface NAME, such as eth0; with commas between several, "
             "those that a host has, and large messages over all that every host has (default: any "
             "that reaches the other host)"},
    {"net-ports", 0, XY_OPT_STRING, "LOW-HIGH", AT(net_ports), .needs = SEVERAL,
     .env = "XYLEM_NET_PORTS", XY_ADVANCED("hosts"),
     .help = "wait for connections of other hosts at these ports, for firewalls; one for mpiexec "
             "and one for each process of a host (default: any that the system gives)"},
    {"net-place", 0, XY_OPT_CHOICE, "PLACE", AT(net_place), .needs = SEVERAL,
     .env = "XYLEM_NET_PLACE", .preset = "any", .choices = net_place_names,
     XY_EXPERIMENTAL("hosts"),
     .help = "choose where the network thread of a process runs while ranks compute; any: on any "
             "core; bind: on the core of its first rank; smt: on the sibling hardware thread of "
             "that core; numa: on the nearest core without ranks of the same NUMA node; dedicated: "
             "on a core without ranks or not at all"},
    {0}};

const char mpi_launch_description[] =
    "Runs N ranks of an MPI program in one process. Each rank has its own copy of the program's "
    "global variables, its own environment and its own streams; messages between ranks are copies "
    "in memory. There may be many more ranks than cores.\n"
    "\n"
    "On several hosts the ranks of each run in one process there, and messages between hosts go "
    "over "
    "the network.\n"
    "\n"
    "Several programs separated by ':' form one job. Programs that do not use MPI run as N "
    "separate processes, with the rank in their environment. Wrappers such as valgrind go in front "
    "of mpiexec: 'valgrind mpiexec -n 4 ./a.out'.";

const char mpi_launch_exit_status[] =
    "0 if all ranks returned 0; otherwise the first nonzero exit code of a rank, or 128 plus the "
    "signal that ended a rank. With --check, 120 if there were warnings and 121 if there were "
    "errors "
    "and the program itself ended with 0. 124 after the time limit, 126 for a program that cannot "
    "be "
    "executed, 127 for a program that was not found, 2 if the command line is wrong, 1 for any "
    "other failure, such as a deadlock.";

const char mpi_launch_examples[] =
    "mpiexec -n 64 ./a.out\n    64 ranks on all cores\n"
    "mpiexec -n 2 ./master : -n 8 ./worker\n    two programs, one job\n"
    "mpiexec -n 4 --threads-per-rank 8 ./hybrid\n    MPI and OpenMP\n"
    "mpiexec -n 64 --hosts a:32,b:32 ./a.out\n    on two machines";

const xy_command_t mpi_launch_command = {
    .name = "mpiexec",
    .prefix = "",
    .summary = "run an MPI program",
    .synopsis = "PROGRAM [ARGUMENT]... [: ...]",
    .description = mpi_launch_description,
    .exit_status = mpi_launch_exit_status,
    .examples = mpi_launch_examples,
    .options = mpi_launch_options,
    .values_size = sizeof(mpi_launch_values_t),
    .positional_max = -1,
    .stop_at_positional = true,
    .single_dash = true,
    .complete = "file",
};
