#!/usr/bin/env python3
"""Makes orrery_sm70.ptx from orrery.cu, or checks that it is what orrery.cu gives.

    regen.py             write orrery_sm70.ptx
    regen.py --check     exit 0: the same text; 1: another; 3: no compiler here
    regen.py --assemble  ptxas for every target it knows: a line each; 1: refused or spilled; 3: no ptxas

The compiler is NVRTC of CUDA 12.9: `pip install nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-nvcc-cu12==12.9.86`.
It is looked for in Python's own packages and in the folders that ORRERY_CUDA_PACKAGES names (a folder
given to `pip install --target`). No GPU is needed.
"""

import ctypes
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "orrery.cu"
PTX = HERE / "orrery_sm70.ptx"
COMPILER = "12.9"
# 6.3 is read by every driver from 470 on and by every later ptxas; nothing in the file needs more.
ISA = "6.3"
# 12.9 is the last to assemble for sm_70.
TARGETS = ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
ABSENT = 3


def find(pattern):
    """The first file under nvidia/ that matches, or None."""
    folders = os.environ.get("ORRERY_CUDA_PACKAGES", "").split(os.pathsep) + sys.path
    for folder in filter(None, folders):
        for path in sorted(pathlib.Path(folder).glob("nvidia/" + pattern)):
            return path
    return None


def absent(what, package):
    print(f"no {what}: pip install {package}, or ORRERY_CUDA_PACKAGES=FOLDER", file=sys.stderr)
    sys.exit(ABSENT)


def compile_source(source):
    library = find("cuda_nvrtc/lib/libnvrtc.so.12") or absent("NVRTC 12", "nvidia-cuda-nvrtc-cu12==12.9.86")
    nvrtc = ctypes.CDLL(str(library))
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if f"{major.value}.{minor.value}" != COMPILER:
        absent(f"NVRTC {COMPILER} (there is {major.value}.{minor.value})", "nvidia-cuda-nvrtc-cu12==12.9.86")
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"orrery.cu", 0, None, None)
    options = [b"--gpu-architecture=compute_70", b"--std=c++17"]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if failed:
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return text.value.decode()


def make():
    source = SOURCE.read_bytes()
    text = compile_source(source)
    text = re.sub(r"^//.*\n", "", text, flags=re.MULTILINE).lstrip("\n")
    text, lowered = re.subn(r"^\.version .*$", f".version {ISA}", text, flags=re.MULTILINE)
    assert lowered == 1, "one .version line expected"
    head = [
        "// Made by regen.py; change orrery.cu instead.",
        f"// orrery.cu sha256 {hashlib.sha256(source).hexdigest()}",
        f"// NVRTC {COMPILER}, compute_70; the header lowered to ISA {ISA}",
    ]
    return "\n".join(head) + "\n\n" + text.rstrip("\n") + "\n"


def assemble():
    ptxas = find("cuda_nvcc/bin/ptxas") or absent("ptxas", "nvidia-cuda-nvcc-cu12==12.9.86")
    bad = False
    with tempfile.TemporaryDirectory() as folder:
        for target in TARGETS:
            command = [str(ptxas), "-v", f"-arch={target}", str(PTX), "-o", os.path.join(folder, "out.cubin")]
            done = subprocess.run(command, capture_output=True, check=False, text=True)
            said = done.stdout + done.stderr
            spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", said))
            names = re.findall(r"Compiling entry function '(\w+)'", said)
            registers = re.findall(r"Used (\d+) registers", said)
            used = " ".join(f"{n.removeprefix('orr_')} {r}" for n, r in sorted(zip(names, registers)))
            print(f"{target}: rc {done.returncode}, {spilled} bytes spilled; registers: {used}")
            if done.returncode or spilled or not names or len(names) != len(registers):
                print(said, file=sys.stderr)
                bad = True
    return 1 if bad else 0


def main():
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        if make() == PTX.read_text():
            return 0
        print("orrery_sm70.ptx is not what orrery.cu gives: run regen.py", file=sys.stderr)
        return 1
    if arguments == ["--assemble"]:
        return assemble()
    if arguments:
        sys.exit(__doc__)
    PTX.write_text(make())
    return 0


if __name__ == "__main__":
    sys.exit(main())
