"""A straightforward implementation of the paper's pseudo-code: all pairs in one array, scipy's L-BFGS-B."""

import numpy as np
from scipy.optimize import minimize


def top_k(scores, k):
    part = np.argpartition(-scores, k, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, part, axis=1), axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1)


def pair_features(ids, scores, class_counts, similarity):
    """Return the (n, k, k, 5) array of phi(x, y, j)."""
    n, k = ids.shape
    features = np.zeros((n, k, k, 5))
    features[..., 0] = scores[:, :, None] - scores[:, None, :]
    ranks = np.arange(k)
    features[..., 1] = ranks[None, None, :] - ranks[None, :, None]
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    log_share = np.log(share / share.sum(axis=1, keepdims=True))
    features[..., 2] = log_share[:, :, None] - log_share[:, None, :]
    features[..., 3] = similarity[ids[:, :, None], ids[:, None, :]]
    log_counts = np.log(class_counts + 1)[ids]
    features[..., 4] = log_counts[:, :, None] - log_counts[:, None, :]
    return features


def mean_over_rivals(features):
    k = features.shape[1]
    others = ~np.eye(k, dtype=bool)
    return (features * others[None, :, :, None]).sum(axis=2) / (k - 1)


def fit(ids, scores, labels, class_counts, similarity, lambda_a, lambda_theta):
    """Return the offsets, the weights, the final objective and the number of its evaluations.

    As in the pseudo-code, the mean over rivals is taken for the current weights at every evaluation.
    """
    n_classes = len(class_counts)
    target = np.argmax(ids == labels[:, None], axis=1)
    covered = (ids == labels[:, None]).any(axis=1)
    ids, scores, target = ids[covered], scores[covered], target[covered]
    features = pair_features(ids, scores, class_counts, similarity)
    features[:, np.arange(ids.shape[1]), np.arange(ids.shape[1])] = 0.0
    rows, n, rivals = np.arange(len(ids)), len(ids), ids.shape[1] - 1

    def objective(parameters):
        offsets, weights = parameters[:n_classes], parameters[n_classes:]
        final = scores + offsets[ids] + (features @ weights).sum(axis=2) / rivals
        final -= final.max(axis=1, keepdims=True)
        share = np.exp(final)
        share /= share.sum(axis=1, keepdims=True)
        loss = -np.log(share[rows, target]).mean() + lambda_a * offsets @ offsets + lambda_theta * weights @ weights
        residual = share / n
        residual[rows, target] -= 1 / n
        gradient = np.concatenate(
            [
                np.bincount(ids.ravel(), residual.ravel(), minlength=n_classes) + 2 * lambda_a * offsets,
                np.einsum("nk,nkjd->d", residual, features) / rivals + 2 * lambda_theta * weights,
            ]
        )
        return loss, gradient

    start = np.zeros(n_classes + features.shape[3])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300, "ftol": 1e-11})
    return found.x[:n_classes], found.x[n_classes:], found.fun, found.nfev


def rerank(ids, scores, offsets, weights, class_counts, similarity):
    columns = mean_over_rivals(pair_features(ids, scores, class_counts, similarity))
    return np.argsort(-(scores + offsets[ids] + columns @ weights), axis=1, kind="stable")
