"""One headless Chromium for all browser tests, and pages that report everything they do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Opened:
    """A page, every request it made, and everything it complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def quiet(self) -> None:
        """No request left the machine and no error was logged."""
        assert all(url.startswith(("file:", "data:", "blob:")) for url in self.requests), self.requests
        assert self.complaints == []


Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "Chromium is not installed: `make test` installs it"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Open a file as a reader would, after `script`; `more` are settings of the browser window."""
    contexts = []

    def opened(path: Path, *, width: int = 1280, height: int = 800, script: str = "", **more: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": height}, **more)
        context.add_init_script(script)
        contexts.append(context)
        made = Opened(page=context.new_page())
        made.page.on("request", lambda request: made.requests.append(request.url))
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        made.page.on(
            "console",
            lambda said: made.complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        made.page.goto(path.resolve().as_uri())
        return made

    yield opened
    for context in contexts:
        context.close()
