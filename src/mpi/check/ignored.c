/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/ignored.h"

#include <elf.h>
#include <pthread.h>
#include <string.h>

#include "mpi/check/copy_memory.h"
#include "mpi/check/findings.h"
#include "mpi/check/result_use.h"
#include "mpi/object/object.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

/* The errors of one rank at one place. */
typedef struct {
    int rank;
    const void *site;
    const char *call;
    int class;
    long count;
    check_result_t use;
} returned_t;

static xy_vec_t list = XY_VEC_INIT(returned_t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list; ranks may have threads */

static returned_t *at(size_t i)
{
    return &XY_VEC_AT(&list, returned_t, i);
}

/* An instruction may end just before memory that cannot be read. */
static bool fetch(uint64_t address, unsigned char *bytes, void *argument)
{
    const size_t least = 4;

    (void)argument;
    memset(bytes, 0, CHECK_CODE_LONGEST);
    return check_copy_memory(bytes, (const void *)(uintptr_t)address, CHECK_CODE_LONGEST) ||
           check_copy_memory(bytes, (const void *)(uintptr_t)address, least);
}

/* Functions of Fortran and C++ return the error in another way, and calls through pointers may be
 * theirs. */
static bool is_of_c(const void *site, const char *call)
{
    const char *name = mpi_caller_function(site);

    return name != NULL && strcmp(name, call) == 0;
}

static check_result_t use_of(const void *site, const char *call)
{
    const check_machine_t *machine = check_machine_find(MACHINE);

    return machine != NULL && is_of_c(site, call)
               ? check_result_use(machine, (uintptr_t)site, fetch, NULL)
               : CHECK_RESULT_USED;
}

/* With the lock held; NULL: memory ran out. */
static returned_t *find(int rank, const void *site, const char *call)
{
    returned_t *made;

    for (size_t i = 0; i < list.count; i++)
        if (at(i)->rank == rank && at(i)->site == site)
            return at(i);
    made = xy_vec_push(&list);
    if (made != NULL)
        *made = (returned_t){.rank = rank, .site = site, .call = call, .use = use_of(site, call)};
    return made;
}

/* Programs delete files that need not be there. */
static bool is_expected(const char *call, int class)
{
    return strcmp(call, "MPI_File_delete") == 0 && class == MPI_ERR_NO_SUCH_FILE;
}

/* Note an error that a call returned to the program. */
static void note(const mpi_rank_t *self, int code)
{
    int class = mpi_error_class_of(code);
    returned_t *r;

    if (self == NULL || self->call.name == NULL || is_expected(self->call.name, class))
        return;
    pthread_mutex_lock(&lock);
    r = find(self->world, self->call.caller, self->call.name);
    if (r != NULL) {
        r->class = class;
        r->count++;
    }
    pthread_mutex_unlock(&lock);
}

void check_ignored_begin(void)
{
    mpi_dispatch.check.returned = note;
}

static bool is_ignored(const returned_t *r)
{
    return r->use == CHECK_RESULT_IGNORED ||
           (r->use == CHECK_RESULT_LEFT && mpi_caller_is_void(r->site));
}

static void report(const returned_t *r)
{
    mpi_finding_t finding = {
        .kind = XMPI_FINDING_ERROR_IGNORED, .rank = r->rank, .other = -1, .sites = {r->site, NULL}};
    const char *name = mpi_error_class_name(r->class);
    char place[CHECK_TEXT_SIZE], times[40] = "an error";

    if (r->count > 1)
        snprintf(times, sizeof(times), "%ld errors", r->count);
    mpi_finding_add(&finding, "%s %s returned %s (%s%s), and the program did not check", r->call,
                    check_place_text(r->site, place), times, r->count > 1 ? "the last: " : "",
                    name != NULL ? name : "of its own");
}

void check_ignored_finish(void)
{
    mpi_dispatch.check.returned = NULL;
    for (size_t i = 0; i < list.count; i++)
        if (is_ignored(at(i)))
            report(at(i));
    xy_vec_cleanup(&list);
    list = XY_VEC_INIT(returned_t);
}
