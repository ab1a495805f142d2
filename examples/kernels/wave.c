/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acoustic waves in three dimensions: u_tt = v^2 (u_xx + u_yy + u_zz) + source, of 8th order in
 * space and 2nd in time. The speed has three layers, and a point source sends one pulse.
 *
 *   xylem stencil --real --kernel-source wave.c --graph jacobi --blocks 10x1x1 --cells 16x160x160 \
 *       --iterations 240 --file wave.bin
 *   python3 slice.py wave.bin 10x1x1 16x160x160 wave.png
 *
 * With STANDING defined it computes a standing wave in a box with uniform speed instead, whose
 * solution is known: cos(sqrt(3) pi t) sin(pi x) sin(pi y) sin(pi z).
 */
#define XY_RADIUS 4
#define XY_LEVELS 2

/* Of the second derivative, times distance^2: -205/72, 8/5, -1/5, 8/315, -1/560. */
#define C0 ((XY_REAL)-2.84722222222222222)
#define C1 ((XY_REAL)1.6)
#define C2 ((XY_REAL)-0.2)
#define C3 ((XY_REAL)0.0253968253968253968)
#define C4 ((XY_REAL)-0.00178571428571428571)

#ifdef STANDING

#define PI 3.14159265358979324
#ifndef COURANT
#define COURANT 0.4 /* speed x time step / distance */
#endif

/* The cell at distance k in direction d. Walls are one cell outside of the cells that are computed,
 * and what lies beyond is the mirror image of what lies before, with the other sign. */
XY_INLINE XY_REAL at(const xy_cell_t *xy, int d, long k)
{
    long below = XY_PLACE(d) - (XY_LOW(d) - 1), above = XY_HIGH(d) + 1 - XY_PLACE(d);
    XY_REAL sign = 1;

    if (-k > below) {
        k = -k - 2 * below;
        sign = -1;
    } else if (k > above) {
        k = 2 * above - k;
        sign = -1;
    }
    return sign * (d == 0 ? XY_AT3(k, 0, 0) : d == 1 ? XY_AT3(0, k, 0) : XY_AT3(0, 0, k));
}

XY_INLINE XY_REAL courant(long depth)
{
    (void)depth;
    return (XY_REAL)COURANT;
}

XY_INLINE XY_REAL source(const xy_cell_t *xy)
{
    (void)xy;
    return 0;
}

/* The solution at the first two times; the distance of cells is 1 / (n + 1). */
XY_FIRST
{
    double u = 1, step = COURANT / (XY_HIGH(0) - XY_LOW(0) + 2.0);

    for (int d = 0; d < 3; d++)
        u *= sin(PI * (XY_PLACE(d) - XY_LOW(d) + 1.0) / (XY_HIGH(d) - XY_LOW(d) + 2.0));
    for (int d = 0; d < 3; d++) /* the walls, and what is behind them */
        if (XY_PLACE(d) < XY_LOW(d) || XY_PLACE(d) > XY_HIGH(d))
            u = 0;
    return (XY_REAL)(u * cos(sqrt(3.0) * PI * step * XY_LEVEL));
}

#else

XY_INLINE XY_REAL at(const xy_cell_t *xy, int d, long k)
{
    return d == 0 ? XY_AT3(k, 0, 0) : d == 1 ? XY_AT3(0, k, 0) : XY_AT3(0, 0, k);
}

/* Faster in deeper layers; 0.45 would not be stable. There are no branches, so that loops over
 * cells become vector instructions. */
XY_INLINE XY_REAL courant(long depth)
{
    int layer = (depth >= XY_EXTENT(0) / 2) + (depth >= 3 * XY_EXTENT(0) / 4);

    return (XY_REAL)0.2 + (XY_REAL)0.1 * (XY_REAL)layer;
}

/* A pulse without a mean, of 80 steps, that is a polynomial: it has the same bits everywhere. */
XY_INLINE XY_REAL source(const xy_cell_t *xy)
{
    XY_REAL s = (XY_REAL)0.025 * (XY_REAL)(XY_ITERATION - 40), s2 = s * s;
    int is_on = (XY_PLACE(0) == 3 * XY_EXTENT(0) / 8) & (XY_PLACE(1) == XY_EXTENT(1) / 2) &
                (XY_PLACE(2) == XY_EXTENT(2) / 2) & (XY_ITERATION < 80);

    return (XY_REAL)is_on * ((1 - s2) * (1 - s2) * (1 - 7 * s2));
}

/* At rest. */
XY_FIRST
{
    return 0;
}

#endif

XY_INLINE XY_REAL second(const xy_cell_t *xy, int d)
{
    return (C1 * (at(xy, d, -1) + at(xy, d, 1)) + C2 * (at(xy, d, -2) + at(xy, d, 2))) +
           (C3 * (at(xy, d, -3) + at(xy, d, 3)) + C4 * (at(xy, d, -4) + at(xy, d, 4)));
}

XY_CELL
{
    XY_REAL here = XY_AT3(0, 0, 0), c = courant(XY_PLACE(0));
    XY_REAL sum = 3 * C0 * here + ((second(xy, 0) + second(xy, 1)) + second(xy, 2));

    return (2 * here - XY_BEFORE) + (c * c * sum + source(xy));
}
