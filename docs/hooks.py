"""What mkdocs does beside its pages: the benchmark page shows benchmarks/results.md as `make bench`
wrote it."""

from pathlib import Path

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results.md"


def on_page_markdown(markdown: str, page, **_) -> str:
    """Put the measured results in place of the page's marker."""
    results = RESULTS.read_text(encoding="utf-8")
    below = results.replace("# Measured results", "## Measured results", 1)
    return markdown.replace("<!-- results -->", below)
