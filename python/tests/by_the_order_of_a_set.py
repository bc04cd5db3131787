"""A policy that is not deterministic: it takes requests in the order of a set of words."""

import orrery


class BySet(orrery.Policy):
    def on_start(self, ctx, out):
        self.free, self.waiting = [d.id for d in ctx.devices], set()

    def on_arrival(self, now, request, out):
        self.waiting.add(f"request {request.id} of {request.model}")
        self.dispatch(out)

    def on_result(self, now, batch, out):
        self.free.append(batch.device)
        self.dispatch(out)

    def dispatch(self, out):
        while self.free and self.waiting:
            _, id, _, model = self.waiting.pop().split()
            out.exec(self.free.pop(), int(model), [int(id)])
