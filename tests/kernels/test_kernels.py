"""Each compiled kernel is compared with its numpy counterpart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from repair.kernels import COMPILE_FROM, best_kernels, compiled, kernels_for, plain
from repair.kernels.compiled.neighbours import COLUMNS
from repair.kernels.compiled.pairs import (
    LARGE_TABLE,
    NUMBERS_PER_SLOT,
    average_class_by_class,
    average_row_by_row,
)
from repair.kernels.compiled.ranking import STRETCH

KERNELS = (plain, compiled)


def test_small_batches_need_no_compiler_and_large_ones_use_it(monkeypatch):
    best_kernels()
    assert kernels_for(1) is compiled  # because it is already loaded
    monkeypatch.setattr("repair.kernels.loaded", None)
    assert kernels_for(COMPILE_FROM - 1) is plain
    assert kernels_for(COMPILE_FROM) is compiled is best_kernels()


def test_without_numba_everything_falls_back_to_numpy(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "repair.kernels.compiled", None)
    monkeypatch.delattr("repair.kernels.compiled")
    assert best_kernels() is plain


def test_while_one_thread_imports_numba_the_others_use_numpy(monkeypatch):
    import sys
    from types import ModuleType

    half_imported = ModuleType("repair.kernels.compiled")
    best_kernels()
    assert sys.modules["repair.kernels"].loaded is compiled  # set after the import
    monkeypatch.setattr("repair.kernels.loaded", None)
    monkeypatch.setitem(sys.modules, "repair.kernels.compiled", half_imported)
    assert kernels_for(1) is plain


def top_k(kernels, scores, k):
    ids = np.empty((len(scores), k), dtype=np.int32)
    best = np.empty((len(scores), k))
    assert kernels.top_k(scores, 1e30, ids, best) == -1
    return ids, best


def sorted_top_k(scores, k):
    ids = np.array([sorted(range(len(row)), key=lambda c: (-row[c], c))[:k] for row in scores])
    best = np.take_along_axis(scores, ids, axis=1)
    return np.where(np.isneginf(best), -1, ids), best


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_top_k_is_a_full_sort_with_ties_by_class_id(dtype, data):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(2, 9)))
    few_values = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0])
    scores = data.draw(hnp.arrays(dtype, shape, elements=few_values))
    k = data.draw(st.integers(1, shape[1]))
    expected_ids, expected = sorted_top_k(scores, k)
    for kernels in KERNELS:
        ids, best = top_k(kernels, scores, k)
        assert (ids == expected_ids).all()
        assert (best == expected).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_rows_are_searched_to_their_end(dtype):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(1, 2 * STRETCH + 41)).round(1).astype(dtype)
    scores = np.concatenate([scores, -np.sort(scores), np.sort(scores), np.where(scores < 1, -np.inf, scores)])
    for rows in (scores, scores[:1], scores[3:]):  # numpy has a separate function for a single row
        for k in (1, 10, 200):
            expected_ids, expected = sorted_top_k(rows, k)
            for kernels in KERNELS:
                ids, best = top_k(kernels, rows, k)
                assert (ids == expected_ids).all()
                assert (best == expected).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e31, -1e31])
@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("position", [0, 40, 300, 552])
def test_a_bad_score_is_found_at_any_position(kernels, bad, position):
    for start in (0.0, -50.0):  # also after scores that are all better than the rest
        scores = start - np.arange(553, dtype=np.float32)[None]
        scores[0, position] = bad
        assert kernels.top_k(scores, 1e30, np.empty((1, 2), np.int32), np.empty((1, 2))) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e31, -1e31])
@pytest.mark.parametrize("kernels", KERNELS)
def test_top_k_reports_the_first_bad_row(kernels, bad):
    scores = np.zeros((5, 7))
    scores[1, 0] = -np.inf
    scores[3, 6] = scores[4, 0] = bad
    assert kernels.top_k(scores, 1e30, np.empty((5, 2), np.int32), np.empty((5, 2))) == 3


@given(data=st.data())
def test_order_is_by_score_then_base_position_with_nan_after_numbers_and_padding_last(data):
    n, k = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 7)))
    scores = data.draw(hnp.arrays(np.float64, (n, k), elements=st.sampled_from([np.nan, -np.inf, -1.0, 0.0, 3.0])))
    lengths = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, k)))

    def key(row, position):
        score = scores[row, position]
        return (position >= lengths[row], np.isnan(score), 0.0 if np.isnan(score) else -score, position)

    def expected(row):
        real = sorted(range(lengths[row]), key=lambda position: key(row, position))
        return real + list(range(lengths[row], k))

    for kernels in KERNELS:
        order = kernels.order_rows(scores, lengths)
        assert [sorted(row[: lengths[i]]) for i, row in enumerate(order.tolist())] == [
            list(range(length)) for length in lengths
        ]
        for row in range(n):
            assert order[row, : lengths[row]].tolist() == expected(row)[: lengths[row]]


@pytest.mark.parametrize("kernels", KERNELS)
def test_labels_are_found_among_the_candidates(kernels):
    ids = np.array([[4, 2, 7], [4, 2, -1], [-1, -1, -1], [3, 1, 0], [3, 1, -1]], dtype=np.int32)
    labels = np.array([7, 4, 4, 5, -1], dtype=np.int32)  # the last is unknown and must not match the padding
    positions = kernels.label_positions(ids, labels)
    assert positions.dtype == np.int32
    assert positions.tolist() == [2, 0, -1, -1, -1]


def ranked(kernels, ids, scores, lengths):
    order, ranked_ids, ranked_scores = np.empty_like(ids), np.empty_like(ids), np.empty_like(scores)
    kernels.rank_rows(ids, scores, lengths, order, ranked_ids, ranked_scores)
    return order, ranked_ids, ranked_scores


@given(data=st.data())
def test_ranked_rows_and_differences_are_bit_identical_in_both(data):
    n, k = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 7)))
    number = st.floats(-1e3, 1e3) | st.sampled_from([0.0, -0.0, 1.0])
    scores = data.draw(hnp.arrays(np.float64, (n, k), elements=number | st.just(np.nan)))
    lengths = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, k)) | st.just(np.full(n, k, np.int32)))
    padded = np.arange(k) >= lengths[:, None]
    ids = np.where(padded, -1, np.arange(n * k).reshape(n, k)).astype(np.int32)
    scores[padded] = -np.inf
    one, other = (ranked(kernels, ids, scores, lengths) for kernels in KERNELS)
    assert [part.tobytes() for part in one] == [part.tobytes() for part in other]
    values = np.where(np.isfinite(scores), scores, 0.5)
    first, second = (kernels.mean_difference(values, lengths) for kernels in KERNELS)
    assert first.tobytes() == second.tobytes()
    lists = [values[row, : lengths[row]] for row in range(n)]
    for row, kept in enumerate(lists):
        expected = [np.mean(value - np.delete(kept, i)) if len(kept) > 1 else 0.0 for i, value in enumerate(kept)]
        np.testing.assert_allclose(first[row, : len(kept)], expected, atol=1e-9)
        assert (first[row, len(kept) :] == 0).all()


def random_fit(rng, n=40, k=5, n_offsets=7, d=3):
    lengths = rng.integers(1, k + 1, size=n).astype(np.int32)
    padded = np.arange(k) >= lengths[:, None]
    index = np.where(padded, 0, rng.integers(0, max(n_offsets, 1), size=(n, k))).astype(np.int32)
    columns = np.where(padded[:, :, None], 0.0, rng.normal(size=(n, k, d)))
    base = np.where(padded, 0.0, rng.normal(size=(n, k)))
    target = (rng.random(n) * lengths).astype(np.int32)
    weights = rng.random(n)
    return base, index, columns, lengths, target, weights / weights.sum()


@pytest.mark.parametrize("n_offsets", [0, 7])
@pytest.mark.parametrize("d", [0, 3])
def test_fit_kernels_agree_with_their_counterparts(n_offsets, d):
    if n_offsets == d == 0:
        return
    rng = np.random.default_rng(1)
    *arrays, lengths, target, row_weights = random_fit(rng, n=200, n_offsets=n_offsets, d=d)
    base, index, columns = (np.ascontiguousarray(array.T) for array in arrays)
    rows = 7, 183  # one whole tile and a part of one.  The kernels must ignore the other rows
    offsets, weights = rng.normal(size=n_offsets), rng.normal(size=d)
    direction = rng.normal(size=n_offsets + d)
    results = []
    for kernels in KERNELS:
        probabilities, gradient = np.zeros(base.shape), np.zeros(n_offsets + d)
        loss = kernels.loss_and_gradient(
            base, index, columns, lengths, target, row_weights, offsets, weights, *rows, probabilities, gradient
        )
        product = np.zeros(n_offsets + d)
        kernels.hessian_product(index, columns, row_weights, probabilities, direction, n_offsets, *rows, product)
        diagonal, block = np.zeros(n_offsets), np.zeros((d, d))
        cross = np.zeros((n_offsets, d))
        kernels.curvature(index, columns, row_weights, probabilities, *rows, diagonal, block, cross)
        results.append((loss, gradient, probabilities, product, diagonal, block, cross))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_class_vectors_are_looked_up_in_the_same_way_and_padding_gets_zero(dtype):
    rng = np.random.default_rng(4)
    vector = rng.integers(1, 100, size=30).astype(dtype)  # the last entry is not 0, and id −1 must not select it
    full = rng.integers(0, 30, size=(50, 7)).astype(np.int32)
    padded = np.where(np.arange(7) < rng.integers(0, 8, size=(50, 1)), full, -1).astype(np.int32)
    for ids in (full, padded):
        expected = [[vector[class_id] if class_id >= 0 else 0 for class_id in row] for row in ids]
        for kernels in KERNELS:
            entries = kernels.per_class(vector, ids)
            assert entries.dtype == dtype
            assert (entries == expected).all()


@pytest.mark.parametrize("kernels", KERNELS)
def test_classes_on_any_row_are_found_and_padding_is_ignored(kernels):
    ids = np.array([[4, 2, -1], [4, 0, -1]], dtype=np.int32)
    assert kernels.classes_present(ids, 6).tolist() == [True, False, True, False, True, False]


def test_added_parts_are_bit_identical_in_both_and_to_adding_columns():
    rng = np.random.default_rng(6)
    lengths = np.minimum(rng.integers(0, 10, size=300), 7).astype(np.int32)
    real = np.arange(7) < lengths[:, None]
    full = np.full(300, 7, np.int32)
    given, values, vector = rng.normal(size=(300, 7)), rng.normal(size=(300, 7)), rng.normal(size=30)
    some = rng.integers(0, 30, size=(300, 7)).astype(np.int32)
    for ids, length in ((some, full), (np.where(real, some, -1).astype(np.int32), lengths)):
        entries = plain.per_class(vector, ids)
        for name, arguments, column in (
            ("add_per_class", (vector, ids), entries),
            ("add_mean_difference", (values, length), plain.mean_difference(values, length)),
            ("add_class_difference", (vector, ids, length), plain.mean_difference(entries, length)),
        ):
            expected = given.copy()
            plain.add_column(expected, 0.3, column)
            for kernels in KERNELS:
                total = given.copy()
                getattr(kernels, name)(total, 0.3, *arguments)
                assert total.tobytes() == expected.tobytes()


def test_added_columns_are_bit_identical_in_both():
    rng = np.random.default_rng(5)
    given, column, line = rng.normal(size=(200, 7)), rng.normal(size=(200, 7)), rng.normal(size=(1, 7))
    for added in (column, np.broadcast_to(line, column.shape)):
        totals = [given.copy(), given.copy()]
        for kernels, total in zip(KERNELS, totals, strict=True):
            kernels.add_column(total, 0.3, added)
        assert totals[0].tobytes() == totals[1].tobytes()
        np.testing.assert_allclose(totals[0], given + 0.3 * added, rtol=1e-15)


@pytest.mark.parametrize("average", [compiled.average_over_rivals, average_class_by_class, average_row_by_row])
def test_similarity_means_are_bit_identical_in_both(average):
    rng = np.random.default_rng(2)
    lengths = np.minimum(rng.integers(0, 9, size=200), 7).astype(np.int32)
    ids = np.where(np.arange(7) < lengths[:, None], rng.random((200, 30)).argsort(axis=1)[:, :7], -1).astype(np.int32)
    table = rng.random((30, 30)) - 0.5
    for held in (table, table.astype(np.float32)):
        one, other = average(held, ids, lengths), plain.average_over_rivals(held, ids, lengths)
        assert one.tobytes() == other.tobytes()
        for row in (lengths.argmin(), lengths.argmax()):
            np.testing.assert_allclose(one[row], _averages(held, ids[row, : lengths[row]], 7), rtol=1e-12)


def test_large_similarities_are_read_as_a_whole_with_the_same_result():
    rng = np.random.default_rng(3)
    ids = rng.random((4200, 800), dtype=np.float32).argpartition(10, axis=1)[:, :10].astype(np.int32)
    table, lengths = rng.random((800, 800)), np.full(4200, 10, np.int32)
    assert LARGE_TABLE <= table.size <= NUMBERS_PER_SLOT * ids.size
    one, other = (kernels.average_over_rivals(table, ids, lengths) for kernels in KERNELS)
    assert one.tobytes() == other.tobytes()


def _averages(table, ids, width):
    """Compute the kernel's result for one row with plain loops."""
    rivals = [[float(table[candidate, rival]) for rival in ids if rival != candidate] for candidate in ids]
    averages = [sum(values) / max(len(values), 1) for values in rivals]
    return [*averages, *[0.0] * (width - len(averages))]


def test_row_dots_are_products_and_zero_on_padding():
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 8, size=200).astype(np.int32)
    real = np.arange(7) < lengths[:, None]
    ids = np.where(real, rng.integers(0, 30, size=(200, 7)), -1).astype(np.int32)
    lengths = np.minimum(lengths, 7).astype(np.int32)
    vectors, table = (rng.normal(size=(n, 50)).astype(np.float32) for n in (200, 30))
    expected = np.where(
        real, np.take_along_axis(vectors.astype(float) @ table.T.astype(float), np.maximum(ids, 0), 1), 0
    )
    for kernels in KERNELS:
        products = kernels.row_dots(vectors, table, ids, lengths)
        np.testing.assert_allclose(products, expected, atol=1e-4)
        assert (products[~real] == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_count_the_same_classes_above_the_label(dtype):
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(80, 40)).astype(dtype)
    scores[:5, :6] = -np.inf
    labels = rng.integers(-1, 40, size=80).astype(np.int32)
    labels[0] = 3  # its score is −Inf
    adjustments = np.stack([np.zeros(40), rng.normal(size=40)]).astype(dtype)
    counts = [np.full((80, 2), -7, dtype=np.int32) for _ in KERNELS]
    for kernels, above in zip(KERNELS, counts, strict=True):
        kernels.labels_above(scores, adjustments, labels, above)
    assert (counts[0] == counts[1]).all()
    assert (counts[0][labels < 0] == 40).all()
    assert (counts[0][0] == 40).all()
    row = int(np.flatnonzero(labels > 0)[9])
    for column in range(2):
        order = np.argsort(-(scores[row] + adjustments[column]))
        assert counts[0][row, column] == int(np.flatnonzero(order == labels[row])[0])


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), k=st.integers(1, 5))
def test_largest_leads_agree(seed, n, k):
    rng = np.random.default_rng(seed)
    ids = np.array([rng.permutation(6)[:k] for _ in range(n)], dtype=np.int32)
    lengths = rng.integers(1, k + 1, size=n).astype(np.int32)
    target = (rng.random(n) * lengths).astype(np.int32)
    scores = rng.integers(-2, 3, size=(n, k)).astype(float)
    pairs = rng.integers(0, 4, size=(n, k * (k - 1) // 2)).astype(np.int32)
    results = []
    for kernels in KERNELS:
        largest = np.full((4, 2), -np.inf)
        kernels.largest_leads(pairs, ids, scores, lengths, target, largest)
        results.append(largest)
    assert (results[0] == results[1]).all()


def largest_in_rows(kernels, values, number):
    columns = np.empty((len(values), number), dtype=np.int32)
    largest = np.empty((len(values), number), dtype=np.float32)
    kernels.largest_in_rows(values, columns, largest)
    return columns, largest


@given(data=st.data())
def test_the_largest_numbers_are_those_of_a_full_sort_with_ties_by_column(data):
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 12)))
    few_values = st.sampled_from([-np.inf, -1.0, -0.5, -0.0, 0.0, 0.5, 2.0])
    values = data.draw(hnp.arrays(np.float32, shape, elements=few_values))
    number = data.draw(st.integers(1, shape[1]))
    expected = np.argsort(-values, axis=1, kind="stable")[:, :number]
    for kernels in KERNELS:
        columns, largest = largest_in_rows(kernels, values, number)
        assert (columns == expected).all()
        assert (largest == np.take_along_axis(values, expected, axis=1)).all()


@pytest.mark.parametrize("size", [COLUMNS - 1, COLUMNS, COLUMNS + 1, 5 * COLUMNS + 17])
@pytest.mark.parametrize("number", [1, 30, 150])
def test_the_largest_numbers_of_long_rows(size, number):
    rng = np.random.default_rng(size)
    few = rng.integers(0, 3, size=(1, size)).astype(np.float32)  # so many ties that they are sorted
    own = np.where(rng.random((1, size)) < 0.9, -np.inf, rng.normal(size=(1, size)))
    values = np.concatenate([rng.normal(size=(2, size)), np.sort(rng.normal(size=(1, size))), few, own]).astype("f4")
    expected = np.argsort(-values, axis=1, kind="stable")[:, :number]
    for kernels in KERNELS:
        columns, largest = largest_in_rows(kernels, values, number)
        assert (columns == expected).all()
        assert (largest == np.take_along_axis(values, expected, axis=1)).all()


@pytest.mark.parametrize("n_vectors", [40, 3000])
@pytest.mark.parametrize("number", [1, 7, 120])
def test_the_nearest_vectors_of_the_candidates(n_vectors, number):
    rng = np.random.default_rng(number)
    labels = np.sort(rng.integers(0, 8, size=n_vectors))
    labels = labels[labels != 3]  # a class without vectors
    starts = np.searchsorted(labels, np.arange(10)).astype(np.int32)  # nor has class 8 any
    vectors = rng.integers(-3, 4, size=(len(labels), 6)).astype(np.float32)  # so products have no rounding
    queries = rng.integers(-3, 4, size=(30, 6)).astype(np.float32)
    ids = np.array([rng.permutation(9)[:4] for _ in range(30)], dtype=np.int32)
    ids[2], ids[5, 1:] = [3, 8, -1, -1], -1
    query_groups, groups = rng.integers(0, 5, size=30), rng.integers(0, 5, size=len(labels))
    allowed = (ids[:, :, None] == labels).any(axis=1) & (query_groups[:, None] != groups)
    products = np.where(allowed, queries @ vectors.T, -np.inf)
    expected = np.argsort(-products, axis=1, kind="stable")[:, :number]
    similarities = np.take_along_axis(products, expected, axis=1)
    expected[np.isneginf(similarities)] = 0
    for kernels in KERNELS:
        places = np.full(expected.shape, 99, dtype=np.int32)
        values = np.full(expected.shape, np.nan, dtype=np.float32)
        kernels.nearest_of_candidates(queries, vectors, starts, ids, query_groups, groups, places, values)
        assert (values == similarities).all()
        places[np.isneginf(values)] = 0
        assert (places == expected).all()


def test_votes_are_added_up_by_candidate():
    rng = np.random.default_rng(0)
    ids = np.array([rng.permutation(9)[:5] for _ in range(40)], dtype=np.int32)
    ids[3:6, 3:] = -1
    voted, weights = rng.integers(0, 9, size=(40, 30), dtype=np.int32), rng.random((2, 40, 30))
    kinds, numbers = np.array([1, 0, 1]), np.array([12, 30, 50])  # of 50 neighbours, there are only 30
    found = []
    for kernels in KERNELS:
        sums, totals = np.zeros((40, 5, 3)), np.zeros((40, 3))
        kernels.vote_sums(ids, voted, weights, kinds, numbers, sums, totals)
        for vote in range(3):
            kept, given = voted[:, : numbers[vote]], weights[kinds[vote], :, : numbers[vote]]
            expected = [[sum(given[row][kept[row] == label]) for label in ids[row]] for row in range(40)]
            np.testing.assert_allclose(sums[:, :, vote], expected)
            np.testing.assert_allclose(totals[:, vote], given.sum(axis=1))
        found.append(sums.tobytes() + totals.tobytes())
    assert found[0] == found[1]


def test_the_loss_of_shortlists_and_its_gradient():
    rng = np.random.default_rng(0)
    ids = np.array([rng.permutation(12)[:6] for _ in range(50)], dtype=np.int32)
    ids[3:9, 4:] = -1
    features, table = rng.normal(size=(50, 19)).astype(np.float32), rng.normal(size=(12, 19)).astype(np.float32)
    base, weights, target = rng.normal(size=(50, 6)), rng.random(50), rng.integers(0, 4, size=50)

    def exact(matrix):
        loss = 0.0
        for row in range(50):
            real = ids[row] >= 0
            scores = base[row, real] + matrix[ids[row, real]] @ features[row].astype(float)
            loss += weights[row] * (np.log(np.exp(scores).sum()) - scores[target[row]])
        return loss

    for kernels in KERNELS:
        gradient = np.zeros_like(table)
        loss = kernels.list_loss(features, table, ids, base, target, weights, gradient)
        np.testing.assert_allclose(loss, exact(table.astype(float)), rtol=1e-5)
        for entry in ((0, 0), (5, 18), (11, 7)):
            step = np.zeros((12, 19))
            step[entry] = 1e-5
            slope = (exact(table + step) - exact(table - step)) / 2e-5
            np.testing.assert_allclose(gradient[entry], slope, rtol=1e-3, atol=1e-4)
