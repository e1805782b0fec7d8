"""Make ``docs/reference/formats.md`` by running the code: ``python docs/formats_table.py``.

``python docs/formats_table.py peers PYTHON`` also asks zarr-python, tensorstore and zarrs, which the interpreter named
must have (``bash ci/peers.sh`` makes one), and keeps their answers in ``docs/reference/formats_peers.json``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import zarr
from zarr.buffer.cpu import Buffer
from zarr.storage import LocalStore, MemoryStore

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import formats_cases as cases  # noqa: E402
import formats_layouts as layouts  # noqa: E402

TABLE = HERE / "reference" / "formats.md"
PEERS = HERE / "reference" / "formats_peers.json"
PEER_NAMES = ("zarr-python", "tensorstore", "zarrs")
HEAD = """# Formats

<!-- Made by `python docs/formats_table.py`; a test compares it with what the code does. -->

For each row an array document was opened, written to, and read by a second handle; `yes` means that the values came
back bit for bit. **native** means that chunks go through the compiled core in one loop, without a Python call a chunk.
The other libraries read what this one wrote (`r`), and wrote into an array of the same document what this one then
read (`w`). Versions: {versions}. They have the packages that
`ci/peers.sh` installs, so that codecs of other packages (cast_value, pcodec, zfpy) show as `-`. zarrs is asked by the
pipeline of its Python package: what that takes over from zarrs, and hands over as numpy arrays, is the limit there (of
`optional` it knows the documents, and has no arrays for the elements). Whole hierarchies were made on disk and opened
by their path or URL; of the others, which got a store where they need one, only reading (`r`) was asked.
"""

def open_case(case: cases.Case, store: Any) -> Any:
    """An array of a case's document, in a store that has nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store.set_sync(case.file, Buffer.from_bytes(json.dumps(case.document).encode()))
        return zarr.open_array(store, mode="r+", config={"write_empty_chunks": True})


def answers_of(case: cases.Case, store: Any = None) -> dict[str, bool | str]:
    """Try a case with this library: ``read``, ``write``, ``native``; and ``error``, if anything fails."""
    store = MemoryStore() if store is None else store
    try:
        array = open_case(case, store)
        values = cases.values_for(array.dtype, case)
        array[...] = values
        again = zarr.open_array(store, mode="r")
        good = cases.same(again[...], values)
        native = array._handle.layout.program is not None
    except Exception as error:
        return {"read": False, "write": False, "native": False, "error": f"{type(error).__name__}: {error}"}
    return {"read": good, "write": good, "native": native}


def layout_answers() -> dict[str, dict[str, bool]]:
    """Try whole hierarchies with this library."""
    with tempfile.TemporaryDirectory() as folder:
        made = enumerate(layouts.LAYOUTS)
        return {layout.name: layouts.own_answers(layout, Path(folder) / str(i)) for i, layout in made}


def ask_peers(python: str, asked: list[cases.Case], about: list[layouts.Layout] | None = None) -> dict[str, Any]:
    """Return the answers of the other libraries to some cases: versions, "r" and "w" by case, "r" by layout."""
    folder = Path(tempfile.mkdtemp())
    try:
        places = {layout.name: layout.make(folder / "layouts" / str(i)) for i, layout in enumerate(about or [])}
        (folder / "layouts.json").write_text(json.dumps(places))
        (folder / "cases.json").write_text(json.dumps(asked))
        for case in asked:
            answers_of(case, LocalStore(folder / "read" / case.folder))
            for peer in PEER_NAMES:
                open_quietly(case, folder / peer / case.folder)
        said: dict[str, Any] = {}
        for peer in PEER_NAMES:
            said[peer] = run_peer(python, peer, folder)
            for case in asked:
                answer = said[peer]["cases"].get(case.folder, "")
                if "w" in answer and not was_written(case, folder / peer / case.folder):
                    said[peer]["cases"][case.folder] = answer.replace("w", "")
        return said
    finally:
        shutil.rmtree(folder)


def open_quietly(case: cases.Case, folder: Path) -> None:
    """Put a case's document in a folder."""
    folder.mkdir(parents=True)
    (folder / case.file).write_text(json.dumps(case.document))


def run_peer(python: str, peer: str, folder: Path) -> Any:
    """The answers of one library."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "ZARR"))}
    script = str(HERE / "formats_peers.py")
    done = subprocess.run(
        [python, "-W", "ignore", script, peer, str(folder)], capture_output=True, text=True, check=True, env=clean
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def was_written(case: cases.Case, folder: Path) -> bool:
    """Return True if this library reads correctly what another library wrote."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.open_array(str(folder), mode="r")  # chunks of nothing but fill value need not be there
        try:
            return cases.same(array[...], cases.values_for(array.dtype, case))
        except Exception:
            return False


def table() -> str:
    """The page."""
    said = json.loads(PEERS.read_text())
    versions = ", ".join(said[peer]["version"] for peer in PEER_NAMES)
    parts, section = [HEAD.format(versions=versions)], None
    for case in cases.all_cases():
        if case.section != section:
            section = case.section
            parts.append(f"\n## {section}\n\n| | read | write | native | {' | '.join(PEER_NAMES)} |\n|{'---|' * 7}")
        answer = answers_of(case)
        own = [("yes" if answer[column] else "-") for column in ("read", "write", "native")]
        others = [said[peer]["cases"].get(case.folder) or "-" for peer in PEER_NAMES]
        parts.append(f"| {case.name.replace('|', chr(92) + '|')} | {' | '.join([*own, *others])} |")
    parts.append(f"\n## {layouts.SECTION}\n\n| | read | write | native | {' | '.join(PEER_NAMES)} |\n|{'---|' * 7}")
    for name, answer in layout_answers().items():
        own = [("yes" if answer[column] else "-") for column in ("read", "write", "native")]
        others = [said[peer].get("layouts", {}).get(name) or "-" for peer in PEER_NAMES]
        parts.append(f"| {name} | {' | '.join([*own, *others])} |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["peers"]:
        answers = ask_peers(sys.argv[2], cases.all_cases(), layouts.LAYOUTS)
        PEERS.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")
    TABLE.write_text(table())
