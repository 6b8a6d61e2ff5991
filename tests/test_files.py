"""Files that were asked for: whole or absent, and refused in words where they cannot be."""

import os
import stat
import threading

import pytest

from armdyn import ArmdynError
from armdyn.output import files

posix = pytest.mark.skipif(os.name == "nt", reason="links, modes and pipes are others there")


def save(path, text="whole"):
    with files.written(path) as place:
        place.write_text(text)


def test_a_file_gets_its_name_when_it_is_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("run.csv")  # here
    with files.written(tmp_path / "run.csv") as place:
        place.write_text("half")
        assert (tmp_path / "run.csv").read_text() == "whole"
    assert (tmp_path / "run.csv").read_text() == "half"
    with pytest.raises(KeyboardInterrupt), files.written(tmp_path / "other.csv") as place:
        place.write_text("half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["run.csv"]


@posix
def test_what_was_there_keeps_its_mode_and_a_link_leads_on(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to("target")
    save(link)
    assert link.is_symlink() and target.read_text() == "whole"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    target.unlink()
    save(link)  # leads nowhere yet
    assert link.is_symlink() and target.read_text() == "whole"


@posix
def test_a_pipe_gets_its_bytes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    save(tmp_path / "pipe")
    reader.join()
    assert read == ["whole"] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize(
    "path, message",
    [
        ("nowhere/run.csv", "there is no directory '.*nowhere'"),
        ("folder", "it is a directory; expected a file's name"),
        ("dangling", "there is no directory '.*missing'"),
        ("x" * 300, "name too long"),
        ("x" * 5000, "name too long"),
        ("x" * 50 + "\0", "embedded null character"),
        ("x" * 50 + "\ud800", "surrogates not allowed"),
    ],
    ids=["no-directory", "directory", "dangling", "long", "longer", "NUL", "surrogate"],
)
@posix
def test_what_cannot_be_is_refused(tmp_path, path, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("missing/run.csv")
    for check in (save, files.check_writable):  # before the work already
        with pytest.raises(ArmdynError, match=f"cannot write .*{path[:8]}.*: .*{message}") as told:
            check(tmp_path / path)
        assert len(str(told.value)) < 300
    assert sorted(os.listdir(tmp_path)) == ["dangling", "folder"]


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_what_may_not_be_written_is_refused(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(ArmdynError, match="directory '.*closed' is not writable"):
        save(tmp_path / "closed" / "run.csv")
    save(tmp_path / "run.csv")
    (tmp_path / "run.csv").chmod(0o400)
    with pytest.raises(ArmdynError, match="run.csv': it is not writable"):
        save(tmp_path / "run.csv")


@pytest.mark.parametrize("suffix", ["png", "PNG", "svg"])
def test_the_suffix_chooses_a_pictures_format(tmp_path, suffix):
    pytest.importorskip("matplotlib")
    files.save_picture(files.figure(1, 1), tmp_path / f"picture.{suffix}")
    begin = (tmp_path / f"picture.{suffix}").read_bytes()[:8]
    assert begin.startswith(b"<?xml" if suffix == "svg" else b"\x89PNG")
