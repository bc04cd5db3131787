"""What a policy in Python costs, and a table: processor time. The lines of `docs/python.md`."""

import pathlib
import time

import orrery
from fifo import Fifo

SCENARIO = pathlib.Path(__file__).parents[2] / "scenarios" / "one-gpu-bert.toml"


def cost(policy, n, **more):
    began = time.process_time()
    result = orrery.run(SCENARIO, [policy], set={"arrivals.requests": n}, **more)
    return time.process_time() - began, result


def main():
    for name, policy, audit in [
        ("fifo in Rust", "fifo", False),
        ("fifo in Python, audited", Fifo, True),
        ("fifo in Python", Fifo, False),
    ]:
        seconds, _ = cost(policy, 300_000, audit=audit)
        print(f"{name:24} {300_000 / seconds:12,.0f} requests/s")
    print(f"{'a call with one request':24} {1e3 * min(cost('fifo', 1)[0] for _ in range(20)):12.1f} ms")
    try:
        import polars
    except ImportError:
        return
    _, result = cost("fifo", 1_000_000, requests=True)
    for what in ("first time", "again"):
        began = time.perf_counter()
        polars.DataFrame(result.requests)
        print(f"{'to polars, ' + what:24} {1e3 * (time.perf_counter() - began):12.1f} ms")


if __name__ == "__main__":
    main()
