/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/machine_layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A picture of more boxes than this is no picture any more. */
enum { BOXES_MAX = 700 };

static const double letter = 6.3, aspect = 1.7;

typedef struct {
    const xy_machine_t *m;
    const uint32_t *classes;
    uint32_t fold;   /* a run longer than this is one box */
    uint32_t levels; /* objects on this level and below are left out */
    xy_vec_t *boxes;
} layout_t;

static layout_box_t *box(const layout_t *l, uint32_t i)
{
    return &XY_VEC_AT(l->boxes, layout_box_t, i);
}

/* ---- How much would be drawn ---- */

/* Returns the number of boxes below an object when runs above the fold are one box; stops at about
 * a million. */
static uint64_t count_boxes(const layout_t *l, xy_obj_t o)
{
    const xy_machine_t *m = l->m;
    xy_obj_t end = m->first_child[o] + m->child_count[o];
    uint64_t total = 1;

    if (m->level[o] + 1u >= l->levels)
        return 1;
    for (xy_obj_t c = m->first_child[o]; c < end && total < 1000000;) {
        uint32_t run = machine_fold_run(m, l->classes, c);

        total += count_boxes(l, c) * (run > l->fold ? 1 : run);
        c += run;
    }
    return total;
}

/* Fold more and more; when all that is equal is folded, leave out the deepest levels. */
static void choose(layout_t *l)
{
    l->levels = l->m->depth;
    for (l->fold = 1024; l->fold > 1 && count_boxes(l, 0) > BOXES_MAX; l->fold /= 2)
        ;
    while (l->levels > 2 && count_boxes(l, 0) > 4 * BOXES_MAX)
        l->levels--;
}

/* ---- Labels ---- */

static void label_link(layout_box_t *b, const char *before, xy_link_t link)
{
    size_t used = strlen(b->note);
    char text[32];

    if (link.latency > 0 && used < sizeof(b->note))
        used +=
            (size_t)snprintf(b->note + used, sizeof(b->note) - used, "%s%s%s", used > 0 ? ", " : "",
                             before, xy_format_seconds(link.latency, text));
    if (link.bandwidth > 0 && used < sizeof(b->note))
        snprintf(b->note + used, sizeof(b->note) - used, "%s%s%s", used > 0 ? ", " : "",
                 link.latency > 0 ? "" : before, xy_format_bandwidth(link.bandwidth, text));
}

/* Sets label and note of an object's box. */
static void label_object(const layout_t *l, layout_box_t *b)
{
    const xy_machine_t *m = l->m;
    xy_obj_t o = b->object;
    const char *name = o == 0 ? m->name : xy_machine_object_name(m, o);
    char number[16] = "", size[32] = "", text[32], below[40] = "";

    if (b->is_single && b->run == 1 && m->type[o] > XY_OBJ_SWITCH && name[0] == '\0' &&
        machine_type_is_numbered(m->type[o]))
        snprintf(number, sizeof(number), " %u", m->physical[o]);
    if (m->bytes[o] > 0)
        snprintf(size, sizeof(size), " %s", xy_format_size(m->bytes[o], text));
    if (m->level[o] + 1u >= l->levels && m->child_count[o] > 0)
        snprintf(below, sizeof(below), " (%u %ss)", m->leaf_count[o],
                 xy_obj_type_title(m->type[m->leaf[m->first_leaf[o]]]));
    snprintf(b->label, sizeof(b->label), "%s%s%.32s%s%s%s", xy_obj_type_title(m->type[o]),
             name[0] != '\0' ? " " : "", name, number, size, below);
    if (m->child_count[o] > 0)
        label_link(b, "link ", xy_machine_link(m, o));
}

/* Sets label and note of a GPU's box. */
static void label_gpu(const layout_t *l, layout_box_t *b)
{
    const xy_gpu_t *gpu = &l->m->gpus[b->gpu];
    const char *name = l->m->names[gpu->name];
    char text[32], size[40] = "";

    if (gpu->memory > 0)
        snprintf(size, sizeof(size), " %s", xy_format_size(gpu->memory, text));
    if (name[0] != '\0')
        snprintf(b->label, sizeof(b->label), "GPU %.32s%s", name, size);
    else
        snprintf(b->label, sizeof(b->label), "GPU %u%s", gpu->physical, size);
    label_link(b, "in ", gpu->in);
    label_link(b, "out ", gpu->out);
}

/* ---- Sizes ---- */

static double head_width(const layout_box_t *b)
{
    size_t letters = strlen(b->label) + (b->note[0] != '\0' ? strlen(b->note) + 2 : 0);
    char count[16];

    if (b->run > 1)
        letters += (size_t)snprintf(count, sizeof(count), "  x %u", b->run);
    return (double)letters * letter + 2 * LAYOUT_PAD;
}

static bool are_equal(const layout_t *l, const layout_box_t *b, uint32_t *count_p)
{
    const layout_box_t *first = box(l, b->first);
    bool equal = true;

    *count_p = 0;
    for (uint32_t i = b->first; i != 0; i = box(l, i)->next, ++*count_p)
        equal &= fabs(box(l, i)->h - first->h) < 0.5 && fabs(box(l, i)->w - first->w) < 14;
    return equal;
}

/* The number of columns that comes nearest to the wanted aspect, without a ragged last row if
 * possible. */
static uint32_t choose_columns(double w, double h, uint32_t count)
{
    double best = INFINITY;
    uint32_t columns = 1;

    for (uint32_t c = 1; c <= count; c++) {
        uint32_t rows = (count + c - 1) / c;
        double shape = ((double)c * w) / ((double)rows * h);
        double score = fabs(log(shape / aspect)) + 5.0 * (double)(rows * c - count) / count;

        if (score < best) {
            best = score;
            columns = c;
        }
    }
    return columns;
}

/* Places equal children in a grid and sets the size of the box. */
static void place_grid(const layout_t *l, layout_box_t *b, uint32_t count)
{
    double w = 0, h = box(l, b->first)->h;
    uint32_t k = 0, rows;

    for (uint32_t i = b->first; i != 0; i = box(l, i)->next)
        w = fmax(w, box(l, i)->w);
    b->columns = choose_columns(w + LAYOUT_GAP, h + LAYOUT_GAP, count);
    rows = (count + b->columns - 1) / b->columns;
    for (uint32_t i = b->first; i != 0; i = box(l, i)->next, k++) {
        uint32_t row = k / b->columns;

        box(l, i)->w = w;
        box(l, i)->x = LAYOUT_PAD + (k % b->columns) * (w + LAYOUT_GAP);
        box(l, i)->y = LAYOUT_HEAD + row * (h + LAYOUT_GAP);
    }
    b->w = fmax(b->w, 2 * LAYOUT_PAD + b->columns * (w + LAYOUT_GAP) - LAYOUT_GAP);
    b->h = LAYOUT_HEAD + rows * (h + LAYOUT_GAP) - LAYOUT_GAP + LAYOUT_PAD;
}

/* Boxes of different sizes: rows, left to right, of about the wanted width. */
static void place_rows(const layout_t *l, layout_box_t *b)
{
    double area = 0, widest = 0, x = LAYOUT_PAD, y = LAYOUT_HEAD, row = 0, limit;

    for (uint32_t i = b->first; i != 0; i = box(l, i)->next) {
        area += (box(l, i)->w + LAYOUT_GAP) * (box(l, i)->h + LAYOUT_GAP);
        widest = fmax(widest, box(l, i)->w);
    }
    limit = fmax(widest, sqrt(area * aspect)) + 2 * LAYOUT_PAD;
    for (uint32_t i = b->first; i != 0; i = box(l, i)->next) {
        layout_box_t *c = box(l, i);

        if (x > LAYOUT_PAD && x + c->w + LAYOUT_PAD > limit) {
            x = LAYOUT_PAD;
            y += row + LAYOUT_GAP;
            row = 0;
        }
        c->x = x;
        c->y = y;
        x += c->w + LAYOUT_GAP;
        row = fmax(row, c->h);
        b->w = fmax(b->w, x - LAYOUT_GAP + LAYOUT_PAD);
    }
    b->h = y + row + LAYOUT_PAD;
}

/* A folded box draws two more edges behind itself, inside its own place. */
static double stack(const layout_box_t *b)
{
    return b->run > 1 ? 2 * LAYOUT_STACK : 0;
}

/* Sets the size of a box from its label and children, which have theirs. */
static void size_box(const layout_t *l, uint32_t i)
{
    layout_box_t *b = box(l, i);
    uint32_t count;

    b->w = head_width(b);
    b->h = LAYOUT_HEAD + 5;
    if (b->first != 0 && are_equal(l, b, &count))
        place_grid(l, b, count);
    else if (b->first != 0)
        place_rows(l, b);
    b->w += stack(b);
    b->h += stack(b);
}

/* Share what a box has in width beyond its contents among the columns of its grid. */
static void stretch(const layout_t *l, uint32_t i, double width)
{
    layout_box_t *b = box(l, i);
    double w;
    uint32_t k = 0;

    b->w = width;
    if (b->columns == 0) {
        for (uint32_t c = b->first; c != 0; c = box(l, c)->next)
            stretch(l, c, box(l, c)->w);
        return;
    }
    w = (width - stack(b) - 2 * LAYOUT_PAD + LAYOUT_GAP) / b->columns - LAYOUT_GAP;
    for (uint32_t c = b->first; c != 0; c = box(l, c)->next, k++) {
        box(l, c)->x = LAYOUT_PAD + (k % b->columns) * (w + LAYOUT_GAP);
        stretch(l, c, w);
    }
}

/* ---- The tree of boxes. Indices, because the vector moves while it grows. ---- */

static xy_status_t add(const layout_t *l, const layout_box_t *b, uint32_t parent, uint32_t *last,
                       uint32_t *index_p)
{
    if (xy_vec_append(l->boxes, b) != XY_OK)
        return XY_ENOMEM;
    *index_p = (uint32_t)(l->boxes->count - 1);
    if (*last != 0)
        box(l, *last)->next = *index_p;
    else if (*index_p != 0)
        box(l, parent)->first = *index_p;
    *last = *index_p;
    return XY_OK;
}

/* Adds the box of a group of GPUs and one box per GPU. */
static xy_status_t add_group(const layout_t *l, uint32_t g, uint32_t parent, uint32_t *last)
{
    const xy_gpu_group_t *group = &l->m->gpu_groups[g];
    layout_box_t b = {.object = XY_OBJ_NONE, .gpu = g, .run = 1, .label = "GPUs"};
    uint32_t index, gpu, last_gpu = 0;
    xy_status_t st;

    label_link(&b, "shared host link ", group->shared);
    label_link(&b, "between two ", group->peer);
    st = add(l, &b, parent, last, &index);
    for (uint32_t i = 0; st == XY_OK && i < group->gpu_count; i++) {
        layout_box_t c = {.object = XY_OBJ_NONE, .gpu = group->first_gpu + i, .run = 1};

        label_gpu(l, &c);
        st = add(l, &c, index, &last_gpu, &gpu);
        if (st == XY_OK)
            size_box(l, gpu);
    }
    if (st == XY_OK)
        size_box(l, index);
    return st;
}

static xy_status_t add_object(const layout_t *l, xy_obj_t o, uint32_t run, bool is_single,
                              uint32_t parent, uint32_t *last);

/* Adds the boxes below an object; runs above the fold are one box. */
static xy_status_t add_below(const layout_t *l, xy_obj_t o, bool is_single, uint32_t index)
{
    const xy_machine_t *m = l->m;
    xy_obj_t end = m->first_child[o] + m->child_count[o];
    uint32_t last = 0, group, groups = machine_gpu_groups_of(m, o, &group);
    xy_status_t st = XY_OK;

    for (xy_obj_t c = m->first_child[o]; st == XY_OK && c < end;) {
        uint32_t run = machine_fold_run(m, l->classes, c);
        bool is_folded = run > l->fold;

        for (uint32_t i = 0; st == XY_OK && i < (is_folded ? 1 : run); i++)
            st = add_object(l, c + i, is_folded ? run : 1, is_single && !is_folded, index, &last);
        c += run;
    }
    /* A box of GPUs differs from a GPU by its children: an empty group has no box. */
    for (uint32_t i = 0; st == XY_OK && i < groups; i++)
        if (m->gpu_groups[group + i].gpu_count > 0)
            st = add_group(l, group + i, index, &last);
    return st;
}

/* Adds the box of an object, with those below it, and sets its size. */
static xy_status_t add_object(const layout_t *l, xy_obj_t o, uint32_t run, bool is_single,
                              uint32_t parent, uint32_t *last)
{
    layout_box_t b = {.object = o, .run = run, .is_single = is_single};
    uint32_t index;
    xy_status_t st;

    label_object(l, &b);
    st = add(l, &b, parent, last, &index);
    if (st == XY_OK && l->m->level[o] + 1u < l->levels)
        st = add_below(l, o, is_single, index);
    if (st == XY_OK)
        size_box(l, index);
    return st;
}

xy_status_t machine_layout(const xy_machine_t *m, xy_vec_t *boxes)
{
    uint32_t *classes, last = 0;
    layout_t l = {.m = m, .boxes = boxes};
    xy_status_t st = machine_fold(m, false, &classes);

    if (st != XY_OK)
        return st;
    l.classes = classes;
    *boxes = XY_VEC_INIT(layout_box_t);
    choose(&l);
    st = add_object(&l, 0, 1, true, 0, &last);
    if (st == XY_OK)
        stretch(&l, 0, XY_VEC_AT(boxes, layout_box_t, 0).w);
    xy_free(classes);
    if (st != XY_OK) {
        xy_vec_cleanup(boxes);
        return xy_fail_memory("drawing the machine");
    }
    return XY_OK;
}
