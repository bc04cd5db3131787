"""Published DNN-inference schedulers, simulated and compared with yours.

    import orrery

    class Shortest(orrery.Policy):
        def on_start(self, ctx, out): ...
        def on_arrival(self, now, request, out): ...
        def on_result(self, now, batch, out): ...

    r = orrery.run("one-gpu-bert.toml", ["orloj", "clockwork", Shortest])
    r.results          # the rows of `orrery run --format csv`; any reader of Arrow takes them
"""

from __future__ import annotations

import copy as _copy
import hashlib as _hashlib
import inspect as _inspect
import json as _json
import os as _os
from dataclasses import dataclass as _dataclass

from . import _orrery
from ._orrery import Batch, Context, Device, Out, Profile, Request, Table, __version__

__all__ = [
    "Batch", "Context", "Device", "Out", "Policy", "Profile", "Reproduced", "Request", "Result", "Table",
    "__version__", "check", "experiments", "reproduce", "run",
]


class Policy:
    """A scheduler. Times are whole nanoseconds of simulated time.

    A run gets an object of its own: of a class it is made without arguments, of an object it is a deep copy.
    """

    name: str | None = None
    """How results call it (after `python:`); the class's name by default."""

    def on_start(self, ctx: Context, out: Out) -> None:
        """The run begins. `ctx` has devices, models and profiles."""

    def on_arrival(self, now: int, request: Request, out: Out) -> None:
        """A request arrived."""

    def on_result(self, now: int, batch: Batch, out: Out) -> None:
        """A batch or a load came to its end. Unless it is `done`, its requests are the policy's again."""

    def on_timer(self, now: int, key: int, out: Out) -> None:
        """A timer went off."""

    def on_device(self, now: int, device: Device, out: Out) -> None:
        """A device came, is going or went."""


@_dataclass(frozen=True)
class Result:
    """What `run` gives."""

    results: Table
    """A row for each policy, scope and metric: the columns of `docs/formats.md`."""
    requests: Table | None
    """A row for each request, if asked for."""

    def value(self, policy: str, metric: str = "finish_rate", scope: str = "all") -> float | None:
        """One number, by the policy's text as it was given (`python:NAME` for one's own)."""
        rows = self.results.to_dict()
        keys = zip(rows["policy"], rows["metric"], rows["scope"], rows["versus"], rows["value"])
        for of, what, where, versus, value in keys:
            if (of, what, where, versus) == (policy, metric, scope, ""):
                return value
        raise ValueError(f"no row has policy {policy!r}, metric {metric!r}, scope {scope!r}")


_HANDLERS = ("on_start", "on_arrival", "on_result", "on_timer", "on_device")


def _policy(given):
    """A published policy's text, or (name, what makes an object, hash of its source)."""
    if isinstance(given, str):
        return given
    of = given if isinstance(given, type) else type(given)
    missing = [h for h in _HANDLERS if not callable(getattr(of, h, None))]
    if missing:
        raise ValueError(
            f"{of.__name__} has no {', '.join(missing)}: derive it from orrery.Policy, or name a published "
            "policy such as 'orloj'"
        )
    make = of if isinstance(given, type) else (lambda: _copy.deepcopy(given))
    try:
        source = _inspect.getsource(of)
    except (OSError, TypeError):
        source = of.__qualname__
    name = getattr(given, "name", None) or of.__name__
    if not all(c.isalnum() or c in "-_+." for c in name):
        raise ValueError(f"policy name {name!r}: letters, digits, `-`, `_`, `+`, `.` are allowed")
    return name, make, _hashlib.sha256(source.encode()).hexdigest()


def _scenario(scenario):
    if isinstance(scenario, dict):
        return "dict", _json.dumps(scenario)
    if isinstance(scenario, _os.PathLike) or "\n" not in scenario:
        return "path", _os.fspath(scenario)
    return "text", scenario


def _set(changes):
    return _json.dumps(list(changes.items())) if changes else None


def run(scenario, policies, *, seeds=1, seed=None, set=None, requests=False, audit=True) -> Result:
    """Runs policies on a scenario (a path, TOML text or a dict), on the same arrivals.

    `policies` are texts such as `"clockwork[preset=paper]"`, classes derived from `Policy`, or objects of them.
    Each after the first is compared with the first. `seeds` replications begin with `seed` (the scenario's by
    default). `set` changes keys, as `{"arrivals.gamma.rate_per_s": 130.0}`. With `audit`, a run of a policy in
    Python that breaks a rule of the cluster is an error. Wrong input is a `ValueError` with the command line's text;
    a handler's exception leaves as it is.
    """
    if isinstance(policies, (str, type)) or not hasattr(policies, "__iter__"):
        policies = [policies]
    policies = [_policy(p) for p in policies]
    if not policies:
        raise ValueError("no policy: give at least one, such as 'fifo'")
    kind, text = _scenario(scenario)
    return Result(*_orrery.run(kind, text, _set(set), policies, seeds, seed, audit, requests))


@_dataclass(frozen=True)
class Reproduced:
    """What `reproduce` gives. A notebook shows the figure."""

    results: Table
    """The rows of `orrery reproduce --format csv`."""
    text: str
    """What `orrery reproduce` prints."""
    svg: str | None
    """The experiment's figure, if it has one."""

    def _repr_svg_(self) -> str | None:
        return self.svg

    def __str__(self) -> str:
        return self.text


def experiments() -> list[str]:
    """The ids of all tables, figures and studies, as `orrery list` has them."""
    return _orrery.experiments()


def reproduce(id, *, case=(), seeds=None, paper=None) -> Reproduced:
    """A paper's table or figure, or an experiment file, as `orrery reproduce` runs it.

    `case` names some cases, `seeds` replications in place of the file's, `paper` a file of numbers in place of the
    paper's.
    """
    cases = [case] if isinstance(case, str) else list(case)
    return Reproduced(*_orrery.reproduce(_os.fspath(id), cases, seeds, paper and _os.fspath(paper)))


def check(policy, scenario=None, *, seed=1) -> str:
    """Runs a policy twice, audited, and with every hash order changed: the schedules must be the same.

    Returns the hash of the schedule. A difference is an `AssertionError`: a set's order or `id()` are the usual
    cause. The second run is in a process of its own.
    """
    import subprocess
    import sys

    kind, text = _scenario(scenario if scenario is not None else _SMALL)
    own = _policy(policy)
    if isinstance(own, str):
        raise ValueError("check is for a policy in Python; published ones are tested with orrery")
    first = _orrery.log_sha256(kind, text, None, own, seed)
    again = _orrery.log_sha256(kind, text, None, own, seed)
    if first != again:
        raise AssertionError(f"{own[0]}: two runs in a row differ: the policy keeps something between runs")
    of = policy if isinstance(policy, type) else type(policy)
    try:
        source = _inspect.getsourcefile(of)
    except TypeError:
        source = None
    # A program that checks its own policy is loaded again by the check: once is enough.
    if _CHECKING in _os.environ or source is None or not _os.path.exists(source) or "." in of.__qualname__:
        return first
    program = (
        "import importlib.util, sys, orrery\n"
        "spec = importlib.util.spec_from_file_location('policy', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec); sys.modules['policy'] = module\n"
        "spec.loader.exec_module(module)\n"
        "own = orrery._policy(getattr(module, sys.argv[2]))\n"
        "print(orrery._orrery.log_sha256(sys.argv[3], sys.argv[4], None, own, int(sys.argv[5])))\n"
    )
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", program, source, of.__name__, kind, text, str(seed)]
        env = {**_os.environ, "PYTHONHASHSEED": hash_seed, _CHECKING: "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        if done.returncode != 0:
            raise AssertionError(f"{own[0]}: it cannot be loaded from {source} again:\n{done.stderr}")
        if done.stdout.split()[-1:] != [first]:
            raise AssertionError(
                f"{own[0]}: with PYTHONHASHSEED={hash_seed} the schedule is another: do not go by the order of a "
                "set, or by id() or hash()"
            )
    return first


_CHECKING = "ORRERY_CHECKING"

_SMALL = """
name = "small"
policies = ["fifo"]
[[model]]
name = "a"
slo_ms = 60.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }
[[model]]
name = "b"
slo_ms = 40.0
latency = { affine = { alpha_ms = 2.0, beta_ms = 3.0 } }
[[device]]
kind = "gpu"
count = 2
[[app]]
name = "a"
model = "a"
[[app]]
name = "b"
model = "b"
[arrivals]
poisson = { rate_per_s = 900.0 }
requests = 2000
"""
