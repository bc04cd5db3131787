"""Earliest deadline first: the largest batch whose first deadline it meets; what cannot be met is dropped."""

import heapq

import orrery


class EarliestDeadline(orrery.Policy):
    name = "earliest-deadline"

    def on_start(self, ctx, out):
        self.free = [d.id for d in ctx.devices]
        self.queues = [[] for _ in ctx.models]
        self.latency = []
        for model in range(len(ctx.models)):
            profile = ctx.profile(model)
            self.latency.append([(size, profile.latency_ns(size)) for size in profile.sizes])

    def on_arrival(self, now, request, out):
        deadline = request.deadline if request.deadline is not None else 2**63
        heapq.heappush(self.queues[request.model], (deadline, request.id))
        self.dispatch(now, out)

    def on_result(self, now, batch, out):
        self.free.append(batch.device)
        self.dispatch(now, out)

    def dispatch(self, now, out):
        while self.free:
            waiting = [m for m, queue in enumerate(self.queues) if queue]
            if not waiting:
                return
            model = min(waiting, key=lambda m: self.queues[m][0])
            queue = self.queues[model]
            deadline, first = queue[0]
            fits = [
                size
                for size, latency in self.latency[model]
                if size <= len(queue) and now + latency <= deadline
            ]
            if not fits:
                heapq.heappop(queue)
                out.why(first, "even alone it would be late")
                out.drop(first, "infeasible")
                continue
            batch = [heapq.heappop(queue)[1] for _ in range(max(fits))]
            out.exec(self.free.pop(0), model, batch)
