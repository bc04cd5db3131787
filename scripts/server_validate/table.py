"""The table of docs/measured.md, from the results that scripts/server-validate kept."""

import csv
from dataclasses import dataclass

TARGETS = {"rate": 3, "p50": 5, "p99": 15}


@dataclass
class Setting:
    """A server's setting: its name, the server, the model, orrery's policy for it, its configuration, the loads."""

    name: str
    server: str
    work: str
    policy: str
    config: dict
    loads: tuple


def error(row, what, by="predicted"):
    measured, ours = row[f"{what}_measured"], row[f"{what}_{by}"]
    return 100 * (float(ours) / float(measured) - 1) if measured and ours else None


def signed(value, limit=None):
    if value is None:
        return ""
    text = f"{value:+.1f}"
    return f"**{text}**" if limit is not None and abs(value) > limit else text


def read(path):
    with open(path, encoding="utf8") as file:
        return list(csv.DictReader(file))


def table(path, earlier=None):
    """Of the results in a file; with the errors of another run of the script, if there is one."""
    rows, others = read(path), read(earlier) if earlier else []
    before = {}
    for row in others:
        before[row["setting"], row["load"]] = ", ".join(signed(error(row, what), TARGETS[what]) for what in ("p50", "p99"))
    heads = ["server, setting", "load", "requests/s", "p50, ms", "p99, ms", "rate", "p50", "p99", "batch", "time of a batch"]
    heads += ["p50, p99 by `first`"] + (["p50, p99 before"] if earlier else []) + [""]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    within = judged = 0
    for row in rows:
        is_judged = row["counts"] == "yes" and row["load"] != "1.1"
        errors = {what: error(row, what) for what in ("rate", "p50", "p99", "batch")}
        judged += is_judged
        within += is_judged and all(abs(errors[what]) <= limit for what, limit in TARGETS.items())
        first = [signed(error(row, what, "first")) for what in ("p50", "p99")]
        cells = [
            f"{row['server']} `{row['setting']}`",
            row["load"],
            row["rate_measured"],
            row["p50_measured"],
            row["p99_measured"],
            *(signed(errors[what], TARGETS.get(what)) for what in ("rate", "p50", "p99", "batch")),
            signed(100 / (1 + float(row["batch_time"])) - 100) if float(row["batch_time"]) else "",
            ", ".join(first) if first[0] else "",
            *([before.get((row["setting"], row["load"]), "")] if earlier else []),
            "" if row["counts"] == "yes" else row["counts"],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    right, pairs = order(rows)
    lines += [
        "",
        f"Within the targets: {within} of {judged} points that count, up to a load of 0.9. Order of two settings at the "
        f"same rate, by p50 and by p99 where they differ by 3 % or more: right in {right} of {pairs}.",
        "",
        *worst(rows + others),
    ]
    return "\n".join(lines) + "\n"


def worst(rows):
    """How far off Triton with `timed` is, by p50 and p99: up to a load of 0.9, and of lower open loads."""
    every = [row for row in rows if row["server"] == "triton" and row["model"] == "timed" and row["load"] != "1.1"]
    for what, some in (
        ("up to 0.9 and in a closed loop", every),
        ("up to 0.7", [row for row in every if row["load"].startswith("0.") and row["load"] != "0.9"]),
    ):
        p50, p99 = ([abs(error(row, quantile)) for row in some] for quantile in ("p50", "p99"))
        mean, most = (", ".join(f"{of(values):.1f}" for values in (p50, p99)) for of in (average, max))
        yield f"Triton with `timed`, loads {what}, {len(some)} points: p50, p99 off by {mean} % in the mean, {most} % at most."


def average(values):
    return sum(values) / len(values)


def order(rows):
    """Pairs of settings of a server and a model at the same rate, by p50 and by p99: right ones, and all."""
    right = pairs = 0
    for index, one in enumerate(rows):
        for two in rows[index + 1 :]:
            same = all(one[key] == two[key] for key in ("server", "model")) and one["offered_per_s"] and two["offered_per_s"]
            if not same or abs(float(one["offered_per_s"]) / float(two["offered_per_s"]) - 1) > 0.01:
                continue
            for what in ("p50", "p99"):
                measured, ours = (
                    float(one[f"{what}_{by}"]) / float(two[f"{what}_{by}"]) for by in ("measured", "predicted")
                )
                if abs(measured - 1) >= 0.03:
                    pairs += 1
                    right += (measured > 1) == (ours > 1)
    return right, pairs
