/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program: built against an installed tree by tests/install_test.py. */
#include <stdio.h>
#include <string.h>

#include <xylem.h>

int main(void)
{
    if (strcmp(xylem_version(), XYLEM_VERSION) != 0)
        return 1;
    if (!xylem_is_compatible(XYLEM_VERSION_MAJOR, XYLEM_VERSION_MINOR))
        return 1;
    printf("xylem %s\n", xylem_version());
    return 0;
}
