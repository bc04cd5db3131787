"""Sends HTTP requests at given times (open loop) or from clients that wait (closed loop), and keeps both clocks.

One thread, one epoll, connections that are kept. Nothing here knows a server or orrery.
"""

import errno
import gc
import select
import socket
import time


class Refused(Exception):
    """The server said something other than 200."""


class Connection:
    """A kept connection with at most one request on its way."""

    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.buffer, self.index, self.body = b"", None, b""

    def send(self, index, request):
        self.index, sent = index, 0
        while sent < len(request):
            try:
                sent += self.socket.send(request[sent:])
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    raise
                select.select([], [self.socket], [], 1.0)

    def has_answer(self):
        """Reads; whether the answer is complete."""
        more = self.socket.recv(65536)
        if not more:
            raise Refused("the server closed a connection")
        self.buffer += more
        head, _, body = self.buffer.partition(b"\r\n\r\n")
        length = head.lower().split(b"content-length:")
        if len(length) < 2 or len(body) < int(length[1].split(b"\r\n")[0]):
            return False
        if b" 200 " not in head[:15]:
            raise Refused(self.buffer.decode(errors="replace"))
        self.buffer, self.body = b"", body
        return True


class Load:
    def __init__(self, address, request):
        self.address, self.request = address, request
        self.epoll, self.all, self.free = select.epoll(), {}, []

    def connection(self):
        if self.free:
            return self.free.pop()
        one = Connection(self.address)
        self.epoll.register(one.socket, select.EPOLLIN)
        self.all[one.socket.fileno()] = one
        return one

    def connect(self, count):
        every = [self.connection() for _ in range(count)]
        self.free += every

    def close(self):
        for one in self.all.values():
            one.socket.close()
        self.epoll.close()

    def answers(self, timeout_s):
        """Those that are there now, or come before the timeout. (An epoll counts in ms, a select in us.)"""
        select.select([self.epoll.fileno()], [], [], max(0.0, timeout_s))
        ready = self.epoll.poll(0)
        now = time.monotonic()
        return [(self.all[number], now) for number, _ in ready if self.all[number].has_answer()]

    def open_loop(self, due_s, give_up_s=60.0):
        """A request at each of these times. Returns (due, sent, answered, body) of each, in s from the start; answered
        is None where it took longer than `give_up_s` after the last one was due."""
        rows, following, left = [None] * len(due_s), 0, len(due_s)
        sent = [0.0] * len(due_s)
        gc.collect()
        gc.disable()
        start = time.monotonic() + 0.05
        while left:
            now = time.monotonic() - start
            if following < len(due_s) and due_s[following] <= now:
                sent[following] = now
                self.connection().send(following, self.request)
                following += 1
                continue
            if now > due_s[-1] + give_up_s:
                break
            for one, at in self.answers(min(due_s[following] - now, 1.0) if following < len(due_s) else 1.0):
                rows[one.index] = (due_s[one.index], sent[one.index], at - start, one.body)
                self.free.append(one)
                left -= 1
        gc.enable()
        return [row or (due_s[i], sent[i], None, b"") for i, row in enumerate(rows)]

    def closed_loop(self, clients, seconds):
        """Clients without think time, all at once at the start. The same rows."""
        rows, sent = [], [0.0] * clients
        start = time.monotonic()
        for client, one in enumerate([self.connection() for _ in range(clients)]):
            sent[client] = time.monotonic() - start
            one.send(client, self.request)
        left = clients
        while left:
            for one, at in self.answers(1.0):
                rows.append((sent[one.index], sent[one.index], at - start, one.body))
                if at - start < seconds:
                    sent[one.index] = time.monotonic() - start
                    one.send(one.index, self.request)
                else:
                    self.free.append(one)
                    left -= 1
        return rows

    def at_once(self, size):
        """So many requests at once. How long the last answer takes, in s."""
        every = [self.connection() for _ in range(size)]
        start = time.monotonic()
        for index, one in enumerate(every):
            one.send(index, self.request)
        left, last = size, start
        while left:
            now = self.answers(10.0)
            if not now and time.monotonic() - last > 30.0:
                raise Refused("no answer in 30 s")
            left, last = left - len(now), now[-1][1] if now else last
        self.free += every
        return last - start
