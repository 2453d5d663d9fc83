"""A way to a server that can be cut while its connections stay open."""

import selectors
import socket
import threading
from contextlib import suppress

import psutil


class Pair:
    """A client's connection and the one to the server that belongs to it."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.port = client.getpeername()[1]
        self.stalled = False
        self.waiting = {client: bytearray(), server: bytearray()}

    def other(self, end):
        return self.server if end is self.client else self.client

    def close(self):
        for end in (self.client, self.server):
            end.close()


class Proxy:
    """Forwards TCP to a unix socket, from a thread of its own; `with` starts and ends it."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = []
        self._cut = False
        self._pids = None
        self._lock = threading.RLock()
        self._selector = selectors.DefaultSelector()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proxy")

    def __enter__(self):
        self._selector.register(self.listener, selectors.EVENT_READ)
        self._thread.start()
        return self

    def __exit__(self, *exc_info):
        self._ending.set()
        self._thread.join()
        for pair in self.pairs:
            pair.close()
        self.listener.close()
        self._selector.close()

    def cut(self, pids=None):
        """Carry nothing any more, for these processes or for all; new connections open, and stall."""
        with self._lock:
            self._cut, self._pids = True, pids
            for pair in self.pairs:
                pair.stalled = self._concerns(pair.port)

    def forward(self):
        """Carry again, also what has waited."""
        with self._lock:
            self._cut = False
            for pair in self.pairs:
                pair.stalled = False

    def break_off(self):
        """End what was cut; new connections work."""
        with self._lock:
            self._cut = False
            for pair in [pair for pair in self.pairs if pair.stalled]:
                self._drop(pair)

    def forget(self):
        """Leave what was cut as it is, for ever; new connections work."""
        with self._lock:
            self._cut = False

    def _concerns(self, port):
        if self._pids is None:
            return True
        for pid in self._pids:
            with suppress(psutil.Error):
                for connection in psutil.Process(pid).net_connections("tcp"):
                    if connection.laddr.port == port:
                        return True
        return False

    def _run(self):
        while not self._ending.is_set():
            for key, _ in self._selector.select(0.02):
                with self._lock:
                    if key.fileobj is self.listener:
                        self._accept()
                    elif key.data in self.pairs:
                        self._carry(key.data, key.fileobj)
            with self._lock:
                for pair in list(self.pairs):
                    if not pair.stalled:
                        self._flush(pair)

    def _accept(self):
        client, _ = self.listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.path)
        except OSError:
            client.close()
            return
        pair = Pair(client, server)
        pair.stalled = self._cut and self._concerns(pair.port)
        self.pairs.append(pair)
        for end in (client, server):
            end.setblocking(False)
            self._selector.register(end, selectors.EVENT_READ, pair)

    def _carry(self, pair, end):
        """Read what an end sent; while stalled it is kept, and so is the end of a connection."""
        try:
            data = end.recv(1 << 16)
        except OSError:
            data = b""
        if data:
            pair.waiting[pair.other(end)] += data
            return
        self._selector.unregister(end)
        if not pair.stalled:
            self._drop(pair)

    def _flush(self, pair):
        for end, data in pair.waiting.items():
            while data:
                try:
                    sent = end.send(data)
                except BlockingIOError:
                    break
                except OSError:
                    self._drop(pair)
                    return
                del data[:sent]
        if any(end not in self._selector.get_map() for end in (pair.client, pair.server)):
            self._drop(pair)  # it ended while it was stalled

    def _drop(self, pair):
        if pair in self.pairs:
            self.pairs.remove(pair)
        for end in (pair.client, pair.server):
            if end.fileno() >= 0 and end in self._selector.get_map():
                self._selector.unregister(end)
        pair.close()
