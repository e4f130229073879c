"""Units that comments and docstrings name, and what is said where the code beside them has another."""

from __future__ import annotations

import pytest

from analyzer.application.extract import extract
from analyzer.domain.extraction import UnitFinding
from analyzer.domain.rules import OPTIONS
from analyzer.units import stated_units
from tests.support.project import SERVER_ARGS, draw, extracted, shipped_rules

BUDGET = "after = get_available_gpu_memory(self.device, self.gpu_id)\n{} = after - before * 0.12{}\n"
RESULT = "return int(budget * (1 << 30) // self.bytes_per_token())"


def findings(line: str, above: str = "") -> tuple[UnitFinding, ...]:
    """What is noticed in a project whose budget, in GiB, has words beside it."""
    return extracted(profile=f"{above}{BUDGET.format('budget', line)}{RESULT}").unit_findings


def test_a_comment_that_names_another_unit_is_noticed_at_its_line() -> None:
    (found,) = findings("  # in MB")
    assert found.message == "a comment of profile_max_num_token names MB, the code has GiB"
    assert found.is_wording
    (other,) = findings("  # the budget, in MB")
    assert found.location == other.location


@pytest.mark.parametrize(
    "words",
    [
        "in GiB",
        "from MB, in GiB",
        "80 GB cards",
        "leave 4GB",
        "in GBps",
        "MB",
        "in MB/s",
        "maintain bytes",
        "within bytecode",
    ],
)
def test_words_that_name_the_unit_or_none_are_left_alone(words: str) -> None:
    assert findings(f"  # {words}") == ()


def test_a_comment_beside_what_counts_no_memory_is_left_alone() -> None:
    text = BUDGET.format("budget", "") + "heads = 3  # in MB\n" + RESULT
    assert extracted(profile=text).unit_findings == ()


def test_a_docstring_speaks_for_the_whole_function() -> None:
    (found,) = findings("", '"""Size the pool.\n\nThe budget is in "MB".\n"""\n')
    assert found.message == "the docstring of profile_max_num_token names MB, the code has GiB"
    assert findings("", '"""Size the pool, whose budget is in bytes."""\n') == ()


def test_a_comment_of_its_own_is_about_the_statement_below_it() -> None:
    text = "def f(a):\n    # need MB\n\n    b = (\n        a\n        + 1\n    )\n    return b\n"
    (found,) = stated_units(text)
    assert (found.words, found.line, found.first, found.last, str(found.unit)) == ("a comment", 2, 4, 7, "MB")


@pytest.mark.parametrize("text", ["", "in MB", "def f(:\n  '''in MB", "def f():\n    x = '# in MB'\n    return x\n"])
def test_text_without_comments_says_nothing(text: str) -> None:
    assert stated_units(text) == ()


def test_the_options_are_read_for_words_too() -> None:
    text = """
from typing import Optional

def get_device_memory_capacity():
    return None

class ServerArgs:
    mem_fraction_static: Optional[float] = None
    model_path: str = "some-model"

    def __post_init__(self):
        \"\"\"Sets the fraction; the reserve is in GB.\"\"\"
        memory = get_device_memory_capacity()
        self.mem_fraction_static = (memory - 512) / memory
"""
    (found,) = extract(draw({SERVER_ARGS: text}), shipped_rules(), OPTIONS).unit_findings
    assert found.message == "the docstring of __post_init__ names GB, the code has MiB"
    assert found.location.line == 12
