"""How a model's latency varies on a GPU: alone, and with 2 to 16 threads that run it at once (Clockwork, Fig. 2).

    python3 replay/workers/concurrent_threads.py --out clockwork-fig-2.csv

Each thread has a stream of its own and asks for a batch of one as soon as its last is back. Printed last: the paper's
claims beside what was measured. It ran on an H200.
"""

import run_torch  # first: it keeps stdout for answers

# isort: split
import argparse
import csv
import sys
import threading
import time

CLAIMS = """alone, the 99.99th percentile is {spread:.3f} % above the median (paper: within 0.03 %)
with 16 threads, throughput is {gain:+.0f} % (paper: up to +25 %)
with 16 threads, the 99.99th percentile is {tail:.0f} times that of one (paper: about 100 times)"""


def quantile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def measured(options, threads):
    """The latencies of all threads, sorted, in ns."""
    took, ready, turn = [], threading.Barrier(threads), threading.Lock()

    def one():
        worker = run_torch.Worker(options)
        # A graph cannot be captured while another thread allocates.
        with turn:
            worker.hello("lane", 0)
            worker.prepare([{"run": options.run, "max_batch": 1, "lengths": []}])
        ready.wait()
        own, now = [], time.monotonic_ns()
        end = now + int(options.seconds * 1e9)
        while now < end:
            worker.run(0, 1, None)
            own.append(time.monotonic_ns() - now)
            now += own[-1]
        took.extend(own)

    all_ = [threading.Thread(target=one) for _ in range(threads)]
    [each.start() for each in all_]
    [each.join() for each in all_]
    return sorted(took)


def main():
    parser = run_torch.parser()
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(dtype="fp16")
    parser.add_argument("--run", default="torchvision:resnet50", help="as in a worker's file")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each number of threads")
    parser.add_argument("--quick", action="store_true", help="half a second each: shows that it works")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    options.seconds = 0.5 if options.quick else options.seconds
    lines, rows = [["run", "threads", "batches", "per_s", "p50_us", "p99_us", "p99_99_us", "max_us"]], {}
    for threads in (1, 2, 4, 8, 16):
        took = measured(options, threads)
        rows[threads] = [len(took) / options.seconds, *(quantile(took, q) / 1e3 for q in (0.5, 0.99, 0.9999, 1.0))]
        lines.append([options.run, threads, len(took), *(f"{value:.1f}" for value in rows[threads])])
    with open(options.out, "w", encoding="utf8", newline="") as file:
        csv.writer(file).writerows(lines)
    one, most = rows[1], rows[16]
    spread, gain = 100 * (one[3] / one[1] - 1), 100 * (most[0] / one[0] - 1)
    print(CLAIMS.format(spread=spread, gain=gain, tail=most[3] / one[3]), file=sys.stderr)


if __name__ == "__main__":
    main()
