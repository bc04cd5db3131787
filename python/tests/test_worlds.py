"""Worlds of the covering array: in Python they have the command line's numbers.

`ORRERY_WORLDS` names the folder in which the test `ways` of `tests/it/cli/ways.rs` kept them, each in a folder
of its own with what `run`, `sweep` and `reproduce` print; without it there is nothing to compare. By hand:
`ORRERY_WORLDS_KEPT=FOLDER cargo test --release -p orrery-tests --test it -- cli::ways`.
"""

import csv
import os
import pathlib

import pytest

import orrery

FOLDER = os.environ.get("ORRERY_WORLDS")
WORLDS = sorted(path.parent for path in pathlib.Path(FOLDER).glob("*/w.toml")) if FOLDER else []

pytestmark = pytest.mark.skipif(FOLDER is None, reason="ORRERY_WORLDS names no folder of worlds")


def test_there_are_worlds():
    assert len(WORLDS) >= 12, FOLDER


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_world_has_the_command_line_s_rows_byte_for_byte(world):
    of_run = (world / "run.csv").read_text()
    policy = next(csv.DictReader(of_run.splitlines()))["policy"]
    assert orrery.run(str(world / "w.toml"), [policy]).results.to_csv() == of_run
    assert orrery.sweep(world / "s.toml").to_csv() == (world / "sweep.csv").read_text()
    # The command line's has rows of models and applications, too (`--details`).
    own = orrery.reproduce(world / "e.toml").results.to_csv().splitlines()
    kept = (world / "reproduce.csv").read_text().splitlines()
    assert len(own) > 2 and own == [line for line in kept if line in set(own)]
