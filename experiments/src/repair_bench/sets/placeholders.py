"""The paper's benchmarks whose data or base models are missing here.  They are listed with the paper's figures."""

from repair_bench.harness.benchmark import Benchmark, Published

__all__ = ["BENCHMARKS"]

BENCHMARKS = (
    Benchmark(
        name="imagenet_lt",
        title="ImageNet-LT, objects",
        home="github.com/facebookresearch/classifier-balancing",
        missing="the ILSVRC 2012 validation images and the ResNet-50 checkpoint",
        seed=42,
        published=Published(
            "ResNet-50",
            {"lambda_a": 0.001, "lambda_theta": 0.001, "alpha": 0.0, "tau": 1.0},
            {
                "Base": {"coverage": 76.7, "hit@1": 54.4, "hit@3": 78.6, "mrr": 0.689, "rare": 47.4, "frequent": 76.7},
                "Classwise": {"hit@1": 61.8, "hit@3": 85.4, "mrr": 0.750, "rare": 59.9, "frequent": 67.8, "hfr": 0.336},
                "REPAIR": {"hit@1": 62.0, "hit@3": 85.4, "mrr": 0.751, "rare": 60.8, "frequent": 65.7, "hfr": 0.378},
            },
        ),
    ),
    Benchmark(
        name="places_lt",
        title="Places-LT, scenes",
        home="places2.csail.mit.edu",
        missing="the Places365 images and their ResNet-152 features",
        seed=42,
        published=Published(
            "ResNet-152, cRT",
            {"lambda_a": 0.001, "lambda_theta": 0.001, "alpha": 0.3, "tau": 0.0},
            {
                "Base": {"coverage": 75.3, "hit@1": 44.7, "hit@3": 72.1, "mrr": 0.617, "rare": 46.3, "frequent": 37.9},
                "Classwise": {"hit@1": 45.1, "hit@3": 72.4, "mrr": 0.620, "rare": 46.9, "frequent": 37.4, "hfr": 0.028},
                "REPAIR": {"hit@1": 45.5, "hit@3": 72.5, "mrr": 0.622, "rare": 48.2, "frequent": 34.1, "hfr": 0.072},
            },
        ),
    ),
    Benchmark(
        name="inat2018",
        title="iNaturalist 2018, species",
        home="github.com/visipedia/inat_comp",
        missing="the images, and a ResNet-50 fine-tuned on them",
        published=Published(
            "ResNet-50",
            {"lambda_a": 0.01, "lambda_theta": 0.005, "alpha": 0.3, "tau": 1.0},
            {
                "Base": {"coverage": 37.8, "hit@1": 47.0, "hit@3": 71.7, "mrr": 0.627, "rare": 37.5, "frequent": 60.0},
                "Classwise": {"hit@1": 48.8, "hit@3": 74.5, "mrr": 0.646, "rare": 41.1, "frequent": 59.3, "hfr": 0.074},
                "REPAIR": {"hit@1": 49.0, "hit@3": 75.6, "mrr": 0.652, "rare": 42.2, "frequent": 58.4, "hfr": 0.138},
            },
        ),
    ),
    Benchmark(
        name="gmdb",
        title="GestaltMatcher Database, syndromes from faces",
        home="db.gestaltmatcher.org",
        missing="patients' images, which are available on application only",
        published=Published(
            "Qwen3.5-0.8B",
            {"lambda_a": 0.5, "lambda_theta": 0.01, "alpha": 0.3, "tau": 0.0},
            {
                "Base": {"coverage": 51.6, "hit@1": 64.0, "hit@3": 79.3, "mrr": 0.741, "rare": 62.9, "frequent": 64.7},
                "Classwise": {"hit@1": 71.4, "hit@3": 85.8, "mrr": 0.801, "rare": 78.5, "frequent": 66.5, "hfr": 0.441},
                "REPAIR": {"hit@1": 72.3, "hit@3": 85.8, "mrr": 0.806, "rare": 79.6, "frequent": 67.4, "hfr": 0.510},
            },
        ),
    ),
    Benchmark(
        name="few_nerd",
        title="Few-NERD, types of entities",
        home="github.com/thunlp/Few-NERD",
        missing="its files and the fine-tuned base; few_tk, in the same file format, stands in for it",
        published=Published(
            "Qwen3.5-2B with LoRA",
            numbers={
                "Base": {"hit@1": 37.13, "hit@3": 65.48, "rare": 18.60, "frequent": 39.63},
                "LogitAdj": {"hit@1": 38.14, "hit@3": 67.34, "rare": 19.90, "frequent": 40.43, "hfr": 0.132},
                "τ-norm": {"hit@1": 37.06, "hit@3": 65.30, "rare": 18.42, "frequent": 39.57, "hfr": 0.001},
                "Classwise": {"hit@1": 38.64, "hit@3": 68.82, "rare": 29.75, "frequent": 39.84, "hfr": 0.050},
                "REPAIR": {"hit@1": 39.69, "hit@3": 70.11, "rare": 31.58, "frequent": 40.78, "hfr": 0.137},
            },
        ),
    ),
    Benchmark(
        name="qwen",
        title="The paper's text benchmarks with its own base, Qwen3.5-2B with LoRA",
        home="huggingface.co/Qwen",
        missing="the fine-tuned language models; goemotions, massive and huffpost run with other bases",
    ),
)
