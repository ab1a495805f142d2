/* SPDX-License-Identifier: BSD-3-Clause */
/* Show the kept parts, in the sources and as a list, and the unknown values. */
#include <string.h>

#include "draw/draw.h"
#include "program/scan_emit.h"

enum { SOURCE_MAX = 64 << 20 };

int xy_scan_unknowns(const xy_scan_t *scan, FILE *file)
{
    int count = 0;

    for (size_t i = 0; i < scan->unknowns.count; i++) {
        const scan_unknown_t *u = &XY_VEC_AT(&scan->unknowns, scan_unknown_t, i);

        if (u->name == NULL)
            continue;
        fprintf(file, "%s:%ld: %s is not known: %s\n", scan_file_name(scan, u->at.file), u->at.line,
                u->name, u->reason);
        count++;
    }
    return count;
}

/* ---- Marks ------------------------------------------------------------------------------- */

/* Visits all that is kept. `why` is NULL for a part of something that was visited. */
typedef struct {
    const xy_scan_t *scan;
    void (*kept)(void *arg, scan_place_t at, const char *what, const char *why);
    void *arg;
} visit_t;

/* Reports each kept call and assignment of an expression, with its reason. */
static void visit_expr(const visit_t *v, const scan_expr_t *e)
{
    char why[320];

    if (e == NULL)
        return;
    if (e->is_kept && e->kind == SCAN_E_CALL) {
        if (scan_is_mpi(e->decl))
            v->kept(v->arg, e->at, e->decl->name, "MPI");
        else if (scan_is_kernel(v->scan, e->decl))
            v->kept(v->arg, e->at, e->decl->name, "kernel");
        else if (e->decl != NULL && e->decl->body != NULL)
            v->kept(v->arg, e->at, e->decl->name,
                    "communicates, computes or returns a needed value");
        else
            v->kept(v->arg, e->at, e->decl != NULL ? e->decl->name : "call", "sets a needed value");
    } else if (e->is_kept && (e->kind == SCAN_E_ASSIGN || e->kind == SCAN_E_STEP)) {
        scan_access_t access = scan_access((xy_scan_t *)(uintptr_t)v->scan, e->a);
        const scan_location_t *l =
            access.count > 0 ? &XY_VEC_AT(&v->scan->locations, scan_location_t, access.ids[0])
                             : NULL;

        snprintf(why, sizeof(why), "needed in line %ld", l != NULL ? l->wanted : 0);
        v->kept(v->arg, e->at, l != NULL ? l->name : "", why);
    }
    visit_expr(v, e->a);
    visit_expr(v, e->b);
    visit_expr(v, e->c);
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        visit_expr(v, a);
}

static scan_place_t header_of(const scan_stmt_t *s)
{
    scan_place_t at = s->at;

    if (s->body != NULL && s->kind != SCAN_S_DO)
        at.last = s->body->at.first + (s->body->kind == SCAN_S_BLOCK);
    else if (s->kind == SCAN_S_DO)
        at.last = at.first + 2;
    return at;
}

/* Reports a kept declaration or control statement, and loops that count as work. */
static void visit_control(const visit_t *v, const scan_stmt_t *s)
{
    static const char *const names[] = {
        [SCAN_S_IF] = "if",
        [SCAN_S_FOR] = "for",
        [SCAN_S_WHILE] = "while",
        [SCAN_S_DO] = "do",
        [SCAN_S_SWITCH] = "switch",
        [SCAN_S_BREAK] = "break",
        [SCAN_S_CONTINUE] = "continue",
        [SCAN_S_RETURN] = "return",
    };
    const char *name = (size_t)s->kind < sizeof(names) / sizeof(names[0]) ? names[s->kind] : NULL;
    scan_place_t end = s->at;

    if (s->kind == SCAN_S_DECL && (s->is_kept || s->decl->is_named)) {
        v->kept(v->arg, s->at, s->decl->name, "variable");
    } else if (s->is_kept && name != NULL) {
        v->kept(v->arg, header_of(s), name, "around kept statements");
        end.first = end.last > 0 ? end.last - 1 : end.last;
        v->kept(v->arg, end, NULL, NULL); /* its closing brace */
    } else if (s->work != NULL) {
        v->kept(v->arg, header_of(s), "loop", "work, costed by its passes");
    }
}

/* Reports all kept parts of a list of statements. */
static void visit_stmts(const visit_t *v, const scan_stmt_t *s)
{
    for (; s != NULL; s = s->next) {
        visit_control(v, s);
        if (!s->is_failure) {
            visit_stmts(v, s->init);
            visit_expr(v, s->cond);
            visit_expr(v, s->step);
            if (s->decl != NULL)
                visit_expr(v, s->decl->init);
            visit_stmts(v, s->body);
        } else {
            visit_expr(v, s->cond);
        }
        visit_stmts(v, s->other);
    }
}

/* Reports all kept parts of the program: globals, functions and their statements. */
static void visit_all(const visit_t *v)
{
    for (const scan_decl_t *d = v->scan->globals; d != NULL; d = d->next)
        if (d->is_named && d->is_global)
            v->kept(v->arg, d->at, d->name, "variable");
    for (const scan_decl_t *f = v->scan->functions; f != NULL; f = f->next) {
        scan_place_t head = f->at;

        if (!f->flow->is_reached || scan_is_kernel(v->scan, f) ||
            !(f == v->scan->main || f->flow->has_effects || f->flow->needs_result))
            continue;
        head.last = f->body->at.first + 1;
        v->kept(v->arg, head, f->name, "function");
        head.first = f->body->at.last - 1;
        head.last = f->body->at.last;
        v->kept(v->arg, head, NULL, NULL);
        visit_stmts(v, f->body->body);
    }
}

/* ---- The list ---------------------------------------------------------------------------- */

typedef struct {
    const xy_scan_t *scan;
    FILE *file;
} list_t;

static void list_one(void *arg, scan_place_t at, const char *what, const char *why)
{
    const list_t *l = arg;
    char place[320];

    if (why == NULL || at.file < 0)
        return;
    snprintf(place, sizeof(place), "%s:%ld", scan_file_name(l->scan, at.file), at.line);
    fprintf(l->file, "%-24s %-16s %s\n", place, what, why);
}

void xy_scan_list(const xy_scan_t *scan, FILE *file)
{
    list_t l = {scan, file};
    visit_t v = {scan, list_one, &l};

    visit_all(&v);
    xy_scan_unknowns(scan, file);
}

/* ---- The sources ------------------------------------------------------------------------- */

typedef struct {
    const xy_scan_t *scan;
    int number;
    const char *text;
    size_t size;
    char *marks; /* 1 for each byte that is kept */
} source_t;

static void mark(void *arg, scan_place_t at, const char *what, const char *why)
{
    source_t *s = arg;

    (void)what, (void)why;
    if (at.file == s->number)
        for (long i = at.first; i < at.last && i < (long)s->size; i++)
            s->marks[i] = 1;
}

/* Prints `n` bytes with the special characters of HTML escaped. */
static void print_html(FILE *file, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (s[i]) {
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        default:
            fputc(s[i], file);
        }
}

/* Is a byte of the line kept? *is_blank_p: it has none but spaces. */
static bool keeps_line(const source_t *s, size_t begin, size_t end, bool *is_blank_p)
{
    bool is_kept = false;

    *is_blank_p = true;
    for (size_t i = begin; i < end; i++) {
        bool is_space = strchr(" \t\r", s->text[i]) != NULL;

        is_kept |= s->marks[i] != 0 && !is_space;
        *is_blank_p &= is_space;
    }
    return is_kept;
}

/* Prints one source line, marked in the given style if it is not kept. */
static void print_line(const source_t *s, size_t number, size_t begin, size_t end,
                       xy_scan_style_t style, FILE *file)
{
    bool is_blank, is_kept = keeps_line(s, begin, end, &is_blank);
    int length = (int)(end - begin);
    const char *line = s->text + begin;

    if (style == XY_SCAN_HTML) {
        fprintf(file, "<b>%6zu</b>  ", number);
        fputs(is_kept || is_blank ? "" : "<i>", file);
        print_html(file, line, end - begin);
        fputs(is_kept || is_blank ? "\n" : "</i>\n", file);
    } else if (is_kept || is_blank) {
        fprintf(file, "%.*s\n", length, line);
    } else if (style == XY_SCAN_COLOUR) {
        fprintf(file, "\033[90m%.*s\033[0m\n", length, line);
    } else {
        fprintf(file, "//%.*s\n", length, line);
    }
}

static void print_source(const source_t *s, xy_scan_style_t style, FILE *file)
{
    size_t begin = 0, number = 0;

    while (begin < s->size) {
        const char *newline = memchr(s->text + begin, '\n', s->size - begin);
        size_t end = newline != NULL ? (size_t)(newline - s->text) : s->size;

        print_line(s, ++number, begin, end, style, file);
        begin = end + 1;
    }
}

/* How many lines the description keeps, of those that are not blank. */
static void print_share(const source_t *s, FILE *file)
{
    size_t begin = 0, kept = 0, lines = 0;

    while (begin < s->size) {
        const char *newline = memchr(s->text + begin, '\n', s->size - begin);
        size_t end = newline != NULL ? (size_t)(newline - s->text) : s->size;
        bool is_blank;

        kept += keeps_line(s, begin, end, &is_blank);
        lines += !is_blank;
        begin = end + 1;
    }
    xy_page_paragraph(file, "%zu of %zu line%s %s kept.", kept, lines, lines == 1 ? "" : "s",
                      kept == 1 ? "is" : "are");
}

/* Prints a source file with its kept lines marked. */
static xy_status_t show_file(xy_scan_t *scan, int number, xy_scan_style_t style, FILE *file)
{
    scan_file_t *f = &XY_VEC_AT(&scan->files, scan_file_t, number);
    source_t s = {.scan = scan, .number = number};
    visit_t v = {scan, mark, &s};
    xy_status_t st =
        f->text != NULL ? XY_OK : xy_file_read(f->path, SOURCE_MAX, &f->text, &f->size);

    if (st != XY_OK)
        return st;
    s.text = f->text;
    s.size = f->size;
    s.marks = xy_calloc(f->size + 1, 1);
    if (s.marks == NULL)
        return xy_fail_memory("showing the slice");
    visit_all(&v);
    if (style == XY_SCAN_HTML) {
        xy_page_heading(file, "%s", f->path);
        print_share(&s, file);
        fputs("<pre class=\"wide\">", file);
    } else if (scan->count > 1) {
        fprintf(file, "/* ---- %s ---- */\n", f->path);
    }
    print_source(&s, style, file);
    fputs(style == XY_SCAN_HTML ? "</pre>\n" : "", file);
    xy_free(s.marks);
    return XY_OK;
}

static const xy_ink_t page_inks[] = {
    {"pre i,p i", "color", "#a0a7b4", "#656d7a"},
    {"pre b", "color", "#8b93a3", "#6b7382"},
    {NULL, NULL, NULL, NULL},
};

static const char page_style[] = "pre{font-size:13px;line-height:1.45}pre i,p i{font-style:normal}"
                                 "pre b{font-weight:400;user-select:none}\n";

xy_status_t xy_scan_show(xy_scan_t *scan, xy_scan_style_t style, FILE *file)
{
    xy_status_t st = XY_OK;

    if (style == XY_SCAN_HTML) {
        xy_page_begin(file, &(xy_page_t){.title = "Lines that decide the run time",
                                         .finding = "'xylem predict' follows these lines.",
                                         .inks = page_inks,
                                         .style = page_style});
        fputs("<p>Legend: <code>kept</code>, <code><i>dropped</i></code>. Loops that are dropped "
              "leave the number of their passes.</p>\n",
              file);
    }
    for (size_t i = 0; i < scan->files.count && st == XY_OK; i++)
        if (!XY_VEC_AT(&scan->files, scan_file_t, i).is_system)
            st = show_file(scan, (int)i, style, file);
    if (style == XY_SCAN_HTML)
        xy_page_end(file);
    return st;
}
