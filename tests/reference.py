"""What the reference pages give to copy."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = Path(__file__).parent.parent / "docs" / "reference"


def properties(page: str) -> list[str]:
    """The blocks of properties of a page, as they stand there."""
    text = (PAGES / page).read_text("utf-8")
    return re.findall(r"^```properties\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
