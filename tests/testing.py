# SPDX-License-Identifier: BSD-3-Clause
"""For tests in Python: the seed and the sample, as in tests/testing/base.h, and limits of time.

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import testing
"""
import os
import shlex
import sys

SOAK = bool(os.environ.get("XYLEM_SOAK"))
SEED = os.environ.get("XYLEM_SEED") or "xylem"


def hash_of(text):
    """The 64-bit FNV-1a hash of a text; never 0."""
    value = 14695981039346656037
    for byte in text.encode(errors="surrogateescape"):
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value or 1


def seed():
    """The start of a test's random numbers, from XYLEM_SEED; prints the command that repeats them."""
    print("random numbers of:", again(), file=sys.stderr)
    return hash_of(SEED)


def seconds(limit):
    """A limit of time; those of all tests are multiplied by XYLEM_TIMEOUT_FACTOR."""
    return limit * int(os.environ.get("XYLEM_TIMEOUT_FACTOR") or 2)


def again():
    return f"XYLEM_SEED={shlex.quote(SEED)} " + " ".join(map(shlex.quote, sys.argv))


def is_chosen(case, share):
    """Whether a case, a number or a name, belongs to the sample, one of `share` cases; all do with XYLEM_SOAK."""
    if SOAK:
        return True
    # The low bits of FNV-1a are those of its last bytes: take the upper ones.
    return (case if isinstance(case, int) else hash_of(case) >> 32) % share == 0
