"""Adding classes after the fit, with neutral values for the new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.model.correction import Correction
from repair.model.shrinkage import GroupPrior, Shrinkage
from repair.model.state import FittedState
from repair.similarity import DenseSimilarity, Similarity, SparseSimilarity
from repair.stats.label_shares import LabelShares
from repair.validation.checks import check_class_names, check_number

__all__ = ["add_classes"]


def add_classes(
    state: FittedState,
    new_names: Sequence[str],
    class_groups: Mapping[str, Any] | None = None,
    class_counts: Mapping[str, float] | None = None,
) -> FittedState:
    """Return a fitted state with additional classes.

    A new class gets neutral values:

    * its offset is the mean of its group: the mean of the prior if offsets were shrunk, else the
      mean offset of the group's known classes,
    * its training count is the geometric mean of its group,
    * its similarity to any other class is the mean similarity of the known classes.

    A class without a group belongs to the group of all known classes.  Scores of known classes do
    not change.  With a dial, all scores of a row change by the same constant, because the class
    shares are then shares of more classes.  With the dial ``"macro"``, which adds one row per class to
    these shares, the constant is only nearly the same.

    Parameters
    ----------
    state : FittedState
    new_names : sequence of str
        Names of the new classes.  Their ids follow the last known one.
    class_groups : mapping from class name to group, optional
        Groups of known and new classes, such as parents in a taxonomy.  By default all classes
        belong to one group.
    class_counts : mapping from class name to training count, optional
        Training counts of new classes, used if the model was fitted with counts.  By default the
        geometric mean of the group.

    Returns
    -------
    FittedState

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker
    >>> rng = np.random.default_rng(0)
    >>> names = ["cat", "dog", "lynx"]
    >>> labels = rng.choice(names, size=200)
    >>> scores = rng.normal(size=(200, 3)) + 2.0 * (labels[:, None] == np.array(names))
    >>> model = Reranker("classwise", n_candidates=3).fit(scores, labels, class_names=names)
    >>> more = model.with_classes(["wolf"])
    >>> more.predict([[0.0, 0.0, 0.0, 9.0]]).tolist(), len(model.offsets_), len(more.offsets_)
    (['wolf'], 3, 4)
    """
    correction = state.correction
    table = correction.table
    old_names = table.class_names or tuple(map(str, range(table.n_classes)))
    added = _check_new(new_names, old_names)
    for name, value in (("class_groups", class_groups), ("class_counts", class_counts)):
        if value is not None and not isinstance(value, Mapping):
            raise InputError(f"{name} is {type(value).__name__}; pass a mapping from class name to value")
    peers = _peers(added, old_names, {} if class_groups is None else class_groups)
    offsets = np.array([_group_offset(correction, state.shrinkage, members) for members in peers])
    counts = None
    if table.class_counts is not None:
        new_counts = [
            _count(class_counts or {}, name, table.class_counts[members])
            for name, members in zip(added, peers, strict=True)
        ]
        counts = np.append(table.class_counts, new_counts)
    norms, weights = table.weight_norms, table.class_weights
    extended = ClassTable(
        table.n_classes + len(added),
        class_counts=counts,
        similarity=None if table.similarity is None else _extend_similarity(table.similarity, len(added)),
        class_names=(*old_names, *added),
        weight_norms=None if norms is None else _filled(norms, np.full(len(added), np.median(norms))),
        class_groups=None if table.class_groups is None else _extend_groups(table.class_groups, peers),
        class_weights=None if weights is None else _filled(weights, np.full(len(added), weights.mean())),
    )
    scale = correction.scale
    if len(scale) > 1:
        scale = _filled(scale, np.full(len(added), np.median(scale)))
    prior = np.append(state.calibration_prior, [_geometric_mean(state.calibration_prior[members]) for members in peers])
    zeros = np.zeros(len(added))
    terms = tuple(term.for_classes(extended.n_classes) for term in correction.terms)
    all_offsets = _filled(correction.offsets, offsets)
    return replace(
        state,
        correction=replace(correction, table=extended, offsets=all_offsets, scale=scale, terms=terms),
        label_counts=_filled(state.label_counts, zeros),
        label_shares=LabelShares(prior / prior.sum()),
        information=None if state.information is None else _filled(state.information, zeros),
        fingerprint=None if state.fingerprint is None else state.fingerprint.with_classes(extended.n_classes),
        shrinkage=None if state.shrinkage is None else _extend_shrinkage(state.shrinkage, offsets, peers),
    )


def _check_new(new_names: Sequence[str], old_names: tuple[str, ...]) -> tuple[str, ...]:
    added = check_class_names(new_names, len(new_names))
    if not added:
        raise InputError("new_names is empty; name at least one class")
    if "" in added:
        raise InputError(f"new_names[{added.index('')}] is empty; give every class a name")
    known_names = set(old_names)
    repeated = next((name for name in added if name in known_names), None)
    if repeated is not None:
        raise InputError(f"class {repeated!r} is already known to the model; pass only new classes")
    return added


def _peers(added: tuple[str, ...], old_names: tuple[str, ...], groups: Mapping[str, Any]) -> list[AnyArray]:
    """Return the known classes of each new class's group, or all known classes if there is no such group."""
    members: dict[Any, list[int]] = {}
    for class_id, name in enumerate(old_names):
        if name in groups:
            members.setdefault(groups[name], []).append(class_id)
    all_ids = np.arange(len(old_names))
    peers = [members.get(groups[name]) if name in groups else None for name in added]
    return [all_ids if class_ids is None else np.array(class_ids, dtype=np.int64) for class_ids in peers]


def _group_offset(correction: Correction, shrinkage: Shrinkage | None, peers: AnyArray) -> float:
    """Return the mean of the prior if these classes share one, else the mean of their offsets."""
    if shrinkage is not None:
        codes = np.unique(shrinkage.prior.groups[peers])
        if len(codes) == 1:
            return float(shrinkage.prior.means[codes[0]])
    return float(correction.offsets[peers].mean())


def _count(class_counts: Mapping[str, float], name: str, peers: FloatArray) -> float:
    """Return the class's count, by default that at which the log-frequency term is its mean over the peers."""
    if name in class_counts:
        return check_number(class_counts[name], f"class_counts[{name!r}]", 0.0)
    return max(_geometric_mean(peers + 1.0) - 1.0, 0.0)


def _geometric_mean(values: FloatArray) -> float:
    return float(np.exp(np.log(values).mean()))


def _filled(values: FloatArray, more: FloatArray) -> FloatArray:
    return np.concatenate([values, more]).astype(np.float64)


def _extend_shrinkage(shrinkage: Shrinkage, offsets: FloatArray, peers: list[AnyArray]) -> Shrinkage:
    """Give each new class the prior of its peers, or a separate prior if they do not share one."""
    prior = shrinkage.prior
    groups, means, variances = list(prior.groups), list(prior.means), list(prior.variances)
    for offset, members in zip(offsets, peers, strict=True):
        codes = np.unique(prior.groups[members])
        if len(codes) == 1:
            groups.append(codes[0])
        else:
            groups.append(np.int32(len(means)))
            means.append(offset)
            variances.append(prior.class_variances[members].mean())
    extended = GroupPrior(np.array(groups, dtype=prior.groups.dtype), np.array(means), np.array(variances))
    return replace(shrinkage, prior=extended, factors=_filled(shrinkage.factors, np.ones(len(offsets))))


def _extend_groups(groups: IntArray, peers: list[AnyArray]) -> IntArray:
    """Put each new class into the group of its peers, or into a separate group if they do not share one."""
    codes = list(groups)
    for members in peers:
        shared = np.unique(groups[members])
        codes.append(shared[0] if len(shared) == 1 else max(codes) + 1)
    return np.array(codes, dtype=np.int32)


def _extend_similarity(similarity: Similarity, n_new: int) -> Similarity:
    """Give new classes the mean similarity of two different known classes, in both directions."""
    size = similarity.n_classes
    total = size + n_new
    pairs = size * (size - 1)
    if isinstance(similarity, DenseSimilarity):
        table = similarity.table
        mean = (table.sum(dtype=np.float64) - np.trace(table, dtype=np.float64)) / pairs
        wide = np.full((total, total), mean, dtype=table.dtype)
        wide[:size, :size] = table
        wide[range(size, total), range(size, total)] = 1.0
        return DenseSimilarity(wide)
    if isinstance(similarity, SparseSimilarity):
        rows, columns = np.divmod(similarity.keys, size)
        mean = float(similarity.values[rows != columns].sum()) / pairs
        left, right = np.arange(size, total)[:, None], np.arange(total)[None, :]
        keys = np.concatenate([rows * total + columns, (left * total + right).ravel()])
        above = (np.arange(size)[:, None] * total + np.arange(size, total)[None, :]).ravel()
        keys = np.concatenate([keys, above])
        values = np.concatenate([similarity.values, np.full(len(keys) - len(similarity.values), mean)])
        order = np.argsort(keys)
        return SparseSimilarity(keys[order], values[order], total)
    raise InputError("the model's similarity is a function, which cannot be extended to new classes; fit with a matrix")
