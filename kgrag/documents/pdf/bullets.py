"""Signs before the items of a list."""

from __future__ import annotations

import re

__all__ = ["BULLET", "ORDINAL", "SURE_BULLET"]

_SURE = "•◦▪▫■□●○◆❖‣⁃➢➤✓✔"
SURE_BULLET = re.compile(f"^[{_SURE}]$")
"""Not a sign of any programming language."""
BULLET = re.compile(rf"^(?:[{_SURE}∙·►▶➔⇨★∗*–—-]|[\uf000-\uf0ff]|o)$")
ORDINAL = re.compile(r"^(?:\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)|(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])$")
