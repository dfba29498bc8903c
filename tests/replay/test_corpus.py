"""A corpus in a folder: killed at any time and gone on with, it has the bytes of an undisturbed run."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest
from commands import run
from conversations import EAGER, reading

from hippocampus import Hippocampus
from hippocampus.errors import RecordingError
from hippocampus.prices import prices_for
from hippocampus.replay import workers
from hippocampus.replay.buckets import BucketFile
from hippocampus.replay.corpus import Corpus, _parquet, _read
from hippocampus.replay.readers import find_files
from hippocampus.replay.run import Options, Row, json_pieces, outcome
from hippocampus.replay.workers import KILLED, Engine, available_cores, over_files

if TYPE_CHECKING:
    from bucket_server import Bucket
    from postgres_server import Server

OPTIONS = Options(EAGER, prices_for("anthropic-5m", None))


def record(folder: Path, count: int = 6) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{number}.json" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(json.dumps(reading(2 + number, start=100 * number)))
    (folder / "broken.json").write_text('{"nothing": 1}')
    return [*files, folder / "broken.json"]


def replayed(
    folder: Path, files: list[Path], jobs: int = 1, engine: Engine = "processes"
) -> Corpus:
    folder.mkdir(exist_ok=True)
    corpus = Corpus(str(folder), OPTIONS)
    done = list(corpus.replay(files, jobs=jobs, engine=engine))
    assert sorted(done) == sorted(files)
    return corpus


def edit(part: Path) -> None:
    """Change the row in a part."""
    [row] = _read(part.read_bytes())
    part.write_bytes(_parquet([{**row, "format": f"kept-{row['format']}"}]))


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start processes however small the files are."""
    monkeypatch.setattr(workers, "SMALL_BYTES", 0)


@pytest.fixture(params=["processes", "ray"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "ray":
        # Its workers cannot import this module.
        pytest.importorskip("ray").cloudpickle.register_pickle_by_value(sys.modules[__name__])
    name: Engine = request.param
    return name


@pytest.mark.usefixtures("spread")
def test_every_engine_gives_the_bytes_of_one_process(tmp_path: Path, engine: Engine) -> None:
    files = record(tmp_path / "source")
    one, other = (
        replayed(tmp_path / "one", files),
        replayed(tmp_path / "other", files[::-1], 2, engine),
    )
    assert parts(tmp_path / "one") == parts(tmp_path / "other")
    texts = ["".join(json_pieces(outcome(each, OPTIONS))) for each in (one, other)]
    assert texts[0] == texts[1]
    assert [each["path"] for each in json.loads(texts[0])["skipped"]] == [str(files[-1])]


def killed_once(file: Path) -> str:
    """Kill the process that works on a file, the first time."""
    try:
        file.with_suffix(".mark").touch(exist_ok=False)
    except FileExistsError:
        return file.name
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def killed_always(file: Path) -> str:
    if file.name == "1.json":
        os.kill(os.getpid(), signal.SIGKILL)
    return file.name


@pytest.mark.usefixtures("spread")
def test_a_killed_process_costs_the_work_on_its_file(tmp_path: Path, engine: Engine) -> None:
    over = functools.partial(over_files, jobs=2, engine=engine)
    files = record(tmp_path)[:4]
    assert sorted(over(files, killed_once)) == [file.name for file in files]
    left = over(files, killed_always, lost=lambda file: f"lost {file.name}")
    assert sorted(left) == ["0.json", "2.json", "3.json", "lost 1.json"]
    with pytest.raises(RecordingError, match=f"1.json: {KILLED}"):
        list(over(files, killed_always))


def started(script: str, folder: Path, *arguments: Path) -> subprocess.Popen[bytes]:
    """Run a script over a folder in a process group of its own."""
    path = folder.with_suffix(".py")
    path.write_text(script)
    folders = (str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, str(path), str(folder), *map(str, arguments)]
    return subprocess.Popen(command, env=environment, start_new_session=True)


def ticking(file: Path) -> None:
    """Add a byte to a file every 50 ms, for a minute."""
    for _ in range(1_200):
        with file.with_suffix(".ticks").open("ab") as ticks:
            ticks.write(b".")
        time.sleep(0.05)


TICK = """
import sys
from pathlib import Path
from hippocampus.replay import workers
from replay.test_corpus import ticking
workers.SMALL_BYTES = 0
if __name__ == "__main__":
    list(workers.over_files(sorted(Path(sys.argv[1]).iterdir()), ticking, jobs=2))
"""


def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    ticks = [file.with_suffix(".ticks") for file in record(folder, 2)[:2]]
    with started(TICK, folder) as process:
        while process.poll() is None and not all(path.exists() for path in ticks):
            time.sleep(0.01)
        assert process.poll() is None
        process.kill()
    sizes = [0, 1]
    while sizes[-2] != sizes[-1]:
        time.sleep(0.2)
        sizes.append(sum(path.stat().st_size for path in ticks))
    assert sizes[-1] < 1_200


RUN = """
import sys
from pathlib import Path
from hippocampus.replay import workers
from replay.test_corpus import OPTIONS, Corpus
workers.SMALL_BYTES = 0
if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).iterdir())
    for _ in Corpus(sys.argv[2], OPTIONS).replay(files, jobs=2):
        pass
"""


@pytest.mark.parametrize(
    "at_part", [1, *(pytest.param(part, marks=pytest.mark.slow) for part in (0, 2, 4))]
)
def test_a_killed_run_goes_on_to_the_bytes_of_an_undisturbed_one(
    tmp_path: Path, at_part: int
) -> None:
    files = record(tmp_path / "source", at_part + 2)
    undisturbed = replayed(tmp_path / "one", files)
    out = tmp_path / "out"
    out.mkdir()
    with started(RUN, tmp_path / "source", out) as process:
        while process.poll() is None and len(list(out.glob("*.parquet"))) < at_part:
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL)
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    corpus = replayed(out, files)
    assert parts(out) == parts(tmp_path / "one")
    assert list(corpus) == list(undisturbed)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_changed_file_gets_another_part(tmp_path: Path) -> None:
    files = record(tmp_path / "source", 2)
    replayed(tmp_path / "out", files)
    files[0].write_text(json.dumps(reading(4)))
    calls = [row["strategies"]["hippocampus"]["calls"] for row in rows(tmp_path / "out", files)]
    assert calls == [
        row["strategies"]["hippocampus"]["calls"] for row in rows(tmp_path / "new", files)
    ]


def calls(folder: Path, files: list[Path]) -> int:
    return sum(row["strategies"]["hippocampus"]["calls"] for row in rows(folder, files))


def test_a_file_that_could_not_be_read_is_read_by_the_next_run(tmp_path: Path) -> None:
    [file, _] = record(tmp_path / "source", 1)
    text, found = file.read_text(), file.stat()
    file.write_text(" " * len(text))
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    [row] = replayed(tmp_path / "out", [file])
    assert "an empty file" in row["reason"]
    [part] = (tmp_path / "out").iterdir()
    assert pyarrow.parquet.read_table(part)["reason"].to_pylist() == [row["reason"]]
    file.write_text(text)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert calls(tmp_path / "out", [file]) == 2
    file.unlink()  # once the files were listed
    [row] = replayed(tmp_path / "out", [file])
    assert "cannot be read" in row["reason"]


def test_what_a_session_adds_to_an_open_database_is_replayed(tmp_path: Path) -> None:
    messages = reading(4)
    with Hippocampus(tmp_path / "state") as memory, memory.session("s") as session:
        for end in (2, 4, 6):
            session(messages[:end])
        [path] = find_files([tmp_path / "state"])
        before = calls(tmp_path / "out", [path])
        session(messages)
        assert calls(tmp_path / "out", [*find_files([tmp_path / "state"])]) > before


def test_the_sessions_of_a_tenant_are_replayed_as_those_of_a_directory(
    tmp_path: Path, postgres: Server
) -> None:
    """Every command that reads recordings takes the address, and prints no password."""
    address = postgres.address.replace("ocampus:@", "ocampus:secret@")
    tenant = uuid.uuid4().hex
    for state in (tmp_path / "state", postgres.address):
        memory = Hippocampus(state, policy=EAGER, tenant=tenant)
        for name in ("s/1", "s2"):
            memory.session(name)(reading(4 + len(name)))
        memory.close()
    env = {"HIPPOCAMPUS_STATE": address, "HIPPOCAMPUS_TENANT": tenant}
    one = f"{address}#{tenant}/s%2F1"

    def printed(*command: object) -> str:
        done = run(*command, cwd=tmp_path, env=env)
        assert "Traceback" not in done.stderr
        assert "secret" not in done.stdout + done.stderr
        return done.stdout or done.stderr

    found, local = (json.loads(printed("replay", *at, "--json")) for at in ((), ["state"]))
    assert found["total"] == local["total"]
    assert [row["path"].partition("#")[2] for row in found["recordings"]] == [
        f"{tenant}/s%2F1",
        f"{tenant}/s2",
    ]
    first = printed("replay", "--out", "rows", "--json")
    assert printed("replay", "--out", "rows", "--resume", "--json") == first
    assert "2 files or sessions; name one" in printed("explain")
    views = [printed("explain", at, "--turn", 3) for at in (one, "state/state.sqlite3/s%2F1")]
    assert views[0] == views[1]
    assert "tuning needs sessions" in printed("tune", "--out", "p.yaml")
    study = (address, "--out", "study", "--cases", 2, "--against", "raw")
    assert "moments judged" in printed("study", *study)
    assert "secret" not in (tmp_path / "study" / "study.jsonl").read_text()


@pytest.mark.parametrize("command", ["replay", "explain", "gc", "status", "doctor", "defrag"])
def test_no_error_shows_a_password(tmp_path: Path, command: str) -> None:
    for address in (
        "//u:secret@127.0.0.1:1/db",
        "//u:x/secret@h/db",
        "//u:1/secret@h/db",
        "//u@127.0.0.1:1/d?password=secret",
    ):
        env = {"HIPPOCAMPUS_TENANT": "t"}
        done = run(command, f"postgresql:{address}", cwd=tmp_path, env=env)
        assert done.returncode
        assert "secret" not in done.stdout + done.stderr


def test_a_request_that_fails_leaves_out_its_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obstore")
    for name, value in (("ENDPOINT", "http://127.0.0.1:1"), ("REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "test")
    lost = BucketFile("s3://unreachable", "0.json", "etag", 1)
    [whole, _] = record(tmp_path / "source", 1)
    (tmp_path / "out").mkdir()
    corpus = Corpus(str(tmp_path / "out"), OPTIONS)
    assert len(list(corpus.replay([lost, whole], jobs=1))) == 2
    failed, row = corpus
    assert failed["path"] == "s3://unreachable/0.json"
    assert failed["reason"].startswith("s3://unreachable: ")
    assert "reason" not in row


def rows(folder: Path, files: list[Path]) -> list[Row]:
    return [row for row in replayed(folder, files) if "reason" not in row]


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "250000 100000"}, 2),
        ({"cpu.max": "max 100000"}, 64),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
    ],
)
def test_cores_are_those_of_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], cores: int
) -> None:
    monkeypatch.setattr(workers, "CGROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_cores() == cores


@pytest.mark.skipif(
    not Path("/sys/fs/cgroup/cpu").is_dir(), reason="no control groups of version 1"
)
def test_the_limit_of_a_group_inside_another_counts() -> None:
    group = Path("/sys/fs/cgroup/cpu", f"hippocampus-{uuid.uuid4().hex}")
    program = f"""
import os
from pathlib import Path
from hippocampus.replay import workers
os.sched_getaffinity = lambda _: range(64)
Path({str(group)!r}, "cgroup.procs").write_text(str(os.getpid()))
print(workers.available_cores())
"""
    try:
        group.mkdir()
        (group / "cpu.cfs_quota_us").write_text("250000")
    except OSError as refused:
        pytest.skip(f"no control group can be made here: {refused}")
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        assert done.stdout == b"2\n"
    finally:
        group.rmdir()


def test_another_policy_or_version_uses_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = record(tmp_path / "source", 1)[:1]
    replayed(tmp_path / "out", files)
    [first] = parts(tmp_path / "out")
    rules = EAGER.model_copy(update={"budget_tokens": 4_711})
    options = dataclasses.replace(OPTIONS, policy=rules)
    list(Corpus(str(tmp_path / "out"), options).replay(files, jobs=1))
    monkeypatch.setattr("hippocampus.__version__", "0.0.0")
    replayed(tmp_path / "out", files)
    assert len(parts(tmp_path / "out")) == 3
    monkeypatch.undo()
    edit(tmp_path / "out" / first)
    [row] = rows(tmp_path / "out", files)
    assert row["format"].startswith("kept-")


def test_the_command_prints_from_a_folder_what_it_prints_without(tmp_path: Path) -> None:
    record(tmp_path / "source", 2)
    arguments = ("replay", "source", "gone", "--json", "--compare")
    plain = run(*arguments, cwd=tmp_path).stdout
    assert run(*arguments, "--out", "out", cwd=tmp_path).stdout == plain
    before = parts(tmp_path / "out")
    marked = max((tmp_path / "out").iterdir(), key=lambda part: part.stat().st_size)
    marked.write_text("{}")
    assert run(*arguments, "--out", "out", cwd=tmp_path).stdout == plain
    assert parts(tmp_path / "out") == before
    edit(marked)
    assert '"kept-' in run(*arguments, "--out", "out", "--resume", cwd=tmp_path).stdout
    whole = before[marked.name]
    pyarrow.parquet.write_table(pyarrow.table({"other": [1]}), tmp_path / "other.parquet")
    zeroed = whole.replace(whole[-2_000:-1_990], bytes(10))
    # One bit of the end of a part can take the name of its column, or all of its rows.
    columns, rows = (tmp_path / "other.parquet").read_bytes(), _parquet([])
    for damaged in (whole[:-9], zeroed, b"PAR1", columns, rows):
        marked.write_bytes(damaged)
        assert run(*arguments, "--out", "out", "--resume", cwd=tmp_path).stdout == plain
        assert parts(tmp_path / "out") == before
    assert "name it by --out" in run(*arguments, "--resume", cwd=tmp_path).stderr
    assert f"{marked} is not a directory" in run(*arguments, "--out", marked, cwd=tmp_path).stderr
    done = run("replay", "source", "--out", "source/out", cwd=tmp_path)
    assert done.returncode == 2
    assert "folder of recordings" in done.stderr


def test_a_folder_of_parts_is_one_table(tmp_path: Path) -> None:
    """Every part has the same columns, and a figure in them is that of the row."""
    folder = Path(os.fsdecode(bytes(tmp_path / "source") + b"\xff"))
    corpus = replayed(tmp_path / "out", record(folder, 3))
    table = pyarrow.parquet.read_table(tmp_path / "out").sort_by("path").to_pylist()
    *rows, broken = sorted(corpus, key=lambda row: row["path"])
    assert [json.loads(line["row"]) for line in table] == [*rows, broken]
    assert table[-1]["reason"] == broken["reason"]
    assert table[-1]["tokens"] is None
    for row, line in zip(rows, table[:-1], strict=True):
        assert line["path"] == row["path"].replace("\udcff", "?")
        ours = row["strategies"]["hippocampus"]
        names = ("calls", "tokens", "cost", "visible_percent", "hidden_lines")
        assert [line[name] for name in names] == [ours[name] for name in names]
        assert line["messages"] == row["raw"]["messages"]
        assert dict(line["call_costs"]) == row["call_costs"]
        assert dict(line["strategies"])["send everything"]["tokens"] >= line["tokens"]
        assert [entry["used"] for entry in line["entries"]] == [
            entry["used"] for entry in row["entries"]
        ]
    missing = {name for name, value in table[0].items() if value is None}
    assert missing == {"model", "reason"}
    page = Path(__file__).parents[2] / "docs" / "reference" / "replay-json.md"
    documented = page.read_text("utf-8").partition("## Parts")[2]
    assert set(table[0]) <= set(re.findall(r"`(\w+)`", documented))


def test_parts_need_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path / "source", 1)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    done = run("replay", "source", "--out", "out", cwd=tmp_path)
    assert "--out writes Parquet by pyarrow: pip install" in done.stderr
    assert run("replay", "source", "--json", cwd=tmp_path).returncode == 0


def test_a_corpus_in_a_bucket_has_the_figures_of_its_folder(tmp_path: Path, bucket: Bucket) -> None:
    sources = tmp_path / "sessions"
    for file in record(sources, 3):
        bucket.client.upload_file(str(file), "payloads", f"sessions/{file.name}")

    def figures(*where: object) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(run("replay", *where, "--json", cwd=tmp_path).stdout)
        return found

    local = figures("sessions")
    stored = ("s3://payloads/sessions", "--out", "s3://payloads/rows")
    first = figures(*stored)
    assert first["total"] == local["total"]
    assert first["recordings"][0]["path"] == "s3://payloads/sessions/0.json"
    assert first["skipped"][0]["path"] == "s3://payloads/sessions/broken.json"
    rows = {name: text for name, text in bucket.objects().items() if name.startswith("rows/")}
    assert len(rows) == len(list(sources.iterdir()))
    engine = ("--engine", "processes", "--jobs", 1)
    tuned = run("tune", stored[0], "--out", "p.yaml", *engine, cwd=tmp_path)
    assert "tuning needs sessions of over" in tuned.stderr
    studied = run("study", stored[0], "--out", "study", cwd=tmp_path)
    assert "moments judged" in studied.stdout
    gone = min(rows)
    bucket.client.delete_object(Bucket="payloads", Key=gone)
    assert figures(*stored) == first
    assert bucket.objects()[gone] == rows[gone]
    none = run("replay", "s3://nowhere/sessions", cwd=tmp_path)
    assert none.returncode == 2
    assert "s3://nowhere/sessions" in none.stderr
    assert "Traceback" not in none.stderr
