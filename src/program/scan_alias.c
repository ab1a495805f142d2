/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/scan_alias.h"

#include <string.h>

enum { SMALL_ARRAY = 16 }; /* floating-point numbers that may steer: box[3], limits[2] */

/* How the program looks at objects of a class: as a struct, or by a cast as numbers of a type. */
typedef struct view {
    const scan_record_t *record; /* NULL: numbers */
    int key;
    struct view *next;
} view_t;

typedef struct scan_place_in_node {
    int key, id;
    struct scan_place_in_node *next;
} location_t;

struct scan_node {
    scan_node_t *parent, *pointee;
    int objects;
    long bytes;   /* of the largest variable or member among them */
    bool is_many; /* an array or memory from malloc */
    bool is_large;
    bool is_anything; /* a pointer made of a number may point there */
    bool is_walked;   /* a pointer there is moved: from a member, to others of its struct */
    location_t *locations;
    view_t *views;
    view_t *owners; /* structs that have such an object, a number, as a member */
};

static bool is_pointer(const scan_type_t *t)
{
    return t != NULL && (t->kind == SCAN_POINTER || t->kind == SCAN_ARRAY);
}

static scan_node_t *new_node(xy_scan_t *scan)
{
    return scan_alloc(scan, sizeof(scan_node_t));
}

static scan_node_t *root(scan_node_t *n)
{
    while (n->parent != NULL) {
        if (n->parent->parent != NULL)
            n->parent = n->parent->parent;
        n = n->parent;
    }
    return n;
}

static const scan_record_t *base_record(const scan_type_t *t)
{
    while (t != NULL && t->kind == SCAN_ARRAY)
        t = t->of;
    return t != NULL && t->kind == SCAN_STRUCT ? t->record : NULL;
}

static int type_key(const scan_type_t *t)
{
    while (t->kind == SCAN_ARRAY)
        t = t->of;
    return (int)t->kind * 64 + (t->kind == SCAN_HANDLE ? t->handle[4] - 'A' : (int)t->bytes % 64);
}

/* Notes one way to look at objects of the class. */
static void note_view(xy_scan_t *scan, scan_node_t *n, view_t view)
{
    view_t *new;

    n = root(n);
    for (const view_t *v = n->views; v != NULL; v = v->next)
        if (v->record == view.record && v->key == view.key)
            return;
    new = scan_alloc(scan, sizeof(*new));
    view.next = n->views;
    *new = view;
    n->views = new;
}

/* Objects of the class are of this type: bytes of them are members. */
static void note_record(xy_scan_t *scan, scan_node_t *n, const scan_type_t *type)
{
    const scan_record_t *record = base_record(type);

    if (record != NULL)
        note_view(scan, n, (view_t){.record = record});
}

/* Unites two nodes and, along the chain, their pointees. */
static void join(scan_node_t *a, scan_node_t *b)
{
    while (a != NULL && b != NULL) {
        scan_node_t *next_a, *next_b;
        view_t **last;

        a = root(a);
        b = root(b);
        if (a == b)
            return;
        next_a = a->pointee;
        next_b = b->pointee;
        b->parent = a;
        a->objects += b->objects;
        a->bytes = a->bytes > b->bytes ? a->bytes : b->bytes;
        a->is_many |= b->is_many;
        a->is_large |= b->is_large;
        a->is_anything |= b->is_anything;
        a->is_walked |= b->is_walked;
        for (last = &a->views; *last != NULL;)
            last = &(*last)->next;
        *last = b->views;
        for (last = &a->owners; *last != NULL;)
            last = &(*last)->next;
        *last = b->owners;
        a->pointee = next_a != NULL ? next_a : next_b;
        a = next_a;
        b = next_b;
    }
}

static scan_node_t *pointee(xy_scan_t *scan, scan_node_t *n)
{
    n = root(n);
    if (n->pointee == NULL)
        n->pointee = new_node(scan);
    return root(n->pointee);
}

/* 0: not known before the program runs. */
static long bytes_of(const scan_type_t *type)
{
    if (type == NULL || (type->kind == SCAN_ARRAY && type->count < 0))
        return 0;
    return type->kind == SCAN_ARRAY ? type->count * bytes_of(type->of) : (long)type->bytes;
}

/* Returns the node of a variable, field or result, created with the size class of its type. */
static scan_node_t *object_node(xy_scan_t *scan, scan_node_t **slot, const scan_type_t *type)
{
    scan_node_t *n = *slot;
    long count = 1;

    if (n != NULL)
        return root(n);
    n = *slot = new_node(scan);
    n->objects = 1;
    note_record(scan, n, type);
    if (type != NULL && type->kind == SCAN_POINTER)
        note_record(scan, pointee(scan, n), type->of);
    for (const scan_type_t *t = type; t != NULL && t->kind == SCAN_ARRAY; t = t->of) {
        n->is_many = true;
        count = t->count < 0 || count > SMALL_ARRAY ? SMALL_ARRAY + 1 : count * t->count;
    }
    n->is_large = count > SMALL_ARRAY;
    n->bytes = bytes_of(type);
    return n;
}

/* ... of a member. A number in a struct may be reached from its neighbours. */
static scan_node_t *field_node(xy_scan_t *scan, scan_field_t *f)
{
    bool is_new = f->node == NULL;
    scan_node_t *n = object_node(scan, &f->node, f->type);
    view_t *owner;

    if (is_new && (f->type->kind == SCAN_INT || f->type->kind == SCAN_REAL)) {
        owner = scan_alloc(scan, sizeof(*owner));
        *owner = (view_t){.record = f->record, .next = n->owners};
        n->owners = owner;
    }
    return n;
}

static scan_node_t *decl_node(xy_scan_t *scan, scan_decl_t *d)
{
    return object_node(scan, &d->node, d->is_function ? d->result : d->type);
}

const scan_expr_t *scan_strip(const scan_expr_t *e)
{
    while (e->kind == SCAN_E_CAST)
        e = e->a;
    return e;
}

static const scan_record_t *record_of(const scan_type_t *t)
{
    while (t != NULL && (t->kind == SCAN_POINTER || t->kind == SCAN_ARRAY))
        t = t->of;
    return t != NULL && t->kind == SCAN_STRUCT ? t->record : NULL;
}

static scan_field_t *find_field(const scan_expr_t *e)
{
    const scan_record_t *record = record_of(e->a->type);

    if (record != NULL)
        for (scan_field_t *f = record->fields; f != NULL; f = f->next)
            if (strcmp(f->name, e->text) == 0)
                return f;
    return NULL;
}

static scan_node_t *targets(xy_scan_t *scan, scan_expr_t *e);

/* The object that an lvalue names; NULL: none that is followed. */
static scan_node_t *object(xy_scan_t *scan, scan_expr_t *e)
{
    scan_field_t *f;

    switch (e->kind) {
    case SCAN_E_NAME:
        return decl_node(scan, e->decl);
    case SCAN_E_MEMBER:
        f = find_field(e);
        return f != NULL ? field_node(scan, f) : NULL;
    case SCAN_E_INDEX:
        return e->a->type->kind == SCAN_ARRAY ? object(scan, e->a) : targets(scan, e->a);
    case SCAN_E_UNARY:
        return e->op == SCAN_OP_DEREF ? targets(scan, e->a) : NULL;
    case SCAN_E_CAST:
        return object(scan, e->a);
    default:
        return NULL;
    }
}

static bool is_allocator(const char *name)
{
    static const char *const names[] = {"malloc", "calloc", "aligned_alloc", "valloc", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static scan_node_t *fresh(xy_scan_t *scan, scan_expr_t *e, bool is_many)
{
    if (e->node == NULL) {
        e->node = new_node(scan);
        e->node->objects = 1;
        e->node->is_many = e->node->is_large = is_many;
    }
    return root(e->node);
}

static bool gives_its_argument(const char *name)
{
    static const char *const names[] = {"realloc", "strchr", "strrchr", "strstr",
                                        "memcpy",  "memset", "memmove", "strcpy",
                                        "strncpy", "strcat", "strncat", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static scan_node_t *call_targets(xy_scan_t *scan, scan_expr_t *e)
{
    if (e->decl != NULL && e->decl->body != NULL)
        return pointee(scan, decl_node(scan, e->decl));
    if (e->decl != NULL && e->args != NULL && gives_its_argument(e->decl->name))
        return targets(scan, e->args);
    return fresh(scan, e, e->decl != NULL && is_allocator(e->decl->name));
}

/* The pointer whose address is in a number, as in `(size_t)p + 63 & -64`; NULL: none. */
static scan_expr_t *pointer_in(scan_expr_t *e)
{
    scan_expr_t *found;

    if (e == NULL || is_pointer(e->type))
        return e;
    if (e->kind != SCAN_E_CAST && e->kind != SCAN_E_BINARY && e->kind != SCAN_E_UNARY)
        return NULL;
    found = pointer_in(e->a);
    return found != NULL ? found : pointer_in(e->b);
}

/* The targets of a cast to a pointer. Their objects are read as the type of the cast, too. */
static scan_node_t *cast_targets(xy_scan_t *scan, scan_expr_t *e)
{
    scan_expr_t *inner = pointer_in(e->a);
    const scan_type_t *from = inner != NULL ? scan_strip(inner)->type : NULL;
    scan_node_t *n = inner != NULL ? targets(scan, inner) : fresh(scan, e, true);

    n->is_anything |= inner == NULL && is_pointer(e->type);
    if (inner != NULL && e->type->kind == SCAN_POINTER) {
        note_record(scan, n, e->type->of);
        if (is_pointer(from) && from->of->kind != SCAN_VOID)
            note_view(scan, n, (view_t){.key = type_key(e->type->of)});
    }
    return root(n);
}

/* The objects that the value of a pointer may point to. */
static scan_node_t *targets(xy_scan_t *scan, scan_expr_t *e)
{
    scan_node_t *a, *b;

    if (e->type->kind == SCAN_ARRAY && e->kind != SCAN_E_STRING) {
        a = object(scan, e);
        return a != NULL ? a : fresh(scan, e, true);
    }
    switch (e->kind) {
    case SCAN_E_NAME:
    case SCAN_E_MEMBER:
    case SCAN_E_INDEX:
        a = object(scan, e);
        return a != NULL ? pointee(scan, a) : fresh(scan, e, true);
    case SCAN_E_UNARY:
        a = object(scan, e->op == SCAN_OP_ADDRESS ? e->a : e);
        if (a == NULL)
            return fresh(scan, e, true);
        return e->op == SCAN_OP_ADDRESS ? root(a) : pointee(scan, a);
    case SCAN_E_CAST:
        return cast_targets(scan, e);
    case SCAN_E_STEP:
    case SCAN_E_ASSIGN:
        return targets(scan, e->a);
    case SCAN_E_BINARY:
        return targets(scan, e->op == SCAN_OP_COMMA || e->a->type->kind == SCAN_INT ? e->b : e->a);
    case SCAN_E_CHOICE:
        a = targets(scan, e->b);
        b = targets(scan, e->c);
        join(a, b);
        return root(a);
    case SCAN_E_CALL:
        return call_targets(scan, e);
    default:
        return fresh(scan, e, false);
    }
}

static bool is_null(const scan_expr_t *e)
{
    return e->kind == SCAN_E_INT && e->value == 0;
}

static void bind_value(xy_scan_t *scan, scan_node_t *to, scan_expr_t *e)
{
    if (is_pointer(e->type) && !is_null(e))
        join(pointee(scan, to), targets(scan, e));
}

static void bind_list(xy_scan_t *scan, scan_node_t *to, scan_expr_t *e)
{
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (a->kind == SCAN_E_LIST)
            bind_list(scan, to, a);
        else
            bind_value(scan, to, a);
}

/* The values of single members are not told apart: each pointer in the struct may get any. */
static void bind_members(xy_scan_t *scan, const scan_record_t *record, scan_expr_t *list)
{
    for (scan_field_t *f = record->fields; f != NULL; f = f->next) {
        const scan_type_t *t = f->type;

        while (t->kind == SCAN_ARRAY)
            t = t->of;
        if (t->kind == SCAN_POINTER)
            bind_list(scan, field_node(scan, f), list);
        else if (t->kind == SCAN_STRUCT)
            bind_members(scan, t->record, list);
    }
}

/* Binds the initial value of a pointer or an array to its node; a list with members is bound where
 * it is met. */
static void bind_decl(xy_scan_t *scan, scan_decl_t *d)
{
    if (d->init == NULL)
        return;
    if (d->init->kind != SCAN_E_LIST && d->type->kind == SCAN_POINTER)
        bind_value(scan, decl_node(scan, d), d->init);
    else if (d->init->kind == SCAN_E_LIST && base_record(d->type) != NULL)
        bind_members(scan, base_record(d->type), d->init);
    else if (d->init->kind == SCAN_E_LIST)
        bind_list(scan, decl_node(scan, d), d->init);
}

static bool is_copy(const char *name)
{
    return strcmp(name, "memcpy") == 0 || strcmp(name, "memmove") == 0;
}

/* The argument of a call of MPI that gets the address of new memory; NULL: it has none. */
static scan_expr_t *given_at(const scan_expr_t *call)
{
    static const struct {
        const char *name;
        int at;
    } calls[] = {{"MPI_Win_allocate", 4},
                 {"MPI_Win_allocate_shared", 4},
                 {"MPI_Win_shared_query", 4},
                 {"MPI_Alloc_mem", 2}};
    const char *name = call->decl != NULL ? call->decl->name : "";
    scan_expr_t *a = call->args;

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(name + (name[0] == 'P'), calls[i].name) != 0)
            continue;
        for (int k = 0; k < calls[i].at && a != NULL; k++)
            a = a->next;
        return (scan_expr_t *)(uintptr_t)(a != NULL ? scan_strip(a) : NULL);
    }
    return NULL;
}

/* Binds the arguments of a call; pointers in memory that is copied are copied, too. */
static void bind_call(xy_scan_t *scan, scan_expr_t *e)
{
    scan_decl_t *p;

    if (given_at(e) != NULL)
        join(pointee(scan, targets(scan, given_at(e))), fresh(scan, e, true));
    if (e->decl == NULL)
        return;
    if (e->decl->body == NULL && is_copy(e->decl->name) && e->args != NULL && e->args->next != NULL)
        join(pointee(scan, targets(scan, e->args)), pointee(scan, targets(scan, e->args->next)));
    if (e->decl->body == NULL)
        return;
    p = e->decl->params;
    for (scan_expr_t *a = e->args; a != NULL && p != NULL; a = a->next, p = p->next)
        bind_value(scan, decl_node(scan, p), a);
}

/* The pointer that an expression moves: p[i], p + i, p++; NULL: none. */
static scan_expr_t *moved_pointer(const scan_expr_t *e)
{
    if (e->kind == SCAN_E_INDEX && e->a->type->kind == SCAN_POINTER &&
        !(e->b->kind == SCAN_E_INT && e->b->value == 0))
        return e->a;
    if ((e->kind == SCAN_E_STEP || (e->kind == SCAN_E_ASSIGN && e->op != 0)) &&
        e->a->type->kind == SCAN_POINTER)
        return e->a;
    if (e->kind != SCAN_E_BINARY || (e->op != '+' && e->op != '-'))
        return NULL;
    if (e->a->type->kind == SCAN_POINTER && e->b->type->kind == SCAN_INT)
        return e->a;
    return e->b->type->kind == SCAN_POINTER && e->a->type->kind == SCAN_INT ? e->b : NULL;
}

/* Binds all pointer assignments and call arguments inside an expression. */
static void bind_expr(xy_scan_t *scan, scan_expr_t *e)
{
    scan_node_t *to;

    if (e == NULL)
        return;
    bind_expr(scan, e->a);
    bind_expr(scan, e->b);
    bind_expr(scan, e->c);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        bind_expr(scan, a);
    if (moved_pointer(e) != NULL)
        targets(scan, moved_pointer(e))->is_walked = true;
    if (e->kind == SCAN_E_CALL)
        bind_call(scan, e);
    if (e->kind == SCAN_E_LIST && base_record(e->type) != NULL)
        bind_members(scan, base_record(e->type), e);
    if (e->kind == SCAN_E_ASSIGN && e->op == 0 && is_pointer(e->a->type)) {
        to = object(scan, e->a);
        if (to != NULL)
            bind_value(scan, to, e->b);
    }
}

/* Binds all pointer values in a list of statements of `function`, including returned ones. */
static void bind_stmt(xy_scan_t *scan, scan_decl_t *function, scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        if (s->kind == SCAN_S_DECL) {
            bind_expr(scan, s->decl->init);
            bind_decl(scan, s->decl);
        }
        bind_expr(scan, s->cond);
        bind_expr(scan, s->step);
        if (s->kind == SCAN_S_RETURN && s->cond != NULL)
            bind_value(scan, decl_node(scan, function), s->cond);
        bind_stmt(scan, function, s->init);
        bind_stmt(scan, function, s->body);
        bind_stmt(scan, function, s->other);
    }
}

void scan_alias_find(xy_scan_t *scan)
{
    for (scan_decl_t *d = scan->globals; d != NULL; d = d->next) {
        bind_expr(scan, d->init);
        bind_decl(scan, d);
    }
    for (scan_decl_t *f = scan->functions; f != NULL; f = f->next)
        bind_stmt(scan, f, f->body);
}

/* Returns the number of the location for values of this type in a node, created with `name` if it
 * is new. */
static int locate(xy_scan_t *scan, scan_node_t *n, const scan_type_t *type, const char *name)
{
    int key = type_key(type);
    scan_location_t *location;
    location_t *l;

    n = root(n);
    for (l = n->locations; l != NULL; l = l->next)
        if (l->key == key)
            return l->id;
    l = scan_alloc(scan, sizeof(*l));
    l->key = key;
    l->next = n->locations;
    n->locations = l;
    location = xy_vec_push(&scan->locations);
    if (location == NULL)
        scan_leave(scan, xy_fail_memory("slicing"));
    l->id = (int)scan->locations.count - 1;
    location->name = name;
    location->is_data = key / 64 == SCAN_REAL && (n->is_large || n->objects == 0);
    return l->id;
}

/* Adds a location once; `name` is for the message where there are too many. */
static void add_id(xy_scan_t *scan, scan_access_t *access, int id, const char *name)
{
    for (int i = 0; i < access->count; i++)
        if (access->ids[i] == id)
            return;
    if (access->count == SCAN_LOCATIONS_MAX)
        scan_leave(scan, xy_fail(XY_ELIMIT,
                                 "'%s' is part of memory with more than %d members: what is "
                                 "written there is not followed",
                                 name, SCAN_LOCATIONS_MAX));
    access->ids[access->count++] = id;
}

/* Adds the locations of all fields of a struct, nested ones included, to an access. */
static void add_record(xy_scan_t *scan, scan_access_t *access, const scan_record_t *record)
{
    for (scan_field_t *f = record->fields; f != NULL; f = f->next) {
        const scan_type_t *t = f->type;

        while (t->kind == SCAN_ARRAY)
            t = t->of;
        if (t->kind == SCAN_STRUCT)
            add_record(scan, access, t->record);
        else
            add_id(scan, access, locate(scan, field_node(scan, f), f->type, f->name), f->name);
    }
}

/* C lets a program read and write any object as bytes. */
static bool is_bytes(int key)
{
    return key / 64 == SCAN_VOID || (key / 64 == SCAN_INT && key % 64 == 1);
}

static bool is_cast(const scan_node_t *n, int key)
{
    for (const view_t *v = n->views; v != NULL; v = v->next)
        if (v->record == NULL && v->key == key)
            return true;
    return false;
}

/* Adds to the access of one location those that share memory with it: bytes, and numbers that casts
 * make, are in all values of their objects but data, and these are in them. */
static void add_shared(xy_scan_t *scan, scan_access_t *access, scan_node_t *n, const scan_type_t *t)
{
    int key = type_key(t);
    bool is_shared;

    n = root(n);
    is_shared = is_bytes(key) || is_cast(n, key);
    if (scan_is_data(scan, access))
        return;
    for (const location_t *l = n->locations; l != NULL; l = l->next)
        if (l->id != access->ids[0] && (is_shared || is_bytes(l->key) || is_cast(n, l->key)) &&
            !XY_VEC_AT(&scan->locations, scan_location_t, l->id).is_data)
            add_id(scan, access, l->id, "memory of several types");
    for (const view_t *v = n->views; is_shared && v != NULL; v = v->next)
        if (v->record != NULL)
            add_record(scan, access, v->record);
}

/* Adds the members of the same type around one from which pointers are moved. */
static void add_neighbours(xy_scan_t *scan, scan_access_t *access, scan_node_t *n, int key)
{
    n = root(n);
    for (const view_t *v = n->owners; n->is_walked && v != NULL; v = v->next) {
        ((scan_record_t *)(uintptr_t)v->record)->is_whole = true;
        for (scan_field_t *f = v->record->fields; f != NULL; f = f->next)
            if (type_key(f->type) == key && f->type->kind != SCAN_ARRAY)
                add_id(scan, access, locate(scan, field_node(scan, f), f->type, f->name), f->name);
    }
}

/* The locations of a value of this type in an object of the class. */
static scan_access_t access_node(xy_scan_t *scan, scan_node_t *n, const scan_type_t *type,
                                 const char *name)
{
    scan_access_t access = {.count = 0};
    const scan_type_t *t = type;

    while (t != NULL && t->kind == SCAN_ARRAY)
        t = t->of;
    if (t != NULL && t->kind == SCAN_STRUCT)
        add_record(scan, &access, t->record);
    else if (n != NULL && t != NULL) {
        access.ids[access.count++] = locate(scan, n, type, name);
        add_neighbours(scan, &access, n, type_key(t));
        add_shared(scan, &access, n, t);
    }
    return access;
}

/* A pointer made of a number may point anywhere. */
static void check_pointer(xy_scan_t *scan, const scan_node_t *n, const scan_expr_t *e)
{
    if (n != NULL && n->is_anything)
        scan_fail(scan, XY_EINVAL, e->at,
                  "a pointer made of a number: what it points to is not known; keep the pointer");
}

static const char *base_name(const scan_expr_t *e)
{
    while (e != NULL && e->kind != SCAN_E_NAME && e->kind != SCAN_E_MEMBER)
        e = e->a;
    if (e == NULL)
        return "";
    return e->kind == SCAN_E_NAME ? e->decl->name : e->text;
}

scan_access_t scan_access(xy_scan_t *scan, const scan_expr_t *lvalue)
{
    const scan_expr_t *e = scan_strip(lvalue);
    scan_node_t *n = object(scan, (scan_expr_t *)(uintptr_t)e);
    scan_access_t access = access_node(scan, n, e->type, base_name(e));

    check_pointer(scan, n, e);
    access.is_strong = n != NULL && e->kind == SCAN_E_NAME && access.count == 1 &&
                       root(n)->objects == 1 && !root(n)->is_many;
    return access;
}

scan_access_t scan_access_decl(xy_scan_t *scan, const scan_decl_t *d)
{
    scan_node_t *n = decl_node(scan, (scan_decl_t *)(uintptr_t)d);
    scan_access_t access = access_node(scan, n, d->type, d->name);

    /* A declaration makes a new object, whatever its type. */
    access.is_strong = root(n)->objects == 1 && d->type->kind != SCAN_STRUCT;
    return access;
}

scan_access_t scan_access_target(xy_scan_t *scan, const scan_expr_t *pointer)
{
    const scan_expr_t *e = scan_strip(pointer);
    const scan_type_t *type = e->type;
    scan_access_t access;

    if (e->kind == SCAN_E_UNARY && e->op == SCAN_OP_ADDRESS)
        return scan_access(scan, e->a);
    if (!is_pointer(type) || is_null(e))
        return (scan_access_t){.count = 0};
    access = access_node(scan, targets(scan, (scan_expr_t *)(uintptr_t)e), type->of, base_name(e));
    return access;
}

scan_access_t scan_access_given(xy_scan_t *scan, const scan_expr_t *call)
{
    scan_expr_t *e = given_at(call);

    if (e == NULL || !is_pointer(e->type) || !is_pointer(e->type->of))
        return (scan_access_t){.count = 0};
    return access_node(scan, pointee(scan, targets(scan, e)), e->type->of->of, base_name(e));
}

/* Adds the locations that pointers in a struct reach, up to four structs deep. */
static void add_reachable(xy_scan_t *scan, scan_access_t *access, const scan_type_t *type,
                          int depth)
{
    while (type != NULL && type->kind == SCAN_ARRAY)
        type = type->of;
    if (type == NULL || type->kind != SCAN_STRUCT || depth > 3)
        return;
    for (scan_field_t *f = type->record->fields; f != NULL; f = f->next) {
        const scan_type_t *t = f->type;
        scan_access_t found;

        while (t->kind == SCAN_ARRAY)
            t = t->of;
        if (t->kind == SCAN_POINTER) {
            found = access_node(scan, pointee(scan, field_node(scan, f)), t->of, f->name);
            for (int i = 0; i < found.count; i++)
                add_id(scan, access, found.ids[i], f->name);
            t = t->of;
        }
        add_reachable(scan, access, t, depth + 1);
    }
}

scan_access_t scan_access_reachable(xy_scan_t *scan, const scan_expr_t *pointer)
{
    const scan_expr_t *e = scan_strip(pointer);
    scan_access_t access = {.count = 0};

    if (is_pointer(e->type) && !is_null(e))
        add_reachable(scan, &access, e->type->of, 0);
    return access;
}

bool scan_is_own_memory(xy_scan_t *scan, const scan_expr_t *pointer)
{
    return root(targets(scan, (scan_expr_t *)(uintptr_t)pointer))->objects > 0;
}

long scan_target_bytes(xy_scan_t *scan, const scan_expr_t *pointer)
{
    return root(targets(scan, (scan_expr_t *)(uintptr_t)pointer))->bytes;
}

bool scan_is_data(const xy_scan_t *scan, const scan_access_t *access)
{
    for (int i = 0; i < access->count; i++)
        if (!XY_VEC_AT(&scan->locations, scan_location_t, access->ids[i]).is_data)
            return false;
    return access->count > 0;
}
