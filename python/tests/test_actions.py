"""What a policy in Python does, and what it is told, arrives: windows, reasons, profiles."""

import pytest
from test_orrery import Fifo

import orrery

MS = 1_000_000
WORLD = {
    "name": "actions",
    "model": [
        {"name": "m", "slo_ms": 100.0, "latency": {"proportional": {"c1": 0.5}}},
        {"name": "n", "slo_ms": 100.0, "latency": {"affine": {"alpha_ms": 1.0, "beta_ms": 1.0}}},
    ],
    "device": [{"kind": "gpu", "count": 1}],
    "app": [
        {"name": "same", "model": "m", "time": {"constant": {"ms": 4.0}}},
        {"name": "mixed", "model": "m", "time": {"normal": {"mean_ms": 4.0, "sd_ms": 0.5}}},
        {"name": "other", "model": "n"},
    ],
    "arrivals": {"poisson": {"rate_per_s": 20.0}, "requests": 100},
}


@pytest.mark.parametrize("why", ["expired", "infeasible", "refused", "default-reply", "shed"])
def test_a_dropped_request_is_counted_under_its_reason(why):
    class Drops(orrery.Policy):
        name = "drops"

        def on_arrival(self, now, request, out):
            if why == "expired":
                out.set_timer(request.id, request.deadline)
            else:
                out.drop(request, why)

        def on_timer(self, now, key, out):
            out.drop(key, why)

    rows = orrery.run(WORLD, [Drops]).results.to_dict()
    of = {m: v for m, s, v in zip(rows["metric"], rows["scope"], rows["value"]) if s == "all"}
    reasons = {m: v for m, v in of.items() if m.startswith("dropped_") and v}
    assert reasons == {f"dropped_{why.replace('-', '_')}": 100}, of


def test_a_batch_begins_within_its_window():
    seen = []

    class Windows(orrery.Policy):
        name = "windows"

        def on_arrival(self, now, request, out):
            # One request at a time: of two, the second comes too late for its window.
            asked = [out.exec(0, request.model, [request], earliest=now + 3 * MS, latest=now + 3 * MS)]
            seen.append((request.id, now, asked[0]))

        def on_result(self, now, batch, out):
            (one,) = batch.requests
            (at,) = [at for id, at, action in seen if (id, action) == (one, batch.action)]
            assert batch.device == 0
            if batch.outcome == "done":
                assert (batch.start, batch.end, batch.reason) == (at + 3 * MS, now, "")
            else:
                assert (batch.outcome, batch.reason, batch.start, batch.end) == ("refused", "late", None, None)
                out.drop(one, "refused")

    result = orrery.run(WORLD, [Windows])
    late = result.value("python:windows", "dropped_refused")
    assert len(seen) == 100 and 0 < late < 100


def test_a_profile_has_the_times_of_each_application():
    seen = []

    class Looks(Fifo):
        name = "looks"

        def on_start(self, ctx, out):
            super().on_start(ctx, out)
            seen.append((ctx.profile(0), ctx.profile(1)))

    orrery.run(WORLD, [Looks])
    m, n = seen[0]
    assert m.sizes == [1, 2, 4, 8, 16] and (m.slo, n.slo) == (100 * MS, 100 * MS)
    assert [n.latency_ns(size) for size in n.sizes] == [(1 + size) * MS for size in n.sizes]
    with pytest.raises(ValueError, match="batches of 3 were not measured"):
        m.latency_ns(3)
    assert m.alone_ns(0) == m.alone_quantile_ns(0, 0.5) == 4 * MS
    low, middle, high = (m.alone_quantile_ns(1, q) for q in (0.0, 0.5, 1.0))
    assert 1 * MS < low < middle < high < 7 * MS
    assert abs(middle - 4 * MS) < MS / 5 and abs(m.alone_ns(1) - 4 * MS) < MS / 5
    assert m.alone_ns(2) is None and m.alone_quantile_ns(2, 0.5) is None
    with pytest.raises(ValueError, match="from 0 to 1"):
        m.alone_quantile_ns(0, 1.5)


def test_a_policy_in_python_is_told_one_kind_of_device_and_a_note_says_so():
    notes = lambda *kinds: orrery.run({**WORLD, "model": WORLD["model"][1:], "app": WORLD["app"][2:], "device": kinds}, [Fifo]).notes
    one, two = {"kind": "one", "count": 1}, {"kind": "two", "count": 1, "speed": 2.0}
    (note,) = [n for n in notes(one, two) if n.startswith("assumes-one-kind: ")]
    assert note.endswith("(python:fifo)")
    assert not any(n.startswith("assumes-one-kind: ") for n in notes(one))
