/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of other libraries whose time is known: BLAS and LAPACK by the models of the store,
 * others by what the user gave. A program that calls one gets a stub instead (kernel_*.S), which
 * charges the time to the rank; the function itself then runs as always, and its result is right.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/virtual/private.h"

/* As in kernel_*.S. The last one stands for all that find no place: a call of it ends the job. */
enum { STUBS = 1024, STUB_BYTES = 16 };

typedef struct {
    char *name;
    void *function;
    const char *sizes; /* numbers of arguments (cost/blas.h); NULL: `seconds` */
    double seconds;
} kernel_t;

static struct {
    const virtual_config_t *config;
    kernel_t kernels[STUBS];
    int count;
} all;

/* For the assembler. */
extern const char virtual_kernel_stubs[] __attribute__((visibility("hidden")));
void *virtual_kernel_called(int number, const uint64_t *registers, const uint64_t *stack)
    __attribute__((visibility("hidden")));

#if defined(__x86_64__)
enum { REGISTERS = 6 };
#else
enum { REGISTERS = 8 };
#endif

/* Sizes are int. */
static double argument(const uint64_t *registers, const uint64_t *stack, int i)
{
    return (double)(int)(i < REGISTERS ? registers[i] : stack[i - REGISTERS]);
}

static void fail_many(void)
{
    xy_fail(XY_ELIMIT,
            "the program calls more than %d functions whose time is known; give fewer with "
            "--compute-call",
            STUBS - 1);
    virtual_fail();
}

/* Models are those of the rank's cluster, where they are, and else of any. */
static double model_seconds(const mpi_rank_t *self, const kernel_t *k, const double *sizes,
                            size_t count)
{
    const char *cluster = all.config->cluster_of[self->world];
    xy_estimate_t e;

    if (xy_cost_kernel_value(all.config->job.store, k->name, cluster, sizes, count, &e) != XY_OK &&
        xy_cost_kernel_value(all.config->job.store, k->name, NULL, sizes, count, &e) != XY_OK) {
        xy_fail(XY_ENOENT,
                "--compute model: there is no model of '%s'; measure it with 'xylem calibrate "
                "--kernels', or give its time with --compute-call %s=SECONDS",
                k->name, k->name);
        virtual_fail();
    }
    return e.seconds;
}

void *virtual_kernel_called(int number, const uint64_t *registers, const uint64_t *stack)
{
    const kernel_t *k = &all.kernels[number];
    double sizes[4], seconds = k->seconds;
    size_t n = 0;

    if (number == STUBS - 1)
        fail_many();
    if (mpi_self == NULL || mpi_job->clock == NULL)
        return k->function;
    for (; k->sizes != NULL && k->sizes[n] != '\0'; n++)
        sizes[n] = argument(registers, stack, k->sizes[n] - '0');
    if (k->sizes != NULL)
        seconds = model_seconds(mpi_self, k, sizes, n);
    if (seconds > 0)
        virtual_turn(mpi_self)->ahead += seconds;
    return k->function;
}

/* ---- Which functions ---- */

static bool find_given(const char *name, double *seconds_p)
{
    for (size_t i = 0; i < all.config->call_count; i++)
        if (strcmp(all.config->calls[i].name, name) == 0) {
            *seconds_p = all.config->calls[i].seconds;
            return true;
        }
    return false;
}

void mpi_virtual_set_kernels(const virtual_config_t *config)
{
    all.config = config;
}

static void *stub_at(int i)
{
    return (void *)(uintptr_t)(virtual_kernel_stubs + (size_t)i * STUB_BYTES);
}

bool mpi_virtual_is_simulated(const char *name)
{
    double seconds;

    return find_given(name, &seconds) ||
           (all.config->compute == VIRTUAL_COMPUTE_MODEL && xy_blas_sizes(name) != NULL);
}

void *mpi_virtual_substitute(const char *name, void *found)
{
    kernel_t k = {.function = found};

    if (found == NULL)
        return found;
    if (!find_given(name, &k.seconds)) {
        k.sizes = all.config->compute == VIRTUAL_COMPUTE_MODEL ? xy_blas_sizes(name) : NULL;
        if (k.sizes == NULL)
            return found;
    }
    for (int i = 0; i < all.count; i++)
        if (strcmp(all.kernels[i].name, name) == 0)
            return stub_at(i);
    k.name = all.count < STUBS - 1 ? xy_strdup(name) : NULL;
    if (k.name == NULL)
        return stub_at(STUBS - 1);
    all.kernels[all.count] = k;
    return stub_at(all.count++);
}
