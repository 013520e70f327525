from armature.study.file import load_study as load_study
from armature.study.line import Line as Line
from armature.study.line import Station as Station
from armature.study.line import balance_line as balance_line
from armature.study.line_file import load_line as load_line
from armature.study.run import run_study as run_study
from armature.study.spec import Study as Study
from armature.study.summary import load_results as load_results
