/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random views, and random reads and writes through them, against a model of the file in memory.
 * All ranks draw the same numbers, so that each knows what the others do. The bytes of a file are
 * dealt to the ranks in slots, with slots that are left out; the view of a rank is what it has. At
 * the end, views whose blocks overlap, of a file that is only read.
 */
#include "file.h"

enum {
    MODEL = 1 << 20,
    SLOTS = 64,
    MOST = 600, /* etypes of an access */
    ROUNDS = XYLEM_SANITIZED ? 6 : 20,
    STEPS = 8
};

static int rank, size;
static unsigned long long state;
static unsigned char model[MODEL];
static long long length; /* of the file */

static int below(int n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned long long)n);
}

/* ---- Views ---- */

typedef struct {
    int disp, slots, bytes; /* bytes: of a slot */
    int owner[SLOTS];       /* -1: none */
    int counts[SLOTS];      /* slots of each rank */
    int is_regular;         /* slot i is that of rank i % size */
    int is_whole;           /* etype: a slot, else a byte */
} deal_t;

static deal_t draw_deal(void)
{
    static const int sizes[] = {1, 3, 4, 8, 24, 700, 3000};
    deal_t d = {.disp = below(3) * below(40), .bytes = sizes[below(7)], .is_regular = below(2)};

    d.is_whole = below(2);
    d.slots = d.is_regular ? size : size + below(SLOTS - size);
    for (int i = 0; i < d.slots; i++) {
        d.owner[i] = i < size ? i : below(size + 2) - 2;
        if (d.owner[i] < 0)
            d.owner[i] = -1;
    }
    for (int i = d.slots - 1; i > 0 && !d.is_regular; i--) {
        int j = below(i + 1), owner = d.owner[i];

        d.owner[i] = d.owner[j];
        d.owner[j] = owner;
    }
    for (int i = 0; i < d.slots; i++)
        if (d.owner[i] >= 0)
            d.counts[d.owner[i]]++;
    return d;
}

/* Where byte `k` of the view of `r` is. */
static long long place(const deal_t *d, int r, long long k)
{
    long long tile = k / ((long long)d->counts[r] * d->bytes);
    int rest = (int)(k % ((long long)d->counts[r] * d->bytes)), slot = -1;

    for (int seen = -1; seen < rest / d->bytes;)
        if (d->owner[++slot] == r)
            seen++;
    return d->disp + tile * d->slots * d->bytes + (long long)slot * d->bytes + rest % d->bytes;
}

static MPI_Datatype slot_type(const deal_t *d)
{
    MPI_Datatype type;

    MPI_Type_contiguous(d->bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The same bytes by one of several constructors. */
static MPI_Datatype file_type(const deal_t *d, MPI_Datatype slot)
{
    int starts[SLOTS], count = 0, kind = below(3);
    MPI_Datatype type, whole;

    for (int i = 0; i < d->slots; i++)
        if (d->owner[i] == rank)
            starts[count++] = i;
    if (d->is_regular && kind == 0) {
        int one = 1;

        MPI_Type_create_subarray(1, &d->slots, &one, &rank, MPI_ORDER_C, slot, &whole);
    } else {
        MPI_Type_create_indexed_block(count, 1, starts, slot, &type);
        MPI_Type_create_resized(type, 0, (MPI_Aint)d->slots * d->bytes, &whole);
        MPI_Type_free(&type);
    }
    MPI_Type_commit(&whole);
    return whole;
}

static void draw_hints(MPI_File file)
{
    static const char *const keys[] = {"romio_cb_write", "romio_cb_read", "romio_ds_write",
                                       "romio_ds_read"};
    MPI_Info info;

    MPI_Info_create(&info);
    for (int i = 0; i < 4; i++)
        MPI_Info_set(info, keys[i], below(3) == 0 ? "disable" : "enable");
    MPI_Info_set(info, "cb_buffer_size", below(2) ? "4096" : "1048576");
    CHECK_EQUAL(MPI_File_set_info(file, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_EQUAL(MPI_File_set_atomicity(file, below(4) == 0), MPI_SUCCESS);
}

/* ---- Accesses ---- */

typedef enum { AT, AT_ALL, I_AT, I_AT_ALL, OWN, ALL, I_OWN, I_ALL, SPLIT, SPLIT_AT, WAYS } way_t;

typedef struct {
    MPI_File file;
    MPI_Offset offset;
    char *memory;
    int count;
    MPI_Datatype type;
} access_t;

static int write_data(way_t way, const access_t *a, MPI_Request *r, MPI_Status *s)
{
    switch (way) {
    case AT:
        return MPI_File_write_at(a->file, a->offset, a->memory, a->count, a->type, s);
    case AT_ALL:
        return MPI_File_write_at_all(a->file, a->offset, a->memory, a->count, a->type, s);
    case I_AT:
        return MPI_File_iwrite_at(a->file, a->offset, a->memory, a->count, a->type, r);
    case I_AT_ALL:
        return MPI_File_iwrite_at_all(a->file, a->offset, a->memory, a->count, a->type, r);
    case OWN:
        return MPI_File_write(a->file, a->memory, a->count, a->type, s);
    case ALL:
        return MPI_File_write_all_c(a->file, a->memory, a->count, a->type, s);
    case I_OWN:
        return MPI_File_iwrite(a->file, a->memory, a->count, a->type, r);
    case I_ALL:
        return MPI_File_iwrite_all(a->file, a->memory, a->count, a->type, r);
    case SPLIT:
        CHECK_EQUAL(MPI_File_write_all_begin(a->file, a->memory, a->count, a->type), MPI_SUCCESS);
        return MPI_File_write_all_end(a->file, a->memory, s);
    default:
        CHECK_EQUAL(MPI_File_write_at_all_begin(a->file, a->offset, a->memory, a->count, a->type),
                    MPI_SUCCESS);
        return MPI_File_write_at_all_end(a->file, a->memory, s);
    }
}

static int read_data(way_t way, const access_t *a, MPI_Request *r, MPI_Status *s)
{
    switch (way) {
    case AT:
        return MPI_File_read_at(a->file, a->offset, a->memory, a->count, a->type, s);
    case AT_ALL:
        return MPI_File_read_at_all(a->file, a->offset, a->memory, a->count, a->type, s);
    case I_AT:
        return MPI_File_iread_at(a->file, a->offset, a->memory, a->count, a->type, r);
    case I_AT_ALL:
        return MPI_File_iread_at_all(a->file, a->offset, a->memory, a->count, a->type, r);
    case OWN:
        return MPI_File_read(a->file, a->memory, a->count, a->type, s);
    case ALL:
        return MPI_File_read_all_c(a->file, a->memory, a->count, a->type, s);
    case I_OWN:
        return MPI_File_iread(a->file, a->memory, a->count, a->type, r);
    case I_ALL:
        return MPI_File_iread_all(a->file, a->memory, a->count, a->type, r);
    case SPLIT:
        CHECK_EQUAL(MPI_File_read_all_begin(a->file, a->memory, a->count, a->type), MPI_SUCCESS);
        return MPI_File_read_all_end(a->file, a->memory, s);
    default:
        CHECK_EQUAL(MPI_File_read_at_all_begin(a->file, a->offset, a->memory, a->count, a->type),
                    MPI_SUCCESS);
        return MPI_File_read_at_all_end(a->file, a->memory, s);
    }
}

static int uses_pointer(way_t way)
{
    return way == OWN || way == ALL || way == I_OWN || way == I_ALL || way == SPLIT;
}

/* Data byte `k` of an access lies here in memory: with a hole behind each etype, or without. */
static long long in_memory(long long k, int unit, int has_holes)
{
    return has_holes ? k / unit * 2 * unit + k % unit : k;
}

static unsigned char value_of(int r, int step, long long k)
{
    return (unsigned char)(1 + (r * 31 + step * 17 + k * 7) % 251);
}

static void apply(const deal_t *d, int r, int step, long long first, long long bytes)
{
    for (long long k = 0; k < bytes; k++) {
        long long at = place(d, r, first + k);

        CHECK(at < MODEL);
        model[at] = value_of(r, step, k);
        length = at >= length ? at + 1 : length;
    }
}

/* How much of an access is before the end of the file. */
static long long readable(const deal_t *d, long long first, long long bytes)
{
    long long n = 0;

    while (n < bytes && place(d, rank, first + n) < length)
        n++;
    return n;
}

static void check_read(const deal_t *d, const access_t *a, int unit, int has_holes, long long bytes,
                       const MPI_Status *status)
{
    long long n = readable(d, a->offset * unit, bytes);
    int got;

    MPI_Get_elements(status, MPI_BYTE, &got);
    CHECK_EQUAL(got, n);
    for (long long k = 0; k < n; k++)
        CHECK_EQUAL((unsigned char)a->memory[in_memory(k, unit, has_holes)],
                    model[place(d, rank, a->offset * unit + k)]);
}

static void step_through(const deal_t *d, MPI_File file, MPI_Datatype unit_type, int unit, int step)
{
    int is_write = below(3) > 0, has_holes = below(2);
    way_t way = (way_t)below(WAYS);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = unit_type;
    access_t a = {.file = file};
    MPI_Status status;
    MPI_Offset after;

    if (has_holes)
        MPI_Type_create_resized(unit_type, 0, 2 * (MPI_Aint)unit, &type);
    MPI_Type_commit(&type);
    a.memory = calloc((size_t)MOST * 2, (size_t)unit);
    for (int r = 0; r < size; r++) {
        int most = 2 + 6000 / (unit * size);
        int count = below(most < MOST ? most : MOST), offset = below(count + 5);

        if (r == rank) {
            a.count = count;
            a.offset = offset;
        }
        if (is_write)
            apply(d, r, step, (long long)offset * unit, (long long)count * unit);
    }
    a.type = type;
    for (long long k = 0; is_write && k < (long long)a.count * unit; k++)
        a.memory[in_memory(k, unit, has_holes)] = (char)value_of(rank, step, k);
    if (uses_pointer(way))
        CHECK_EQUAL(MPI_File_seek(file, a.offset, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_EQUAL((is_write ? write_data : read_data)(way, &a, &request, &status), MPI_SUCCESS);
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, &status);
    if (uses_pointer(way)) {
        MPI_File_get_position(file, &after);
        CHECK_EQUAL(after, a.offset + a.count);
    }
    if (is_write) {
        int got;

        MPI_Get_count(&status, type, &got);
        CHECK_EQUAL(got, a.count);
    } else {
        check_read(d, &a, unit, has_holes, (long long)a.count * unit, &status);
    }
    if (has_holes)
        MPI_Type_free(&type);
    free(a.memory);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_whole(MPI_File file)
{
    unsigned char *all = malloc(MODEL);
    MPI_Status status;
    MPI_Offset bytes;
    int got;

    MPI_File_get_size(file, &bytes);
    CHECK_EQUAL(bytes, length);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_all(file, all, (int)length + 1, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(got, length);
    for (long long i = 0; i < length; i++)
        if (all[i] != model[i])
            CHECK_EQUAL(all[i], model[i] + 1000 * i);
    free(all);
}

static void play(MPI_File file)
{
    deal_t d = draw_deal();
    MPI_Datatype slot = slot_type(&d), type = file_type(&d, slot);
    MPI_Datatype unit = d.is_whole ? slot : MPI_BYTE;

    draw_hints(file);
    CHECK_EQUAL(MPI_File_set_view(file, d.disp, unit, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&type); /* the view keeps it */
    for (int i = 0; i < STEPS; i++)
        step_through(&d, file, unit, d.is_whole ? d.bytes : 1, i);
    MPI_Type_free(&slot);
    check_whole(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Views that overlap, of a file that is only read ---- */

enum { RUNS = 12, READ = 4000 };

/* Blocks of bytes with starts that never decrease, `repeats` times, `step` bytes apart. */
typedef struct {
    int runs, repeats, step, extent, bytes; /* bytes: of data in the type */
    int starts[RUNS], lengths[RUNS];
} layered_t;

static layered_t draw_layered(void)
{
    layered_t l = {.runs = 1 + below(RUNS), .repeats = 1 + below(4)};
    int end = 0, start = below(3) * below(30);

    for (int i = 0; i < l.runs; i++) {
        l.starts[i] = start;
        l.lengths[i] = 1 + below(60);
        l.bytes += l.lengths[i] * l.repeats;
        end = start + l.lengths[i] > end ? start + l.lengths[i] : end;
        start += below(3) * below(40);
    }
    l.step = l.starts[l.runs - 1] - l.starts[0] + below(2) * below(50);
    l.extent = end + (l.repeats - 1) * l.step + below(2) * below(100);
    return l;
}

static long long layered_place(const layered_t *l, long long k)
{
    int rest = (int)(k % l->bytes), one = l->bytes / l->repeats, run = 0;
    long long at = k / l->bytes * l->extent + (long long)(rest / one) * l->step;

    for (rest %= one; rest >= l->lengths[run]; run++)
        rest -= l->lengths[run];
    return at + l->starts[run] + rest;
}

static MPI_Datatype layered_type(const layered_t *l)
{
    MPI_Datatype runs, all, type;

    MPI_Type_indexed(l->runs, l->lengths, l->starts, MPI_BYTE, &runs);
    MPI_Type_create_hvector(l->repeats, 1, l->step, runs, &all);
    MPI_Type_create_resized(all, 0, l->extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&runs);
    MPI_Type_free(&all);
    return type;
}

/* Data bytes in front of the first that the file has not. */
static long long layered_before(const layered_t *l)
{
    long long k = 0;

    while (layered_place(l, k) < length)
        k++;
    return k;
}

static void read_layered(MPI_File file)
{
    layered_t l = draw_layered();
    MPI_Datatype type = layered_type(&l);
    long long all = layered_before(&l), expected;
    access_t a = {.file = file, .memory = malloc(READ), .count = below(READ), .type = MPI_BYTE};
    way_t way = (way_t)below(WAYS);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Offset end;
    int got;

    CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&type);
    CHECK_EQUAL(MPI_File_seek(file, 0, MPI_SEEK_END), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_get_position(file, &end), MPI_SUCCESS);
    CHECK_EQUAL(end, all);
    a.offset = below((int)all + 10);
    CHECK_EQUAL(MPI_File_seek(file, a.offset, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_EQUAL(read_data(way, &a, &request, &status), MPI_SUCCESS);
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, &status);
    expected = all - a.offset < a.count ? all - a.offset : a.count;
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQUAL(got, expected > 0 ? expected : 0);
    for (int k = 0; k < got; k++)
        CHECK_EQUAL((unsigned char)a.memory[k], model[layered_place(&l, a.offset + k)]);
    free(a.memory);
}

/* Displacements never decrease, nor are they negative, also where a file is only read. */
static void refuse_decreasing(MPI_File file)
{
    /* Two blocks of one length are a loop, with a stride; others a list. */
    const int starts[3][2] = {{5, 3}, {5, 3}, {-2, 2}};
    const int lengths[3][2] = {{1, 1}, {1, 2}, {1, 1}};

    for (int i = 0; i < 3; i++) {
        MPI_Datatype type;

        MPI_Type_indexed(2, lengths[i], starts[i], MPI_INT, &type);
        MPI_Type_commit(&type);
        CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_IO);
        MPI_Type_free(&type);
    }
}

static void check_layered(const char *name)
{
    MPI_File file = file_open(name, MPI_MODE_CREATE | MPI_MODE_WRONLY);

    length = 3000 + below(3000);
    for (int i = 0; i < length; i++)
        model[i] = (unsigned char)below(256);
    CHECK_EQUAL(MPI_File_write_at_all(file, 0, model, (int)length, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_close(&file), MPI_SUCCESS);
    file = file_open(name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    refuse_decreasing(file);
    for (int i = 0; i < 3 * ROUNDS; i++) {
        draw_hints(file);
        read_layered(file);
    }
    CHECK_EQUAL(MPI_File_close(&file), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    char name[NAME];
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    file_name(name, "random");
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    file = file_open(name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQUAL(MPI_File_set_size(file, 0), MPI_SUCCESS);
        memset(model, 0, (size_t)length);
        length = 0;
        play(file);
    }
    CHECK_EQUAL(MPI_File_close(&file), MPI_SUCCESS);
    CHECK(access(name, F_OK) != 0);
    check_layered(name);
    MPI_Finalize();
    return 0;
}
