"""Softmax models that the rivals share: log-probabilities, losses, softmax regression and mixtures."""

from collections.abc import Callable, Sequence

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray

__all__ = [
    "log_loss",
    "log_softmax",
    "minimise",
    "mixed",
    "mixture_weights",
    "residuals",
    "softmax_regression",
    "temperature_scale",
]

LossAndGradient = Callable[[FloatArray], tuple[float, FloatArray]]
#: Precision with which mixture weights are held at their start, in rows.  It only matters if columns are collinear.
MIXTURE_RIDGE = 1.0


def log_softmax(scores: AnyArray) -> AnyArray:
    """Return log-probabilities in the precision of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.rerankers.rivals.softmax import log_softmax
    >>> np.exp(log_softmax(np.log([[3.0, 1.0]]))).round(2).tolist()
    [[0.75, 0.25]]
    """
    shifted: AnyArray = scores - scores.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted


def log_loss(scores: AnyArray, y: IntArray, weights: FloatArray) -> float:
    """Return the weighted mean of −log softmax(scores)[y]."""
    highest = scores.max(axis=1)
    normaliser = highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
    return float(weights @ (normaliser - scores[np.arange(len(y)), y]) / weights.sum())


def residuals(scores: AnyArray, y: IntArray, shares: AnyArray) -> tuple[float, AnyArray]:
    """Return Σ share·loss, and its gradient with respect to the scores, which are overwritten."""
    rows = np.arange(len(y))
    scores -= scores.max(axis=1, keepdims=True)
    of_label = scores[rows, y].astype(np.float64)
    np.exp(scores, out=scores)
    totals = scores.sum(axis=1)
    loss = float(shares @ (np.log(totals.astype(np.float64)) - of_label))
    scores *= (shares / totals).astype(scores.dtype)[:, None]
    scores[rows, y] -= shares.astype(scores.dtype)
    return loss, scores


def minimise(objective: LossAndGradient, start: FloatArray, steps: int, bounds: AnyArray | None = None) -> FloatArray:
    """Return the minimum that L-BFGS finds."""
    from scipy.optimize import minimize

    options = {"maxiter": steps, "maxcor": 12, "ftol": 1e-7, "gtol": 1e-6}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options, bounds=bounds)
    result: FloatArray = found.x
    return result


def softmax_regression(
    features: AnyArray,
    y: IntArray,
    weights: FloatArray,
    n_classes: int,
    penalty: float | AnyArray,
    *,
    offset: AnyArray | None = None,
    start: AnyArray | None = None,
    steps: int = 60,
) -> AnyArray:
    """Fit softmax(offset + features·B) and return B.

    Parameters
    ----------
    features : ndarray of float32 (n, p)
        Include a column of ones for class offsets.
    y : ndarray of int (n,)
    weights : ndarray (n,)
    n_classes : int
    penalty : float or ndarray that fits (p, K)
        Precision of a normal prior on B: the objective is Σ weight·loss + ½·Σ penalty·B².
    offset : ndarray of float32 (n, K), optional
    start : ndarray (p, K), optional
        Where to start, by default 0.
    steps : int, default 60
        Largest number of iterations.

    Returns
    -------
    ndarray of float32 (p, K)
    """
    shape = (features.shape[1], n_classes)
    total = float(weights.sum())
    shares, precision = weights / total, np.broadcast_to(np.asarray(penalty) / total, shape)
    turned = np.ascontiguousarray(features.T)

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        scores = features @ flat.reshape(shape).astype(np.float32)
        if offset is not None:
            scores += offset
        loss, slope = residuals(scores, y, shares)
        coefficients = flat.reshape(shape)
        gradient = turned @ slope + precision * coefficients
        return loss + 0.5 * float((precision * coefficients**2).sum()), gradient.ravel().astype(np.float64)

    begin = np.zeros(shape) if start is None else start.astype(np.float64)
    return minimise(objective, begin.ravel(), steps).reshape(shape).astype(np.float32)


def temperature_scale(scores: FloatArray, y: IntArray, weights: FloatArray) -> float:
    """Return the inverse temperature between e⁻⁴ and e⁶ with the smallest loss (Guo et al., 2017).

    Examples
    --------
    >>> import numpy as np
    >>> from repair.rerankers.rivals.softmax import temperature_scale
    >>> temperature_scale(np.array([[9.0, 0.0]] * 4), np.array([0, 0, 0, 1]), np.ones(4)) < 0.2
    True
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda log_scale: log_loss(np.exp(log_scale) * scores, y, weights),
        bounds=(-4.0, 6.0),
        method="bounded",
        options={"xatol": 0.01},
    )
    return float(np.exp(found.x))


def mixture_weights(columns: Sequence[AnyArray], y: IntArray, weights: FloatArray) -> FloatArray:
    """Return the non-negative weights θ with the best likelihood of softmax(Σ θ_j·column_j).

    This is a conditional logit with one coefficient per column.  The first column is the base, whose
    weight starts at 1.  A weak ridge holds the weights at (1, 0, …, 0).

    Parameters
    ----------
    columns : sequence of ndarray (n, K)
        Scores that were made for rows that their models did not see.
    y : ndarray of int (n,)
    weights : ndarray (n,)

    Returns
    -------
    ndarray (m,)
    """
    spread = np.array([max(float((one - one.max(axis=1, keepdims=True)).std()), 1e-9) for one in columns])
    stacked = np.stack([(one / size).astype(np.float32) for one, size in zip(columns, spread, strict=True)])
    flat, shape = stacked.reshape(len(columns), -1), columns[0].shape
    total = float(weights.sum())
    target = np.zeros(len(columns))
    target[0] = spread[0]
    ridge = MIXTURE_RIDGE / total

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        loss, slope = residuals((theta.astype(np.float32) @ flat).reshape(shape), y, weights / total)
        away = (theta - target) / spread[0]
        gradient = (flat @ slope.ravel()).astype(np.float64) + ridge * away / spread[0]
        return loss + 0.5 * ridge * float(away @ away), gradient

    bounds = np.array([[0.0, np.inf]] * len(columns))
    found: FloatArray = minimise(objective, target, 80, bounds) / spread
    return found


def mixed(columns: Sequence[AnyArray], theta: Sequence[float] | FloatArray) -> FloatArray:
    """Return Σ θ_j·column_j."""
    total = np.zeros(columns[0].shape)
    for column, weight in zip(columns, theta, strict=True):
        if weight:
            total += float(weight) * column
    return total
