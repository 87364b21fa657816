"""Small calls of every room and what becomes of them, as data: borders, defaults, rare combinations.

A case of ``tests/data/cases`` has a name and calls, written ``!module:function arguments``, in which others may stand;
``tests/data/kept/cases`` has what each gives in turn, in an empty folder: a value, or its refusal, and what it printed.
"""

import json
import logging
import re
from functools import reduce
from importlib import import_module
from inspect import isgenerator
from itertools import chain
from pathlib import Path

import pytest
import yaml
from pydantic_core import to_jsonable_python

from tripleaudit.errors import UserError

ROOT = Path(__file__).parents[2]
ROOMS = sorted(path.stem for path in (ROOT / "tests" / "data" / "cases").glob("*.yaml"))


class Calls(yaml.SafeLoader):
    def called(self, name: str, node: yaml.Node):
        module, _, path = name.partition(":")
        inside = ROOT / "workflow" / "lib" / "tripleaudit" / module.replace(".", "/")
        ours = "tripleaudit." * (inside.is_dir() or inside.with_suffix(".py").exists())
        function = reduce(getattr, path.split("."), import_module(f"{ours}{module}"))
        if isinstance(node, yaml.ScalarNode):
            return function
        listed = isinstance(node, yaml.SequenceNode)
        given = self.construct_sequence(node, deep=True) if listed else self.construct_mapping(node, deep=True)
        value = function(*given) if listed else function(**given)
        return chain(value) if isgenerator(value) else value  # of a generator PyYAML takes the first item alone


Calls.add_multi_constructor("!", Calls.called)


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    named = getattr(value, "__qualname__", None) or getattr(value, "__dict__", None)
    return list(value) if hasattr(value, "__next__") else named or repr(value)


@pytest.mark.parametrize("room", ROOMS)
def test_what_small_calls_give_is_kept(room, kept, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(logging.root, "handlers", [logging.NullHandler()])  # whatever other tests have set up
    text, said = (ROOT / "tests" / "data" / "cases" / f"{room}.yaml").read_text(encoding="utf-8"), []
    for number, (name, calls) in enumerate(yaml.compose(text, Calls).value):
        said.append(f"{name.value}:")
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        for call in calls.value:
            written = re.sub(r"\s+", " ", text[call.start_mark.index : call.end_mark.index])
            try:
                value = to_jsonable_python(Calls("").construct_object(call, deep=True), fallback=plain)
                value = json.dumps(value, ensure_ascii=False)
            except UserError as error:
                value = f"refused: {error}"
            printed = "".join(capsys.readouterr())
            said.append(f"  {written[:150]} -> {value}{printed}".replace(str(folder), "."))
    kept(f"cases/{room}.txt", "\n".join(said) + "\n")
