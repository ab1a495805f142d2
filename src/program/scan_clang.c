/* SPDX-License-Identifier: BSD-3-Clause */
/* libclang parses; types, declarations and places of its tree. */
#include "program/scan_clang.h"
#include "program/scan_source.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

scan_clang_t clang;

enum { FLAGS_MAX = 256 };

xy_status_t scan_clang_load(void)
{
    static void *library;

    if (library != NULL)
        return XY_OK;
    library = dlopen(XYLEM_LIBCLANG_FILE, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        library = dlopen("libclang-19.so.19", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return xy_fail(XY_EUNSUPPORTED, "%s was not found: install libclang-19-dev",
                       XYLEM_LIBCLANG_FILE);
#define LOAD(name) *(void **)&clang.name = dlsym(library, "clang_" #name);
    SCAN_CLANG_FUNCTIONS(LOAD)
#undef LOAD
#define IS_MISSING(name) || clang.name == NULL
    if (false SCAN_CLANG_FUNCTIONS(IS_MISSING))
        return xy_fail(XY_EUNSUPPORTED, "%s is older than libclang 19: install libclang-19-dev",
                       XYLEM_LIBCLANG_FILE);
#undef IS_MISSING
    return XY_OK;
}

typedef struct {
    xy_scan_t *scan;
    scan_child_t *first, *last;
    bool is_full;
} visit_t;

/* Appends a cursor to the list of children; a callback of libclang. */
static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
    visit_t *v = data;
    scan_child_t *child = xy_arena_alloc(v->scan->arena, sizeof(*child));

    (void)parent;
    if (child == NULL) {
        v->is_full = true;
        return CXChildVisit_Break;
    }
    child->cursor = cursor;
    if (v->last != NULL)
        v->last->next = child;
    else
        v->first = child;
    v->last = child;
    return CXChildVisit_Continue;
}

scan_child_t *scan_children(xy_scan_t *scan, CXCursor cursor)
{
    visit_t v = {.scan = scan};

    clang.visitChildren(cursor, visit, &v);
    if (v.is_full)
        scan_leave(scan, xy_fail_memory("reading C"));
    return v.first;
}

char *scan_string(xy_scan_t *scan, CXString string)
{
    const char *s = clang.getCString(string);
    char *copy = xy_arena_strndup(scan->arena, s != NULL ? s : "", s != NULL ? strlen(s) : 0);

    clang.disposeString(string);
    if (copy == NULL)
        scan_leave(scan, xy_fail_memory("reading C"));
    return copy;
}

bool scan_is_expression(CXCursor cursor)
{
    return clang.isExpression(clang.getCursorKind(cursor)) != 0;
}

/* Returns the number of a file, added if it is new. */
static int find_file(xy_scan_t *scan, CXFile file, bool is_system)
{
    const char *path = scan_string(scan, clang.getFileName(file));
    scan_file_t *f;

    for (size_t i = scan->files.count; i-- > 0;)
        if (strcmp(XY_VEC_AT(&scan->files, scan_file_t, i).path, path) == 0)
            return (int)i;
    f = xy_vec_push(&scan->files);
    if (f == NULL)
        scan_leave(scan, xy_fail_memory("reading C"));
    f->path = path;
    f->is_system = is_system;
    return (int)scan->files.count - 1;
}

/* Returns file, line and byte range of a source range; file -1 if it has none. */
static scan_place_t place_of(xy_scan_t *scan, CXSourceLocation first, CXSourceLocation last)
{
    scan_place_t at = {.file = -1};
    unsigned line = 0, offset = 0;
    CXFile file = NULL;

    clang.getExpansionLocation(first, &file, &line, NULL, &offset);
    if (file == NULL)
        return at;
    if (file != scan->last_file) {
        scan->last_number =
            find_file(scan, file, scan->is_library || clang.Location_isInSystemHeader(first) != 0);
        scan->last_file = file;
    }
    at.file = scan->last_number;
    at.line = line;
    at.first = offset;
    clang.getExpansionLocation(last, &file, NULL, NULL, &offset);
    at.last = offset;
    return at;
}

scan_place_t scan_place(xy_scan_t *scan, CXCursor cursor)
{
    CXSourceRange range = clang.getCursorExtent(cursor);

    return place_of(scan, clang.getRangeStart(range), clang.getRangeEnd(range));
}

/* Members of unions share memory: their values are not followed. */
static const scan_type_t *unfollowed(xy_scan_t *scan, const scan_type_t *type)
{
    scan_type_t *t = scan_alloc(scan, sizeof(*t));

    t->bytes = type->bytes;
    t->align = type->align;
    return t;
}

/* Members of a struct without a name belong to the one around it. */
static void read_fields(xy_scan_t *scan, CXCursor cursor, scan_record_t *record, bool is_union,
                        scan_field_t ***end_p)
{
    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next) {
        enum CXCursorKind kind = clang.getCursorKind(c->cursor);
        const scan_type_t *type;
        const char *name = scan_string(scan, clang.getCursorSpelling(c->cursor));

        if ((kind == CXCursor_UnionDecl || kind == CXCursor_StructDecl) &&
            clang.Cursor_isAnonymousRecordDecl(c->cursor)) {
            record->has_shared |= kind == CXCursor_UnionDecl;
            read_fields(scan, c->cursor, record, is_union || kind == CXCursor_UnionDecl, end_p);
        }
        if (kind != CXCursor_FieldDecl || *name == '\0')
            continue;
        type = scan_read_type(scan, clang.getCursorType(c->cursor));
        record->has_shared |= clang.getFieldDeclBitWidth(c->cursor) >= 0;
        if (is_union)
            type = unfollowed(scan, type);
        **end_p = scan_alloc(scan, sizeof(***end_p));
        (**end_p)->name = name;
        (**end_p)->type = type;
        (**end_p)->bits = clang.getFieldDeclBitWidth(c->cursor);
        (**end_p)->record = record;
        *end_p = &(**end_p)->next;
    }
}

/* Returns the description of a struct type, read once; unnamed structs get a number as name. */
static const scan_record_t *read_record(xy_scan_t *scan, CXType type)
{
    CXCursor cursor = clang.getTypeDeclaration(type);
    const char *usr = scan_string(scan, clang.getCursorUSR(cursor));
    scan_record_t *record = xy_hash_get(&scan->records, XY_HASH_KEY(usr));
    scan_field_t **end;
    const char *name;

    if (record != NULL)
        return record;
    record = scan_alloc(scan, sizeof(*record));
    name = scan_string(scan, clang.getTypeSpelling(clang.getCursorType(cursor))); /* no const */
    record->name = strncmp(name, "struct ", 7) == 0 ? name + 7 : name;
    if (strchr(record->name, '(') != NULL) { /* "(unnamed at file.c:3:1)" */
        char buffer[32];

        snprintf(buffer, sizeof(buffer), "unnamed_%zu", scan->records.count);
        record->name = scan_copy(scan, buffer);
    }
    if (xy_hash_set(&scan->records, XY_HASH_KEY(usr), record) != XY_OK)
        scan_leave(scan, xy_fail_memory("reading C"));
    end = &record->fields;
    read_fields(scan, cursor, record, false, &end);
    return record;
}

/* MPI_Comm is a pointer to struct MPI_ABI_Comm. */
static const char *handle_name(xy_scan_t *scan, CXType pointee)
{
    const char *name = scan_string(scan, clang.getTypeSpelling(clang.getCanonicalType(pointee)));
    char buffer[64];

    if (strncmp(name, "struct MPI_ABI_", 15) != 0 || strchr(name, ' ') != strrchr(name, ' '))
        return NULL; /* something else, or a pointer to a handle */
    snprintf(buffer, sizeof(buffer), "MPI_%s", name + 15);
    return scan_copy(scan, buffer);
}

/* Sets the kind and the signedness of a scalar type. */
static void read_scalar(scan_type_t *t, CXType type)
{
    switch (type.kind) {
    case CXType_Void:
        t->kind = SCAN_VOID;
        break;
    case CXType_Float:
    case CXType_Double:
        t->kind = SCAN_REAL;
        break;
    case CXType_LongDouble:
        t->is_wide = true;
        break;
    case CXType_Bool:
    case CXType_Char_U:
    case CXType_UChar:
    case CXType_UShort:
    case CXType_UInt:
    case CXType_ULong:
    case CXType_ULongLong:
        t->is_unsigned = true;
        t->kind = SCAN_INT;
        break;
    case CXType_Char_S:
    case CXType_SChar:
    case CXType_Short:
    case CXType_Int:
    case CXType_Long:
    case CXType_LongLong:
        t->kind = SCAN_INT;
        break;
    default:
        break;
    }
    t->is_bool = type.kind == CXType_Bool;
    t->is_char = type.kind == CXType_Char_S || type.kind == CXType_Char_U;
}

static bool is_function(CXType type)
{
    enum CXTypeKind kind = clang.getCanonicalType(type).kind;

    return kind == CXType_FunctionProto || kind == CXType_FunctionNoProto;
}

/* Sets the kind and the parts of a pointer, array, enum or struct; function pointers are
 * integers. */
static void read_derived(xy_scan_t *scan, scan_type_t *t, CXType type)
{
    CXCursor decl;

    switch (type.kind) {
    case CXType_Pointer:
        if (is_function(clang.getPointeeType(type))) {
            t->kind = SCAN_INT; /* the number of the function */
            t->is_code = true;
            break;
        }
        t->handle = handle_name(scan, clang.getPointeeType(type));
        t->kind = t->handle != NULL ? SCAN_HANDLE : SCAN_POINTER;
        if (t->kind == SCAN_POINTER)
            t->of = scan_read_type(scan, clang.getPointeeType(type));
        break;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray:
        t->kind = SCAN_ARRAY;
        t->of = scan_read_type(scan, clang.getArrayElementType(type));
        t->count = type.kind == CXType_ConstantArray ? (long)clang.getArraySize(type) : -1;
        break;
    case CXType_Enum:
        t->kind = SCAN_INT;
        t->is_enum = true;
        break;
    case CXType_Record:
        decl = clang.getTypeDeclaration(type);
        if (clang.getCursorKind(decl) == CXCursor_StructDecl) {
            t->kind = SCAN_STRUCT;
            t->record = read_record(scan, type);
        }
        break;
    default:
        break;
    }
}

const scan_type_t *scan_read_type(xy_scan_t *scan, CXType type)
{
    scan_type_t *t = scan_alloc(scan, sizeof(*t));
    CXType canonical = clang.getCanonicalType(type);
    long long bytes = clang.Type_getSizeOf(canonical);

    t->bytes = bytes > 0 ? (long)bytes : 0;
    t->align = clang.Type_getAlignOf(canonical) > 0 ? (int)clang.Type_getAlignOf(canonical) : 1;
    t->is_const = clang.isConstQualifiedType(canonical) != 0;
    read_scalar(t, canonical);
    if (t->kind == SCAN_OTHER && !t->is_wide)
        read_derived(scan, t, canonical);
    return t;
}

const scan_type_t *scan_decayed(xy_scan_t *scan, const scan_type_t *type)
{
    scan_type_t *t;

    if (type->kind != SCAN_ARRAY)
        return type;
    t = scan_alloc(scan, sizeof(*t));
    t->kind = SCAN_POINTER;
    t->bytes = (long)sizeof(void *);
    t->of = type->of;
    return t;
}

void scan_read_function(xy_scan_t *scan, scan_decl_t *d, CXCursor cursor)
{
    bool is_body = clang.isCursorDefinition(cursor) != 0;
    scan_decl_t **end = &d->params;

    d->is_function = true;
    d->result = scan_read_type(scan, clang.getResultType(clang.getCursorType(cursor)));
    if (d->body != NULL || (!is_body && d->params != NULL))
        return;
    d->params = NULL;
    if (is_body)
        d->at = scan_place(scan, cursor);
    /* Among the children are the parameters of a function that the result points to. */
    for (int i = 0; i < clang.Cursor_getNumArguments(cursor); i++) {
        *end = scan_read_decl(scan, clang.Cursor_getArgument(cursor, (unsigned)i));
        (*end)->is_parameter = true;
        (*end)->type = scan_decayed(scan, (*end)->type);
        end = &(*end)->next;
    }
    for (scan_child_t *c = scan_children(scan, cursor); is_body && c != NULL; c = c->next)
        if (clang.getCursorKind(c->cursor) == CXCursor_CompoundStmt)
            d->body = scan_read_stmt(scan, c->cursor);
}

void scan_read_variable(xy_scan_t *scan, scan_decl_t *d, CXCursor cursor)
{
    CXCursor init = clang.Cursor_getVarDeclInitializer(cursor);
    scan_expr_t **end = &d->dims;

    if (!clang.Cursor_isNull(init) && d->init == NULL)
        d->init = scan_read_expr(scan, init);
    if (d->type->kind != SCAN_ARRAY || d->dims != NULL || d->init != NULL)
        return;
    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next)
        if (scan_is_expression(c->cursor)) {
            *end = scan_read_expr(scan, c->cursor);
            end = &(*end)->next;
        }
}

static void note_decl(xy_scan_t *scan, scan_decl_t *d, CXCursor cursor)
{
    enum CX_StorageClass storage = clang.Cursor_getStorageClass(cursor);

    d->is_static = storage == CX_SC_Static;
    d->is_extern = storage == CX_SC_Extern;
    d->at = scan_place(scan, cursor);
    d->is_system = d->at.file < 0 || XY_VEC_AT(&scan->files, scan_file_t, d->at.file).is_system;
    d->id = (long)scan->decls.count;
}

/* Its name in all files. Variables of functions that one macro declares more than once stand at the
 * same place, and clang gives them the same name. */
static const char *decl_key(xy_scan_t *scan, CXCursor cursor)
{
    const char *usr = scan_string(scan, clang.getCursorUSR(cursor));
    size_t length = strlen(usr) + 16;
    char *key;

    if (*usr == '\0' || clang.getCursorLinkage(cursor) != CXLinkage_NoLinkage)
        return usr;
    key = scan_alloc(scan, length);
    snprintf(key, length, "%s@%u", usr, clang.hashCursor(cursor));
    return key;
}

scan_decl_t *scan_read_decl(xy_scan_t *scan, CXCursor cursor)
{
    const char *usr = decl_key(scan, cursor);
    scan_decl_t *d = *usr != '\0' ? xy_hash_get(&scan->decls, XY_HASH_KEY(usr)) : NULL;

    if (d == NULL) {
        d = scan_alloc(scan, sizeof(*d));
        d->name = scan_string(scan, clang.getCursorSpelling(cursor));
        note_decl(scan, d, cursor);
        if (*usr != '\0' && xy_hash_set(&scan->decls, XY_HASH_KEY(usr), d) != XY_OK)
            scan_leave(scan, xy_fail_memory("reading C"));
    } else if (clang.getCursorKind(cursor) == CXCursor_VarDecl && d->init != NULL) {
        return d;
    }
    /* `int a[]` may be completed by a later declaration. */
    if (d->type == NULL || (d->type->kind == SCAN_ARRAY && d->type->count < 0 && d->dims == NULL))
        d->type = scan_read_type(scan, clang.getCursorType(cursor));
    return d;
}

/* Reads a function or global variable outside system headers and adds it to the lists of the
 * scan. */
static void read_top(xy_scan_t *scan, CXCursor cursor)
{
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    bool is_new;
    scan_decl_t *d;

    if (clang.Location_isInSystemHeader(clang.getCursorLocation(cursor)))
        return;
    if (kind == CXCursor_FunctionDecl) {
        d = scan_read_decl(scan, cursor);
        if (d->body == NULL && clang.isCursorDefinition(cursor)) {
            d->is_system = false;
            d->next = scan->functions;
            scan->functions = d;
        }
        scan_read_function(scan, d, cursor);
        if (d->body != NULL && strcmp(d->name, "main") == 0)
            scan->main = d;
    } else if (kind == CXCursor_VarDecl) {
        d = scan_read_decl(scan, cursor);
        is_new = !d->is_global;
        d->is_global = true;
        d->is_system = false;
        scan_read_variable(scan, d, cursor);
        if (is_new) {
            d->next = scan->globals;
            scan->globals = d;
        }
    }
}

/* The first error, as clang puts it. */
static void check_errors(xy_scan_t *scan, CXTranslationUnit unit, const char *path)
{
    for (unsigned i = 0; i < clang.getNumDiagnostics(unit); i++) {
        CXDiagnostic d = clang.getDiagnostic(unit, i);
        bool is_error = clang.getDiagnosticSeverity(d) >= CXDiagnostic_Error;
        CXSourceLocation at = clang.getDiagnosticLocation(d);
        scan_place_t place = place_of(scan, at, at);
        const char *text = scan_string(scan, clang.getDiagnosticSpelling(d));

        clang.disposeDiagnostic(d);
        if (is_error && place.file >= 0)
            scan_fail(scan, XY_EPARSE, place, "%s", text);
        if (is_error)
            scan_leave(scan, xy_fail_at(XY_EPARSE, path, 0, "%s", text));
    }
}

/* Fills `flags` with the options for libclang and those of the user; returns their number. */
static int make_flags(xy_scan_t *scan, const char *include, const char *flags[FLAGS_MAX])
{
    int count = 0;

    flags[count++] = "-xc";
    flags[count++] = "-std=gnu11";
    flags[count++] = "-isystem";
    flags[count++] = include;
    if (scan->options->threads > 0)
        flags[count++] = "-D_OPENMP=201511";
    flags[count++] = "-D__NO_CTYPE"; /* isdigit() is a function */
    /* Old programs call what they do not declare. */
    flags[count++] = "-Wno-implicit-function-declaration";
    flags[count++] = "-Wno-implicit-int";
    flags[count++] = "-Wno-int-conversion";
    flags[count++] = "-Wno-incompatible-function-pointer-types";
    for (const char *const *f = scan->options->flags; f != NULL && *f != NULL; f++)
        if (count < FLAGS_MAX)
            flags[count++] = *f;
        else
            scan_leave(scan, xy_fail(XY_ELIMIT, "there are more than %d options of the compiler",
                                     FLAGS_MAX));
    return count;
}

void scan_clang_parse(xy_scan_t *scan, const char *path, const char *text)
{
    const char *flags[FLAGS_MAX];
    int count = make_flags(scan, scan->options->include, flags);
    CXTranslationUnit unit = NULL;
    const char *source = text;
    struct CXUnsavedFile in_memory[3];
    char omp[4096], cuda[4096];
    enum CXErrorCode error;

    if (text == NULL && access(path, R_OK) != 0)
        scan_leave(scan, xy_fail_errno(errno, path, "read"));
    if (text == NULL)
        source = scan_source_read(scan, path);
    in_memory[0] = (struct CXUnsavedFile){path, source, strlen(source)};
    snprintf(omp, sizeof(omp), "%s/omp.h", scan->options->include);
    snprintf(cuda, sizeof(cuda), "%s/cuda_runtime.h", scan->options->include);
    in_memory[1] = (struct CXUnsavedFile){omp, scan_omp_h, strlen(scan_omp_h)};
    in_memory[2] = (struct CXUnsavedFile){cuda, scan_cuda_h, strlen(scan_cuda_h)};
    if (scan_source_is_cuda(path) && count + 2 < FLAGS_MAX) {
        flags[count++] = "-include";
        flags[count++] = cuda;
    }
    if (scan->index == NULL)
        scan->index = clang.createIndex(0, 0);
    error = clang.parseTranslationUnit2(scan->index, path, flags, count, in_memory, 3, 0, &unit);
    scan->unit = unit;
    if (error != CXError_Success || unit == NULL)
        scan_leave(scan, xy_fail_at(XY_EPARSE, path, 0,
                                    "clang could not read it (error %d): check -I, -D and -std",
                                    (int)error));
    scan->last_file = NULL;
    scan->is_library = text != NULL;
    check_errors(scan, unit, path);
    for (scan_child_t *c = scan_children(scan, clang.getTranslationUnitCursor(unit)); c != NULL;
         c = c->next)
        read_top(scan, c->cursor);
    clang.disposeTranslationUnit(unit);
    scan->unit = NULL;
}

void scan_clang_close(xy_scan_t *scan)
{
    if (scan->unit != NULL)
        clang.disposeTranslationUnit(scan->unit);
    if (scan->index != NULL)
        clang.disposeIndex(scan->index);
    scan->unit = scan->index = NULL;
}
