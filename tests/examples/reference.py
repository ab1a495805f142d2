# SPDX-License-Identifier: BSD-3-Clause
"""What the examples must print, worked out without MPI and without their code.

expected(name, ranks, arguments) gives the lines, sorted.
"""
import math

ARGUMENTS = {"matrix_product": ["60"], "fox": ["60"], "heat2d": ["64", "40"], "cloud": ["2000", "30"]}  # the sizes the tests use


def hello(ranks):
    return [f"hello from rank {r} of {ranks}" for r in range(ranks)] + [
        f"{ranks} of {ranks} ranks said hello"]


def ring(ranks):
    return [f"the token passed {ranks} ranks and brings back {ranks * (ranks - 1) // 2}"]


def pi(_ranks):
    return [f"pi is about {math.pi:.10f}; the error is below 1e-10"]


def matrix_product(_ranks, n):
    n = int(n)
    a = [[(i * n + k) % 13 - 4 for k in range(n)] for i in range(n)]
    columns = [[(k * n + j) % 17 - 5 for k in range(n)] for j in range(n)]
    c = [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]
    trace = sum(c[i][i] for i in range(n))
    checksum = sum(c[i][j] * ((i * n + j) % 11) for i in range(n) for j in range(n))
    return [f"{n} x {n} product: trace {trace}, checksum {checksum}"]


def heat2d(_ranks, n, steps):
    n, steps = int(n), int(steps)
    now = [[100.0 if j == 0 and 1 <= i <= n else 0.0 for j in range(n + 2)] for i in range(n + 2)]
    for _ in range(steps):
        above, rows = now[0], [now[0]]
        for i in range(1, n + 1):
            row, below = now[i], now[i + 1]
            rows.append([row[0]] + [
                0.5 * row[j] + 0.125 * ((above[j] + below[j]) + (row[j - 1] + row[j + 1]))
                for j in range(1, n + 1)] + [row[n + 1]])
            above = row
        now = rows + [now[n + 1]]
    checksum = sum((i * 1000 + j) * int(now[i][j] * 1e6)
                   for i in range(1, n + 1) for j in range(1, n + 1)) % 2**64
    return [f"plate of {n} x {n} points after {steps} steps: checksum {checksum}"]


def histogram(ranks):
    bins = [0] * (16 * ranks)
    for rank in range(ranks):
        state = rank + 1
        for _ in range(2000):
            state = (state * 1664525 + 1013904223) % 2**32
            bins[(state >> 8) % len(bins)] += 1
    return [f"{sum(bins)} numbers in {len(bins)} bins; the fullest has {max(bins)}"]


def cloud(_ranks, particles, steps):
    particles, steps = int(particles), int(steps)
    ring, state, places, speeds = 960 * 1024, 1, [], []
    def draw():
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return state >> 8
    for _ in range(particles):
        places.append((240 * 1024 + (sum(draw() % 1024 for _ in range(12)) - 6 * 1024) * 96) % ring)
        speeds.append(39 + draw() % 3)
    pairs = 0
    for _ in range(steps):
        order, left = sorted(places), 0
        for right, place in enumerate(order):
            while place - order[left] > 16 or order[left] // 1024 != place // 1024:
                left += 1
            pairs += right - left
        places = [(x + v) % ring for x, v in zip(places, speeds)]
    return [f"{particles} particles in {steps} steps: {pairs} pairs were close"]


def picture(ranks):
    rows = min(d for d in range(1, ranks + 1) if ranks % d == 0 and d * d >= ranks)
    total = sum(((x - 150) ** 2 + (y - 100) ** 2) // 64 % 256 for x in range(300) for y in range(200))
    return [f"300 x 200 pixels in {rows} x {ranks // rows} blocks, {300 * 200 + 15} bytes; "
            f"their sum is {total}"]


def master_worker(_ranks):
    limit = 60000
    sieve = bytearray([1]) * limit
    sieve[0] = sieve[1] = 0
    for d in range(2, int(limit**0.5) + 1):
        if sieve[d]:
            sieve[d * d::d] = bytes(len(range(d * d, limit, d)))
    primes = [n for n in range(limit) if sieve[n]]
    return [f"{len(primes)} primes below {limit}; their sum is {sum(primes)}, "
            f"the largest is {primes[-1]}"]


def random_number(i):
    mask = 2**64 - 1
    x = (i * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def overlap(_ranks):
    samples = 12 * 6000
    bins = [0] * 1024
    for i in range(samples):
        bins[sum((random_number(i) & 0xFFFFFFFF).to_bytes(4, "little"))] += 1
    mean = sum(b * count for b, count in enumerate(bins)) / samples
    fullest = bins.index(max(bins))
    return [f"{samples} samples: mean {mean:.3f}, fullest bin {fullest} with {bins[fullest]}"]


def partitioned(ranks):
    total = sum(i * (round_ + 1) + rank for rank in range(ranks) for round_ in range(5) for i in range(8000))
    return [f"{ranks} ranks have received numbers whose sum is {total}"]


def globals_(ranks):
    return [f"{ranks} of {ranks} ranks found their globals as they left them"]


def workers(_ranks):
    return [f"pi is about {math.pi:.8f}"]


EXAMPLES = {"workers": workers, "hello": hello, "ring": ring, "pi": pi, "matrix_product": matrix_product, "fox": matrix_product,
            "heat2d": heat2d, "histogram": histogram, "cloud": cloud, "picture": picture, "master_worker": master_worker,
            "overlap": overlap, "partitioned": partitioned, "globals": globals_}


def expected(name, ranks):
    return sorted(EXAMPLES[name](ranks, *ARGUMENTS.get(name, [])))
