"""What the tools that use the web have in common: services that answer in JSON, and pages for people.

`Service` asks a service; `fetch` opens a page that a model chose. Both work for a `Call`, which knows how long it may
take, whether anybody still wants its answer, and whom to tell how far it is. `README.md` beside this has the way
through.
"""
