"""The files in which ontologies are published: OBO (``hp.obo``) and OBO Graphs JSON (``hp.json``)."""

from collections.abc import Iterator
from typing import Any

from repair.errors import InputError

__all__ = ["Terms", "terms_of_graphs", "terms_of_obo"]

#: Parents by term, replacements by former or alternative id, and the name of the release.
Terms = tuple[dict[str, tuple[str, ...]], dict[str, str], str]

REPLACED_BY = "http://purl.obolibrary.org/obo/IAO_0100001"
ALTERNATIVE_ID = "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId"


def terms_of_obo(text: str) -> Terms:
    r"""Return the terms of an OBO file.

    Examples
    --------
    >>> from repair.similarity.ontology_files import terms_of_obo
    >>> terms_of_obo("format-version: 1.2\ndata-version: r1\n\n[Term]\nid: HP:2\nalt_id: HP:9\nis_a: HP:1 ! All\n")
    ({'HP:2': ('HP:1',)}, {'HP:9': 'HP:2'}, 'r1')
    """
    parents: dict[str, tuple[str, ...]] = {}
    replaced: dict[str, str] = {}
    header, *stanzas = text.replace("\r\n", "\n").split("\n[")
    release = next((value for key, value in _tags(header) if key == "data-version"), "")
    for stanza in stanzas:
        kind, _, body = stanza.partition("]")
        if kind != "Term":
            continue
        tags = list(_tags(body))
        identifier = next((value for key, value in tags if key == "id"), "")
        if not identifier:
            raise InputError(f"a [Term] of the OBO file has no id: {body.strip()[:60]!r}; get the file again")
        if ("is_obsolete", "true") in tags:
            replaced.update((identifier, value) for key, value in tags if key == "replaced_by")
            continue
        parents[identifier] = tuple(value for key, value in tags if key == "is_a")
        replaced |= {value: identifier for key, value in tags if key == "alt_id"}
    return parents, replaced, release.removeprefix("hp/releases/")


def _tags(stanza: str) -> Iterator[tuple[str, str]]:
    """Yield the tags of a stanza with their values, without comments and modifiers."""
    for line in stanza.split("\n"):
        key, colon, value = line.partition(": ")
        if colon:
            yield key, value.partition(" ! ")[0].partition(" {")[0].strip()


def terms_of_graphs(content: Any) -> Terms:
    """Return the terms of an OBO Graphs document, which has been read from JSON.

    Examples
    --------
    >>> from repair.similarity.ontology_files import terms_of_graphs
    >>> one, two = ("http://purl.obolibrary.org/obo/HP_" + number for number in "12")
    >>> graph = {"nodes": [{"id": one}, {"id": two}], "edges": [{"sub": two, "pred": "is_a", "obj": one}]}
    >>> terms_of_graphs({"graphs": [graph]})
    ({'HP:1': (), 'HP:2': ('HP:1',)}, {}, '')
    """
    graph = content["graphs"][0]
    parents: dict[str, list[str]] = {}
    replaced: dict[str, str] = {}
    for node in graph["nodes"]:
        identifier, meta = _short(node["id"]), node.get("meta", {})
        if not identifier or node.get("type", "CLASS") != "CLASS":
            continue
        values = meta.get("basicPropertyValues", [])
        if meta.get("deprecated"):
            replaced.update((identifier, _short(one["val"])) for one in values if one["pred"] == REPLACED_BY)
            continue
        parents[identifier] = []
        replaced |= {one["val"]: identifier for one in values if one["pred"] == ALTERNATIVE_ID}
    for edge in graph["edges"]:
        if edge["pred"] == "is_a" and _short(edge["sub"]) in parents and _short(edge["obj"]) in parents:
            parents[_short(edge["sub"])].append(_short(edge["obj"]))
    release = str(graph.get("meta", {}).get("version", ""))
    return {term: tuple(ids) for term, ids in parents.items()}, replaced, _release(release)


def _short(identifier: str) -> str:
    """Return HP:0000001 for http://purl.obolibrary.org/obo/HP_0000001, and an empty text for other things."""
    name = identifier.rpartition("/")[2]
    prefix, separator, number = name.partition("_" if "_" in name else ":")
    return f"{prefix}:{number}" if separator and number.isdecimal() else ""


def _release(version: str) -> str:
    """Return the date in a release's address."""
    return next((part for part in reversed(version.split("/")) if part[:1].isdigit()), version)
