"""What a task file may say, as pydantic models; `job_file.py` makes a Job of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from armature.optimize.transcription.task import SMOOTHNESS
from armature.robot.format.quantities import (
    Angle,
    Coordinate,
    Duration,
    Length,
    Mass,
    Moment,
    Number,
    PerSecond,
    Power,
    Speed,
)
from armature.robot.format.schema import Direction, LimitsPart, Name, Part, Point

SHAPES = ("line", "polyline", "spline", "arc", "circle", "screw", "joints")
POSE_KEYS = {"position", "rpy", "quaternion", "link", "posture"}


def _alternative(**checks: Any) -> Discriminator:
    """Picks the first alternative whose check holds; `otherwise` is what to write instead."""
    otherwise = checks.pop("otherwise")
    find = lambda value: next((name for name, holds in checks.items() if holds(value)), None)
    return Discriminator(find, custom_error_type="alternative", custom_error_message=otherwise)


_is_list = lambda x: isinstance(x, list | tuple)
_is_pose = lambda x: isinstance(x, PosePart) or (isinstance(x, dict) and bool(POSE_KEYS & set(x)))
_is_mapping = lambda x: isinstance(x, dict)
_is_text = lambda x: isinstance(x, str)


Posture = Annotated[
    Annotated[str, Tag("word")]
    | Annotated[dict[str, Coordinate], Tag("joints")]
    | Annotated[list[str | Coordinate], Tag("list")],
    _alternative(
        word=_is_text,
        joints=_is_mapping,
        list=_is_list,
        otherwise=(
            "give words such as elbow up, as the start, or a configuration near the one that is"
            " meant"
        ),
    ),
]


class PosePart(Part):
    """Where the hand is: position, m, and where it matters the orientation, by roll, pitch, yaw or
    a quaternion x, y, z, w."""

    position: Point
    rpy: tuple[Angle, Angle, Angle] | None = None
    quaternion: tuple[Number, Number, Number, Number] | None = None
    link: Name | None = Field(
        None,
        description="the link that shall be there; the tool, or the tip of a chain, by default",
    )
    posture: Posture | None = Field(
        None,
        description=(
            "as the start, elbow up, wrist flipped …, or a configuration near it; by default the"
            " nearest above the floor"
        ),
    )

    @model_validator(mode="after")
    def _one_orientation(self) -> PosePart:
        if self.rpy is not None and self.quaternion is not None:
            raise ValueError("both rpy and quaternion are given; give one of them")
        return self


Configuration = Annotated[
    Annotated[list[Coordinate], Tag("list")]
    | Annotated[PosePart, Tag("pose")]
    | Annotated[dict[str, Coordinate], Tag("joints")],
    _alternative(
        list=_is_list,
        pose=_is_pose,
        joints=_is_mapping,
        otherwise=(
            "give a list of joint coordinates, {joint: value, …}, or a pose of the hand {position:"
            " [x, y, z], rpy: [r, p, y]}"
        ),
    ),
]
Place = Annotated[
    Annotated[Point, Tag("list")] | Annotated[PosePart, Tag("pose")],
    _alternative(
        list=_is_list,
        pose=_is_mapping,
        otherwise="give a point [x, y, z] or a pose {position: [x, y, z], rpy: [r, p, y]}",
    ),
]
Places = Annotated[
    Annotated[list[Place], Tag("list")] | Annotated[str, Tag("file")],
    _alternative(
        list=_is_list,
        file=_is_text,
        otherwise="give a list of points or poses, or the name of a CSV file of them",
    ),
]
Rates = Annotated[
    Annotated[list[Speed], Tag("list")]
    | Annotated[dict[str, Speed], Tag("joints")]
    | Annotated[Speed, Tag("all")],
    _alternative(
        list=_is_list, joints=_is_mapping, all=lambda x: True, otherwise="give velocities"
    ),
]


Smoothness = Annotated[
    Number,
    Field(
        ge=0.0,
        le=1.0,
        description=(
            "0: least energy alone; 0.1: the smoothest motion that keeps 95 % of the saving; 1:"
            " half"
        ),
    ),
]


class ViaPart(Part):
    """A configuration to pass. at: time after the start; velocity: free unless given."""

    configuration: Configuration
    at: Duration | None = None
    velocity: Rates | None = None


Stop = Annotated[
    Annotated[ViaPart, Tag("via")] | Annotated[Configuration, Tag("configuration")],
    _alternative(
        via=lambda x: isinstance(x, dict) and bool({"configuration", "at", "velocity"} & set(x)),
        configuration=lambda x: True,
        otherwise="give a configuration",
    ),
]


Ground = Annotated[
    Annotated[Literal["auto", "none"] | None, Tag("word")] | Annotated[Coordinate, Tag("height")],
    _alternative(
        word=lambda x: x is None or (isinstance(x, str) and x.isalpha()),
        height=lambda x: True,
        otherwise="give a height such as 0 m, none, or auto",
    ),
]


class MovePart(Part):
    """From one configuration to another. Joints that the goal does not name stay where the start
    has them."""

    start: Configuration
    goal: Configuration
    duration: Duration | None = Field(
        None, description="s; to be left out where the least time is asked for"
    )
    via: tuple[Stop, ...] = Field((), max_length=1000)
    start_velocity: Rates = 0.0
    goal_velocity: Rates = 0.0
    smoothness: Smoothness = SMOOTHNESS
    acceleration_limits: Literal["inferred", "none"] = Field(
        "inferred", description="inferred from the drives where the robot has none"
    )


class CirclePart(Part):
    """An arc of `angle` (a full circle by default) from a point or pose, about a centre and a
    normal."""

    start: Place
    centre: Point
    normal: Direction
    angle: Angle = 6.283185307179586
    turning: bool = False


class ScrewPart(Part):
    """A screw motion about an axis through a centre, going `advance` along it."""

    start: Place
    centre: Point
    axis: Direction
    angle: Angle
    advance: Length
    turning: bool = True


class PathPart(Part):
    """A path of the hand or of the joints: exactly one of line, polyline, spline, arc, circle,
    screw, joints."""

    line: Annotated[list[Place], Field(min_length=2, max_length=2)] | None = None
    polyline: Places | None = None
    spline: Places | None = None
    arc: Annotated[list[Place], Field(min_length=3, max_length=3)] | None = None
    circle: CirclePart | None = None
    screw: ScrewPart | None = None
    joints: list[Configuration] | None = None
    blend: Length = Field(0.0, description="how far from a corner of a polyline it is rounded, m")
    closed: bool = Field(False, description="a spline that returns to its first point")
    duration: Duration | None = Field(None, description="s; left out: the duration is chosen")
    time_price: Power = Field(
        0.0, description="W: what a second costs beside the energy where the duration is free"
    )
    link: Name | None = Field(
        None, description="what follows the path; the tip of a chain by default"
    )
    start: Configuration | None = Field(
        None, description="the configuration at the beginning of a hand's path"
    )
    seed: Configuration | None = Field(None, description="a configuration near the beginning")
    home: Configuration | None = Field(None, description="where a redundant arm is drawn to")
    pull: Number = 2.0
    start_speed: PerSecond = 0.0
    end_speed: PerSecond = 0.0

    @model_validator(mode="after")
    def _one_shape(self) -> PathPart:
        given = [name for name in SHAPES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"{' and '.join(given) or 'no shape'} given; give one of {', '.join(SHAPES)}"
            )
        return self

    @property
    def shape(self) -> str:
        """Which of the shapes is given."""
        return next(name for name in SHAPES if getattr(self, name) is not None)


class PayloadPart(Part):
    """A mass on a link: its centre in the link's frame, the tip of a chain by default; its moments
    of inertia about the centre."""

    mass: Mass
    at: Point | None = None
    link: Name | None = None
    inertia: tuple[Moment, ...] | None = Field(
        None, description="xx, yy, zz or xx, yy, zz, xy, xz, yz about the centre, kg·m²"
    )


class ToolPart(Part):
    """The tool centre point: a frame on a link, the tip of a chain by default."""

    position: Point = (0.0, 0.0, 0.0)
    rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    link: Name | None = None
    name: Name = "tcp"


Payload = Annotated[
    Annotated[PayloadPart, Tag("mapping")] | Annotated[Mass, Tag("mass")],
    _alternative(mapping=_is_mapping, mass=lambda x: True, otherwise="give a mass"),
]
FileOrMapping = Annotated[
    Annotated[str, Tag("file")] | Annotated[dict[str, Any], Tag("mapping")],
    _alternative(
        file=_is_text, mapping=_is_mapping, otherwise="give the name of a file, or a mapping"
    ),
]
Supplied = Annotated[
    Annotated[str, Tag("name")] | Annotated[dict[str, Any], Tag("mapping")],
    _alternative(
        name=_is_text,
        mapping=_is_mapping,
        otherwise="give regenerative, non-regenerative, or {kind: bus, capacitance: …, …}",
    ),
]
LimitsOrFile = Annotated[
    Annotated[str, Tag("file")] | Annotated[dict[str, LimitsPart], Tag("mapping")],
    _alternative(
        file=_is_text,
        mapping=_is_mapping,
        otherwise="give MoveIt's joint_limits.yaml, or a mapping {joint: {velocity: …, torque: …}}",
    ),
]
Arguments = dict[str, str | bool | int | float]
Held = Annotated[
    Annotated[list[str], Tag("list")] | Annotated[dict[str, Coordinate], Tag("joints")],
    _alternative(
        list=_is_list,
        joints=_is_mapping,
        otherwise="give a list of joints that stay still, or {joint: value}",
    ),
]


class TaskFile(Part):
    """One plan to be made. File names are relative to the task file's own folder."""

    armature: Literal[1] = 1
    name: str = ""
    robot: Name = Field(
        description="a robot file (.urdf, .yaml, .xml, .xacro), or the name of a built-in robot"
    )
    arguments: Arguments | None = Field(
        None, description="{name: value} of a xacro file's arguments, e.g. {ur_type: ur5e}"
    )
    drives: FileOrMapping | None = Field(
        None, description="a drives file, or {joint: drive}; by default those of the robot's file"
    )
    payload: Payload | None = None
    tool: ToolPart | None = Field(
        None, description="the tool centre point, which goals and paths of the hand are meant for"
    )
    limits: LimitsOrFile | None = None
    friction: dict[str, dict[str, Number]] | None = Field(
        None, description="{joint: {viscous: …, coulomb: …}}, SI"
    )
    hold: Held | None = Field(
        None, description="joints that stay still and need no drive, by name or pattern (gripper_*)"
    )
    supply: Supplied | None = Field(
        None, description="regenerative, non-regenerative, or {kind: bus, capacitance: …, …}"
    )
    objective: Literal["energy", "time"] = "energy"
    move: MovePart | None = None
    path: PathPart | None = None
    floor: Ground = Field(
        "auto",
        description=(
            "height of the floor that all links stay above, m; none; auto: under the base of an arm"
        ),
    )
    scene: FileOrMapping | None = Field(
        None, description="obstacles: a scene file, ours or MoveIt's, or {objects: {name: …}}"
    )
    knots: Annotated[int, Field(ge=4, le=20_000, strict=True)] = 100
    output: str | None = Field(
        None, description="the folder where the plan and its report are written"
    )

    @model_validator(mode="after")
    def _one_task(self) -> TaskFile:
        if (self.move is None) == (self.path is None):
            raise ValueError(
                "give either move: {start, goal, duration} or path: {line: […], …}, or program:"
                " {start, steps}"
            )
        return self
