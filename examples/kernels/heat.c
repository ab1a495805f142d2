/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a plate of two materials, in explicit steps: u += rate (u_xx + u_yy).
 *
 *   xylem stencil --real --kernel-source heat.c --blocks 16x16 --cells 32x32 --iterations 100
 */
#define XY_RADIUS 1

/* Conductivity x time step / distance^2, below 1/4: the first half conducts four times as well. */
XY_INLINE XY_REAL rate(long row)
{
    return row < XY_EXTENT(0) / 2 ? (XY_REAL)0.2 : (XY_REAL)0.05;
}

/* Hot at one edge, cold elsewhere. */
XY_FIRST
{
    return XY_PLACE(0) < XY_LOW(0) ? 100 : 0;
}

XY_CELL
{
    XY_REAL here = XY_AT2(0, 0);
    XY_REAL around = (XY_AT2(-1, 0) + XY_AT2(1, 0)) + (XY_AT2(0, -1) + XY_AT2(0, 1));

    return here + rate(XY_PLACE(0)) * (around - 4 * here);
}
