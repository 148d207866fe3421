"""Images that are published as lists: reading the lists, and the images themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repair._utils.arrays import AnyArray, IntArray
from repair.errors import InputError, MissingExtraError
from repair.similarity.reading import read_text

__all__ = ["ImageRows", "read_image", "read_list"]

#: The usual preparation for ImageNet classifiers: the shorter side becomes 256, and a square of 224 is cut out.
SHORT_SIDE, CROP = 256, 224


@dataclass(frozen=True, eq=False)
class ImageRows:
    """Images in the order of a list.

    Attributes
    ----------
    paths : tuple of str
        Path of each image, relative to the folder of the images.
    labels : ndarray of int (n,)
    """

    paths: tuple[str, ...]
    labels: IntArray

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.paths)

    def missing(self, folder: Path) -> list[str]:
        """Return the paths of the images that are not in a folder."""
        return [path for path in self.paths if not (folder / path).is_file()]

    def batches(self, folder: Path, size: int = 64, *, crop: int = CROP) -> Iterator[tuple[AnyArray, IntArray]]:
        """Yield images as arrays of uint8 (batch, crop, crop, 3), with their labels."""
        for start in range(0, len(self), size):
            rows = slice(start, start + size)
            images = [read_image(folder / path, crop=crop) for path in self.paths[rows]]
            yield np.stack(images), self.labels[rows]


def read_list(path: Path, n_classes: int | None = None) -> ImageRows:
    """Read a list with a path and a class id per line, separated by a blank.

    Parameters
    ----------
    path : Path
    n_classes : int, optional
        Class ids must be below it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from repair_bench.data.image_lists import read_list
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "list.txt"
    >>> _ = path.write_text("train/n01/a.JPEG 0" + chr(10) + "train/n02/b c.JPEG 1" + chr(10))
    >>> rows = read_list(path)
    >>> rows.paths, rows.labels.tolist()
    (('train/n01/a.JPEG', 'train/n02/b c.JPEG'), [0, 1])
    """
    paths, labels = [], []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        name, _, label = line.strip().rpartition(" ")
        if not name or not label.isdecimal() or (n_classes is not None and int(label) >= n_classes):
            limit = "" if n_classes is None else f" below {n_classes}"
            raise InputError(f"line {number} of {path} is {line!r}; expected an image path and a class id{limit}")
        paths.append(name)
        labels.append(int(label))
    if not paths:
        raise InputError(f"{path} lists no images; get the file again")
    return ImageRows(tuple(paths), np.array(labels, dtype=np.int32))


def read_image(path: Path, *, crop: int = CROP, short_side: int | None = None) -> AnyArray:
    """Read an image, scale it so its shorter side has `short_side` pixels, and cut out its centre.

    Parameters
    ----------
    path : Path
    crop : int, default 224
        Side of the square that is cut out.
    short_side : int, optional
        By default 256/224 of `crop`.

    Returns
    -------
    ndarray of uint8 (crop, crop, 3)
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtraError("reading images needs Pillow: pip install 'repair-bench[images]'") from None
    side = round(crop * SHORT_SIDE / CROP) if short_side is None else short_side
    try:
        with Image.open(path) as image:
            scale = side / min(image.size)
            size = [max(round(length * scale), crop) for length in image.size]
            scaled = image.convert("RGB").resize((size[0], size[1]), Image.Resampling.BILINEAR)
    except (UnidentifiedImageError, OSError) as error:
        raise InputError(f"{path} is not an image ({error}); check that the download is complete") from None
    left, top = ((length - crop) // 2 for length in scaled.size)
    return np.asarray(scaled.crop((left, top, left + crop, top + crop)))
