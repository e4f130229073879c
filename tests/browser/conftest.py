"""A site of real releases, and Chromium to open it with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from analyzer import api
from tests.support.releases import cache_folder, wheel

RELEASES = ("0.3.6", "0.4.6", "0.5.2", "0.5.4", "0.5.6")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none, and say so."""
    here = Path(__file__).parent
    missing = [name for name, path in (("Chromium", _browser()), ("chromedriver", _driver())) if path is None]
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"{' and '.join(missing)} is not installed on this machine"))


def _browser() -> str | None:
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def _driver() -> str | None:
    return shutil.which("chromedriver")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation of some releases, made from their snapshots alone."""
    folder = tmp_path_factory.mktemp("documentation")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SGLANG_ANALYZER_CACHE", str(folder / "cache"))
        (folder / "cache").mkdir()
        for version in RELEASES:
            wheel(version)
        (folder / "cache" / "wheels").symlink_to(cache_folder())
        written = list(api.snapshot(RELEASES, folder / "snapshots", options=api.Options(source="pypi")))
        assert all(item.error is None for item in written)
        patch.setattr("analyzer.adapters.snapshot_source.shipped_folder", lambda: folder / "snapshots")
        api.docs(folder / "site", options=api.Options(source="snapshot"))
    return folder / "site"


@pytest.fixture(scope="session")
def chrome() -> Iterator[webdriver.Chrome]:
    """Headless Chromium that logs its console and every request."""
    options = webdriver.ChromeOptions()
    options.binary_location = _browser() or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(_driver()))
    yield driver
    driver.quit()
