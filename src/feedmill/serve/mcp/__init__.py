"""The MCP server: what assistants may read and do for a user, over HTTP at `/mcp` and on standard input and output.

A tool is an async function of `entries.py`, `marks.py`, `feeds.py` or `pools.py` with the decorator `tool`. It gets a
`ToolCall` and its validated arguments, leaves the work to `library/` or `pools/`, and returns a `ToolResult`: facts of
ours in typed fields, and everything that comes from feeds in `untrusted_text`.
"""
