"""LitServe with one worker and one endpoint for each batch size that is asked: `lit_server.py PORT TIMEOUT_S SIZE...`"""

import sys

import litserve
import numpy
from work import made


class Model(litserve.LitAPI):
    def setup(self, device):
        self.model = made("timed")

    def decode_request(self, request):
        return numpy.zeros(1, numpy.uint8)

    def predict(self, inputs):
        return self.model.run(inputs if isinstance(inputs, list) else [inputs])

    def batch(self, inputs):
        return inputs

    def unbatch(self, outputs):
        return outputs

    def encode_response(self, output):
        return {"size": int(output[0])}


if __name__ == "__main__":
    port, timeout_s, *sizes = sys.argv[1:]
    every = [
        Model(max_batch_size=int(size), batch_timeout=float(timeout_s), api_path=f"/size{size}") for size in sizes
    ]
    server = litserve.LitServer(every, accelerator="cpu", workers_per_device=1)
    # Connections without a request stay.
    options = {"generate_client_file": False, "timeout_keep_alive": 3600}
    server.run(port=int(port), host="127.0.0.1", log_level="error", **options)
