#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate.py TABLE.csv NAME OUTPUT.c: the rules of a library as C data, coll_rules_NAME."""
import csv
import re
import sys

CONDITIONS = {
    "count>0": "DATA",
    "sum>0": "DATA",
    "count = 0": "NO_DATA",
    "op commutative": "COMMUTES",
    "op not commutative": "ORDERED",
    "MPI_IN_PLACE": "IN_PLACE",
    "not MPI_IN_PLACE": "NOT_IN_PLACE",
    "op not commutative or MPI_IN_PLACE": "ORDERED_OR_IN_PLACE",
    "count >= 2^floor(log2 p)": "ENOUGH",
    "count < 2^floor(log2 p)": "FEW",
    "p power of two": "POWER",
    "p not a power of two": "NO_POWER",
    "op predefined": "PREDEFINED",
    "op user-defined": "USER",
    "all blocks equal": "EQUAL",
    "(blocks differ or p not a power of two)": "UNEQUAL_OR_NO_POWER",
    "one node": "ONE_NODE",
    "several nodes": "SEVERAL_NODES",
    "ranks of a node are consecutive": "CONSECUTIVE",
    "ranks of a node are not consecutive": "SCATTERED",
    # Remarks, and what holds by default.
    "": None,
    "zero-sized blocks send nothing": None,
    "coll_libnbc_ibcast_skip_dt_decision=1 (default)": None,
}
# Lines for other settings than the default ones, or for builds with a module that few have.
SKIPPED = {
    "coll_libnbc_ibcast_skip_dt_decision=0",
    "not MPI_THREAD_MULTIPLE",
}
MEASURES = {
    "vector": "BLOCK",
    "per_rank_block": "BLOCK",
    "per_peer_block": "BLOCK",
    "one_block": "BLOCK",
    "mean_per_rank_block": "MEAN",
    "sum_of_all_blocks": "SUM",
    "sum_of_all_blocks_in_ELEMENTS": "SUM_ELEMENTS",
    "none": "NOTHING",
    "any": "NOTHING",
}
HIERARCHIES = {"": "ANY", "flat": "FLAT", "node": "NODE"}


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rule(line, row):
    """A line of the table as an initializer; None: it is skipped."""
    conditions = row["conditions"].split("; ")
    if SKIPPED.intersection(conditions) or row.get("hierarchy") == "intra_node":
        return None
    flags = [CONDITIONS[c] for c in conditions]
    flags = " | ".join("COLL_IF_" + f for f in flags if f is not None) or "0"
    segment = re.match(r"\d*", row["segment_bytes"]).group() or "0"
    return (
        f"    {{{line}, XY_COLL_{row['collective'].upper()}, {str(row['blocking'] == 'no').lower()}, "
        f"COLL_RANKS_{HIERARCHIES[row.get('hierarchy', '')]}, {row['p_min']}, "
        f"{row['p_max'] or 'INT_MAX'}, COLL_BYTES_{MEASURES[row['bytes_of']]}, "
        f"{row['bytes_min'] or 0}, {row['bytes_max'] or 'UINT64_MAX'}, {flags}, {segment}, "
        f"{quoted(row['algorithm'])}, {quoted(row['native_name'])}, {quoted(row['conditions'])}, "
        f"{quoted(row['bytes_of'].replace('_', ' '))}, {quoted(row['fallback_inside'])}}},"
    )


def main():
    table, name, output = sys.argv[1:]
    with open(table, newline="") as f:
        rules = [rule(i + 2, row) for i, row in enumerate(csv.DictReader(f))]
    rules = [r for r in rules if r is not None]
    with open(output, "w") as f:
        f.write("/* Written by src/coll/rules/generate.py. */\n#include <limits.h>\n\n")
        f.write('#include "coll/coll.h"\n#include "coll/rules.h"\n\n')
        f.write(f"const xy_coll_rule_t coll_rules_{name}[] = {{\n" + "\n".join(rules) + "\n    {0},\n};\n")


main()
