"""The GestaltMatcher Database (GMDB): its metadata, which of its diseases have facial terms, and RareBench's cases."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import InputError
from repair.similarity import Ontology, jaccard, read_annotations
from repair.similarity.reading import read_text
from repair_bench.data.texts import read_json_lines

__all__ = ["RAREBENCH_SUBSETS", "Gmdb", "MappedCases", "mapped_cases", "read_gmdb", "read_rarebench"]

#: "Abnormality of the face".  The paper keeps the diseases with facial phenotypes in HPO.
FACE = "HP:0000271"
#: The public subsets of RareBench, which have 1,122 cases together.
RAREBENCH_SUBSETS = ("RAMEDIS", "MME", "HMS", "LIRICAL")
OMIM_NUMBER = re.compile(r"\d{6}")


@dataclass(frozen=True, eq=False)
class Gmdb:
    """The diseases with facial terms, and their images.

    Attributes
    ----------
    names : tuple of str
        In the order of their syndrome ids.
    omim : tuple of tuple of str
        The OMIM ids of each disease.
    profiles : tuple of frozenset of str
        Annotated terms of each disease, with all ancestors.
    images, labels : dict
        Image ids and labels by part: train, val, test.
    notes : tuple of str
    """

    names: tuple[str, ...]
    omim: tuple[tuple[str, ...], ...]
    profiles: tuple[frozenset[str], ...]
    images: dict[str, tuple[str, ...]]
    labels: dict[str, IntArray]
    notes: tuple[str, ...]

    @property
    def counts(self) -> AnyArray:
        """Training images per disease."""
        return np.bincount(self.labels["train"], minlength=len(self.names))

    @property
    def similarity(self) -> FloatArray:
        """The Jaccard index of the diseases' terms with their ancestors."""
        similarity: FloatArray = jaccard(self.profiles)
        return similarity


def read_gmdb(files: Mapping[str, Path]) -> Gmdb:
    """Read the metadata, and keep the diseases of the training list that have facial terms in HPO.

    Parameters
    ----------
    files : mapping from str to Path
        ``train``, ``val``, ``test`` (columns ``image_id`` and ``label``), ``syndromes`` (``syndrome_id``,
        ``syndrome_name`` and a column with OMIM ids), ``terms`` and ``annotations`` of HPO.
    """
    rows = {part: _table(files[part], ",") for part in ("train", "val", "test")}
    syndromes = {row["syndrome_id"]: row for row in _table(files["syndromes"], "\t")}
    ontology, annotated = Ontology.read(files["terms"]), read_annotations(files["annotations"])
    listed = sorted({row["label"] for row in rows["train"]}, key=_number)
    unknown = next((one for one in listed if one not in syndromes), None)
    if unknown is not None:
        raise InputError(f"syndrome {unknown} is in {files['train'].name}, but not in {files['syndromes'].name}")
    omim = {one: _omim_ids(syndromes[one], files["syndromes"]) for one in listed}
    profiles = {
        one: ontology.closure((term for number in omim[one] for term in annotated.get(number, ())), unknown="skip")
        for one in listed
    }
    kept = [one for one in listed if FACE in profiles[one]]
    if not kept:
        raise InputError(
            "none of the diseases has a facial term in HPO; check that the OMIM ids of the syndromes are there"
        )
    label_of = {one: label for label, one in enumerate(kept)}
    inside = {part: [row for row in of_part if row["label"] in label_of] for part, of_part in rows.items()}
    return Gmdb(
        tuple(syndromes[one]["syndrome_name"] for one in kept),
        tuple(omim[one] for one in kept),
        tuple(profiles[one] for one in kept),
        {part: tuple(row["image_id"] for row in of_part) for part, of_part in inside.items()},
        {
            part: np.array([label_of[row["label"]] for row in of_part], dtype=np.int32)
            for part, of_part in inside.items()
        },
        (f"{len(kept)} of {len(listed)} diseases have facial terms in HPO (the paper: 508 of 528)",),
    )


def _table(path: Path, separator: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_text(path)), delimiter=separator))


def _number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else -1, text)


def _omim_ids(row: Mapping[str, str], path: Path) -> tuple[str, ...]:
    columns = [name for name in row if "omim" in name.lower()]
    if not columns:
        raise InputError(f"{path.name} has no column of OMIM ids; its columns are {', '.join(row)}")
    return tuple(dict.fromkeys(f"OMIM:{number}" for name in columns for number in OMIM_NUMBER.findall(row[name] or "")))


def read_rarebench(files: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Read RareBench's public cases, in the order of `RAREBENCH_SUBSETS`.

    Returns
    -------
    list of dict
        ``subset``, ``disease_ids`` and ``hpo_observed`` of each case.
    """
    cases: list[dict[str, Any]] = []
    for subset in RAREBENCH_SUBSETS:
        for row in read_json_lines(files[subset]):
            cases.append(
                {"subset": subset, "disease_ids": tuple(row["RareDisease"]), "hpo_observed": tuple(row["Phenotype"])}
            )
    return cases


@dataclass(frozen=True, eq=False)
class MappedCases:
    """The RareBench cases whose diagnosis is a disease of GMDB.

    Attributes
    ----------
    labels : ndarray of int (n,)
    terms : tuple of tuple of str
        Observed terms of each case.
    notes : tuple of str
    """

    labels: IntArray
    terms: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def mapped_cases(cases: list[dict[str, Any]], diseases: Gmdb) -> MappedCases:
    """Return the cases that have an OMIM id of a GMDB disease."""
    label_of: dict[str, int] = {}
    for label, numbers in enumerate(diseases.omim):
        for number in numbers:
            label_of.setdefault(number, label)
    labels, terms = [], []
    for case in cases:
        ids: tuple[str, ...] = case["disease_ids"]
        known = [label_of[one] for one in ids if one in label_of]
        if known:
            labels.append(known[0])
            observed: tuple[str, ...] = case["hpo_observed"]
            terms.append(observed)
    note = (
        f"{len(labels)} of {len(cases)} RareBench cases map to {len(set(labels))} GMDB diseases "
        "(the paper: 195 of 1,122 to 67)"
    )
    return MappedCases(np.array(labels, dtype=np.int32), tuple(terms), (note,))
