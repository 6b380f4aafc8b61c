"""A line between machines and a server that breaks, for faults.py: TCP connections on to the socket of a server."""

import contextlib
import random
import socket
import struct
import threading

# Of PostgreSQL's protocol: messages of a client that carry rows of a COPY.
COPY_DATA = ord("d")


class Line:
    """Hands on what connections say; many of them break, each after what a seed says.

    Of each two connections one breaks amid the rows of a COPY, when half of a piece has been handed on, if there is one. Of the
    others, half break after some bytes. What breaks is reset in both directions. Every piece is late by up to `delay` seconds.
    """

    def __init__(
        self, server: str, host: str = "127.0.0.1", *, breaks: bool = True, delay: float = 0.05, seed: int = 1
    ) -> None:
        self.server, self.breaks, self.delay, self.random = server, breaks, delay, random.Random(seed)
        self.connections = self.broken = self.broken_in_copy = 0
        self.lock = threading.Lock()
        self.listening = socket.create_server((host, 0), backlog=128)
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def end(self) -> None:
        self.listening.close()

    def _accept(self) -> None:
        while True:
            try:
                machine, _ = self.listening.accept()
            except OSError:
                return
            with self.lock:
                number = self.connections
                self.connections += 1
                limit = self.random.randrange(500, 200_000) if self.breaks and number % 4 == 1 else None
            threading.Thread(target=self._connect, args=(machine, number, limit), daemon=True).start()

    def _connect(self, machine: socket.socket, number: int, limit: int | None) -> None:
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.server)
        except OSError:
            machine.close()
            return
        threading.Thread(target=self._answers, args=(server, machine), daemon=True).start()
        messages = Messages()
        sent = 0
        try:
            while piece := machine.recv(65536):
                self._wait()
                is_copy = messages.has_copied(piece) and self.breaks and number % 2 == 0
                if is_copy or (limit is not None and sent + len(piece) > limit):
                    server.sendall(piece[: len(piece) // 2])
                    with self.lock:
                        self.broken += 1
                        self.broken_in_copy += is_copy
                    break
                server.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        # What is closed so is reset, and not said to have ended.
        machine.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for end in (server, machine):
            # Another thread reads from it, and holds it open.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _answers(self, server: socket.socket, machine: socket.socket) -> None:
        try:
            while piece := server.recv(65536):
                self._wait()
                machine.sendall(piece)
            machine.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _wait(self) -> None:
        with self.lock:
            delay = self.random.uniform(0, self.delay)
        if delay > 0:
            threading.Event().wait(delay)


class Messages:
    """The messages of a client, of which the first one has no type (PostgreSQL 15, 55.2)."""

    def __init__(self) -> None:
        self.begun, self.kind, self.left, self.head = False, 0, 0, b""

    def has_copied(self, piece: bytes) -> bool:
        """Whether a piece begins, or goes on with, rows of a COPY."""
        found = self.left > 0 and self.kind == COPY_DATA
        while piece:
            if self.left:
                taken = min(self.left, len(piece))
                self.left, piece = self.left - taken, piece[taken:]
                continue
            need = (5 if self.begun else 4) - len(self.head)
            self.head, piece = self.head + piece[:need], piece[need:]
            if len(self.head) < (5 if self.begun else 4):
                break
            # The length has itself in it.
            self.kind, self.left = self.head[0] if self.begun else 0, int.from_bytes(self.head[-4:], "big") - 4
            self.begun, self.head = True, b""
            found = found or self.kind == COPY_DATA
        return found
