"""The classes of a JVM that PySpark makes columns with, as it asks for them."""

from __future__ import annotations

from py4j.java_gateway import JavaClass, JavaMember, JVMView

_FUNCTIONS = "org.apache.spark.sql.functions"
_PYTHON_UTILS = "org.apache.spark.api.python.PythonUtils"
_BY_NAME = {
    _FUNCTIONS: _FUNCTIONS,
    "functions": _FUNCTIONS,
    _PYTHON_UTILS: _PYTHON_UTILS,
    "PythonUtils": _PYTHON_UTILS,
}
"""What PySpark calls a class, and its whole name."""


class _KnownClass(JavaClass):  # type: ignore[misc]
    """A class whose methods the JVM is asked for once each."""

    def __getattr__(self, name: str) -> object:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):
            setattr(self, name, found)
        return found


def know_classes(jvm: JVMView) -> None:
    """Has Python know these classes of a JVM, and each of their methods from its first call on.

    PySpark asks for a class and then for its method whenever it makes a column, which is two questions for each call.
    For a short name the JVM looks through all of Spark's jars.
    """
    known = {name: _KnownClass(name, jvm._gateway_client) for name in set(_BY_NAME.values())}
    for name, whole_name in _BY_NAME.items():
        setattr(jvm, name, known[whole_name])
