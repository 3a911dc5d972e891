"""Modules bundled for a page that may not import."""

from __future__ import annotations

import re

from connectors.catalog.page.html import ASSETS, asset, bundle

MODULES = {
    "a": 'import { twice, THREE } from "./room/b.mjs";\nconst hidden = 1;\nrun(twice(THREE) + hidden);\n',
    "room/b": 'import { add } from "../other/c.mjs";\nexport const THREE = 3;\n'
    "export function twice(x) {\n  return add(x, x);\n}",
    "other/c": "const hidden = 2;\nexport async function add(a, b) {\n  return a + b;\n}\nexport class Unused {}\n"
    "export function* each(list) {\n  yield* list;\n}\n",
}
NAMES = ("other$c", "room$b", "a")


def test_what_is_imported_stands_before_what_imports_it_and_once() -> None:
    script = bundle(MODULES, "a")
    places = [script.index(f"const module_{name} =") for name in NAMES]
    assert places == sorted(places)
    assert all(script.count(f"const module_{name} =") == 1 for name in NAMES)


def test_no_import_and_no_export_is_left() -> None:
    script = bundle(MODULES, "a")
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert "const {twice, THREE} = module_room$b;" in script
    assert "return { add, Unused, each };" in script


def test_modules_keep_names_of_their_own() -> None:
    assert bundle(MODULES, "a").count("const hidden") == 2


def test_the_pages_own_modules_can_be_bundled() -> None:
    modules = {name.removesuffix(".mjs"): asset(name) for name in ASSETS if name.endswith(".mjs")}
    script = bundle(modules, "app")
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    reached = set(re.findall(r"^const module_([\w$]+) = \(\(\) =>", script, re.MULTILINE))
    assert {name.replace("$", "/") for name in reached} == set(modules), "a module that nothing imports"
