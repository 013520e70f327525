"""What was found, in plain words: the card at the top of the panel, as HTML. Everything that comes
from a file is escaped."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import numpy as np

from armature.dynamics.forces.stand_in import has_stand_ins
from armature.optimize.certificate.solution import NOT_COUNTED
from armature.robot.check import mass_doubt
from armature.robot.model import Robot
from armature.web.program.shown import ShownProgram, card_of

GOOD, BAD, PALE = (
    "light-dark(#0a7d4f, #4cc38a)",
    "light-dark(#c02626, #ff8f8f)",
    "var(--mantine-color-dimmed)",
)


STAND_INS = (
    "Its file names no drives: stand-in motors of the catalogue were put in, sized by gravity and"
    " speed. Open a YAML file with your drives to see your own energy (`armature init` writes one"
    " to fill in)."
)


def card(session: Any, busy: str, shown: int = 0, address: str = "") -> str:
    """The card: what the motion costs, what it saves, whether it is proved; or why there is none.

    shown: plans so far, for whoever waits for a new one.  address: where the page tells whether its
    browser is dark."""
    plan = session.plan
    parts = [_refusal(session.problem)] if session.problem else []
    if isinstance(plan, ShownProgram) and not session.planning:
        parts.append(card_of(plan, GOOD, BAD))
    elif plan is not None and plan.ok:
        parts.append(
            _past(_found(plan, session.certified))
            if session.problem
            else _found(plan, session.certified)
        )
    elif plan is not None and not session.problem:
        parts.append(_refusal(refusal(plan, session.least)))
    elif not session.problem:
        parts.append(
            _pale(
                "The first plan is on its way. On a new computer, the first one takes some seconds"
                " longer."
            )
        )
    if plan is not None and plan.ok and (clear := _clear_of_obstacles(plan)):
        parts.append(clear)
    if session.other is not None and plan is not None and plan.ok:
        parts.append(_beside(plan, session.other, "beside it" if session.aside else "pinned"))
    if plan is not None and (doubt := mass_doubt(plan.robot)):
        parts.insert(0, _refusal(doubt[0].upper() + doubt[1:] + "."))
    if plan is not None and plan.ok and has_stand_ins(plan.robot):
        parts.append(
            _pale(
                "Counted with <b>stand-in motors</b>, because the robot's file names none: see the"
                " tab <i>Robot</i>."
            )
        )
    carried = sum(link.payload[0] for link in session.robot.links if link.payload)
    if carried and session.planning:
        parts.append(
            _pale(
                f"The robot carries {carried:.3g} kg of its own, beside the payload that is set"
                " here."
            )
        )
    if session.planning and session.wish.given is not None and session.wish.way == "free":
        count = len(session.wish.given.via)
        if count:
            parts.append(_pale(f"By way of {count} via point{'' if count == 1 else 's'}."))
        if np.any(session.wish.given.start_velocity) or np.any(session.wish.given.goal_velocity):
            parts.append(_pale("With the task's velocities at both ends."))
    if session.note:
        parts.append(_pale(html.escape(session.note)))
    if plan is not None and session.planning and not session.touched:
        parts.append(_pale("Now drag the arrows at the hand marked <b>goal</b>: the plan follows."))
    look = f'data-shown="{shown}" style="padding:0.4em 0.8em 0.2em;min-height:11.5em"'
    return (
        '<div class="armature-card"'
        f" {look}>{''.join(parts)}{_busy(busy)}{_ask_theme(address) if address else ''}</div>"
    )


def about(robot: Robot, notes: list[str], remarks: tuple[str, ...] = ()) -> str:
    """A robot in a few lines of Markdown. notes: on what could not be drawn.  remarks: on what was
    changed of its file."""
    lines = [
        f"**{robot.name}**: {robot.n} joints, {robot.mass:.3g} kg, {len(robot.drives)} drives."
    ]
    lines += [STAND_INS] if has_stand_ins(robot) else []
    lines += [f"Placeholders of its file: {' '.join(remarks)}"] if remarks else []
    lines += (
        [f"Drawn from its joints: {len(notes)} meshes were not read ({notes[0]})."] if notes else []
    )
    return "\n\n".join(html.escape(line, quote=False) for line in lines)


def _pale(text: str) -> str:
    return f'<div style="color:{PALE};font-size:0.85em;margin:0.2em 0">{text}</div>'


def _past(text: str) -> str:
    """What was found before something got in the way."""
    return f'{_pale("The last plan that could be made:")}<div style="opacity:0.5">{text}</div>'


def _ask_theme(address: str) -> str:
    """A picture that cannot be shown: instead, the browser tells whether it is set to dark, now and
    whenever that changes."""
    tell = f"fetch('{address}theme/'+(m.matches?'dark':'light'))"
    # a key that a slider, a field or a button takes itself is not a command; a button lets go of
    # the keyboard after a click
    keys = "b.addEventListener('keydown',e=>{if(e.target.closest('[role=slider],[role=tab],input,button'))e.stopPropagation()})"
    blur = "b.addEventListener('click',e=>{if(e.detail)e.target.closest('button')?.blur()})"
    scheme = (
        "const m=window.armatureScheme=matchMedia('(prefers-color-scheme:"
        f" dark)');m.onchange=()=>{tell};{tell};"
    )
    # in every card, since a quick plan may replace the first one before it is shown; done once for
    # a page
    script = (
        f"if(!window.armatureScheme){{const b=document.body;{keys};{blur};{scheme}}}this.remove()"
    )
    return f'<img src="data:," alt="" style="display:none" onerror="{html.escape(script)}">'


def refusal(plan: Any, least: float | None) -> str:
    """Why there is no plan and what would make one possible, as one sentence or two."""
    text = str(plan.diagnosis) if plan.diagnosis is not None else plan.status.value
    known = plan.diagnosis is not None and plan.diagnosis.shortest_duration is not None
    if least is not None and not known and least > plan.duration:
        text += f" It takes at least {least:.3g} s."
    return text


def remedy(session: Any) -> tuple[str, str, Any] | None:
    """(words of a button, what it sets, value) that makes a refused plan possible; None where
    nothing is known to help."""
    plan, least = session.plan, session.least
    if session.problem and session.wish.way != "free":
        return "Leave the way free", "way", "free"
    if plan is None or plan.ok or not session.planning:
        return None
    why = plan.diagnosis
    shortest = (why.shortest_duration if why is not None else None) or (
        least if least and least > plan.duration else None
    )
    if shortest:
        T = round(1.02 * shortest + 0.005, 2)
        return f"Use {T:g} s", "duration", T
    if why is not None and why.excess_payload:
        payload = max(0.0, session.wish.payload - float(why.excess_payload))
        return f"Take {why.excess_payload:.2g} kg off", "payload", payload
    return None


def _found(plan: Any, certified: bool) -> str:
    if isinstance(plan, ShownProgram):  # of the program that was looked at until now
        return card_of(plan, GOOD, BAD)
    if not plan.robot.drives:
        return (
            f'<div style="font-size:1.9em;font-weight:700">{plan.duration:.4g}'
            f" s</div>{_pale(NOT_COUNTED)}" + _proof(plan, certified)
        )
    what = "of heat" if plan.returns else "drawn"
    number = plan.losses if plan.returns else plan.energy
    net = f", {plan.energy:.3g} J net from the supply" if plan.returns else ""
    lines = [
        f'<div style="font-size:1.9em;font-weight:700;line-height:1.15">{number:.3g} J<span'
        f' style="font-size:0.5em;font-weight:400;color:{PALE}"> {what} in {plan.duration:.3g}'
        f" s{net}</span></div>"
    ]
    if plan.saving is not None and plan.baseline is not None:
        lines.append(_saved(plan))
    return "".join(lines) + _proof(plan, certified)


def _saved(plan: Any) -> str:
    book = plan.baseline.ledger
    other = book.losses if plan.returns else book.energy
    percent = 100 * plan.saving
    words = (
        f"<b>{percent:.0f} % less</b>"
        if percent >= 0.5
        else "<b>as much</b>"
        if percent > -0.5
        else f"<b>{-percent:.0f} % more</b>"
    )
    than = "as" if -0.5 < percent < 0.5 else "than"
    note = (
        f'<div style="font-size:0.8em;color:{PALE}">{html.escape(_of_baseline(plan))}</div>'
        if plan.baseline.note
        else ""
    )
    good = percent >= 0.5 and not mass_doubt(plan.robot)
    return (
        f'<div style="color:{GOOD if good else PALE}">{words} {than} the ordinary motion'
        f" ({other:.3g} J){note}</div>"
    )


def _of_baseline(plan: Any) -> str:
    """The motion that a plan is compared with, and what is wrong with it."""
    return (
        f"The ordinary motion is the {plan.baseline.name.removeprefix('the ')}"
        f" ({plan.baseline.note})."
    )


def _proof(plan: Any, certified: bool) -> str:
    if not certified:
        return f'<div style="color:{PALE}">Not yet proved</div>'
    proof = plan.certificate
    worst = proof.worst
    near = ""
    if worst is not None:
        left = f"{100 * worst.fraction:.1f} % left" if worst.fraction > 5e-4 else "used in full"
        near = f" Nearest limit: {html.escape(worst.limit)} of {html.escape(worst.joint)}, {left}."
    if proof.ok:
        return (
            f'<div style="color:{GOOD}">✓ <b>Proved</b>: simulated under the planned currents,'
            f" every limit kept.{near}</div>"
        )
    why = (
        f"{worst} "
        if worst is not None and not proof.within_limits
        else f"the simulation strays by {proof.tracking_error:.1e}, "
    )
    return (
        f'<div style="color:{BAD}">✗ <b>Not proved</b>: {html.escape(why)}energy off by'
        f" {proof.energy_error:.1e}.</div>"
    )


def _clear_of_obstacles(plan: Any) -> str:
    """How far a plan stays clear of obstacles; empty without any."""
    note = next((n for n in plan.notes if n.startswith("obstacles: ")), "")
    if not note:
        return ""
    words = html.escape(note.removeprefix("obstacles: "))
    return f'<div style="color:{GOOD}">✓ <b>Obstacles</b>: {words}.</div>'


def _beside(plan: Any, other: Any, name: str) -> str:
    """Two plans compared, side by side."""
    cell = '<td style="text-align:right">'
    rows = "".join(_compared(what, f(plan), f(other), unit, cell) for what, f, unit in COMPARED)
    head = f"<tr><th></th><th>this</th><th>{name}</th><th></th></tr>"
    return (
        '<table class="armature-beside" style="width:100%;margin:0.4em'
        f' 0;font-size:0.85em">{head}{rows}</table>'
    )


def _compared(what: str, mine: float | None, other: float | None, unit: str, cell: str) -> str:
    if mine is None or other is None:
        return ""
    change = f"{100 * (mine / other - 1):+.1f} %" if other and unit != "%" else ""
    numbers = f"{cell}<b>{mine:.4g}</b> {unit}</td>{cell}<b>{other:.4g}</b> {unit}</td>"
    return (
        f'<tr><td>{what}</td>{numbers}<td style="text-align:right;color:{PALE}">{change}</td></tr>'
    )


def _most(name: str) -> Callable[[Any], float | None]:
    """The largest absolute value of a column of a plan's motion."""
    return lambda plan: (
        None
        if getattr(plan.trajectory, name) is None
        else float(abs(getattr(plan.trajectory, name)).max())
    )


COMPARED: tuple[tuple[str, Callable[[Any], float | None], str], ...] = (
    ("duration", lambda p: p.duration, "s"),
    ("energy", lambda p: p.energy, "J"),
    ("heat", lambda p: p.losses, "J"),
    ("saving", lambda p: None if p.saving is None else 100 * p.saving, "%"),
    ("payload", lambda p: sum(link.payload[0] for link in p.robot.links if link.payload), "kg"),
    ("peak velocity", _most("v"), ""),
    ("peak acceleration", _most("a"), ""),
    ("peak torque", _most("tau"), ""),
)


def _refusal(text: str) -> str:
    style = (
        f"color:{BAD};background:rgba(208,48,48,0.1);border-left:3px solid {BAD};padding:0.5em"
        " 0.7em;border-radius:3px;margin:0.2em 0"
    )
    return f'<div class="armature-refusal" style="{style}">{html.escape(text)}</div>'


def _busy(text: str) -> str:
    """One line that is always there, so that nothing below it jumps."""
    state = "busy" if text else "rest"
    return (
        f'<div class="armature-{state}"'
        f' style="color:{PALE};font-size:0.85em;min-height:1.5em">{html.escape(text)}&nbsp;</div>'
    )
