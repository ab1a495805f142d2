/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP. clang reads a program as one thread runs it. Before that each directive with a statement
 * becomes a loop around it, of the same length, whose condition holds the expressions of its
 * clauses:
 *
 *   #pragma omp parallel for num_threads(n / 2) private(x)
 *   while(_o(0,n / 2,x))
 *
 * The number is that of the directive in `teams`. The statement becomes a block with a team: its
 * value is that of one thread, and its time that of the team (walk_team.c).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/scan_openmp.h"
#include "program/scan_source.h"

enum { SOURCE_MAX = 1 << 26, PIECES = 16 };

/* Words of directives. */
typedef enum {
    NONE, /* it changes neither values nor times that are predicted */
    PARALLEL,
    LOOP,
    SECTIONS,
    SECTION,
    SINGLE,
    MASTER,
    CRITICAL,
    ORDERED,
    BARRIER,
    THREADS, /* clauses from here on */
    CHUNK,
    IF,
    PRIVATE,
    FIRST,
    COLLAPSE,
    NOWAIT,
    REFUSED,
} meaning_t;

static const struct {
    const char *word;
    meaning_t meaning;
} words[] = {
    {"parallel", PARALLEL},   {"for", LOOP},           {"loop", LOOP},
    {"sections", SECTIONS},   {"section", SECTION},    {"single", SINGLE},
    {"master", MASTER},       {"masked", MASTER},      {"critical", CRITICAL},
    {"atomic", CRITICAL},     {"ordered", ORDERED},    {"barrier", BARRIER},
    {"num_threads", THREADS}, {"schedule", CHUNK},     {"if", IF},
    {"private", PRIVATE},     {"firstprivate", FIRST}, {"linear", FIRST},
    {"collapse", COLLAPSE},   {"nowait", NOWAIT},      {"simd", NONE},
    {"flush", NONE},          {"taskwait", NONE},      {"default", NONE},
    {"shared", NONE},         {"reduction", NONE},     {"lastprivate", NONE},
    {"safelen", NONE},        {"simdlen", NONE},       {"aligned", NONE},
    {"nontemporal", NONE},    {"proc_bind", NONE},     {"copyprivate", NONE},
    {"hint", NONE},           {"order", NONE},         {"bind", NONE},
    {"update", NONE},         {"read", NONE},          {"write", NONE},
    {"capture", NONE},        {"seq_cst", NONE},       {"acq_rel", NONE},
    {"acquire", NONE},        {"release", NONE},       {"relaxed", NONE},
};

const char scan_omp_h[] =
    "#pragma once\n"
    "#pragma GCC system_header\n"
    "typedef struct { void *_; } omp_lock_t;\n"
    "typedef struct { void *_; } omp_nest_lock_t;\n"
    "typedef enum { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto }\n"
    "    omp_sched_t;\n"
    "typedef enum { omp_proc_bind_false, omp_proc_bind_true, omp_proc_bind_master,\n"
    "    omp_proc_bind_close, omp_proc_bind_spread } omp_proc_bind_t;\n"
    "void omp_set_num_threads(int), omp_set_dynamic(int), omp_set_nested(int),\n"
    "    omp_set_max_active_levels(int), omp_set_schedule(omp_sched_t, int);\n"
    "int omp_get_num_threads(void), omp_get_max_threads(void), omp_get_thread_num(void),\n"
    "    omp_get_num_procs(void), omp_in_parallel(void), omp_get_dynamic(void),\n"
    "    omp_get_nested(void), omp_get_thread_limit(void), omp_get_level(void),\n"
    "    omp_get_active_level(void), omp_get_max_active_levels(void), omp_get_num_devices(void),\n"
    "    omp_get_num_places(void), omp_get_place_num(void), omp_in_final(void);\n"
    "omp_proc_bind_t omp_get_proc_bind(void);\n"
    "void omp_init_lock(omp_lock_t *), omp_destroy_lock(omp_lock_t *),\n"
    "    omp_set_lock(omp_lock_t *), omp_unset_lock(omp_lock_t *);\n"
    "int omp_test_lock(omp_lock_t *);\n"
    "void omp_init_nest_lock(omp_nest_lock_t *), omp_destroy_nest_lock(omp_nest_lock_t *),\n"
    "    omp_set_nest_lock(omp_nest_lock_t *), omp_unset_nest_lock(omp_nest_lock_t *);\n"
    "int omp_test_nest_lock(omp_nest_lock_t *);\n"
    "double omp_get_wtime(void), omp_get_wtick(void);\n";

static meaning_t meaning_of(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == length && strncmp(words[i].word, word, length) == 0)
            return words[i].meaning;
    return REFUSED;
}

typedef struct {
    const char *s;
    size_t length;
} piece_t;

/* The directive that is read: one line, continued lines included. */
typedef struct {
    xy_scan_t *scan;
    const char *path;
    long line;
    const char *s, *end;
    scan_team_t team;
    piece_t threads, chunk, condition, privates[PIECES], firsts[PIECES];
    int private_count, first_count;
    bool has_words;
} reader_t;

static noreturn void refuse(reader_t *r, const char *what, size_t length)
{
    scan_leave(r->scan, xy_fail_at(XY_EUNSUPPORTED, r->path, r->line,
                                   "OpenMP: %.*s is not predicted: run the program with 'mpiexec "
                                   "--virtual', or give --threads-per-rank 0 to leave out OpenMP",
                                   (int)length, what));
}

static void skip_space(reader_t *r)
{
    while (r->s < r->end && (isspace((unsigned char)*r->s) || *r->s == ',' || *r->s == '\\'))
        r->s++;
}

/* The text in the parentheses that follow; an empty one where there are none. */
static piece_t read_inside(reader_t *r)
{
    piece_t p = {NULL, 0};
    int depth = 0;

    skip_space(r);
    if (r->s == r->end || *r->s != '(')
        return p;
    p.s = r->s + 1;
    for (; r->s < r->end; r->s++) {
        depth += (*r->s == '(') - (*r->s == ')');
        if (depth == 0)
            break;
    }
    p.length = (size_t)(r->s - p.s);
    if (r->s < r->end)
        r->s++;
    return p;
}

/* Without what stands in front of the last `letter` outside of parentheses. */
static piece_t behind(piece_t p, char letter)
{
    int depth = 0;

    for (size_t i = p.length; i-- > 0;) {
        depth += (p.s[i] == ')') - (p.s[i] == '(');
        if (p.s[i] == letter && depth == 0)
            return (piece_t){p.s + i + 1, p.length - i - 1};
    }
    return p;
}

static bool begins(piece_t p, const char *word)
{
    while (p.length > 0 && isspace((unsigned char)*p.s)) {
        p.s++;
        p.length--;
    }
    return p.length >= strlen(word) && strncmp(p.s, word, strlen(word)) == 0;
}

/* schedule(monotonic : dynamic, 4) */
static void read_schedule(reader_t *r, piece_t inside)
{
    const char *comma = memchr(inside.s != NULL ? inside.s : "", ',', inside.length);
    piece_t kind = behind(
        (piece_t){inside.s, comma != NULL ? (size_t)(comma - inside.s) : inside.length}, ':');

    r->team.is_dynamic = begins(kind, "dynamic");
    if (!r->team.is_dynamic && !begins(kind, "static"))
        refuse(r, inside.s - strlen("schedule("), inside.length + strlen("schedule()"));
    if (comma != NULL)
        r->chunk = (piece_t){comma + 1, inside.length - (size_t)(comma + 1 - inside.s)};
}

/* private(a, b), linear(i : 2): with `is_own` they have no value from outside. */
static void read_privates(reader_t *r, piece_t inside, bool is_own)
{
    const char *colon = memchr(inside.s != NULL ? inside.s : "", ':', inside.length);

    if (colon != NULL)
        inside.length = (size_t)(colon - inside.s);
    if (r->private_count == PIECES || r->first_count == PIECES)
        refuse(r, "a directive with so many clauses", strlen("a directive with so many clauses"));
    if (!is_own) {
        r->firsts[r->first_count++] = inside;
        return;
    }
    r->privates[r->private_count++] = inside;
    r->team.own_count++;
    for (size_t i = 0; i < inside.length; i++)
        r->team.own_count += inside.s[i] == ',';
}

/* Reads a clause with its parentheses; other words change nothing here. */
static void read_clause(reader_t *r, meaning_t meaning, const char *word, size_t length)
{
    piece_t inside = read_inside(r);

    if (meaning == THREADS)
        r->threads = inside;
    else if (meaning == CHUNK)
        read_schedule(r, inside);
    else if (meaning == IF)
        r->condition = behind(inside, ':');
    else if (meaning == PRIVATE || meaning == FIRST)
        read_privates(r, inside, meaning == PRIVATE);
    else if (meaning == NOWAIT)
        r->team.is_nowait = true;
    else if (meaning == COLLAPSE)
        r->team.collapse = inside.s != NULL ? atoi(inside.s) : 1;
    else if (meaning == REFUSED)
        refuse(r, word, length);
}

/* One word of a directive, and what is in parentheses behind it. */
static void read_word(reader_t *r)
{
    const char *word = r->s;
    size_t length;
    meaning_t meaning;

    while (r->s < r->end && (isalnum((unsigned char)*r->s) || *r->s == '_'))
        r->s++;
    length = (size_t)(r->s - word);
    meaning = length > 0 ? meaning_of(word, length) : REFUSED;
    if (length == 0)
        refuse(r, "this directive", strlen("this directive"));
    if (meaning == ORDERED && r->has_words)
        meaning = NONE; /* the clause */
    r->has_words = true;
    r->team.is_parallel |= meaning == PARALLEL;
    r->team.is_loop |= meaning == LOOP;
    r->team.is_sections |= meaning == SECTIONS;
    r->team.is_section |= meaning == SECTION;
    r->team.is_single |= meaning == SINGLE;
    r->team.is_master |= meaning == MASTER;
    r->team.is_critical |= meaning == CRITICAL;
    r->team.is_ordered |= meaning == ORDERED;
    r->team.is_barrier |= meaning == BARRIER;
    read_clause(r, meaning, word, length);
}

/* Does the directive make a block, or stand for something that takes time? */
static bool is_marked(const scan_team_t *t)
{
    return t->is_parallel || t->is_loop || t->is_sections || t->is_section || t->is_single ||
           t->is_master || t->is_critical || t->is_ordered || t->is_barrier;
}

static void add_piece(xy_text_t *text, piece_t p)
{
    if (p.s == NULL)
        return;
    xy_text_add(text, ",");
    for (size_t i = 0; i < p.length; i++)
        xy_text_addf(text, "%c", p.s[i] == '\\' || p.s[i] == '\n' ? ' ' : p.s[i]);
}

/* Writes the marker over the directive, from `from` to its end; lines stay where they are. */
static void write_marker(reader_t *r, char *from)
{
    xy_text_t text = XY_TEXT_INIT;
    char *to = from;
    size_t i = 0;

    r->team.has_threads = r->threads.s != NULL;
    r->team.has_chunk = r->chunk.s != NULL;
    r->team.has_condition = r->condition.s != NULL;
    r->team.line = r->line;
    xy_text_addf(&text, "%s_o(%zu", r->team.is_barrier ? "" : "while(", r->scan->teams.count);
    add_piece(&text, r->threads);
    add_piece(&text, r->chunk);
    add_piece(&text, r->condition);
    for (int p = 0; p < r->private_count; p++)
        add_piece(&text, r->privates[p]);
    for (int p = 0; p < r->first_count; p++)
        add_piece(&text, r->firsts[p]);
    xy_text_add(&text, r->team.is_barrier ? ");" : "))");
    if (text.failed || xy_vec_append(&r->scan->teams, &r->team) != XY_OK) {
        xy_text_cleanup(&text);
        scan_leave(r->scan, xy_fail_memory("reading OpenMP"));
    }
    for (; to < r->end; to++)
        if (i < text.length && *to != '\n')
            *to = text.s[i++];
        else if (*to != '\n')
            *to = ' ';
    i = text.length - i;
    xy_text_cleanup(&text);
    if (i > 0)
        refuse(r, "so short a directive", strlen("so short a directive"));
}

/* Does the directive let several threads run? */
static bool is_about_threads(piece_t all)
{
    static const char *const starts[] = {"parallel", "target", "teams"};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (memmem(all.s, all.length, starts[i], strlen(starts[i])) != NULL)
            return true;
    return false;
}

/* Reads the directive behind `#pragma omp` and marks it in the text. */
static void read_directive(xy_scan_t *scan, const char *path, long line, char *from, char *words_at,
                           char *end)
{
    reader_t r = {.scan = scan, .path = path, .line = line, .s = words_at, .end = end};
    piece_t all = {words_at, (size_t)(end - words_at)};

    if (scan->options->threads < 0) {
        if (is_about_threads(all))
            scan_leave(scan, xy_fail_at(XY_EINVAL, path, line,
                                        "OpenMP: the number of threads of a team is not known; "
                                        "give --threads-per-rank T, or 0 for a program compiled "
                                        "without OpenMP"));
        return;
    }
    if (begins(all, "declare"))
        return;
    r.team.collapse = 1;
    for (skip_space(&r); r.s < r.end; skip_space(&r))
        read_word(&r);
    if (is_marked(&r.team))
        write_marker(&r, from);
}

/* The end of the line, with those that it continues; counts these. */
static char *end_of_line(char *s, long *line_p)
{
    for (; *s != '\0' && *s != '\n'; s++)
        if (*s == '\\' && s[1] == '\n') {
            s++;
            ++*line_p;
        }
    return s;
}

/* Where the words of `#pragma omp` begin; NULL: it is another line. */
static char *find_words(char *s)
{
    static const char *const parts[] = {"#", "pragma", "omp"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        s += strspn(s, " \t");
        if (strncmp(s, parts[i], strlen(parts[i])) != 0)
            return NULL;
        s += strlen(parts[i]);
    }
    return isalnum((unsigned char)*s) || *s == '_' ? NULL : s;
}

void scan_openmp_rewrite(xy_scan_t *scan, const char *path, char *text)
{
    bool is_start = true; /* of a line */
    long line = 1;

    for (char *s = text; *s != '\0';) {
        char *words_at = is_start ? find_words(s) : NULL, *from = s + strspn(s, " \t"), *end;
        long first = line;

        if (words_at != NULL) {
            end = s = end_of_line(words_at, &line);
            for (char *c = words_at; c + 1 < end; c++)
                if (c[0] == '/' && (c[1] == '/' || c[1] == '*'))
                    end = c; /* a comment ends the directive */
            read_directive(scan, path, first, from, words_at, end);
            continue;
        }
        if (strncmp(s, "_Pragma(\"omp", strlen("_Pragma(\"omp")) == 0 &&
            scan->options->threads != 0)
            scan_leave(scan, xy_fail_at(XY_EUNSUPPORTED, path, line,
                                        "OpenMP: _Pragma is not predicted; write #pragma, or give "
                                        "--threads-per-rank 0 to leave out OpenMP"));
        is_start = *s == '\n' || (is_start && isspace((unsigned char)*s));
        line += *s == '\n';
        s = scan_skip_token(s, &line);
    }
}

/* ---- The statements -------------------------------------------------------------------------- */

static scan_team_t *team_of(const xy_scan_t *scan, const scan_expr_t *call)
{
    if (call == NULL || call->kind != SCAN_E_CALL || call->decl == NULL ||
        strcmp(call->decl->name, "_o") != 0 || call->args == NULL ||
        (size_t)call->args->value >= scan->teams.count)
        return NULL;
    return &XY_VEC_AT(&scan->teams, scan_team_t, call->args->value);
}

/* Takes the first of a list. */
static scan_expr_t *take(scan_expr_t **list)
{
    scan_expr_t *first = *list;

    *list = first->next;
    first->next = NULL;
    return first;
}

/* The variable of a loop that is declared in front of it is private to the threads. */
static void add_counter(xy_scan_t *scan, scan_team_t *t, const scan_stmt_t *loop)
{
    const scan_expr_t *e = loop->kind == SCAN_S_FOR && loop->init != NULL ? loop->init->cond : NULL;
    scan_expr_t *name;

    if (e == NULL || e->kind != SCAN_E_ASSIGN || e->a->kind != SCAN_E_NAME)
        return;
    name = scan_alloc(scan, sizeof(*name));
    *name = *e->a;
    name->next = t->privates;
    t->privates = name;
    t->own_count++;
}

void scan_openmp_mark(xy_scan_t *scan, scan_stmt_t *s)
{
    scan_team_t *found = team_of(scan, s->cond), *t;
    scan_expr_t *args;

    if (found == NULL)
        return;
    t = scan_alloc(scan, sizeof(*t));
    *t = *found;
    args = s->cond->args->next;
    t->threads = t->has_threads ? take(&args) : NULL;
    t->chunk = t->has_chunk ? take(&args) : NULL;
    t->condition = t->has_condition ? take(&args) : NULL;
    t->privates = args;
    s->kind = SCAN_S_BLOCK;
    s->cond = NULL;
    s->team = t;
    t->loop = t->is_loop ? s->body : NULL;
    while (t->loop != NULL && t->loop->kind == SCAN_S_BLOCK && t->loop->body != NULL)
        t->loop = t->loop->body; /* behind the declarations of values without a name */
    if (t->is_loop && (t->loop == NULL || t->loop->kind != SCAN_S_FOR))
        scan_fail(scan, XY_EINVAL, s->at, "OpenMP: no for loop follows the directive");
    if (t->loop != NULL)
        add_counter(scan, t, t->loop);
}

const scan_stmt_t *scan_openmp_inner(const scan_stmt_t *loop, int collapse)
{
    for (; collapse > 1 && loop != NULL; collapse--) {
        loop = loop->body;
        while (loop != NULL && loop->kind == SCAN_S_BLOCK)
            loop = loop->body;
    }
    return loop;
}

void scan_openmp_check_headers(xy_scan_t *scan)
{
    for (size_t i = 0; i < scan->files.count && scan->options->threads != 0; i++) {
        const scan_file_t *f = &XY_VEC_AT(&scan->files, scan_file_t, i);
        char *text = NULL;
        bool is_source = f->is_system || access(f->path, R_OK) != 0;

        for (int k = 0; k < scan->count && !is_source; k++)
            is_source = strcmp(scan->paths[k], f->path) == 0;
        if (is_source || xy_file_read_text(f->path, SOURCE_MAX, &text) != XY_OK)
            continue;
        for (char *line = text; line != NULL; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (find_words(line) != NULL) {
                xy_free(text);
                scan_leave(scan, xy_fail_at(XY_EUNSUPPORTED, f->path, 0,
                                            "OpenMP in a header is not predicted; write the loop "
                                            "in a source, or give --threads-per-rank 0 to leave "
                                            "out OpenMP"));
            }
        }
        xy_free(text);
    }
}
