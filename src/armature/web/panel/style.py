"""What the page looks like beyond viser's own style: the meaning of colours, tabs in one row, and
the sheet of a phone over its whole width."""

from __future__ import annotations

from armature.web.space.camera import PHONE, SHEET
from armature.web.space.scene import GHOST, GOAL, PINNED, PLAN, START, VIA

MARKS = {"ordinary motion": GHOST, "pinned plan": PINNED}

# viser's sheet for phones is 20em wide and 60 % high; its elements have no names, but these sizes
STYLE = f"""<style>
[role="tab"] {{ padding-left: 0.6em !important; padding-right: 0.6em !important; }}
@media (max-width: {PHONE}px) {{
  div[style*="max-height: 60%"] {{ width: 100vw !important; max-height: {100 * SHEET:.0f}% !important; }}
  div[style*="max-height: 60%"] div[style*="width: 20em"] {{ width: 100vw !important; }}
  .armature-card {{ min-height: 0 !important; }}
}}
</style>"""


def legend(ghost: str, via: bool = False) -> str:
    """What the colours in space mean. ghost: what the ghost shows.  via: whether there are via
    points."""
    square = "display:inline-block;width:0.7em;height:0.7em;border-radius:2px;margin-right:0.35em;background:rgb"
    marks = {
        "plan": PLAN,
        ghost: MARKS.get(ghost),
        "start": START,
        "goal": GOAL,
        "via": VIA if via else None,
    }
    parts = []
    for name, colour in marks.items():
        if colour is None:
            continue
        rgb = ",".join(f"{255 * part:.0f}" for part in colour)
        parts.append(
            f'<span style="white-space:nowrap"><span style="{square}({rgb})"></span>{name}</span>'
        )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0.1em 1em;padding:0.1em'
        f' 0.8em;font-size:0.8em">{"".join(parts)}</div>'
    )
