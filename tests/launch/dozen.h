/* SPDX-License-Identifier: BSD-3-Clause */
/* The common names of the libraries of dozen_library.c and the program of dozen.c. */
extern int rank_number, order_value, local_is_here;

int program_check(int rank);
int constant_check(int rank);
int order_check(int rank);
int version_check(int rank);
void version_set(void);

#define DOZEN(X) X(rank) X(comm) X(stream) X(local) X(lazy) X(pointer) X(ctor) X(key) X(object)
#define DECLARE(name)                                                                              \
    void name##_set(void);                                                                         \
    int name##_check(int rank);
DOZEN(DECLARE)
