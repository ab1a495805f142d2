/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Type signatures: the basic elements of a datatype in their order, whatever their places.
 *
 *   if (sent != receive->type->signature && !mpi_signatures_match(sent, ..., bytes))
 *       (sender and receiver have given different types)
 *
 * A send and a receive describe a repeated type each; they match if the sent elements are the first
 * elements of the receive. So the signature of a type is the shortest sequence that gives the
 * type's when it is repeated. MPI_INT, a vector of it and a struct of such vectors have the same,
 * and equal signatures match with any counts.
 *
 * A signature is a number, which goes with a message: below XMPI_TYPE_TABLE that of a predefined
 * type, above that of a sequence in a table that all ranks share and that only grows. When the
 * table is full, further signatures match anything, as bytes do.
 *
 * Elements are compared by their form in memory: integers by their size, and a complex number is
 * two real ones. MPI_LONG matches MPI_INT64_T and MPI_UNSIGNED_LONG.
 */
#ifndef XY_MPI_DATATYPE_SIGNATURE_H
#define XY_MPI_DATATYPE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MPI_BYTE, MPI_PACKED, and what is too long to be compared. */
enum { XMPI_SIGNATURE_ANY = 0 };

/* Do the first `bytes` data bytes agree? Any thread. */
bool mpi_signatures_match(uint16_t a, uint16_t b, uint64_t bytes);
/* Are all that these two describe equal, whatever the counts? */
bool mpi_signatures_are_equal(uint16_t a, uint16_t b);

/* The signature of a struct whose parts have different ones. Never fails. */
struct mpi_type;
uint16_t mpi_signature_of_parts(const struct mpi_type *type);

/* The elements of a signature, which repeats without an end:
 *
 *   mpi_elements_t elements = {.signature = type->signature};
 *   const mpi_type_t *first = mpi_elements_next(&elements);      (NULL: a byte, which may be
 * anything)
 */
typedef struct {
    uint16_t signature;
    size_t run;
    uint64_t done; /* of the run */
} mpi_elements_t;
const struct mpi_type *mpi_elements_next(mpi_elements_t *elements);

/* "MPI_INT", "(2 MPI_INT, MPI_DOUBLE)". Returns `text`. */
enum { XMPI_SIGNATURE_TEXT = 256 };
const char *mpi_signature_describe(uint16_t signature, char text[XMPI_SIGNATURE_TEXT]);

#endif
