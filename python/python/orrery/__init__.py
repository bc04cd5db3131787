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
import functools as _functools
import hashlib as _hashlib
import inspect as _inspect
import json as _json
import os as _os
from dataclasses import dataclass as _dataclass
from dataclasses import field as _field

from . import _orrery
from ._orrery import App, Batch, Context, Device, Out, Profile, Request, Table, __version__, verbosity

__all__ = [
    "Answers", "App", "Arena", "Batch", "Calibrated", "Context", "Device", "Figure", "Out", "Planned", "Policy", "Profile",
    "Reproduced", "Request", "Result", "Table", "__version__", "arena", "calibrate", "check", "experiments", "figure", "goodput", "plan", "reproduce", "run",
    "sweep", "verbosity",
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


def _value(results, policy, metric, scope):
    rows = results.to_dict()
    keys = zip(rows["policy"], rows["metric"], rows["scope"], rows["versus"], rows["value"])
    for of, what, where, versus, value in keys:
        if (of, what, where, versus) == (policy, metric, scope, ""):
            return value
    raise ValueError(f"no row has policy {policy!r}, metric {metric!r}, scope {scope!r}")


@_dataclass(frozen=True)
class Result:
    """What `run` gives. The tables of details are those of the first seed, and made when they are asked for."""

    results: Table
    """A row for each policy, scope and metric: the columns of `docs/formats.md`."""
    requests: Table | None
    """A row for each request, if asked for."""
    _call: tuple = _field(repr=False)
    """The scenario, the policies by name, and the first seed."""

    def value(self, policy: str, metric: str = "finish_rate", scope: str = "all") -> float | None:
        """One number, by the policy's text as it was given (`python:NAME` for one's own)."""
        return _value(self.results, policy, metric, scope)

    @property
    def notes(self) -> list[str]:
        """What must be known before the numbers are relied on, as `orrery run` prints it under its table."""
        return _orrery.notes(self.results)

    @_functools.cached_property
    def _tables(self):
        scenario, policies, seed = self._call
        return _orrery.tables(scenario, list(policies.values()), seed)

    @property
    def distributions(self) -> Table:
        """Latencies, queueing times, batch sizes and what requests ask for, as `orrery run --details` writes them."""
        return self._tables[0]

    @property
    def series(self) -> Table:
        """The load, the goodput and the devices over time, as `orrery run --details` writes them."""
        return self._tables[1]

    @_functools.cached_property
    def batches(self) -> Table:
        """The batches that ran and the requests that were dropped, as `orrery log timeline --format csv` has them."""
        scenario, policies, seed = self._call
        return _orrery.batches(scenario, list(policies.values()), seed)

    def explain(self, policy: str, request: int | None = None, worst: int = 5) -> str:
        """What happened to a request under a policy, step by step; without one, which requests fared worst."""
        scenario, policies, seed = self._call
        if policy not in policies:
            raise ValueError(f"policy {policy!r} was not run; there are {', '.join(policies)}")
        return _orrery.explain(scenario, policies[policy], seed, request, worst)


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


class _Input:
    """A scenario or a plan: a path, TOML text or a dict, and what is changed in it."""

    def __init__(self, given, changes=None):
        if isinstance(given, dict):
            self.kind, self.text = "dict", _json.dumps(given)
        elif isinstance(given, _os.PathLike) or "\n" not in given:
            self.kind, self.text = "path", _os.fspath(given)
        else:
            self.kind, self.text = "text", given
        self.set = _json.dumps(list(changes.items())) if changes else None


def _policies(given):
    """By name in results."""
    if isinstance(given, (str, type)) or not hasattr(given, "__iter__"):
        given = [given]
    policies = [_policy(p) for p in given]
    if not policies:
        raise ValueError("no policy: give at least one, such as 'fifo'")
    named = {}
    for policy in policies:
        name = policy if isinstance(policy, str) else f"python:{policy[0]}"
        if name in named:
            raise ValueError(f"policy {name!r} twice: give each once, one's own with a `name` of its own")
        named[name] = policy
    return named


def run(
    scenario, policies, *, seeds=1, seed=None, set=None, requests=False, audit=True, jobs=0
) -> Result:
    """Runs policies on a scenario (a path, TOML text or a dict), on the same arrivals.

    `policies` are texts such as `"clockwork[preset=paper]"`, classes derived from `Policy`, or objects of them.
    Each after the first is compared with the first. `seeds` replications begin with `seed` (the scenario's by
    default). `set` changes keys, as `{"arrivals.gamma.rate_per_s": 130.0}`. With `audit`, a run of a policy in
    Python that breaks a rule of the cluster is an error. Published policies run in `jobs` threads, one for each core
    by default. Wrong input is a `ValueError` with the command line's text; a handler's exception leaves as it is.
    """
    policies, scenario = _policies(policies), _Input(scenario, set)
    own = list(policies.values())
    results, rows = _orrery.run(scenario, own, seeds, seed, audit, requests, jobs)
    return Result(results, rows, (scenario, policies, seed))


@_dataclass(frozen=True)
class Answers:
    """What `goodput` gives."""

    results: Table
    """The rows of `orrery goodput --format csv`."""
    text: str
    """What `orrery goodput` prints, with what must be known before each answer is relied on."""

    def value(self, policy: str, metric: str = "goodput_per_s") -> float | None:
        """One number, by the policy's text: the mean of the searches; `devices_needed` with `find="devices"`."""
        return _value(self.results, policy, metric, "all")

    def __str__(self) -> str:
        return self.text


class _Sought:
    def __init__(self, find, criterion, target, requests_per_model, probe_s, tolerance):
        self.find, self.criterion, self.target = find, criterion, target
        self.requests_per_model, self.probe_s, self.tolerance = requests_per_model, probe_s, tolerance


def goodput(
    scenario, policies, *, find="rate", criterion="bad-rate", target=None, rate=None, requests_per_model=None,
    probe_s=None, tolerance=None, seeds=3, seed=None, set=None, jobs=0,
) -> Answers:
    """The highest rate that each policy sustains within the SLOs, or with `find="devices"` the fewest devices for the
    scenario's rate: `orrery goodput`, with its defaults.

    Each of `seeds` is a search of its own. Ctrl-C takes effect when the searches under way are done.
    """
    sought = _Sought(find, criterion, target, requests_per_model, probe_s, tolerance)
    own = list(_policies(policies).values())
    return Answers(*_orrery.goodput(_Input(scenario, set), own, sought, rate, seeds, seed, jobs))


def sweep(file, policies=None, *, seeds=None, audit=True, jobs=0) -> Table:
    """A sweep file over its axes, in memory: the rows of `orrery sweep --format csv`.

    `policies`, published ones or one's own, stand for the file's; all are compared with the file's `compare_to`, or
    with the first of them. Sweeps that are to be kept, or shared by machines, are `orrery sweep`'s.
    """
    own = [] if policies is None else list(_policies(policies).values())
    return _orrery.sweep(_os.fspath(file), own, seeds, audit, jobs)


@_dataclass(frozen=True)
class Arena:
    """What `arena` gives. A notebook shows the maps."""

    results: Table
    """The rows of `orrery arena --format csv`."""
    text: str
    """What `orrery arena` prints."""
    html: str
    """The page that `orrery arena --html` writes."""
    svg: str | None
    """The maps of who leads where."""

    def value(self, policy: str, scenario: str) -> float | None:
        """A score, by the policy's text (`python:NAME` for one's own)."""
        rows = self.results.to_dict()
        for of, where, what, value in zip(rows["policy"], rows["case"], rows["metric"], rows["value"]):
            if (of, where, what) == (policy, scenario, "arena_score"):
                return value
        raise ValueError(f"no row has policy {policy!r} and scenario {scenario!r}")

    def _repr_svg_(self) -> str | None:
        return self.svg

    def __str__(self) -> str:
        return self.text


def arena(
    policies=(), *, suite="2026.1", quick=False, alone=False, seeds=5, audit=True, out=None, jobs=0
) -> Arena:
    """Lets policies compete with all published ones on a frozen suite of scenarios, as `orrery arena` does.

    `policies` are texts, classes derived from `Policy`, or objects of them. `quick` runs a sixth of the suite, `alone`
    leaves the published ones out, and `out` is a folder where finished cells of published policies are kept.
    """
    if seeds < 2:
        raise ValueError(f"seeds: found {seeds}; allowed: at least 2: differences are judged seed by seed")
    given = [] if policies == () else list(_policies(policies).values())
    if alone and not given:
        raise ValueError("alone: no policy is left; give at least one")
    out = None if out is None else _os.fspath(out)
    return Arena(*_orrery.arena(_os.fspath(suite), quick, given, alone, seeds, audit, out, jobs))


@_dataclass(frozen=True)
class Calibrated:
    """What `calibrate` gives."""

    results: Table
    """The rows of `orrery calibrate --format csv`: ours, and in the column `paper` what was measured."""
    text: str
    """What `orrery calibrate` prints."""
    scenario: str | None
    """The recommended scenario as TOML text, for the folder of the one that was given; `None` where nothing explains
    the rest."""

    def __str__(self) -> str:
        return self.text


def calibrate(
    scenario, measured, *, policy=None, requests=10_000, batch=None, arrivals=None, model=None,
    time_is=None, time_unit=None, time_format=None, set=None, seed=None, jobs=0
) -> Calibrated:
    """Replays a measured load (a file of a tool, an access log with latencies, a table of one's own) and says which
    single assumption explains most of what is left, as `orrery calibrate` does.
    """
    times = (time_is, time_unit, time_format)
    asked = (policy, requests, batch, arrivals, model, times, seed, jobs)
    return Calibrated(*_orrery.calibrate(_Input(scenario, set), _os.fspath(measured), *asked))


@_dataclass(frozen=True)
class Planned:
    """What `plan` gives."""

    results: Table
    """The rows of `orrery plan --format csv`, and the frontier."""
    text: str
    """What `orrery plan` prints."""
    is_answered: bool
    """Whether there is a pool that does what was asked."""

    def __str__(self) -> str:
        return self.text


def plan(plan, *, what_if=(), seed=None, seeds=None, jobs=0) -> Planned:
    """Which machines, how many, at what cost: a plan file (a path, TOML text or a dict), as `orrery plan` answers it.

    `what_if` asks again with something changed, such as `"load=1.5"`.
    """
    asked = [what_if] if isinstance(what_if, str) else list(what_if)
    return Planned(*_orrery.plan(_Input(plan), asked, seed, seeds, jobs))


@_dataclass(frozen=True)
class Figure:
    """A figure. A notebook shows it."""

    _picture: _orrery.Picture = _field(repr=False)

    @property
    def svg(self) -> str:
        """The picture."""
        return self._picture.svg

    def save(self, path) -> None:
        """Writes it as SVG, PNG or PDF, as the name ends."""
        picture = bytes(self._picture.to_bytes(_os.fspath(path)))
        with open(path, "wb") as file:
            file.write(picture)

    def _repr_svg_(self) -> str:
        return self.svg


_TABLES = {
    "histogram": "distributions", "latency-cdf": "distributions", "batch-size-cdf": "distributions",
    "time-series": "series", "timeline": "batches",
}


def figure(of, kind=None, *, x=None, metric=None, systems=(), scopes=(), width_in=None, height_in=None) -> Figure:
    """Draws a table, or a `Result`, as `orrery plot` does; in inches, where given.

    `kind` is one of `finish-rate`, `metric`, `sensitivity`, `histogram`, `latency-cdf`, `batch-size-cdf`,
    `time-series`, `timeline`; by default the table decides. Of a `Result`, the kind decides which table is drawn,
    `latency-cdf` by default.
    """
    if isinstance(of, Result):
        kind = kind or "latency-cdf"
        of = getattr(of, _TABLES.get(kind, "results"))
    elif not isinstance(of, Table):
        of = of.results
    names = [systems] if isinstance(systems, str) else list(systems)
    scopes = [scopes] if isinstance(scopes, str) else list(scopes)
    return Figure(_orrery.figure(of, kind, x, metric, names, scopes, (width_in, height_in)))


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


def reproduce(id, *, case=(), seeds=None, paper=None, jobs=0) -> Reproduced:
    """A paper's table or figure, or an experiment file, as `orrery reproduce` runs it.

    `case` names some cases, `seeds` replications in place of the file's, `paper` a file of numbers in place of the
    paper's.
    """
    cases = [case] if isinstance(case, str) else list(case)
    return Reproduced(*_orrery.reproduce(_os.fspath(id), cases, seeds, paper and _os.fspath(paper), jobs))


def check(policy, scenario=None, *, seed=1, scales=True) -> str:
    """Runs a policy audited, twice, with other hash orders, and with all times three times as long: the schedules must
    be the same. Requests that are left without an answer at the end are an error, unless `until_s` ends the run.

    Returns the hash of the schedule. A difference is an `AssertionError` that says what differs first. The order of a
    set, `id()` and `hash()` are the usual causes of the first kind; a time of the policy's own, such as a timeout of
    5 ms, of the second: `scales=False` allows that. Runs with other hash orders are in processes of their own.
    """
    import subprocess
    import sys

    if isinstance(policy, str):
        raise ValueError("check is for a policy in Python; published ones are tested with orrery")
    of, own = _Input(scenario if scenario is not None else _SMALL), _policy(policy)
    name = own[0]
    first = _orrery.schedule(of, own, seed)
    where = _orrery.differ(of, own, own, seed, 1)
    if where is not None:
        raise AssertionError(
            f"{name}: two runs in a row differ: the policy keeps something between runs, or draws without a seed\n"
            f"  {where}"
        )
    if scales:
        where = _orrery.differ(of, own, own, seed, 3)
        if where is not None:
            raise AssertionError(
                f"{name}: with all times three times as long the schedule is another: the policy has a time of its "
                f"own; if that is meant, `scales=False` allows it\n  {where}"
            )
    of_class = policy if isinstance(policy, type) else type(policy)
    try:
        source = _inspect.getsourcefile(of_class)
    except TypeError:
        source = None
    # A program that checks its own policy is loaded again by the check: once is enough.
    if _CHECKING in _os.environ or source is None or not _os.path.exists(source) or "." in of_class.__qualname__:
        return first
    program = (
        "import importlib.util, sys, orrery\n"
        "spec = importlib.util.spec_from_file_location('policy', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec); sys.modules['policy'] = module\n"
        "spec.loader.exec_module(module)\n"
        "own = orrery._policy(getattr(module, sys.argv[2]))\n"
        "of = orrery._Input('\\n'); of.kind, of.text = sys.argv[3], sys.argv[4]\n"
        "print(orrery._orrery.schedule(of, own, int(sys.argv[5])))\n"
    )
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", program, source, of_class.__name__, of.kind, of.text, str(seed)]
        env = {**_os.environ, "PYTHONHASHSEED": hash_seed, _CHECKING: "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        if done.returncode != 0:
            raise AssertionError(f"{name}: it cannot be loaded from {source} again:\n{done.stderr}")
        if done.stdout.split()[-1:] != [first]:
            raise AssertionError(
                f"{name}: with PYTHONHASHSEED={hash_seed} the schedule is another: do not go by the order of a "
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
