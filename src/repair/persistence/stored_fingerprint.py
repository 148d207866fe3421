"""The fingerprint of the calibration rows in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.model.fingerprint import MOST_ROWS, Distribution, Fingerprint
from repair.model.score_types import ScoreTypes
from repair.persistence.field_reader import FieldReader

__all__ = ["describe_fingerprint", "fingerprint_arrays", "read_fingerprint"]

COUNTS = ("first_counts", "listed_counts", "label_counts")
DISTRIBUTIONS = ("gaps", "spans")


def describe_fingerprint(fingerprint: Fingerprint | None) -> dict[str, Any] | None:
    """Return the single values of a fingerprint."""
    if fingerprint is None:
        return None
    return {
        "width": fingerprint.width,
        "share": fingerprint.share,
        "grouped": fingerprint.grouped,
        "n_gaps": fingerprint.gaps.n_values,
    }


def fingerprint_arrays(fingerprint: Fingerprint | None) -> dict[str, AnyArray]:
    """Return the arrays of a fingerprint by their names in the file."""
    if fingerprint is None:
        return {}
    arrays: dict[str, AnyArray] = {
        "fingerprint.types": fingerprint.types.as_array(),
        "fingerprint.row_hashes": fingerprint.row_hashes,
    }
    for name in DISTRIBUTIONS:
        distribution: Distribution = getattr(fingerprint, name)
        arrays[f"fingerprint.{name}.edges"] = distribution.edges
        arrays[f"fingerprint.{name}.shares"] = distribution.shares
    return arrays | {f"fingerprint.{name}": getattr(fingerprint, name) for name in COUNTS}


def read_fingerprint(reader: FieldReader, n_classes: int) -> Fingerprint | None:
    """Read the fingerprint, or return None if the file was written before models had one."""
    if not reader.has("fingerprint") or reader.is_null("fingerprint"):
        return None
    described = reader.section("fingerprint")
    n_gaps, share = described.integer("n_gaps", 0), described.number("share")
    hashes = reader.array("fingerprint.row_hashes", ("U64",), 1)
    if not 1 <= len(hashes) <= MOST_ROWS or (hashes[1:] < hashes[:-1]).any():
        raise reader.refuse(f"fingerprint.row_hashes must be 1 to {MOST_ROWS} sorted numbers")
    if not 0.0 < share <= 1.0 or n_gaps > len(hashes):
        raise reader.refuse(f"fingerprint.share is {share:g} and n_gaps is {n_gaps} for {len(hashes)} rows")
    types = reader.vector("fingerprint.types", 3, low=0.0)
    if types.max() > 1.0:
        raise reader.refuse("fingerprint.types must be shares between 0 and 1")
    gaps, spans = (_distribution(reader, name, n_gaps) for name in DISTRIBUTIONS)
    first, listed, labels = (_counts(reader, name, n_classes, len(hashes)) for name in COUNTS)
    return Fingerprint(
        width=described.integer("width", 1),
        types=ScoreTypes(*types.tolist()),
        gaps=gaps,
        spans=spans,
        first_counts=first,
        listed_counts=listed,
        label_counts=labels,
        row_hashes=hashes,
        share=share,
        grouped=described.boolean("grouped"),
    )


def _distribution(reader: FieldReader, name: str, n_values: int) -> Distribution:
    edges = reader.vector(f"fingerprint.{name}.edges", None, low=0.0)
    shares = reader.vector(f"fingerprint.{name}.shares", len(edges), low=0.0)
    rising = (np.diff(edges) > 0).all() and (np.diff(shares) > 0).all()
    if bool(n_values) != bool(len(edges)) or not rising or (len(shares) and shares[-1] != 1.0):
        raise reader.refuse(f"fingerprint.{name} is not a distribution: edges and shares must increase up to 1")
    return Distribution(edges, shares, n_values)


def _counts(reader: FieldReader, name: str, n_classes: int, n_rows: int) -> IntArray:
    counts: IntArray = reader.array(f"fingerprint.{name}", ("I32",), 1)
    if len(counts) != n_classes or counts.min() < 0 or counts.max() > n_rows:
        raise reader.refuse(f"fingerprint.{name} must have a count of at most {n_rows} for each of {n_classes} classes")
    return counts
