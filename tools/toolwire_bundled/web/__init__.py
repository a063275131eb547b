"""Shared by the tools that use the web: services that answer in JSON, and pages for people.

`Service` asks a service; `fetch` opens a page that a model chose. Both work for a `Call`, which
knows how long it may take, whether the call was cancelled, and where to report progress.
`README.md` in this folder describes the way of a call.
"""
