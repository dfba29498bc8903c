"""The source `file`: only under its roots, links resolved, never a device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hippocampus.policy import Refetch
from hippocampus.recall.sources import FetchRequest, Unavailable, read_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "allowed"
    folder.mkdir()
    (folder / "a.txt").write_text("hälló")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


def wanted(path: object, key: str = "path") -> FetchRequest:
    return FetchRequest("read", {key: path})


def test_a_file_under_a_root_is_read(root: Path) -> None:
    plan = Refetch(type="file", roots=(str(root),))
    for named in ("a.txt", str(root / "a.txt"), f"file://{root}/a.txt", "./x/../a.txt"):
        (root / "x").mkdir(exist_ok=True)
        assert read_file(wanted(named), plan) == "hälló"
    assert read_file(wanted("a.txt", "file_path"), plan) == "hälló"


def test_a_relative_path_is_from_the_working_directory_and_else_from_a_root(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    (root / "allowed").mkdir()
    (root / "allowed" / "b.txt").write_text("from the root")
    plan = Refetch(type="file", roots=("allowed",))
    assert read_file(wanted("allowed/a.txt"), plan) == "hälló"
    assert read_file(wanted("a.txt"), plan) == "hälló"
    assert read_file(wanted("allowed/b.txt"), plan) == "from the root"
    (root / "b.txt").write_text("from the working directory")
    assert read_file(wanted("allowed/b.txt"), plan) == "from the working directory"
    with pytest.raises(Unavailable, match="none of the folders"):
        read_file(wanted("secret.txt"), plan)


@pytest.mark.parametrize(
    "named",
    ["../secret.txt", "/etc/passwd", "link.txt", "dir/secret.txt", "gone.txt", "a\0b", "", 7, "."],
)
def test_what_lies_outside_or_is_no_file_is_not_opened(root: Path, named: object) -> None:
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "dir").symlink_to(root.parent)
    with pytest.raises(Unavailable):
        read_file(wanted(named), Refetch(type="file", roots=(str(root),)))


def test_without_roots_no_file_is_opened(root: Path) -> None:
    with pytest.raises(Unavailable, match="none of the folders"):
        read_file(wanted(str(root / "a.txt")), Refetch(type="file"))


def test_a_pipe_and_a_large_file_are_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe")
    plan = Refetch(type="file", roots=(str(root),), largest_bytes=3)
    with pytest.raises(Unavailable, match="no regular file"):
        read_file(wanted("pipe"), plan)
    with pytest.raises(Unavailable, match="larger than 3"):
        read_file(wanted("a.txt"), plan)


def test_a_file_that_does_not_say_its_size_is_never_cut(root: Path) -> None:
    """The kernel says that its files have no bytes."""
    (root / "status").symlink_to("/proc/self/status")
    plan = Refetch(type="file", roots=("/proc",), largest_bytes=100)
    with pytest.raises(Unavailable, match="larger than 100"):
        read_file(wanted("self/status"), plan)
    assert "Name:" in read_file(wanted("self/status"), Refetch(type="file", roots=("/proc",)))
    with pytest.raises(Unavailable, match="none of the folders"):
        read_file(wanted("status"), Refetch(type="file", roots=(str(root),)))


def test_an_address_of_a_file_is_read_as_one(root: Path) -> None:
    (root / "a b#1.txt").write_text("odd")
    plan = Refetch(type="file", roots=(str(root),))
    assert read_file(wanted((root / "a b#1.txt").as_uri(), "uri"), plan) == "odd"
    for url in ("file://[/a.txt", f"file://{root}/%2e%2e/secret.txt", f"file://{root}/a.txt%00"):
        with pytest.raises(Unavailable):
            read_file(wanted(url), plan)


def test_bytes_that_are_no_text_are_refused(root: Path) -> None:
    (root / "b").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Unavailable, match="not text"):
        read_file(wanted("b"), Refetch(type="file", roots=(str(root),)))


def test_a_system_without_flags_for_links_and_pipes_reads_files(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_NOFOLLOW")
    monkeypatch.delattr(os, "O_NONBLOCK")
    assert read_file(wanted("a.txt"), Refetch(type="file", roots=(str(root),))) == "hälló"
