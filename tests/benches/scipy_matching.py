"""Times scipy's linear_sum_assignment on the matrices that the benchmark `matching` wrote.

    cargo bench -p orrery-benches --features run --bench matching -- --write matrices.txt
    python3 benches/scipy_matching.py matrices.txt

It prints mean microseconds a matrix (the best of 20 rounds), as the benchmark does, and its total cost.
"""

import sys
import time

import numpy as np
from scipy.optimize import linear_sum_assignment

shapes = {}
with open(sys.argv[1]) as file:
    for line in file:
        rows, columns, *costs = map(int, line.split())
        matrix = np.array(costs, dtype=float).reshape(rows, columns)
        shapes.setdefault((rows, columns), []).append(matrix)

print("rows columns us_per_matrix")
for (rows, columns), matrices in shapes.items():
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for matrix in matrices:
            linear_sum_assignment(matrix)
        best = min(best, (time.perf_counter() - start) * 1e6 / len(matrices))
    print(rows, columns, f"{best:.2f}")
