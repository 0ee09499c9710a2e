"""The support desk: a page, a REST API, an OpenAI endpoint and an MCP server over one open store. A face, as `kgrag.cli` is."""
