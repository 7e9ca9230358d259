"""Debian's chromium, driven by Playwright, with no way out to a network.

Absent either, `chromium` skips with the reason.  Every page must stay silent: a request to
anywhere but its own file, a line on the console, an error or a dialog fails the test.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

_BROWSERS: Final = ("chromium", "chromium-browser")
_QUIET: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser with a fresh profile; skips where it, or what drives it, is not installed."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed, so no page is opened"
    )
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        pytest.skip("chromium is not installed, so no page is opened")
    with playwright.sync_playwright() as driver, tempfile.TemporaryDirectory() as profile:
        context = driver.chromium.launch_persistent_context(
            profile, executable_path=path, args=[*_QUIET], offline=True, reduced_motion="reduce"
        )
        yield context
        context.close()


class Tab:
    """A page from disk, and everything that it did and should not have."""

    def __init__(
        self, context: Any, file: Path, *, width: int = 1280, place: str = "", watch: str = ""
    ) -> None:
        """`watch` is a script of the test's own that runs before the page's."""
        self.page = context.new_page()
        if watch:
            self.page.add_init_script(watch)
        self.noises: list[str] = []
        self._listen()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto(f"{file.as_uri()}{place}")
        self.page.wait_for_selector("html[data-drawn]", state="attached")

    def _listen(self) -> None:
        page, noises = self.page, self.noises
        page.on("console", lambda message: noises.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: noises.append(f"error: {error}"))
        page.on("request", lambda request: self._note(request.url))
        page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.noises.append("dialog")
        dialog.dismiss()

    def _note(self, url: str) -> None:
        if not url.startswith("file://") or not url.partition("#")[0].endswith(".html"):
            self.noises.append(f"request: {url}")

    def at(self, sequence: int) -> None:
        """Move the cutoff with the page's own field."""
        self.page.fill("#sequence", str(sequence))
        self.page.press("#sequence", "Enter")

    def cells(self, table: str) -> list[list[str]]:
        """Every row's cells: their whole texts, short ids in full, all white space left out."""
        found: list[list[str]] = self.page.evaluate(_CELLS, table)
        return found

    def text(self, selector: str) -> str:
        found: str = self.page.inner_text(selector)
        return found


_CELLS: Final = r"""selector => {
  const read = cell => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll('[aria-hidden]').forEach(sign => sign.remove());
    copy.querySelectorAll('button[aria-label]').forEach(button => {
      button.textContent = button.getAttribute('aria-label');
    });
    return copy.textContent.replace(/\s+/g, '');
  };
  return [...document.querySelectorAll(`${selector} tbody tr`)].map(
    row => [...row.children].map(read));
}"""
