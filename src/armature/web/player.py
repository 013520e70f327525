"""The motion on the page as it is played: where in time it is, and what is shown beside it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from armature.web.mailbox import Mailbox
from armature.web.panel import ORDINARY, PINNED, Panel
from armature.web.session import Session
from armature.web.space.scene import Scene

PAUSE = 0.7  # seconds between two rounds of the motion
STEP = 0.02  # of the duration that an arrow key goes
ROUNDS = 5  # after which a motion that nobody touches comes to rest, and the browser too


class Player:
    """Plays the plan of a session. t: s, where in the motion the robot is.  compared: what the
    ghost shows."""

    def __init__(self, session: Session, panel: Panel, scene: Scene, mail: Mailbox):
        self._session, self._panel, self._scene, self._mail = session, panel, scene, mail
        self.t, self.compared = 0.0, ORDINARY
        self._since, self._round = 0.0, 0

    @property
    def pinned(self) -> bool:
        """Whether the other plan is shown as the ghost."""
        session = self._session
        return session.other is not None and (session.aside or self.compared == PINNED)

    @property
    def second(self) -> Any:
        """The motion beside the plan: of the other plan, of the baseline, or None."""
        plan, other = self._session.plan, self._session.other
        if self.pinned:
            return other.trajectory
        wanted = plan is not None and plan.ok and self.compared == ORDINARY
        base: Any = getattr(plan, "baseline", None) if wanted else None
        return base.trajectory if base is not None else None

    def rewind(self) -> None:
        """From the beginning, playing."""
        self._mail.ticking, self.t = False, 0.0
        self.toggle()

    def stay_awake(self) -> None:
        """The user does something: the rounds are counted from now on."""
        self._round = 0

    def toggle(self) -> None:
        """Play or pause; from the beginning where the end was reached."""
        self._mail.ticking = not self._mail.ticking
        self._since, self._round = time.monotonic(), 0
        self._panel.playing(self._mail.ticking)

    def step(self, count: int) -> None:
        """So many steps ahead or back."""
        plan = self._session.plan
        if plan is not None and plan.ok:
            t = min(self.t, plan.duration) + count * STEP * plan.duration
            self.scrub(float(np.clip(t, 0.0, plan.duration)))

    def scrub(self, t: float) -> None:
        """To a time, s, and stay there."""
        if self._mail.ticking:
            self.toggle()
        self.t = t
        self._panel.time(t)
        self.place()

    def tick(self) -> None:
        """A moment has passed."""
        now = time.monotonic()
        self.t, self._since = self.t + now - self._since, now
        plan = self._session.plan
        if plan is None or not plan.ok:
            return
        if self.t > max(plan.duration, getattr(self.second, "duration", 0.0)) + PAUSE:
            self.t, self._round = 0.0, self._round + 1
        self.place()
        self._panel.time(min(self.t, plan.duration))
        if self._round >= ROUNDS:
            self.toggle()

    def place(self) -> None:
        """Bring the robot and its ghost to where they are now."""
        plan = self._session.plan
        if plan is None or not plan.ok:
            return
        second = self.second
        at = lambda track: track(track.t[0] + self.t).q
        self._scene.place(at(plan.trajectory), None if second is None else at(second), self.pinned)
