#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random C programs: what is predicted from their source must be what they do.

    tests/program/random_programs.py BUILD [--count N] [--from K] [--show K]

Program K of a seed (XYLEM_SEED) sets its variables in ways that programs have (text, memory, pointers, structs, static
state, goto, switch, messages, windows, collectives at two places) and sends messages whose lengths are those variables. Each is
predicted and run in virtual time: the matrices of messages and bytes must be the same. One that is asked about, or
refused, is no difference; they are counted. By default 6 programs; 5000 with XYLEM_SOAK.
"""
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import testing # noqa: E402
from corpus import Corpus # noqa: E402

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(e) ((int)((unsigned)(e) % 61u))
struct part { int a; char text[40]; struct part *next; int list[6]; };
struct four { int a, b, c, d; };
struct inner { int *p, list[3]; };
struct outer { int k; struct inner in[2]; };
static int total(const int *p) { return p[0] + 2 * p[1] + 3 * p[3]; }
static int rank, size;
static char data[4096], room[4096];
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->a % 7 - y->a % 7;
}
static void swap_bytes(void *a, void *b, size_t n)
{
    unsigned char *x = a, *y = b, t;
    for (size_t i = 0; i < n; i++) {
        t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}
static void insert(void *base, int n, size_t size, int (*order)(const void *, const void *))
{
    char *p = base, t[64];
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && order(p + (j - 1) * size, p + j * size) > 0; j--) {
            memcpy(t, p + j * size, size);
            memcpy(p + j * size, p + (j - 1) * size, size);
            memcpy(p + (j - 1) * size, t, size);
        }
}
static void ring(int n)
{
    MPI_Sendrecv(data, n, MPI_CHAR, (rank + 1) % size, 3, room, 4096, MPI_CHAR, (rank + size - 1) % size, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void set_by_pointer(int *to, int value) { *to = value % 1000; }
static int count_calls(int by) { static int state = 7; state = (state * 5 + by) % 997; return state; }
static int count_own(int by) { static int state = 7; state = (state * 5 + by) % 997; return state; }
static void write_text(char *to, int value) { sprintf(to, "value %d of %s", value, value % 2 ? "odd" : "even ones"); }
static int same(int v) { return v; }
static int twice(int v) { return 2 * v % 1000; }
static int (*const functions[])(int) = {same, twice};
static int (*choose(int v))(int) { return functions[v % 2 != 0]; }
"""


class Generator:
    """The text of one program. Uniform variables u0.. are the same on all ranks, local ones v0.. need not be."""

    def __init__(self, number):
        self.random = random.Random(testing.hash_of(f"{testing.SEED} {number}"))
        self.lines, self.names, self.depth = [], 0, 1
        self.uniform, self.local = ["u0", "u1", "u2"], ["v0", "v1", "v2"]

    def add(self, text):
        for line in text.strip().split("\n"):
            self.lines.append("    " * self.depth + line.strip())

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self, most=50):
        return self.random.randint(0, most)

    def value(self, is_uniform):
        """An expression; all are of small values that do not overflow."""
        names = self.uniform if is_uniform else self.uniform + self.local
        leaf = self.pick(*names, *names, str(self.number()), "size", "size" if is_uniform else "rank")
        return self.pick(leaf, leaf, f"({leaf} + {self.pick(*names)} * {self.number(4)})",
                         f"({self.pick(*names)} > {self.number()} ? {leaf} : {self.number()})",
                         f"functions[{leaf} % 2 != 0]({self.pick(*names)})")

    # ---- Ways to set a variable ----

    def set_plain(self, to, value):
        self.add(f"{to} {self.pick('=', '+=')} {value};\n{to} %= 1000;")

    def set_text(self, to, value):
        t = self.name("t")
        self.add(f"char {t}[64];")
        self.add(self.pick(f'sprintf({t}, "%d", {value});', f"write_text({t}, {value});",
                           f'snprintf({t}, {self.number(30) + 2}, "%s-%05d|%x", "word", {value}, {value});',
                           f'strcpy({t}, "some");\nif ({value} % 3 == 0)\nstrcat({t}, " more");',
                           f"memset({t}, 'x', 20);\n{t}[LENGTH({value}) % 20] = '\\0';",
                           f'strncpy({t}, "a longer piece of text", sizeof({t}));\n{t}[LENGTH({value}) % 22] = 0;'))
        self.add(f"{to} = (int)strlen({t}) + {self.pick('0', f'atoi({t})', f'(strcmp({t}, `some`) == 0)')};\n{to} %= 1000;"
                 .replace("`", '"'))

    def set_array(self, to, value):
        a, i = self.name("a"), self.name("i")
        self.add(self.pick(f"int {a}[6] = {{{self.number()}, {self.number()}}};", f"int {a}[6];\nmemset({a}, 0, sizeof({a}));",
                           f"int *{a} = calloc(6, sizeof(int));",
                           f"int *{a} = malloc(6 * sizeof(int));\nfor (int {i} = 0; {i} < 6; {i}++)\n{a}[{i}] = {i} * {self.number(9)};"))
        self.add(f"{a}[LENGTH({value}) % 6] += {value};")
        if self.number(3) == 0:
            self.add(self.pick(f"qsort({a}, 6, sizeof(int), compare);", f"insert({a}, 6, sizeof(int), compare);"))
        if self.number(1):
            b = self.name("b")
            self.add(f"int {b}[6];\nmemcpy({b}, {a}, sizeof({b}));")
            a = b
        self.add(f"{to} = {a}[{self.number(5)}] % 1000;")

    def set_struct(self, to, value):
        s = self.name("s")
        self.add(f"struct part {s} = {{.a = {self.number()}}}, *{s}p = malloc(sizeof(struct part));")
        self.add(f"{s}.next = {s}p;\n{s}p->a = {value};\n*{s}p->list = {self.number()};\nstrcpy({s}p->text, \"in a struct\");")
        self.add(self.pick(f"{to} = {s}.next->a % 1000;", f"{to} = {s}.a + (int)strlen({s}.next->text);",
                           f"struct part {s}c = *{s}.next;\n{to} = ({s}c.a + {s}c.list[0]) % 1000;"))

    def set_bytes(self, to, value):
        """Through pointers to bytes and to other types of the same memory."""
        a, p, k = self.name("a"), self.name("p"), self.number(4)
        self.add(f"int {a}[6] = {{{self.number()}, {value}, {self.number()}, 0x1020304}};")
        self.add(f"{self.pick('unsigned char', 'char', 'signed char')} *{p} = (void *){a};")
        self.add(self.pick(f"swap_bytes({a} + {k}, &{a}[{self.number(5)}], sizeof(int));", f"*(int *)(void *)({p} + {4 * k}) = {value};",
                           f"memcpy({p} + {4 * k}, &{to}, sizeof(int));", f"*(short *)((char *){a} + {4 * k}) = (short)({value});",
                           f"{p}[{4 * k + 1}] = {self.number(3)};", f"{a}[{k}] = ((unsigned short *){a})[{self.number(7)}];",
                           f"swap_bytes({a}, {p} + 8, 8);"))
        self.add(f"{to} = LENGTH(*(const int *)(const void *)((const char *){a} + {4 * k})) + {p}[{self.number(20)}] % 9 + 10;")

    def set_members(self, to, value):
        """Through pointers to members, to neighbours of them, and in lists inside of lists."""
        x, p, k = self.name("x"), self.name("p"), self.number(3)
        if self.number(2) == 0:
            self.add(f"int {p}[3] = {{{self.number()}, {value}, {self.number()}}};")
            self.add(self.pick(f"struct outer {x} = {{1, {{{{&{p}[0]}}, {{&{p}[2], {{{self.number()}}}}}}}}};",
                               f"struct outer {x};\n{x}.in[0] = (struct inner){{&{p}[1]}};\n{x}.in[1] = (struct inner){{{p}, {{1, {self.number()}}}}};"))
            self.add(f"*{x}.in[1].p += {self.number()};\n{x}.in[0].p[0] = {value} % 100;\n{to} = ({p}[0] + {p}[1] * 2 + {p}[2] + *{x}.in[0].p) % 1000;")
            return
        self.add(f"struct four {x} = {{{self.number()}, {value}, {self.number()}, 7}}, {x}o = {{1, 2, 3, {value}}};\nint *{p} = &{x}.{'abcd'[k]};")
        self.add(self.pick(f"{p}[{self.number(3) - k}] = {value} % 100;", f"memcpy((char *)&{x} + {4 * k}, &{to}, sizeof(int));", f"((int *)&{x})[{k}] = {value};",
                           f"struct four *{p}s = (struct four *)((char *){p} - {4 * k});\n{p}s->{self.pick(*'abcd')} = {value};", f"memcpy(&{x}, &{x}o, {4 + 4 * k});",
                           f"for (int i = 0; i < 4; i++)\n((int *)&{x})[i] += i * {self.number(9)};", f"memset(&{x}, 0, {4 * k});", f"*({p} + {3 - k}) = {value};"))
        self.add(f"{to} = ({x}.{self.pick(*'abcd')} + {self.pick(f'total(&{x}.a)', f'{x}.{self.pick(*chr(97) + chr(100))}')} + *{p}) % 1000;")

    def set_sorted_parts(self, to, value):
        s, f = self.name("s"), self.name("f")
        self.add(f"struct part {s}[5] = {{{{.a = LENGTH({value})}}, {{.a = {self.number()}}}, {{.a = {self.number()}}}}}, *{f};")
        self.add(f"for (int i = 0; i < 5; i++)\n{s}[i].list[1] = i;")
        self.add(self.pick(f"qsort({s}, 5, sizeof(struct part), compare_parts);", f"swap_bytes({s}, {s} + {self.number(3) + 1}, sizeof({s}[0]));"))
        self.add(self.pick(f"{to} = {s}[{self.number(4)}].list[1] * 9;",
                           f"qsort({s}, 5, sizeof(*{s}), compare_parts);\n{f} = bsearch(&{s}[{self.number(4)}], {s}, 5, sizeof(*{s}), compare_parts);\n"
                           f"{to} = {f} != NULL ? {f}->a % 7 : 8;"))

    def set_called(self, to, value):
        self.add(self.pick(f"set_by_pointer(&{to}, {value});", f"{to} = {'count_calls' if to in self.uniform else 'count_own'}({value});",
                           f"{to} = functions[LENGTH({value}) % 2]({value});", f"{to} = choose({value})({self.number()}) + {to} % 9;"))

    def set_once(self, to, value):
        """Left sides with an effect."""
        q, n = self.name("q"), self.name("n")
        self.add(f"struct part {q}[4] = {{{{.a = {self.number()}}}}};\nint {n} = 0;")
        self.add(f"{q}[{n}++] = (struct part){{.a = {value}, .text = `some`}};".replace("`", '"'))
        self.add(self.pick(f"{q}[{n}++] = {q}[0];", f"*&{q}[++{n}] = {q}[0];", f"{q}[{n}++].a = {q}[0].a++;"))
        self.add(self.pick(f"{q}[{n} - 1].list[{n}++]++;", f"{q}[{n}--].list[1] += 2;", f"{q}[0] = (struct part){{.list = {{{n}++, 4}}}};"))
        self.add(f"{to} = ({q}[1].a + {q}[0].list[{self.number(3)}] + {q}[1].list[2] + {n} * 7) % 1000;")

    def set_unrolled(self, to, value):
        """A switch into a loop."""
        i = self.name("i")
        self.add(f"int {i} = {self.number(3)};\nswitch ({value} % 3) {{\ncase 0:\ndo {{\n{to} += 3;\n{self.pick('case 2:', 'default:')}\n"
                 f"{to} = {to} * 2 % 1000;\ncase 1:\n{to} += 1;\n}} while ({i}-- > 0);\n}}\n{to} %= 1000;")

    def set_switch(self, to, value):
        self.add(f"switch ({value} % 4) {{\ncase 0:\n{to} += 3;\ncase 1:\n{to} += 5;\nbreak;\ncase 2:\n"
                 f"{to} = {self.number()};\ndefault:\n{to} ^= 1;\n}}\n{to} %= 1000;")

    def set_goto(self, to, value):
        label, i = self.name("label"), self.name("i")
        if self.number(1):
            self.add(f"for (int {i} = 0; {i} < 9; {i}++) {{\n{to} = ({to} + {i}) % 1000;\n"
                     f"{self.pick('ring(LENGTH(u0));', '{}') if to in self.uniform else '{}'}\nif ({i} == {value} % 9)\n"
                     f"goto {label};\n}}\n{self.pick('', f'{to} += 3;')}\n{label}:\n{to} += 2;")
            return
        self.add(f"if ({value} > {self.number()})\ngoto {label};\n{to} = {value} % 1000;\nif ({to} % 2)\ngoto {label};\n"
                 f"{to} += 2;\n{label}:\n{to} += 1;")

    def set_loop(self, to, value):
        i = self.name("i")
        self.add(f"for (int {i} = 0; {i} < {value} % 9; {i}++) {{\nif ({i} == {self.number(8)})\n{self.pick('break', 'continue')};\n"
                 f"{to} = ({to} + {i} * {self.number(5)}) % 1000;\n}}")

    # ---- Values that come from other ranks ----

    def set_bcast(self, to, value):
        root = self.number(3)
        self.add(self.pick(f"if (rank == {root} % size)\n{to} = {value} % 1000;\nMPI_Bcast(&{to}, 1, MPI_INT, {root} % size, MPI_COMM_WORLD);",
                           f"if (rank == {root} % size) {{\n{to} = {value} % 1000;\nMPI_Bcast(&{to}, 1, MPI_INT, {root} % size, MPI_COMM_WORLD);\n}} else {{\n"
                           f"MPI_Bcast(&{to}, 1, MPI_INT, {root} % size, MPI_COMM_WORLD);\n}}"))

    def set_reduced(self, to, value):
        x = self.name("x")
        op = self.pick("MPI_SUM", "MPI_MAX", "MPI_MIN")
        self.add(f"int {x} = {value} % 1000;")
        self.add(self.pick(f"MPI_Allreduce(&{x}, &{to}, 1, MPI_INT, {op}, MPI_COMM_WORLD);",
                           f"MPI_Allreduce(MPI_IN_PLACE, &{x}, 1, MPI_INT, {op}, MPI_COMM_WORLD);\n{to} = {x};",
                           f"if (rank == 0)\nMPI_Reduce(&{x}, &{to}, 1, MPI_INT, {op}, 0, MPI_COMM_WORLD);\nelse\n"
                           f"MPI_Reduce(&{x}, NULL, 1, MPI_INT, {op}, 0, MPI_COMM_WORLD);\nMPI_Bcast(&{to}, 1, MPI_INT, 0, MPI_COMM_WORLD);"))
        self.add(f"{to} %= 1000;")

    def set_received(self, to, value):
        x = self.name("x")
        self.add(f"int {x} = {value} % 1000;")
        self.add(self.pick(f"MPI_Sendrecv(&{x}, 1, MPI_INT, (rank + 1) % size, 9, &{to}, 1, MPI_INT, (rank + size - 1) % size, 9, "
                           "MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                           f"MPI_Request {x}r[2];\nMPI_Irecv(&{to}, 1, MPI_INT, (rank + size - 1) % size, 8, MPI_COMM_WORLD, &{x}r[0]);\n"
                           f"MPI_Isend(&{x}, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, &{x}r[1]);\nMPI_Waitall(2, {x}r, MPI_STATUSES_IGNORE);",
                           f"int {x}all[64];\nMPI_Allgather(&{x}, 1, MPI_INT, {x}all, 1, MPI_INT, MPI_COMM_WORLD);\n"
                           f"{to} = {x}all[(rank + {self.number(3)}) % size];",
                           f"MPI_Scan(&{x}, &{to}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n{to} %= 1000;"))

    def set_packed(self, to, value):
        x = self.name("x")
        self.add(f"int {x} = {value} % 1000, {x}n = 0;\nshort {x}more[3] = {{1, 2, {self.number()}}};\nchar {x}p[{self.pick(32, 64)}];")
        self.add(f"if (rank == 0) {{\nMPI_Pack({x}more, 3, MPI_SHORT, {x}p, sizeof({x}p), &{x}n, MPI_COMM_WORLD);\n"
                 f"MPI_Pack(&{x}, 1, MPI_INT, {x}p, sizeof({x}p), &{x}n, MPI_COMM_WORLD);\n}}")
        self.add(self.pick(f"MPI_Bcast({x}p, sizeof({x}p), MPI_PACKED, 0, MPI_COMM_WORLD);",
                           f"MPI_Bcast(&{x}n, 1, MPI_INT, 0, MPI_COMM_WORLD);\nMPI_Bcast({x}p, {x}n, MPI_PACKED, 0, MPI_COMM_WORLD);",
                           f"if (rank == 0) {{\nfor (int i = 1; i < size; i++)\nMPI_Send({x}p, {x}n, MPI_PACKED, i, 14, MPI_COMM_WORLD);\n}} else {{\n"
                           f"MPI_Recv({x}p, sizeof({x}p), MPI_PACKED, 0, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n}}"))
        self.add(f"{x}n = 0;\nMPI_Unpack({x}p, sizeof({x}p), &{x}n, {x}more, 3, MPI_SHORT, MPI_COMM_WORLD);\n"
                 f"MPI_Unpack({x}p, sizeof({x}p), &{x}n, &{to}, 1, MPI_INT, MPI_COMM_WORLD);\n{to} = ({to} + {x}more[{self.number(2)}]) % 1000;")

    def set_probed(self, to, value):
        """By the handle of a message, whose length or contents are the value."""
        x = self.name("x")
        self.add(f"int {x} = {value} % 1000, {x}n = 0;\nMPI_Message {x}m;\nMPI_Request {x}r;\nMPI_Status {x}s;")
        self.add(self.pick(f"MPI_Isend(data, LENGTH({x}), MPI_CHAR, (rank + 1) % size, 15, MPI_COMM_WORLD, &{x}r);",
                           f"MPI_Isend(data, LENGTH({x}), MPI_CHAR, (rank + 1) % size, {self.number(9) + 20}, MPI_COMM_WORLD, &{x}r);"))
        self.add(self.pick(f"MPI_Mprobe((rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, &{x}m, &{x}s);",
                           f"while (!{x}n)\nMPI_Improbe((rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, &{x}n, &{x}m, &{x}s);"))
        self.add(f"MPI_Get_count(&{x}s, MPI_CHAR, &{x}n);")
        self.add(self.pick(f"MPI_Mrecv(room, {x}n, MPI_CHAR, &{x}m, &{x}s);",
                           f"MPI_Request {x}q;\nMPI_Imrecv(room, {x}n, MPI_CHAR, &{x}m, &{x}q);\nMPI_Wait(&{x}q, &{x}s);"))
        self.add(f"MPI_Wait(&{x}r, MPI_STATUS_IGNORE);\n{to} = {x}n + {self.pick('0', f'{x}s.MPI_TAG')};")

    def topology(self):
        """The lines that make a communicator, its name and its number of neighbours."""
        c = self.name("c")
        if self.number(1):
            periods = f"{{{self.number(1)}, {self.number(1)}}}"
            self.add(f"int {c}d[2] = {{0, 0}}, {c}p[2] = {periods};\nMPI_Comm {c};\nMPI_Dims_create(size, 2, {c}d);\n"
                     f"MPI_Cart_create(MPI_COMM_WORLD, 2, {c}d, {c}p, 0, &{c});")
            return c, 4
        far = self.number(3) + 1
        self.add(f"int {c}from[2] = {{(rank + size - 1) % size, (rank + {far}) % size}};\n"
                 f"int {c}to[2] = {{(rank + 1) % size, (rank + {far} * (size - 1)) % size}};\nMPI_Comm {c};\n"
                 f"MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, {c}from, MPI_UNWEIGHTED, 2, {c}to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &{c});")
        return c, 2

    def set_neighbor(self, to, value):
        x = self.name("x")
        c, n = self.topology()
        self.add(f"int {x}[{n}] = {{{value} % 1000, {self.number()}}}, {x}in[{n}] = {{{', '.join(str(self.number()) for _ in range(n))}}};")
        call = self.pick(f"eighbor_allgather({x}, 1, MPI_INT, {x}in, 1, MPI_INT, {c}", f"eighbor_alltoall({x}, 1, MPI_INT, {x}in, 1, MPI_INT, {c}")
        self.add(self.pick(f"MPI_N{call});", f"MPI_Request {x}r;\nMPI_In{call}, &{x}r);\nMPI_Wait(&{x}r, MPI_STATUS_IGNORE);"))
        self.add(f"{to} = ({x}in[{self.number(n - 1)}] + {x}in[0]) % 1000;\nMPI_Comm_free(&{c});")

    # ---- Windows ----

    def window(self, x, value):
        """The lines that make a window of six known numbers `{x}m` on each rank; the displacement of one in it."""
        unit = self.pick(1, 2, 4)
        made = f"MPI_Win {x}w;\n", f"24, {unit}, MPI_INFO_NULL, MPI_COMM_WORLD, "
        fill = f"for (int i = 0; i < 6; i++)\n{x}m[i] = ({value} + {self.number(9)} * i) % 1000;"
        create = f"MPI_Win_create({x}m, {made[1]}&{x}w);"
        self.add(made[0] + self.pick(
            f"int {x}m[6];\n{fill}\n{create}",
            f"int {x}m[6] = {{{value} % 1000, 1, 2, {self.number()}}};\n{create}",
            f"static int {x}m[6];\n{create}\n{fill}",
            f"int *{x}m;\nMPI_Win_allocate({made[1]}&{x}m, &{x}w);\n{fill}",
            f"void *{x}v;\nMPI_Win_allocate({made[1]}&{x}v, &{x}w);\nint *{x}m = {x}v, {x}c[6] = {{{value} % 1000, rank}};\n"
            f"memcpy({x}v, {x}c, sizeof({x}c));",
            f"int *{x}m;\nMPI_Alloc_mem(24, MPI_INFO_NULL, &{x}m);\n{create}\n{fill}",
            f"struct part {x}p = {{.a = 1}};\nint *{x}m = {x}p.list;\n{x}m[1] = {value} % 1000;\n{create}",
            f"struct {{ MPI_Win w; int *m; }} {x}s;\n{x}s.m = calloc(6, sizeof(int));\nset_by_pointer(&{x}s.m[1], {value});\n"
            f"MPI_Win_create({x}s.m, {made[1]}&{x}s.w);\n{x}w = {x}s.w;\nint *{x}m = {x}s.m;"))
        return 4 // unit

    def operation(self, x, unit, has_request):
        """An operation on the right neighbour, one that may stand with others in one epoch."""
        to, r = f"MPI_INT, (rank + 1) % size, {unit} * ", "R" if has_request else ""
        one, end = "1, MPI_INT", f", {x}w{f', &{x}r' if has_request else ''})"
        end += f";\nMPI_Wait(&{x}r, MPI_STATUS_IGNORE);" if has_request else ";"
        op = self.pick("MPI_SUM", "MPI_MAX", "MPI_REPLACE", "MPI_BXOR")
        self.add(self.pick(
            f"MPI_{r or ''}{'put' if r else 'Put'}(&{x}, 1, {to}2, {one}{end}",
            f"MPI_{r or ''}{'get' if r else 'Get'}(&{x}got, 1, {to}1, {one}{end}",
            f"MPI_{r or ''}{'accumulate' if r else 'Accumulate'}(&{x}, 1, {to}3, {one}, {op}{end}",
            f"MPI_{r or ''}{'get' if r else 'Get'}_accumulate(&{x}, 1, MPI_INT, &{x}got, 1, {to}4, {one}, {op}{end}",
            f"MPI_Fetch_and_op(&{x}, &{x}got, {to}5, {op}, {x}w);",
            f"MPI_Compare_and_swap(&{x}, &{x}none, &{x}got, {to}5, {x}w);"))

    def epoch(self, x, unit):
        kind = self.pick("fence", "lock", "all", "groups")
        before, after = {
            "fence": (f"MPI_Win_fence(0, {x}w);", f"MPI_Win_fence(0, {x}w);"),
            "lock": (f"MPI_Barrier(MPI_COMM_WORLD);\nMPI_Win_lock({self.pick('MPI_LOCK_SHARED', 'MPI_LOCK_EXCLUSIVE')}, (rank + 1) % size, 0, "
                     f"{x}w);", f"MPI_Win_unlock((rank + 1) % size, {x}w);\nMPI_Barrier(MPI_COMM_WORLD);"),
            "all": (f"MPI_Barrier(MPI_COMM_WORLD);\nMPI_Win_lock_all(0, {x}w);",
                    f"{self.pick('', f'MPI_Win_flush_all({x}w);', f'MPI_Win_flush((rank + 1) % size, {x}w);')}\nMPI_Win_unlock_all({x}w);\n"
                    "MPI_Barrier(MPI_COMM_WORLD);"),
            "groups": (f"MPI_Win_post({x}left, 0, {x}w);\nMPI_Win_start({x}right, 0, {x}w);",
                       f"MPI_Win_complete({x}w);\nMPI_Win_wait({x}w);")}[kind]
        if kind == "groups":
            self.add(f"MPI_Group {x}all, {x}left, {x}right;\nint {x}l = (rank + size - 1) % size, {x}t = (rank + 1) % size;\n"
                     f"MPI_Comm_group(MPI_COMM_WORLD, &{x}all);\nMPI_Group_incl({x}all, 1, &{x}l, &{x}left);\n"
                     f"MPI_Group_incl({x}all, 1, &{x}t, &{x}right);")
        times = self.number(2)
        if times > 0:
            self.add(f"for (int i = 0; i < {times}; i++) {{")
        self.add(before)
        self.operation(x, unit, kind in ("lock", "all") and self.number(1) == 0)
        self.add(after)
        if times > 0:
            self.add(f"{x} = ({x}m[{self.number(5)}] + i) % 1000;\n}}")

    def set_window(self, to, value):
        """From the memory of a window, or fetched from that of the neighbour."""
        x = self.name("x")
        unit = self.window(x, value)
        self.add(f"int {x} = {self.value(False)} % 1000, {x}got = {self.number()}, {x}none = {self.pick(0, 1, 2)};\nMPI_Request {x}r;\n(void){x}none, (void){x}r;")
        for _ in range(1 + self.number(1)):
            self.add("{")
            self.epoch(x, unit)
            self.add("}")
        self.add(f"{to} = ({x}got + {x}m[{self.number(5)}]{self.pick('', f' * 3 + {x}m[2]')}) % 1000;\nMPI_Win_free(&{x}w);")

    def put(self):
        """Bytes in windows that nothing depends on."""
        x, v = self.name("x"), self.value(False)
        self.add(f"MPI_Win {x};\nMPI_Win_create(room, sizeof(room), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &{x});\nMPI_Win_fence(0, {x});\n"
                 f"MPI_{self.pick('Put', 'Get')}(data, LENGTH({v}), MPI_CHAR, (rank + {self.number(3)}) % size, LENGTH({v}), LENGTH({v}), MPI_CHAR, {x});\n"
                 f"MPI_Win_fence(0, {x});\nMPI_Win_free(&{x});")

    # ---- Communication ----

    def send(self):
        u, v = self.value(True), self.value(False)
        self.add(self.pick(f"ring(LENGTH({v}));", f"MPI_Bcast(data, LENGTH({u}), MPI_CHAR, {self.number(9)} % size, MPI_COMM_WORLD);",
                           f"MPI_Allreduce(data, room, LENGTH({u}), MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);",
                           f"if ({u} % 2)\nMPI_Barrier(MPI_COMM_WORLD);\nelse\nring(LENGTH({v}));",
                           f"if (rank == 0) {{\nfor (int i = 1; i < size; i++)\nMPI_Send(data, LENGTH({u} + i), MPI_CHAR, i, 4, MPI_COMM_WORLD);\n}} "
                           "else\nMPI_Recv(room, 4096, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                           f"for (int i = 0; i < {u} % 4; i++)\nring(LENGTH({v} + i));"))

    def send_to_neighbors(self):
        """Blocks of different lengths: the one that a neighbour sends is as long as the one that it is sent."""
        x, v, one = self.name("x"), self.value(True), self.pick(0, 1)
        c, n = self.topology()
        self.add(f"int {x}[{n}] = {{{', '.join([f'LENGTH({v})'] * n)}}}, {x}at[{n}] = {{{', '.join(str(60 * i) for i in range(n))}}};")
        call = self.pick(f"eighbor_alltoallv(data, {x}, {x}at, MPI_CHAR, room, {x}, {x}at, MPI_CHAR, {c}",
                         f"eighbor_allgatherv(data, {x}[0], MPI_CHAR, room, {x}, {x}at, MPI_CHAR, {c}",
                         f"eighbor_allgather(data, LENGTH({v}), MPI_CHAR, room, LENGTH({v}), MPI_CHAR, {c}")
        self.add(f"MPI_N{call});" if one else f"MPI_Request {x}r[2];\nint {x}which;\nMPI_In{call}, &{x}r[0]);\n"
                 f"MPI_Ibarrier({c}, &{x}r[1]);\nMPI_Waitany(2, {x}r, &{x}which, MPI_STATUS_IGNORE);\nMPI_Wait(&{x}r[1 - {x}which], MPI_STATUS_IGNORE);")
        self.add(f"MPI_Comm_free(&{c});")

    def step(self):
        is_uniform = self.number(1) == 1
        to = self.pick(*(self.uniform if is_uniform else self.local))
        own = [self.set_plain, self.set_text, self.set_array, self.set_struct, self.set_called, self.set_switch, self.set_goto,
               self.set_loop, self.set_bytes, self.set_sorted_parts, self.set_members, self.set_once, self.set_unrolled]
        if self.number(2) > 0:
            # A value that is the same everywhere stays so where all do the same with it.
            self.pick(*own)(to, self.value(is_uniform))
        elif is_uniform:
            self.pick(self.set_bcast, self.set_reduced, self.set_packed)(to, self.value(False))
        else:
            self.pick(self.set_received, self.set_received, self.set_probed, self.set_neighbor, self.set_window)(to, self.value(False))

    def program(self):
        for i, name in enumerate(self.uniform + self.local):
            self.add(f"int {name} = {self.number()}{' + rank' if i >= 3 else ''};")
        for _ in range(4 + self.number(10)):
            self.add("{")
            self.depth += 1
            self.step()
            self.depth -= 1
            self.add("}")
            if self.number(1):
                self.send()
            elif self.number(5) == 0:
                self.pick(self.send_to_neighbors, self.put)()
        self.add("ring(LENGTH(u0 + u1 + u2));\nring(LENGTH(v0 + v1 + v2));")
        body = "\n".join(self.lines)
        return (f"{HEAD}int main(int argc, char **argv)\n{{\n    MPI_Init(&argc, &argv);\n    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                f"    MPI_Comm_size(MPI_COMM_WORLD, &size);\n{body}\n    MPI_Finalize();\n    return 0;\n}}\n")


def main():
    words = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    if "--show" in words:
        print(Generator(int(words["--show"])).program())
        return 0
    first, count = int(words.get("--from", 0)), int(words.get("--count", 5000 if testing.SOAK else 6))
    counts, failed = {}, 0
    testing.seed()
    for k in range(first, first + count):
        with tempfile.TemporaryDirectory() as work:
            source = Path(work) / "p.c"
            source.write_text(Generator(k).program(), encoding="utf-8")
            what, why = Corpus(sys.argv[1], work).judge([source], ["3" if k % 2 else "4"], [], [])
        counts[what] = counts.get(what, 0) + 1
        if what in ("wrong", "left out"):
            failed += 1
        if what != "predicted":
            print(f"program {k}: {what}: {why.splitlines()[-1] if why else ''}")
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    return 1 if failed or not counts.get("predicted") else 0


if __name__ == "__main__":
    sys.exit(main())
