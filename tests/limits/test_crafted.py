"""Files made to do harm are refused in one sentence, within 10 s of a processor and 1 GB."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import crafted
import pytest


@pytest.fixture(scope="module")
def found() -> dict:
    done = subprocess.run(
        [sys.executable, crafted.__file__], capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_every_crafted_file_is_refused_in_one_sentence(found) -> None:
    bad = {
        name: words
        for name, (words, _, _) in found.items()
        if not words or words.startswith("BUG") or len(words) > 2500
    }
    assert not bad


def test_no_crafted_file_takes_long_or_much(found) -> None:
    assert not {
        name: (seconds, megabytes)
        for name, (_, seconds, megabytes) in found.items()
        if seconds > 10 or megabytes > 1024
    }


def test_the_corpus_names_every_reader() -> None:
    assert {case[3] for case in crafted.cases()} == set(crafted.READERS)
    assert Path(crafted.__file__).stat().st_size < 40_000  # bombs are made when they are needed
