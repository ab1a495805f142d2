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
#include "mpi/check/order.h"

/* ---- The frame of the caller ---- */

/* libgcc is loaded when it is first needed: jobs without --check do not need it. */
static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Ptr (*ip)(struct _Unwind_Context *);
    _Unwind_Word (*cfa)(struct _Unwind_Context *);
} unwinder;

typedef struct {
    _Unwind_Ptr site;
    bool is_reached;
    const char *frame; /* the canonical frame address; NULL: not found */
} search_t;

/* In a frame the unwinder knows the frame address of the function called last. */
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *argument)
{
    search_t *search = argument;

    if (search->is_reached) {
        search->frame = (const char *)unwinder.cfa(context);
        return _URC_END_OF_STACK;
    }
    search->is_reached = unwinder.ip(context) == search->site;
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

static const char *unwind(const void *site)
{
    search_t search = {.site = (_Unwind_Ptr)site};

    if (load_unwinder())
        unwinder.backtrace(note_frame, &search);
    return search.frame;
}

/* ---- Variables ---- */

typedef struct {
    const mpi_typed_t *variables;
    int count;
    const char *base, *frame;
    bool is_exact; /* the frame is that of the caller; else it is almost certainly */
} scope_t;

/* Unwinding takes longer than most calls. A call begins at one distance from the frame of its
 * caller (check_order_anchor), unless that has arrays of variable length: its frame is unwound
 * once, and again before something is reported. Memory up to the outermost frame that was unwound
 * is part of the stack. */
typedef struct {
    const void *site;
    scope_t scope;
    ptrdiff_t distance; /* 0: not known */
} place_t;
enum { PLACES = 32 };

typedef struct {
    place_t places[PLACES];
    const char *outermost;
} known_t;

static known_t *known; /* [ranks] */

xy_status_t check_elements_begin(int ranks)
{
    known = xy_calloc((size_t)ranks, sizeof(*known));
    return known != NULL ? XY_OK : xy_fail_memory("checking the program");
}

/* The frame of the rank's caller, unwound or, if that will do, by its distance. */
static void find_frame(const mpi_rank_t *self, place_t *place, bool is_exact)
{
    const char *anchor = check_order_anchor(self), *frame;
    known_t *mine = &known[self->world];

    if (!is_exact && anchor != NULL && place->distance > 0 &&
        place->distance <= mine->outermost - anchor) {
        place->scope.frame = anchor + place->distance;
        place->scope.is_exact = false;
        return;
    }
    frame = unwind(self->call.caller);
    place->scope.frame = frame;
    place->scope.is_exact = true;
    place->distance = frame != NULL && anchor != NULL && frame > anchor ? frame - anchor : 0;
    if (place->distance > 0 && frame > mine->outermost)
        mine->outermost = frame;
}

/* What the calling function can name; `is_exact`: without any doubt. */
static scope_t scope_of(const mpi_rank_t *self, bool is_exact)
{
    uint64_t hash = xy_hash_u64((uintptr_t)self->call.caller);
    place_t *place = &known[self->world].places[hash % PLACES];
    scope_t *scope = &place->scope;

    if (place->site != self->call.caller) {
        *place = (place_t){.site = self->call.caller};
        scope->count = mpi_caller_variables(self->call.caller, &scope->variables, &scope->base);
    }
    if (scope->count > 0)
        find_frame(self, place, is_exact);
    return scope->frame != NULL ? *scope : (scope_t){.is_exact = true};
}

static const char *place_in(const scope_t *scope, const mpi_typed_t *v)
{
    return (v->is_local ? scope->frame : scope->base) + v->place;
}

/* A variable that is no pointer and has this byte. */
static const mpi_typed_t *find_around(const scope_t *scope, const char *address)
{
    for (int i = 0; i < scope->count; i++) {
        const mpi_typed_t *v = &scope->variables[i];
        const char *low = place_in(scope, v);

        if (v->is_local && address >= low && address < low + v->size)
            return v;
    }
    return NULL;
}

bool check_elements_local(const mpi_rank_t *self, const char *address, size_t length,
                          mpi_variable_t *variable)
{
    scope_t scope = scope_of(self, false);
    const mpi_typed_t *v = find_around(&scope, address);

    if (v != NULL && !scope.is_exact && address + length > place_in(&scope, v) + v->size) {
        scope = scope_of(self, true);
        v = find_around(&scope, address);
    }

    if (v == NULL)
        return false;
    *variable = (mpi_variable_t){.low = place_in(&scope, v), .size = v->size};
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
    default:
        return (mpi_element_t){.kind = XMPI_ELEMENT_ANY};
    }
}

static bool agree(const mpi_element_t *a, const mpi_element_t *b)
{
    return a->kind == XMPI_ELEMENT_ANY || b->kind == XMPI_ELEMENT_ANY || a->bytes <= 1 ||
           b->bytes <= 1 || (a->kind == b->kind && a->bytes == b->bytes);
}

/* May the call have named this variable for the buffer? */
static bool may_name(const scope_t *scope, const mpi_typed_t *v, const char *buffer)
{
    const char *place = place_in(scope, v);
    const char *pointed;

    if (!v->is_pointer)
        return v->is_local && buffer >= place && buffer < place + v->size &&
               (v->is_uniform || buffer == place);
    memcpy(&pointed, place, sizeof(pointed));
    return pointed == buffer;
}

/* A variable that contradicts the datatype, if no other one agrees; or NULL. */
static const mpi_typed_t *find_other(const scope_t *scope, const char *buffer,
                                     const mpi_element_t *wanted)
{
    const mpi_typed_t *other = NULL;

    for (int i = 0; i < scope->count; i++) {
        const mpi_typed_t *v = &scope->variables[i];

        if (!may_name(scope, v, buffer))
            continue;
        if (agree(&v->element, wanted))
            return NULL;
        if (other == NULL)
            other = v;
    }
    return other;
}

/* Report that the type of a buffer contradicts the variable in the source. */
static void report(const mpi_rank_t *self, const check_area_t *area, const mpi_typed_t *v)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_TYPE,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, NULL}};
    char here[160], name[XMPI_SIGNATURE_TEXT];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_caller_describe(self->call.caller, here, sizeof(here));
    mpi_finding_add(&finding, "%s%s %s has %s, but %s '%s' %s %s",
                    mpi_call_start_of(self->call.name), self->call.name, here,
                    mpi_signature_describe(area->type->signature, name),
                    v->is_pointer ? "the pointer" : "the variable", v->name,
                    v->is_pointer ? "points to" : "has elements of type", v->element.name);
}

/* A variable of the caller, or a global one, that contradicts the datatype; or NULL. */
static const mpi_typed_t *find_contradiction(const scope_t *scope, const check_area_t *area,
                                             const mpi_element_t *wanted, mpi_typed_t *global)
{
    const mpi_typed_t *other = find_other(scope, area->buffer, wanted);

    if (other == NULL && find_around(scope, area->buffer) == NULL &&
        mpi_caller_global(area->buffer, global) && !agree(&global->element, wanted))
        other = global;
    return other;
}

void check_elements_look(const mpi_rank_t *self, const check_area_t *area)
{
    mpi_element_t wanted = element_of(area->type);
    const mpi_typed_t *other;
    mpi_typed_t global;
    scope_t scope;

    if (wanted.kind == XMPI_ELEMENT_ANY || area->buffer != area->low)
        return;
    scope = scope_of(self, false);
    other = find_contradiction(&scope, area, &wanted, &global);
    if (other != NULL && !scope.is_exact) {
        scope = scope_of(self, true);
        other = find_contradiction(&scope, area, &wanted, &global);
    }
    if (other != NULL)
        report(self, area, other);
}
