"""First in, first out: the oldest request's model gets a batch of its oldest requests. As `fifo` in Rust."""

from collections import deque

import orrery


class Fifo(orrery.Policy):
    name = "fifo"
    max_batch = 16

    def on_start(self, ctx, out):
        self.free = [d.id for d in ctx.devices]
        self.queues = [deque() for _ in ctx.models]

    def on_arrival(self, now, request, out):
        self.queues[request.model].append(request.id)
        self.dispatch(out)

    def on_result(self, now, batch, out):
        self.free.append(batch.device)
        self.dispatch(out)

    def dispatch(self, out):
        while self.free:
            oldest = [(queue[0], model) for model, queue in enumerate(self.queues) if queue]
            if not oldest:
                return
            model = min(oldest)[1]
            queue = self.queues[model]
            batch = [queue.popleft() for _ in range(min(len(queue), self.max_batch))]
            out.exec(self.free.pop(), model, batch)
