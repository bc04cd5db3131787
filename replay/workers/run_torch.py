"""Runs PyTorch models as a worker of orrery-replay (docs/worker.md), on a GPU or a processor.

    [worker]
    command = ["python3", "workers/run_torch.py", "--dtype", "fp16"]
    [[worker.models]]
    run = "transformers:bert"
    max_batch = 32
    lengths = [[32, 32.0], [64, 64.0], [128, 128.0]]

`run` is one of these, with options behind it:

    torchvision:resnet50                       side=224
    timm:vit_base_patch16_224                  what `timm.create_model` takes
    transformers:bert num_hidden_layers=4      a type of configuration, and its keys
    model.py:function                          gives a module, and a function of size and length that gives its inputs
    model.pt2                                  a file of torch.export; its free dimensions are the batch and the length

Weights are random: times do not depend on them. On a GPU a batch of each size and length is one CUDA graph, all in one
pool. Inputs come from pinned memory and outputs go there inside the batch, between two events. A load copies bytes.
"""

import orrery_worker  # first: what others print is no answer

# isort: split
import argparse
import ast
import importlib.util
import os
import shlex
import sys

import torch
from torch.export import passes
from torch.utils import _pytree as pytree

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def value(text):
    """An option: a number, `True`, `False` or a word."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def of_torchvision(name, side=224, **more):
    import torchvision

    model = torchvision.models.get_model(name, weights=None, **more)
    return model, lambda size, length: torch.randn(size, 3, length or side, length or side)


def of_timm(name, **more):
    import timm

    model = timm.create_model(name, pretrained=False, **more)
    channels, height, width = model.default_cfg["input_size"]
    return model, lambda size, length: torch.randn(size, channels, length or height, length or width)


def of_transformers(kind, **more):
    import transformers

    config = transformers.AutoConfig.for_model(kind, **more)
    config.use_cache = False
    model = transformers.AutoModel.from_config(config)

    def inputs(size, length):
        if model.main_input_name == "pixel_values":
            side = length or config.image_size
            return {"pixel_values": torch.randn(size, config.num_channels, side, side)}
        if length is None:
            raise ValueError(f"`transformers:{kind}` takes tokens; give `lengths`")
        ids = torch.randint(0, config.vocab_size, (size, length))
        decoder = {"decoder_input_ids": ids[:, :1]} if config.is_encoder_decoder else {}
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)} | decoder

    return model, inputs


def of_file(path, function, **more):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # for what it imports from beside it
    spec = importlib.util.spec_from_file_location("model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)(**more)


def of_export(path, device, dtype):
    exported = passes.move_to_device_pass(torch.export.load(path), device)
    values = {node.name: node.meta["val"] for node in exported.graph.nodes if node.op == "placeholder"}
    wanted = [values[name] for name in exported.graph_signature.user_inputs]

    def tensor(like, size, length):
        shape = [side if isinstance(side, int) else (length if axis else size) for axis, side in enumerate(like.shape)]
        if None in shape or shape[:1] != [size]:
            raise ValueError(f"`{path}` takes {tuple(like.shape)}, not a batch of {size} with length {length}")
        if like.is_floating_point():
            if like.dtype != dtype:
                raise ValueError(f"`{path}` takes {like.dtype}; say so with `--dtype`")
            return torch.randn(shape)
        return torch.ones(shape, dtype=like.dtype)

    def inputs(size, length):
        return pytree.tree_unflatten([tensor(like, size, length) for like in wanted], exported.call_spec.in_spec)

    return exported.module(), inputs


def arguments(made):
    """Of a module: a tensor, a list of them, a dictionary, or both as a pair."""
    if isinstance(made, (tuple, dict)):
        return made if isinstance(made, tuple) else ([], made)
    return made if isinstance(made, list) else [made], {}


class Bucket:
    """A batch of one size and length: its inputs and outputs on both sides, and its graph."""

    def __init__(self, worker, model, made, pool):
        self.model, self.graph = model, None
        flat, self.spec = pytree.tree_flatten(arguments(made))
        cast = (of.to(worker.dtype) if of.is_floating_point() else of for of in flat)
        self.host = [worker.pinned(tensor) for tensor in cast]
        self.static = [tensor.to(worker.device, copy=True) for tensor in self.host]
        for _ in range(3):
            self.forward()
        if worker.graphs:
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, pool=pool, stream=worker.stream):
                self.forward()
        self.taken = [worker.pinned(torch.empty(tensor.shape, dtype=tensor.dtype)) for tensor in self.out]

    def forward(self):
        args, kwargs = pytree.tree_unflatten(self.static, self.spec)
        out = pytree.tree_leaves(self.model(*args, **kwargs))
        self.out = [tensor for tensor in out if isinstance(tensor, torch.Tensor)]

    def run(self):
        for static, host in zip(self.static, self.host, strict=True):
            static.copy_(host, non_blocking=True)
        self.graph.replay() if self.graph else self.forward()
        for taken, out in zip(self.taken, self.out, strict=True):
            taken.copy_(out, non_blocking=True)


class Worker:
    def __init__(self, options):
        self.options = options
        self.dtype = DTYPES[options.dtype]
        self.models, self.copies = [], []
        torch.set_num_threads(options.threads)
        torch.set_float32_matmul_precision("high" if options.tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = options.tf32

    def hello(self, role, device):
        self.role = role
        on_gpu = self.options.on == "cuda"
        if on_gpu and not torch.cuda.is_available():
            raise RuntimeError("no GPU that this PyTorch can use; add `--on cpu` to `command` for a processor")
        self.graphs = on_gpu and self.options.graphs == "required"
        self.device = torch.device("cuda", device) if on_gpu else torch.device("cpu")
        more = {}
        facts = {"torch": torch.__version__, "python": sys.version.split()[0]}
        if on_gpu:
            torch.cuda.set_device(self.device)
            self.stream = torch.cuda.Stream()
            torch.cuda.set_stream(self.stream)
            self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            more = {"gpu": torch.cuda.get_device_name(self.device)}
            facts |= {"cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
            facts["graphs"] = "one for each size and length" if self.graphs else "off"
        kind = (", tf32" if self.options.tf32 else "") + ("" if on_gpu else f", {self.options.threads} thread(s)")
        name = f"PyTorch {torch.__version__}, {self.options.dtype}{kind}"
        return {"name": name, "facts": facts, "can_load": True} | more

    def pinned(self, tensor):
        return tensor.pin_memory() if self.device.type == "cuda" else tensor

    def model(self, text):
        """What `run` names, on the device, and what makes its inputs."""
        name, *options = shlex.split(text)
        options = {key: value(of) for key, _, of in (option.partition("=") for option in options)}
        torch.manual_seed(1)
        if name.endswith(".pt2"):
            return of_export(name, self.device, self.dtype)
        kind, _, rest = name.rpartition(":")
        by_name = {"torchvision": of_torchvision, "timm": of_timm, "transformers": of_transformers}
        if kind.endswith(".py"):
            model, inputs = of_file(kind, rest, **options)
        elif kind in by_name:
            model, inputs = by_name[kind](rest, **options)
        else:
            raise ValueError(f"`{name}`: it is {', '.join(k + ':NAME' for k in by_name)}, FILE.py:FUNCTION or FILE.pt2")

        return model.eval().to(self.device, self.dtype), inputs

    @torch.inference_mode()
    def prepare(self, models):
        pool = torch.cuda.graph_pool_handle() if self.graphs else None
        for spec in models:
            model, inputs = self.model(spec["run"])
            if self.role == "loads":
                parts = [*model.parameters(), *model.buffers()]
                weights = torch.zeros(sum(p.numel() * p.element_size() for p in parts), dtype=torch.uint8)
                self.copies.append((self.pinned(weights), torch.empty_like(weights, device=self.device)))
                continue
            batches = self.options.sizes or range(1, spec["max_batch"] + 1)
            sizes = [(size, length) for length in spec["lengths"] or [None] for size in batches]
            # The largest first: the others find their memory in the pool.
            self.models.append({at: Bucket(self, model, inputs(*at), pool) for at in reversed(sizes)})
            print(f"{spec['run']}: {len(sizes)} sizes and lengths are ready", file=sys.stderr)

    def timed(self, work):
        if self.device.type == "cpu":
            with orrery_worker.OnThisThread(self.options.threads) as timed:
                work()
            return timed.times
        begin, end = self.events
        begin.record()
        work()
        end.record()
        end.synchronize()
        return {"device_ns": int(begin.elapsed_time(end) * 1e6)}

    @torch.inference_mode()
    def run(self, model, size, length):
        return self.timed(self.models[model][size, length].run)

    @torch.inference_mode()
    def load(self, model):
        host, weights = self.copies[model]
        return self.timed(lambda: weights.copy_(host, non_blocking=True))


def parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", choices=["cpu", "cuda"], default="cuda", help="where: worker:N is the N-th GPU")
    parser.add_argument("--dtype", choices=DTYPES, default="fp32")
    parser.add_argument("--tf32", action="store_true", help="products of fp32 matrices in TF32")
    parser.add_argument(
        "--graphs", choices=["required", "off"], default="required", help="a capture that fails is an error"
    )
    parser.add_argument("--sizes", type=int, nargs="+", help="only batches of these sizes, for a profile; rising")
    parser.add_argument("--threads", type=int, default=1, help="threads of a batch on a processor")
    return parser


def main():
    options = parser().parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    orrery_worker.serve(Worker(options))


if __name__ == "__main__":
    main()
