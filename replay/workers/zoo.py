"""Profiles some twenty models with random weights in PyTorch at batches of 1 to 64, in fp16: a zoo of one's own GPU.

    python3 replay/workers/zoo.py --out h100-torch

Each has a profile in that folder, which scenarios read (`latency = { profile = { file = "h100-torch/resnet50.toml" } }`);
one that is there is not measured again. `zoo.csv` has them all, the held-out sizes too, in the form of
`experiments/scenario/data/h100_torch.csv`.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import time
import tomllib

VISION = [
    "resnet18",
    "resnet50",
    "resnet152",
    "resnext50_32x4d",
    "wide_resnet50_2",
    "densenet121",
    "densenet201",
    "vgg16",
]
VISION += ["mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "efficientnet_b4", "shufflenet_v2_x1_0"]
VISION += ["squeezenet1_1", "convnext_base", "vit_b_16", "swin_t"]
LARGE = "num_hidden_layers=24 hidden_size=1024 num_attention_heads=16 intermediate_size=4096"
TOKENS = 128
TEXT = {"bert-base": "bert", "bert-large": f"bert {LARGE}", "distilbert": "distilbert", "gpt2": "gpt2"}
MODELS = {name: (f"torchvision:{name}", "") for name in VISION} | {
    name: (f"transformers:{run}", f"lengths = [[{TOKENS}, 1000.0]]") for name, run in TEXT.items()
}
SIZES = [1, 2, 4, 8, 16, 32, 64]
HELD_OUT = [3, 6, 12, 24, 48]
HEAD = ["gpu", "model", "batch_ms", "source", "measured", "load_ms"]
HERE = pathlib.Path(__file__).resolve().parent

SCENARIO = """policies = ["fifo"]
arrivals = {{ poisson = {{ rate_per_s = 1.0 }}, requests = 1 }}
[[model]]
name = "{name}"
slo_ms = 1000.0
load_ms = 5.0
latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 1.0 }} }}
[[app]]
name = "a"
model = "{name}"
time = {{ constant = {{ ms = 1.0 }} }}
"""
DEVICE = """[worker]
command = ["python3", "{worker}", "--dtype", "fp16", "--sizes", {sizes}]
[[worker.models]]
run = "{run}"
max_batch = {largest}
{lengths}
"""


def profile(out, name, quick):
    """Whether the profile of a model is there."""
    made = out / f"{name}.toml"
    if made.exists():
        return True
    run, lengths = MODELS[name]
    sizes, held_out = (SIZES[:2], HELD_OUT[:1]) if quick else (SIZES, HELD_OUT)
    each = ", ".join(f'"{size}"' for size in sorted(sizes + held_out))
    config = DEVICE.format(worker=HERE / "run_torch.py", run=run, lengths=lengths, largest=SIZES[-1], sizes=each)
    for suffix, text in ((".scenario", SCENARIO.format(name=name)), (".device", config)):
        made.with_suffix(suffix).write_text(text, encoding="utf8")
    program = os.environ.get("ORRERY_REPLAY", "orrery-replay")
    command = [program, "profile", made.with_suffix(".scenario"), "--device", "worker:0", "--out", made]
    command += ["--device-config", made.with_suffix(".device"), "--sizes", ",".join(map(str, sizes)), "--form", "table"]
    command += ["--held-out", ",".join(map(str, held_out))]
    command += ["--rounds", "3" if quick else "25", "--max-s", "4", "--noise-batches", "0", "--stall-s", "0"]
    # A profile that is not fit to predict with is written all the same, and says so.
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return made.exists()


def rows(out):
    for made in sorted(out.glob("*.toml")):
        read = tomllib.loads(made.read_text(encoding="utf8"))
        model, device = read["model"][0], read["device"]["name"]
        times = " ".join(f"{p['batch']}:{p['median_us'] / 1e3:.4g}" for p in model["point"])
        gpu = device.rpartition("GPU NVIDIA ")[2].replace(" ", "-")
        load_ms = f"{model['load']['median_ms']:.4g}"
        yield [gpu, f"{made.stem}-fp16", times, device.partition(",")[0], read["date"], load_ms]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin no model after so long")
    parser.add_argument("--quick", action="store_true", help="two models at two sizes: shows that it works")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + options.seconds
    wanted = ["resnet50", "bert-base"] if options.quick else MODELS
    missing = [name for name in wanted if time.monotonic() > ends or not profile(options.out, name, options.quick)]
    with open(options.out / "zoo.csv", "w", encoding="utf8", newline="") as file:
        csv.writer(file).writerows([HEAD, *rows(options.out)])
    if missing:
        sys.exit(f"not measured: {', '.join(missing)}")


if __name__ == "__main__":
    main()
