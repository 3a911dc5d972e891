"""A parser that does what its text says: for the sandbox's tests, run in a real parser process."""

import ctypes
import os
import re
import signal
import time
from pathlib import Path

from ingestion.errors import Unparsable

KEPT: list[bytearray] = []


def parse(text: str, dialect: str) -> object:
    word, _, argument = text.partition(" ")
    action = ACTIONS.get(word)
    return text if action is None else action(argument)


def _spin(argument: str) -> object:
    while True:
        pass


def _hold_the_interpreter(argument: str) -> object:
    return re.match(r"(a+)+$", "a" * 60 + "b")


def _hog(argument: str) -> object:
    return len([bytearray(1 << 20) for _ in range(int(argument))])


def _keep(argument: str) -> object:
    KEPT.append(bytearray(int(argument) << 20))
    return "kept"


def _litter(argument: str) -> object:
    circle: list[object] = [bytearray(100 * len(argument))]
    circle.append(circle)
    return "littered"


def _swallow_memory_error(argument: str) -> object:
    try:
        return _hog("100000")
    except MemoryError as error:
        raise ValueError("bad SQL near 'secret'") from error


def _stop(argument: str) -> object:
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)  # the signal stops the process, and not at once
    return "went on"


def _descriptors(argument: str) -> object:
    return [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]


def _print(argument: str) -> object:
    print("noise", flush=True)
    os.write(1, b"more noise")
    return "printed"


def _refuse(argument: str) -> object:
    raise Unparsable("near 'secret'")


def _look_up(argument: str) -> object:
    nothing: dict[str, str] = {}
    return nothing[argument]


ACTIONS = {
    "spin": _spin,
    "hold": _hold_the_interpreter,
    "hog": _hog,
    "keep": _keep,
    "litter": _litter,
    "swallow": _swallow_memory_error,
    "segfault": lambda _: ctypes.string_at(0),
    "abort": lambda _: os.abort(),  # Rust's way where it is refused memory
    "exit": lambda code: os._exit(int(code)),
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "stop": _stop,
    "descriptors": _descriptors,
    "print": _print,
    "refuse": _refuse,
    "bug": _look_up,
}
