/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/sides.h"

#include "mpi/check/allocations.h"
#include "mpi/check/check.h"
#include "mpi/check/facts.h"
#include "mpi/check/pending.h"

/* The buffers that a rank's call has named before its operation. In virtual time other ranks may
 * run in between. */
enum { SIDES = 3 };
typedef struct {
    mpi_transfer_t sides[SIDES];
    check_use_t uses[SIDES];
    int count;
    const void *site;
} named_t;
static named_t *names; /* [name_count], ranks; or NULL */
static int name_count;

static named_t *named_of(const mpi_rank_t *self)
{
    return names != NULL && self->world < name_count ? &names[self->world] : NULL;
}

void check_sides_use(mpi_rank_t *self, const mpi_win_t *win, int target)
{
    named_t *named = named_of(self);
    bool is_same = named != NULL && named->site == self->call.caller; /* else one has failed */

    for (int i = 0; is_same && i < named->count; i++)
        check_pending_window(self, win, target, &named->sides[i], named->uses[i]);
    if (named != NULL)
        named->count = 0;
}

/* Most operations of a thread use memory that is as it was. */
void check_sides_look(const mpi_rank_t *self, const mpi_win_t *win, int target,
                      const check_area_t *area)
{
    static _Thread_local struct {
        uint64_t changes;
        const char *low, *high;
    } last;
    uint64_t changes = check_allocations_changes();
    check_block_t block;

    if (win->shared->flavor == MPI_WIN_FLAVOR_ALLOCATE ||
        win->shared->flavor == MPI_WIN_FLAVOR_SHARED)
        return; /* it is not the program's */
    if (last.changes == changes && area->low >= last.low && area->high <= last.high)
        return;
    check_allocations_window(
        self, area,
        win->shared->flavor == MPI_WIN_FLAVOR_CREATE ? win->shared->places[target].base : NULL,
        mpi_comm_world_rank(win->comm, target));
    last.changes = changes;
    last.low = area->low;
    last.high = area->high;
    if (check_allocations_find(area->low, &block) && block.freed == NULL) {
        last.low = block.low;
        last.high = block.low + block.size;
    }
}

/* Names of sides begin with other letters. */
enum { ORIGIN = 'o', TARGET = 't', RESULT = 'r' };

void check_sides_note(const mpi_rank_t *self, const char *name, const void *address, int64_t count,
                      const mpi_type_t *type)
{
    check_area_t area = check_area_make(address, count, type);
    check_what_t what = check_facts_of(self->call.name)->what;
    named_t *named = named_of(self);
    bool is_receive = name[0] == RESULT || what == CHECK_READ;

    if (named == NULL)
        return;
    if (name[0] == ORIGIN || named->count == SIDES)
        named->count = 0;
    if (!mpi_checks.buffers || area.low == area.high || name[0] == TARGET)
        return;
    check_pending_memory(self, &area, is_receive);
    if (is_receive && what == CHECK_UPDATE)
        return; /* unwanted results may share one place, in any order */
    named->sides[named->count] = (mpi_transfer_t){.buffer = (void *)(uintptr_t)address,
                                                  .count = count,
                                                  .type = (mpi_type_t *)(uintptr_t)type};
    named->uses[named->count++] = is_receive ? CHECK_USE_RESULT : CHECK_USE_ORIGIN;
    named->site = self->call.caller;
}

void check_sides_begin(int ranks)
{
    names = xy_calloc((size_t)ranks, sizeof(*names));
    name_count = ranks;
}
