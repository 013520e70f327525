"""The state of one browser: what is wished for and what was found. It knows nothing of pages and
draws nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from armature.dynamics.compiled import pose
from armature.dynamics.positioning.inverse_kinematics import inverse_kinematics
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.moves.curve import Curve
from armature.robot.model import Robot
from armature.web.obstacles import changed, with_new
from armature.web.program.sketch import followed
from armature.web.wish import Wish, first_wish, hand, named

BENT = 0.02  # rad or m: a joint that ends farther from the goal is bent in another way
FAR = 1.2  # rad or m: a joint that must move farther for a drag is on another branch
FEW_STARTS = 8  # of the inverse kinematics: the nearest branch is wanted, not all of them
ONE_CHANGE = 1.0  # seconds: changes of one thing that follow each other faster are undone together
FEW = 8  # configurations of a plan that tell where it goes
MOST_CHANGES = 200  # that can be undone
INSIDE = (0.05, 0.95)  # of the duration: where a via point can be added


@dataclass
class Session:
    """One browser's state.

    wish: what is asked for.  plan: the newest Solution or SavedPlan, None before the first.
    certified: whether its certificate is known.
    curve: energy against time for this move, None while unknown.  least: its shortest duration, s.
    other: a plan to compare with.
    mesh_folders: where the robot's meshes may lie.  planning: False while a saved plan or a study
    is looked at.
    problem: what is in the way.  note: what is worth knowing of the plan.  touched: whether the
    user has changed anything yet.
    picked: name of the obstacle that can be dragged.  step: index of the program's step whose
    motion is shown, −1 for none.
    past, future: wishes (with their mesh folders) that undo and redo go to.
    """

    wish: Wish
    plan: Any = None
    certified: bool = False
    curve: Curve | None = None
    least: float | None = None
    other: Any = None
    mesh_folders: tuple[Path, ...] = ()
    planning: bool = True
    problem: str = ""
    note: str = ""
    touched: bool = False
    picked: str = ""
    step: int = -1
    past: list[tuple[Wish, tuple[Path, ...]]] = field(default_factory=list)
    future: list[tuple[Wish, tuple[Path, ...]]] = field(default_factory=list)
    _last: tuple[str, float] = ("", 0.0)  # what was changed last, and when

    @property
    def robot(self) -> Robot:
        """The robot on the table."""
        return self.wish.robot

    def change(self, **values: Any) -> bool:
        """Wish for something else; False where it is what was wished for already. What holds for
        another move is forgotten."""
        return self.change_to(replace(self.wish, **values), " ".join(values))

    def change_to(self, wish: Wish, what: str) -> bool:
        """The same by the whole new wish. what: the thing that is changed; quick changes of one
        thing are undone together."""
        unchanged = wish.same_move(self.wish) and (wish.duration, wish.objective) == (
            self.wish.duration,
            self.wish.objective,
        )
        if wish.program is not None and wish.program is self.wish.program:
            wish, self.step = followed(wish, self.step)
        if not unchanged or wish.program is not self.wish.program:
            self._remember(what)
        self.planning = self.touched = True
        self._wish_for(wish)
        return not unchanged

    def _wish_for(self, wish: Wish) -> None:
        if not wish.same_move(self.wish):
            self.curve = self.least = None
        self.wish = wish

    def _remember(self, what: str) -> None:
        """Keep the present wish for undo, unless it is in the middle of one long change."""
        now = time.monotonic()
        name, when = self._last
        if not (what and what == name and now - when < ONE_CHANGE and self.past):
            self.past.append((self.wish, self.mesh_folders))
            del self.past[:-MOST_CHANGES]
        self._last = (what, now)
        self.future.clear()

    def undo(self) -> bool:
        """Wish for what was wished for before; False where nothing was."""
        return self._go(self.past, self.future)

    def redo(self) -> bool:
        """Wish again for what was undone last; False where nothing was undone."""
        return self._go(self.future, self.past)

    def _go(self, there: list, back: list) -> bool:
        if not there:
            return False
        back.append((self.wish, self.mesh_folders))
        wish, folders = there.pop()
        if wish.robot.joint_names != self.robot.joint_names:
            self._forget()
        self._wish_for(wish)
        self.mesh_folders, self.planning, self.touched, self._last = folders, True, True, ("", 0.0)
        return True

    def add_via(self, t: float) -> str:
        """A via point where the plan is at time t (s); returns what is in the way, if anything."""
        if self.plan is None or not self.plan.ok or not self.planning:
            return "A via point is put on a plan: make a plan first."
        track = self.plan.trajectory
        part = t / self.plan.duration
        when = track.t[0] + self.plan.duration * (part if INSIDE[0] <= part <= INSIDE[1] else 0.5)
        passed = [track.t[int(np.abs(track.q - q).max(axis=-1).argmin())] for q in self.wish.via]
        if any(abs(when - other) < 0.02 * self.plan.duration for other in passed):
            return "There is a via point here already: set another time, then add one."
        self.change_to(self.wish.with_via(sum(other < when for other in passed), track(when).q), "")
        return ""

    def add_obstacle(self, shape: str, middle: np.ndarray, size: float) -> bool:
        """One more box or sphere, as in `obstacles.with_new`; it is picked."""
        scene, self.picked = with_new(self.wish, shape, middle, size, self.seen)
        return self.change_to(replace(self.wish, scene=scene), "")

    def change_obstacle(self, name: str, values: dict[str, Any]) -> bool:
        """Another place or size, as in `obstacles.changed`; False where nothing changes."""
        scene = self.wish.scene
        if scene is None or name not in scene.names:
            return False
        wish = replace(self.wish, scene=changed(scene, name, values))
        return self.change_to(wish, f"obstacle {name}")

    def delete_obstacle(self, name: str) -> bool:
        """Take an obstacle away; False where there is none of this name."""
        if self.wish.scene is None or name not in self.wish.scene.names:
            return False
        left = self.wish.scene.without(name)
        self.picked = next(reversed(left.names), "")
        return self.change_to(replace(self.wish, scene=left if left.obstacles else None), "")

    @property
    def seen(self) -> list[np.ndarray]:
        """Configurations (n,) between which all happens: start, goal, via points, and some of the
        plan."""
        wish, plan = self.wish, self.plan
        track = plan.trajectory if plan is not None and plan.ok else None
        if track is None or track.joint_names != self.robot.joint_names:
            return [wish.start, wish.goal, *wish.via]
        return [wish.start, wish.goal, *wish.via, *track.q[:: max(len(track.q) // FEW, 1)]]

    def pin(self) -> None:
        """Keep the present plan to compare others with."""
        if self.plan is None or not self.plan.ok:
            raise ArgumentError("there is no motion to pin yet; make the plan possible first")
        self.other = self.plan

    @property
    def aside(self) -> bool:
        """Whether the other plan stands beside the first one (two cases of a study) or within it (a
        pinned plan)."""
        return self.other is not None and not self.planning

    def take(
        self,
        robot: Robot,
        mesh_folders: tuple[Path, ...] = (),
        remarks: tuple[str, ...] = (),
    ) -> None:
        """Put another robot on the table, with a first move of its own. remarks: as in `Wish`."""
        self._remember("")
        self.wish, self.mesh_folders, self.touched = first_wish(robot, remarks), mesh_folders, False
        self._forget()

    def _forget(self) -> None:
        """Nothing is known of this robot yet."""
        self.step = -1
        self.plan = self.curve = self.least = self.other = None
        self.certified, self.planning, self.problem, self.note = False, True, "", ""

    def found(self, plan: Any, certified: bool, wish: Wish) -> None:
        """A plan was made for a wish, which may be a moment old."""
        self.plan, self.certified, self.problem = plan, certified, ""
        self.note = ""
        if certified and self.curve is not None and wish.same_move(self.wish):
            self.curve = self.curve.including(plan)
        if (
            wish.way != "free"
            and plan.ok
            and np.max(np.abs(plan.trajectory.q[-1] - wish.goal)) > BENT
        ):
            self.note = (
                "The hand gets to its goal on this way, but the arm is then bent in another way"
                " than the orange one."
            )

    def show_program(self, plan: Any) -> None:
        """Look at the plan of the whole program; the wish stays as it is."""
        self.plan, self.certified, self.planning = plan, True, False
        self.problem = self.note = ""

    def look_at(self, plan: Any, other: Any = None) -> None:
        """Look at a saved plan (and another beside it) instead of making one."""
        ends = plan.trajectory.q[0], plan.trajectory.q[-1]
        self.wish = Wish(
            plan.robot, *ends, round(plan.duration, 4), 0.0, named(plan.supply), "energy"
        )
        self.plan, self.other, self.certified, self.planning = plan, other, True, False
        self.problem = self.note = ""
        self.curve = self.least = None

    @property
    def own_supply(self) -> Any:
        """The supply that has no common name: that of the robot, or of the plan that is looked at;
        None where there is none."""
        supply = named(self.plan.supply) if self.plan is not None else None
        return self.robot.supply if supply is None or isinstance(supply, str) else supply

    def guess(self) -> Trajectory | None:
        """Where a new search starts: the curve's motion of this duration, where the move is the same
        one; else the last plan, if it is one of a robot with the same joints."""
        near = self.curve.guess(self.wish.duration) if self.curve is not None else None
        if near is not None and self.wish.objective == "energy":
            return near
        plan = self.plan
        if plan is None or not plan.ok or hasattr(plan, "whole"):  # a program is no single motion
            return None
        if plan.trajectory.joint_names != self.robot.joint_names:
            return None
        return plan.trajectory

    def where(self, which: str) -> Any:
        """The hand's pose at the start or the goal."""
        return pose(self.robot, self.wish.at(which), hand(self.robot))

    def reach(self, which: str, R: np.ndarray, p: np.ndarray) -> str:
        """Bring the hand of the start, goal or a via point to a pose, on its branch; returns what
        is in the way, if anything."""
        target = (R, p) if self.robot.n >= 6 else p
        seed = self.wish.at(which)
        found = inverse_kinematics(
            self.robot, target, hand(self.robot), seed=seed, starts=FEW_STARTS
        )
        q = found.best if found.ok else found.nearest
        if np.max(np.abs(q - seed)) > FAR:
            return (
                "The hand cannot get there the way the arm is bent now. To bend it another way, use"
                " the sliders."
            )
        self.change_to(self.wish.moved(which, q), which)
        return "" if found.ok else "The hand cannot get there: this is the nearest it comes."
