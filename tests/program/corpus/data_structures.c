/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors, queues, matrices, bits, balanced trees, dynamic programming, search and a parser. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static char b[1024];
static void say(long v)
{
    MPI_Bcast(b, (int)((v % 700 + 700) % 700), MPI_CHAR, 0, MPI_COMM_WORLD);
}
typedef struct vec {
    int *at;
    size_t n, cap;
} vec;
static void vec_push(vec *v, int x)
{
    if (v->n == v->cap) {
        v->cap = v->cap ? v->cap * 2 : 2;
        v->at = realloc(v->at, v->cap * sizeof *v->at);
    }
    v->at[v->n++] = x;
}
static int vec_pop(vec *v)
{
    return v->n ? v->at[--v->n] : -1;
}
typedef struct q {
    struct cell {
        int v;
        struct cell *next;
    } * head, **tail;
    int len;
} queue;
static void q_init(queue *q)
{
    q->head = NULL;
    q->tail = &q->head;
    q->len = 0;
}
static void q_put(queue *q, int v)
{
    struct cell *c = malloc(sizeof *c);
    c->v = v;
    c->next = NULL;
    *q->tail = c;
    q->tail = &c->next;
    q->len++;
}
static int q_get(queue *q)
{
    struct cell *c = q->head;
    int v;
    if (!c)
        return -1;
    v = c->v;
    q->head = c->next;
    if (!q->head)
        q->tail = &q->head;
    free(c);
    q->len--;
    return v;
}
typedef struct {
    int rows, cols;
    int *e;
} mat;
static mat mat_new(int r, int c)
{
    mat m = {r, c, calloc((size_t)r * c, sizeof(int))};
    return m;
}
#define M(m, i, j) ((m).e[(i) * (m).cols + (j)])
static mat mul(mat a, mat c)
{
    mat r = mat_new(a.rows, c.cols);
    for (int i = 0; i < a.rows; i++)
        for (int j = 0; j < c.cols; j++)
            for (int k = 0; k < a.cols; k++)
                M(r, i, j) += M(a, i, k) * M(c, k, j);
    return r;
}
static unsigned long bits[4];
static void bit_set(unsigned i)
{
    bits[i / 64] |= 1UL << i % 64;
}
static int bit_get(unsigned i)
{
    return bits[i >> 6] >> (i & 63) & 1;
}
static int popcount(unsigned long x)
{
    int c = 0;
    while (x) {
        x &= x - 1;
        c++;
    }
    return c;
}
struct node {
    int key, height;
    struct node *left, *right;
};
static int height(const struct node *n)
{
    return n ? n->height : 0;
}
static struct node *rotate(struct node *n, int right)
{
    struct node *r;
    if (right) {
        r = n->left;
        n->left = r->right;
        r->right = n;
    } else {
        r = n->right;
        n->right = r->left;
        r->left = n;
    }
    n->height = 1 + (height(n->left) > height(n->right) ? height(n->left) : height(n->right));
    r->height = 1 + (height(r->left) > height(r->right) ? height(r->left) : height(r->right));
    return r;
}
static struct node *insert(struct node *n, int key)
{
    if (!n) {
        n = calloc(1, sizeof *n);
        n->key = key;
        n->height = 1;
        return n;
    }
    if (key < n->key)
        n->left = insert(n->left, key);
    else
        n->right = insert(n->right, key);
    n->height = 1 + (height(n->left) > height(n->right) ? height(n->left) : height(n->right));
    int bal = height(n->left) - height(n->right);
    if (bal > 1) {
        if (key > n->left->key)
            n->left = rotate(n->left, 0);
        return rotate(n, 1);
    }
    if (bal < -1) {
        if (key < n->right->key)
            n->right = rotate(n->right, 1);
        return rotate(n, 0);
    }
    return n;
}
static int lcs(const char *a, const char *c)
{
    static int t[20][20];
    size_t n = strlen(a), m = strlen(c);
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++)
            t[i][j] = a[i - 1] == c[j - 1]        ? t[i - 1][j - 1] + 1
                      : t[i - 1][j] > t[i][j - 1] ? t[i - 1][j]
                                                  : t[i][j - 1];
    return t[n][m];
}
static void permute(int *a, int n, int at, int *count)
{
    if (at == n) {
        *count += a[0] < a[n - 1];
        return;
    }
    for (int i = at; i < n; i++) {
        int t = a[at];
        a[at] = a[i];
        a[i] = t;
        permute(a, n, at + 1, count);
        t = a[at];
        a[at] = a[i];
        a[i] = t;
    }
}
static int queens(int n, int row, unsigned c, unsigned d1, unsigned d2)
{
    int s = 0;
    if (row == n)
        return 1;
    for (int i = 0; i < n; i++) {
        unsigned x = 1u << i, y = 1u << (row + i), z = 1u << (row - i + n);
        if (c & x || d1 & y || d2 & z)
            continue;
        s += queens(n, row + 1, c | x, d1 | y, d2 | z);
    }
    return s;
}
static int eval(const char **p);
static int atom(const char **p)
{
    int v = 0;
    if (**p == '(') {
        ++*p;
        v = eval(p);
        ++*p;
        return v;
    }
    while (**p >= '0' && **p <= '9')
        v = v * 10 + *(*p)++ - '0';
    return v;
}
static int term(const char **p)
{
    int v = atom(p);
    while (**p == '*' || **p == '/')
        if (*(*p)++ == '*')
            v *= atom(p);
        else
            v /= atom(p);
    return v;
}
static int eval(const char **p)
{
    int v = term(p);
    for (;;)
        switch (**p) {
        case '+':
            ++*p;
            v += term(p);
            break;
        case '-':
            ++*p;
            v -= term(p);
            break;
        default:
            return v;
        }
}
int main(int argc, char **argv)
{
    vec v = {0};
    queue q;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 11; i++)
        vec_push(&v, i * i);
    say(vec_pop(&v)), vec_pop(&v), say(v.n * 10 + v.cap), say(v.at[v.n - 1]);
    q_init(&q);
    for (int i = 1; i < 6; i++)
        q_put(&q, i * 3);
    say(q_get(&q) + q_get(&q) * 10), say(q.len);
while_empty:
    if (q.len) {
        q_get(&q);
        goto while_empty;
    }
    say(q_get(&q) + 2), q_put(&q, 8), say(q.head->v);
    mat a = mat_new(2, 3), c = mat_new(3, 2);
    for (int i = 0; i < 6; i++)
        a.e[i] = i, c.e[i] = 6 - i;
    mat m = mul(a, c);
    say(M(m, 0, 0)), say(M(m, 1, 1)), say(M(mul(m, m), 1, 0));
    for (unsigned i = 0; i < 200; i += 7)
        bit_set(i);
    say(bit_get(14) * 2 + bit_get(15)), say(popcount(bits[1]) + popcount(bits[3]) * 10);
    struct node *t = NULL;
    for (int i = 0; i < 20; i++)
        t = insert(t, i * 7 % 23);
    say(t->key), say(t->height), say(t->left->key + t->right->right->key);
    say(lcs("nematode knowledge", "empty bottle"));
    int p[5] = {5, 1, 4, 2, 3}, n = 0;
    permute(p, 5, 0, &n);
    say(n), say(queens(6, 0, 0, 0, 0));
    const char *e = "2*(3+4)-10/(1+4)*3+(7)";
    say(eval(&e)), say(*e);
    MPI_Finalize();
    return 0;
}
