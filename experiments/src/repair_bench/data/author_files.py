"""The score files of the paper's authors, as their published code reads them: five data sets, each with its layout.

The files themselves are not published with the code.  Object arrays are refused, because only pickle can read them.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import InputError
from repair.similarity import jaccard
from repair.similarity.reading import read_text
from repair_bench.data.disease_sources import GMDB_AUTHORS, RAREBENCH_AUTHORS
from repair_bench.data.image_lists import read_list
from repair_bench.data.layouts import AUTHORS, Found, Layout, Source
from repair_bench.data.parts import CALIBRATION, TEST, published_halves, published_halves_per_class
from repair_bench.data.problem import Problem
from repair_bench.data.score_arrays import check_labels, read_npy, read_npz
from repair_bench.data.sources import source

__all__ = ["READERS", "AuthorScores", "author_sources", "read_author_scores"]

AUTHORS_HOME = "github.com/WGLab/REPAIR"
#: Shares and sizes of the paper's random splits.
IMAGENET_CALIBRATION, PLACES_SHARE, RAREBENCH_SHARE = 0.4, 0.6, 0.6
#: The Jaccard index of two diseases is over the HPO ids in their cards, without ancestors.
HPO_ID = re.compile(r"HP:\d+")


@dataclass(frozen=True, eq=False)
class AuthorScores:
    """Scores of the calibration and test rows.

    Attributes
    ----------
    calibration_scores, test_scores : ndarray (n, K)
        Raw logits, in the dtype of the file.
    calibration_labels, test_labels : ndarray of int (n,)
    class_counts : ndarray (K,)
    similarity : ndarray (K, K), or None
        Of a distance, the largest distance minus the distance.  Its average over rivals then differs from that of the
        distance by sign and by a number that all candidates share, so a fit with it gives the same ranking.
    weight_norms : ndarray (K,), or None
        Norms of the class weights.  With them, the paper divides scores by their square roots.
    class_names : tuple of str, or None
    """

    calibration_scores: AnyArray
    calibration_labels: IntArray
    test_scores: AnyArray
    test_labels: IntArray
    class_counts: FloatArray
    similarity: FloatArray | None = None
    weight_norms: FloatArray | None = None
    class_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        n_classes = self.test_scores.shape[1]
        for name in ("class_counts", "weight_norms", "similarity"):
            value = getattr(self, name)
            if value is not None and len(value) != n_classes:
                raise InputError(f"{name} is for {len(value)} classes, but there are scores for {n_classes}")
        if self.calibration_scores.shape[1] != n_classes:
            raise InputError(
                f"calibration scores have {self.calibration_scores.shape[1]} classes, test scores have {n_classes}"
            )
        if self.weight_norms is not None and not (self.weight_norms > 0).all():
            raise InputError("the norms of the class weights must be positive")

    @property
    def problem(self) -> Problem:
        """The same as a problem without training rows, whose features are the scores."""
        n_calibration, n_test = len(self.calibration_labels), len(self.test_labels)
        names = self.class_names or tuple(map(str, range(self.test_scores.shape[1])))
        return Problem(
            names,
            np.concatenate([self.calibration_labels, self.test_labels]),
            np.repeat([CALIBRATION, TEST], [n_calibration, n_test]).astype(np.int32),
            features=np.concatenate([self.calibration_scores, self.test_scores]),
            similarity=self.similarity,
            class_counts=self.class_counts,
            weight_norms=self.weight_norms,
        )


def read_author_scores(found: Found) -> AuthorScores:
    """Return the scores of a data set that was found in the layout of the authors' score files."""
    return READERS[found.source.name](found)


def _imagenet_lt(found: Found) -> AuthorScores:
    """One file of logits, divided at random; training counts from the published list."""
    arrays = read_npz(found.files["scores"], ("logits", "labels"))
    logits = arrays["logits"]
    labels = check_labels(arrays["labels"], logits, str(found.files["scores"]))
    counts = np.bincount(read_list(found.files["train"], logits.shape[1]).labels, minlength=logits.shape[1])
    part = published_halves(len(labels), round(IMAGENET_CALIBRATION * len(labels)))
    similarity = read_npy(found.files["similarity"]) if "similarity" in found.files else None
    return _divided(logits, labels, part, counts.astype(np.float64), similarity)


def _inat2018(found: Found) -> AuthorScores:
    """Logits of both parts, training counts, and a taxonomic distance."""
    path = found.files["scores"]
    arrays = read_npz(path, ("cal_logits", "cal_labels", "test_logits", "test_labels", "counts", "tax_dist"))
    distance = arrays["tax_dist"].astype(np.float64)
    return AuthorScores(
        arrays["cal_logits"],
        check_labels(arrays["cal_labels"], arrays["cal_logits"], f"{path}, cal_labels"),
        arrays["test_logits"],
        check_labels(arrays["test_labels"], arrays["test_logits"], f"{path}, test_labels"),
        arrays["counts"].astype(np.float64),
        similarity=distance.max() - distance,
    )


def _places_lt(found: Found) -> AuthorScores:
    """One file of logits, divided at random within each class."""
    path = found.files["scores"]
    arrays = read_npz(path, ("test_logits", "test_labels", "train_counts"))
    logits = arrays["test_logits"]
    labels = check_labels(arrays["test_labels"], logits, str(path))
    part = published_halves_per_class(labels, PLACES_SHARE, logits.shape[1])
    return _divided(logits, labels, part, arrays["train_counts"].astype(np.float64), None)


def _gmdb(found: Found) -> AuthorScores:
    """Logits of both parts with disease names, a manifest with the training rows, disease cards and weight norms."""
    calibration = read_npz(found.files["calibration_scores"], ("logits", "true_labels", "disease_names"))
    test = read_npz(found.files["test_scores"], ("logits", "true_labels"))
    names = tuple(str(name) for name in calibration["disease_names"])
    return AuthorScores(
        calibration["logits"],
        check_labels(calibration["true_labels"], calibration["logits"], str(found.files["calibration_scores"])),
        test["logits"],
        check_labels(test["true_labels"], test["logits"], str(found.files["test_scores"])),
        _manifest_counts(found, names),
        similarity=_card_similarity(found, names),
        weight_norms=read_npy(found.files["norms"]).astype(np.float64),
        class_names=names,
    )


def _rarebench(found: Found) -> AuthorScores:
    """Logits over the diseases of GMDB, divided at random; counts and weight norms of the GMDB classifier."""
    path = found.files["scores"]
    arrays = read_npz(path, ("logits", "labels"))
    labels = check_labels(arrays["labels"], arrays["logits"], str(path))
    part = published_halves(len(labels), int(RAREBENCH_SHARE * len(labels)))
    scores = _divided(
        arrays["logits"], labels, part, read_npy(found.files["counts"]).astype(np.float64), _rarebench_similarity(found)
    )
    return replace(scores, weight_norms=read_npy(found.files["norms"]).astype(np.float64))


def _rarebench_similarity(found: Found) -> FloatArray | None:
    """Return the similarity of GMDB's diseases, if GMDB's files are there as well."""
    if "cards" not in found.files or "calibration_scores" not in found.files:
        return None
    arrays = read_npz(found.files["calibration_scores"], ("disease_names",))
    return _card_similarity(found, tuple(str(name) for name in arrays["disease_names"]))


def _divided(
    logits: AnyArray, labels: IntArray, part: IntArray, counts: FloatArray, similarity: FloatArray | None
) -> AuthorScores:
    calibration, test = part == CALIBRATION, part == TEST
    return AuthorScores(logits[calibration], labels[calibration], logits[test], labels[test], counts, similarity)


def _manifest_counts(found: Found, names: tuple[str, ...]) -> FloatArray:
    position = {name: place for place, name in enumerate(names)}
    counts = np.zeros(len(names))
    for row in csv.DictReader(io.StringIO(read_text(found.files["manifest"]))):
        if row["split"] == "train" and row["disease_name"] in position:
            counts[position[row["disease_name"]]] += 1
    if not counts.any():
        raise InputError(f"{found.files['manifest']} has no training row of these diseases; check that the names match")
    return counts


def _card_similarity(found: Found, names: tuple[str, ...]) -> FloatArray:
    cards: Mapping[str, object] = json.loads(read_text(found.files["cards"]))
    similarity: FloatArray = jaccard([set(HPO_ID.findall(str(cards.get(name, "")))) for name in names])
    return similarity


READERS: dict[str, Callable[[Found], AuthorScores]] = {
    "inat2018": _inat2018,
    "imagenet_lt": _imagenet_lt,
    "places_lt": _places_lt,
    "gmdb": _gmdb,
    "rarebench": _rarebench,
}


def author_sources() -> dict[str, Source]:
    """Return the five data sets of the paper's Table 1, each with the layout of the authors' score files only.

    Examples
    --------
    >>> from repair_bench.data.author_files import author_sources
    >>> list(author_sources())
    ['inat2018', 'imagenet_lt', 'places_lt', 'gmdb', 'rarebench']
    """
    of_gmdb = tuple(file for file in GMDB_AUTHORS if file.name in ("cards", "calibration_scores"))
    layouts = {
        "gmdb": Layout(AUTHORS, GMDB_AUTHORS),
        "rarebench": Layout(AUTHORS, (*RAREBENCH_AUTHORS, *(replace(file, optional=True) for file in of_gmdb))),
    }
    for name in ("inat2018", "imagenet_lt", "places_lt"):
        layouts[name] = next(one for one in source(name).layouts if one.title == AUTHORS)
    how = "The score files are not published with the code; ask the authors for them."
    return {name: Source(name, AUTHORS_HOME, "MIT (code)", how, (layouts[name],)) for name in READERS}
