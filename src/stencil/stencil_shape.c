/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells: how many a block has, where they lie, what they hold at first. */
#include "stencil/own.h"

size_t stencil_cell_bytes(const xy_stencil_t *s)
{
    return s->is_single ? sizeof(float) : sizeof(double);
}

double stencil_number(const xy_stencil_t *s, const void *at)
{
    return s->is_single ? *(const float *)at : *(const double *)at;
}

void stencil_set_number(const xy_stencil_t *s, void *at, double number)
{
    if (s->is_single)
        *(float *)at = (float)number;
    else
        *(double *)at = number;
}

/* Near a square or a cube of so many cells, longer in the last dimension. */
static void choose_cells(xy_stencil_t *s)
{
    int64_t count = (int64_t)(s->block_bytes / stencil_cell_bytes(s)), side = 1;

    for (int d = 0; d < 3; d++)
        s->cells[d] = 1;
    if (s->dims == 2)
        while (4 * side * side <= count)
            side *= 2;
    if (s->dims == 3)
        while (8 * side * side * side <= count)
            side *= 2;
    for (int d = 0; d < s->dims - 1; d++) {
        s->cells[d] = side;
        count /= side;
    }
    s->cells[s->dims - 1] = count;
}

xy_status_t stencil_shape(xy_stencil_t *s, stencil_shape_t *shape_p)
{
    int64_t c[3];
    double all = 1;

    if (s->cells[0] == 0)
        choose_cells(s);
    for (int d = 0; d < 3; d++) {
        c[d] = d < s->dims ? s->cells[d] : 1;
        all *= (double)c[d];
        if (c[d] < 1 || all > (double)(INT64_MAX >> 8))
            return xy_fail(XY_EINVAL,
                           "a block of %lld x %lld x %lld cells is not possible; give at least 1 "
                           "in each dimension, and fewer than 2^55 in all",
                           (long long)s->cells[0], (long long)s->cells[1], (long long)s->cells[2]);
    }
    s->block_bytes = (uint64_t)(c[0] * c[1] * c[2]) * stencil_cell_bytes(s);
    *shape_p = (stencil_shape_t){.points = s->points, .layers = 1, .rows = 1, .columns = c[0]};
    if (s->dims == 2) {
        shape_p->rows = c[0];
        shape_p->columns = c[1];
    } else if (s->dims == 3) {
        shape_p->layers = c[0];
        shape_p->rows = c[1];
        shape_p->columns = c[2];
    }
    return XY_OK;
}

/* The blocks in the three directions of a shape. */
static void blocks_of(const xy_stencil_t *s, int64_t blocks[3])
{
    for (int d = 0; d < 3; d++)
        blocks[d] = d < 3 - s->dims ? 1 : s->blocks[d - (3 - s->dims)];
}

void stencil_extents(const xy_stencil_t *s, const stencil_shape_t *shape, int64_t extents[3])
{
    int64_t blocks[3];

    blocks_of(s, blocks);
    extents[0] = blocks[0] * shape->layers;
    extents[1] = blocks[1] * shape->rows;
    extents[2] = blocks[2] * shape->columns;
}

void stencil_origin(const xy_stencil_t *s, const stencil_shape_t *shape, int64_t cell,
                    int64_t origin[3])
{
    int64_t blocks[3];

    blocks_of(s, blocks);
    origin[2] = cell % blocks[2] * shape->columns;
    origin[1] = cell / blocks[2] % blocks[1] * shape->rows;
    origin[0] = cell / blocks[2] / blocks[1] * shape->layers;
}

static double first_value(uint64_t place)
{
    uint64_t x = place + UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return 0.5 + (double)(x >> 11) * 0x1p-53;
}

int stencil_radius(const xy_stencil_t *s)
{
    return s->own != NULL ? s->own->radius : 1;
}

bool stencil_is_reading_back(const xy_stencil_t *s)
{
    return s->own != NULL && s->own->levels == 2;
}

void stencil_fill_places(const xy_stencil_t *s, int array, int64_t place, int64_t count, void *at)
{
    if (s->own != NULL && s->own->first != NULL)
        s->own->first((long)place, (long)count, stencil_is_reading_back(s) ? -array : 0, at);
    else if (s->is_single)
        for (int64_t c = 0; c < count; c++)
            ((float *)at)[c] = (float)first_value((uint64_t)(place + c));
    else
        for (int64_t c = 0; c < count; c++)
            ((double *)at)[c] = first_value((uint64_t)(place + c));
}

void stencil_fill(const xy_stencil_t *s, const stencil_shape_t *shape, int array, int64_t cell,
                  void *block)
{
    int64_t origin[3], extents[3];
    char *at = block;

    stencil_origin(s, shape, cell, origin);
    stencil_extents(s, shape, extents);
    for (int64_t l = 0; l < shape->layers; l++)
        for (int64_t r = 0; r < shape->rows; r++) {
            int64_t place = ((origin[0] + l) * extents[1] + origin[1] + r) * extents[2] + origin[2];

            stencil_fill_places(s, array, place, shape->columns, at);
            at += (size_t)shape->columns * stencil_cell_bytes(s);
        }
}

/* ---- Pieces ---- */

static int64_t pieces_of_row(const stencil_shape_t *shape)
{
    return (shape->columns + STENCIL_PIECE - 1) / STENCIL_PIECE;
}

int64_t stencil_pieces(const stencil_shape_t *shape)
{
    return shape->layers * shape->rows * pieces_of_row(shape);
}

stencil_piece_t stencil_piece(const stencil_shape_t *shape, int64_t number)
{
    int64_t row = number / pieces_of_row(shape);
    int64_t column = number % pieces_of_row(shape) * STENCIL_PIECE;
    int64_t left = shape->columns - column;

    return (stencil_piece_t){.layer = row / shape->rows,
                             .row = row % shape->rows,
                             .column = column,
                             .count = left < STENCIL_PIECE ? left : STENCIL_PIECE,
                             .at = row * shape->columns + column};
}

int64_t stencil_piece_place(const int64_t extents[3], const int64_t origin[3],
                            const stencil_piece_t *piece)
{
    return ((origin[0] + piece->layer) * extents[1] + origin[1] + piece->row) * extents[2] +
           origin[2] + piece->column;
}
