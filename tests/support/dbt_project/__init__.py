"""The roastery: a small dbt project, and what a real dbt made of it (`make_artifacts.py`)."""

from pathlib import Path

PROJECT = Path(__file__).parent / "roastery"
BUILT = Path(__file__).parent / "built"
