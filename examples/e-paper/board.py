"""A board as a black and white picture of 800 x 480 points: python3 board.py STOP board.png

Draws only when the rows have changed, because e-paper flickers when refreshed: exits with 0 after drawing and
with 1 if the picture is still correct. Run it every minute with cron, and refresh the display after a 0.
"""

import html
import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "clients/python"))
from transit import Transit  # noqa: E402

STYLE = """
body { margin: 0; padding: 16px 24px; width: 752px; height: 448px; overflow: hidden; font: 26px sans-serif; color: #000; background: #fff }
h1 { margin: 0 0 8px; font-size: 32px; border-bottom: 4px solid #000 }
table { width: 100%; border-spacing: 0 6px } td:first-child { width: 100px; font-weight: bold } td:last-child { text-align: right; font-weight: bold }
"""


def clock(departure):
    """The time in Sydney, with a star if the vehicle is tracked."""
    moment = departure["realtime_at"] or departure["scheduled_at"]
    local = datetime.fromisoformat(moment.replace("Z", "+00:00")).astimezone(ZoneInfo("Australia/Sydney"))
    return local.strftime("%H:%M") + ("*" if departure["is_live"] else "")


def page(board):
    cells = lambda departure: (departure["route"], departure["destination"], clock(departure))  # noqa: E731
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells(departure)) + "</tr>"
        for departure in board["departures"]
    )
    name = html.escape(board["stop_name"])
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><h1>{name}</h1><table>{rows or 'No departures'}</table>"


def main():
    stop, picture = sys.argv[1], Path(sys.argv[2])
    transit = Transit(os.environ.get("TIS_URL", "http://localhost:3000"), os.environ["TIS_KEY"])
    board = transit.get("/v1/departures", stop=stop, modes="all", limit=9)
    drawn, shown = page(board), picture.with_suffix(".html")
    if picture.exists() and shown.exists() and shown.read_text("utf-8") == drawn:
        sys.exit(1)
    shown.write_text(drawn, "utf-8")
    with tempfile.TemporaryDirectory() as profile:
        chromium = [os.environ.get("CHROMIUM", "chromium"), "--headless", f"--user-data-dir={profile}"]
        # Chromium refuses to run as root with its sandbox.
        if os.geteuid() == 0:
            chromium.append("--no-sandbox")
        chromium += ["--hide-scrollbars", "--window-size=800,480", f"--screenshot={picture.resolve()}", shown.resolve().as_uri()]
        subprocess.run(chromium, check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    main()
