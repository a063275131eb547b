"""Fixtures for the tests with a browser, which only those import."""

from __future__ import annotations

from interop.page_in_browser import chromium, context, open_page, shared

__all__ = ["chromium", "context", "open_page", "shared"]
