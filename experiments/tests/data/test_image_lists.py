"""Lists of images, and tiny generated images."""

import numpy as np
import pytest

from repair import InputError
from repair_bench.data.image_lists import read_image, read_list

pytestmark = pytest.mark.needs("PIL")


@pytest.fixture
def images(tmp_path):
    """Write four images: left half red, right half blue, in several sizes and formats."""
    from PIL import Image

    sizes = {"a/one.png": (40, 30), "a/two.jpg": (30, 60), "b/three.png": (8, 8), "b/grey.png": (32, 32)}
    for name, (width, height) in sizes.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pixels = np.zeros((height, width, 3), dtype=np.uint8)
        pixels[:, : width // 2, 0] = pixels[:, width // 2 :, 2] = 250
        image = Image.fromarray(pixels)
        (image.convert("L") if "grey" in name else image).save(tmp_path / name)
    lines = [f"{name} {label}" for label, name in enumerate(sizes)]
    (tmp_path / "list.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_images_are_scaled_and_cut_out_in_the_middle(images):
    for name in ("a/one.png", "a/two.jpg", "b/three.png"):
        pixels = read_image(images / name, crop=16)
        assert pixels.shape == (16, 16, 3)
        assert pixels[:, :6, 0].mean() > 200 > 50 > pixels[:, 10:, 0].mean()
        assert pixels[:, 10:, 2].mean() > 200
    assert read_image(images / "b/grey.png", crop=16).shape == (16, 16, 3)


def test_batches_are_in_the_order_of_the_list(images):
    rows = read_list(images / "list.txt", 4)
    assert rows.missing(images) == []
    batches = list(rows.batches(images, 3, crop=8))
    assert [pixels.shape for pixels, _ in batches] == [(3, 8, 8, 3), (1, 8, 8, 3)]
    assert np.concatenate([labels for _, labels in batches]).tolist() == [0, 1, 2, 3]
    (images / "b/three.png").unlink()
    assert rows.missing(images) == ["b/three.png"]


def test_damaged_images_and_wrong_lists_are_named(images):
    path = images / "a/one.png"
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match=r"one\.png is not an image"):
        read_image(path)
    with pytest.raises(InputError, match=r"line 4 of .*class id below 3"):
        read_list(images / "list.txt", 3)
    (images / "list.txt").write_text("\n")
    with pytest.raises(InputError, match="lists no images"):
        read_list(images / "list.txt")
