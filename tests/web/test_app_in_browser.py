"""The app in a real browser: it loads, is dragged, plans, plays, has its curve clicked, and no
request leaves the machine."""

import time
import zlib

import numpy as np
import pytest

import armature as arm
from armature.study.store import open_store
from armature.web.opening import opened
from armature.web.panel.drives import drive_of
from armature.web.server import Server
from armature.web.space.scene import matrix
from browser import NO_PICTURE, shot, window

PATIENCE = 300.0  # seconds: machines that test may be slow and busy


@pytest.fixture(scope="module")
def app():
    server = Server()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def small():
    server = Server(opened("planar2"))
    yield server
    server.stop()


def wait(page, condition, what, seconds=PATIENCE):
    """Until a condition of the server's side holds; the page lives on meanwhile."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        page.wait_for_timeout(50)
    shot(page, "failed")
    pytest.fail(
        f"{what}: not within {seconds:g} s; the card says: {page.inner_text('.armature-card')}"
    )


def visit(server, page, size=(1000, 640)):
    """Open the page; the desk of this browser, once its first plan is on screen. What is tested is
    the page and the server's side, not the picture."""
    page.add_init_script(NO_PICTURE)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.set_default_timeout(PATIENCE * 1000)
    before = set(server.desks)
    page.goto(server.address)
    page.wait_for_selector(".armature-card", timeout=PATIENCE * 1000)
    wait(page, lambda: set(server.desks) - before, "desk")
    (number,) = set(server.desks) - before
    desk = server.desks[number]
    says(page, " J")
    if (
        desk._mail.ticking
    ):  # a picture that moves costs this machine's software renderer most of its time
        desk.act("play", None)
    return desk


def says(page, text):
    """Wait until the card says this."""
    condition = "text => document.querySelector('.armature-card')?.innerText.includes(text)"
    page.wait_for_function(condition, arg=text, timeout=PATIENCE * 1000)


def at_rest(page, desk):
    """Wait until nothing is being planned."""
    wait(page, lambda: desk.session.curve is not None and desk.session.certified, "proof and curve")


def frames(page, count):
    """Let the browser draw so many pictures."""
    page.evaluate(
        "n => new Promise(done => { const f = () => n-- > 0 ? requestAnimationFrame(f) : done();"
        " f() })",
        count,
    )


def slider(page, label):
    """The thumb of a slider, by its label."""
    row = page.locator("label:visible", has_text=label).first.locator(
        "xpath=ancestor::div[.//*[@role='slider']][1]"
    )
    return row.locator("[role=slider]").first


def set_slider(page, label, value):
    """Drag a slider's thumb to a value with the mouse; again where the page moved under it."""
    thumb = slider(page, label)
    for _ in range(6):
        thumb.scroll_into_view_if_needed()
        low, high, now = (
            float(thumb.get_attribute(f"aria-value{name}")) for name in ("min", "max", "now")
        )
        if abs(now - value) < 0.05 * (high - low):
            return
        box, track = thumb.bounding_box(), thumb.locator("xpath=..").bounding_box()
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] / 2, y)
        page.mouse.down()
        for v in np.linspace(now, value, 6)[1:]:
            page.mouse.move(track["x"] + (v - low) / (high - low) * track["width"], y)
            frames(page, 1)
        page.mouse.up()
        frames(page, 2)
    pytest.fail(f"the slider {label} could not be dragged to {value}; it stands at {now}")


def pixel(page, desk, point):
    """Where a point in space is on the page."""
    camera = desk._client.camera
    box = page.locator("canvas").first.bounding_box()
    ahead = camera.look_at - camera.position
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up, d = np.cross(right, ahead), np.asarray(point) - camera.position
    scale = box["height"] / 2 / np.tan(camera.fov / 2) / (d @ ahead)
    return np.array(
        [
            box["x"] + box["width"] / 2 + scale * (d @ right),
            box["y"] + box["height"] / 2 - scale * (d @ up),
        ]
    )


def test_a_plan_is_on_screen_and_follows_every_change(app, page):
    desk = visit(app, page, (1280, 800))
    assert desk.session.robot.name == "six_axis"
    says(page, "less than the ordinary motion")
    at_rest(page, desk)
    says(page, "Proved")
    shot(page, "app")
    seen = page.locator("canvas").first.bounding_box()
    for which in ("start", "goal"):  # both hands are seen, not behind a panel
        x, y = pixel(page, desk, desk._scene._handles[which].position) - (seen["x"], seen["y"])
        assert (
            0.02 * seen["width"] < x < 0.98 * seen["width"]
            and 0.02 * seen["height"] < y < 0.98 * seen["height"]
        )

    # a click on the curve sets the duration
    curve = page.locator(".armature-curve")
    box = curve.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    least, most = desk.session.curve.durations[[0, -1]]
    wait(page, lambda: desk.session.wish.duration != 1.6, "click on the curve")
    T = desk.session.wish.duration
    assert 0.4 * most < T < 0.6 * most and least < T
    wait(page, lambda: desk.session.plan.duration == pytest.approx(T), "plan of that duration")
    says(page, f"in {T:.3g} s")

    # scrubbing puts the robot where the plan has it
    set_slider(page, "Time [s]", 0.5 * T)
    wait(page, lambda: abs(desk._player.t - 0.5 * T) < 0.1 * T, "scrub")
    q = desk.session.plan.trajectory(desk._player.t).q
    hand = arm.pose(desk.session.robot, q, "tool").p
    k, node = desk._scene._figures["plan"]._nodes[-1]
    assert desk.session.robot.links[k].name == "tool"
    np.testing.assert_allclose(node.position, hand, atol=1e-6)

    # play and pause
    page.get_by_role("button", name="Play").click()
    before = desk._player.t
    wait(page, lambda: desk._player.t != before, "play")
    page.get_by_role("button", name="Pause").click()
    wait(page, lambda: not desk._mail.ticking, "pause")

    # too short a time is refused in red, with the button that helps
    set_slider(page, "Duration [s]", 0.4)
    page.wait_for_selector(".armature-refusal", timeout=PATIENCE * 1000)
    shot(page, "app_refused")
    button = page.get_by_role("button", name="Use")
    button.wait_for(timeout=PATIENCE * 1000)
    button.click()
    wait(page, lambda: desk.session.plan is not None and desk.session.plan.ok, "remedy")
    says(page, "drawn in")
    assert page.strangers == [] and page.mistakes == []


def test_handles_are_dragged_by_mouse_and_files_come_and_go(app, page, tmp_path):
    desk = visit(app, page, (1280, 640))
    frames(page, 3)
    goal, session = desk.session.wish.goal, desk.session
    handle = desk._scene._handles["goal"]
    p, R = np.array(handle.position), matrix(np.array(handle.wxyz))
    here = pixel(page, desk, p)
    arrows = [pixel(page, desk, p + 0.85 * desk._scene._gizmo * R[:, k]) - here for k in range(3)]
    arrow = max(arrows, key=np.linalg.norm)
    x, y = here + arrow
    page.mouse.move(x, y)
    frames(page, 3)
    page.mouse.down()
    for k in range(1, 7):
        page.mouse.move(x - arrow[0] * k / 8, y - arrow[1] * k / 8)
        frames(page, 1)
    page.mouse.up()
    wait(page, lambda: not np.array_equal(session.wish.goal, goal), "drag of the goal")
    assert np.abs(session.wish.goal - goal).max() < 1.2  # the same branch
    wait(
        page,
        lambda: session.plan.ok and np.allclose(session.plan.trajectory.q[-1], session.wish.goal),
        "plan to the new goal",
    )

    # joints by slider
    page.get_by_role("tab", name="Start").click()
    set_slider(page, "pan [°]", -90.0)
    wait(page, lambda: abs(np.degrees(session.wish.start[0]) + 90) < 40, "slider of the start")
    says(page, " J")

    # a download
    wait(
        page,
        lambda: session.plan.ok and np.allclose(session.plan.trajectory.q[0], session.wish.start),
        "plan from the new start",
    )
    page.get_by_role("tab", name="Save").click()
    desk._panel._kind.value = "Motion, table (.csv)"
    with page.expect_download(timeout=PATIENCE * 1000) as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "motion.csv")
    np.testing.assert_allclose(
        arm.motion.load_trajectory(tmp_path / "motion.csv").q[-1], session.wish.goal, atol=1e-9
    )

    # an upload, and one that is too large
    page.get_by_role("tab", name="Robot").click()
    (tmp_path / "mine.yaml").write_text(
        arm.library("scara").to_yaml().replace("name: scara", "name: mine", 1)
    )
    (tmp_path / "bomb.npz").write_bytes(bytes(40 * 2**20))
    chooser = page.locator("input[type=file]")
    chooser.set_input_files(tmp_path / "bomb.npz")
    chooser.set_input_files(tmp_path / "mine.yaml")
    wait(
        page,
        lambda: session.robot.name == "mine" and session.plan is not None and session.plan.ok,
        "uploaded robot",
    )
    assert page.strangers == [] and page.mistakes == []
    shot(page, "app_upload")


def test_browsers_do_not_disturb_each_other_and_may_leave_at_any_time(app, page, browser):
    first = visit(app, page, (800, 500))
    context = window(browser, 900, 600)
    other = context.new_page()
    second = visit(app, other, (800, 500))
    assert first is not second
    wish, plan, labels = (
        first.session.wish,
        first.session.plan,
        slider(page, "Duration [s]").get_attribute("aria-valuenow"),
    )
    second.act("robot", "scara")
    wait(
        other,
        lambda: second.session.robot.name == "scara" and second.session.plan is not None,
        "robot of the other browser",
    )
    for k in range(100):
        second.act("duration", 1.0 + 0.01 * k)
    second.act("robot", "seven_axis")
    wait(other, lambda: second.session.robot.name == "seven_axis", "third robot")
    # the first browser has seen nothing of it
    assert first.session.wish is wish and first.session.robot.name == "six_axis"
    assert first.session.plan.duration == plan.duration
    assert slider(page, "Duration [s]").get_attribute("aria-valuenow") == labels
    assert first._client.camera.position.shape == (3,)
    # the other tab is closed in the middle of a solve
    context.close()
    wait(page, lambda: second._client.client_id not in app.desks, "desk of the closed tab is gone")
    second.join(60.0)
    assert not second.alive
    first.act("duration", 1.9)
    wait(
        page, lambda: first.session.plan.duration == pytest.approx(1.9), "the first browser goes on"
    )
    says(page, "in 1.9 s")


def test_cases_of_a_study_are_looked_at_and_compared(page, tmp_path):
    robot = arm.library("planar2")
    with open_store(tmp_path / "study.db", write=True) as store:
        store.sync([("a", {"duration": 0.8}), ("b", {"duration": 1.2})], {})
        for name, T in (("a", 0.8), ("b", 1.2)):
            plan = arm.minimize_energy(robot, arm.Move([-0.6, 0.6], [0.6, -0.6], T), knots=30)
            plan.save(tmp_path / f"{name}.npz")
            store.finish(
                [
                    (
                        name,
                        "done",
                        {"energy": plan.energy},
                        "",
                        0.1,
                        zlib.compress((tmp_path / f"{name}.npz").read_bytes()),
                    )
                ]
            )
    server = Server(opened(str(tmp_path / "study.db")))
    try:
        desk = visit(server, page)
        says(page, "in 0.8 s")
        assert not desk.session.planning and "duration" in page.inner_text("table >> nth=-1")
        desk.act("beside", desk._cases.labels[1])
        says(page, "beside it")
        assert desk.session.other.duration == pytest.approx(1.2)
        ghost, plan = desk._scene._figures["pinned"], desk._scene._figures["plan"]
        assert (
            ghost.visible and ghost._nodes[0][1].position[1] > plan._nodes[0][1].position[1] + 0.5
        )  # it stands beside the other
        shot(page, "app_study")
        desk.act("duration", 1.0)  # from here on, plan
        wait(
            page,
            lambda: desk.session.planning and desk.session.plan.duration == pytest.approx(1.0),
            "planning from a case",
        )
        assert page.strangers == [] and page.mistakes == []
    finally:
        server.stop()


def test_keyboard_plays_steps_undoes_and_turns_the_view(small, page):
    desk = visit(small, page, (700, 500))
    wait(page, lambda: desk.session.certified, "proof")
    session, T = desk.session, desk.session.wish.duration
    page.mouse.click(150, 20)  # the keyboard is the page's, not a field's
    page.keyboard.press("Home")
    wait(page, lambda: desk._player.t == 0.0, "to the start")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    wait(page, lambda: desk._player.t == pytest.approx(0.06 * T), "three steps ahead")
    page.keyboard.press("ArrowLeft")
    wait(page, lambda: desk._player.t == pytest.approx(0.04 * T), "one step back")
    page.keyboard.press("Space")
    wait(page, lambda: desk._mail.ticking, "space plays")
    page.keyboard.press("Space")
    wait(page, lambda: not desk._mail.ticking, "space pauses")

    # a slider keeps its own arrow keys
    thumb, t = slider(page, "Duration [s]"), desk._player.t
    thumb.focus()
    page.keyboard.press("ArrowRight")
    wait(page, lambda: session.wish.duration > T, "arrow on a slider")
    assert desk._player.t == t
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    wait(page, lambda: session.wish.duration == T, "undo")
    page.keyboard.press("Control+Shift+z")
    wait(page, lambda: session.wish.duration > T, "redo")

    # the view from above and back
    page.keyboard.press("3")
    camera = desk._client.camera
    above = lambda: (
        (camera.position - camera.look_at) / np.linalg.norm(camera.position - camera.look_at)
    )
    wait(page, lambda: above()[2] > 0.99, "from above")
    for _ in range(10):  # on busy machines the answer to the view before may come last
        page.get_by_role("button", name="Front").click()
        page.wait_for_timeout(2000)
        if above()[0] > 0.99:
            break
    assert above()[0] > 0.99, "from the front"
    assert page.strangers == [] and page.mistakes == []


def test_via_points_and_a_pinned_plan_by_the_panel(small, page):
    desk = visit(small, page, (700, 600))
    desk.act("duration", 2.0)
    wait(
        page,
        lambda: desk.session.certified and desk.session.plan.duration == pytest.approx(2.0),
        "slower plan",
    )
    session, first = desk.session, desk.session.plan
    page.get_by_role("button", name="Pin", exact=True).click()
    wait(page, lambda: session.other is first, "pin")
    says(page, "pinned")
    assert desk._scene._figures["pinned"].visible and not desk._scene._figures["ghost"].visible
    desk.act("time", 0.5 * first.duration)
    page.get_by_role("tab", name="Via").click()
    page.get_by_role("button", name="Add a via point").click()
    wait(page, lambda: len(session.wish.via) == 1, "via point")
    name = session.robot.joint_names[0]
    turned = float(np.degrees(session.wish.via[0][0])) + 25
    set_slider(page, f"{name} [°]", turned)
    wait(
        page,
        lambda: abs(np.degrees(session.wish.via[0][0]) - turned) < 22,
        "slider of the via point",
    )
    passed = lambda: (
        np.abs(
            session.plan.trajectory(np.linspace(0, session.plan.duration, 500)).q
            - session.wish.via[0]
        )
        .max(axis=-1)
        .min()
    )
    wait(
        page,
        lambda: session.plan is not first and session.plan.ok and passed() < 0.05,
        "plan by way of it",
    )
    shot(page, "app_via")
    compared = page.inner_text(".armature-beside")
    assert f"{first.energy:.4g} J" in compared and "peak torque" in compared

    # its handle is where the hand is then, and deleting it goes back to the first move
    hand = arm.pose(session.robot, session.wish.via[0], session.robot.tips[0]).p
    np.testing.assert_allclose(desk._scene._handles["via 1"].position, hand, atol=1e-6)
    page.get_by_role("button", name="Delete it").click()
    wait(page, lambda: not session.wish.via and "via 1" not in desk._scene._handles, "deleted")
    page.get_by_role("button", name="Unpin").click()
    wait(page, lambda: session.other is None, "unpin")
    assert page.strangers == [] and page.mistakes == []


def test_limits_and_drives_are_set_by_the_panel(small, page):
    desk = visit(small, page, (700, 600))
    session = desk.session
    ratio_of = lambda robot: drive_of(robot, "shoulder").gear.ratio
    page.get_by_role("tab", name="Drives").click()
    field = lambda label: page.get_by_label(label, exact=True).first
    field("Velocity [rad/s]").fill("1.25")
    field("Velocity [rad/s]").press("Tab")
    page.get_by_role("button", name="Set these limits").click()
    wait(page, lambda: session.robot.joint("shoulder").limits.velocity == 1.25, "limit")
    wait(page, lambda: session.plan.robot.joint("shoulder").limits.velocity == 1.25, "plan with it")
    ratio = ratio_of(session.robot)
    field("Gear ratio").fill("80")
    field("Gear ratio").press("Tab")
    page.get_by_role("button", name="Set this drive").click()
    wait(page, lambda: ratio_of(session.robot) == 80.0, "gear")
    shot(page, "app_drives")
    desk.act("undo", None)
    wait(page, lambda: ratio_of(session.robot) == ratio, "undo of the gear")
    field("Gear ratio").fill("0")
    field("Gear ratio").press("Tab")
    page.get_by_role("button", name="Set this drive").click()
    says(page, "ratio")  # refused in a sentence
    assert page.strangers == [] and page.mistakes == []


def test_on_a_phone_the_robot_stands_above_the_sheet_and_everything_fits_its_width(app, browser):
    context = window(browser, 390, 844, has_touch=True, is_mobile=True)
    page = context.new_page()
    try:
        desk = visit(app, page, (390, 844))
        frames(page, 5)
        sheet = page.locator("div[style*='max-height: 60%']").first.bounding_box()
        assert sheet["width"] == pytest.approx(390, abs=2) and sheet["y"] > 0.45 * 844
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for which in ("start", "goal"):
            x, y = pixel(page, desk, desk._scene._handles[which].position)
            assert 0 < x < 390 and 0 < y < sheet["y"]
        button = page.get_by_role("button", name="Play").bounding_box()
        assert button["width"] > 300 and button["x"] + button["width"] <= 390
        shot(page, "app_phone")
    finally:
        context.close()


def test_tool_and_payload_are_set_by_the_panel(small, page):
    desk = visit(small, page, (700, 600))
    session, bare = desk.session, desk.session.robot
    page.get_by_role("tab", name="Tool").click()

    def type_into(label, values):
        row = page.get_by_text(label, exact=True).locator("xpath=ancestor::div[.//input][1]")
        for k, value in enumerate(values):
            row.locator("input").nth(k).fill(str(value))
            row.locator("input").nth(k).press("Tab")

    type_into("x, y, z [mm]", (100, 0, 50))
    page.get_by_role("button", name="Set this tool").click()
    wait(page, lambda: session.robot.tip == "tcp", "tool")
    tip = arm.pose(bare, session.wish.goal, bare.tips[0])
    where = tip.p + tip.R @ np.array([0.1, 0.0, 0.05])
    wait(
        page,
        lambda: np.allclose(desk._scene._handles["goal"].position, where, atol=1e-6),
        "handle at the tool",
    )
    type_into("Centre [mm]", (0, 0, 40))
    type_into("Inertia [g·m²]", (3, 4, 5))
    page.get_by_role("button", name="Set this payload").click()
    wait(page, lambda: session.wish.centre == pytest.approx((0, 0, 0.04)), "centre")
    assert session.wish.inertia == pytest.approx((0.003, 0.004, 0.005))
    shot(page, "app_tool")
    page.get_by_role("button", name="Take the tool off").click()
    wait(page, lambda: session.robot == bare, "tool taken off")
    desk.act("undo", None)
    wait(page, lambda: session.robot.tip == "tcp", "undo")
    assert page.strangers == [] and page.mistakes == []


def test_an_obstacle_is_dragged_into_the_way_and_the_plan_goes_round_it(small, page):
    desk = visit(small, page)
    for which, q in (("start", -0.9), ("goal", 0.9)):
        desk.act(f"joint {which} 0", (which, 0, q))
        desk.act(f"joint {which} 1", (which, 1, 0.2))
    desk.act("duration", 1.5)
    desk.act("floor", "none")
    wait(page, lambda: desk.session.wish.floor is None and desk.session.certified, "move")
    page.get_by_role("tab", name="Obstacles").click()
    page.get_by_role("button", name="Add a sphere").click()
    free = lambda: "obstacles: free" in str(desk.session.plan.notes) and desk.session.certified
    wait(page, free, "plan beside the sphere")
    track = desk.session.plan.trajectory
    desk.act("obstacle", ("sphere 1", {"size": (0.1,)}))
    desk._dragged("obstacle sphere 1", np.eye(3), np.array([0.2, 0.0, -1.98]), True)
    wait(page, lambda: desk.session.plan.trajectory is not track and free(), "plan round it")
    (sphere,) = desk.session.wish.scene.obstacles
    assert sphere.size == (0.1,) and sphere.position == (0.2, 0.0, -1.98)
    q = desk.session.plan.trajectory(np.linspace(0.0, desk.session.plan.duration, 1000)).q
    assert arm.distance(desk.session.robot, desk.session.wish.scene, q).least.min() > 0.0
    assert arm.distance(desk.session.robot, desk.session.wish.scene, track.q).least.min() < 0.0
    page.get_by_role("button", name="Delete it").locator("visible=true").click()
    wait(page, lambda: desk.session.wish.scene is None, "no obstacle")
    assert not page.mistakes


def test_a_program_is_made_by_clicks_planned_and_shown(small, page):
    desk = visit(small, page, (1000, 900))
    page.get_by_role("tab", name="Program").click()
    for count, kind in enumerate(("Move", "Grip", "Back", "Release"), start=1):
        page.get_by_role("button", name=kind, exact=True).click()
        rows = lambda count=count: page.locator(".armature-steps tr").count() == count
        wait(page, rows, kind)
    assert [type(s).__name__ for s in desk.session.wish.program.steps] == [
        "MoveTo",
        "Grip",
        "MoveTo",
        "Release",
    ]
    page.get_by_role("button", name="Plan the program").click()
    wait(page, lambda: hasattr(desk.session.plan, "whole"), "program")
    says(page, "least cycle")
    assert desk.session.plan.whole.ok and page.locator(".armature-stages tr").count() > 3
    assert not page.mistakes
