"""A small result as a run leaves it."""

import json

import pytest

from repair.comparison.resampled_metrics import COMPARED


def _values(mean, std=0.01):
    trials = [mean] * 2 if mean is not None else [None] * 2
    one = {"mean": mean, "std": std, "trials": trials, "full": mean, "low": 0.4, "high": 0.7}
    return {metric: dict(one) for metric in COMPARED}


def _pair(estimate, low, high):
    signs = {"wins": 4, "losses": 1, "ties": 0, "mark": True, "p_value": 0.1875, "p_holm": None}
    gap = {"estimate": estimate, "low": low, "high": high, "p_positive": 0.9, "p_value": 0.2, "p_holm": 0.4}
    return {metric: {"signs": dict(signs), "difference": dict(gap)} for metric in COMPARED}


def _result(name="birds", gap=(0.015, -0.002, 0.03)):
    bins = [{"low": 0.1, "high": 0.2, "classes": [1, 2], "n_rows": 9, "delta": {"gain": 0.05, "error": 0.02}}]
    back = tuple(-value for value in (gap[0], gap[2], gap[1]))
    return {
        "version": "0.1.0",
        "versions": {"python": "3.11", "numpy": "2.0"},
        "benchmark": name,
        "title": "Birds | made up",
        "home": "example.org/birds",
        "note": "not real",
        "settings": {
            "seed": 3,
            "trials": 2,
            "quick": False,
            "n_candidates": 10,
            "resamples": 50,
            "base": "B",
            "c": 1.0,
        },
        "seconds": {"base": 1.0, "methods": 2.0},
        "setup": {
            "trials": 2,
            "resamples": 50,
            "level": 0.95,
            "trial_seeds": [5, 6],
            "bootstrap_seed": 7,
            "n_calibration_groups": 4,
            "n_test_groups": None,
            "equal_group_weight": False,
        },
        "data": {
            "classes": 5,
            "training_rows": 20.0,
            "class_counts": [10, 5, 3, 1, 1],
            "largest_class": 10.0,
            "smallest_class": 1.0,
            "calibration_rows": 40,
            "test_rows": 30,
            "notes": ["two rows left out"],
        },
        "methods": {
            "Classwise": {"metrics": _values(0.5), "against": {"Pairwise": _pair(*back)}},
            "Pairwise": {"metrics": _values(0.615, None), "against": {"Classwise": _pair(*gap)}},
        },
        "by_k": {"5": {"Pairwise": {"metrics": _values(0.7)}}, "10": {"Pairwise": {"metrics": _values(None)}}},
        "quintiles": {"bins": bins},
        "published": {
            "base": "X",
            "hyperparameters": "not published",
            "numbers": {"Base": {"hit@1": 47.0}, "REPAIR": {"hit@1": 49.0, "hfr": 0.138}, "Classwise": {"hit@1": 50.0}},
        },
    }


def _with_own_list(name="birds"):
    """Return a result in which a third method takes shortlists of its own."""
    record = _result(name)
    record["methods"] |= {
        "REPAIR as published": {"metrics": _values(0.6), "own_list": False, "against": {}},
        "Extended": {"metrics": _values(0.64), "own_list": True, "against": {}},
    }
    for title, one in record["methods"].items():
        others = [other for other in record["methods"] if other != title]
        one["against"] = {other: _pair(0.04, 0.01, 0.07) for other in others} | one["against"]
    return record


def _beyond(name, gap, *, accuracy=0.8, rows=500, p_value=0.001):
    """Return a result in which the extended mode differs from everyone by one gap, and the published one errs."""
    titles = ("Base", "LogitAdj", "REPAIR as published", "Extended, base's list", "Extended")
    record = _result(name)
    record["data"]["test_rows"] = rows
    record["methods"] = {
        title: {"metrics": _values(accuracy), "own_list": title == "Extended", "against": {}} for title in titles
    }
    for title, one in record["methods"].items():
        for other in titles:
            if other != title:
                ours = title.startswith("Extended") and not other.startswith("Extended")
                one["against"][other] = _pair(*(gap if ours else (0.0, -0.01, 0.01)))
                for metric in one["against"][other].values():
                    metric["difference"]["p_value"] = p_value if ours else 1.0
    return record


def _contest(name, gaps, *, calibration=(0.70, 0.75), rows=500, p_value=0.001, resamples=10_000):
    """Return a result with our methods, the base, and two rivals for each kind of information.

    `gaps` are the differences of Auto and Extended to everybody else, and `calibration` the held-out accuracies of
    the two rivals of each kind.
    """
    kinds = {
        "scores": ("LogitAdj", "Vector scaling", "Auto", "Extended"),
        "scores and embeddings": ("GDA", "ProKeR", "Auto+embeddings", "Extended+embeddings"),
        "scores and unlabelled test rows": ("EM prior", "BBSE"),
    }
    record = _result(name)
    record["data"]["test_rows"] = rows
    record["setup"]["resamples"] = resamples
    shared = {"own_list": True, "against": {}}
    methods = {
        "Base": {"metrics": _values(0.6), "role": "base", "information": "scores", **shared},
        "REPAIR as published": {"metrics": _values(0.7), "role": "rival", "information": "scores", **shared},
    }
    for information, (first, second, *ours) in kinds.items():
        for title, accuracy, figure in zip((first, second), (0.8, 0.75), calibration, strict=True):
            about = {"role": "rival", "information": information, "calibration": {"accuracy": figure}}
            methods[title] = {"metrics": _values(accuracy), **about, **shared}
        for title in ours:
            about = {"role": "ours", "information": information, "calibration": None}
            methods[title] = {"metrics": _values(0.82), **about, **shared}
    for title, one in methods.items():
        if one["role"] == "ours":
            others = [other for other in methods if other != title]
            gap = gaps[0] if title.startswith("Auto") else gaps[1]
            one["against"] = {other: _pair(*gap) for other in others}
            for pair in one["against"].values():
                for metric in pair.values():
                    metric["difference"]["p_value"] = p_value
    record["methods"] = methods
    return record


@pytest.fixture
def make_contest():
    return _contest


@pytest.fixture
def contests():
    """Two benchmarks with rivals, a design entry that is better and a small judging entry that is worse."""
    better, worse = (0.02, 0.01, 0.03), (-0.01, -0.02, -0.001)
    return {
        "massive": _contest("massive", (better, better), calibration=(0.70, 0.75)),
        "rarebench": _contest("rarebench", (worse, better), calibration=(0.75, 0.70), rows=71, p_value=0.04),
    }


@pytest.fixture
def make_beyond():
    return _beyond


@pytest.fixture
def beyond_results():
    """Three benchmarks: one clearly better, one unclear, one small and worse."""
    return {
        "better": _beyond("better", (0.04, 0.02, 0.06)),
        "open": _beyond("open", (0.01, -0.01, 0.03), accuracy=0.9, p_value=0.3),
        "small": _beyond("small", (-0.02, -0.03, -0.01), accuracy=0.5, rows=71, p_value=0.03),
    }


@pytest.fixture
def own_list_result():
    return _with_own_list()


@pytest.fixture
def make_result():
    return _result


@pytest.fixture
def result():
    return _result()


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the results of two benchmarks; the first gains significantly."""
    for record in (_result("massive", (0.02, 0.01, 0.03)), _result("few_tk", (-0.01, -0.03, 0.01))):
        (tmp_path / f"{record['benchmark']}.json").write_text(json.dumps(record))
    return tmp_path
