"""Several applications of this folder in one JVM, each with an event log of its own: the next ones find it warm.

python sequence.py '[["application.py", "--jobs", …], ["streaming_application.py", …]]'

An application that ends in an exception ends the sequence. What `--conf` gives one of them stands for the later ones
until they give it another value.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path

for script, *arguments in json.loads(sys.argv[1]):
    root = arguments[arguments.index("--root") + 1]
    os.chdir(root)
    sys.argv = [script, *arguments]
    runpy.run_path(str(Path(__file__).parent / script), run_name="__main__")
    Path(root, "done").touch()
