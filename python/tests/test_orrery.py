"""The wheel against the command line, and policies in Python against the same in Rust.

The command line is `orrery` on the path, or what `ORRERY` names; without it, what needs it is skipped.
"""

import concurrent.futures
import csv
import gc
import importlib.util
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

import pytest

import orrery

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
EXAMPLES = HERE.parent / "examples"
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
ORRERY = os.environ.get("ORRERY") or shutil.which("orrery")
BERT = str(ROOT / "scenarios" / "one-gpu-bert.toml")

needs_cli = pytest.mark.skipif(ORRERY is None, reason="no `orrery` on the path, and ORRERY names none")


def example(name):
    """A policy of the gallery, in a module of its own."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    own = [
        c for c in vars(module).values()
        if isinstance(c, type) and issubclass(c, orrery.Policy) and c.__module__ == name
    ]
    (policy,) = own
    return policy


Fifo = example("fifo")
GALLERY = [Fifo, example("earliest_deadline"), example("learning")]


def is_scenario(path):
    return "[[model]]" in path.read_text() or "[[zoo]]" in path.read_text()


@needs_cli
@pytest.mark.parametrize("path", [p for p in SCENARIOS if is_scenario(p)], ids=lambda p: p.stem)
def test_rows_are_the_command_line_s_byte_for_byte(path):
    command = [ORRERY, "run", str(path), "--format", "csv", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    policies = []
    for line in done.stdout.splitlines()[1:]:
        policy = next(csv.reader([line]))[5]
        if policy not in policies:
            policies.append(policy)
    assert orrery.run(str(path), policies).results.to_csv() == done.stdout


def small(rng):
    """A random small scenario, as a dict."""
    models = rng.randint(1, 3)
    ms = lambda low, high: round(rng.uniform(low, high), 3)
    latency = lambda: {"affine": {"alpha_ms": ms(0.2, 3), "beta_ms": ms(0.5, 5)}}
    scenario = {
        "name": "small",
        "seed": rng.randint(1, 1000),
        "model": [
            {"name": f"m{i}", "slo_ms": ms(12, 80), "latency": latency()} for i in range(models)
        ],
        "device": [{"kind": "gpu", "count": rng.randint(1, 3)}],
        "app": [{"name": f"a{i}", "model": f"m{i}"} for i in range(models)],
        "arrivals": {"poisson": {"rate_per_s": ms(50, 900)}, "requests": 300},
    }
    if rng.random() < 0.3:
        scenario["delays"] = {"dispatch_ms": ms(0, 1), "result_ms": ms(0, 1)}
    return scenario


@pytest.mark.parametrize("policy", GALLERY, ids=lambda p: p.name)
def test_the_gallery_passes_the_auditor_on_random_scenarios(policy):
    for seed in range(100):
        orrery.run(small(random.Random(seed)), [policy])


@pytest.mark.parametrize("policy", GALLERY, ids=lambda p: p.name)
def test_the_gallery_decides_the_same_under_every_hash_order(policy):
    assert len(orrery.check(policy, BERT)) == 64


def test_fifo_in_python_writes_the_log_of_fifo_in_rust():
    for seed in range(50):
        given = orrery._Input(small(random.Random(seed)))
        own = orrery._policy(Fifo)
        assert orrery._orrery.differ(given, "fifo[max_batch=16]", own, seed, 1) is None, seed


def test_fifo_in_python_has_the_numbers_of_fifo_in_rust():
    result = orrery.run(BERT, ["fifo[max_batch=16]", Fifo], seeds=2)
    rows = result.results.to_dict()
    of = lambda policy: [
        (m, s, v, n)
        for p, m, s, v, n, versus in zip(
            *(rows[c] for c in ("policy", "metric", "scope", "value", "samples", "versus"))
        )
        if p == policy and not versus
    ]
    assert of("python:fifo") == of("fifo[max_batch=16]") != []


def test_a_policy_that_goes_by_the_order_of_a_set_is_found_out():
    with pytest.raises(AssertionError, match="PYTHONHASHSEED"):
        orrery.check(example_of_a_set(), BERT)


def example_of_a_set():
    sys.path.insert(0, str(HERE))
    import by_the_order_of_a_set

    return by_the_order_of_a_set.BySet


def test_an_exception_leaves_as_it_is_and_at_once():
    class Fails(Fifo):
        def on_arrival(self, now, request, out):
            if request.id == 7:
                raise KeyError("oops")
            assert request.id < 7, "the run went on"
            super().on_arrival(now, request, out)

    with pytest.raises(KeyError, match="oops"):
        orrery.run(BERT, [Fails])


def after(text, act):
    """FIFO that does something wrong at the hundredth arrival."""

    class Wrong(Fifo):
        def on_arrival(self, now, request, out):
            if request.id == 100:
                with pytest.raises(ValueError, match=text):
                    act(self, request, out)
                raise StopIteration
            super().on_arrival(now, request, out)

    with pytest.raises(StopIteration):
        orrery.run(BERT, [Wrong])


@pytest.mark.parametrize(
    "text, act",
    [
        ("no device 9", lambda p, r, out: out.exec(9, r.model, [r.id])),
        ("no model 5", lambda p, r, out: out.exec(0, 5, [r.id])),
        ("no lane 3", lambda p, r, out: out.exec(0, r.model, [r], lane=3)),
        ("at least one", lambda p, r, out: out.exec(0, r.model, [])),
        ("request 0 .* has ended", lambda p, r, out: out.exec(0, r.model, [0])),
        ("never arrived", lambda p, r, out: out.exec(0, r.model, [10_000])),
        ("twice", lambda p, r, out: out.exec(0, r.model, [r, r])),
        ("another batch", lambda p, r, out: (out.exec(0, r.model, [r]), out.exec(0, r.model, [r]))),
        ("has ended", lambda p, r, out: (out.drop(r), out.drop(r))),
        ("no reason", lambda p, r, out: out.drop(r, "bored")),
        ("never issued", lambda p, r, out: out.cancel(10**9)),
        ("below", lambda p, r, out: out.set_timer(2**60, 0)),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_wrong_action_is_an_error_in_the_handler_s_own_line(text, act):
    after(text, act)


@needs_cli
def test_the_wheel_has_the_command():
    own = pathlib.Path(sys.executable).with_name("orrery")
    for options in (["list"], ["reproduce", "salus-fig-2-9", "--format", "csv", "-q"], ["run", "missing.toml"], ["--help"]):
        ours = subprocess.run([own, *options], capture_output=True)
        theirs = subprocess.run([ORRERY, *options], capture_output=True)
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr), options


def test_wrong_input_has_the_command_line_s_words():
    for call, text in [
        (lambda: orrery.run(BERT, ["orlj"]), "did you mean `orloj`"),
        (lambda: orrery.run("none.toml", ["fifo"]), "none.toml"),
        (lambda: orrery.run(BERT, ["fifo"], set={"model.brt.slo_ms": 3}), "did you mean `bert`"),
        (lambda: orrery.run({"model": 3}, ["fifo"]), "remedy"),
        (lambda: orrery.run(BERT, []), "no policy"),
        (lambda: orrery.run(BERT, ["fifo"], seeds=0), "at least 1"),
        (lambda: orrery.run(BERT, [object()]), "on_arrival"),
        (lambda: orrery.run(BERT, [type("a b", (Fifo,), {"name": "a b"})]), "letters"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_a_policy_that_never_acts_leaves_all_pending():
    result = orrery.run(BERT, [type("Lazy", (orrery.Policy,), {})])
    assert result.value("python:Lazy") == 0.0
    pending, requests = (result.value("python:Lazy", m) for m in ("pending", "requests"))
    assert pending == requests > 0


def test_a_policy_that_leaves_requests_without_an_answer_does_not_pass_the_check(capsys):
    lazy = type("Lazy", (orrery.Policy,), {})
    with pytest.raises(AssertionError, match=r"python:Lazy: \d+ of \d+ requests are pending.*`out.drop`"):
        orrery.check(lazy)

    class Forgets(Fifo):
        name = "forgets"

        def on_arrival(self, now, request, out):
            if request.id != 100:
                super().on_arrival(now, request, out)

    with pytest.raises(AssertionError, match="python:forgets: 1 of "):
        orrery.check(Forgets)
    # A run that is cut off leaves some on their way.
    cut = {**small(random.Random(1)), "until_s": 0.1}
    orrery.check(Fifo, cut)
    with pytest.raises(AssertionError, match="pending"):
        orrery.check(lazy, cut)
    assert any(note.startswith("pending: ") for note in orrery.run(BERT, [lazy]).notes)
    assert "pending: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "call",
    [
        lambda: orrery.run(BERT, ["fifo"], requests=True),
        lambda: orrery.goodput(BERT, ["fifo"]),
        lambda: orrery.sweep(ROOT / "scenarios/sweeps/bert-slo.toml"),
        lambda: orrery.plan(ROOT / "scenarios/plans/kairos-five.toml"),
        lambda: orrery.reproduce("orloj-table-3"),
        lambda: orrery.check(Fifo),
        lambda: RESULT.batches,
        lambda: RESULT.distributions,
        lambda: RESULT.explain("fifo"),
    ],
)
@pytest.mark.parametrize("handler", ["__init__", "on_start", "on_arrival", "on_result"])
def test_no_policy_can_simulate_its_own_future(handler, call):
    def asks(self, *given):
        call()

    oracle = type("Oracle", (Fifo,), {"name": "oracle", handler: asks})
    with pytest.raises(RuntimeError, match="inside a policy: it could simulate its own future; call it before"):
        orrery.run(BERT, [oracle])
    orrery.run(BERT, ["fifo"])


RESULT = orrery.run(BERT, ["fifo"])


def test_a_policy_knows_its_applications_before_the_first_request():
    seen = {}

    class Looks(Fifo):
        name = "looks"

        def on_start(self, ctx, out):
            super().on_start(ctx, out)
            seen["models"], seen["apps"] = ctx.models, [ctx.app(i) for i in range(len(ctx.apps))]
            assert [app.name for app in seen["apps"]] == ctx.apps
            with pytest.raises(ValueError, match="no application 3; there are 0 to 2"):
                ctx.app(3)

        def on_arrival(self, now, request, out):
            app = seen["apps"][request.app]
            assert (app.id, app.model) == (request.app, request.model)
            slo = None if request.deadline is None else request.deadline - request.arrival
            assert slo == app.slo
            super().on_arrival(now, request, out)

    scenario = small(random.Random(1))
    latency = scenario["model"][0]["latency"]
    scenario["model"] = [{"name": n, "slo_ms": s, "latency": latency} for n, s in [("m", 30.0), ("n", 70.5)]]
    scenario["app"] = [
        {"name": "a", "model": "n"},
        {"name": "b", "model": "m", "slo_ms": 33.0},
        {"name": "c", "model": "m", "slo_ms": float("inf")},
    ]
    text = "\n".join(_toml(scenario))
    orrery.run(text, [Looks])
    assert seen["models"] == ["m", "n"]
    assert [(a.model, a.slo) for a in seen["apps"]] == [(1, 70_500_000), (0, 33_000_000), (0, None)]
    orrery.check(Looks, text)


def _toml(table):
    """Lines of TOML: JSON has no infinity."""
    value = lambda v: f"{{ {', '.join(f'{k} = {value(x)}' for k, x in v.items())} }}" if isinstance(v, dict) else (
        f"[{', '.join(map(value, v))}]" if isinstance(v, list) else repr(v)
    )
    return [f"{key} = {value(of)}" for key, of in table.items()]


def test_a_run_s_notes_are_the_command_line_s(capsys):
    result = orrery.run(BERT, ["symphony", "fifo"])
    (note,) = [n for n in result.notes if n.startswith("assumes-known-times: ")]
    assert note.endswith("(symphony)") and note in capsys.readouterr().err
    assert any(n.startswith("Seeds: ") for n in result.notes)


def test_a_run_gets_an_object_of_its_own():
    policy = Fifo()
    policy.max_batch = 4
    one = orrery.run(BERT, [policy], seeds=2).results.to_csv()
    assert orrery.run(BERT, [policy], seeds=2).results.to_csv() == one
    assert not hasattr(policy, "queues"), "the run's was a copy"


def test_rows_name_the_hash_of_the_source():
    inputs = orrery.run(BERT, [Fifo]).results.to_dict()["inputs_sha256"]
    assert all("python:fifo=" in i for i in inputs)


def test_a_row_for_each_request():
    result = orrery.run(BERT, ["fifo", Fifo], requests=True)
    rows = result.requests.to_dict()
    ends = [e for e, p in zip(rows["end"], rows["policy"]) if p == "fifo"]
    in_time = ends.count("in_time")
    assert len(result.requests) == 2 * len(ends) and in_time > 0
    for end, end_ns, deadline in zip(rows["end"], rows["end_ns"], rows["deadline_ns"]):
        assert end != "in_time" or end_ns <= deadline


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow", "duckdb"])
def test_readers_of_arrow_take_the_tables(library):
    module = pytest.importorskip(library)
    result = orrery.run(BERT, ["fifo"], requests=True)
    for table in (result.results, result.requests):
        if library == "polars":
            n, columns = module.DataFrame(table).height, module.DataFrame(table).columns
        elif library == "pandas":
            arrow = pytest.importorskip("pyarrow")
            frame = arrow.table(table).to_pandas()
            n, columns = len(frame), list(frame.columns)
        elif library == "pyarrow":
            n, columns = module.table(table).num_rows, module.table(table).column_names
        else:
            arrow = pytest.importorskip("pyarrow").table(table)
            n = module.sql("select count(*) from arrow").fetchall()[0][0]
            columns = arrow.column_names
        assert n == len(table) > 0 and columns == table.columns


def test_two_readings_share_one_buffer():
    arrow = pytest.importorskip("pyarrow")
    table = orrery.run(BERT, ["fifo"], requests=True).requests
    address = lambda: arrow.table(table).column("arrival_ns").chunk(0).buffers()[1].address
    assert address() == address()


def test_ctrl_c_ends_a_run():
    scenario = {
        "model": [{"name": "m", "slo_ms": 50.0, "latency": {"affine": {"alpha_ms": 0.1, "beta_ms": 0.1}}}],
        "app": [{"name": "a", "model": "m"}],
        "device": [{"kind": "gpu"}],
        "arrivals": {"poisson": {"rate_per_s": 1000.0}, "requests": 2_000_000_000},
    }
    # A shell lets what it runs in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        signal.alarm(1)
        with pytest.raises(KeyboardInterrupt):
            orrery.run(scenario, ["fifo"])
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_give_what_one_gives():
    alone = orrery.run(BERT, ["orloj", Fifo]).results.to_csv()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(orrery.run, BERT, ["orloj", Fifo]) for _ in range(8)]
        assert all(run.result().results.to_csv() == alone for run in runs)


def test_a_process_pool_can_import_it():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert pool.submit(in_a_process, BERT).result() == in_a_process(BERT)


def in_a_process(path):
    return orrery.run(path, ["fifo"]).results.to_csv()


def test_memory_stays_where_it_was():
    def resident_kib():
        text = pathlib.Path("/proc/self/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

    scenario = small(random.Random(1))
    run = lambda: orrery.run(scenario, [Fifo], requests=True)
    for _ in range(50):
        run()
    gc.collect()
    before = resident_kib()
    for _ in range(1000):
        run()
    gc.collect()
    assert resident_kib() - before < 16_384, "the tables of 1,000 runs are 26 MiB"


@needs_cli
def test_a_paper_s_table_is_the_command_line_s():
    asked = ["reproduce", "orloj-table-3", "--case", "one-modal", "--seeds", "1", "--quiet"]
    run = lambda *more: subprocess.run([ORRERY, *asked, *more], capture_output=True, text=True).stdout
    ours = orrery.reproduce("orloj-table-3", case="one-modal", seeds=1)
    assert ours.results.to_csv() == run("--format", "csv")
    assert str(ours) == run()
    assert ours._repr_svg_().startswith("<svg") or "<svg" in ours.svg
    assert "orloj-table-3" in orrery.experiments()
    with pytest.raises(ValueError, match="did you mean"):
        orrery.reproduce("orloj-table-33")


def test_a_notebook_shows_the_first_rows():
    html = orrery.run(BERT, ["fifo"], requests=True).requests._repr_html_()
    assert html.count("<tr>") == 21 and "more rows" in html and "<th>arrival_ns</th>" in html


def test_frames_come_from_the_tables_themselves():
    table = orrery.run(BERT, ["fifo"]).results
    for library, make in [("polars", table.to_polars), ("pyarrow", table.to_arrow)]:
        pytest.importorskip(library)
        assert len(make()) == len(table)
    pytest.importorskip("pandas")
    assert list(table.to_pandas().columns) == table.columns


def blocks_of(path):
    """The Python of a document, in one piece."""
    parts = (ROOT / path).read_text().split("```python\n")[1:]
    return "\n".join(part.split("```")[0] for part in parts)


@pytest.mark.parametrize("path", ["README.md", "docs/python.md", "docs/arena.md"])
def test_the_examples_of_the_documents_run(path, tmp_path):
    program = tmp_path / "example.py"
    program.write_text(blocks_of(path))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_the_notebook_runs():
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    path = ROOT / "python" / "notebooks" / "your-scheduler.ipynb"
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--stdout", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    assert done.returncode == 0, done.stderr
    assert "python:EarliestDeadline" in done.stdout
