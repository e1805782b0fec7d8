"""Pictures of pages, drawn by the programs of these pages.

A page shows ``![text](name.png)``, and one of its programs has ``savefig("name.png"``, or one of its commands is ``zarr
plot``. Such programs and commands run in a folder of their own, and the pictures become files of the site; MkDocs warns
of pictures that nothing has saved. Colours that suit light and dark pages are in ``matplotlibrc``.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

LOOK = Path(__file__).with_name("matplotlibrc")
ROOT = Path(__file__).resolve().parents[2]
RUN = "import sys, recordings; recordings.recorded(sys.stdin.read())"
_SAVED = re.compile(r"(?:savefig\(\"|\$ zarr plot \S+ )([\w.-]+\.png)")


def shown(page: File) -> list[str]:
    """Return the names of the pictures that programs of a page save and the page shows."""
    text = page.content_string
    return [name for name in dict.fromkeys(_SAVED.findall(text)) if f"]({name})" in text]


def draw(page: File, names: list[str]) -> dict[str, bytes]:
    """Run the programs of a page, and return the pictures by their place in the site."""
    with TemporaryDirectory() as folder:
        paths = os.pathsep.join([str(ROOT), str(ROOT / "docs")])
        environment = {**os.environ, "MPLBACKEND": "agg", "MATPLOTLIBRC": str(LOOK), "PYTHONPATH": paths}
        done = subprocess.run(
            [sys.executable, "-c", RUN], input=page.content_string, cwd=folder, env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise PluginError(f"{page.src_uri}: a program of the page ends with an error\n{done.stderr}")
        above = posixpath.dirname(page.src_uri)
        return {posixpath.join(above, name): Path(folder, name).read_bytes() for name in names}


def pictures(files: Files, config: Any) -> Iterator[File]:
    """Yield the pictures that the pages draw."""
    wanted = [(page, names) for page in files.documentation_pages() if (names := shown(page))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda each: draw(*each), wanted):
            for place, content in found.items():
                yield File.generated(config, place, content=content)
