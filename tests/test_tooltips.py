"""Every control says in one or two sentences, in a tooltip, what its label does not."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("pages/*.py"), *ROOT.glob("augsbert_core/ui/*.py")])

CONTROLS = {
    "button", "slider", "select_slider", "number_input", "text_input", "text_area", "selectbox",
    "multiselect", "radio", "checkbox", "toggle", "segmented_control", "pills", "file_uploader",
    "date_input", "time_input", "datetime_input", "color_picker", "camera_input", "audio_input",
    "download_button", "form_submit_button", "link_button", "menu_button", "popover",
}  # fmt: skip
"""What Streamlit offers to press, type, choose or move, and takes `help` for; called on st or a place."""

HIDES_THE_PAIR = (
    "Pressed once per pair: a tooltip would lie over the sentences that are being judged."
)
PARTS_OF_A_PAGE = (
    "Names parts of the page; its label is collapsed, so there is no place for a tooltip."
)

EXCEPTIONS = {
    ("annotate_work", "as_text(label)"): HIDES_THE_PAIR,
    ("adjudication", "label"): HIDES_THE_PAIR,
    ("best_worst_view", "'Most similar' if is_best or screen.best is None else 'Least similar'"): (
        HIDES_THE_PAIR
    ),
    ("label_errors", "as_text(label)"): HIDES_THE_PAIR,
    ("silver_detail", "level.label"): HIDES_THE_PAIR,
    ("annotate_views", "'View'"): PARTS_OF_A_PAGE,
    ("view_switch", "'View'"): PARTS_OF_A_PAGE,
    ("silver_filters", "'View'"): PARTS_OF_A_PAGE,
    ("learn_page", "'Step'"): PARTS_OF_A_PAGE,
}
"""(module, label as it is written) → why this control has no tooltip."""

MOST_SENTENCES = 2
OF_A_CHOICE = re.compile(r"(\*\*)?[A-Z][\w -]*(\*\*)?:")
"""What each choice of a menu means may have a sentence of its own that begins with its name: "Exact: ..."."""


@dataclass(frozen=True)
class Control:
    """One call of a control in the source."""

    path: Path
    line: int
    label: str
    help: ast.expr | None
    is_collapsed: bool
    inside: ast.FunctionDef | None

    @property
    def name(self) -> tuple[str, str]:
        return self.path.stem, self.label

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} {self.label}"


@cache
def modules() -> dict[Path, ast.Module]:
    """The pages and what they are made of, parsed once."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def calls_in(tree: ast.AST) -> Iterator[tuple[ast.Call, ast.FunctionDef | None]]:
    """All calls of a module, each with the innermost function around it."""
    waiting: list[tuple[ast.AST, ast.FunctionDef | None]] = [(tree, None)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Call):
            yield node, inside
        if isinstance(node, ast.FunctionDef):
            inside = node
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]


def controls_of(tree: ast.AST, path: Path) -> list[Control]:
    """The controls of a module, from the first line to the last."""
    found = []
    for call, inside in calls_in(tree):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in CONTROLS):
            continue
        told = {keyword.arg: keyword.value for keyword in call.keywords}
        label = call.args[0] if call.args else told.get("label")
        found.append(
            Control(
                path=path,
                line=call.lineno,
                label=ast.unparse(label) if label is not None else "",
                help=told.get("help"),
                is_collapsed="label_visibility" in told,
                inside=inside,
            )
        )
    return sorted(found, key=lambda control: control.line)


def constants_of(tree: ast.AST) -> dict[str, ast.expr]:
    """What the module gives a name once, at its top."""
    return {
        node.targets[0].id: node.value
        for node in ast.iter_child_nodes(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def knows(tree: ast.AST, path: Path, wrapper: ast.FunctionDef, home: Path) -> bool:
    """Whether a module can call a function of the module `home` by its name."""
    return path == home or any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[-1] == home.stem
        and any(alias.name == wrapper.name for alias in node.names)
        for node in ast.walk(tree)
    )


def handed_over(
    control: Control, trees: dict[Path, ast.Module]
) -> Iterator[tuple[str, ast.expr | None, Path]]:
    """What the callers of a function hand over as the help of its control: (place of the call, help, module)."""
    wrapper, name = control.inside, ast.unparse(control.help) if control.help else ""
    assert wrapper is not None
    by_place = [one.arg for one in (*wrapper.args.posonlyargs, *wrapper.args.args)]
    defaults: dict[str, ast.expr] = dict(
        zip(by_place[::-1], wrapper.args.defaults[::-1], strict=False)
    )
    defaults |= {
        one.arg: default
        for one, default in zip(wrapper.args.kwonlyargs, wrapper.args.kw_defaults, strict=True)
        if default is not None
    }
    for path, tree in trees.items():
        if not knows(tree, path, wrapper, control.path):
            continue
        for call, _ in calls_in(tree):
            if not (isinstance(call.func, ast.Name) and call.func.id == wrapper.name):
                continue
            told = dict(zip(by_place, call.args, strict=False))
            told |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
            place = f"{path.relative_to(ROOT)}:{call.lineno} ({wrapper.name})"
            yield place, told.get(name, defaults.get(name)), path


def is_handed_on(control: Control) -> bool:
    """Whether the help of a control is a parameter of the function around it."""
    if not isinstance(control.help, ast.Name) or control.inside is None:
        return False
    return control.help.id in {
        one.arg for one in ast.walk(control.inside.args) if isinstance(one, ast.arg)
    }


def texts_in(help: ast.expr, constants: dict[str, ast.expr]) -> list[str | None]:
    """The texts that an expression can give: None for one that is no text, "…" for a part only known later."""
    match help:
        case ast.Constant(value=str() as text):
            return [text]
        case ast.Constant(value=None):
            return [None]
        case ast.IfExp(body=body, orelse=orelse):
            return texts_in(body, constants) + texts_in(orelse, constants)
        case ast.JoinedStr(values=parts):
            written = [part.value if isinstance(part, ast.Constant) else "…" for part in parts]
            return ["".join(str(part) for part in written)]
        case ast.Name(id=name) if name in constants:
            return texts_in(constants[name], constants)
    return []


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def fault_in(text: str | None, label: str) -> str | None:
    """What is wrong with a tooltip; None when it is fine."""
    if text is None or not text.strip():
        return "has no tooltip in some cases"
    if not text.rstrip().endswith((".", "?", "…")):
        return f"ends without a full stop: {text!r}"
    sentences = [
        one for one in re.split(r"(?<=[.!?])\W*\s+(?=[A-Z“`*])", text) if not OF_A_CHOICE.match(one)
    ]
    if len(sentences) > MOST_SENTENCES:
        return f"has more than {MOST_SENTENCES} sentences: {text!r}"
    if words_of(text) <= words_of(label):
        return f"repeats the label: {text!r}"
    return None


def faults(trees: dict[Path, ast.Module]) -> list[str]:
    """One line for each control without a proper tooltip."""
    found: list[str] = []

    def look(place: str, label: str, help: ast.expr | None, path: Path) -> None:
        if help is None:
            found.append(f"{place} has no tooltip")
            return
        texts = texts_in(help, constants_of(trees[path]))
        found.extend(f"{place} {fault}" for text in texts if (fault := fault_in(text, label)))

    for path, tree in trees.items():
        for control in controls_of(tree, path):
            if control.name in EXCEPTIONS:
                continue
            if control.is_collapsed:
                found.append(f"{control} shows no tooltip, because its label is not shown")
            elif is_handed_on(control):
                for place, help, where in handed_over(control, trees):
                    look(place, "", help, where)
            else:
                look(str(control), control.label, control.help, path)
    return found


def test_every_control_has_a_tooltip() -> None:
    found = faults(modules())
    assert not found, "\n" + "\n".join(found)


def test_no_exception_is_out_of_date() -> None:
    bare = {
        control.name
        for path, tree in modules().items()
        for control in controls_of(tree, path)
        if control.help is None
    }
    assert bare.issuperset(EXCEPTIONS), set(EXCEPTIONS) - bare


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("st.button('Go', help='Starts the training as a job.')", None),
        ("left.number_input('Seed', 0, 9, help=SEED)\nSEED = 'The same seed draws the same.'", None),
        ("st.button('Go', help=f'Scores {n} pairs.')", None),
        ("st.button('Go')", "has no tooltip"),
        ("left.button('Go')", "has no tooltip"),
        ("st.sidebar.selectbox('Project', names)", "has no tooltip"),
        ("st.button('Go', help='')", "has no tooltip in some cases"),
        ("st.button('Go', help='Choose first.' if empty else None)", "has no tooltip in some cases"),
        ("st.button('Go', help='Starts it')", "ends without a full stop"),
        ("st.button('Go on', help='Go on.')", "repeats the label"),
        ("st.text_input('Seed', help='One. Two. Three.')", "has more than 2 sentences"),
        ("st.pills('Kind', kinds, label_visibility='collapsed', help='Which.')", "is not shown"),
        ("def one(why):\n st.button('Go', help=why)\none('It goes.')", None),
        ("def one(why):\n st.button('Go', help=why)\none('It goes')", "ends without a full stop"),
        ("def one(why=''):\n st.button('Go', help=why)\none()", "has no tooltip"),
    ],
)  # fmt: skip
def test_a_poor_tooltip_is_found(source: str, fault: str | None) -> None:
    found = faults({ROOT / "pages" / "made_up.py": ast.parse(source)})
    assert (fault is None and not found) or (fault is not None and fault in found[0]), found
