"""The two servers: how they are started, given a setting, sent a request, and what they say of their batches."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from machine import LOAD_CORE, MODEL_CORE, can_be_real_time

HERE = Path(__file__).parent
PORT = 18750
BYTES = {"timed": 1, "text": 48 * 80 * 3}
WAIT_S = 60.0


class DoesNotStart(Exception):
    """With what the server said."""


class Server:
    """A server as a process of its own, with its log. A server's processes get real-time priority where they can."""

    def start(self, command, env, log):
        if self.is_ready():
            raise DoesNotStart(f"another server listens on port {PORT}")
        command = ["taskset", "-c", self.cores, *command]
        command = ["chrt", "--fifo", "5", *command] if can_be_real_time() else command
        self.log = open(log, "wb")
        self.process = subprocess.Popen(
            [str(word) for word in command], env=env, stdout=self.log, stderr=self.log, start_new_session=True
        )
        end = time.monotonic() + WAIT_S
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise DoesNotStart(Path(log).read_text(errors="replace")[-2000:])
            time.sleep(0.2)

    def batches(self):
        """By size, of those since the start: (how many, their ns); nothing where the server does not say it."""
        return {}

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{self.ready_path}", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(20)
                # Workers of its own may outlive it a little.
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        self.log.close()


class Triton(Server):
    """The program that `nvidia-pytriton` ships, with a model repository as any Triton has."""

    ready_path = "/v2/health/ready"
    cores = str(LOAD_CORE)

    def __init__(self, venv, home):
        site = next(venv.glob("lib/python3*/site-packages"))
        ships, version = site / "pytriton/tritonserver", site.parent.name.removeprefix("python")
        backend = home / "backends/python"
        shutil.rmtree(home / "backends", ignore_errors=True)
        shutil.copytree(ships / "backends/python", backend)
        shutil.copy(ships / f"python_backend_stubs/{version}/triton_python_backend_stub", backend)
        for work in BYTES:
            folder = home / f"models/{work}/1"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / "triton_model.py", folder / "model.py")
            shutil.copy(HERE / "work.py", folder / "server_validate_work.py")
        env = os.environ | {
            "LD_LIBRARY_PATH": str(site / "nvidia_pytriton.libs"),
            "PYTHONPATH": str(site),
            "VIRTUAL_ENV": str(venv),
            "PATH": f"{venv}/bin:{os.environ['PATH']}",
        }
        options = {
            "model-repository": home / "models",
            "backend-directory": home / "backends",
            "model-control-mode": "explicit",
            "http-address": "127.0.0.1",
            "http-port": PORT,
            "allow-grpc": "false",
            "allow-metrics": "false",
        }
        self.start([ships / "bin/tritonserver", *(f"--{k}={v}" for k, v in options.items())], env, home / "triton.log")

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/v2/{path}", data, timeout=WAIT_S) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            raise DoesNotStart(error.read().decode(errors="replace")) from error
        except TimeoutError as error:
            raise DoesNotStart(f"Triton said nothing in {WAIT_S:.0f} s; is its stub's libpython there?") from error

    def set(self, work, max_batch, delay_ms=None, preferred=None, instances=1):
        """Loads a model with this configuration, in place of the one before."""
        config = {
            "name": work,
            "backend": "python",
            "max_batch_size": max_batch,
            "input": [{"name": "input", "data_type": "TYPE_UINT8", "dims": [BYTES[work]]}],
            "output": [{"name": "output", "data_type": "TYPE_INT32", "dims": [-1]}],
            "instance_group": [{"kind": "KIND_CPU", "count": instances}],
            "parameters": {"work": {"string_value": work}},
        }
        if delay_ms is not None:
            batcher = {"max_queue_delay_microseconds": round(1_000 * delay_ms)}
            config["dynamic_batching"] = batcher | ({"preferred_batch_size": [preferred]} if preferred else {})
        self.ask(f"repository/models/{work}/load", {"parameters": {"config": json.dumps(config)}})
        self.work = work

    def request(self):
        size = BYTES[self.work]
        about = {
            "inputs": [
                {"name": "input", "shape": [1, size], "datatype": "UINT8", "parameters": {"binary_data_size": size}}
            ]
        }
        head = json.dumps(about).encode()
        return b"".join(
            [
                b"POST /v2/models/%s/infer HTTP/1.1\r\nHost: localhost\r\n" % self.work.encode(),
                b"Inference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (len(head), len(head) + size),
                head,
                bytes(index * 37 % 256 for index in range(size)),
            ]
        )

    def batches(self):
        stats = self.ask(f"models/{self.work}/stats")["model_stats"][0]
        parts = ("compute_input", "compute_infer", "compute_output")
        return {
            one["batch_size"]: (one["compute_infer"]["count"], sum(one[part]["ns"] for part in parts))
            for one in stats.get("batch_stats", [])
        }


class LitServe(Server):
    """Its front takes 0.5 ms of a core for each request, which the load's core has not."""

    ready_path = "/health"
    cores = f"{LOAD_CORE},{MODEL_CORE}"

    def __init__(self, venv, home):
        self.venv, self.home, self.process = venv, home, None

    def set(self, work, sizes, delay_ms):
        """Starts it anew, with an endpoint for each of these largest batches."""
        if self.process is not None:
            self.stop()
        command = [self.venv / "bin/python", HERE / "lit_server.py", PORT, delay_ms / 1e3, *sizes]
        self.start(command, os.environ, self.home / "litserve.log")
        self.size = sizes[-1]

    def request(self):
        about = b"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        return b"POST /size%d HTTP/1.1\r\n%s" % (self.size, about)
