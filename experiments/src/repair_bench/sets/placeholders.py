"""The paper's base models that cannot be trained here.  They are listed, so nobody has to look for them."""

from repair_bench.harness.benchmark import Benchmark

__all__ = ["BENCHMARKS"]

BENCHMARKS = (
    Benchmark(
        name="qwen",
        title="The paper's text benchmarks with its own base, Qwen3.5-2B with LoRA",
        home="huggingface.co/Qwen",
        missing="the fine-tuned language models; goemotions, massive, huffpost and few_nerd run with other bases",
    ),
)
