// SPDX-License-Identifier: BSD-3-Clause
// Crashes of the program: exceptions that nothing catches.
#include <stdexcept>

#include "bugs.h"

/* ranks: 3
 * code: 134
 * says: terminate called after throwing an instance of 'std::runtime_error'
 * says:   what():  the sap has frozen
 * says: rank 2: aborted (SIGABRT) in program code, at @here
 * says:   thrown at @here
 * says:   main at main.c:* */
BUG(thrown)
{
    if (wrong && rank == 2)
        throw std::runtime_error("the sap has frozen"); // @here
}

/* code: 134
 * says: terminate called after throwing an instance of 'int'
 * says: rank 0: aborted (SIGABRT) in program code, at @here
 * says:   thrown_number at @here
 * says:   main at main.c:* */
BUG(thrown_number)
{
    if (wrong && rank == 0)
        throw 7; // @here
}
