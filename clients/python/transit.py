"""A client of the Transit Information Service in one file. It needs only Python 3.9.

    transit = Transit("http://localhost:3000", key)
    for departure in transit.departures("200070", modes="all")["departures"]:
        print(departure["route"], departure["destination"], departure["minutes_away"])

Run as a program, it prints the board of a stop and every update: python3 transit.py 200070 [--once]
"""

import http.client
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

MAX_KEPT = 50
FIRST_WAIT = 5
# The service sends a comment every 15 seconds. A stream that is silent for longer has lost its connection.
MAX_SILENCE = 45


class TransitError(Exception):
    """A request that failed after all attempts, or that no further attempt can help."""

    def __init__(self, error, status=0, headers=None, is_temporary=False):
        super().__init__(error["message"])
        # The service's error code, NO_CONNECTION, or UNKNOWN_RESPONSE for one of something else, such as a proxy.
        self.code = error["code"]
        # HTTP status; 0 without a response, and when a stream ends.
        self.status = status
        self.docs = error.get("docs")
        self.request_id = (headers or {}).get("X-Request-Id")
        wait = (headers or {}).get("Retry-After") or ""
        # Seconds; None without a Retry-After.
        self.retry_after = int(wait) if wait.isdigit() else None
        # Whether the same request can succeed later.
        self.is_temporary = is_temporary


class Transit:
    """Sends requests with a key. Lists may be given as lists or with commas, dates and times as text."""

    def __init__(self, url, key, retries=3, max_wait=60, timeout=15):
        self.url = url.rstrip("/")
        self.key = key
        # Further attempts after a failed one.
        self.retries = retries
        # The longest wait before another attempt, in seconds. If Retry-After is longer, the request fails at once.
        self.max_wait = max_wait
        # Seconds without a byte after which an attempt fails.
        self.timeout = timeout
        # The headers of the latest response, such as X-Notice and RateLimit.
        self.headers = {}
        # ETag and body of the latest responses by path, oldest first: a 304 from the cache is not counted.
        self._kept = {}

    def departures(self, stop, **parameters):
        return self.get("/v1/departures", stop=stop, **parameters)

    def nearby(self, lat, lng, **parameters):
        return self.get("/v1/nearby", lat=lat, lng=lng, **parameters)

    def search(self, q, **parameters):
        return self.get("/v1/stops/search", q=q, **parameters)

    def trips(self, origin, destination, **parameters):
        """`origin` and `destination` are stop IDs or "lat,lng".

        The rider chooses with `pace`, `max_walk`, `min_change`, `prefer`, `via`, `booking`, `max_changes` and `wheelchair`.
        """
        return self.get("/v1/trips", **{"from": origin, "to": destination}, **parameters)

    def get(self, path, **parameters):
        """Returns the response of any operation."""
        return self._send(_with_query(path, parameters))

    def pages(self, path, rel="next", **parameters):
        """Yields the response and, as long as there are more, the later ones; with rel="prev" the earlier ones."""
        target = _with_query(path, parameters)
        while target:
            yield self._send(target)
            links = re.findall(r'<([^>]*)>; rel="([^"]*)"', ", ".join(self.headers.get_all("Link") or []))
            # Only the query of the link is used, so that no link can send the key elsewhere.
            queries = [link.partition("?")[2] for link, name in links if name == rel]
            target = f"{path}?{queries[0]}" if queries else None

    def stream(self, path, **parameters):
        """Yields the data of each event of "/v1/departures/stream" and the like, and connects again when the stream breaks.

        Raises TransitError when the service refuses, or when the run or journey is over.
        """
        target = _with_query(path, parameters)
        last_event_id = ""
        failures = 0
        while True:
            error = _no_connection()
            try:
                with self._open(target, {"Last-Event-ID": last_event_id} if last_event_id else {}, MAX_SILENCE) as response:
                    for event in _events(response):
                        failures = 0
                        data = json.loads(event["data"])
                        if event["event"] == "end":
                            # Only a server that stops ends its streams for a while.
                            is_temporary = data["error"]["code"] == "SERVICE_UNAVAILABLE"
                            raise TransitError(data["error"], is_temporary=is_temporary)
                        # After a failure the stream continues.
                        if event["event"] != "failure":
                            last_event_id = event.get("id", "")
                            yield data
            except TransitError as refusal:
                error = refusal
            except (OSError, http.client.HTTPException):
                pass
            # 429: too many streams are open, or the day's quota is used up.
            if not error.is_temporary or error.status == 429:
                raise error
            time.sleep(self._wait(error, failures))
            failures += 1

    def _send(self, target):
        for failures in range(self.retries + 1):
            try:
                return self._attempt(target)
            except TransitError as error:
                is_last = failures == self.retries or (error.retry_after or 0) > self.max_wait
                if not error.is_temporary or is_last:
                    raise
                wait = self._wait(error, failures)
            time.sleep(wait)

    def _attempt(self, target):
        etag, text = self._kept.get(target, ("", ""))
        try:
            with self._open(target, {"If-None-Match": etag} if etag else {}, self.timeout) as response:
                self.headers = response.headers
                text = text if response.status == 304 else response.read().decode()
        except (OSError, http.client.HTTPException) as cause:
            raise _no_connection() from cause
        body = _parse(text, response)
        if response.headers["ETag"]:
            self._kept.pop(target, None)
            self._kept[target] = (response.headers["ETag"], text)
            if len(self._kept) > MAX_KEPT:
                del self._kept[next(iter(self._kept))]
        return body

    def _open(self, target, headers, timeout):
        """Returns the response, also a 304. Raises TransitError for every error of the service."""
        headers = {"Authorization": f"Bearer {self.key}", **headers}
        request = urllib.request.Request(self.url + target, headers=headers)
        try:
            return urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError as response:
            if response.status == 304:
                return response
            body = _parse(response.read(), response)
            raise TransitError(body["error"], response.status, response.headers, _is_temporary(response)) from None

    def _wait(self, error, failures):
        """Seconds. Without jitter, clients that failed together would return together."""
        first = FIRST_WAIT if error.retry_after is None else error.retry_after
        # A 429 says when its limit resets; other failures can last.
        later = 0 if error.status == 429 else min(first * 2**failures, self.max_wait)
        return max(error.retry_after or 0, later) * random.uniform(1, 1.1)


def _with_query(path, parameters):
    def text(value):
        if isinstance(value, (list, tuple)):
            return ",".join(map(str, value))
        return str(value).lower() if isinstance(value, bool) else value

    given = {name: text(value) for name, value in parameters.items() if value is not None}
    return f"{path}?{urllib.parse.urlencode(given)}" if given else path


def _parse(text, response):
    """Raises TransitError if the response is not one of the service."""
    try:
        body = json.loads(text)
        if response.status < 400 or "code" in body["error"]:
            return body
    except (ValueError, KeyError, TypeError):
        pass
    error = {"code": "UNKNOWN_RESPONSE", "message": f"This response is not from the service (status {response.status})."}
    is_temporary = response.status < 400 or _is_temporary(response)
    raise TransitError(error, response.status, response.headers, is_temporary)


def _is_temporary(response):
    return response.status in (408, 429) or response.status >= 500


def _no_connection():
    return TransitError({"code": "NO_CONNECTION", "message": "The service did not respond."}, is_temporary=True)


def _events(response):
    """Yields the fields of each event that has data."""
    event = {"event": "message"}
    for line in response:
        name, _, value = line.decode().rstrip("\r\n").partition(": ")
        if name in ("event", "id", "data"):
            event[name] = value
        elif not line.strip():
            if "data" in event:
                yield event
            event = {"event": "message"}


def main():
    stop = sys.argv[1]
    transit = Transit(os.environ.get("TIS_URL", "http://localhost:3000"), os.environ["TIS_KEY"])
    for board in transit.stream("/v1/departures/stream", stop=stop, modes="all", limit=8):
        print(f"\n{board['stop_name']}, {board['retrieved_at']}", flush=True)
        for departure in board["departures"]:
            sign = "live" if departure["is_live"] else "planned"
            print(f"{departure['minutes_away']:4} min  {departure['route']:6} {departure['destination']} ({sign})")
        if "--once" in sys.argv:
            return


if __name__ == "__main__":
    main()
