"""Makes the wheel of ``zarr-core`` of a wheel of ``zarr``: ``python ci/beside zarr-….whl FOLDER``.

Nothing is compiled, so the result has the platform and the repairs of what it was made of. The front and its metadata
go into ``zarr_core/_front``, where no ``import zarr`` finds them before ``zarr_core.install`` says so.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

HERE = Path(__file__).resolve().parent
FRONT = "zarr_core/_front/"
EXTRA = re.compile(rb"([\"'])zarr\[")  # in messages that say which extra to install
START = ("zarr_core.pth", "_zarr_core_start.py")


def record_line(name: str, content: bytes) -> str:
    """Return the line of RECORD of one file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def rename(metadata: str) -> str:
    """Return the metadata of ``zarr-core``: its extras bring no ``zarr``, and its version has no local part.

    Package indexes refuse local versions. ``3.4.2+core.0.1.0`` is the version 0.1.0 of this library.
    """
    head, gap, page = metadata.partition("\n\n")
    lines = []
    for line in head.splitlines():
        if line.startswith("Version: "):
            line = f"Version: {line.partition('+core.')[2]}"
        lines.append("Name: zarr-core" if line == "Name: zarr" else line.replace(": zarr[", ": zarr-core["))
    return "\n".join(lines) + gap + page


def rearrange(files: dict[str, bytes]) -> tuple[str, dict[str, bytes]]:
    """Return the name of the distribution with its version, and the files of its wheel without RECORD."""
    old = next(name for name in files if name.endswith(".dist-info/METADATA")).partition("/")[0]
    metadata = rename(files[f"{old}/METADATA"].decode())
    version = next(line for line in metadata.splitlines() if line.startswith("Version: ")).removeprefix("Version: ")
    new = f"zarr_core-{version}"
    made = {name: (HERE / name).read_bytes() for name in START}
    for name, content in files.items():
        top, _, rest = name.partition("/")
        if top == "zarr":
            made[FRONT + name] = EXTRA.sub(rb"\1zarr-core[", content) if name.endswith(".py") else content
        elif top != old:  # zarr_core, and libraries that a repair has added
            made[name] = content
        elif rest in ("METADATA", "entry_points.txt"):
            made[FRONT + name] = content
        elif rest != "RECORD":
            made[f"{new}.dist-info/{rest}"] = content
    made[f"{new}.dist-info/METADATA"] = metadata.encode()
    inside = [record_line(name.removeprefix(FRONT), made[name]) for name in made if name.startswith(FRONT)]
    made[f"{FRONT}{old}/RECORD"] = "\n".join([*inside, f"{old}/RECORD,,", ""]).encode()
    return new, made


def make_wheel(source: Path, folder: Path) -> Path:
    """Write the wheel of ``zarr-core`` into a folder and return its path."""
    with ZipFile(source) as wheel:
        infos = [info for info in wheel.infolist() if not info.is_dir()]
        files = {info.filename: wheel.read(info) for info in infos}
        rights = {info.filename: info.external_attr for info in infos}
    distribution, made = rearrange(files)
    record = f"{distribution}.dist-info/RECORD"
    lines = [record_line(name, content) for name, content in made.items()]
    made[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    tags = source.stem.split("-", 2)[2]
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{distribution}-{tags}.whl"
    with ZipFile(target, "w", ZIP_DEFLATED) as wheel:
        for name, content in made.items():
            wheel.writestr(name, content)
            wheel.getinfo(name).external_attr = rights.get(name, 0o644 << 16)
    return target


if __name__ == "__main__":
    *wheels, destination = map(Path, sys.argv[1:])
    for path in wheels:
        print(make_wheel(path, destination))
