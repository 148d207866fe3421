"""GoEmotions and MASSIVE: reading, the base model, and that auto does not lose to it."""

import gzip
import json

import numpy as np
import pytest

from repair import Base, InputError, Reranker
from repair_bench.bases.base_scores import TextBase
from repair_bench.data.texts import read_goemotions, read_massive
from repair_bench.harness.over_splits import compare_over_splits

pytestmark = pytest.mark.needs("sklearn")


def write_gz(path, text):
    path.write_bytes(gzip.compress(text.encode()))


def test_rows_with_several_labels_are_left_out(tmp_path):
    (tmp_path / "labels.txt").write_text("joy\nanger\n")
    for part in ("train", "dev", "test"):
        write_gz(tmp_path / f"{part}.tsv.gz", f"so {part}\t0\tid1\nboth\t0,1\tid2\ncross\t1\tid3\n")
    data = read_goemotions(tmp_path)
    assert data.class_names == ("joy", "anger")
    assert data.texts == ("so train", "cross", "so dev", "cross", "so test", "cross")
    assert data.labels.tolist() == [0, 1] * 3
    assert data.part.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_label_without_a_name_is_refused(tmp_path):
    (tmp_path / "labels.txt").write_text("joy\n")
    for part in ("train", "dev", "test"):
        write_gz(tmp_path / f"{part}.tsv.gz", "x\t1\tid\n")
    with pytest.raises(InputError, match="label 1 has no name"):
        read_goemotions(tmp_path)
    for part in ("train", "dev", "test"):
        write_gz(tmp_path / f"{part}.tsv.gz", "x\t-1\tid\n")
    with pytest.raises(InputError, match=r"train\.tsv\.gz: line 1: expected text, label ids"):
        read_goemotions(tmp_path)


def test_intents_are_read_with_their_names(tmp_path):
    for part in ("train", "validation", "test"):
        rows = [{"text": "lights on", "label": 1, "label_text": "on"}, {"text": "off", "label": 0, "label_text": "off"}]
        write_gz(tmp_path / f"{part}.jsonl.gz", "\n".join(map(json.dumps, rows)) + "\n")
    data = read_massive(tmp_path)
    assert data.class_names == ("off", "on")
    assert data.labels.tolist() == [1, 0] * 3


def test_auto_does_not_lose_to_base_on_goemotions(shared_data):
    data = read_goemotions(shared_data("goemotions"))
    assert np.bincount(data.part).tolist() == [36308, 4548, 4590]
    methods = {"Base": Base(), "auto": Reranker("auto")}
    result = compare_over_splits(methods, [TextBase()(data)], reference="Base", resamples=1000)
    assert result.gains["auto"]["hit@1"][0] >= 0
    assert result.gains["auto"]["hit@1"][2] > 0
    assert result.gains["auto"]["rare"][0] >= 0


def test_auto_keeps_the_base_order_where_little_is_to_gain(shared_data):
    """A weakly penalised base on MASSIVE is nearly right: no correction is significant."""
    data = read_massive(shared_data("massive_en_us"))
    methods = {"Base": Base(), "auto": Reranker("auto")}
    result = compare_over_splits(methods, [TextBase(c=10.0)(data)], reference="Base", resamples=1000)
    assert result.gains["auto"]["hit@1"][0] >= -0.002
