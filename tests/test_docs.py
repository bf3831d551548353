"""The README is true: its commands exist, and what exists is in it."""

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest
import typer

from augsbert_core.cli import app
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
from augsbert_core.sampling import SAMPLERS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def leaf_commands() -> dict[str, click.Command]:
    """Every command of the command line by its full name."""
    found: dict[str, click.Command] = {}

    def walk(name: str, command: click.Command) -> None:
        inner = getattr(command, "commands", None)
        if inner:
            for child, sub in inner.items():
                walk(f"{name} {child}".strip(), sub)
        else:
            found[name] = command

    walk("", typer.main.get_command(app))
    return found


COMMANDS = leaf_commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_in_the_readme(name: str) -> None:
    assert re.search(rf"`{name}\b", README), f"`{name}` is not in the README"
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            if option.startswith("--") and option not in {"--help", "--json"}:
                assert f"`{option}`" in README, f"{name} {option} is not in the README"


def test_every_command_of_the_readme_exists() -> None:
    lines = re.findall(r"^augsbert (.+?)(?:\s+#.*)?$", README, flags=re.MULTILINE)
    assert len(lines) >= 8
    for line in lines:
        words = line.split()
        name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
        assert name in COMMANDS, line
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, line


def test_every_strategy_page_and_training_option_is_in_the_readme() -> None:
    for strategy in SAMPLERS:
        assert f"| `{strategy}` |" in README
    for page in (ROOT / "pages").glob("*.py"):
        title = page.stem.replace("_", "-").capitalize()
        assert f"**{title}**" in README, f"page {title} is not in the tour"
    names = {
        field.name
        for options in (CrossEncoderOptions, BiEncoderOptions)
        for field in fields(options)
    }
    for name in names:
        assert f"`{name}`" in README, f"option {name} is not in the README"


def test_defaults_in_the_readme_are_the_real_ones() -> None:
    labeler, student = CrossEncoderOptions(), BiEncoderOptions()
    rows = {
        cells[0].strip(" `"): [cell.strip() for cell in cells[1:3]]
        for cells in (
            line.strip("|").split("|")
            for line in README.splitlines()
            if re.match(r"\| `[a-z_]+` \|", line) and line.count("|") == 5
        )
    }
    for name in (
        "epochs",
        "batch_size",
        "learning_rate",
        "warmup_ratio",
        "weight_decay",
        "max_length",
    ):
        shown = [float(cell) for cell in rows[name]]
        assert shown == [getattr(labeler, name), getattr(student, name)], name


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make (app|test|lint|bench)\b", README)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def test_linked_files_exist() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
