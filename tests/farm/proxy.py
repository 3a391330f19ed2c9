"""A TCP proxy before a PostgreSQL that makes the network bad on command: cuts, stalls, delays, losses, slow readers. Without TLS it
reads the protocol, and cuts at a chosen point of a chosen query. It runs in a thread of the test; every method may be called from it.

    proxy = Proxy(server.port)
    proxy.cut_at("after", "commit", down_s=5)       # the next COMMIT is done, its reply is lost, and no connection gets through for 5 s
    ... server.url(port=proxy.port) ...
"""
import asyncio
import collections
import contextlib
import math
import random
import re
import socket
import struct
import threading

PACKET_BYTES, RETRANSMISSION_S, CHUNK_BYTES = 1448, 0.2, 1 << 16
SSL_REQUEST, GSS_REQUEST, CANCEL = 80877103, 80877104, 80877102
POINTS = ("before", "during", "after", "reply")


class Rule:
    """Cut at the n-th query from now that contains the text (a regular expression), then at each n-th, so many times."""

    def __init__(self, point, text, every, times, down_s):
        assert point in POINTS, point
        self.point, self.text, self.every, self.times, self.down_s = point, re.compile(text, re.I), every, times, down_s
        self.seen = 0

    def fires(self, query):
        if self.times == 0 or not self.text.search(query):
            return False
        self.seen += 1
        if self.seen % self.every:
            return False
        self.times -= 1
        return True


class Messages:
    """Cuts a stream of bytes into the protocol's messages. The first of a client has no type."""

    def __init__(self, typed):
        self.typed, self.bytes = typed, b""

    def add(self, data):
        self.bytes += data
        out, at = [], 0
        while len(self.bytes) - at >= 4 + self.typed:
            length, = struct.unpack_from(">I", self.bytes, at + self.typed)
            if len(self.bytes) - at < length + self.typed:
                break
            out.append(self.bytes[at:at + length + self.typed])
            at += length + self.typed
            if not self.typed and not self.is_request(out[-1]):
                self.typed = True
        self.bytes = self.bytes[at:]
        return out

    @staticmethod
    def is_request(message):
        return struct.unpack_from(">I", message, 4)[0] in (SSL_REQUEST, GSS_REQUEST)


def reset(writer):
    """Ends a connection so that the other side gets an error, and nothing that is still under way."""
    with contextlib.suppress(OSError, AttributeError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def texts(message, n):
    """The first n texts of a message."""
    return [part.decode(errors="replace") for part in message[5:].split(b"\0", n)[:n]]


class Link:
    """One connection through the proxy. For each direction one task reads and judges, one sends when it is due."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.opaque = False           # TLS, or a request to cancel: nothing can be read
        self.asked = False            # for TLS: the server answers with one byte
        self.statements, self.portals = {}, {}
        self.due = 1                  # times that the server will say that it is ready: once after the login, once a query
        self.rule, self.rule_due = None, 0  # that cuts once so many are left
        self.text, self.asked_at = "", collections.deque([("", 0.0)])  # of queries whose answers are not there yet
        self.reply = bytearray()
        self.judged = [[], []]        # messages that may pass, of the bytes that were read last
        self.queues = [asyncio.Queue(), asyncio.Queue()]
        self.is_cut = False

    async def run(self):
        tasks = [asyncio.ensure_future(task) for task in (
            self.read(self.client[0], 0, self.of_client), self.send(self.server[1], 0),
            self.read(self.server[0], 1, self.of_server), self.send(self.client[1], 1))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.client[1].close()
            self.server[1].close()

    def cut(self, reset_server=True):
        """Resets both ends; the server's is only closed if it must still get the bytes sent."""
        self.is_cut = True
        reset(self.client[1])
        reset(self.server[1]) if reset_server else self.server[1].close()

    def put(self, direction, data, rule=None):
        """Due in order, each after the delay; a lost one is sent again after the time of a retransmission."""
        p, now = self.proxy, self.proxy.loop.time()
        due = now + p.delay_s
        packets = math.ceil(len(data or b"") / PACKET_BYTES)
        if packets and p.loss and p.random.random() > (1 - p.loss) ** packets:
            due += RETRANSMISSION_S + 2 * p.delay_s
            p.n_lost += 1
        self.queues[direction].put_nowait((due, data, rule))

    def flush(self, direction, rule=None):
        if self.judged[direction]:
            self.put(direction, b"".join(self.judged[direction]), rule)
            self.judged[direction].clear()

    async def read(self, reader, direction, judge):
        messages = Messages(typed=direction == 1)
        while data := await reader.read(CHUNK_BYTES):
            if self.proxy.swallows:
                self.is_cut = True
            if self.is_cut:
                continue
            self.proxy.n_bytes[direction] += len(data)
            if direction == 1 and self.asked:  # for TLS: one byte
                self.asked, self.opaque = False, data[:1] != b"N"
                self.put(direction, data)
            elif self.opaque:
                self.put(direction, data)
            else:
                for message in messages.add(data):
                    if not self.is_cut:
                        await judge(message)
                self.flush(direction)
        self.put(direction, None)

    async def of_client(self, message):
        kind = message[:1]
        if kind == b"\0":  # one that has no type: its length begins with 0
            code, = struct.unpack_from(">I", message, 4)
            self.asked = code in (SSL_REQUEST, GSS_REQUEST)
            self.opaque = code == CANCEL
        elif kind == b"P":
            name, text = texts(message, 2)
            self.statements[name] = text
        elif kind == b"B":
            portal, statement = texts(message, 2)
            self.portals[portal] = self.statements.get(statement, "")
        rule = None
        if kind in (b"Q", b"E"):
            text, = texts(message, 1)
            self.text = text if kind == b"Q" else self.portals.get(text, "")
            rule = self.proxy.rule_of(self.text)
        if rule and rule.point == "before":
            return self.proxy.fire(self, rule)
        self.rule = self.rule or rule
        if kind in (b"Q", b"S"):
            self.due += 1
            self.asked_at.append((self.text, self.proxy.loop.time()))
            if self.rule and not self.rule_due:
                self.rule_due = self.due
                self.judged[0].append(message)
                return self.flush(0, self.rule)
        self.judged[0].append(message)

    async def of_server(self, message):
        kind = message[:1]
        is_own = self.rule_due == 1
        if kind == b"Z":
            self.due -= 1
            text, asked_at = self.asked_at.popleft() if self.asked_at else ("", 0.0)
            if self.proxy.timed and re.search(self.proxy.timed, text):
                self.proxy.times_s.append(self.proxy.loop.time() - asked_at)
            self.rule_due -= self.rule_due > 0
        if is_own and self.rule.point == "reply":
            self.reply += message
            if kind == b"Z":
                self.judged[1].append(self.reply[:len(self.reply) // 2])
                self.flush(1, self.rule)
        elif is_own:
            if kind == b"Z":
                self.proxy.fire(self, self.rule)
        else:
            self.judged[1].append(message)
            if kind == b"D" and self.proxy.rows_per_s:
                self.flush(1)
                await asyncio.sleep(1 / self.proxy.rows_per_s)

    async def send(self, writer, direction):
        while True:
            due, data, rule = await self.queues[direction].get()
            wait_s = due - self.proxy.loop.time()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            await self.proxy.flows.wait()
            if data is None:
                writer.close()
                if direction == 1 or self.is_cut:
                    raise ConnectionError("the server has closed")
                continue
            writer.write(data)
            await writer.drain()
            if rule and (direction == 1 or rule.point == "during"):
                self.proxy.fire(self, rule, reset_server=direction == 1)


class Proxy:
    """delay_s: in each direction; loss: share of the packets; rows_per_s: as slow as this readers are. All may be set at any time.
    times_s: how long the queries took that match `timed`, a regular expression."""

    def __init__(self, port, host="127.0.0.1"):
        self.target, self.delay_s, self.loss, self.rows_per_s = (host, port), 0.0, 0.0, None
        self.n_connections = self.n_cuts = self.n_fired = self.n_lost = 0
        self.n_bytes = [0, 0]  # to the server, from the server
        self.swallows, self.rules, self.links, self.random = False, [], set(), random.Random(1)
        self.later = collections.deque()  # rules, each for when the one before it has fired
        self.down_until, self.port, self.timed, self.times_s = -math.inf, None, None, []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.call(self.listen)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, function, *arguments):
        async def called():
            done = function(*arguments)
            return await done if asyncio.iscoroutine(done) else done
        return asyncio.run_coroutine_threadsafe(called(), self.loop).result(60)

    async def listen(self):
        self.flows = asyncio.Event()
        self.flows.set()
        self.listener = await asyncio.start_server(self.accept, "127.0.0.1", 0, backlog=512)
        self.port = self.listener.sockets[0].getsockname()[1]

    async def accept(self, reader, writer):
        link = None
        self.n_connections += 1
        try:
            if self.loop.time() < self.down_until:
                raise ConnectionError("the network is down")
            await self.flows.wait()
            socket_ = socket.socket()
            socket_.setblocking(False)
            if self.rows_per_s:  # so that the server notices the slow reader
                socket_.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            try:
                await self.loop.sock_connect(socket_, self.target)
            except OSError:
                socket_.close()
                raise
            server = await asyncio.open_connection(sock=socket_, limit=4096 if self.rows_per_s else CHUNK_BYTES)
            for end in (writer, server[1]):
                end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = Link(self, (reader, writer), server)
            self.links.add(link)
            await link.run()
        except OSError:
            reset(writer)
        finally:
            self.links.discard(link)

    # --- within the loop ---

    def rule_of(self, query):
        return next((rule for rule in self.rules if rule.fires(query)), None)

    def fire(self, link, rule, reset_server=True):
        self.n_fired += 1
        if self.later:
            self.rules.append(self.later.popleft())
        if rule.down_s:
            self.cut_now(rule.down_s)
        self.n_cuts += not link.is_cut
        link.cut(reset_server)

    def cut_now(self, down_s):
        self.down_until = self.loop.time() + down_s
        for link in self.links:
            self.n_cuts += not link.is_cut
            link.cut()

    def stop_stall(self):
        for link in self.links:
            if link.is_cut:  # bytes of it are gone
                link.cut()
        self.swallows = False
        self.flows.set()

    def start_stall(self, for_s, lost):
        self.swallows = lost
        self.flows.clear()
        if for_s is not None:
            self.loop.call_later(for_s, self.stop_stall)

    async def end(self):
        self.listener.close()
        self.flows.set()
        self.cut_now(math.inf)
        for _ in range(1000):
            if not self.links:
                break
            await asyncio.sleep(0.005)

    # --- for tests ---

    def cut(self, down_s=0.0):
        """Resets all connections; new ones are reset, too, for so long (or until up())."""
        self.call(self.cut_now, down_s)

    def up(self):
        self.down_until = -math.inf

    def cut_at(self, point, text, every=1, times=1, down_s=0.0):
        """before: the query does not reach the server; during: it is sent, and the connection cut; after: it is done, and its reply lost;
        reply: half of the reply comes through."""
        rule = Rule(point, text, every, times, down_s)
        self.call(self.rules.append, rule)
        return rule

    def cut_in_turn(self, *cuts):
        """At each of these (point, text, seconds down), one after the other, however late the test is."""
        self.later.extend(Rule(point, text, 1, 1, down_s) for point, text, down_s in cuts)
        self.call(self.rules.append, self.later.popleft())

    def clear(self):
        """No rules, no delay, no loss, no stall; the connections stay."""
        self.delay_s, self.loss, self.rows_per_s = 0.0, 0.0, None
        self.call(self.rules.clear)
        self.call(self.stop_stall)
        self.up()

    def stall(self, for_s=None, lost=False):
        """Nothing comes through for so long (or until flow()). Bytes sent meanwhile arrive late; lost: never, and its connection is
        cut in the end."""
        self.call(self.start_stall, for_s, lost)

    def flow(self):
        self.call(self.stop_stall)

    def close(self):
        self.call(self.end)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(60)
        self.loop.close()
