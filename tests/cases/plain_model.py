"""The shared cases computed a second time, slowly and plainly, from the model file alone.

Nothing here uses the library.  It goes through one row, one candidate and one pair at a time, in float64, as
docs/method.md and docs/extended.md define the terms.  The expected rankings are reviewed with it.
"""

import json
import math
from functools import cached_property

import numpy as np
from safetensors import safe_open

#: Votes of the two kinds of neighbours: how many vote, and the width by which a vote fades with distance.
VOTES = {
    "neighbours": ((5, 0.1), (30, 0.1), (30, 0.03)),
    "score_neighbours": ((5, 0.1), (12, 0.03), (30, 0.03), (30, 0.1), (100, 0.1), (100, 0.3)),
}
#: The constant that is appended to a vector before it is multiplied by the matrix of a head.
CONSTANT = 0.3


def plain_ranking(case):
    """Return ids, scores and probabilities of a case, padded to the width of its expected ranking."""
    model = PlainModel(case.model_path)
    width = case.expected_ids.shape[1]
    rows = [model.rank(case, row) for row in range(len(case))]
    ids, scores, shares = (
        np.array([[*row[part], *[filler] * (width - len(row[part]))] for row in rows])
        for part, filler in enumerate((-1, -np.inf, 0.0))
    )
    return ids, scores, shares


class PlainModel:
    """A model file, and a ranking of one row at a time."""

    def __init__(self, path):
        with safe_open(path, framework="numpy") as file:
            self.arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            self.about = json.loads(file.metadata()["repair-reranker"])

    @property
    def counts(self):
        return self.arrays["class_counts"]

    def rank(self, case, row):
        """Return ids, scores and probabilities of one row, best first."""
        given = [float(one) for one in case.scores[row]]
        ids = self.base_order(case, row, given)
        g = dict(zip(case.ids[row].tolist() if case.ids is not None else range(len(given)), given, strict=True))
        vectors = Vectors(self, ids, g, given, None if case.embeddings is None else case.embeddings[row])
        strength = self.setting("strength", self.about["strength"])
        dial = case.settings.get("dial", self.setting("dial", self.about["choice"].get("dial") or 0.0))
        fitted = self.fitted(ids, g, vectors)
        shift, costs = self.prior_shift(case), np.log(case.settings.get("class_costs", np.ones(case.n_classes)))
        rarity = self.rarity(dial, shift)
        beliefs = {y: fitted[y] + shift[y] for y in ids}
        final = {y: g[y] + strength * (fitted[y] - g[y] + rarity[y]) + shift[y] + costs[y] for y in ids}
        ranked = self.cut(sorted_by(final, ids), ids)
        shares = softmax([beliefs[y] for y in ranked])
        return ranked, [final[y] for y in ranked], shares

    def setting(self, name, default):
        value = self.about["parameters"].get(name)
        return default if value is None else value

    def base_order(self, case, row, given):
        """Return the candidates of a row, best first, lower ids first among equal scores."""
        if case.ids is not None:
            pairs = [(y, s) for y, s in zip(case.ids[row].tolist(), given, strict=True) if y >= 0 and s > -np.inf]
            return [y for y, s in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))][: self.about["n_ranked"]]
        real = [y for y, s in enumerate(given) if s > -np.inf]
        by_score = sorted(real, key=lambda y: (-given[y], y))
        tau, width = self.about["shortlist_tau"], min(self.about["n_ranked"], len(given))
        chosen = by_score[:width]
        if tau:
            chosen = sorted(real, key=lambda y: (-(given[y] - tau * math.log(self.counts[y] + 1.0)), y))[:width]
            if chosen and by_score[0] not in chosen:
                chosen[-1] = by_score[0]
        return [y for y in by_score if y in chosen]

    def fitted(self, ids, g, vectors):
        """Return what the fit makes of the scores, in full strength."""
        tau, scale, offsets = self.about["tau"], self.arrays["scale"], self.arrays["offsets"]
        entering = dict(g)
        if tau:
            shares = np.maximum(self.counts / self.counts.sum(), 1e-8)
            entering = {y: g[y] - tau * math.log(shares[y]) for y in ids}
        scores = {y: entering[y] * scale[y if len(scale) > 1 else 0] + offsets[y] for y in ids}
        for place, term in enumerate(self.about["terms"]):
            column = vectors.column(term, entering)
            for y in ids:
                scores[y] += self.arrays["weights"][place] * column[y]
        return scores

    def prior_shift(self, case):
        target = case.settings.get("target_prior")
        if target is None:
            return np.zeros(case.n_classes)
        return np.log(np.array(target) / np.sum(target)) - np.log(self.arrays["calibration_prior"])

    def rarity(self, dial, shift):
        """Return what the dial adds to the scores of the classes."""
        learned = self.arrays["offsets"].any() or self.arrays["weights"].any()
        if dial == 0.0:
            return np.zeros(self.about["n_classes"])
        if dial == "macro" and learned:
            rows = self.arrays["label_counts"].sum() * self.arrays["calibration_prior"] + 1.0
            return np.log(rows.sum() / rows) - shift
        by_count = np.log((self.counts + 1.0).sum() / (self.counts + 1.0))
        return (1.0 - self.about["tau"]) * by_count - shift if dial == "macro" else dial * by_count

    def cut(self, ranked, ids):
        """Return the best candidates, with the base model's first one in the last place if it would be lost."""
        number = self.about["n_candidates"]
        if self.about["n_ranked"] <= number or len(ranked) <= number:
            return ranked
        kept = ranked[:number]
        return kept if ids[0] in kept else [*kept[:-1], ids[0]]


class Vectors:
    """The columns of the terms for one row."""

    def __init__(self, model, ids, g, all_scores, embedding):
        self.model, self.ids, self.g, self.all_scores = model, ids, g, np.array(all_scores)
        self.embedding = None if embedding is None else unit(embedding.astype(np.float64))

    def column(self, term, entering):
        """Return the column of a term, by candidate."""
        name, ids = term["name"], self.ids
        prefix = f"{name}."
        stored = {key.removeprefix(prefix): one for key, one in self.model.arrays.items() if key.startswith(prefix)}
        if name in VOTES:
            return self.votes(name, stored, term["description"])
        return {y: getattr(self, name)(y, [j for j in ids if j != y], entering, stored, term) for y in ids}

    def score_gap(self, y, rivals, entering, stored, term):
        return mean(entering[y] - entering[j] for j in rivals)

    log_prob_ratio = score_gap

    def rank_gap(self, y, rivals, entering, stored, term):
        ranks = {one: place for place, one in enumerate(sorted_by(entering, self.ids))}
        return mean(ranks[j] - ranks[y] for j in rivals)

    def log_freq_ratio(self, y, rivals, entering, stored, term):
        counts = self.model.counts
        return mean(math.log((counts[y] + 1.0) / (counts[j] + 1.0)) for j in rivals)

    def similarity(self, y, rivals, entering, stored, term):
        return mean(self.similarities[y, j] for j in rivals)

    @cached_property
    def similarities(self):
        arrays, size = self.model.arrays, self.model.about["n_classes"]
        if "similarity.table" in arrays:
            return arrays["similarity.table"].astype(np.float64)
        table = np.zeros((size, size))
        table[np.divmod(arrays["similarity.keys"], size)] = arrays["similarity.values"]
        return table

    def score(self, y, rivals, entering, stored, term):
        return entering[y] - mean(entering[j] for j in self.ids)

    def score_by_frequency(self, y, rivals, entering, stored, term):
        lead = entering[y] - mean(entering[j] for j in self.ids)
        return lead * (math.log(self.model.counts[y] + 1.0) - term["description"]["centre"])

    def head(self, y, rivals, entering, stored, term):
        return float(np.append(self.embedding, CONSTANT) @ stored["matrix"][y].astype(np.float64))

    logistic_head = discriminant = head

    def score_head(self, y, rivals, entering, stored, term):
        profile = self.profile(stored["basis"], term["description"]["reads"])
        return float(np.append(profile, CONSTANT) @ stored["matrix"][y].astype(np.float64))

    def context(self, y, rivals, entering, stored, term):
        profile = self.profile(stored["basis"], term["description"]["reads"])
        kernel = np.exp(stored["landmarks"].astype(np.float64) @ profile - 1.0)
        return float(kernel @ stored["matrix"][y].astype(np.float64))

    def profile(self, basis, reads):
        """Return the row's scores as a short vector of length 1."""
        basis = basis.astype(np.float64)
        if reads == "scores":
            real = np.isfinite(self.all_scores)
            centred = np.where(real, self.all_scores, 0.0) - self.all_scores[real].sum() / max(real.sum(), 1)
            return unit(np.where(real, centred, 0.0) @ basis)
        shares = softmax([self.g[y] for y in self.ids])
        return unit(sum((math.sqrt(s) * basis[y] for y, s in zip(self.ids, shares, strict=True)), 0.0 * basis[0]))

    def votes(self, name, stored, description):
        """Return the logarithm of each candidate's share of the votes of the nearest rows."""
        vectors, labels = stored["vectors"].astype(np.float64), stored["labels"].tolist()
        if name == "neighbours":
            query, voters = self.embedding, range(len(labels))
        else:
            query = self.profile(stored["basis"], description["reads"])
            voters = [one for one, label in enumerate(labels) if label in self.ids]
        nearest = sorted(voters, key=lambda one: (-float(vectors[one] @ query), one))
        column = dict.fromkeys(self.ids, 0.0)
        for (number, width), share in zip(VOTES[name], stored["mixture"], strict=True):
            weights = {one: math.exp((float(vectors[one] @ query) - 1.0) / width) for one in nearest[:number]}
            total = sum(weights.values())
            for y in self.ids:
                own = sum(weight for one, weight in weights.items() if labels[one] == y)
                column[y] += share * math.log((own / total if total else 0.0) + 1.0 / number)
        return column


def sorted_by(scores, ids):
    """Return the candidates by descending score, in base order where scores are equal up to rounding."""
    largest = max((abs(scores[y]) for y in ids), default=0.0)
    digits = 0 if largest == 0.0 else 12 - math.ceil(math.log10(largest))
    rounded = {y: round(scores[y], digits) if digits < 300 else scores[y] for y in ids}
    return sorted(ids, key=lambda y: (-rounded[y], ids.index(y)))


def mean(values):
    """Return the mean, and 0 if there are no values."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def softmax(scores):
    """Return the softmax of a list."""
    powers = [math.exp(one - max(scores)) for one in scores]
    return [one / sum(powers) for one in powers]


def unit(vector):
    """Return the vector with length 1, or unchanged if it is 0."""
    length = float(np.sqrt((vector * vector).sum()))
    return vector / length if length else vector
