/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Squares of a transpose, through vector registers.
 *
 * Each line of `to` is written at once, so that the hardware need not read what is replaced: a line
 * that is written in two parts costs one transfer more. What is read comes in lines anyway.
 */
#include <string.h>

#include "mpi/datatype/type_square.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* All of a square at once: otherwise gcc keeps vectors in memory at -O2, and computes addresses
 * anew at -O3. */
#if defined __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

typedef uint64_t two_t __attribute__((vector_size(16)));
typedef uint32_t four_t __attribute__((vector_size(16)));

/* gcc would compute an address for each row ahead, more than there are registers. */
ALWAYS_INLINE const char *step(const char *at, MPI_Aint bytes)
{
    at += bytes;
    __asm__("" : "+r"(at));
    return at;
}

ALWAYS_INLINE two_t two_at(const char *from)
{
    two_t two;

    memcpy(&two, from, sizeof(two));
    return two;
}

ALWAYS_INLINE four_t four_at(const char *from)
{
    four_t four;

    memcpy(&four, from, sizeof(four));
    return four;
}

ALWAYS_INLINE void two_put(char *to, two_t two)
{
    memcpy(to, &two, sizeof(two));
}

/* Pair two vectors: their first halves, their second halves. Of two rows of four elements: columns
 * 0 and BESIDE, and the two others. These are one instruction each; aarch64 has either choice, and
 * with every second column less has to be done for skewed squares. */
#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE_2(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE_4(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
#if !defined SHUFFLE_2 /* gcc before 12 */
#define SHUFFLE_2(a, b, ...) __builtin_shuffle(a, b, (two_t){__VA_ARGS__})
#define SHUFFLE_4(a, b, ...) __builtin_shuffle(a, b, (four_t){__VA_ARGS__})
#endif
#define FIRST(a, b)  SHUFFLE_2(a, b, 0, 2)
#define SECOND(a, b) SHUFFLE_2(a, b, 1, 3)
#if defined __aarch64__
enum { BESIDE = 2 };
#define THIS(a, b)  (two_t) SHUFFLE_4(a, b, 0, 4, 2, 6)
#define OTHER(a, b) (two_t) SHUFFLE_4(a, b, 1, 5, 3, 7)
#else
enum { BESIDE = 1 };
#define THIS(a, b)  (two_t) SHUFFLE_4(a, b, 0, 4, 1, 5)
#define OTHER(a, b) (two_t) SHUFFLE_4(a, b, 2, 6, 3, 7)
#endif

/* ---- Lines ---- */

/* Two vectors side by side. gcc has no pair of stores for them, which clang finds itself; a pair
 * takes two thirds of the time on Neoverse V1. Sanitizers do not see it. */
#if defined __AARCH64EL__ && defined __OPTIMIZE__ && !defined __clang__ &&                         \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
typedef struct __attribute__((may_alias)) {
    two_t two[2];
} pair_t;

ALWAYS_INLINE void put_pair(char *to, const int at, two_t a, two_t b)
{
    __asm__("stp %q1, %q2, [%3, %4]"
            : "=m"(*(pair_t *)(void *)(to + at))
            : "w"(a), "w"(b), "r"(to), "i"(at));
}
#else
ALWAYS_INLINE void put_pair(char *to, const int at, two_t a, two_t b)
{
    two_put(to + at, a);
    two_put(to + at + 16, b);
}
#endif

/* A line of `to`, from eight vectors of two elements of 8 bytes, or of two rows of 4 bytes. */
ALWAYS_INLINE void put_firsts(char *to, const two_t *v)
{
    put_pair(to, 0, FIRST(v[0], v[1]), FIRST(v[2], v[3]));
    put_pair(to, 32, FIRST(v[4], v[5]), FIRST(v[6], v[7]));
}

ALWAYS_INLINE void put_seconds(char *to, const two_t *v)
{
    put_pair(to, 0, SECOND(v[0], v[1]), SECOND(v[2], v[3]));
    put_pair(to, 32, SECOND(v[4], v[5]), SECOND(v[6], v[7]));
}

/* ---- Squares ---- */

/* Vectors of a column with those by which it may begin later. Rows that no column of a skew needs
 * are left out by the compiler. */
enum { MOST_4 = 8 + 6, MOST_8 = 8 + 7 };

/* Four columns at a time; first two rows at a time change elements. */
ALWAYS_INLINE void turn_4(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row,
                          const int skew)
{
    const int x = BESIDE, y = 3 - BESIDE;
    const int most = skew % 8 == 0 ? 8 : skew == 2 ? 8 + 4 : MOST_4;
    const MPI_Aint sx = mpi_square_shift(x, skew, 4), sy = mpi_square_shift(y, skew, 4);
    const MPI_Aint s3 = mpi_square_shift(3, skew, 4);

    for (int quarter = 0; quarter < 4; quarter++) {
        const char *row = from;
        two_t this[MOST_4], other[MOST_4];

        UNROLLED
        for (int r = 0; r < most; r++) {
            four_t a = four_at(row), b = four_at(row + from_row);

            row = step(row, 2 * from_row);
            this[r] = THIS(a, b);
            other[r] = OTHER(a, b);
        }
        put_firsts(to, this);
        put_firsts(to + y * to_row + sy * 16, other + 2 * sy);
        put_seconds(to + x * to_row + sx * 16, this + 2 * sx);
        put_seconds(to + 3 * to_row + s3 * 16, other + 2 * s3);
        to += 4 * to_row;
        from += 16;
    }
}

/* Two columns at a time. */
ALWAYS_INLINE void turn_8(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row,
                          const int skew)
{
    const int most = skew % 8 == 0 ? 8 : skew == 4 ? 8 + 4 : MOST_8;

    UNROLLED
    for (int c = 0; c < 8; c += 2) {
        const MPI_Aint s0 = mpi_square_shift(c, skew, 8), s1 = mpi_square_shift(c + 1, skew, 8);
        two_t v[MOST_8];

        UNROLLED
        for (int r = 0; r < most; r++)
            v[r] = two_at(from + r * from_row + (MPI_Aint)c * 8);
        put_firsts(to + c * to_row + s0 * 8, v + s0);
        put_seconds(to + (c + 1) * to_row + s1 * 8, v + s1);
    }
}

/* An element is a vector. */
ALWAYS_INLINE void turn_16(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row,
                           const int skew)
{
    UNROLLED
    for (int c = 0; c < 4; c++) {
        const MPI_Aint s = mpi_square_shift(c, skew, 16);
        const char *here = from + s * from_row + (MPI_Aint)c * 16;
        char *there = to + c * to_row + s * 16;

        put_pair(there, 0, two_at(here), two_at(here + from_row));
        put_pair(there, 32, two_at(here + 2 * from_row), two_at(here + 3 * from_row));
    }
}

/* ---- Strips ---- */

ALWAYS_INLINE void fetch_to_read(const char *at, MPI_Aint row, int64_t rows)
{
    UNROLLED
    for (int64_t i = 0; i < rows; i++) {
        __builtin_prefetch(at, 0);
        at = step(at, row);
    }
}

ALWAYS_INLINE void fetch_to_write(const char *at, MPI_Aint row, int64_t rows)
{
    UNROLLED
    for (int64_t i = 0; i < rows; i++) {
        __builtin_prefetch(at, 1);
        at = step(at, row);
    }
}

/* Squares that begin anywhere share lines of `to`, and the hardware reads what it does not replace
 * at once: ask for the lines of the next strip. Where whole lines are written, ask for the next
 * square of `from`; skewed squares touch more rows, and were not faster with it. */
ALWAYS_INLINE void turn_strip(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row,
                              int64_t n, bool is_far, const size_t length, const int skew)
{
    const int64_t side = XMPI_LINE / (int64_t)length;

    for (; n > 0; n--) {
        if (skew == XMPI_SKEW_UNKNOWN && is_far)
            fetch_to_write(to + XMPI_LINE + XMPI_LINE / 2, to_row, side);
        else if (skew == 0 && is_far)
            fetch_to_read(from + XMPI_LINE, from_row, side);
        if (length == 8)
            turn_8(to, to_row, from, from_row, skew);
        else if (length == 4)
            turn_4(to, to_row, from, from_row, skew);
        else
            turn_16(to, to_row, from, from_row, skew);
        to += side * to_row;
        from += XMPI_LINE;
    }
}

/* A function for each length and skew: such a loop needs all registers. */
#define STRIP(length, skew)                                                                        \
    static void strip_##length##_##skew(char *to, MPI_Aint to_row, const char *from,               \
                                        MPI_Aint from_row, int64_t n, bool is_far)                 \
    {                                                                                              \
        turn_strip(to, to_row, from, from_row, n, is_far, (length), (skew));                       \
    }
#define STRIPS(length)                                                                             \
    STRIP(length, 0)                                                                               \
    STRIP(length, 1)                                                                               \
    STRIP(length, 2)                                                                               \
    STRIP(length, 3)                                                                               \
    STRIP(length, 8)
STRIPS(4)
STRIPS(16)
STRIPS(8)
STRIP(8, 4)
STRIP(8, 5)
STRIP(8, 6)
STRIP(8, 7)

static mpi_strip_t *const strips_4[] = {strip_4_0, strip_4_1, strip_4_2,
                                        strip_4_3, [XMPI_SKEW_UNKNOWN] = strip_4_8};
static mpi_strip_t *const strips_8[] = {strip_8_0, strip_8_1, strip_8_2, strip_8_3, strip_8_4,
                                        strip_8_5, strip_8_6, strip_8_7, strip_8_8};
static mpi_strip_t *const strips_16[] = {strip_16_0, strip_16_1, strip_16_2,
                                         strip_16_3, [XMPI_SKEW_UNKNOWN] = strip_16_8};

mpi_strip_t *mpi_square_strip(size_t length, int skew)
{
    return length == 8 ? strips_8[skew] : length == 4 ? strips_4[skew] : strips_16[skew];
}

/* ---- Any part of a square ---- */

/* 4 x 4 elements of 4 bytes. */
ALWAYS_INLINE void turn_four(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    four_t a = four_at(from), b = four_at(from + from_row);
    four_t c = four_at(from + 2 * from_row), d = four_at(from + 3 * from_row);
    two_t this[2] = {THIS(a, b), THIS(c, d)}, other[2] = {OTHER(a, b), OTHER(c, d)};

    two_put(to, FIRST(this[0], this[1]));
    two_put(to + BESIDE * to_row, SECOND(this[0], this[1]));
    two_put(to + (3 - BESIDE) * to_row, FIRST(other[0], other[1]));
    two_put(to + 3 * to_row, SECOND(other[0], other[1]));
}

/* 2 x 2 elements of 8 bytes. */
ALWAYS_INLINE void turn_two(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    two_t a = two_at(from), b = two_at(from + from_row);

    two_put(to, FIRST(a, b));
    two_put(to + to_row, SECOND(a, b));
}

ALWAYS_INLINE void turn_singly(char *to, mpi_grid_t t, const char *from, mpi_grid_t f, int64_t rows,
                               int64_t columns, size_t length)
{
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + c * t.row + r * t.step, from + r * f.row + c * f.step, length);
}

/* Vectors as far as they go. */
ALWAYS_INLINE void turn_part(char *to, mpi_grid_t t, const char *from, mpi_grid_t f, int64_t rows,
                             int64_t columns, size_t length)
{
    const int64_t some = 16 / (int64_t)length;
    int64_t high = rows & -some, wide = columns & -some;

    if (length == 16 || t.step != (MPI_Aint)length || f.step != (MPI_Aint)length) {
        turn_singly(to, t, from, f, rows, columns, length);
        return;
    }
    for (int64_t c = 0; c < wide; c += some)
        for (int64_t r = 0; r < high; r += some) {
            char *there = to + c * t.row + r * t.step;
            const char *here = from + r * f.row + c * f.step;

            if (length == 8)
                turn_two(there, t.row, here, f.row);
            else
                turn_four(there, t.row, here, f.row);
        }
    turn_singly(to + wide * t.row, t, from + wide * f.step, f, high, columns - wide, length);
    turn_singly(to + high * t.step, t, from + high * f.row, f, rows - high, columns, length);
}

void mpi_square_part(char *to, mpi_grid_t t, const char *from, mpi_grid_t f, int64_t rows,
                     int64_t columns, size_t length)
{
    if (length == 8)
        turn_part(to, t, from, f, rows, columns, 8);
    else if (length == 4)
        turn_part(to, t, from, f, rows, columns, 4);
    else
        turn_part(to, t, from, f, rows, columns, 16);
}
