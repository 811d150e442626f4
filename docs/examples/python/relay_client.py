#!/usr/bin/env python3
"""Stay connected to the relay of the site, wherever it runs.

    relay_client.py --view W:\\socket\\relay_leader.json --kmsn 4711 --station POS-01
    relay_client.py --api http://127.0.0.1:9532 --kmsn 4711 --station POS-01

With both, the local API is asked first and the file read when the API does not
answer. Only the standard library is used; Python 3.8 or newer.

find() and Client.run() are what an Agent program needs. greet() and frames()
speak the protocol of floatrelay's stand-in relay (a four-byte big-endian length
and that many bytes of JSON): put your own protocol in their place.
"""

import argparse
import json
import random
import select
import socket
import struct
import time
import urllib.error
import urllib.request
from collections import namedtuple

LOOK = 0.5      # seconds between two looks at where the relay is
CONNECT = 2.0   # seconds a connect may take
RETRY = 0.2     # seconds between two attempts, and as much again at random
LARGEST = 1 << 20  # bytes of a frame

Relay = namedtuple("Relay", "ip port epoch")

# Never through a proxy: it could not reach this PC's loopback address.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Unknown(Exception):
    """Where the relay is cannot be told at this moment; what was known stays."""


def relay_of(text):
    """Return the Relay that a view or an answer of /v1/leader names.

    None: the relay is not accepting connections yet. Unknown: not readable.
    """
    try:
        v = json.loads(text.decode("utf-8"))
        relay = Relay(str(v["ip"]), int(v["port"]), int(v["epoch"]))
        up = v.get("ready", True) is True and v.get("state", "held") == "held"
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise Unknown("cannot read where the relay is: %r" % e)
    return relay if up else None


def from_view(path):
    """Read relay_leader.json: open, read all of it, close at once."""
    try:
        with open(path, "rb") as f:
            text = f.read(65536)
    except FileNotFoundError:
        return None  # no relay has ever run on this share
    except OSError as e:  # the share is away, or the file is being replaced
        raise Unknown(str(e))
    return relay_of(text)


def from_api(base):
    """Ask this PC's floatrelay."""
    try:
        with _direct.open(base.rstrip("/") + "/v1/leader", timeout=CONNECT) as r:
            text = r.read(65536)
    except urllib.error.HTTPError as e:
        if e.code == 404:
            return None  # nobody leads
        raise Unknown(str(e))
    except OSError as e:  # floatrelay does not run on this PC
        raise Unknown(str(e))
    return relay_of(text)


def find(api=None, view=None):
    """Return the Relay, or None if there is none now, or raise Unknown."""
    if api:
        try:
            return from_api(api)
        except Unknown:
            if not view:
                raise
    return from_view(view)


def send(conn, body):
    conn.sendall(struct.pack(">I", len(body)) + body)


def receive(conn, rest):
    """Add what has arrived to rest."""
    got = conn.recv(65536)
    if not got:
        raise ConnectionError("the relay closed the connection")
    rest += got


def frames(rest):
    """Take the whole frames out of rest."""
    while len(rest) >= 4:
        end = 4 + struct.unpack(">I", rest[:4])[0]
        if end > 4 + LARGEST:
            raise ConnectionError("a frame of %d bytes" % (end - 4))
        if len(rest) < end:
            return
        body = bytes(rest[4:end])
        del rest[:end]
        yield body


def greet(conn, rest, kmsn, station):
    """Say hello and return the relay's answer."""
    hello = {"type": "hello", "kmsn": kmsn, "station": station}
    send(conn, json.dumps(hello).encode("ascii"))
    while True:
        receive(conn, rest)
        for body in frames(rest):
            return json.loads(body.decode("utf-8"))


class Client:
    """Connects, follows the epoch, reconnects. Override the on_ methods."""

    def __init__(self, kmsn, station, api=None, view=None):
        self.kmsn, self.station, self.api, self.view = kmsn, station, api, view

    def on_connect(self, relay):
        print("connected %s:%d epoch %d" % relay, flush=True)

    def on_frame(self, body):
        print("frame %s" % body.decode("utf-8", "replace"), flush=True)

    def on_lost(self, why):
        print("lost %s" % why, flush=True)

    def run(self):
        while True:
            try:
                relay = find(self.api, self.view)
                if relay:
                    self.session(relay)
            except Unknown:
                pass
            except (OSError, ValueError) as e:
                self.on_lost(e)
            # All Agents lose the relay at the same moment: do not come back
            # at the same moment too.
            time.sleep(RETRY + random.random() * RETRY)

    def session(self, relay):
        """One connection. Returns when there is a newer relay; raises OSError
        when the connection is lost."""
        with socket.create_connection(relay[:2], timeout=CONNECT) as conn:
            rest, looked = bytearray(), time.monotonic()
            greet(conn, rest, self.kmsn, self.station)
            self.on_connect(relay)
            while True:
                for body in frames(rest):
                    self.on_frame(body)
                if select.select([conn], [], [], LOOK)[0]:
                    receive(conn, rest)
                if time.monotonic() - looked >= LOOK:
                    looked = time.monotonic()
                    if self.replaced(relay):
                        self.on_lost("epoch %d is over" % relay.epoch)
                        return

    def replaced(self, relay):
        """A PC that lost its power closes no connection: only a higher epoch
        tells. A lower one is an old copy of the file and means nothing."""
        try:
            now = find(self.api, self.view)
        except Unknown:
            return False
        return now is not None and now.epoch > relay.epoch


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--api", help="this PC's floatrelay, such as http://127.0.0.1:9532")
    p.add_argument("--view", help="path of relay_leader.json")
    p.add_argument("--kmsn", required=True)
    p.add_argument("--station", required=True)
    a = p.parse_args()
    if not a.api and not a.view:
        p.error("give --api, --view or both")
    try:
        Client(a.kmsn, a.station, a.api, a.view).run()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
