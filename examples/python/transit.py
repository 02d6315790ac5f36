"""A client of the Transit Information Service that sends conditional requests and respects Retry-After.

Run as a program, it prints the board of a stop and every update: python3 transit.py 200070 [--once]
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


class TransitError(Exception):
    """A request failed, and repeating it would not help."""


class Transit:
    def __init__(self, url, key):
        self.url = url.rstrip("/")
        self.key = key
        self.kept = {}
        self.max_age = 15

    def get(self, path, **parameters):
        """Returns the response, and whether it has changed. Makes up to five attempts."""
        url = f"{self.url}{path}?{urllib.parse.urlencode(parameters)}"
        etag, body = self.kept.get(url, ("", None))
        for attempt in range(5):
            request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.key}", "If-None-Match": etag})
            try:
                with urllib.request.urlopen(request, timeout=15) as response:
                    self._note_age(response.headers)
                    body = json.load(response)
                    self.kept[url] = (response.headers["ETag"], body)
                    return body, True
            except urllib.error.HTTPError as error:
                if error.code == 304:
                    self._note_age(error.headers)
                    return body, False
                if error.code < 500 and error.code != 429:
                    raise TransitError(json.load(error)["error"]["message"]) from None
                wait = int(error.headers.get("Retry-After", 5 * 2**attempt))
            except OSError:
                wait = 5 * 2**attempt
            time.sleep(min(wait, 60))
        raise TransitError("the service is unreachable")

    def _note_age(self, headers):
        """Sets `max_age`: seconds until the response may change."""
        directives = dict(part.strip().partition("=")[::2] for part in headers.get("Cache-Control", "").split(","))
        self.max_age = max(1, int(directives.get("max-age") or 15) - int(headers.get("Age") or 0))


def main():
    transit = Transit(os.environ.get("TIS_URL", "http://localhost:3000"), os.environ["TIS_KEY"])
    stop = sys.argv[1]
    while True:
        board, is_new = transit.get("/v1/departures", stop=stop, modes="all", limit=8)
        if is_new:
            print(f"\n{board['stop_name']}, {board['retrieved_at']}")
            for departure in board["departures"]:
                sign = "live" if departure["is_live"] else "planned"
                print(f"{departure['minutes_away']:4} min  {departure['route']:6} {departure['destination']} ({sign})")
        if "--once" in sys.argv:
            return
        time.sleep(transit.max_age)


if __name__ == "__main__":
    main()
