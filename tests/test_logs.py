"""Logs of real arms: read as they were written, and refused by file, line, column and value."""

import builtins
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armdyn
from armdyn import IdentificationError, Log
from armdyn.identification import formats

HEADER = "t,q1,q2,tau1,tau2"
ROWS = ["0.0,1,2,3,4", "0.1,1.5,2.5,3.5,4.5", "0.2,-1,-2e-1,.5,+7"]
TABLE = np.array([[0.0, 1, 2, 3, 4], [0.1, 1.5, 2.5, 3.5, 4.5], [0.2, -1, -0.2, 0.5, 7]])


@pytest.fixture
def file(tmp_path):
    """Writes a text to log.csv."""

    def write(*lines, name="log.csv", end="\n"):
        path = tmp_path / name
        path.write_bytes(end.join(lines).encode() + end.encode())
        return path

    return write


def assert_table(log, table=TABLE):
    np.testing.assert_array_equal(log.t, table[:, 0])
    np.testing.assert_array_equal(log.q, table[:, 1:3])
    np.testing.assert_array_equal(log.tau, table[:, 3:5])


# What is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("mark", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_a_csv_file_is_read_by_its_header(file, mark, end):
    log = Log.read(file(*(line.replace(",", mark) for line in [HEADER, *ROWS]), end=end))
    assert_table(log)
    assert log.qd is None and log.qdd is None and log.name == "log.csv" and log.joints == ()
    assert len(log) == 3 and log.n == 2


def test_columns_may_stand_in_any_order_among_others(file):
    lines = ["tau2;Time;mode;q2;qd1;q1;tau1;qd2", "4;0.5;auto;2;5;1;3;6"]
    log = Log.read(file(*lines))
    assert log.t.tolist() == [0.5] and log.q.tolist() == [[1, 2]] and log.tau.tolist() == [[3, 4]]
    assert log.qd.tolist() == [[5, 6]] and log.qdd is None


def test_a_header_as_numpy_writes_it_is_read(tmp_path):
    """``np.savetxt`` puts a # before the header."""
    np.savetxt(tmp_path / "log.csv", TABLE, delimiter=",", header=HEADER)
    assert_table(Log.read(tmp_path / "log.csv"))


def test_joints_counted_from_zero_are_those_counted_from_one(file):
    assert_table(Log.read(file("t,q0,q1,tau0,tau1", *ROWS)))


def test_ten_joints_are_in_the_order_of_their_numbers(file):
    names = [f"{s}{i}" for s in ("q", "tau") for i in (10, *range(1, 10))]
    log = Log.read(file(",".join(["t", *names]), ",".join(map(str, [0, *range(20)]))))
    assert log.q.tolist() == [[*range(1, 10), 0]]


def test_an_empty_cell_is_nan_and_a_blank_line_no_row(file):
    log = Log.read(file(HEADER, ROWS[0], "", "0.1,,nan,3.5,4.5", ROWS[2]))
    table = TABLE.copy()
    table[1, 1:3] = np.nan
    assert_table(log, table)


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_a_simulated_motion_is_a_log(tmp_path, suffix):
    robot = armdyn.load("two_link")
    run = armdyn.simulate(robot, [0.5, 0.1], t=0.05)
    run.save(tmp_path / f"run.{suffix}")
    log = Log.read(tmp_path / f"run.{suffix}")
    for key in ("t", "q", "qd", "qdd", "tau"):
        np.testing.assert_array_equal(getattr(log, key), getattr(run, key))
    assert log.joints == robot.joint_names


@pytest.mark.parametrize("columns", [False, True], ids=["arrays", "columns"])
def test_an_npz_file_holds_arrays_or_columns(tmp_path, columns):
    arrays = {"t": TABLE[:, 0], "q": TABLE[:, 1:3], "tau": TABLE[:, 3:].astype(np.float32)}
    if columns:
        arrays = dict(zip(HEADER.split(","), TABLE.T, strict=True))
    np.savez(tmp_path / "log.npz", **arrays)
    assert_table(Log.read(tmp_path / "log.npz"))


def write_parquet(path, columns):
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)


def test_a_parquet_file_holds_columns(tmp_path):
    columns = {name: list(column) for name, column in zip(HEADER.split(","), TABLE.T, strict=True)}
    columns["q1"][1] = None
    write_parquet(tmp_path / "log.parquet", {"mode": ["a", "b", "c"], **columns})
    table = TABLE.copy()
    table[1, 1] = np.nan
    assert_table(Log.read(tmp_path / "log.parquet"), table)


def test_a_log_is_pickled_whole(file):
    assert_table(pickle.loads(pickle.dumps(Log.read(file(HEADER, *ROWS)))))


# Long files ---------------------------------------------------------------------------------


@pytest.fixture
def long(tmp_path, monkeypatch):
    """A log of 1000 rows in each format, and small blocks."""
    monkeypatch.setattr(formats, "BYTES", 1000)
    monkeypatch.setattr(formats, "ROWS", 64)
    rng = np.random.default_rng(0)
    table = np.column_stack([np.arange(1000) / 8, rng.standard_normal((1000, 4))])
    names = HEADER.split(",")
    np.savetxt(tmp_path / "log.csv", table, "%.17g", ",", header=HEADER, comments="")
    np.savez(tmp_path / "log.npz", **dict(zip(names, table.T, strict=True)))
    write_parquet(tmp_path / "log.parquet", dict(zip(names, table.T, strict=True)))
    return tmp_path, table


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_a_long_file_is_read_in_blocks_and_parts(long, suffix):
    folder, table = long
    path = folder / f"log.{suffix}"
    told = []
    assert_table(Log.read(path, progress=lambda *news: told.append(news)), table)
    assert len(told) > 10 and told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    parts = list(Log.parts(path, rows=300))
    assert len(parts) > 2 and all(len(part) >= 300 for part in parts[:-1])
    assert_table(Log.read(path), table)
    np.testing.assert_array_equal(np.concatenate([part.q for part in parts]), table[:, 1:3])


def test_a_file_may_end_where_a_part_does(file):
    (part,) = Log.parts(file(HEADER, *ROWS), rows=3)
    assert_table(part)
    with pytest.raises(IdentificationError, match="rows is 0; expected a whole number"):
        next(Log.parts("log.csv", rows=0))


def test_a_fault_far_down_is_named_by_its_line(long):
    folder, _ = long
    lines = (folder / "log.csv").read_text().splitlines()
    lines[700] = lines[700].replace(",", ",x", 1)
    (folder / "log.csv").write_text("\n".join(lines))
    with pytest.raises(IdentificationError, match=r"log.csv: line 701, column 'q1': 'x.* no num"):
        Log.read(folder / "log.csv")
    lines[700] = "3" + lines[699][lines[699].index(",") :]
    (folder / "log.csv").write_text("\n".join(lines))
    with pytest.raises(IdentificationError, match=r"line 701, column t: 3 s does not lie after"):
        Log.read(folder / "log.csv")


# What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([HEADER, "0,1,2,3,4", "0.1,1,2,3"], "log.csv: line 3 has 4 cells; expected 5"),
        ([HEADER, "0,1,2,3,4,5"], "log.csv: line 2 has 6 cells; expected 5"),
        ([HEADER, "0,1,2,3,4", "0.1,1,2,3,4,5", "0.2,1,2,3"], "line 3 has 6 cells"),
        ([HEADER, "0,1,two,3,4"], "log.csv: line 2, column 'q2': 'two' is no number"),
        ([HEADER, "0,1,1_0,3,4"], "line 2, column 'q2': '1_0' is no number"),
        ([HEADER, "0,1,2,3,4", "0,1,2,3,4"], "log.csv: line 3, column t: 0 s does not lie after 0"),
        ([HEADER, "1,1,2,3,4", "0.5,1,2,3,4"], "line 3, column t: 0.5 s does not lie after 1 s"),
        ([HEADER, "1,1,2,3,4", ",1,2,3,4", "0,1,2,3,4"], "line 4, column t: 0 s does not lie"),
        ([HEADER], "log.csv: no row"),
        ([""], "log.csv: no column of time"),
        (["0,1,2,3,4", *ROWS], "log.csv: line 1 is '0,1,2,3,4'; expected the columns' names"),
        (["q1,tau1", "1,2"], "no column of time, t; the columns are: q1, tau1"),
        (["t,time,q1,tau1", "0,1,2,3"], "two columns of time, t, time"),
        (["t,q1", "0,1"], "no columns tau1, tau2, ...; the columns are: t, q1"),
        (["t,tau1", "0,1"], "no columns q1, q2, ..."),
        (["t,q1,q3,tau1,tau3", "0,1,2,3,4"], "no column q2, but q3"),
        (["t,q1,q2,tau1", "0,1,2,3"], "no column tau2, but q2"),
        (["t,q1,tau1,tau2", "0,1,2,3"], "column tau2 has no column q2"),
        (["t,q1,q2,tau1,tau2,qd1", "0,1,2,3,4,5"], "no column qd2, but q2"),
        (["t,q1,q1,tau1", "0,1,2,3"], "two columns are named 'q1'"),
        (["t,q1,q01,tau1", "0,1,2,3"], "two columns are named 'q01'"),
        (["t,q_a,q2,tau_a,tau2", "0,1,2,3,4"], "some joints are numbered, others named"),
        (["t,q_a,tau_b", "0,1,2"], "no column tau_a, but q_a"),
    ],
)
def test_a_bad_csv_file_is_refused_in_words(file, lines, message):
    with pytest.raises(IdentificationError, match=re.escape(message)):
        Log.read(file(*lines))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"t": [0.0, 1]}, "no columns q1"),
        ({"t": [0.0, 1], "q": [[1.0], [2]]}, "log.npz: no array tau; it holds: t, q"),
        ({"t": [0.0], "q": [1.0], "tau": [1.0]}, "array q has shape (1,); expected (rows, joints)"),
        ({"t": [0.0, 1], "q": [[1.0]], "tau": [[1.0]]}, "different numbers of rows: t 2, q 1"),
        ({"t": [0.0, 1], "q1": [1.0], "tau1": [1.0]}, "different numbers of rows: t 2, q1 1"),
        ({"t": ["a"], "q": [[1.0]], "tau": [[1.0]]}, "array t is of type <U1; expected real"),
        ({"t": [0.0], "q": [[1.0]], "tau": [[1.0, 2]]}, "tau has shape (1, 2); expected (1, 1)"),
        ({"t": [2.0, 1], "q1": [1.0, 1], "tau1": [1.0, 1]}, "row 1, column t: 1 s does not lie"),
    ],
)
def test_a_bad_npz_file_is_refused_in_words(tmp_path, arrays, message):
    np.savez(tmp_path / "log.npz", **arrays)
    with pytest.raises(IdentificationError, match=re.escape(message)):
        Log.read(tmp_path / "log.npz")


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_what_cannot_be_read_is_refused_by_name(tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    path = tmp_path / f"log.{suffix}"
    with pytest.raises(IdentificationError, match=f"cannot read .*log.{suffix}.*: No such file"):
        Log.read(path)
    path.write_bytes(b"\x00\xff nonsense")
    with pytest.raises(IdentificationError, match=f"log.{suffix}"):
        Log.read(path)
    path.write_bytes(b"")
    with pytest.raises(IdentificationError, match=f"log.{suffix}"):
        Log.read(path)


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused_and_nothing_else(tmp_path_factory, suffix, data):
    """Bytes of a good file cut, changed or put in anywhere: a log, or an IdentificationError."""
    folder = tmp_path_factory.mktemp("spoilt")
    path = folder / f"log.{suffix}"
    columns = dict(zip(HEADER.split(","), TABLE.T, strict=True))
    if suffix == "csv":
        path.write_text("\n".join([HEADER, *ROWS]))
    elif suffix == "npz":
        np.savez_compressed(path, **columns)
    else:
        write_parquet(path, columns)
    text = path.read_bytes()
    place = data.draw(st.integers(0, len(text)))
    put = data.draw(st.binary(max_size=8) | st.sampled_from([b",", b"\n", b"nan", b"1e999", b"q1"]))
    path.write_bytes(text[:place] + put + text[place + data.draw(st.integers(0, 20)) :])
    try:
        assert isinstance(Log.read(path), Log)
    except IdentificationError as error:
        assert "log." in str(error)


def test_an_array_that_is_no_npz_file_is_refused(tmp_path):
    with open(tmp_path / "log.npz", "wb") as file:
        np.save(file, TABLE)
    with pytest.raises(IdentificationError, match="cannot read .*log.npz.*not a zip file"):
        Log.read(tmp_path / "log.npz")


def test_a_parquet_column_of_words_is_refused(tmp_path):
    write_parquet(tmp_path / "log.parquet", {"t": [0.0], "q1": ["a"], "tau1": [1.0]})
    with pytest.raises(IdentificationError, match="log.parquet: column 'q1' is of type string"):
        Log.read(tmp_path / "log.parquet")


def test_without_pyarrow_the_message_says_what_to_install(tmp_path, monkeypatch):
    imported = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(IdentificationError, match=r"pip install 'armdyn\[cluster\]'"):
        Log.read(tmp_path / "log.parquet")


@pytest.mark.parametrize(
    ("path", "message"), [("log.txt", "expected a name in .csv .npz .parquet"), (3, "not from 3")]
)
def test_what_is_no_log_file_is_refused(path, message):
    with pytest.raises(IdentificationError, match=message):
        Log.read(path)


T, X = np.arange(3.0), np.zeros((3, 2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": X}, "log: t must be real numbers of shape (N,), not an array of shape (3, 2)"),
        ({"t": "now"}, "log: t must be real numbers of shape (N,), not 'now'"),
        ({"q": T}, "log: q must be real numbers of shape (N, n), not an array of shape (3,)"),
        ({"q": X + 1j}, "q must be real numbers"),
        ({"tau": X[:2]}, "log: tau has shape (2, 2); expected (3, 2)"),
        ({"qd": X[:, :1]}, "log: qd has shape (3, 1); expected (3, 2)"),
        ({"q": X[:, :0], "tau": X[:, :0]}, "log: the log is empty"),
        ({"t": T[:0], "q": X[:0], "tau": X[:0]}, "log: the log is empty"),
        ({"t": [0, 2, 1]}, "log: row 2, column t: 1 s does not lie after 2 s in the row before"),
        ({"joints": ("a",)}, "log: 1 names of joints (a) for 2 columns of q"),
        ({"joints": ("a", "a")}, "log: two columns of one joint: a"),
        ({"name": 3}, "a log's name is a string, not 3"),
        ({"q": X - 1e200}, "log: column q1 goes from -1e+200 to -1e+200, row 0 is -1e+200; expec"),
        (
            {"tau": [[0, np.nan], [0, 2e9], [0, 1]], "joints": ("a", "b")},
            "log: column tau_b goes from 1 to 2e+09, row 1 is 2e+09; expected at most 1e+09 in si",
        ),
        ({"qd": X + 1e300}, "log: column qd1"),
        ({"qdd": X + 1e300}, "log: column qdd1"),
        ({"q": np.ma.masked_equal(X, 0)}, "log: q is a masked array; expected nan where it is mas"),
    ],
)
def test_arrays_that_are_no_log_are_refused(changes, message):
    with pytest.raises(IdentificationError, match=re.escape(message)):
        Log(**{"t": T, "q": X, "tau": X, **changes})


# Whose joints -------------------------------------------------------------------------------


def test_columns_are_put_in_the_order_of_the_arms_joints():
    q = np.array([[1.0, 2, 3]])
    log = Log(np.zeros(1), q, 10 * q, qd=100 * q, joints=("c", "a", "b"))
    ordered = log.for_joints(["a", "b", "c"])
    assert ordered.q.tolist() == [[2, 3, 1]] and ordered.tau.tolist() == [[20, 30, 10]]
    assert ordered.qd.tolist() == [[200, 300, 100]] and ordered.joints == ("a", "b", "c")
    assert log.for_joints(["a", "b"]).q.tolist() == [[2, 3]]  # of a longer arm's log


def test_columns_without_names_are_taken_in_the_order_of_the_arms_joints():
    log = Log(T, X, X)
    assert log.for_joints(["a", "b"]) is log
    log = Log(T, X, X, joints=("a", "b"))
    assert log.for_joints(["a", "b"]) is log


def test_joints_that_a_log_does_not_have_are_named():
    log = Log(T, X, X, joints=("elbow", "wrist"))
    with pytest.raises(IdentificationError, match="no columns of joint 'elbo'; did you mean 'elb"):
        log.for_joints(["elbo", "wrist"])
    with pytest.raises(IdentificationError, match="q has 2 columns, but the arm has 3 joints: a"):
        Log(T, X, X).for_joints(["a", "b", "c"])
