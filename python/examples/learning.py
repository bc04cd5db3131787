"""It believes no profile: it learns how long a batch takes, and takes the size that served most in time."""

from collections import defaultdict, deque

import orrery


class Learning(orrery.Policy):
    name = "learning"
    sizes = (1, 2, 4, 8, 16)

    def on_start(self, ctx, out):
        self.free = [d.id for d in ctx.devices]
        self.queues = [deque() for _ in ctx.models]
        self.seen = defaultdict(lambda: deque(maxlen=20))
        self.sent = {}

    def on_arrival(self, now, request, out):
        self.queues[request.model].append(request)
        self.dispatch(now, out)

    def on_result(self, now, batch, out):
        model, size = self.sent.pop(batch.action)
        if batch.outcome == "done":
            self.seen[model, size].append(batch.end - batch.start)
        self.free.append(batch.device)
        self.dispatch(now, out)

    def longest(self, model, size):
        """The longest of the latest; nothing is known of a size that was never tried, so it is tried."""
        return max(self.seen[model, size], default=0)

    def dispatch(self, now, out):
        while self.free:
            waiting = [m for m, queue in enumerate(self.queues) if queue]
            if not waiting:
                return
            model = min(waiting, key=lambda m: self.queues[m][0].arrival)
            queue = self.queues[model]
            deadline = queue[0].deadline
            late = lambda size: deadline is not None and now + self.longest(model, size) > deadline
            if late(1):
                out.drop(queue.popleft(), "infeasible")
                continue
            size = max(s for s in self.sizes if s <= len(queue) and (s == 1 or not late(s)))
            action = out.exec(self.free.pop(0), model, [queue.popleft() for _ in range(size)])
            self.sent[action] = (model, size)
