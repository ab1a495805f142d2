/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture of a network whose links are not one line from each object to its parent: bundles of
 * parallel links as rows of switches and nodes, tori and meshes as planes of cells.
 */
#ifndef XY_MACHINE_MACHINE_NETWORK_H
#define XY_MACHINE_MACHINE_NETWORK_H

#include "draw/draw.h"
#include "machine/machine_internal.h"

/* The height is 0 where there is nothing to draw. */
void machine_network_size(const xy_machine_t *m, double *width_p, double *height_p);
/* ENOMEM is reported. */
xy_status_t machine_network_draw(const xy_machine_t *m, const xy_svg_t *svg, double left,
                                 double top);

#endif
