/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call names a variable, or a pointer to its buffer. Which one is not known, so all variables
 * that the calling function can name are compared: those that contain the buffer, and pointers with
 * its address. A report needs all of them to contradict the datatype.
 */
#include "mpi/check/elements.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unwind.h>

#include "mpi/check/check.h"
#include "mpi/check/cores.h"
#include "mpi/check/order.h"

/* ---- The frame of the caller ---- */

/* libgcc is loaded when it is first needed: jobs without --check do not need it. */
static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Ptr (*ip)(struct _Unwind_Context *);
    _Unwind_Word (*cfa)(struct _Unwind_Context *);
} unwinder;

/* A search for a frame: of the function with the return address `site`, or the first one from there
 * on whose end lies behind `address`. */
typedef struct {
    _Unwind_Ptr site; /* as given, and then that of the frame */
    const char *address;
    bool is_reached;
    const char *callee; /* the end of the frame of the call at the site as given */
    const char *frame;  /* the canonical frame address; NULL: not found */
} search_t;

/* In a frame the unwinder knows the frame address of the function called last. */
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *argument)
{
    search_t *search = argument;
    const char *last = (const char *)unwinder.cfa(context);

    if (search->is_reached && last > search->address) {
        search->frame = last;
        return _URC_END_OF_STACK;
    }
    if (search->is_reached)
        search->site = unwinder.ip(context);
    else if (unwinder.ip(context) == search->site)
        search->callee = last;
    search->is_reached = search->callee != NULL;
    return _URC_NO_REASON;
}

static void load(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return;
    *(void **)&unwinder.ip = dlsym(library, "_Unwind_GetIP");
    *(void **)&unwinder.cfa = dlsym(library, "_Unwind_GetCFA");
    *(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
}

static bool load_unwinder(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return unwinder.backtrace != NULL && unwinder.ip != NULL && unwinder.cfa != NULL;
}

static search_t unwind(const void *site, const char *address)
{
    search_t search = {.site = (_Unwind_Ptr)site, .address = address};

    if (load_unwinder())
        unwinder.backtrace(note_frame, &search);
    return search;
}

/* ---- Variables ---- */

typedef struct {
    const mpi_typed_t *variables;
    int count;
    bool is_variable; /* an array has variable length, so the frame has no fixed size */
    const char *base, *frame;
    bool is_exact; /* the frame is that of the caller; else it is almost certainly */
} scope_t;

/* Unwinding takes longer than most calls. A call begins at one distance from the frame of its
 * caller (check_order_anchor): its frame is unwound once, and again before something is reported;
 * each time if it has arrays of variable length. Memory up to the outermost frame that was unwound
 * is part of the stack. */
typedef struct {
    const void *site;
    scope_t scope;
    ptrdiff_t distance; /* 0: not known */
    ptrdiff_t floor;    /* the same to the end of the call's own frame */
} place_t;

typedef struct {
    xy_hash_t places; /* of place_t, by site: the images of ranks have addresses of their own */
    place_t *last, spare;
    const char *outermost;
} known_t;

static known_t *known; /* [ranks] */

xy_status_t check_elements_begin(int ranks)
{
    known = xy_calloc((size_t)ranks, sizeof(*known));
    if (known == NULL)
        return xy_fail_memory("checking the program");
    for (int r = 0; r < ranks; r++)
        xy_hash_init(&known[r].places, XY_HASH_U64);
    return XY_OK;
}

/* The frame of the rank's caller, unwound or, if that will do, by its distance. */
static void find_frame(const mpi_rank_t *self, place_t *place, bool is_exact)
{
    const char *anchor = check_order_anchor(self);
    known_t *mine = &known[self->world];
    search_t search;

    if (!is_exact && !place->scope.is_variable && anchor != NULL && place->distance > 0 &&
        place->distance <= mine->outermost - anchor) {
        place->scope.frame = anchor + place->distance;
        place->scope.is_exact = false;
        return;
    }
    search = unwind(self->call.caller, NULL);
    place->scope.frame = search.frame;
    place->scope.is_exact = true;
    place->distance = place->floor = 0;
    if (search.frame == NULL || anchor == NULL || search.frame <= anchor)
        return;
    place->distance = search.frame - anchor;
    place->floor = search.callee - anchor;
    if (search.frame > mine->outermost)
        mine->outermost = search.frame;
}

/* The record of a place in the rank's program: its variables take long to find. */
static place_t *place_at(const mpi_rank_t *self, const void *site)
{
    known_t *mine = &known[self->world];
    place_t *place = mine->last;

    if (place == NULL || place->site != site)
        place = xy_hash_get(&mine->places, (uintptr_t)site);
    if (place == NULL) {
        place = xy_malloc(sizeof(*place));
        if (place != NULL && xy_hash_set(&mine->places, (uintptr_t)site, place) != XY_OK) {
            xy_free(place);
            place = NULL;
        }
        if (place == NULL)
            place = &mine->spare;
        *place = (place_t){.site = site};
        place->scope.count =
            mpi_caller_variables(site, &place->scope.variables, &place->scope.base);
        for (int i = 0; i < place->scope.count; i++)
            place->scope.is_variable |= place->scope.variables[i].step > 0;
    }
    return mine->last = place;
}

/* A variable that the calling function can name; `is_exact`: without any doubt. */
static scope_t scope_of(const mpi_rank_t *self, bool is_exact)
{
    place_t *place = place_at(self, self->call.caller);

    if (place->scope.count > 0)
        find_frame(self, place, is_exact);
    return place->scope.frame != NULL ? place->scope : (scope_t){.is_exact = true};
}

/* The bounds of the stack that the rank runs on. False: it is not its own. */
static bool has_stack(const mpi_rank_t *self, const char **low_p, const char **high_p)
{
    const char *here = __builtin_frame_address(0);
    void *low, *high;

    if (self->own.fiber == NULL || check_has_threads(self))
        return false;
    xy_fiber_stack(self->own.fiber, &low, &high);
    *low_p = low;
    *high_p = high;
    return here >= *low_p && here < *high_p;
}

/* The function whose frame on the stack has an address, other than the caller of MPI. */
static scope_t scope_around(const mpi_rank_t *self, const char *address)
{
    scope_t scope = {.is_exact = true};
    const char *low, *high;
    search_t search;

    if (!has_stack(self, &low, &high) || address < low || address >= high)
        return scope;
    search = unwind(self->call.caller, address);
    if (search.frame == NULL || address < search.callee ||
        search.site == (_Unwind_Ptr)self->call.caller)
        return scope;
    scope = place_at(self, (const void *)search.site)->scope;
    scope.is_exact = true;
    scope.frame = search.frame;
    return scope;
}

/* Frames of calls of one function have one size at most places, so what is just above a call may
 * belong to it: it is unwound once for each place. */
bool check_elements_left(const mpi_rank_t *self, const char *address)
{
    enum { NEAR = 1024 }; /* the frames of a call until it comes here */
    const char *low, *high, *anchor = check_order_anchor(self);
    place_t *place;

    if (anchor == NULL || address >= anchor + NEAR || !has_stack(self, &low, &high) ||
        address < low || self->call.name == NULL)
        return false;
    place = place_at(self, self->call.caller);
    if (place->floor == 0)
        find_frame(self, place, true);
    return place->floor > 0 && address < anchor + place->floor;
}

static const char *place_in(const scope_t *scope, const mpi_typed_t *v)
{
    const char *place = (v->is_local ? scope->frame : scope->base) + v->place;

    if (v->step > 0)
        memcpy(&place, (const void *)place, sizeof(place));
    return place;
}

static size_t size_in(const scope_t *scope, const mpi_typed_t *v)
{
    uint64_t last;

    if (v->step == 0)
        return v->size;
    memcpy(&last, scope->frame + v->bound, sizeof(last));
    return (last + 1) * v->step;
}

/* A variable that is no pointer and has this byte. */
static const mpi_typed_t *find_around(const scope_t *scope, const char *address)
{
    for (int i = 0; i < scope->count; i++) {
        const mpi_typed_t *v = &scope->variables[i];
        const char *low = place_in(scope, v);

        if (v->is_local && address >= low && address < low + size_in(scope, v))
            return v;
    }
    return NULL;
}

bool check_elements_local(const mpi_rank_t *self, const char *address, size_t length,
                          mpi_variable_t *variable)
{
    scope_t scope = scope_of(self, false);
    const mpi_typed_t *v = find_around(&scope, address);

    if (v != NULL && !scope.is_exact &&
        address + length > place_in(&scope, v) + size_in(&scope, v)) {
        scope = scope_of(self, true);
        v = find_around(&scope, address);
    }
    if (v == NULL) {
        scope = scope_around(self, address);
        v = find_around(&scope, address);
    }
    if (v == NULL)
        return false;
    *variable = (mpi_variable_t){.low = place_in(&scope, v), .size = size_in(&scope, v)};
    snprintf(variable->name, sizeof(variable->name), "%s", v->name);
    return true;
}

/* ---- Elements ---- */

/* The element that a datatype of one kind of element needs; ANY: it takes everything. */
static mpi_element_t element_of(const mpi_type_t *type)
{
    switch ((mpi_basic_t)type->basic) {
    case XMPI_BASIC_INT16:
    case XMPI_BASIC_UINT16:
        return (mpi_element_t){.kind = XMPI_ELEMENT_INTEGER, .bytes = 2};
    case XMPI_BASIC_INT32:
    case XMPI_BASIC_UINT32:
        return (mpi_element_t){.kind = XMPI_ELEMENT_INTEGER, .bytes = 4};
    case XMPI_BASIC_INT64:
    case XMPI_BASIC_UINT64:
        return (mpi_element_t){.kind = XMPI_ELEMENT_INTEGER, .bytes = 8};
    case XMPI_BASIC_FLOAT:
    case XMPI_BASIC_COMPLEX_FLOAT:
        return (mpi_element_t){.kind = XMPI_ELEMENT_FLOAT, .bytes = sizeof(float)};
    case XMPI_BASIC_DOUBLE:
    case XMPI_BASIC_COMPLEX_DOUBLE:
        return (mpi_element_t){.kind = XMPI_ELEMENT_FLOAT, .bytes = sizeof(double)};
    case XMPI_BASIC_LONG_DOUBLE:
        return (mpi_element_t){.kind = XMPI_ELEMENT_FLOAT, .bytes = sizeof(long double)};
    default:
        return (mpi_element_t){.kind = XMPI_ELEMENT_ANY};
    }
}

static bool agree(const mpi_element_t *a, const mpi_element_t *b)
{
    return a->kind == XMPI_ELEMENT_ANY || b->kind == XMPI_ELEMENT_ANY || a->bytes <= 1 ||
           b->bytes <= 1 || (a->kind == b->kind && a->bytes == b->bytes);
}

/* Where the memory begins that the variable names: its own, or what it points to. NULL: the call
 * cannot have named it for the buffer. */
static const char *memory_of(const scope_t *scope, const mpi_typed_t *v, const char *buffer)
{
    const char *memory = place_in(scope, v);
    size_t size = size_in(scope, v);

    if (v->is_pointer) {
        memcpy(&memory, (const void *)memory, sizeof(memory));
        size = v->stride > 0 ? v->stride : 1;
    } else if (!v->is_local) {
        return NULL;
    }
    return buffer >= memory && buffer < memory + size ? memory : NULL;
}

/* A datatype against the elements of a variable. */
typedef struct {
    const mpi_typed_t *variable;
    const char *memory; /* that it names */
    mpi_elements_t elements;
    int count;
    const mpi_element_t *other; /* where they contradict each other; or NULL */
    const char *place;
} match_t;

enum { COMPARED = 256 }; /* elements of a buffer */

/* Compare the elements of a run of bytes. */
static bool match_run(const char *run, size_t length, void *argument)
{
    match_t *m = argument;

    while (length > 0 && m->count++ < COMPARED) {
        const mpi_type_t *type = mpi_elements_next(&m->elements);
        mpi_element_t wanted =
            type != NULL ? element_of(type) : (mpi_element_t){.kind = XMPI_ELEMENT_ANY};
        size_t bytes = type != NULL ? type->size : 1;
        const mpi_element_t *there = wanted.kind != XMPI_ELEMENT_ANY && run >= m->memory
                                         ? mpi_typed_element(m->variable, (size_t)(run - m->memory))
                                         : NULL;

        if (bytes > length)
            return false;
        if (there != NULL && !agree(there, &wanted)) {
            m->other = there;
            m->place = run;
            return false;
        }
        run += bytes;
        length -= bytes;
    }
    return m->count < COMPARED;
}

/* The element of a variable that contradicts the datatype; NULL: none does. */
static match_t match(const check_area_t *area, const mpi_typed_t *v, const char *memory)
{
    match_t m = {.variable = v, .memory = memory, .elements = {.signature = area->type->signature}};

    check_area_each(area, match_run, &m);
    return m;
}

/* The first variable of those that the call may have named, if all of them contradict the datatype.
 */
static match_t find_other(const scope_t *scope, const check_area_t *area)
{
    match_t first = {.other = NULL};

    for (int i = 0; i < scope->count; i++) {
        const mpi_typed_t *v = &scope->variables[i];
        const char *memory = memory_of(scope, v, area->buffer);
        match_t m;

        if (memory == NULL)
            continue;
        m = match(area, v, memory);
        if (m.other == NULL)
            return m;
        if (first.other == NULL)
            first = m;
    }
    return first;
}

/* Report that the type of a buffer contradicts the variable in the source. */
static void report(const mpi_rank_t *self, const check_area_t *area, const match_t *m)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_TYPE,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, NULL}};
    const mpi_typed_t *v = m->variable;
    char here[160], name[XMPI_SIGNATURE_TEXT], byte[48] = "";

    if (mpi_finding_is_known(&finding))
        return;
    if (m->place > m->memory && v->parts > 1)
        snprintf(byte, sizeof(byte), " at byte %zu", (size_t)(m->place - m->memory));
    mpi_caller_describe(self->call.caller, here, sizeof(here));
    mpi_finding_add(&finding, "%s%s %s has %s, but %s '%s' %s %s%s",
                    mpi_call_start_of(self->call.name), self->call.name, here,
                    mpi_signature_describe(area->type->signature, name),
                    v->is_pointer ? "the pointer" : "the variable", v->name,
                    v->is_pointer ? "points to" : "has elements of type", m->other->name, byte);
}

/* Does a variable of the caller, or a global one, contradict the datatype? `global`: room for that.
 */
static match_t find_contradiction(const scope_t *scope, const check_area_t *area, bool is_in_heap,
                                  mpi_typed_t *global)
{
    match_t m = find_other(scope, area), around;
    const char *low;

    if ((m.variable != NULL && m.other == NULL) || is_in_heap ||
        !mpi_caller_global(area->buffer, global, &low))
        return m;
    around = match(area, global, low);
    return m.variable == NULL || around.other == NULL ? around : m;
}

void check_elements_look(const mpi_rank_t *self, const check_area_t *area, bool is_in_heap)
{
    mpi_typed_t global;
    scope_t scope;
    match_t m;

    if (area->type->signature == XMPI_SIGNATURE_ANY || area->buffer == NULL)
        return;
    scope = scope_of(self, false);
    m = find_contradiction(&scope, area, is_in_heap, &global);
    if (m.other != NULL && !scope.is_exact) {
        scope = scope_of(self, true);
        m = find_contradiction(&scope, area, is_in_heap, &global);
    }
    if (m.other != NULL)
        report(self, area, &m);
}
