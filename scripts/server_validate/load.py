"""Sends HTTP requests at given times (open loop) or from clients that wait (closed loop), and keeps both clocks.

One thread, one epoll, sockets that are kept: a request costs some 50 us here, and nothing runs beside it.
"""

import errno
import gc
import select
import socket
import time


class Answer(Exception):
    """The server said something other than 200."""


class Connection:
    """A kept socket with at most one request on its way."""

    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.buffer, self.index = b"", None

    def send(self, index, request):
        self.index = index
        sent = 0
        while sent < len(request):
            try:
                sent += self.socket.send(request[sent:])
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    raise
                select.select([], [self.socket], [], 1.0)

    def has_answer(self):
        """Reads; whether the answer is complete."""
        self.buffer += self.socket.recv(65536)
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return False
        length = int(self.buffer[:head].lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(self.buffer) < head + 4 + length:
            return False
        if b" 200 " not in self.buffer[:15]:
            raise Answer(self.buffer.decode(errors="replace"))
        self.buffer = b""
        return True


class Load:
    def __init__(self, address, request):
        self.address, self.request = address, request
        self.epoll, self.free, self.all = select.epoll(), [], {}

    def connection(self):
        if self.free:
            return self.free.pop()
        one = Connection(self.address)
        self.epoll.register(one.socket, select.EPOLLIN)
        self.all[one.socket.fileno()] = one
        return one

    def close(self):
        for one in self.all.values():
            one.socket.close()

    def answers(self, timeout_s):
        """Those that have one now, or until the timeout. (An epoll counts in ms, a select in us.)"""
        select.select([self.epoll.fileno()], [], [], max(0.0, timeout_s))
        ready = self.epoll.poll(0)
        now = time.monotonic()
        return [(self.all[number], now) for number, _ in ready if self.all[number].has_answer()]

    def open_loop(self, due_s, connections=64):
        """Requests at these times. Returns (due, sent, answered) of each, in s from the start."""
        self.free = [self.connection() for _ in range(connections)]
        sent, answered = [0.0] * len(due_s), [0.0] * len(due_s)
        following, left = 0, len(due_s)
        gc.disable()
        start = time.monotonic() + 0.05
        while left:
            now = time.monotonic() - start
            if following < len(due_s) and due_s[following] <= now:
                self.connection().send(following, self.request)
                sent[following] = now
                following += 1
                continue
            wait = min(due_s[following] - now, 1.0) if following < len(due_s) else 1.0
            for one, at in self.answers(wait):
                answered[one.index] = at - start
                self.free.append(one)
                left -= 1
        gc.enable()
        return list(zip(due_s, sent, answered))

    def closed_loop(self, clients, seconds):
        """Clients without think time. Returns (sent, sent, answered) of each request."""
        rows, sent = [], {}
        start = time.monotonic()
        for client in range(clients):
            sent[client] = time.monotonic() - start
            self.connection().send(client, self.request)
        while sent:
            for one, at in self.answers(1.0):
                began = sent.pop(one.index)
                rows.append((began, began, at - start))
                if at - start < seconds:
                    sent[one.index] = time.monotonic() - start
                    one.send(one.index, self.request)
        return rows

    def at_once(self, size, rounds):
        """So many requests at a time, the next ones after the last answer. Returns the times of rounds, in s."""
        every = [self.connection() for _ in range(size)]
        times = []
        for _ in range(rounds):
            start = time.monotonic()
            for index, one in enumerate(every):
                one.send(index, self.request)
            left = size
            while left:
                now = self.answers(1.0)
                left -= len(now)
            times.append(now[-1][1] - start)
        self.free += every
        return times
