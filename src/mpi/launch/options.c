/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/options.h"

#include <stddef.h>

#include "net/net.h"
#include "place/place.h"
#include "sched/sched.h"

#define AT(field) .offset = offsetof(mpi_launch_values_t, field)

static const char *const net_place_names[] = {"any", "bind", "smt", "numa", "dedicated", NULL};
static const char *const progress_names[] = {"tasks", "threads", "none", NULL};
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
static const char *const default_names[] = {"genvall", "envall", "disable-auto-cleanup",
                                            "disable-hostname-propagation", NULL};
static const char *const library_names[] = {"xylem", "openmpi", "mpich", NULL};
static const char *const ppn_names[] = {"npernode", "N", "perhost", NULL};

/* Options and variables that make a job of several processes. */
#define SEVERAL "processes host hostfile net SLURM_JOB_NODELIST PBS_NODEFILE"

const xy_option_t mpi_launch_options[] = {
    {"n", 0, XY_OPT_LONG, "N", AT(n), .min = 1, .max = 1 << 24, .aliases = n_names,
     .help = "number of ranks; any number runs on any number of cores (default: one per core)"},
    {"usize", 0, XY_OPT_LONG, "N", AT(usize), .min = 1, .max = 1 << 24,
     .help =
         "MPI_UNIVERSE_SIZE: ranks that there are to be with those that the program spawns "
         "(MPI_Comm_spawn); as many cores are kept ready, and spawned ranks run on those that "
         "are left (default: one per core, but spawned ranks then share the cores of the others)"},
    {"x", 0, XY_OPT_LIST, "VAR[=VALUE]", AT(x), .help = "set a variable in the ranks' environment"},
    {"env", 0, XY_OPT_PAIRS, "VAR VALUE", AT(env),
     .help = "the same, for the ranks of this program"},
    {"genv", 0, XY_OPT_PAIRS, "VAR VALUE", AT(genv), .help = "the same, for all ranks"},
    {"wdir", 0, XY_OPT_STRING, "DIR", AT(wdir), .aliases = wdir_names, .complete = "directory",
     .help = "run in this directory"},
    {"l", 0, XY_OPT_FLAG, AT(prepend_rank), .aliases = prepend_names, .excludes = "tag-output",
     .help = "begin every line of output with its rank: '[0] '"},
    {"tag-output", 0, XY_OPT_FLAG, AT(tag_output),
     .help = "begin every line with rank and stream: '[1,0]<stdout>:'"},
    {"timeout", 0, XY_OPT_SECONDS, "SECONDS", AT(timeout), .env = "MPIEXEC_TIMEOUT",
     .help = "end the job after this time, and print what each rank was doing; 0: never"},
    {"deadlock-after", 0, XY_OPT_SECONDS, "SECONDS", AT(deadlock_after),
     .env = "XYLEM_DEADLOCK_AFTER", .preset = "5s",
     .help = "look so often for ranks that wait only for each other while others go on, and end "
             "the job when they have done so for this time; 0: never (a job in which no rank can "
             "go on ends at once in any case)"},
    {"polling-after", 0, XY_OPT_SECONDS, "SECONDS", AT(polling_after), .env = "XYLEM_POLLING_AFTER",
     .preset = "10s",
     .help = "the same for ranks that have done nothing for this time but test or probe (MPI_Test, "
             "MPI_Iprobe) for what cannot come; 0: never"},
    {"place", 0, XY_OPT_STRING, "STRATEGY|FILE", AT(place), .env = "XYLEM_PLACE",
     .table = XY_TABLE(xy_strategies), .complete = "file",
     .help =
         "place ranks by a file of lines 'RANK CORE' (and '* STRATEGY' for the other ranks) or by "
         "a strategy of 'xylem place'; some strategies need --matrix (default: scatter_numa, with "
         "--matrix auto)"},
    {"matrix", 0, XY_OPT_STRING, "FILE", AT(matrix), .env = "XYLEM_MATRIX", .complete = "file",
     .help = "who sends how much to whom, for strategies that need it: any format that 'xylem "
             "place' reads, such as what --monitor writes"},
    {"threads-per-rank", 0, XY_OPT_LONG, "T", AT(threads_per_rank), .excludes = "virtual", .min = 1,
     .max = 1 << 20, .env = "XYLEM_THREADS_PER_RANK", .aliases = threads_names,
     .help = "leave T cores to each rank; its OpenMP threads run there"},
    {"cores", 0, XY_OPT_STRING, "LIST", AT(cores), .excludes = "virtual", .env = "XYLEM_CORES",
     .help = "use these cores only: '0-3,8', as the operating system numbers their hardware "
             "threads"},
    {"workers", 0, XY_OPT_LONG, "N", AT(workers), .excludes = "virtual", .min = 1, .max = 1 << 20,
     .env = "XYLEM_WORKERS", .help = "use N cores on each host; an error if there are fewer"},
    {"comm-cores", 0, XY_OPT_STRING, "K|LIST|auto", AT(comm_cores), .env = "XYLEM_COMM_CORES",
     .help = "reserve K cores (from each NUMA node in turn), or these, for communication: they "
             "progress nonblocking collectives while the ranks compute; auto: the number that the "
             "model finds best for the computation measured in earlier runs"},
    {"progress", 0, XY_OPT_CHOICE, "HOW", AT(progress), .env = "XYLEM_PROGRESS", .preset = "tasks",
     .choices = progress_names,
     .help = "how nonblocking collectives progress: communication cores and waiting ranks take "
             "pieces of the work (tasks), a progress thread per rank does the rank's part "
             "(threads), or only in Wait (none)"},
    {"progress-place", 0, XY_OPT_STRING, "[COLLECTIVE=]PLACE[,...]", AT(progress_place),
     .needs = "progress=threads", .excludes = "virtual", .env = "XYLEM_PROGRESS_PLACE",
     .preset = "auto", .table = XY_TABLE(xy_threads_all),
     .help = "where progress threads run: on the nearest communication core of the NUMA node "
             "(numa), on all communication cores in turn (odd-even), on the core of their rank "
             "(bind), each on a separate core (dedicated), on the sibling hardware thread of their "
             "rank (smt), where the model finds it best for each collective (auto); without "
             "--comm-cores all cores without ranks communicate"},
    {"progress-order", 0, XY_OPT_STRING, "[COLLECTIVE=]ORDER[,...]", AT(progress_order),
     .needs = "progress=threads", .excludes = "virtual", .env = "XYLEM_PROGRESS_ORDER",
     .preset = "auto", .table = XY_TABLE(xy_order_all),
     .help = "order of progress threads that share a core: round-robin, suspend (skip threads "
             "without a collective), semaphore (in the order of the data), suspend-semaphore, "
             "priority, the best by the model (auto)"},
    {"progress-priority", 0, XY_OPT_LONG, "N", AT(progress_priority), .min = 0, .max = 20,
     .needs = "progress-order", .excludes = "virtual", .env = "XYLEM_PROGRESS_PRIORITY",
     .preset = "10",
     .help = "priority of progress threads, with --progress-order priority; ranks have 0"},
    {"split", 0, XY_OPT_STRING, "S", AT(split), .excludes = "virtual", .env = "XYLEM_SPLIT",
     .preset = "off",
     .help = "split-tree for nonblocking bcast, reduce, gather, scatter and allreduce: the ranks "
             "do the S levels nearest the leaves themselves, in the start call or in Wait; a "
             "number, auto (chosen by the model), adaptive (chosen for the measured computation), "
             "off"},
    {"algorithm", 0, XY_OPT_LIST, "COLLECTIVE=NAME[,...]", AT(algorithm), .env = "XYLEM_ALGORITHM",
     .excludes = "virtual",
     .help = "run this nonblocking collective with this algorithm: 'allreduce=ring'; 'xylem "
             "explain coll' lists the algorithms"},
    {"adapt", 0, XY_OPT_CHOICE, "on|off|learn", AT(adapt), .env = "XYLEM_ADAPT", .preset = "off",
     .choices = adapt_names,
     .help = "choose where ranks run, cores for communication, --split and algorithms of "
             "collectives by earlier runs of the same program: on uses what they have measured, "
             "learn also tries what may be better, so that all runs together take at most 2 % "
             "longer than without, and stores times in the history ('xylem choose --history "
             "show'); -v prints what was chosen and why"},
    {"let-arrive", 0, XY_OPT_CHOICE, "on|off", AT(let_arrive),
     .needs = "comm-cores progress=threads adapt", .env = "XYLEM_LET_ARRIVE", .preset = "on",
     .choices = on_off,
     .help = "with communication cores: the start of a nonblocking collective first lets the other "
             "ranks of its core start it"},
    {"machine", 0, XY_OPT_STRING, "MACHINE", AT(machine), .complete = "machine",
     .excludes = "virtual",
     .help = "reorder ranks (MPI_Cart_create and others) as if rank r ran on core r of this "
             "machine: any name, file or text that 'xylem machine' reads, or torus:8x8"},
    {"virtual", 0, XY_OPT_STRING, "MACHINE", AT(virtual_machine), .complete = "machine",
     .help =
         "run in virtual time on this machine, which need not exist: any name, file or text that "
         "'xylem machine' takes; messages and collectives cost what its model says, and clocks "
         "and sleeps follow the virtual clock"},
    {"compute", 0, XY_OPT_STRING, "HOW", AT(compute), .preset = "timed", .needs = "virtual",
     .help =
         "with --virtual: what the program's own code costs: nothing (none); its processor time "
         "here, times FACTOR (timed:FACTOR) or scaled by --costs (timed); what the models of "
         "--costs say for BLAS and "
         "LAPACK and nothing for the rest (model); what it took in a real run with --trace "
         "(trace:FILE)"},
    {"compute-call", 0, XY_OPT_LIST, "NAME=TIME[,...]", AT(compute_call), .needs = "virtual",
     .help = "with --virtual: a call of this function of another library takes so long"},
    {"library", 0, XY_OPT_CHOICE, "NAME", AT(library), .choices = library_names, .preset = "xylem",
     .needs = "virtual",
     .help = "with --virtual: whose collectives are simulated: those of xylem, of openmpi 4.1, of "
             "mpich 4.0"},
    {"costs", 0, XY_OPT_STRING, "FILE", AT(costs), .complete = "file", .needs = "virtual",
     .help =
         "with --virtual: models of messages and kernels, from 'xylem calibrate' (default: those "
         "in the file of the machine, if 'xylem calibrate --hosts' made it)"},
    {"costs-here", 0, XY_OPT_STRING, "FILE", AT(costs_here), .complete = "file", .needs = "virtual",
     .help = "with --virtual and --costs: models of the machine that this runs on, which scale "
             "--compute timed by what the same kernels take on both (default: the user's own, from "
             "'xylem calibrate')"},
    {"spawn-time", 0, XY_OPT_SECONDS, "TIME", AT(spawn_time), .preset = "30us", .needs = "virtual",
     .help = "with --virtual: what a rank needs to start one more (MPI_Comm_spawn), besides a "
             "message to its core"},
    {"share-data", 0, XY_OPT_SIZE, "SIZE", AT(share_data), .min = 1, .max = 1e18,
     .needs = "virtual",
     .help = "with --virtual: blocks of SIZE and more that all ranks allocate at the same place of "
             "the program are one block, so that more ranks fit in memory; results are wrong then"},
    {"json", 0, XY_OPT_STRING, "FILE", AT(json), .complete = "file", .needs = "virtual",
     .help = "with --virtual: write what the run took (- is standard output)"},
    {"monitor", 0, XY_OPT_STRING, "DIR", AT(monitor), .complete = "directory",
     .env = "XYLEM_MONITOR",
     .help = "count who sends how much to whom and write the matrices there, for 'xylem place'"},
    {"monitor-slice", 0, XY_OPT_SECONDS, "TIME", AT(monitor_slice), .min = 1e-6, .max = 1e9,
     .excludes = "virtual", .env = "XYLEM_MONITOR_SLICE", .needs = "monitor",
     .help = "with --monitor: also write a matrix for every TIME of the run"},
    {"trace", 0, XY_OPT_STRING, "FILE", AT(trace), .complete = "file", .env = "XYLEM_TRACE",
     .help = "record what each core does (computing, progress, waiting, idle), in which calls "
             "the ranks are, and their messages, for 'xylem view'"},
    {"trace-messages", 0, XY_OPT_STRING, "all|none|SIZE|ranks:LIST", AT(trace_messages),
     .env = "XYLEM_TRACE_MESSAGES", .needs = "trace",
     .help = "with --trace: record all messages from rank to rank (default), none, those of at "
             "least SIZE bytes, or those from or to these ranks, such as ranks:0-3,8"},
    {"gpu-bind", 0, XY_OPT_STRING, "close|round|LIST", AT(gpu_bind), .env = "XYLEM_GPU_BIND",
     .help =
         "the GPU (CUDA) that is a rank's current device until it chooses another: one near its "
         "core, in turns; all in turns; or those of LIST, such as 0,1,1,0, in turns (default: "
         "the first GPU, and close with --gpus-per-rank). Ranks see all GPUs"},
    {"gpus-per-rank", 0, XY_OPT_LONG, "N", AT(gpus_per_rank), .min = 1, .max = 64,
     .help = "with --gpu-bind close or round: the next rank begins N GPUs further, so that each "
             "has N of its own where there are enough"},
    {"check", 0, XY_OPT_STRING, "[=LIST]", AT(check), .env = "XYLEM_CHECK", .excludes = "virtual",
     .help =
         "look for mistakes that a run may get away with, and end with 120 for warnings and 121 "
         "for errors: objects never freed (leaks), sends that need buffering (sends), buffers "
         "that are changed or used twice (buffers), receives that could take other messages "
         "(wildcards), one-sided accesses that meet (windows); only those of LIST, if it names "
         "some. An error ends the job, but for "
         "--check=go-on; --check=shuffle[:SEED] makes other orders of ranks and messages. All "
         "ranks run on one core; those of several processes on one of each"},
    {"check-json", 0, XY_OPT_STRING, "FILE", AT(check_json), .complete = "file", .needs = "check",
     .help = "with --check: write what was found (- is standard output)"},
    {"check-sarif", 0, XY_OPT_STRING, "FILE", AT(check_sarif), .complete = "file", .needs = "check",
     .help = "the same as SARIF 2.1.0, which forges show beside the source"},
    {"check-suppress", 0, XY_OPT_STRING, "FILE", AT(check_suppress), .complete = "file",
     .env = "XYLEM_CHECK_SUPPRESS", .needs = "check",
     .help = "with --check: leave out what lines 'CLASS FILE:LINE' of FILE name, where * is any "
             "text; -v lists those that name nothing"},
    {"debug-ranks", 0, XY_OPT_STRING, "LIST|all|none", AT(debug_ranks), .env = "XYLEM_DEBUG_RANKS",
     .help = "the ranks whose code debuggers know, such as 0-3,8 (default: the first 64): each "
             "costs a debugger time and memory"},
    {"privatize", 0, XY_OPT_LIST, "LIB[,LIB]", AT(privatize),
     .help = "give every rank its own copy of these libraries, for libraries that are shared by "
             "default: those of the table in docs/private.md, and those without variables"},
    {"share", 0, XY_OPT_LIST, "LIB[,LIB]", AT(share),
     .help =
         "load these shared libraries and their dependencies once for all ranks, with one set of "
         "global variables (default: a copy of each library for every rank); -v lists all "
         "libraries and their cost"},
    {"share-globals", 0, XY_OPT_FLAG, AT(share_globals),
     .help = "do not copy the program: ranks share its global variables, and those of its "
             "libraries"},
    {"stack-size", 0, XY_OPT_SIZE, "SIZE", AT(stack_size), .min = 64 << 10, .max = 0x1p46,
     .env = "XYLEM_STACK_SIZE",
     .help = "stack size of each rank; memory is allocated as it is touched (default: 'ulimit -s', "
             "but at most 1G, and 256G for all ranks together)"},
    {"eager", 0, XY_OPT_SIZE, "SIZE", AT(eager), .env = "XYLEM_EAGER", .preset = "16K",
     .help = "messages up to this size are copied when they are sent; larger ones wait for the "
             "receive and are copied once. Not given, it does not hold between processes, where "
             "--net knows what is sent at once"},
    {"spin", 0, XY_OPT_SECONDS, "TIME", AT(spin), .env = "XYLEM_SPIN", .preset = "100us",
     .help =
         "how long an idle core looks for work before it sleeps; a communication core ten times as "
         "long"},
    {"host", 0, XY_OPT_STRING, "NAME[:SLOTS],...", AT(host), .aliases = host_names,
     .help = "run on these hosts, one process on each with its block of the ranks; without slots "
             "ranks are shared out by cores. In an allocation of Slurm or PBS its hosts are used"},
    {"hostfile", 0, XY_OPT_STRING, "FILE", AT(hostfile), .aliases = hostfile_names,
     .complete = "file",
     .help = "the same from a file of lines 'NAME', 'NAME:SLOTS' or 'NAME slots=SLOTS'"},
    {"ppn", 0, XY_OPT_LONG, "N", AT(ppn), .min = 1, .max = 1 << 20, .aliases = ppn_names,
     .help = "ranks on each host, instead of slots; without effect on this machine alone"},
    {"launcher", 0, XY_OPT_STRING, "COMMAND", AT(launcher), .needs = SEVERAL,
     .env = "XYLEM_LAUNCHER",
     .help = "what starts the processes on hosts: srun, mpirun or mpiexec.hydra, which start all, "
             "or a command that takes a host and a command, such as ssh (default: srun in an "
             "allocation of Slurm, the launcher of an installed MPI with --net mpi, else ssh)"},
    {"processes", 0, XY_OPT_LONG, "K", AT(processes), .min = 1, .max = 1 << 12,
     .env = "XYLEM_PROCESSES",
     .help = "run the ranks in K processes on this machine instead of one, each with its part of "
             "the cores; messages between them go over --net"},
    {"net", 0, XY_OPT_STRING, "TRANSPORT", AT(net), .env = "XYLEM_NET", .preset = "auto",
     .table = XY_TABLE(xy_net_transports),
     .help = "how processes of a job reach each other (default: the first that works here)"},
    {"net-place", 0, XY_OPT_CHOICE, "PLACE", AT(net_place), .needs = SEVERAL,
     .env = "XYLEM_NET_PLACE", .preset = "any", .choices = net_place_names,
     .help = "where the thread of a process runs that drives the network while ranks compute: on "
             "any core, on the core of its first rank (bind), on the sibling hardware thread of "
             "that core (smt), on the nearest core without ranks of the same NUMA node (numa), on "
             "a core without ranks or not at all (dedicated)"},
    {"heartbeat", 0, XY_OPT_SECONDS, "SECONDS", AT(heartbeat), .needs = SEVERAL,
     .env = "XYLEM_HEARTBEAT", .preset = "30s",
     .help = "end a job of several processes when one has not answered for this time; 0: never, "
             "for debuggers"},
    {"start-timeout", 0, XY_OPT_SECONDS, "SECONDS", AT(start_timeout), .needs = SEVERAL,
     .env = "XYLEM_START_TIMEOUT", .preset = "60s",
     .help = "end a job of several processes when one has not started within this time; 0: never"},
    {"v", 0, XY_OPT_FLAG, AT(verbose), .aliases = verbose_names,
     .help = "print what runs where, and which calls of the program block a core"},
    {"q", 0, XY_OPT_FLAG, AT(quiet), .aliases = quiet_names, .help = "no warnings"},
    {"version", 0, XY_OPT_FLAG, AT(version), .aliases = version_names,
     .help = "print the version and exit"},
    {"app", 0, XY_OPT_STRING, "FILE", AT(app_file), .aliases = app_names, .complete = "file",
     .help =
         "read options, program and arguments from FILE, a line for each program of the job; '#' "
         "begins a comment, words may be quoted"},
    {"map-by", 0, XY_OPT_STRING, "WHAT", AT(map_by), .excludes = "place matrix rankfile",
     .help =
         "place ranks on each slot, hwthread, core, l1cache, l2cache, l3cache, numa, socket or "
         "node in turn, as in Open MPI and MPICH; ppr:N:WHAT places N ranks on each; :PE=T at the "
         "end is --threads-per-rank T"},
    {"rank-by", 0, XY_OPT_STRING, "WHAT", AT(rank_by), .needs = "map-by",
     .help = "with --map-by: number the ranks over each WHAT in turn"},
    {"bind-to", 0, XY_OPT_STRING, "WHAT", AT(bind_to), .aliases = bind_names,
     .help =
         "bind ranks as in Open MPI and MPICH: a rank always runs on one core, so core, hwthread "
         "and none change nothing, and larger parts give a warning; core:T is --threads-per-rank "
         "T, user:LIST names the core of each rank"},
    {"rankfile", 0, XY_OPT_STRING, "FILE", AT(rankfile), .aliases = rankfile_names,
     .excludes = "place matrix bind-to", .complete = "file",
     .help = "place ranks as in Open MPI, by lines 'rank N=HOST slot=CORE' or "
             "'slot=SOCKET:CORE', with cores counted as by 'xylem place -o rankfile'; on this "
             "machine only"},
    {"cpu-set", 0, XY_OPT_STRING, "LIST", AT(cpu_set), .aliases = cpu_set_names,
     .excludes = "cores workers virtual",
     .help = "use these cores only, counted from 0 in the order of the machine; --cores takes the "
             "numbers of the operating system"},
    {"use-hwthread-cpus", 0, XY_OPT_FLAG, AT(each_thread), .excludes = "virtual",
     .help = "count each hardware thread as a core"},
    {"report-bindings", 0, XY_OPT_FLAG, AT(shows_map), .aliases = map_names,
     .help = "print where each rank runs"},
    {"stdin", 0, XY_OPT_STRING, "RANK|none|all", AT(stdin_to),
     .help = "let this rank read standard input (default: 0), none, or all: each rank reads all "
             "of it, in jobs of one process"},
    {"output-filename", 0, XY_OPT_STRING, "DIR", AT(output_directory),
     .help = "write output also to DIR/1/rank.N/stdout and stderr; DIR:nojobid omits the 1, "
             "DIR:nocopy prints nothing on the terminal"},
    {"outfile-pattern", 0, XY_OPT_STRING, "NAME", AT(output_pattern), .excludes = "output-filename",
     .help = "write standard output to files instead; %r is the rank, %h the host, %p the process, "
             "%g 0"},
    {"errfile-pattern", 0, XY_OPT_STRING, "NAME", AT(error_pattern), .excludes = "output-filename",
     .help = "the same for standard error"},
    {"timestamp-output", 0, XY_OPT_FLAG, AT(has_time), .help = "begin every line with the time"},
    {"merge-stderr-to-stdout", 0, XY_OPT_FLAG, AT(is_merged), .excludes = "errfile-pattern",
     .help = "print standard error of ranks to standard output"},
    {"oversubscribe", 0, XY_OPT_FLAG, AT(oversubscribe),
     .help =
         "with --virtual: ranks may share cores; otherwise accepted without effect: they always "
         "may"},
    {"nooversubscribe", 0, XY_OPT_FLAG, AT(no_oversubscribe), .excludes = "oversubscribe",
     .help = "refuse to start more ranks than cores"},
    {"allow-run-as-root", 0, XY_OPT_IGNORED, .aliases = default_names,
     .help = "accepted; this is always the case"},
    {"mca", 0, XY_OPT_PAIRS, "NAME VALUE", AT(ignored_pairs), .aliases = mca_names,
     .help = "accepted with a warning: parameters of Open MPI have no effect"},
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
    "of mpiexec: 'valgrind mpiexec -n 4 ./a.out'.\n"
    "\n"
    "The exit code is the first nonzero exit code of a rank, 128 plus the signal that ended a "
    "rank, 124 after the time limit, 126 for a program that cannot be executed, 127 for a program "
    "that was not found.";

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
