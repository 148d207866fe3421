"""Classes that came after the fit: a model for K classes becomes one for K + new, neutrally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from repair.arrays import AnyArray, FloatArray
from repair.class_table import ClassTable
from repair.errors import InputError
from repair.fitted_state import FittedState
from repair.inputs import check_class_names, check_number
from repair.priors import LabelShares
from repair.shrinkage import GroupPrior, Shrinkage
from repair.similarity import DenseSimilarity, Similarity, SparseSimilarity

if TYPE_CHECKING:
    from repair.correction import Correction

__all__ = ["extend_state"]


def extend_state(
    state: FittedState,
    new_names: Sequence[str],
    class_groups: Mapping[str, Any] | None = None,
    class_counts: Mapping[str, float] | None = None,
) -> FittedState:
    """Return a state that also knows classes which came after the fit.

    A new class is treated as if nothing were known of it: its offset is its group's mean (the
    prior's where offsets were shrunk, else that of the known classes' offsets), its training count
    the group's geometric mean, its similarity to any other class the mean over the known ones.
    Without a group, the group is all known classes.  Scores of known classes stay what they were;
    with a dial all of a row's scores move by one constant, because class shares are shares of more
    classes.

    Parameters
    ----------
    state : FittedState
    new_names : sequence of str
        They get the ids after the last known one.
    class_groups : mapping from class name to group, optional
        Of known and new classes; parents in a taxonomy, say.
    class_counts : mapping from class name to training count, optional
        Of new classes; used if the model was fitted with counts.

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
    >>> model = Reranker(3, "classwise").fit(scores, labels, class_names=names)
    >>> more = model.extended(["wolf"])
    >>> more.predict([[0.0, 0.0, 0.0, 9.0]]).tolist(), len(model.offsets_), len(more.offsets_)
    (['wolf'], 3, 4)
    """
    correction = state.correction
    table = correction.table
    known = table.class_names or tuple(map(str, range(table.n_classes)))
    added = _check_new(new_names, known)
    for name, value in (("class_groups", class_groups), ("class_counts", class_counts)):
        if value is not None and not isinstance(value, Mapping):
            raise InputError(f"{name} is {type(value).__name__}; pass a mapping from class name to value")
    peers = _peers(added, known, {} if class_groups is None else class_groups)
    offsets = np.array([_group_offset(correction, state.shrinkage, which) for which in peers])
    counts = None
    if table.class_counts is not None:
        given = {} if class_counts is None else class_counts
        each = [_count(given, name, table.class_counts[which]) for name, which in zip(added, peers, strict=True)]
        counts = np.append(table.class_counts, each)
    norms = table.weight_norms
    extended = ClassTable(
        table.n_classes + len(added),
        class_counts=counts,
        similarity=None if table.similarity is None else _extend_similarity(table.similarity, len(added)),
        class_names=(*known, *added),
        weight_norms=None if norms is None else _filled(norms, np.full(len(added), np.median(norms))),
    )
    scale = correction.scale
    if len(scale) > 1:
        scale = _filled(scale, np.full(len(added), np.median(scale)))
    prior = np.append(state.calibration_prior, [_geometric_mean(state.calibration_prior[which]) for which in peers])
    nothing = np.zeros(len(added))
    terms = tuple(
        one.for_classes(extended.n_classes) if hasattr(one, "for_classes") else one for one in correction.terms
    )
    offsets_of_all = _filled(correction.offsets, offsets)
    adjustment = state.list_adjustment
    if adjustment is not None:
        tau = state.account.chosen["shortlist_tau"]
        adjustment = -float(tau) * extended.log_counts  # type: ignore[arg-type]
    return replace(
        state,
        correction=replace(correction, table=extended, offsets=offsets_of_all, scale=scale, terms=terms),
        list_adjustment=adjustment,
        label_counts=_filled(state.label_counts, nothing),
        label_shares=LabelShares(prior / prior.sum()),
        information=None if state.information is None else _filled(state.information, nothing),
        shrinkage=None if state.shrinkage is None else _extend_shrinkage(state.shrinkage, offsets, peers),
    )


def _check_new(new_names: Sequence[str], known: tuple[str, ...]) -> tuple[str, ...]:
    added = check_class_names(new_names, len(new_names))
    if not added:
        raise InputError("new_names is empty; name at least one class")
    if "" in added:
        raise InputError(f"new_names[{added.index('')}] is empty; give every class a name")
    old = set(known)
    twice = next((name for name in added if name in old), None)
    if twice is not None:
        raise InputError(f"class {twice!r} is known to the model already; name only new ones")
    return added


def _peers(added: tuple[str, ...], known: tuple[str, ...], groups: Mapping[str, Any]) -> list[AnyArray]:
    """Return the known classes of each new class's group; all of them, where there is no such group."""
    members: dict[Any, list[int]] = {}
    for place, name in enumerate(known):
        if name in groups:
            members.setdefault(groups[name], []).append(place)
    everyone = np.arange(len(known))
    found = [members.get(groups[name]) if name in groups else None for name in added]
    return [everyone if places is None else np.array(places, dtype=np.int64) for places in found]


def _group_offset(correction: Correction, shrinkage: Shrinkage | None, peers: AnyArray) -> float:
    """Return the mean of the prior that these classes share, or else of their offsets."""
    if shrinkage is not None:
        codes = np.unique(shrinkage.prior.groups[peers])
        if len(codes) == 1:
            return float(shrinkage.prior.means[codes[0]])
    return float(correction.offsets[peers].mean())


def _count(given: Mapping[str, float], name: str, peers: FloatArray) -> float:
    """Return the given count, or the one at which the log-frequency term is its mean over the peers."""
    if name in given:
        return check_number(given[name], f"class_counts[{name!r}]", 0.0)
    return max(_geometric_mean(peers + 1.0) - 1.0, 0.0)


def _geometric_mean(values: FloatArray) -> float:
    return float(np.exp(np.log(values).mean()))


def _filled(values: FloatArray, more: FloatArray) -> FloatArray:
    return np.concatenate([values, more]).astype(np.float64)


def _extend_shrinkage(shrinkage: Shrinkage, offsets: FloatArray, peers: list[AnyArray]) -> Shrinkage:
    """Put each new class into its peers' prior, or into one of its own where they do not share one."""
    prior = shrinkage.prior
    groups, means, variances = list(prior.groups), list(prior.means), list(prior.variances)
    for offset, which in zip(offsets, peers, strict=True):
        codes = np.unique(prior.groups[which])
        if len(codes) == 1:
            groups.append(codes[0])
        else:
            groups.append(np.int32(len(means)))
            means.append(offset)
            variances.append(prior.class_variances[which].mean())
    extended = GroupPrior(np.array(groups, dtype=prior.groups.dtype), np.array(means), np.array(variances))
    return replace(shrinkage, prior=extended, factors=_filled(shrinkage.factors, np.ones(len(offsets))))


def _extend_similarity(similarity: Similarity, n_new: int) -> Similarity:
    """Give new classes the mean similarity of two different known ones, in both directions."""
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
    raise InputError("the model's similarity is a function, which says nothing of new classes; fit with a matrix")
