"""No value of a configuration gets into an error, wherever it stands and whatever is wrong with it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflows.config import InvalidConfig, load_config
from workflows.config.explain import known_paths
from workflows.config.models.run_config import any_run_config

PATHS = sorted(set(known_paths(any_run_config())))
CANARY = "cAnArY7731"
LEAVES = st.one_of(
    st.just(CANARY),
    st.sampled_from(
        [f"/{CANARY}/x", f"http://u:{CANARY}@h/api", f"{CANARY}-lineage", f"({CANARY}", f"${{ {CANARY} }}"]
    ),
    st.text(max_size=5).map(lambda text: CANARY + text),
    st.text(max_size=5).map(lambda text: text + CANARY),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2), st.dictionaries(st.just("type"), inner, min_size=1)
    ),
    max_leaves=3,
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("secrecy")
    before = Path.cwd()
    os.chdir(place)
    (place / "log.csv").touch()
    yield place
    os.chdir(before)


def placed(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    content: dict[str, Any] = {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "s",
            "serviceConnection": {"config": {"type": "Postgres"}},
            "sourceConfig": {"config": {"queryLogFilePath": "log.csv"}},
        },
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "http://h/api"}},
    }
    inside = content
    for part in path[:-1]:
        if not isinstance(inside.get(part), dict):
            inside[part] = {}
        inside = inside[part]
    inside[path[-1]] = value
    return content


@settings(max_examples=400)
@given(path=st.sampled_from(PATHS), value=VALUES)
def test_no_value_gets_into_an_error(directory: Path, path: tuple[str, ...], value: Any) -> None:
    file = directory / "w.yaml"
    file.write_text(json.dumps(placed(path, value)))

    try:
        load_config(Path("w.yaml"), (), {})
    except InvalidConfig as error:
        shown = "\n".join(map(str, error.problems)) + str(error)
        # What follows ${ in a value may be the name of a variable, and that is told.
        assert CANARY not in shown


@settings(max_examples=200)
@given(text=st.text(alphabet="*&!|>%@`\"'{}[]:,#?- \tab\n\\", max_size=30))
def test_no_broken_yaml_gets_into_an_error(directory: Path, text: str) -> None:
    file = directory / "w.yaml"
    file.write_text(f"source: {{serviceConnection: {{config: {{password: {text}{CANARY}")

    with pytest.raises(InvalidConfig) as caught:
        load_config(Path("w.yaml"), (), {})

    assert CANARY not in str(caught.value)


@given(value=st.text(min_size=1))
def test_a_secret_is_in_no_representation(directory: Path, value: str) -> None:
    secret = CANARY + value
    content = placed(("workflowConfig", "openMetadataServerConfig", "securityConfig"), {"jwtToken": secret})
    content["headwater"] = {"catalog": {"token": secret}, "spark": {"conf": {"spark.hadoop.fs.s3a.secret.key": secret}}}
    content["source"]["serviceConnection"]["config"]["password"] = secret
    (directory / "w.yaml").write_text(json.dumps(content))

    try:
        config = load_config(Path("w.yaml"), (), {})
    except InvalidConfig as error:
        assert CANARY not in str(error)
    else:
        assert CANARY not in repr(config)
        assert secret in config.secrets
