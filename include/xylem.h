/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xylem for programs: placement, tasks and choices for C programs, from libxylem.so.
 *
 *   #include <xylem.h>
 *
 *   printf("built with %s, runs with %s\n", XYLEM_VERSION, xylem_version());
 *
 * Compile and link with `pkg-config --cflags --libs xylem`, or from CMake with
 * find_package(xylem) and target_link_libraries(... xylem::xylem).
 */
#ifndef XYLEM_H
#define XYLEM_H

#ifdef __cplusplus
extern "C" {
#endif

/* Functions declared with it are exported; everything else in the library is hidden. */
#define XYLEM_API __attribute__((visibility("default")))

/* The version of this header. A change of the first number means that programs must be rebuilt;
 * until 1.0 a change of the second means it too. */
#define XYLEM_VERSION_MAJOR 0
#define XYLEM_VERSION_MINOR 1
#define XYLEM_VERSION_PATCH 0
#define XYLEM_VERSION       "0.1.0"

/* The version of the library that is loaded, such as "0.1.0". Static text; any thread. */
XYLEM_API const char *xylem_version(void);

/* Whether the loaded library serves programs that were built with version major.minor of this
 * header: xylem_is_compatible(XYLEM_VERSION_MAJOR, XYLEM_VERSION_MINOR). Any thread. */
XYLEM_API int xylem_is_compatible(int major, int minor);

/* ---- Placing: which core runs which process. No MPI is needed. ----
 *
 *   xylem_matrix *m;
 *   xylem_placement *p;
 *   if (xylem_matrix_read("app.mat", &m) == 0 &&
 *       xylem_place(m, "16x2x8", NULL, &p) == 0)
 *       printf("rank 3 runs on core %u\n", xylem_placement_core(p, 3));
 *   xylem_placement_free(p);
 *   xylem_matrix_free(m);
 *
 * Functions that return int return 0 or a positive number; then a line on standard error says
 * why. They may be called from any thread, and nothing is shared between calls. */

typedef struct xylem_matrix xylem_matrix;
typedef struct xylem_placement xylem_placement;

/* `entries` messages from from[k] to to[k] of bytes[k] together; those of the same pair add up.
 * Ranks are below n, bytes finite and not negative. */
XYLEM_API int xylem_matrix_create(unsigned n, unsigned long entries, const unsigned *from,
                                  const unsigned *to, const double *bytes, xylem_matrix **matrix_p);
/* A file in any format that `xylem place` reads. */
XYLEM_API int xylem_matrix_read(const char *path, xylem_matrix **matrix_p);
XYLEM_API unsigned xylem_matrix_size(const xylem_matrix *m);
XYLEM_API void xylem_matrix_free(xylem_matrix *m);

/* `machine`: what `xylem place --machine` takes; NULL: the machine this runs on. `strategy`: one of
 * `xylem place`; NULL: the default. */
XYLEM_API int xylem_place(const xylem_matrix *m, const char *machine, const char *strategy,
                          xylem_placement **placement_p);
/* The logical number of the core of a rank, and what the operating system of its host calls it. */
XYLEM_API unsigned xylem_placement_core(const xylem_placement *p, unsigned rank);
XYLEM_API unsigned xylem_placement_physical(const xylem_placement *p, unsigned rank);
/* Bytes times links crossed; and the same with links that weigh 1:10:100 from the cores up. */
XYLEM_API double xylem_placement_hop_bytes(const xylem_placement *p);
XYLEM_API double xylem_placement_weighted(const xylem_placement *p);
XYLEM_API void xylem_placement_free(xylem_placement *p);

/* ---- Tasks: a sequential program that runs in parallel, in virtual or in real time. ----
 *
 *   xylem_tasks *t;
 *   xylem_tasks_create(&t);
 *   int x = xylem_tasks_data(t, &(xylem_data){.address = X, .bytes = sizeof(X)});
 *   xylem_access change = {x, XYLEM_READ_WRITE};
 *   xylem_tasks_add(t, &(xylem_task){.run = scale, .seconds = 1e-3}, &change, 1);
 *   ...
 *   xylem_run_options how = {.policy = "dmdar", .gpus = 2};
 *   xylem_run_result r;
 *   if (xylem_tasks_run(t, &how, &r) == 0)
 *       printf("%g s, %llu loads\n", r.makespan, r.loads);
 *   xylem_tasks_free(t);
 *
 * Tasks behave as if they ran one after the other in the order in which they were added: a task
 * comes after the last one before it that wrote what it reads, and after those that read or wrote
 * what it writes. All others may run at the same time. docs/tasks.md is the guide.
 *
 * A field that is 0 or NULL has the default of its comment, so only what matters needs to be set.
 * One thread at a time uses an xylem_tasks; different ones have nothing in common. */

typedef struct xylem_tasks xylem_tasks;

enum { XYLEM_READ = 1, XYLEM_WRITE = 2, XYLEM_READ_WRITE = 3 };
enum { XYLEM_VIRTUAL, XYLEM_REAL }; /* clocks */
#define XYLEM_NO_LIMIT (~0ULL)

typedef struct {
    void *address;            /* in the main memory; NULL: for virtual time only */
    unsigned long long bytes; /* more than 0 */
    int home;                 /* memory in which it is at the beginning and at the end: 0 the main
                                 memory, 1 the first GPU's, ... */
    int dims;                 /* of its position, 1 to 3; 0: pictures leave it out */
    long position[3];         /* where in the domain it lies; not negative */
    int owner;                /* with `messages`: the rank that has it at the beginning and at the
                                 end; on others the address may be NULL */
    int is_scrap;             /* 1: nobody wants what it holds in the end, so GPUs need not bring
                                 that home; its address is needed all the same */
} xylem_data;

typedef struct {
    int data; /* as returned by xylem_tasks_data */
    int mode; /* XYLEM_READ, ... */
} xylem_access;

/* The function of a task: buffers[i] is the present address of the datum of its access i. */
typedef void (*xylem_task_fn)(void *const *buffers, const void *arg);

/* A GPU of this machine, for code that calls its driver itself. */
typedef struct {
    const char *driver; /* "cuda" or "opencl" */
    int number;         /* among those of the run, from 0 */
    void *context;      /* CUcontext, cl_context */
    void *stream;       /* CUstream, cl_command_queue */
} xylem_gpu;

/* The function of a task on a GPU: it puts its work into the stream, without waiting for it, and
 * returns 0; anything else ends the run. buffers[i] is the CUdeviceptr or cl_mem of its access
 * i. */
typedef int (*xylem_gpu_fn)(const xylem_gpu *gpu, const unsigned long long *buffers,
                            const void *arg);

/* A kernel in one text for CUDA and OpenCL (docs/gpu.md). Its arguments are pointers to the data of
 * the task, in the order of the accesses, then the values. The texts must stay until the run has
 * ended. */
typedef struct {
    const char *text, *name;
    unsigned long threads[3]; /* in all, rounded up to whole groups; 0: 1 */
    unsigned long group[3];   /* all 0: 64 x 1 x 1 */
    struct {
        const void *value; /* copied when the task is added */
        unsigned long size;
    } values[8]; /* up to the first of size 0 */
} xylem_kernel;

typedef struct {
    xylem_task_fn run;          /* NULL: for virtual time or GPUs only */
    const void *arg;            /* for `run`: */
    unsigned long arg_size;     /* so many bytes of it are copied; 0: the pointer is passed on */
    double seconds;             /* that it takes on a worker of speed 1, or: */
    const char *model;          /* a kernel of a file of models, such as "dgemm", */
    double size;                /* and its size */
    int priority;               /* higher first, where the policy looks at it */
    const xylem_kernel *kernel; /* for GPUs; NULL: none */
    xylem_gpu_fn gpu;           /* instead of a kernel; gets `arg`, too */
} xylem_task;

/* How data go between ranks that share the tasks; xylem_tasks_mpi.h makes one from a communicator.
 * The functions are called by the thread that runs the tasks; they return 0, and anything else ends
 * the run. */
typedef struct xylem_messages {
    int rank, ranks;
    int last_tag; /* tags are from 0 to this */
    void *arg;
    /* Begin to send or receive; `number` is its name until it is complete. What is sent may have
     * fewer bytes than its receiver allows. */
    int (*start)(void *arg, int number, int is_send, int peer, int tag, void *buffer,
                 unsigned long long bytes);
    /* The numbers of those that are complete, `most` at most. Waits for one if is_waiting, unless
     * there are none. */
    int (*finish)(void *arg, int is_waiting, int *numbers, int most, int *count);
    /* Ranks on this machine, which share its GPUs, and the number of this one among them; 0 of
     * them: all ranks are here */
    int near_ranks, near_rank;
} xylem_messages;

typedef struct {
    const char *policy;   /* one of `xylem stencil --list`; NULL: Xylem's own */
    const char *eviction; /* likewise; NULL: what the policy prefers */
    double alpha, beta;   /* weights of computation and transfer in completion times; 0: 1 */
    int clock;            /* XYLEM_VIRTUAL or XYLEM_REAL */
    /* Virtual time; in real time `gpus` (more than 0) and `memory` count if some task has a kernel:
     * then tasks with one run on so many GPUs of this machine, those that have a function also on
     * `cpus` cores, and the others there or, with 0 cores, on this thread */
    const char *machine;       /* as for `xylem machine`; NULL: attila, which has GPUs */
    int gpus;                  /* 0: those of the machine; more than it has: copies of the last;
                                  -1: none */
    unsigned long long memory; /* of each GPU; 0: what the machine says; XYLEM_NO_LIMIT. Ranks that
                                  have the same GPU divide it */
    double cpu_speed;          /* of a core, where a GPU is 1; 0: 0.1, in real time until it is
                                  measured */
    /* Both */
    int cpus;          /* cores that compute; 0: none in virtual time and beside GPUs, else all */
    const char *trace; /* file to record into, for `xylem view` */
    const char *page;  /* file for a page with pictures of the data that have a position */
    const char *svg;   /* the same pictures as files: SVG-time.svg, SVG-iteration.svg, ... */
    /* Real time: all ranks have added the same data and tasks, and run them together. A task runs
     * on the rank that owns the first datum it writes, or else the first it reads. NULL: this
     * process runs all of them */
    const xylem_messages *messages;
} xylem_run_options;

typedef struct {
    char policy[32];           /* that ran */
    double makespan;           /* until the last datum is home */
    double tasks_end;          /* until the last task is complete */
    double compute_bound;      /* all work shared by all workers without a gap */
    double scheduling_seconds; /* real time that the decisions took */
    unsigned long long tasks, loads, stores, peers; /* transfers from and to the main memory, and
                                                       between others */
    unsigned long long bytes_loaded, bytes_stored, bytes_peer;
    unsigned long long messages, bytes_received; /* from other ranks */
} xylem_run_result;

XYLEM_API int xylem_tasks_create(xylem_tasks **tasks_p);
XYLEM_API void xylem_tasks_free(xylem_tasks *t); /* NULL is fine */

/* A datum, and a task with its accesses. Both return a number from 0 that goes up by one. Mistakes
 * are reported at once, and the number can still be used; the run then returns the error. A
 * task names a datum once at most. */
XYLEM_API int xylem_tasks_data(xylem_tasks *t, const xylem_data *data);
XYLEM_API int xylem_tasks_add(xylem_tasks *t, const xylem_task *task, const xylem_access *accesses,
                              int count);
/* The file of `model`; NULL, and without this call: what `xylem calibrate` wrote here. */
XYLEM_API int xylem_tasks_models(xylem_tasks *t, const char *path);

/* Run all tasks. As often as you like, with other policies and machines; after the first run
 * nothing can be added. `options` NULL: all as said above. In real time the tasks run on threads
 * of this process, and the call returns when all is complete. */
XYLEM_API int xylem_tasks_run(xylem_tasks *t, const xylem_run_options *options,
                              xylem_run_result *result);

/* ---- Choosing: one of several ways to do the same, by what each will take. ----
 *
 *   static double time_alone(void *arg) { ... predicted seconds ... }
 *   static int sort_alone(void *arg) { ... return 0; }
 *
 *   xylem_alternative ways[] = {{"alone", time_alone, sort_alone}, {"samples", time_samples, ...}};
 *   xylem_parameter n = {"n", count};
 *   xylem_problem sort = {.name = "sort", .parameters = &n, .parameter_count = 1,
 *                         .alternatives = ways, .alternative_count = 2, .arg = &data};
 *   xylem_choose_run(&sort, NULL);
 *
 * The least predicted time is chosen, corrected by the times that were stored for near parameters
 * on this host; real times are stored for the next choice, in the file of `xylem choose --history`.
 * docs/adapt.md is the page to learn it from. Names are one word without ',' and '='.
 *
 * Functions return 0 or a positive number; then a line on standard error says why. They may be
 * called from any thread. In MPI programs one rank chooses and tells the others. */

typedef struct {
    const char *name;
    double value;
} xylem_parameter;

typedef struct {
    const char *name;
    double (*seconds)(void *arg); /* predicted; 0 or less: not for these parameters */
    int (*run)(void *arg);        /* for xylem_choose_run; anything but 0: it failed */
    double error;                 /* relative, of the prediction; 0: not known */
} xylem_alternative;

typedef struct {
    const char *name;
    const xylem_parameter *parameters; /* that times depend on; at most 16 */
    const xylem_alternative *alternatives;
    int parameter_count, alternative_count;
    void *arg; /* for the functions */
    /* Others that may be better are tried while all trials together lose at most this part of all
     * time that was stored; 0: never. */
    double loss;
    int reference;    /* candidate used without a choice, counted from 1: others are trials, too; 0:
                         there is none */
    const char *host; /* host of the times that count; NULL: this host */
    int ignores_history;
} xylem_problem;

typedef struct {
    int chosen;       /* counted from 0 */
    int is_trial;     /* to learn, or in the place of the reference */
    double predicted; /* seconds */
    double expected;  /* the same, corrected */
    double sure;      /* probability that the best is the best */
    double measured;  /* by xylem_choose_run */
    double instead;   /* for xylem_chosen */
} xylem_choice;

/* Choose, and run nothing. */
XYLEM_API int xylem_choose(const xylem_problem *problem, xylem_choice *choice);
/* Store the time of a run of the choice. */
XYLEM_API int xylem_chosen(const xylem_problem *problem, const xylem_choice *choice,
                           double seconds);
/* Choose, run and store. `choice` may be NULL. What the function returns is returned, and then
 * nothing is stored. */
XYLEM_API int xylem_choose_run(const xylem_problem *problem, xylem_choice *choice);

/* ---- Simulating: what a parallel program takes, on a machine that need not be there. ----
 *
 *   xylem_platform *there;
 *   xylem_script *s;
 *   double seconds;
 *   xylem_platform_create("node:16(latency=2us bandwidth=10GB/s) core:1", NULL, &there);
 *   xylem_script_create(16, &s);
 *   for (int r = 0; r < 16; r++) {                     (what each rank does, in its order)
 *       xylem_script_bcast(s, r, 0, 0, 1 << 20);       (group 0: all; from rank 0)
 *       xylem_script_compute(s, r, 1e-3);
 *       xylem_script_isend(s, r, (r + 1) % 16, 0, 4096);
 *       xylem_script_irecv(s, r, (r + 15) % 16, 0, 4096);
 *       xylem_script_wait(s, r);
 *   }
 *   xylem_script_run(s, there, &seconds);
 *   xylem_script_free(s);
 *   xylem_platform_free(there);
 *
 * The model is that of `mpiexec --virtual`, with the same times for the same calls: messages,
 * their protocols and contention, and the algorithms of Xylem's collectives. Ranks are placed as
 * mpiexec places them; with fewer cores than ranks they take turns. A simulation of a million
 * messages takes about a second.
 *
 * Functions that return int return 0 or a positive number; then a line on standard error says
 * why. Those that write a script return nothing: xylem_script_run tells what was wrong with it.
 * A script and a platform may be used by one thread at a time. */

typedef struct xylem_platform xylem_platform;
typedef struct xylem_script xylem_script;

/* A machine as `xylem machine` takes it (NULL: this one; in a rank all cores of its job, or the
 * machine of --virtual), with the costs of `xylem calibrate` from a file. costs NULL: those in the
 * file of the machine, or, of this one, those that are stored for it; where there are none, and
 * with "", the model's own. */
XYLEM_API int xylem_platform_create(const char *machine, const char *costs,
                                    xylem_platform **platform_p);
XYLEM_API void xylem_platform_free(xylem_platform *platform); /* NULL is fine */
XYLEM_API int xylem_platform_cores(const xylem_platform *platform);
XYLEM_API int xylem_platform_nodes(const xylem_platform *platform); /* that have their own memory */
/* Seconds of a kernel that was calibrated, such as "dgemm" of m, n, k; 0: there is no model. */
XYLEM_API double xylem_platform_kernel(const xylem_platform *platform, const char *name,
                                       const double *sizes, int count);

XYLEM_API int xylem_script_create(int ranks, xylem_script **script_p);
XYLEM_API void xylem_script_free(xylem_script *script); /* NULL is fine */
XYLEM_API void xylem_script_compute(xylem_script *script, int rank, double seconds);
/* A message that is started; messages of two ranks with one tag meet in their order. */
XYLEM_API void xylem_script_isend(xylem_script *script, int rank, int to, int tag,
                                  unsigned long bytes);
XYLEM_API void xylem_script_irecv(xylem_script *script, int rank, int from, int tag,
                                  unsigned long bytes);
/* The rank waits for all messages that it has started. */
XYLEM_API void xylem_script_wait(xylem_script *script, int rank);
/* Ranks that have collectives of their own; the number of the group. 0 is that of all ranks. */
XYLEM_API int xylem_script_group(xylem_script *script, const int *ranks, int count);
/* Blocking collectives: every member calls them, in the same order. The root is a number in the
 * group. xylem_script_agree is what making a communicator takes. */
XYLEM_API void xylem_script_bcast(xylem_script *script, int rank, int group, int root,
                                  unsigned long bytes);
XYLEM_API void xylem_script_allreduce(xylem_script *script, int rank, int group,
                                      unsigned long bytes);
XYLEM_API void xylem_script_agree(xylem_script *script, int rank, int group);
/* When the last rank has ended. A script may be run often, on several platforms. */
XYLEM_API int xylem_script_run(const xylem_script *script, const xylem_platform *platform,
                               double *seconds_p);

#ifdef __cplusplus
}
#endif

#endif
