# SPDX-License-Identifier: BSD-3-Clause
"""Rows drawn at random for predicted.py, and what each figure of a cost file is worth for them.

Patterns, sizes and ranks are drawn by a seed, so that no rule of the model can be made for them: a seed
that was worked with is of no use to judge the model.
"""
import math
import random
import re
import statistics

PATTERNS = ("ring", "chain", "butterfly", "stream", "workers", "halo", "alltoall", "allreduce", "allgather",
            "gather-bcast", "reduce-scatter", "reduce-bcast")
WIDE = ("alltoall", "allgather", "gather-bcast", "reduce-scatter")  # a block for each rank
SUMS = ("allreduce", "reduce-scatter", "reduce-bcast")  # of doubles
LARGEST = 1 << 20
MEMORY = 1 << 28  # bytes of all ranks together, at most


def size_of(generator, what):
    size = round(math.exp(generator.uniform(0, math.log(LARGEST))))
    return max(8, size // 8 * 8) if what in SUMS else size


def is_wanted(what, size, ranks):
    blocks = ranks if what in WIDE else 4
    return (size & (size - 1) != 0 or size == 8) and 2 * size * blocks * ranks <= MEMORY


def draw(seed, count, ranks_max):
    """(pattern, size, ranks): sizes from 1 B to 1 MiB and ranks from 2 on, by their logarithms. Each pattern
    comes as often."""
    generator, rows = random.Random(seed), []
    while len(rows) < count:
        what = PATTERNS[len(rows) % len(PATTERNS)]
        row = what, size_of(generator, what), round(2 * (ranks_max / 2) ** generator.random())
        if is_wanted(*row) and row not in rows:
            rows.append(row)
    return rows


def figures_of(costs):
    """The names of all figures of the messages in a file of costs, curves last."""
    scalars = [n for element in re.findall(r"<Message [^>]*>", costs) for n in re.findall(r' (\w+)="', element)]
    curves = re.findall(r"<(\w+) ErrorMean[^>]*>\s*<Latency>", costs)
    names = [n for n in scalars if not n.startswith(("Cluster", "Library"))] + [n for n in curves if n != "Blocking"]
    return list(dict.fromkeys(names))


def without(costs, name):
    """The same file without a figure."""
    costs = re.sub(r"    <%s .*?</%s>\n" % (name, name), "", costs, flags=re.S)

    def cut(match):
        return re.sub(r' %s="[^"]*"' % name, "", match.group(0))
    return re.sub(r"<Message [^>]*>|<Sample Size[^>]*>", cut, costs)


def errors_of(rows, predicted):
    """{row: error} of rows as kept by predicted.py."""
    found = {}
    for what, size, ranks, times in rows:
        seconds = predicted.get((what, size, ranks))
        if seconds is not None:
            middle = statistics.median(times)
            found[what, size, ranks] = abs(seconds - middle) / middle
    return found


def ablate(kept, predict):
    """Print the mean and the greatest error with each figure removed; predict(costs) gives those of all rows."""
    everything = errors_of(kept["rows"], predict(kept["costs"]))
    print("# %-22s %8s %9s %8s" % ("without", "mean", "greatest", "worth"))
    print("# %-22s %6.2f %% %7.1f %%" % ("(nothing removed)", 100 * statistics.mean(everything.values()),
                                         100 * max(everything.values())), flush=True)
    for name in figures_of(kept["costs"][0]):
        errors = errors_of(kept["rows"], predict([without(costs, name) for costs in kept["costs"]]))
        mean = statistics.mean(errors.values())
        print("# %-22s %6.2f %% %7.1f %% %+6.2f %%" % (name, 100 * mean, 100 * max(errors.values()),
                                                     100 * (mean - statistics.mean(everything.values()))), flush=True)
