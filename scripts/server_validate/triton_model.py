"""A model of Triton's Python backend: `work.py` behind it."""

import json

import numpy
import triton_python_backend_utils as triton
from server_validate_work import made


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.model = made(config["parameters"]["work"]["string_value"])

    def execute(self, requests):
        inputs = [triton.get_input_tensor_by_name(request, "input").as_numpy()[0] for request in requests]
        outputs = self.model.run(inputs)
        return [triton.InferenceResponse([triton.Tensor("output", output[numpy.newaxis])]) for output in outputs]
