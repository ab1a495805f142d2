/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes that the rank waits for. */
#include "mpi/io/io_order.h"

#include <string.h>

#include "mpi/io/descriptor.h"
#include "mpi/io/io.h"
#include "mpi/io/io_represent.h"
#include "mpi/io/io_write.h"
#include "mpi/virtual/virtual.h"

/* ---- Arguments ---- */

/* Check count, type and memory of an access; returns an MPI error code. */
static int check_memory(mpi_file_t *file, const io_order_t *order, const mpi_type_t *type)
{
    if (order->count < 0)
        return mpi_error(file->comm, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)order->count);
    if (type == NULL)
        return mpi_error(file->comm, MPI_ERR_TYPE, "the datatype is not a valid handle");
    if (!type->is_committed)
        return mpi_error(file->comm, MPI_ERR_TYPE,
                         "the datatype was not committed; call MPI_Type_commit first");
    if (!order->is_write && order->count > type->most_received)
        return mpi_type_refuse_overlap(file->comm);
    if (order->memory == NULL && order->count > 0 && type->is_predefined)
        return mpi_error(file->comm, MPI_ERR_BUFFER, "the buffer is NULL and the count is %lld",
                         (long long)order->count);
    return MPI_SUCCESS;
}

/* Check an access against the mode of the file and open split accesses; returns an MPI error code.
 */
static int check_order(mpi_file_t *file, const io_order_t *order, const mpi_type_t *type)
{
    int amode = file->shared->amode;
    int error = order->is_collective ? io_check_members(file) : MPI_SUCCESS;

    if (error == MPI_SUCCESS)
        error = check_memory(file, order, type);

    if (error != MPI_SUCCESS)
        return error;
    if (order->is_write && (amode & MPI_MODE_RDONLY) != 0)
        return io_refuse_mode(file, MPI_MODE_RDONLY);
    if (!order->is_write && (amode & MPI_MODE_WRONLY) != 0)
        return io_refuse_mode(file, MPI_MODE_WRONLY);
    if ((amode & MPI_MODE_SEQUENTIAL) != 0 && (order->where == IO_AT || order->where == IO_OWN))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    if (order->where == IO_AT && order->offset < 0)
        return mpi_error(file->comm, MPI_ERR_ARG, "the offset is %lld", (long long)order->offset);
    if (order->is_collective && file->split.name != NULL)
        return mpi_error(file->comm, MPI_ERR_OTHER,
                         "%s_begin has had no %s_end; until then no other collective access may be "
                         "made",
                         file->split.name, file->split.name);
    return MPI_SUCCESS;
}

/* The bytes in the file; whole etypes. */
static int count_bytes(mpi_file_t *file, const io_order_t *order, const mpi_type_t *type,
                       size_t *bytes_p)
{
    size_t size = io_rep_size(file->view->rep, type);

    if (type->size > 0 && size == 0)
        return mpi_error(file->comm, MPI_ERR_CONVERSION,
                         "the extent function of the data representation failed");
    if (__builtin_mul_overflow((size_t)order->count, size, bytes_p) || *bytes_p > INT64_MAX / 4)
        return mpi_error(file->comm, MPI_ERR_COUNT, "%lld elements of %zu bytes are too many",
                         (long long)order->count, size);
    if (*bytes_p % file->view->unit != 0)
        return mpi_error(file->comm, MPI_ERR_ARG,
                         "%zu bytes are not a whole number of etypes, which have %zu", *bytes_p,
                         file->view->unit);
    return MPI_SUCCESS;
}

/* Does the end of the access have a number? */
static bool is_reachable(const io_view_t *view, int64_t offset, int64_t etypes)
{
    int64_t end, tiles;

    return !__builtin_add_overflow(offset, etypes, &end) &&
           !__builtin_mul_overflow(end, (int64_t)view->unit, &end) && end < INT64_MAX / 4 &&
           !__builtin_mul_overflow(end / (int64_t)view->tile->size + 2, view->tile->extent,
                                   &tiles) &&
           !__builtin_add_overflow(tiles, view->disp, &tiles) && tiles < INT64_MAX / 4;
}

/* ---- Pointers ---- */

/* One behind the other in order of rank, from the shared pointer on, where members are in several
 * processes. */
static int find_ordered(mpi_file_t *file, int64_t etypes, int64_t *offset_p)
{
    io_word_t amounts = {.value = etypes}, base = {.value = 0};
    int error = io_agree(file->comm, &amounts);

    if (error == MPI_SUCCESS && file->comm->rank == 0)
        base.error = io_pointer_add(file, amounts.total, &base.value);
    if (error == MPI_SUCCESS)
        error = io_agree(file->comm, &base);
    *offset_p = base.total + amounts.before;
    return error == MPI_SUCCESS ? io_error_errno(file, base.failure) : error;
}

/* Find the offset of an access and advance the pointer that it uses; returns an MPI error code. */
static int find_offset(mpi_file_t *file, const io_order_t *order, int64_t etypes, int64_t *offset_p)
{
    switch (order->where) {
    case IO_AT:
        *offset_p = order->offset;
        return 0;
    case IO_OWN:
        *offset_p = file->position;
        if (!__builtin_add_overflow(file->position, etypes, &etypes))
            file->position = etypes;
        return 0;
    case IO_SHARED:
        return io_error_errno(file, io_pointer_add(file, etypes, offset_p));
    default:
        return find_ordered(file, etypes, offset_p);
    }
}

/* Can the access be made there? Where the view has no holes and numbers are small it can. */
static bool is_possible(const io_view_t *view, int64_t offset, int64_t etypes)
{
    if (view->is_simple && (uint64_t)offset < (uint64_t)IO_SMALL && etypes < IO_SMALL)
        return true;
    return is_reachable(view, offset, etypes) &&
           io_view_reaches(view, (offset + etypes) * (int64_t)view->unit);
}

static __attribute__((cold)) int refuse_place(mpi_file_t *file, int64_t offset, int64_t etypes)
{
    if (!is_reachable(file->view, offset, etypes))
        return mpi_error(file->comm, MPI_ERR_ARG, "the offset is %lld: no file is that long",
                         (long long)offset);
    return mpi_error(file->comm, MPI_ERR_ARG,
                     file->view->reach == 0
                         ? "the filetype has no data: no byte of the file can be accessed"
                         : "the extent of the filetype is less than its data: copies of it "
                           "overlap, and the access goes beyond the first");
}

/* Ordered accesses inside a process learn where they are when all meet. */
static bool is_dealt(const mpi_file_t *file, const io_order_t *order)
{
    return order->where == IO_ORDERED && !io_is_spread(file);
}

int io_prepare(mpi_rank_t *self, const io_order_t *order, mpi_file_t **file_p, io_access_t *access)
{
    mpi_file_t *file = mpi_file_of(order->handle);
    mpi_type_t *type = mpi_type_of(order->type);
    int64_t etypes, offset = 0;
    size_t bytes = 0;
    int error;

    (void)self;
    *file_p = NULL;
    if (file == NULL)
        return mpi_file_refuse(order->handle);
    io_note(file);
    error = check_order(file, order, type);
    if (error == MPI_SUCCESS)
        error = count_bytes(file, order, type, &bytes);
    if (error == MPI_SUCCESS && !is_dealt(file, order)) {
        etypes = (int64_t)(bytes / file->view->unit);
        error = find_offset(file, order, etypes, &offset);
        if (error == MPI_SUCCESS && !is_possible(file->view, offset, etypes))
            error = refuse_place(file, offset, etypes);
    }
    if (error != MPI_SUCCESS)
        return error;
    *access = (io_access_t){.shared = file->shared,
                            .view = file->view,
                            .memory = (char *)(uintptr_t)order->memory,
                            .count = order->count,
                            .type = type,
                            .at = offset * (int64_t)file->view->unit,
                            .bytes = bytes,
                            .is_write = order->is_write,
                            .is_atomic = file->is_atomic,
                            .is_direct = file->is_direct[order->is_write]};
    *file_p = file;
    return MPI_SUCCESS;
}

/* ---- Representations ---- */

int io_stage(io_access_t *a)
{
    if (a->view->rep == NULL || a->bytes == 0)
        return MPI_SUCCESS;
    a->staged = xy_calloc(1, a->bytes);
    if (a->staged == NULL)
        return MPI_ERR_NO_MEM;
    return a->is_write ? io_rep_write(a->view->rep, a->memory, a->count, a->type, a->staged)
                       : MPI_SUCCESS;
}

/* A read that the end of the file cuts gives whole elements. */
int io_unstage(io_access_t *a)
{
    int error = MPI_SUCCESS;

    if (a->staged == NULL)
        return error;
    if (!a->is_write && a->error == 0 && a->bytes > 0)
        error = io_rep_read(a->view->rep, a->memory,
                            (int64_t)(a->done / (a->bytes / (size_t)a->count)), a->type, a->staged);
    xy_free(a->staged);
    a->staged = NULL;
    return error;
}

size_t io_done(const io_access_t *a)
{
    if (a->view->rep == NULL || a->bytes == 0)
        return a->done;
    return a->done / (a->bytes / (size_t)a->count) * a->type->size;
}

/* ---- Virtual time: as a message of that size to itself ---- */

void io_charge_before(mpi_rank_t *self)
{
    if (__builtin_expect(mpi_job->clock != NULL, 0))
        mpi_virtual_sync(self);
}

double io_charge(mpi_rank_t *self, size_t bytes)
{
    return mpi_virtual_access(self, &(mpi_virtual_access_t){.target = self->world, .there = bytes});
}

/* ---- Alone and together ---- */

io_how_t io_how_of(const mpi_file_t *file, bool is_write)
{
    return (io_how_t){.piece = file->piece, .is_split = file->is_split[is_write]};
}

enum {
    LINE = 64,
    FOR_ONE = 64 << 10, /* less data is moved by one worker: others would come too late */
    FEW = 16
};

/* The part of a member, in cache lines of its own. In ordered accesses its place is found where all
 * meet. */
typedef struct {
    _Alignas(LINE) io_access_t access;
    io_how_t how;
    int64_t etypes, offset;
    bool is_impossible; /* there; then nothing is done */
    bool is_done;       /* before the others came */
} entry_t;

/* All members wait, so that their workers can help. */
static void lead(void *const *inputs, int size, void *const *outputs)
{
    io_access_t *few[FEW];
    io_access_t **accesses = size <= FEW ? few : xy_malloc((size_t)size * sizeof(io_access_t *));
    io_how_t how = ((const entry_t *)inputs[0])->how;
    size_t bytes = 0;
    int count = 0;

    (void)outputs;
    for (int r = 0; r < size; r++) {
        entry_t *entry = inputs[r];

        how.is_split |= entry->how.is_split;
        if (entry->is_done)
            continue;
        if (accesses != NULL)
            accesses[count++] = &entry->access;
        else
            io_access_run(&entry->access);
        bytes += entry->access.bytes;
    }
    how.run = count == 0 || bytes < FOR_ONE ? NULL : mpi_parallel_run;
    for (int w = 0; how.run != NULL && w < mpi_job->workers; w++)
        xy_worker_notify(mpi_job->worker[w].base);
    if (count > 0)
        io_collective_run(accesses, count, &how);
    if (accesses != few)
        xy_free(accesses);
}

/* One behind the other in order of rank, from the shared pointer on. */
static void lead_ordered(void *const *inputs, int size, void *const *outputs)
{
    int64_t total = 0, at;

    /* They are in caches of other cores, and come all at once. */
    for (int r = 0; r < size; r++)
        for (size_t i = 0; i < sizeof(entry_t); i += LINE)
            __builtin_prefetch((const char *)inputs[r] + i, 1);
    for (int r = 0; r < size; r++)
        total += ((const entry_t *)inputs[r])->etypes;
    at = atomic_fetch_add(&((const entry_t *)inputs[0])->access.shared->pointer, total);
    for (int r = 0; r < size; r++) {
        entry_t *entry = outputs[r];
        io_access_t *access = &entry->access;

        entry->offset = at;
        access->at = at * (int64_t)access->view->unit;
        entry->is_impossible = !is_possible(access->view, at, entry->etypes);
        if (entry->is_impossible)
            access->bytes = 0;
        at += entry->etypes;
    }
    lead(inputs, size, outputs);
}

/* An error that was raised, of the place of an ordered access. */
static int run(mpi_file_t *file, entry_t *entry, const io_order_t *order)
{
    entry->how = io_how_of(file, order->is_write);
    entry->is_impossible = false;
    entry->is_done = !order->is_collective || io_is_alone(&entry->access);
    if (mpi_dispatch.check.agreement != NULL && order->is_collective && !io_is_spread(file))
        mpi_dispatch.check.agreement(file->comm);
    if (is_dealt(file, order)) {
        entry->is_done = false;
        mpi_coll_agree(file->comm, entry, entry, lead_ordered);
        return entry->is_impossible ? refuse_place(file, entry->offset, entry->etypes)
                                    : MPI_SUCCESS;
    }
    if (entry->is_done)
        io_access_run(&entry->access);
    if (order->is_collective) {
        io_note_collective(file, order->is_write);
        mpi_coll_agree(file->here, entry, NULL, lead);
    }
    return MPI_SUCCESS;
}

/* ---- Plain bytes at a place of the rank's own: nothing to pack, to convert, to agree about ----
 */

/* Most accesses are; io_prepare says what is wrong with those that are not, if something is. */
static inline bool is_simple(const mpi_file_t *file, const io_order_t *order,
                             const mpi_type_t *type)
{
    int wrong = MPI_MODE_SEQUENTIAL | (order->is_write ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);

    return file != NULL && type != NULL && order->where <= IO_OWN && !order->is_collective &&
           file->view->is_simple && !file->is_atomic && (file->shared->amode & wrong) == 0 &&
           type->is_committed && mpi_type_is_contiguous(type) && order->memory != NULL &&
           !mpi_is_on_device(order->memory) && mpi_job->clock == NULL &&
           (uint64_t)order->count < 1 << 20 && type->size < 1 << 20;
}

/* False: nothing was done. */
static bool do_simple(const io_order_t *order, MPI_Status *status, int *error_p)
{
    mpi_file_t *file = mpi_file_of(order->handle);
    const mpi_type_t *type = mpi_type_of(order->type);
    mpi_completion_t completion = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    int64_t offset, etypes;
    int error;

    if (!is_simple(file, order, type))
        return false;
    offset = order->where == IO_AT ? order->offset : file->position;
    completion.bytes = (size_t)order->count * type->size;
    etypes = (int64_t)completion.bytes;
    if (file->view->unit != 1) {
        etypes /= (int64_t)file->view->unit;
        if ((size_t)etypes * file->view->unit != completion.bytes)
            return false;
    }
    if ((uint64_t)offset >= (uint64_t)IO_SMALL)
        return false;
    io_note(file);
    if (order->where == IO_OWN)
        file->position += etypes;
    offset = file->view->disp + offset * (int64_t)file->view->unit;
    error = order->is_write ? io_write(file->shared, order->memory, completion.bytes, offset)
                            : io_read(file->shared, (char *)(uintptr_t)order->memory,
                                      completion.bytes, offset, &completion.bytes);
    if (order->is_write && error != 0)
        completion.bytes = 0;
    mpi_status_set(status, &completion);
    *error_p = error == 0 ? MPI_SUCCESS : io_error_errno(file, error);
    return true;
}

/* Any other. */
static __attribute__((noinline)) int do_any(mpi_rank_t *self, const io_order_t *order,
                                            MPI_Status *status)
{
    mpi_completion_t completion = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    entry_t entry;
    io_access_t *access = &entry.access;
    mpi_file_t *file;
    int error = io_prepare(self, order, &file, access), converted;

    if (file == NULL)
        return error;
    if (__builtin_expect(mpi_dispatch.check.access != NULL, 0))
        mpi_dispatch.check.access(self, access, NULL);
    entry.etypes = order->where == IO_ORDERED ? (int64_t)(access->bytes / file->view->unit) : 0;
    converted = io_stage(access);
    if (converted != MPI_SUCCESS)
        access->bytes = 0; /* the others wait for this one */
    io_charge_before(self);
    error = run(file, &entry, order);
    if (__builtin_expect(mpi_job->clock != NULL, 0))
        mpi_virtual_until(self, io_charge(self, access->done));
    completion.bytes = access->bytes > 0 ? io_done(access) : 0;
    if (converted == MPI_SUCCESS)
        converted = io_unstage(access);
    xy_free(access->staged);
    mpi_status_set(status, &completion);
    if (error != MPI_SUCCESS)
        return error;
    if (converted != MPI_SUCCESS)
        return mpi_error(file->comm, converted, "the data could not be converted");
    return io_error_errno(file, access->error);
}

int io_do(mpi_rank_t *self, const io_order_t *order, MPI_Status *status)
{
    int error;

    if (__builtin_expect(mpi_dispatch.check.access == NULL, 1) && do_simple(order, status, &error))
        return error;
    return do_any(self, order, status);
}

/* ---- Split calls: the access is made by the first half ---- */

int io_begin(mpi_rank_t *self, const io_order_t *order, const char *name)
{
    MPI_Status status;
    mpi_file_t *file;
    int error = io_do(self, order, &status);

    if (error != MPI_SUCCESS)
        return error;
    file = mpi_file_of(order->handle);
    file->split = (io_split_t){name, order->memory, status};
    return MPI_SUCCESS;
}

int io_end(MPI_File handle, const void *memory, MPI_Status *status, const char *name)
{
    mpi_file_t *file = mpi_file_of(handle);

    if (file == NULL)
        return mpi_file_refuse(handle);
    if (file->split.name == NULL)
        return mpi_error(file->comm, MPI_ERR_OTHER, "%s_begin was not called before", name);
    if (strcmp(file->split.name, name) != 0)
        return mpi_error(file->comm, MPI_ERR_OTHER, "the access was begun by %s_begin",
                         file->split.name);
    if (file->split.memory != memory)
        return mpi_error(file->comm, MPI_ERR_BUFFER, "the buffer is not that of %s_begin", name);
    file->split.name = NULL;
    if (status != MPI_STATUS_IGNORE)
        *status = file->split.status;
    return MPI_SUCCESS;
}
