"""The page as text: what stands on it, what does not, and which files it is made of."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import pytest

import armdyn
from armdyn import cli
from armdyn.chain.inertia import Inertia
from armdyn.errors import ArmdynError, SimulationError
from armdyn.view import Page, assembly
from armdyn.view.drawing import drawing, ellipsoid

HOSTILE = "</script><img src=x onerror=alert(1)>{{page}}&\"'\u2028\ud800"


class Reader(HTMLParser):
    """The tags of a page with their attributes, and the text of each script and style."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.texts.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        self.texts.append(("", {}, []))

    def handle_data(self, data):
        if self.texts:
            self.texts[-1][2].append(data)

    def named(self, wanted):
        return [(a, "".join(text)) for tag, a, text in self.texts if tag == wanted]


def arm_of(page):
    """The data of a page."""
    (found,) = (text for a, text in Reader(page.text).named("script") if a.get("id") == "arm-data")
    return json.loads(found)


# The page -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two_link", "stanford", "xarm7"])
def test_a_page_is_small_whole_and_alone(name):
    page = armdyn.load(name).view()
    assert len(page.text) < 1_200_000 < assembly.LIMIT
    assert page.text.isascii() and "{{" not in page.text.partition("<script>")[0]
    for tag, attributes in Reader(page.text).tags:
        assert "style" not in attributes  # which the policy forbids
        for key in ("src", "href", "action", "srcset", "data"):
            assert attributes.get(key, "data:").startswith("data:"), (tag, attributes)
        assert not [key for key in attributes if key.startswith("on")]
    assert not re.search(r"@import|url\(|importScripts|fetch\(|XMLHttpRequest\(", own_text())


def own_text():
    return assembly._modules() + assembly._asset("page.css")


def test_the_policy_names_the_scripts_of_the_page_and_nothing_else():
    reader = Reader(armdyn.load("two_link").view().text)
    metas = [a for tag, a in reader.tags if tag == "meta" and "http-equiv" in a]
    assert [meta["http-equiv"] for meta in metas] == ["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in metas[0]["content"].split(";"))
    texts = {"script-src": [], "style-src": [text for _, text in reader.named("style")]}
    scripts = reader.named("script")
    texts["script-src"] = [text for a, text in scripts if a.get("type") != "application/json"]
    assert len(scripts) == 4 and len(texts["script-src"]) == 3
    for rule, found in texts.items():
        hashes = (base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in found)
        assert rules[rule].split() == [f"'sha256-{x}'" for x in hashes]
    assert rules["default-src"] == "'none'" and rules["base-uri"] == "'none'"
    assert not re.search("unsafe|http", metas[0]["content"])


def test_names_are_data_and_never_markup():
    chain = armdyn.load("two_link").chain
    joints = tuple(replace(joint, name=f"{HOSTILE}{i}") for i, joint in enumerate(chain.joints))
    hostile = armdyn.Robot(replace(chain, name=HOSTILE, joints=joints))
    page, plain = hostile.view(), armdyn.load("two_link").view()
    assert page.text.isascii()
    tags = [tag for tag, _ in Reader(page.text).tags]
    assert tags == [tag for tag, _ in Reader(plain.text).tags]
    assert arm_of(page)["name"] == HOSTILE
    assert arm_of(page)["joints"][1]["name"] == f"{HOSTILE}1"


def test_the_modules_make_one_script():
    """Names at their top level differ, and what a module imports stands before it."""
    names, seen = [], set()
    for name in assembly.MODULES:
        text = assembly._asset(f"{name}.js")
        for imported in re.findall(r'from "\./(\w+)\.js"', text):
            assert imported in {*seen, "three"}, f"{name} imports {imported}"
        seen.add(name)
        names += re.findall(
            r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", text, re.M
        )
        assert len(text.splitlines()) < 400
    assert len(names) == len(set(names))
    assert "import " not in assembly._modules() and "export " not in assembly._modules()


def test_a_methods_name_reaches_the_page_as_a_string(monkeypatch):
    from armdyn.algorithms import catalogue
    from armdyn.view.programs import programs

    chain = armdyn.load("two_link").chain
    methods = catalogue.methods("bias")
    renamed = (replace(methods[0], name='"]: alert(1), ["</script>'), *methods[1:])
    monkeypatch.setitem(catalogue.CATALOGUE, "bias", renamed)
    script = programs(chain).script
    assert "</script>" not in script and '["\\"]: alert(1), [' in script


def test_an_arm_too_large_for_a_page_is_refused(monkeypatch):
    monkeypatch.setattr(assembly, "LIMIT", 600_000)
    with pytest.raises(ArmdynError, match="the page of 'two_link' would have .* bytes"):
        armdyn.load("two_link").view()


def test_formulations_beyond_the_room_are_named_only(monkeypatch):
    from armdyn.view import programs

    monkeypatch.setattr(programs, "ROOM", 30_000)
    arm = arm_of(armdyn.load("stanford").view())
    for rows in arm["methods"].values():
        assert [row["here"] for row in rows if row["chosen"]] == [True]
        assert [row["operations"] for row in rows] == sorted(row["operations"] for row in rows)
    assert not all(row["here"] for row in arm["methods"]["mass_matrix"])


def test_formulations_of_endless_length_are_not_tried(monkeypatch):
    from armdyn.algorithms import catalogue
    from armdyn.view import programs

    chain = armdyn.load("two_link").chain
    counts = {"kic": programs.LONGEST + 1, "crba": programs.LONGEST}
    known = lambda quantity, name, n: counts.get(name)  # noqa: E731
    monkeypatch.setattr(catalogue, "operations", known)
    names = [row["name"] for row in programs.programs(chain).methods["mass_matrix"]]
    assert "kic" not in names and {"crba", "lin1991"} <= {*names}


def test_a_page_is_saved_and_opened(tmp_path, monkeypatch):
    page = Page("title", "text")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    assert page.open(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text() == "text"
    assert opened == [(tmp_path / "a.html").resolve().as_uri()]
    with pytest.raises(ArmdynError, match="expected a name in .html"):
        page.save(tmp_path / "a.txt")


def test_a_notebook_shows_it_in_a_frame_of_its_own():
    page = armdyn.load("two_link").view()
    ((tag, attributes),) = Reader(page._repr_html_()).tags
    assert tag == "iframe" and attributes["srcdoc"] == page.text
    assert attributes["sandbox"] == "allow-scripts"


# The commands -------------------------------------------------------------------------------------


def test_the_command_writes_a_page_and_says_where(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda url: pytest.fail("it opened a browser"))
    path = tmp_path / "arm.html"
    assert cli.main(["view", "two_link", "--save", str(path), "--no-open"]) == 0
    assert capsys.readouterr().out.strip() == path.resolve().as_uri()
    assert path.read_text().startswith("<!DOCTYPE html>")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cli.main(["view", "two_link", "--no-open"]) == 0
    found = Path(url2pathname(urlparse(capsys.readouterr().out.strip()).path))
    assert found.name == "two_link.html" and found.is_relative_to(tmp_path) and found.exists()


def test_the_command_refuses_a_file_before_the_work(tmp_path, capsys):
    assert cli.main(["view", "two_link", "--save", str(tmp_path / "arm.png")]) == 2
    assert "expected a name in .html" in capsys.readouterr().err
    command = ["simulate", "two_link", "--time", "0.01", "--view", str(tmp_path / "no" / "a.html")]
    assert cli.main(command) == 2
    assert "there is no directory" in capsys.readouterr().err


def test_a_simulated_motion_is_on_its_page(tmp_path):
    path = tmp_path / "run.html"
    command = ["simulate", "two_link", "--time", "2", "--dt", "1e-3", "--view", str(path)]
    assert cli.main(command) == 0
    motion = arm_of(Page("", path.read_text()))["motion"]
    times = np.frombuffer(base64.b64decode(motion["t"]), "<f4")
    q = np.frombuffer(base64.b64decode(motion["q"]), "<f4").reshape(len(times), 2)
    result = armdyn.simulate(armdyn.load("two_link"), [0, 0], [0, 0], None, 2.0, 1e-3)
    rows = np.rint(times * 1000).astype(int)
    assert 1000 < len(rows) <= 1500 and rows[0] == 0 and rows[-1] == 2000
    np.testing.assert_allclose(q, result.q[rows], rtol=1e-6, atol=1e-6)
    assert motion["summary"].startswith("two_link, 2000 steps")


def test_one_state_of_a_batch_is_played():
    q0 = np.array([[0.1, 0.2], [0.3, 0.4]])
    result = armdyn.simulate(armdyn.load("two_link"), q0, np.zeros(2), None, 0.05, 1e-2)
    for state in (0, 1):
        motion = arm_of(result.view(state))["motion"]
        q = np.frombuffer(base64.b64decode(motion["q"]), "<f4")
        np.testing.assert_allclose(q[:2], q0[state], rtol=1e-6)
    with pytest.raises(SimulationError, match="state is 2; expected one of 0 to 1"):
        result.view(2)


# The drawing --------------------------------------------------------------------------------------


def test_the_ellipsoid_of_a_solid_ellipsoid_is_itself():
    a, b, c, mass = 0.3, 0.2, 0.1, 5.0
    own = np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * mass / 5
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    found = ellipsoid(Inertia.from_com(mass, [0.1, -0.2, 0.3], turn @ own @ turn.T))
    axes = np.array(found["axes"]).reshape(3, 3)
    assert np.linalg.det(axes) == pytest.approx(1)
    shape = axes @ np.diag(np.square(found["radii"])) @ axes.T
    np.testing.assert_allclose(shape, turn @ np.diag([a * a, b * b, c * c]) @ turn.T, atol=1e-12)
    assert ellipsoid(Inertia()) is None


@pytest.mark.parametrize("name", armdyn.robots())
def test_paths_lead_from_joint_to_joint(name):
    """Whatever the positions, a link's path ends where the next joint is drawn."""
    chain = armdyn.load(name).chain
    drawn = drawing(chain)
    joints = drawn["joints"]
    for i, link in enumerate(drawn["links"][:-1]):
        row = chain.joints[i + 1]
        beta = row.beta
        z = np.array([0, -np.sin(beta), np.cos(beta)])
        place = np.array([row.b, 0, 0]) + (row.d + joints[i + 1]["node"]) * z
        np.testing.assert_allclose(link["path"][0], [0, 0, joints[i]["node"]], atol=1e-12)
        np.testing.assert_allclose(link["path"][-1], place, atol=1e-9)
    np.testing.assert_allclose(drawn["links"][-1]["path"][-1], chain.tip.translation, atol=1e-9)
    assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn
