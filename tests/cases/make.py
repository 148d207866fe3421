"""Make the shared cases again: `python tests/cases/make.py`.  See README.md for when."""

import json
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import repair
from plain_model import plain_ranking
from repair import ExtendedOptions, GridSearch, InputError, Reranker, ScoreSet, Shortlist
from shared_cases import FIXED_TERMS, FOLDER, plain, read_cases

K, WIDTH = 8, 4
NAMES = ("cat", "dog", "lynx", "wolf", "axolotl", "étoile", "NA", "007")
COUNTS = np.array([400.0, 220.0, 90.0, 40.0, 17.0, 6.0, 2.0, 0.0])
CENTRES = np.random.default_rng(5).normal(size=(K, WIDTH))


def draw(n, seed, n_classes=K):
    """Draw rows of a long-tailed problem: scores that favour frequent classes, labels, and vectors that tell more."""
    rng = np.random.default_rng(seed)
    shares = COUNTS[:n_classes] + 30.0
    labels = rng.choice(n_classes, size=n, p=shares / shares.sum())
    scores = rng.normal(size=(n, n_classes)) * 1.2 + 0.4 * np.log(COUNTS[:n_classes] + 1.0)
    scores[np.arange(n), labels] += 1.8
    vectors = CENTRES[labels] + 0.5 * rng.normal(size=(n, WIDTH))
    return np.round(scores, 3), labels, np.round(vectors, 3).astype(np.float32)


def similarity():
    table = np.round(np.random.default_rng(7).random((K, K)), 3)  # not symmetric
    np.fill_diagonal(table, 1.0)
    return table


def calibration(n=60, *, vectors=False, lists=False, **known):
    scores, labels, drawn = draw(n, seed=1)
    rows = ScoreSet(scores, labels, class_counts=COUNTS, similarity=similarity(), **known)
    if lists:
        rows = replace(rows, scores=Shortlist.from_scores(scores, 5))
    return replace(rows, embeddings=drawn) if vectors else rows


def with_bias(rows, size):
    """Return the rows with scores that favour frequent classes more than their shares justify."""
    return replace(rows, scores=rows.scores + np.round(size * np.log(COUNTS + 1.0), 3))


# Models


@dataclass
class Model:
    """A fitted model, and which inputs it gets."""

    fitted: Any
    inputs: tuple[str, ...] = ("plain", "ragged")
    traits: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


EVERY_INPUT = (
    "plain", "float16", "float32", "integers", "one row", "unsorted candidates", "ragged", "ragged -inf", "wide list",
    "narrow list", "ties", "ties in lists", "constant", "no candidates", "single candidates", "extremes", "tiny",
    "large", "empty", "nan", "inf", "beyond the limit", "wrong K", "id out of range", "class twice",
)  # fmt: skip
SETTINGS = {
    "dial": {"dial": 0.7},
    "dial macro": {"dial": "macro"},
    "target prior": {"target_prior": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]},
    "class costs": {"class_costs": [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]},
    "all settings": {
        "dial": 0.3,
        "target_prior": [8.0, 1, 1, 1, 1, 1, 1, 8],
        "class_costs": [1.0, 2, 1, 2, 1, 2, 1, 2],
    },
}


def fixed_models():
    rows, fixed = calibration(), {"lambda_a": 1e-3, "lambda_theta": 1e-3}
    yield "base", Model(Reranker("base", n_candidates=5).fit(rows), ("plain", "ties", "ragged"))
    yield "classwise", Model(Reranker("classwise", n_candidates=5).fit(rows), EVERY_INPUT, settings=SETTINGS)
    yield "pairwise", Model(Reranker("pairwise", n_candidates=5).fit(rows), EVERY_INPUT, settings=SETTINGS)
    yield "pairwise_only", Model(Reranker("pairwise_only", n_candidates=5).fit(rows), ("plain", "ragged", "float32"))
    for term in ("score_gap", "rank_gap", "log_prob_ratio", "similarity", "log_freq_ratio"):
        yield f"pairwise_{term}", Model(Reranker("pairwise", n_candidates=5, terms=(term,), **fixed).fit(rows))
    published = Reranker("pairwise", n_candidates=5, tau=0.5, alpha=0.3, shrinkage=False, **fixed).fit(rows)
    yield "pairwise_tau", Model(published, ("plain", "ragged", "ties", "float16", "extremes"), ("tau",))
    paper = Reranker("pairwise", n_candidates=5, shrinkage="paper", **fixed).fit(rows)
    yield "pairwise_paper", Model(paper)
    searched = Reranker("pairwise", n_candidates=5, tuning=GridSearch(cv=2)).fit(rows)
    yield "pairwise_searched", Model(searched, traits=("tau",) if searched.tau_ else ())
    from scipy.sparse import csr_matrix

    sparse = replace(rows, similarity=csr_matrix(np.where(similarity() > 0.4, similarity(), 0.0)))
    yield "pairwise_sparse", Model(Reranker("pairwise", n_candidates=5).fit(sparse))
    named = replace(rows, class_names=NAMES, labels=np.array(NAMES, dtype=object)[rows.labels])
    yield "pairwise_names", Model(Reranker("pairwise", n_candidates=5).fit(named), traits=("names",))
    partial = Reranker("pairwise", n_candidates=5, strength=0.4, dial=0.5, tau=0.3, **fixed).fit(rows)
    yield "pairwise_strength", Model(partial, ("plain", "ragged", "float32"), ("strength", "dial", "tau"))
    limited = Reranker("pairwise", n_candidates=5, head_loss=1.0).fit(with_bias(calibration(400), 1.0))
    assert 0.0 < limited.strength_ < 1.0, "the limit on the head loss changed nothing"
    yield "pairwise_head_loss", Model(limited, ("plain", "ragged"), ("strength",))
    grown = Reranker("pairwise", n_candidates=5).fit(rows).with_classes(["lion", "tiger"])
    yield "pairwise_grown", Model(grown, ("grown", "grown ragged"), ("new classes",))
    yield "classwise_dyadic", Model(with_dyadic_offsets(rows), ("crossing ties",))
    yield "classwise_one", Model(Reranker("classwise", n_candidates=1).fit(rows), ("plain", "one row", "ties"))
    scores, labels, _ = draw(60, seed=1, n_classes=2)
    two = Reranker("pairwise", n_candidates=2).fit(scores, labels, class_counts=COUNTS[:2])
    yield "pairwise_two", Model(two, ("two classes", "two classes float32"))
    three = Reranker("pairwise").fit(*draw(60, seed=1, n_classes=3)[:2], class_counts=COUNTS[:3])
    yield "pairwise_all", Model(three, ("three classes",))


def with_dyadic_offsets(rows):
    """Return a classwise model with offsets that binary numbers hold exactly, so corrected scores can be equal."""
    model = Reranker("classwise", n_candidates=5).fit(rows)
    offsets = np.array([-0.5, -0.25, 0.0, 0.25, 0.5, 0.5, 0.75, 1.0])
    return model.with_state(replace(model.state, correction=replace(model.state.correction, offsets=offsets)))


def baselines():
    rows = calibration(weight_norms=np.round(1.0 + np.sqrt(COUNTS) / 10.0, 3))
    for name, model, traits in (
        ("temperature", repair.Temperature(5), ("scale",)),
        ("tau_normalization", repair.TauNormalization(5, tau=0.5), ("scale",)),
        ("classwise_temperature", repair.ClasswiseTemperature(5), ("scale",)),
        ("logit_adjustment", repair.LogitAdjustment(5, tau=0.5), ("tau",)),
        ("base_only", repair.Base(5), ()),
    ):
        yield f"baseline_{name}", Model(model.fit(rows), ("plain", "ragged", "ties"), traits)


def learned_models():
    scores, lists, vectors = calibration(90), calibration(90, lists=True), calibration(90, vectors=True)
    own = ExtendedOptions(shortlist_tau=0.0, n_ranked=5)
    for term in ("context", "score_head", "score_neighbours", "score_by_frequency"):
        model = Reranker("extended", n_candidates=5, terms=(term,), extended=own)
        yield f"extended_{term}", Model(model.fit(scores), ("plain", "ragged -inf", "float16"))
        yield f"extended_{term}_lists", Model(model.fit(lists), ("lists", "ragged"))
    for term in ("neighbours", "head", "logistic_head", "discriminant"):
        model = Reranker("extended", n_candidates=5, terms=(term,), extended=own).fit(vectors)
        yield f"extended_{term}", Model(model, ("plain", "ragged", "float32"))
    yield (
        "extended",
        Model(
            Reranker("extended", n_candidates=5, extended=ExtendedOptions(shortlist_tau=0.5)).fit(scores),
            ("plain", "ragged -inf", "float16", "float32", "one row", "ties", "constant", "large", "lists"),
            ("shortlist_tau",),
        ),
    )
    yield (
        "extended_lists",
        Model(
            Reranker("extended", n_candidates=5).fit(lists), ("lists", "ragged", "ties in lists", "single candidates")
        ),
    )
    everything = Reranker("extended", n_candidates=3).fit(vectors)
    traits = ("cuts", "shortlist_tau") if everything.chosen_.shortlist_tau else ("cuts",)
    yield (
        "extended_embeddings",
        Model(
            everything,
            ("plain", "float16", "float32", "one row", "ragged -inf", "ties", "zero vector", "without embeddings"),
            traits,
            settings={name: SETTINGS[name] for name in ("dial", "target prior")},
        ),
    )
    quick = ExtendedOptions(neighbour_index="approximate", fast=True)
    approximate = Reranker("extended", n_candidates=5, extended=quick).fit(vectors)
    yield "extended_approximate", Model(approximate, ("plain", "one row"), ("approximate", "cuts"), ("usearch",))
    grown = everything.with_classes(["lion", "tiger"])
    yield "extended_grown", Model(grown, ("grown", "grown ragged -inf"), (*traits, "new classes"))
    for name, rows, options in (
        ("auto", with_bias(calibration(200), 0.8), None),
        ("auto_embeddings", calibration(90, vectors=True), ExtendedOptions(fast=True)),
    ):
        chosen = Reranker("auto", n_candidates=5, extended=options).fit(rows)
        assert chosen.mode_ == "extended", f"{name} kept the base order"
        traits = [*["shortlist_tau"] * bool(chosen.chosen_.shortlist_tau), *["cuts"] * chosen.state.cuts]
        yield name, Model(chosen, ("plain", "one row"), tuple(traits))
    few = Reranker("auto", n_candidates=5).fit(calibration(30))
    assert few.mode_ == "base", "auto used a correction: draw fewer rows"
    yield "auto_base", Model(few, ("plain",))


# Inputs


@dataclass
class Input:
    """The rows of a case."""

    about: str
    scores: Any
    ids: Any = None
    n_classes: int = K
    traits: tuple[str, ...] = ()
    vectors: bool = True
    embeddings: Any = None

    def given(self):
        """Return what ``rerank`` takes."""
        return self.scores if self.ids is None else Shortlist.from_candidates(self.ids, self.scores, self.n_classes)


def lists_of(scores, k, seed=3, *, ragged=False):
    """Return candidates in a random order, and shorter lists if asked."""
    rng = np.random.default_rng(seed)
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    ids = rng.permuted(ids, axis=1)
    listed = np.take_along_axis(scores, ids, axis=1)
    if ragged:
        ids[np.arange(k) >= rng.integers(1, k + 1, size=len(ids))[:, None]] = -1
        ids[0] = np.where(np.arange(k) == 2, ids[0], -1)  # padding before the only candidate
        ids[0, 2] = 6
    return ids, listed


def with_gaps(scores, seed=4):
    """Return scores of which a third is −Inf, but never all of a row."""
    missing = np.random.default_rng(seed).random(scores.shape) < 0.5
    missing[:, 2] = False
    return np.where(missing, -np.inf, scores)


def inputs():
    scores, _, _ = draw(6, seed=2)
    halves = np.round(scores * 2) / 2
    ids, listed = lists_of(scores, 5)
    ragged_ids, ragged_scores = lists_of(scores, 5, ragged=True)
    tied_ids, tied_scores = lists_of(halves, 6)
    wide_ids, wide_scores = lists_of(scores, 7)
    grown = np.concatenate([scores, np.repeat(scores[:, :1] - 0.5, 2, axis=1)], axis=1)
    return {
        "plain": Input("scores of all classes", scores),
        "float16": Input("half precision", scores.astype(np.float16)),
        "float32": Input("single precision", scores.astype(np.float32)),
        "integers": Input("whole numbers, which give ties", np.round(scores * 3).astype(np.int64), traits=("ties",)),
        "one row": Input("a single row", scores[:1], traits=("one row",)),
        "lists": Input("candidates, best first", -np.sort(-scores, axis=1)[:, :5], np.argsort(-scores, axis=1)[:, :5]),
        "unsorted candidates": Input("candidates in any order", listed, ids),
        "ragged": Input("lists of unequal length", ragged_scores, ragged_ids, traits=("ragged",)),
        "ragged -inf": Input("−Inf: not a candidate", with_gaps(scores), traits=("ragged", "-inf")),
        "wide list": Input("more candidates than the model's width", wide_scores, wide_ids),
        "narrow list": Input("fewer candidates than the model's width", listed[:, :2], ids[:, :2]),
        "ties": Input("equal scores, also where the list is cut", halves, traits=("ties",)),
        "ties in lists": Input("equal scores in lists", tied_scores, tied_ids, traits=("ties",)),
        "constant": Input("all scores equal", np.full((2, K), 0.25), traits=("ties",)),
        "no candidates": Input(
            "a row without candidates among others", np.where(np.arange(6)[:, None] == 1, -np.inf, scores),
            traits=("no candidates", "ragged", "-inf"),
        ),
        "single candidates": Input(
            "one candidate per row", np.zeros((3, 3)), [[4, -1, -1], [-1, 0, -1], [-1, -1, 7]], traits=("ragged",)
        ),
        "extremes": Input("the largest scores that are allowed", extremes(), traits=("extremes",)),
        "tiny": Input("numbers next to 0, and −0", tiny(), traits=("extremes", "ties")),
        "large": Input("a constant of 1e6 added to each row", scores + 1e6, traits=("large",)),
        "empty": Input("a batch without rows", np.empty((0, K)), traits=("empty",)),
        "nan": Input("NaN is refused", np.where(scores == scores[2, 3], np.nan, scores), traits=("invalid",)),
        "inf": Input("+Inf is refused", np.where(scores == scores[2, 3], np.inf, scores), traits=("invalid",)),
        "beyond the limit": Input(
            "a score of 1e300 is refused", np.where(scores == scores[2, 3], 1e300, scores), traits=("invalid",)
        ),
        "wrong K": Input("the wrong number of classes", scores[:, :7], n_classes=7, traits=("invalid",)),
        "id out of range": Input("an unknown class", listed[:1], ids[:1] + 8, traits=("invalid",)),
        "class twice": Input("a class twice in a list", listed[:1], ids[:1] * 0 + 1, traits=("invalid",)),
        "crossing ties": Input("scores that are equal after the correction", crossing(), traits=("ties",)),
        "grown": Input("scores of known and new classes", grown, n_classes=K + 2, traits=("ties",)),
        "grown ragged": Input(
            "lists with new classes", *lists_of(grown, 5, ragged=True)[::-1], K + 2, ("ragged", "ties")
        ),
        "grown ragged -inf": Input(
            "−Inf among known and new classes", with_gaps(grown), n_classes=K + 2, traits=("ragged", "-inf", "ties")
        ),
        "two classes": Input("K = 2", np.append(scores[:, :2], [[1.5, 1.5]], axis=0), n_classes=2, traits=("ties",)),
        "two classes float32": Input("K = 2", scores[:, :2].astype(np.float32), n_classes=2),
        "three classes": Input("fewer classes than the usual width", scores[:, :3], n_classes=3),
        "zero vector": Input("an embedding of zeros", scores[:2], embeddings=np.zeros((2, WIDTH), np.float32)),
        "without embeddings": Input("embeddings are missing", scores, vectors=False, traits=("invalid",)),
    }  # fmt: skip


def extremes():
    return np.array(
        [
            [1e30, -1e30, 0.0, 1.0, -1.0, 2.0, -2.0, 3.0],
            [1e30, 1e30, 1e30, 1e30, -1e30, -1e30, -1e30, 0.0],
            [-1e30, -1e30, -1e30, -1e30, -1e30, -1e30, -1e30, -1e30],
            [1e16, 1e16, 1e16, 1e15, 0.0, 0.0, 0.0, 0.0],
        ]
    )


def tiny():
    return np.array(
        [
            [0.0, -0.0, 5e-324, -5e-324, 1e-300, -1e-300, 1e-30, -1e-30],
            [-0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0],
        ]
    )


def crossing():
    """Return scores that the dyadic offsets make equal in various ways."""
    offsets = np.array([-0.5, -0.25, 0.0, 0.25, 0.5, 0.5, 0.75, 1.0])
    equal = 2.0 - offsets
    return np.array([equal, equal[::-1], np.where(np.arange(K) % 2, equal, equal - 1.0), np.zeros(K)])


# Writing


def case_of(name, given, model, settings):
    """Run the library and describe the case."""
    described = {"name": name, "about": given.about, "traits": list(given.traits), "n_classes": given.n_classes}
    described["dtype"], described["scores"] = np.asarray(given.scores).dtype.name, plain(given.scores)
    if given.ids is not None:
        described["ids"] = plain(given.ids)
    embeddings = None
    if given.vectors and model.state.correction.embedding_width is not None:
        embeddings = draw(len(given.scores), seed=2)[2] if given.embeddings is None else given.embeddings
        described["embeddings"] = plain(embeddings)
        described["traits"].append("embeddings")
    if settings:
        described["settings"] = settings
        described["traits"] += settings
    try:
        ranking = model.rerank(given.given(), embeddings=embeddings, **settings)
    except InputError as error:
        return {**described, "refused": str(error)}
    parts = {"ids": ranking.ids, "scores": ranking.scores, "probabilities": ranking.probabilities}
    return {**described, "expected": {part: plain(values) for part, values in parts.items()}}


def write(name, model):
    """Write a model and its cases, and check them with the plain computation."""
    path = FOLDER / f"{name}.json"
    model.fitted.save(path.with_suffix(".safetensors"))
    loaded, known = repair.load(path.with_suffix(".safetensors")), inputs()
    correction = loaded.state.correction
    runs = [(one, known[one], {}) for one in model.inputs]
    runs += [(f"plain, {setting}", known["plain"], values) for setting, values in model.settings.items()]
    described = {
        "mode": loaded.mode_,
        "terms": [term.name for term in correction.terms],
        "reads": "scores" if any(term.row_width is not None for term in correction.terms) else "candidates",
        "traits": list(model.traits),
        "needs": list(model.needs),
        "cases": [case_of(one, given, loaded, settings) for one, given, settings in runs],
    }
    text = json.dumps(described, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(compact(text) + "\n", encoding="utf-8")
    for case in read_cases(path):
        if case.refused is None:
            case.check(*plain_ranking(case), tolerance=1e-9 if set(case.terms) <= FIXED_TERMS else 1e-5)
    return len(described["cases"])


def compact(text):
    """Put each row of numbers into one line."""
    lines, row = [], ""
    for line in text.splitlines():
        stripped = line.strip()
        opens, closes = stripped.endswith("["), stripped.rstrip(",") == "]"
        is_number = not stripped.endswith(("{", "[")) and ":" not in stripped and not closes and "}" not in stripped
        if is_number or (closes and row):
            row = f"{row} {stripped}" if row and not closes and not row.endswith("[") else row + stripped
            if closes:
                lines.append(row)
                row = ""
            continue
        if row:
            lines.append(row)
            row = ""
        if opens:
            row = line
        else:
            lines.append(line)
    return "\n".join([*lines, row] if row else lines)


def main():
    warnings.simplefilter("ignore", repair.InputWarning)
    for old in [*FOLDER.glob("*.json"), *FOLDER.glob("*.safetensors")]:
        old.unlink()
    total = 0
    for models in (fixed_models(), baselines(), learned_models()):
        for name, model in models:
            total += write(name, model)
    files = [*FOLDER.glob("*.json"), *FOLDER.glob("*.safetensors")]
    print(f"{total} cases of {len(files) // 2} models, {sum(one.stat().st_size for one in files) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
