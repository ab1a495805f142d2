#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ways in which C programs set a number: what is predicted from the source must be what the program does.

    tests/program/ways.py BUILD [NAME...]

Each way sets some of the eight lengths n[], and messages of these lengths are sent. It is predicted with the matrix of
the run, or asked about, or refused, as its entry says. By default a fixed quarter of them, all with XYLEM_SOAK.
"""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import testing # noqa: E402
from corpus import Corpus # noqa: E402

PROGRAM = """#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
%s
int main(int argc, char **argv)
{
    int n[8], rank, size;
    static char data[50000], room[50000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 8; i++)
        n[i] = (i * 37) %% 11 * 10;
%s
    for (int i = 0; i < 8; i++)
        MPI_Sendrecv(data, n[i] * (i + 1), MPI_CHAR, (rank + 1) %% size, i, room, sizeof(room), MPI_CHAR,
                     (rank + size - 1) %% size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""

# name: (what it must be, what stands before main(), what sets n[])
WAYS = {
    "pointer_to_pointer": (
        "predicted",
        "static int g;",
        "int a = 3, *p = &g, **pp = &p; *pp = &a; **pp = 50; n[1] = a + g;"),
    "chosen_target": (
        "predicted",
        "",
        "int a = 1, b = 2; *(rank >= 0 ? &a : &b) = 77; n[0] = a; n[1] = b;"),
    "negative_index": (
        "predicted",
        "",
        "int *p = &n[3]; p[-1] = 55; *--p += 2; n[4] = (int)(p - n) + 9;"),
    "pointer_to_row": (
        "predicted",
        "",
        "int m[3][4] = {{1,2,3,4},{5,6,7,8}}; int (*row)[4] = m; row[1][2] = 99; row++; n[2] = (*row)[2] + "
        "m[1][1]; int *f = &m[0][0]; f[5] = 66; n[3] = m[1][1];"),
    "strtol": (
        "predicted",
        "",
        'char t[] = "12 0x20 7"; char *e; n[0] = (int)strtol(t, &e, 10); n[1] = (int)strtol(e, &e, 0); n[2] = '
        "(int)strtoul(e, NULL, 10);"),
    "strtok": (
        "predicted",
        "",
        'char t[] = "11,22;33"; int i = 0; for (char *w = strtok(t, ",;"); w; w = strtok(NULL, ",;")) n[i++] '
        "= atoi(w);"),
    "struct_result": (
        "predicted",
        "typedef struct { int a, b[3]; } s_t; static s_t make(int v) { s_t s = {v, {v+1, v+2, v+3}}; return "
        "s; } static int sum(s_t s) { s.a = 0; return s.b[0] + s.b[2]; }",
        "s_t s = make(5); s_t t = s; t.a = 50; n[0] = s.a + 9; n[1] = t.a; n[2] = sum(t) + t.a; n[3] = "
        "make(7).b[1];"),
    "linked_list": (
        "predicted",
        "struct node { int v; struct node *next; };",
        "struct node *head = NULL; for (int i = 0; i < 5; i++) { struct node *x = malloc(sizeof *x); x->v = i "
        "* 7; x->next = head; head = x; } int i = 0; for (struct node *x = head; x; x = x->next) n[i++] = "
        "x->v; while (head) { struct node *x = head->next; free(head); head = x; }"),
    "search_tree": (
        "predicted",
        "struct t { int v; struct t *l, *r; }; static struct t *add(struct t *t, int v) { if (!t) { t = "
        "calloc(1, sizeof *t); t->v = v; } else if (v < t->v) t->l = add(t->l, v); else t->r = add(t->r, v); "
        "return t; } static void walk(struct t *t, int *n, int *i) { if (!t) return; walk(t->l, n, i); "
        "n[(*i)++] = t->v; walk(t->r, n, i); }",
        "struct t *t = NULL; for (int i = 0; i < 6; i++) t = add(t, (i * 5 + 3) % 7 * 4); int k = 0; walk(t, "
        "n, &k);"),
    "union": (
        "asked",
        "union u { int i; float f; unsigned char c[4]; };",
        "union u x; x.f = 1.0f; n[0] = x.c[3]; x.i = 40; n[1] = x.c[0];"),
    "popcount": (
        "asked",
        "",
        "unsigned long long v = 0x123456789abcdefULL; n[0] = (int)(v >> 60) + 5; n[1] = (int)(v % 97); n[2] = "
        "(int)((v * 31) >> 58); n[3] = (short)(v & 0xffff) & 63; n[4] = __builtin_popcountll(v);"),
    "variable_arguments": (
        "asked",
        "#include <stdarg.h>\n"
        "static int sum(int c, ...) { va_list l; int s = 0; va_start(l, c); while (c--) s += va_arg(l, int); "
        "va_end(l); return s; }",
        "n[0] = sum(3, 1, 2, 30);"),
    "do_while": (
        "predicted",
        "",
        "int i = 0, v = 27; do { v = v % 2 ? 3 * v + 1 : v / 2; i++; } while (v != 1 && i < 40); n[0] = i; "
        "n[1] = v + 8;"),
    "rotation": (
        "predicted",
        "static void rot(int *a, int *b, int *c) { int t = *a; *a = *b; *b = *c; *c = t; }",
        "rot(&n[1], &n[2], &n[5]);"),
    "memmove": (
        "predicted",
        "",
        "memmove(n + 1, n, 5 * sizeof(int)); memset(n, 0, 4);"),
    "structs_with_arrays": (
        "predicted",
        "struct c { int len; int *data; };",
        "struct c cs[3]; for (int i = 0; i < 3; i++) { cs[i].len = i + 2; cs[i].data = malloc(cs[i].len * "
        "sizeof(int)); for (int j = 0; j < cs[i].len; j++) cs[i].data[j] = i * j * 3; } struct c t = cs[0]; "
        "cs[0] = cs[2]; cs[2] = t; n[0] = cs[0].data[3]; n[1] = cs[2].len;"),
    "array_of_pointers": (
        "predicted",
        "",
        "int *ps[4]; for (int i = 0; i < 4; i++) ps[i] = &n[3 - i]; *ps[1] = 91; memcpy(&ps[0], &ps[2], "
        "sizeof(int *)); *ps[0] = 17;"),
    "pointer_of_number": (
        "asked",
        "",
        "long a = (long)(void *)&n[2]; int *p = (int *)a; *p = 71;"),
    "growing_array": (
        "predicted",
        "",
        "int c = 1, u = 0, *v = malloc(sizeof(int)); for (int i = 0; i < 9; i++) { if (u == c) v = realloc(v, "
        "(c *= 2) * sizeof(int)); v[u++] = i * i; } n[0] = v[8]; n[1] = c;"),
    "global_stack": (
        "predicted",
        "static int tab[8]; int *cur = tab; static void push(int v) { *cur++ = v; } static int pop(void) { "
        "return *--cur; }",
        "for (int i = 0; i < 5; i++) push(i * 11); pop(); n[0] = pop(); n[1] = tab[2]; n[2] = (int)(cur - "
        "tab);"),
    "real_numbers": (
        "predicted",
        "",
        "double x = 1; for (int i = 0; i < 10; i++) x *= 1.3; n[0] = (int)x; n[1] = (int)(sqrt(x) * 3); n[2] "
        "= (int)floor(log2(x) + pow(x, 0.3)); float f = 0.1f; n[3] = (int)(f * 1000);"),
    "large_array": (
        "asked",
        "",
        "double big[100]; for (int i = 0; i < 100; i++) big[i] = i * 0.7; n[0] = (int)big[60]; n[1] = "
        "(int)(big[3] + big[9]);"),
    "bits_of_float": (
        "predicted",
        "",
        "float w[8]; for (int i = 0; i < 8; i++) w[i] = i * 1.5f; unsigned u; memcpy(&u, &w[2], 4); n[0] = "
        "(int)(u >> 24);"),
    "number_of_bytes": (
        "predicted",
        "",
        "unsigned char b[4] = {1, 2, 3, 4}; unsigned v; memcpy(&v, b, 4); n[0] = (int)(v & 0xff) + 7; n[1] = "
        "(int)(v >> 16 & 0xff);"),
    "offset_of_member": (
        "predicted",
        "#include <stddef.h>\n"
        "struct o { char c; double d; int e[3]; };",
        "struct o x = {0}; *(int *)((char *)&x + offsetof(struct o, e) + 4) = 62; n[0] = x.e[1]; n[1] = "
        "(int)offsetof(struct o, e);"),
    "containing_struct": (
        "predicted",
        "#include <stddef.h>\n"
        "struct o { double d; int e; }; static int get(int *p) { struct o *o = (struct o *)((char *)p - "
        "offsetof(struct o, e)); return (int)o->d; }",
        "struct o x = {12.5, 4}; n[0] = get(&x.e);"),
    "growing_text": (
        "predicted",
        "static void app(char **s, size_t *len, const char *t) { size_t l = strlen(t); *s = realloc(*s, *len "
        "+ l + 1); memcpy(*s + *len, t, l + 1); *len += l; }",
        'char *s = NULL; size_t len = 0; for (int i = 0; i < 4; i++) app(&s, &len, i % 2 ? "abc" : "longer"); '
        "n[0] = (int)strlen(s); n[1] = s[7] - 90;"),
    "rows_swapped": (
        "predicted",
        "",
        "int **m = malloc(3 * sizeof(int *)); for (int i = 0; i < 3; i++) { m[i] = malloc(4 * sizeof(int)); "
        "for (int j = 0; j < 4; j++) m[i][j] = i * 10 + j; } int *t = m[0]; m[0] = m[2]; m[2] = t; n[0] = "
        "m[0][3]; n[1] = m[2][1];"),
    "goto_loop": (
        "predicted",
        "",
        "int i = 0; again: n[i] = i * 6; if (++i < 6) goto again;"),
    "methods": (
        "predicted",
        "struct obj { void (*set)(struct obj *, int); int v; }; static void s1(struct obj *o, int v) { o->v = "
        "v; } static void s2(struct obj *o, int v) { o->v = 2 * v; }",
        "struct obj a = {s1, 0}, b = {s2, 0}; struct obj *os[2] = {&a, &b}; for (int i = 0; i < 2; i++) "
        "os[i]->set(os[i], 30); n[0] = a.v; n[1] = b.v;"),
    "shadowed": (
        "predicted",
        "static int n2 = 4;",
        "int x = 1; { int x = 40; n[0] = x; } n[1] = x + 5; for (int x = 0; x < 3; x++) n[2] += x; n[3] = n2;"),
    "fall_through": (
        "predicted",
        "",
        "for (int i = 0; i < 6; i++) switch (i) { case 0: case 1: n[i] = 11; break; case 2: { n[i] = 22; } "
        "default: if (i > 3) continue; n[i] += 1; }"),
    "parts_of_text": (
        "predicted",
        "",
        "const char *s = \"a=12;b=45\"; const char *p = strchr(s, 'b'); n[0] = atoi(p + 2); n[1] = (int)(p - "
        's); n[2] = (int)strcspn(s, ";"); n[3] = (int)strspn(s, "a=1"); n[4] = strncmp(s, "a=13", 3) == 0 ? '
        '33 : 44; n[5] = (int)strlen(strstr(s, "45")) + 3;'),
    "letters": (
        "predicted",
        "#include <ctype.h>",
        'const char *s = "Ab1 z"; int c = 0; for (; *s; s++) c = c * 2 + (isupper((unsigned char)*s) ? 1 : '
        "isdigit((unsigned char)*s) ? 3 : tolower(*s) == 'z' ? 5 : 0); n[0] = c;"),
    "environment": (
        "predicted",
        "",
        'char *e = getenv("NOT_SET_AT_ALL"); n[0] = e ? atoi(e) : 48;'),
    "random_number": (
        "asked",
        "",
        "srand(7); n[0] = rand() % 50;"),
    "time": (
        "asked",
        "#include <time.h>",
        "n[0] = (int)(time(NULL) % 50);"),
    "sscanf_word": (
        "asked",
        "",
        'int r = 0; char t[40]; snprintf(t, sizeof t, "%d:%s", 31, "word"); char w[10]; r = sscanf(t, '
        '"%d:%9s", &n[0], w); n[1] = r * 8 + (int)strlen(w);'),
    "comma": (
        "predicted",
        "",
        "int a = 1, b; b = (a += 4, a * 3); n[0] = b, n[1] = a;"),
    "volatile": (
        "predicted",
        "",
        "volatile int v = 12; v++; n[0] = v;"),
    "assert": (
        "predicted",
        "#include <assert.h>",
        "assert(n[0] == 0); n[0] = 21;"),
    "atexit": (
        "predicted",
        "static int done; static void bye(void) { done = 1; }",
        "atexit(bye); n[0] = done + 16;"),
    "sizes": (
        "predicted",
        "",
        "n[0] = (int)sizeof(n); n[1] = (int)(sizeof(n) / sizeof(n[0])); n[2] = (int)sizeof(long double);"),
    "absolute_values": (
        "asked",
        "",
        "n[0] = abs(-31); n[1] = (int)fabs(-22.5); n[2] = (int)fmin(3, 9) + (int)fmax(2, 8.5); n[3] = "
        "(int)llabs(-14LL); div_t d = div(47, 10); n[4] = d.quot * 3 + d.rem;"),
    "variable_rows": (
        "refused",
        "static int total(int k, int a[k][k]) { int s = 0; for (int i = 0; i < k; i++) s += a[i][i]; return "
        "s; }",
        "int k = 3; int a[k][k]; for (int i = 0; i < k; i++) for (int j = 0; j < k; j++) a[i][j] = i * 5 + j; "
        "n[0] = total(k, a);"),
    "compound_literals": (
        "predicted",
        "struct p { int x, y; }; static int area(const struct p *p) { return p->x * p->y; }",
        "n[0] = area(&(struct p){4, 6}); int *q = (int[]){3, 12, 5}; n[1] = q[1];"),
    "table_of_structs": (
        "predicted",
        'static const struct { const char *name; int v; } table[] = {{"one", 10}, {"two", 20}, {.name = '
        '"three", .v = 30}};',
        'for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) if (strcmp(table[i].name, "two") == 0) '
        "n[0] = table[i].v; n[1] = table[2].v;"),
    "nested_lists": (
        "predicted",
        "struct in { int *p; }; struct out { int k; struct in in[2]; }; static int g = 3; static struct out o = {1, {{0}, {&g}}};",
        "struct out s = {1, {{&n[0]}, {&n[1]}}}; *s.in[0].p = 12; *s.in[1].p = 15; struct in t; t = (struct in){&n[2]}; *t.p = 17; "
        "*o.in[1].p = 19; n[3] = g;"),
    "parts_of_structs": (
        "predicted",
        "struct s { int a, b, c, d; };",
        "struct s x = {1, 2, 3, 4}, y = {5, 6, 7, 8}; int v = 30; memcpy((char *)&x + 4, &v, 4); n[0] = x.b; memcpy(&x, &y, 8); "
        "n[1] = x.b * 3 + x.c; memset(&y, 0, 12); n[2] = y.d + y.b + 9;"),
    "neighbours_in_structs": (
        "predicted",
        "struct s { int a, b, c, d; }; static int sum(const int *p) { return p[0] + 2 * p[1] + 3 * p[3]; }",
        "struct s x = {1, 2, 3, 4}; int *p = &x.a, *q = &x.d; p[2] = 33; q[-2] = 9; n[0] = x.c; n[1] = x.b; n[2] = sum(&x.a); "
        "struct s *o = (struct s *)((char *)&x.c - 8); o->d = 44; n[3] = x.d;"),
    "structs_as_numbers": (
        "predicted",
        "struct s { int a, t[3], z; };",
        "struct s x[3]; memset(x, 0, sizeof(x)); for (int i = 0; i < 15; i++) ((int *)x)[i] = i; n[0] = x[2].z; n[1] = x[1].t[2];"),
    "large_structs": (
        "predicted",
        "struct big { int " + ", ".join(f"m{i}" for i in range(90)) + "; }; static void fill(void *v) { memset(v, 3, sizeof(struct big)); }",
        "struct big x; x.m80 = 9; fill(&x); n[0] = x.m80 & 15; x.m80 = 7 * rank; MPI_Bcast(&x, sizeof(x), MPI_BYTE, 1, MPI_COMM_WORLD); "
        "n[1] = x.m80 + 20;"),
    "bytes_of_bit_fields": (
        "refused",
        "struct s { unsigned a : 4, b : 12; int c; };",
        "struct s x = {3, 40, 5}; int v = 9; memcpy((char *)&x + 4, &v, 4); n[0] = x.c;"),
    "long_double": (
        "asked",
        "",
        "long double x = 0.1L * 3; n[0] = x > 0.3L ? 10 : 20;"),
    "static_addresses": (
        "predicted",
        "static int count(void) { static int t[3] = {5, 6}; static int *p = &t[1]; (*p)++; return t[1] + t[2]; }",
        "count(); n[0] = count();"),
    "found_functions": (
        "predicted",
        "static int add(int a, int b) { return a + b; } static int mul(int a, int b) { return a * b; } static struct { const char *name; "
        "int (*f)(int, int); } ops[] = {{`add`, add}, {`mul`, mul}}; static int (*find(const char *name))(int, int) { for (unsigned i = 0; "
        "i < 2; i++) if (strcmp(ops[i].name, name) == 0) return ops[i].f; return NULL; }".replace("`", '"'),
        'n[0] = find("mul")(4, 5); n[1] = find("add")(n[0], find("mul")(2, 3));'),
}


def main():
    names = sys.argv[2:] or [name for number, name in enumerate(WAYS) if testing.SOAK or number % 4 == 0]
    bad = 0
    for name in names:
        wanted, before, body = WAYS[name]
        with tempfile.TemporaryDirectory() as work:
            source = Path(work) / "p.c"
            source.write_text(PROGRAM % (before, body), encoding="utf-8")
            what, why = Corpus(sys.argv[1], work).judge([source], ["3"], [], [])
        if what != wanted:
            bad += 1
            print(f"{name}: {what}, not {wanted}: {why.splitlines()[-1] if why else ''}")
    print(f"{len(names)} ways, {bad} not as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
