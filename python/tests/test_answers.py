"""What is not a run: searches, plans, figures, explanations, and the tables of details."""

import csv
import io
import pathlib
import subprocess
import sys

import pytest

import orrery
from test_orrery import BERT, GALLERY, ORRERY, ROOT, Fifo, needs_cli

RESNETS = str(ROOT / "scenarios" / "resnet50-8gpu.toml")
PLAN = str(ROOT / "scenarios" / "plans" / "gpus-for-symphony.toml")


def cli(*args):
    done = subprocess.run([ORRERY, *map(str, args), "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_cli
def test_goodput_is_the_command_line_s_byte_for_byte():
    asked = dict(seeds=2, requests_per_model=2000)
    found = orrery.goodput(RESNETS, ["symphony", "clockwork"], **asked)
    policies = ["--policy", "symphony", "--policy", "clockwork"]
    flags = [*policies, "--seeds", 2, "--requests-per-model", 2000]
    assert found.results.to_csv() == cli("goodput", RESNETS, *flags, "--format", "csv")
    assert str(found) == cli("goodput", RESNETS, *flags)
    assert found.value("symphony") > found.value("clockwork") > 0


def test_goodput_of_a_policy_in_python_is_its_twin_s():
    found = orrery.goodput(BERT, ["fifo[max_batch=16]", Fifo], seeds=1, requests_per_model=1000)
    assert found.value("python:fifo") == found.value("fifo[max_batch=16]") > 0
    inputs = found.results.to_dict()["inputs_sha256"]
    assert sum("python:fifo=" in i for i in inputs) == len(inputs) / 2


SUITE = """
maps = [["load", "slo"]]

[[scenario]]
name = "low"
axes = "load=low;slo=1"
asks = "?"

[[scenario]]
name = "high"
axes = "load=high;slo=1"
asks = "?"
"""


def suite(folder):
    text = (ROOT / "scenarios" / "one-gpu-bert.toml").read_text()
    (folder / "low.toml").write_text(text)
    (folder / "high.toml").write_text(text)
    (folder / "suite.toml").write_text(SUITE)
    return folder


@needs_cli
def test_a_league_is_the_command_line_s_and_a_policy_s_place_is_its_twin_s(tmp_path):
    of, published = suite(tmp_path), ["nexus", "fifo[max_batch=16]"]
    found = orrery.arena(published, suite=of, alone=True, seeds=2)
    flags = ["--suite", of, "--alone", "--seeds", 2, *[w for p in published for w in ("--policy", p)]]
    assert str(found) == cli("arena", *flags)
    assert found.results.to_csv() == cli("arena", *flags, "--format", "csv")
    # The twin in Python has the same scores.
    twin = orrery.arena([*published, Fifo], suite=of, alone=True, seeds=2)
    for scenario in ("low", "high"):
        own, rust = (twin.value(p, scenario) for p in ("python:fifo", "fifo[max_batch=16]"))
        assert own == rust is not None
    assert "python:fifo" in twin.text and "python:fifo" in twin.html


def test_what_a_league_cannot_be_is_said():
    with pytest.raises(ValueError, match="at least 2"):
        orrery.arena(["fifo"], seeds=1)
    with pytest.raises(ValueError, match="2026.1"):
        orrery.arena(["fifo"], suite="2030.1")
    with pytest.raises(ValueError, match="alone"):
        orrery.arena(alone=True)


def test_an_exception_leaves_a_search():
    class Fails(Fifo):
        def on_result(self, now, batch, out):
            raise KeyError("oops")

    with pytest.raises(KeyError, match="oops"):
        orrery.goodput(BERT, [Fails], seeds=1, requests_per_model=1000)


@pytest.mark.parametrize(
    "call",
    [
        'orrery.plan(sys.argv[1], what_if=[f"load={1 + i / 100}" for i in range(50)])',
        'orrery.goodput(sys.argv[2], ["symphony", "orloj"], seeds=1000, requests_per_model=2000)',
        'orrery.reproduce("orloj-table-3-sensitivity")',
    ],
    ids=["plan", "goodput", "reproduce"],
)
def test_ctrl_c_leaves_long_calls(call):
    program = f"""
import signal, sys, orrery
# A shell lets what it runs in the background ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
for _ in range(2):
    signal.alarm(1)
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted")
print(orrery.run(sys.argv[2], "symphony").value("symphony") > 0)
"""
    command = [sys.executable, "-c", program, PLAN, RESNETS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "interrupted\ninterrupted\nTrue\n", done.stderr


@needs_cli
@pytest.mark.parametrize("path", sorted((ROOT / "scenarios" / "sweeps").glob("*.toml")), ids=lambda p: p.stem)
def test_a_sweep_is_the_command_line_s_byte_for_byte(path, tmp_path):
    ours = orrery.sweep(path, seeds=1)
    assert ours.to_csv() == cli("sweep", path, "--seeds", 1, "--out", tmp_path, "--format", "csv")


def test_a_sweep_with_a_policy_in_python_has_its_twin_s_numbers():
    table = orrery.sweep(ROOT / "scenarios" / "sweeps" / "bert-slo.toml", ["fifo[max_batch=16]", Fifo], seeds=2)
    rows = table.to_dict()
    keys = zip(*(rows[c] for c in ("policy", "axes", "metric", "scope", "versus", "value")))
    of = {}
    for policy, *place, versus, value in keys:
        if not versus:
            of.setdefault(policy, {})[tuple(place)] = value
    assert of["python:fifo"] == of["fifo[max_batch=16]"] and len(of) == 2
    assert set(rows["versus"]) == {"", "fifo[max_batch=16]"}


def test_an_exception_leaves_a_sweep():
    class Fails(Fifo):
        def on_result(self, now, batch, out):
            raise KeyError("oops")

    with pytest.raises(KeyError, match="oops"):
        orrery.sweep(ROOT / "scenarios" / "sweeps" / "bert-slo.toml", [Fails, "fifo"], seeds=1)


@needs_cli
def test_a_plan_is_the_command_line_s():
    planned = orrery.plan(PLAN, what_if="load=1.1", seeds=2)
    assert str(planned) == cli("plan", PLAN, "--what-if", "load=1.1", "--seeds", 2)
    assert planned.is_answered and len(planned.results) > 0


@needs_cli
def test_a_plan_survives_the_loss_of_the_kind_that_is_named(tmp_path):
    goal = 'goal = "carry-load"'
    text = pathlib.Path(PLAN).read_text()
    assert goal in text
    file = tmp_path / "survives.toml"
    file.write_text(text.replace(goal, f'{goal}\nsurvive = "1080ti"'))
    named = orrery.plan(str(file), seeds=2)
    assert str(named) == cli("plan", file, "--seeds", 2)
    assert "the loss of one 1080ti" in " ".join(str(named).split())
    # As a what-if it is the same question.
    asked = orrery.plan(PLAN, what_if="survive=1080ti", seeds=2)
    assert str(asked) == cli("plan", PLAN, "--what-if", "survive=1080ti", "--seeds", 2)
    file.write_text(text.replace(goal, f'{goal}\nsurvive = "1080"'))
    with pytest.raises(ValueError, match="(?s)survive.*1080ti"):
        orrery.plan(str(file), seeds=2)


@needs_cli
def test_a_calibration_is_the_command_line_s():
    asked = [str(ROOT / "scenarios" / "triton" / name) for name in ("server.toml", "perf_analyzer.csv")]
    found = orrery.calibrate(*asked, requests=1000)
    assert str(found) == cli("calibrate", *asked, "--requests", 1000)
    named = orrery.calibrate(*asked, requests=1000, time_is="start")
    assert "`--time-is` changes nothing" in str(named).replace("\n    ", " ")
    with pytest.raises(ValueError, match="time_unit"):
        orrery.calibrate(*asked, time_unit="h")
    assert "reply_ms = 2.1" in found.scenario and len(found.results) > 0


@needs_cli
def test_tables_of_details_are_the_command_line_s(tmp_path):
    policies = ["orloj", "fifo"]
    flags = [f for p in policies for f in ("--policy", p)]
    cli("run", BERT, *flags, "--details", "--out", tmp_path)
    result = orrery.run(BERT, policies)
    name = pathlib.Path(BERT).stem
    for table, file in [(result.distributions, "distributions"), (result.series, "series")]:
        assert table.to_csv() == (tmp_path / f"{name}.{file}.csv").read_text()
    log = tmp_path / "a.log"
    cli("run", BERT, "--policy", "orloj", "--log", log, "--why")
    batches = orrery.run(BERT, "orloj").batches
    assert batches.to_csv() == cli("log", "timeline", log, "--format", "csv")
    columns = next(csv.reader(io.StringIO(batches.to_csv())))
    assert batches.columns == columns


@needs_cli
def test_an_explanation_is_the_command_line_s(tmp_path):
    log = tmp_path / "a.log"
    cli("run", BERT, "--policy", "orloj", "--log", log, "--why")
    result = orrery.run(BERT, ["fifo", "orloj"])
    assert result.explain("orloj", request=117) == cli("log", "explain", log, "--request", 117)
    assert result.explain("orloj", worst=3) == cli("log", "explain", log, "--worst", 3)
    with pytest.raises(ValueError, match="was not run"):
        result.explain("nexus")
    with pytest.raises(ValueError, match="0 to"):
        result.explain("fifo", request=10**9)


def test_a_policy_in_python_says_why():
    class Says(Fifo):
        name = "says"

        def on_arrival(self, now, request, out):
            out.why(request, lambda: "it came")
            super().on_arrival(now, request, out)

    assert "it came" in orrery.run(BERT, Says).explain("python:says", request=3)


@needs_cli
def test_figures_are_the_command_line_s(tmp_path):
    result = orrery.run(BERT, ["orloj", Fifo])
    for kind, table in [("latency-cdf", "distributions"), ("time-series", "series")]:
        file, picture = tmp_path / f"{kind}.csv", tmp_path / f"{kind}.svg"
        assert getattr(result, table).to_csv(file) is None
        cli("plot", file, "--kind", kind, "--out", picture)
        figure = orrery.figure(result, kind)
        # The file has a declaration of XML before the picture.
        assert figure.svg.splitlines()[-1] == picture.read_text().splitlines()[-1]
        assert "python:fifo" in figure._repr_svg_()
    orrery.figure(result.batches, width_in=4, height_in=2).save(str(tmp_path / "timeline.svg"))
    assert "<svg" in (tmp_path / "timeline.svg").read_text()
    figure = orrery.figure(result)
    for name, start in [("a.PDF", b"%PDF-"), ("a.png", b"\x89PNG\r\n"), ("a.svg", b"<")]:
        figure.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start), name
    for name in ["a.jpg", "a"]:
        with pytest.raises(ValueError, match="ends in .svg, .png or .pdf"):
            figure.save(tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(ValueError, match="choose"):
        orrery.figure(result, "pie")
    with pytest.raises(ValueError, match="requests"):
        orrery.figure(orrery.run(BERT, ["fifo"], requests=True).requests)


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_number_of_threads_changes_nothing(jobs):
    run = lambda jobs: orrery.run(BERT, ["orloj", Fifo, "nexus"], seeds=2, jobs=jobs).results.to_csv()
    assert run(jobs) == run(2)


@pytest.mark.parametrize("policy", GALLERY, ids=lambda p: p.name)
def test_the_gallery_knows_no_time_of_its_own(policy):
    orrery.check(policy, BERT)
    orrery.check(policy)


def test_a_time_of_the_policy_s_own_is_found_out():
    class Waits(Fifo):
        name = "waits"

        def on_arrival(self, now, request, out):
            self.max_batch = 1 + now // 5_000_000 % 4
            super().on_arrival(now, request, out)

    with pytest.raises(AssertionError, match="three times as long.*\n.*record"):
        orrery.check(Waits, BERT)
    assert len(orrery.check(Waits, BERT, scales=False)) == 64


def test_a_policy_that_draws_without_a_seed_is_found_out():
    import random

    class Draws(Fifo):
        name = "draws"

        def on_arrival(self, now, request, out):
            if random.random() < 0.5:
                out.drop(request)
            else:
                super().on_arrival(now, request, out)

    with pytest.raises(AssertionError, match="two runs in a row"):
        orrery.check(Draws, BERT)


def test_a_policy_cannot_see_how_long_a_request_will_take():
    class Peeks(Fifo):
        def on_arrival(self, now, request, out):
            request.exec_ns

    with pytest.raises(AttributeError, match="exec_ns"):
        orrery.run(BERT, Peeks)


def test_wrong_input_has_the_command_line_s_words():
    for call, text in [
        (lambda: orrery.goodput(BERT, "fifo", find="gpus"), "`rate` or `devices`"),
        (lambda: orrery.goodput(BERT, "fifo", criterion="mean"), "`bad-rate`"),
        (lambda: orrery.goodput(BERT, "fifo", target=2.0), "goodput.target"),
        (lambda: orrery.goodput(BERT, "fifo", seeds=0), "at least 1"),
        (lambda: orrery.plan("none.toml"), "none.toml"),
        (lambda: orrery.plan(PLAN, what_if="lod=2"), "lod"),
        (lambda: orrery.run(BERT, ["fifo", "fifo"]), "twice"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_lines_of_errors_are_the_file_s(tmp_path):
    text = pathlib.Path(BERT).read_text().replace("slo_ms", "slo_m", 1)
    lines = [line for line in text.splitlines() if not line.startswith("policies")]
    at = next(i for i, line in enumerate(lines, 1) if "slo_m " in line or "slo_m=" in line)
    path = tmp_path / "wrong.toml"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=rf"wrong.toml:{at}|line {at}"):
        orrery.run(path, ["fifo"])


def test_what_is_said_goes_to_python_s_stderr():
    scenario = """
        until_s = 0.01
        [[zoo]]
        name = "clockwork-zoo-v100"
        copies = 1
        slo_ms = 100.0
        [arrivals]
        trace = { file = "azure2019-f500", rule = "azure-46000", first_minute = 480, minutes = 1 }
    """
    program = (
        "import sys, io, orrery\n"
        "for level in (1, 0):\n"
        "    orrery.verbosity(level)\n"
        "    sys.stderr = io.StringIO()\n"
        "    orrery.run(sys.argv[1], 'fifo')\n"
        "    print('46000 functions' in sys.stderr.getvalue())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, scenario], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\nFalse\n", "")
