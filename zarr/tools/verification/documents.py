"""Faults of metadata documents: unreadable ones, forbidden ones, and contradictions to another document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zarr.errors import MetadataValidationError, UnknownCodecError
from zarr.metadata.documents import load_document
from zarr.metadata.group import GroupMetadata
from zarr.metadata.repair import repair_array_document
from zarr.notices import without_warnings
from zarr.steps.documents import NodeMetadata, node_key, parse_v2, parse_v3
from zarr.steps.requests import Steps
from zarr.storage.keys import ancestors
from zarr.storage.path import StorePath
from zarr.tools.verification.report import Fault
from zarr.tools.verification.survey import (
    NODE_NAMES,
    REFUSALS,
    NodeKind,
    Survey,
    error_text,
    layout_of,
    read_document_steps,
)


def find_faults(survey: Survey) -> Iterator[Fault]:
    """Yield the faults of the documents of each node, and note the kinds of the nodes."""
    paths = sorted(path for path, names in survey.documents.items() if names & NODE_NAMES)
    results = survey.run(_node_steps(survey, path) for path in paths)
    for path, (kind, faults) in zip(paths, results, strict=True):
        survey.kinds[path] = kind
        yield from faults
    for path in sorted(survey.documents.keys() - survey.kinds.keys()):
        yield _without_node(survey, path)
    yield from _faults_of_places(survey)


def _node_steps(survey: Survey, path: str) -> Steps[tuple[NodeKind, list[Fault]]]:
    """Read the documents of one node, and return its kind and the faults in them."""
    faults = list(_contradictions(survey, path))
    found: dict[str, bytes] = {}
    damaged = False
    for name in sorted(survey.documents[path] - {".zmetadata"}):
        raw = yield from read_document_steps(node_key(path, name))
        if isinstance(raw, Fault):
            faults.append(raw)
            damaged = True
        elif raw is not None:
            found[name] = raw
    if damaged or not found.keys() & NODE_NAMES:  # also if another program has removed them after they were listed
        return "damaged", faults
    kind, of_documents = check_documents(found, StorePath(survey.store, path))
    return kind, faults + of_documents


def check_documents(found: dict[str, bytes], place: StorePath) -> tuple[NodeKind, list[Fault]]:
    """Check the documents of a node by themselves.

    Parameters
    ----------
    found : dict
        The documents, by name; if there are both formats, both are checked.
    place : StorePath

    Returns
    -------
    kind : str
        The kind of the node, as readers find it: by ``zarr.json`` if there is one.
    faults : list of Fault

    Examples
    --------
    >>> import zarr
    >>> place = zarr.group().store_path
    >>> check_documents({"zarr.json": b'{"zarr_format": 3, "node_type": "group"}'}, place)
    ('group', [])
    >>> check_documents({"zarr.json": b"{"}, place)[1][0].kind
    'document-unreadable'
    """
    kinds: list[NodeKind] = []
    faults: list[Fault] = []
    for name in ("zarr.json", ".zarray", ".zgroup"):
        if name not in found:
            continue
        unreadable = [fault for part in _parts(name, found) if (fault := _unreadable(found[part], part, place))]
        if unreadable:
            kinds.append("damaged")
            faults += unreadable
            continue
        kind, of_document = _check(name, found, place)
        kinds.append(kind)
        faults += of_document
    return kinds[0], faults


def _parts(name: str, found: dict[str, bytes]) -> list[str]:
    return [name, ".zattrs"] if name != "zarr.json" and ".zattrs" in found else [name]


def _unreadable(raw: bytes, name: str, place: StorePath) -> Fault | None:
    key = node_key(place.path, name)
    try:
        load_document(raw, key)
    except MetadataValidationError as error:
        return Fault("document-unreadable", key, place.path, f"{error} Put it back from a copy.")
    return None


def _check(name: str, found: dict[str, bytes], place: StorePath) -> tuple[NodeKind, list[Fault]]:
    """Parse a document that is JSON, and bind the codecs of an array."""
    key = node_key(place.path, name)
    kind: NodeKind = "damaged"
    try:
        with without_warnings():
            parsed = _parsed(name, found, place)
        if isinstance(parsed, GroupMetadata):
            return "group", list(_nonconforming(found, name, place))
        kind = "array"
        layout_of(parsed, place.path).require_codecs()
    except UnknownCodecError as error:
        text = f"{error_text(error)}: its chunks cannot be checked. Install the package that has the codec."
        return kind, [Fault("codec-unknown", key, place.path, text)]
    except REFUSALS as error:
        text = f"the document is not as format {2 + (name == 'zarr.json')} has it: {error_text(error)}"
        return "damaged", [Fault("document-invalid", key, place.path, text)]
    return "array", list(_nonconforming(found, name, place))


def _parsed(name: str, found: dict[str, bytes], place: StorePath) -> NodeMetadata:
    if name != "zarr.json":
        return parse_v2(found, name, place)
    document = load_document(found[name], name)
    if document.get("node_type") != "group":
        return parse_v3(found[name], place)
    document.pop("consolidated_metadata", None)  # checked by itself: the rest is the group
    return GroupMetadata.from_dict(document, path=place.path, name=name)


def _nonconforming(found: dict[str, bytes], name: str, place: StorePath) -> Iterator[Fault]:
    """Yield a fault if a document is read although it breaks the format."""
    document: dict[str, Any] = load_document(found[name], name)
    told_of = [] if "zarr_format" in document else ["there is no member 'zarr_format'."]
    if "shape" in document:
        _, repairs = repair_array_document(document, 3 if name == "zarr.json" else 2)
        told_of += [each.message or "a length is written as no length is." for each in repairs]
    if told_of:
        text = f"the document is read, though the format forbids it: {' '.join(told_of)}"
        yield Fault("document-nonconforming", node_key(place.path, name), place.path, text)


# ------------------------------------------------------------------------------------------------- places


def _contradictions(survey: Survey, path: str) -> Iterator[Fault]:
    names = survey.documents[path]
    if {".zarray", ".zgroup"} <= names:
        text = "there are .zarray and .zgroup, an array and a group at one place: delete the wrong one."
        yield Fault("array-and-group", node_key(path, ".zarray"), path, text)
    if len(survey.formats(path)) == 2:
        other = ".zarray" if ".zarray" in names else ".zgroup"
        text = f"there are zarr.json and {other}, and readers choose for themselves: delete those of one format."
        yield Fault("two-formats", node_key(path, other), path, text)
    if survey.formats(path) == {3} and ".zattrs" in names:
        text = "there is .zattrs, a document of format 2, beside zarr.json: no reader looks at it."
        yield Fault("key-stray", node_key(path, ".zattrs"), path, text, mendable=True)


def _without_node(survey: Survey, path: str) -> Fault:
    name = min(survey.documents[path])
    text = f"there is {name} but neither .zarray nor .zgroup: readers do not find this node. Restore the document."
    return Fault("document-missing", node_key(path, name), path, text)


def _faults_of_places(survey: Survey) -> Iterator[Fault]:
    """Yield the contradictions between nodes by their places."""
    told_of: set[str] = set()
    for path in survey.kinds:
        above = survey.owner_of(path)
        if above is None:
            continue
        key = node_key(path, min(survey.documents[path] & NODE_NAMES))
        if survey.kinds[above] == "array":
            text = f"the node lies below the array /{above}, which has no members: move it."
            yield Fault("node-below-array", key, path, text)
        elif not survey.formats(path) & survey.formats(above):
            formats = f"{survey.formats(path)} below a group of format {survey.formats(above)}"
            yield Fault("format-mismatch", key, path, f"a node of format {formats}: the group does not list it.")
        for between in ancestors(path):
            if between == above:
                break
            if between not in told_of and between not in survey.documents and survey.kinds[above] == "group":
                told_of.add(between)
                yield _parent_missing(survey, between, above)


def _parent_missing(survey: Survey, path: str, above: str) -> Fault:
    name = "zarr.json" if 3 in survey.formats(above) else ".zgroup"
    text = f"there is no document, though nodes lie below: the group /{above} does not list them. Make a group here."
    return Fault("parent-missing", node_key(path, name), path, text, mendable=True)
