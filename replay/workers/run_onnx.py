"""Runs .onnx models with ONNX Runtime as a worker of orrery-replay (docs/worker.md).

    [worker]
    command = ["python3", "workers/run_onnx.py", "--threads", "1"]
    [[worker.models]]
    run = "recognition.onnx 2=48"     # or "package:rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx 2=48"
    max_batch = 8
    lengths = [[80, 5.0], [160, 10.0]]

The first dimension of every input is the batch. One other free dimension is the length; further ones are fixed behind
the path, by name or by number (`2=48`). Inputs are random; inputs and outputs are copied inside the batch.
"""

import orrery_worker  # first: what others print is no answer

# isort: split
import argparse
import importlib.util
import os
import shlex
import subprocess
import sys

import numpy
import onnxruntime

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
TYPES = {
    "tensor(float)": numpy.float32,
    "tensor(float16)": numpy.float16,
    "tensor(double)": numpy.float64,
    "tensor(int64)": numpy.int64,
    "tensor(int32)": numpy.int32,
    "tensor(uint8)": numpy.uint8,
    "tensor(bool)": numpy.bool_,
}


def found(path):
    """A path; `package:NAME/FILE` is a file that an installed package ships."""
    if not path.startswith("package:"):
        return path
    name, _, rest = path.removeprefix("package:").partition("/")
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"`{path}`: there is no package `{name}`; `pip install` it")
    return os.path.join(spec.submodule_search_locations[0], rest)


def processor():
    with open("/proc/cpuinfo", encoding="utf8") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else "an unknown processor"


def gpu(number):
    asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader", "-i", str(number)]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


class Model:
    """A session, with inputs of the largest batch for each length."""

    def __init__(self, options, spec):
        path, *fixed = shlex.split(spec["run"])
        self.path, self.max_batch, self.options = found(path), spec["max_batch"], options
        self.fixed = {name: int(size) for name, _, size in (word.rpartition("=") for word in fixed)}
        self.load()
        lengths = spec["lengths"] or [None]
        self.feeds = {length: self.inputs(length) for length in lengths}

    def load(self):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = self.options.threads
        settings.inter_op_num_threads = 1
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        provider = PROVIDERS[self.options.provider]
        if provider == PROVIDERS["cuda"]:
            provider = (provider, {"device_id": self.options.device})
        self.session = onnxruntime.InferenceSession(self.path, settings, providers=[provider])
        if PROVIDERS[self.options.provider] not in self.session.get_providers():
            raise RuntimeError(f"ONNX Runtime has no {PROVIDERS[self.options.provider]} here")

    def inputs(self, length):
        random = numpy.random.default_rng(1)
        return {of.name: self.values(of, self.shape(of, length), random) for of in self.session.get_inputs()}

    def shape(self, of, length):
        batch, *rest = of.shape
        if isinstance(batch, int) and batch != self.max_batch:
            raise ValueError(f"`{self.path}`: `{of.name}` has a fixed batch of {batch}; set `max_batch = {batch}`")
        sizes = [self.fixed.get(str(axis), self.fixed.get(size, size)) for axis, size in enumerate(rest, 1)]
        free = [axis for axis, size in enumerate(sizes, 1) if not isinstance(size, int)]
        if len(free) > (length is not None):
            one = "all but one" if length else "it, or give `lengths`"
            raise ValueError(
                f'`{self.path}`: `{of.name}` {of.shape} is free at {free}; fix {one}: `run = "... {free[0]}=48"`'
            )
        return [self.max_batch, *(size if isinstance(size, int) else length for size in sizes)]

    def values(self, of, shape, random):
        kind = TYPES.get(of.type)
        if kind is None:
            raise ValueError(f"`{self.path}`: `{of.name}` is a {of.type}; the types are {', '.join(TYPES)}")
        if numpy.issubdtype(kind, numpy.floating):
            return random.standard_normal(shape).astype(kind)
        if "mask" in of.name or kind is numpy.bool_:
            return numpy.ones(shape, kind)
        if "type" in of.name:
            return numpy.zeros(shape, kind)
        return random.integers(0, self.options.vocabulary, shape).astype(kind)

    def run(self, size, length):
        feeds = self.feeds[length]
        self.session.run(None, {name: values[:size] for name, values in feeds.items()})


class Worker:
    def __init__(self, options):
        self.options = options
        self.models = []

    def hello(self, role, device):
        self.options.device = device
        facts = {"numpy": numpy.__version__, "python": sys.version.split()[0]}
        name = f"ONNX Runtime {onnxruntime.__version__}"
        more = {"name": name, "gpu": gpu(device)} if self.options.provider == "cuda" else {}
        return {
            "name": f"{name}, {self.options.threads} thread(s) of {processor()}",
            "facts": facts,
            "can_load": True,
        } | more

    def prepare(self, models):
        for spec in models:
            model = Model(self.options, spec)
            fixed = [of for of in model.session.get_inputs() if isinstance(of.shape[0], int)]
            for length in model.feeds:
                sizes = [model.max_batch] if fixed else range(1, model.max_batch + 1)
                for size in sizes:
                    model.run(size, length)
            self.models.append(model)

    def run(self, model, size, length):
        with orrery_worker.OnThisThread(self.options.threads if self.options.provider == "cpu" else 0) as timed:
            self.models[model].run(size, length)
        return timed.times

    def load(self, model):
        self.models[model].load()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", choices=PROVIDERS, default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="threads of a batch on a processor")
    parser.add_argument("--vocabulary", type=int, default=1000, help="random whole numbers are below this")
    orrery_worker.serve(Worker(parser.parse_args()))


if __name__ == "__main__":
    main()
