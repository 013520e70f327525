"""A study: the same move over payloads and durations, in all cores; run it again and only what is
missing is computed."""

import numpy as np
from matplotlib.figure import Figure

import armature as arm


def main() -> None:
    move = arm.Move([-1.0, 1.2, 0.15, 0.0], [1.0, -0.8, 0.05, 1.5], duration=1.0)
    base = arm.job.Job(arm.library("scara"), move, supply="non-regenerative", knots=50)
    payloads = [0.5, 1.5, 4.0]
    vary = {"payload": payloads, "duration": {"from": 0.6, "to": 1.5, "count": 5}}
    study = arm.study.Study(base, vary=vary, name="12_a_study")
    results = arm.study.run_study(study)  # kept in 12_a_study.db
    print(results)

    page = Figure(figsize=(7, 4), layout="constrained")
    axes = page.subplots()
    table = {name: np.array(column, dtype=object) for name, column in results.table().items()}
    for payload in payloads:
        rows = (table["payload"] == payload) & (table["ok"] == True)  # noqa: E712  an array
        T, E = (table[name][rows].astype(float) for name in ("given_duration", "energy"))
        axes.plot(T, E, "o-", label=f"{payload:g} kg")
    axes.set(xlabel="duration, s", ylabel="energy drawn, J", title="A SCARA's move")
    axes.legend(title="payload")
    page.savefig("12_a_study.png", dpi=120)


if __name__ == "__main__":  # workers are processes of their own
    main()
