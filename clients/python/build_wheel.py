"""Builds the wheel and the source distribution with the standard library: the backend of pyproject.toml, which needs no network and no setuptools."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib

_folder = Path(__file__).parent
_project = tomllib.loads((_folder / "pyproject.toml").read_text("utf-8"))["project"]
_name = f"{_project['name']}-{_project['version']}"
# The licence is at the root of a clone, and in a source distribution next to this file.
_licence = next(path for path in (_folder / "LICENSE", _folder.parent.parent / "LICENSE") if path.exists())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel, and returns its name."""
    files = {str(path.relative_to(_folder)): path.read_bytes() for path in _sources()}
    files[f"{_name}.dist-info/METADATA"] = _metadata()
    files[f"{_name}.dist-info/licenses/LICENSE"] = _licence.read_bytes()
    files[f"{_name}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: holdpoint\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{_name}.dist-info/RECORD"
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = f"{_name}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """Writes the source distribution, and returns its name."""
    sdist = f"{_name}.tar.gz"
    own = [*_sources(), *(_folder / name for name in ("pyproject.toml", "build_wheel.py", "README.md"))]
    files = {str(path.relative_to(_folder)): path.read_bytes() for path in own}
    files["PKG-INFO"] = _metadata()
    files["LICENSE"] = _licence.read_bytes()
    with open(Path(sdist_directory) / sdist, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, data in sorted(files.items()):
                entry = tarfile.TarInfo(f"{_name}/{path}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return sdist


def _sources():
    package = _folder / "holdpoint"
    return sorted([*package.glob("*.py"), package / "py.typed"])


def _metadata():
    fields = {
        "Metadata-Version": "2.4",
        "Name": _project["name"],
        "Version": _project["version"],
        "Summary": _project["description"],
        "Requires-Python": _project["requires-python"],
        "License-Expression": _project["license"],
        "License-File": "LICENSE",
        "Description-Content-Type": "text/markdown",
    }
    head = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"{head}\n{(_folder / _project['readme']).read_text('utf-8')}".encode()


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
