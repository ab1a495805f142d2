/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that crashes while it is loaded. */
static int *volatile nowhere = (int *)8;

__attribute__((constructor)) static void begin(void)
{
    *nowhere = 1; /* begin */
}
