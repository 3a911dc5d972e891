"""Storage paths: one spelling for what different tools write."""

from __future__ import annotations

_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "wasb"}


def normal_path(path: str | None) -> str | None:
    """`path` with its scheme's common name and without trailing slashes, as look-ups compare it."""
    if not path:
        return None
    scheme, separator, rest = path.partition("://")
    if not separator:
        return path.rstrip("/") or "/"
    return f"{_SCHEMES.get(scheme.lower(), scheme.lower())}://{rest.rstrip('/')}"
