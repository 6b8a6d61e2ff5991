"""Pictures of identifications: what they show is what was given."""

import math

import numpy as np
import pytest

from armdyn import ArmdynError
from armdyn.identification.plots import MOST_POINTS, Estimate, Torques, draw

pytest.importorskip("matplotlib", reason="plots need matplotlib")


@pytest.fixture
def torques():
    rng = np.random.default_rng(0)
    times = [np.arange(100) / 100, 2 + np.arange(50) / 100]
    measured = [rng.standard_normal((len(t), 2)) for t in times]
    predicted = [each + [0.5, -2.0] for each in measured]
    return Torques(["shoulder", "slide_$x$"], "RP", times, measured, predicted)


ESTIMATES = [
    Estimate("XX1", 2.0, 0.1, "kg m^2", 1.5),
    Estimate("ZZ1 + a$b$", 3.0, 0.2, "kg m^2", 3.1),
    Estimate("viscous1", 8.0, 0.5, "N m s/rad", 0.0),
    Estimate("mass1", 1.0, math.inf, "kg", 1.0),
]


def test_torques_are_drawn_a_panel_a_joint_and_segments_apart(torques):
    figure = draw("an arm", torques)
    first, second = figure.axes
    assert first.get_ylabel() == "torque [N m]" and second.get_ylabel() == "force [N]"
    assert second.get_xlabel() == "time [s]"
    assert first.get_title("left") == "shoulder: rms of the difference 0.5 N m"
    assert second.get_title("left") == "slide_$x$: rms of the difference 2 N"
    lines = first.get_lines()
    assert len(lines) == 6  # three a segment
    np.testing.assert_array_equal(lines[0].get_ydata(), torques.measured[0][:, 0])
    np.testing.assert_array_equal(lines[4].get_ydata(), torques.predicted[1][:, 0])
    np.testing.assert_allclose(lines[5].get_ydata(), -0.5)
    legend = [text.get_text() for text in first.get_legend().get_texts()]
    assert legend == ["measured", "predicted", "measured - predicted"]


def test_long_records_are_thinned():
    t = np.arange(10 * MOST_POINTS) / 1e3
    tau = np.zeros((len(t), 1))
    figure = draw("long", Torques(["a"], "R", [t], [tau], [tau]))
    assert all(len(line.get_xdata()) == MOST_POINTS for line in figure.axes[0].get_lines())


def test_parameters_are_drawn_a_panel_a_unit_with_their_intervals():
    figure = draw("an arm", estimates=ESTIMATES)
    inertias, friction, masses = figure.axes
    assert [axes.get_ylabel() for axes in figure.axes] == ["[kg m^2]", "[N m s/rad]", "[kg]"]
    names = [label.get_text() for label in inertias.get_xticklabels()]
    assert names == ["XX1", "ZZ1 + a$b$"]
    (bars,) = inertias.containers
    (segments,) = (lines.get_segments() for lines in bars.lines[2])
    low, high = segments[0][:, 1]  # of a normal distribution, 95 % lie within 1.96 deviations
    assert (low, high) == pytest.approx((2 - 0.195996, 2 + 0.195996), abs=1e-6)
    before = next(line for line in inertias.get_lines() if line.get_label() == "before")
    assert before.get_ydata().tolist() == [1.5, 3.1]
    crosses = next(line for line in masses.get_lines() if line.get_label() == "not determined")
    assert crosses.get_ydata().tolist() == [1.0]


def test_parameters_of_very_different_sizes_are_all_seen():
    few = [Estimate(f"XX{i}", 0.1 * i, 0.01, "kg m^2") for i in range(1, 6)]
    alike = draw("an arm", estimates=few).axes[0]
    apart = draw("an arm", estimates=[*few, Estimate("ZZ1", 700.0, 1.0, "kg m^2")]).axes[0]
    assert (alike.get_yscale(), apart.get_yscale()) == ("linear", "symlog")
    labels = [text.get_text() for text in alike.get_legend().get_texts()]
    assert labels == ["identified, 95 %"]


def test_errors_of_the_rows_that_count_are_said_where_they_are_given(torques):
    figure = draw("an arm", torques._replace(rms=[0.125, 3.0]))
    assert figure.axes[0].get_title("left").endswith("difference 0.125 N m")


def test_both_are_drawn_side_by_side_and_saved(torques, tmp_path):
    figure = draw("an arm", torques, ESTIMATES, tmp_path / "fit.png")
    assert len(figure.axes) == 5
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    with pytest.raises(ArmdynError, match="its suffix must be one of"):
        draw("an arm", torques, path=tmp_path / "fit.xyz")
    assert not (tmp_path / "fit.xyz").exists()
