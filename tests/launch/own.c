/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with state. */
static int calls;
int own_level = 3;
int *own_pointer = &own_level;

int own_count(void);
int own_get(void);

int own_count(void)
{
    return ++calls;
}

int own_get(void)
{
    return own_level;
}
