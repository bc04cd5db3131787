"""The protocol of docs/worker.md, for workers in Python.

Import it first: from then on, what a library prints goes to stderr, and stdout is for answers.
"""

import json
import os
import sys
import time
import traceback

ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)


def serve(worker):
    """Answers questions until the end of stdin.

    `worker.hello(role, device)` gives `name` and more of the answer, `prepare(models)` nothing; `run(model, size, length)`
    and `load(model)` give `device_ns` and `away_ns` where they know them.
    """
    for line in sys.stdin:
        question = json.loads(line)
        answer = {"id": question["id"]}
        try:
            answer |= answer_of(worker, question)
        except Exception as fault:  # noqa: BLE001 (whatever it is, it is the answer)
            traceback.print_exc()
            answer["error"] = f"{type(fault).__name__}: {fault}"
        print(json.dumps(answer), file=ANSWERS)


def answer_of(worker, question):
    what = question["do"]
    if what == "hello":
        return {"orrery_worker": 1} | worker.hello(question["role"], question["device"])
    if what == "prepare":
        worker.prepare(question["models"])
    if what not in ("run", "load"):
        return {}
    start = time.monotonic_ns()
    if what == "run":
        more = worker.run(question["model"], question["size"], question["length"])
    else:
        more = worker.load(question["model"])
    return {"start_ns": start, "end_ns": time.monotonic_ns()} | (more or {})


class OnThisThread:
    """Times work that a single thread does: what is not its processor time, the host took away."""

    def __init__(self, threads):
        self.alone = threads == 1

    def __enter__(self):
        self.wall, self.cpu = time.monotonic_ns(), time.thread_time_ns()
        return self

    def __exit__(self, *_):
        cpu = time.thread_time_ns() - self.cpu
        away = max(0, time.monotonic_ns() - self.wall - cpu)
        self.times = {"device_ns": cpu, "away_ns": away} if self.alone else {}
