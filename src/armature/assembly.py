"""Who does the work of methods that reach further along the line of rooms (seam.py). Called once,
when the package is imported."""

from __future__ import annotations

from armature.seam import provide


def assemble() -> None:
    """Name the function behind every such method; its room is imported when the method is first
    called."""
    provide("Trajectory.save", lambda: _formats().save)
    provide("Trajectory.load", lambda: _formats().load_trajectory)
    provide("Scene.load", lambda: _scene_files().load_scene)
    provide("Scene.with_srdf", lambda: _scene_files().disabled_pairs)
    provide("Scene.to_yaml", lambda: _scene_text().scene_text)
    provide("Move.in_posture", lambda: _posture().in_posture)
    provide("Move.check_posture", lambda: _posture().check_posture)
    provide("Move.scene", lambda: _around().plan_around)
    provide("Move.scene ways", lambda: _ways_around().ways_around)
    provide("Solution.save", lambda: _saved().save_plan)
    provide("Solution.report", lambda: _report().write_report)
    provide("Solution.sensitivity", lambda: _sensitivity().sensitivity)
    provide("Solution.sensitivities", lambda: _sensitivity().sensitivities)
    provide("SavedPlan.report", lambda: _report().write_report)
    provide("Identified.report", lambda: _identification().write_identification)
    provide("Identified.save", lambda: _identification().save_identification)
    provide("ProgramPlan.save", lambda: _saved_program().save_program)
    provide("ProgramPlan.report", lambda: _program_page().write_program_report)
    provide("CellPlan.report", lambda: _cell_page().write_cell_report)


def _formats():
    import armature.motion.formats as formats

    return formats


def _scene_files():
    import armature.scene.read as read

    return read


def _scene_text():
    import armature.scene.write as write

    return write


def _posture():
    import armature.optimize.planner.posture as posture

    return posture


def _around():
    import armature.optimize.around.around as around

    return around


def _ways_around():
    import armature.optimize.around.ways as ways

    return ways


def _saved():
    import armature.job.saved as saved

    return saved


def _sensitivity():
    import armature.design.sensitivity as sensitivity

    return sensitivity


def _report():
    import armature.plot.report as report

    return report


def _identification():
    import armature.plot.identification as identification

    return identification


def _saved_program():
    import armature.cell.program.saved_program as saved_program

    return saved_program


def _program_page():
    import armature.plot.programs.program as program

    return program


def _cell_page():
    import armature.plot.programs.cell_page as cell_page

    return cell_page
