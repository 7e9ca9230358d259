"""Prints how long pages of large logs take to write and to open in chromium.

    python tests/benchmarks/opening.py [EVENTS] [ROUNDS]

*opened* is from the start of the navigation, in the page's own clock, to the first row of the
board and two frames after it; *work* is what the page's main thread did until it was at rest,
which other programs disturb less; *nodes* are those of the document then.  The least disturbed
of the rounds counts, and the slowest stands beside it.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import workload  # noqa: E402

from replay.cli import main as replay  # noqa: E402
from tests.browser import chromium  # noqa: E402

TWO_FRAMES = """() => new Promise(done => {
  const row = () => (document.querySelector('#board-rows tbody tr')
    ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))
    : requestAnimationFrame(row));
  row();
})"""


def opened(context: Any, file: Path) -> tuple[float, float, int]:
    """Milliseconds to two frames after the first row, milliseconds of work, nodes."""
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 900})
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(file.as_uri(), wait_until="commit")
    first = page.evaluate(TWO_FRAMES)
    page.wait_for_load_state("load")
    page.wait_for_timeout(1500)
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    page.close()
    return first, metrics["TaskDuration"] * 1000, int(metrics["Nodes"])


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder, chromium() as context:
        for name, shape in {"many items": None, "one item": 1}.items():
            log, page = Path(folder) / "log.jsonl", Path(folder) / "page.html"
            log.write_bytes(b"".join(workload.lines(events, items=shape)))
            begin = time.process_time()
            with contextlib.redirect_stderr(io.StringIO()):
                replay(["view", str(log), "-o", str(page)])
            written = time.process_time() - begin
            found = [opened(context, page) for _ in range(rounds)]
            first, work, nodes = (sorted(column) for column in zip(*found, strict=True))
            print(
                f"{events} events, {name}: written in {written:.1f} s of CPU,"
                f" {page.stat().st_size} bytes; opened in {first[0]:.0f} ms"
                f" ({first[-1]:.0f}), work {work[0]:.0f} ms ({work[-1]:.0f}), {nodes[0]} nodes"
            )


if __name__ == "__main__":
    main()
