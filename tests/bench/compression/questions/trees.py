"""What one asks about listings, hits and history: how many, where, which is the largest, who."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from tests.bench.compression.question import Question, beside, says

FILES = "files|file|entries|paths|total"
COMMIT = re.compile(
    r"^commit (\w{40})(.*)\n(?:Merge: .*\n)?Author: (.*?) <(.*?)>\nDate:   (.*)\n\n    (.*)",
    re.MULTILINE,
)


def find_output(text: str) -> list[Question]:
    """Twenty questions about the output of find."""
    paths = [PurePosixPath(line) for line in text.split()]
    below = Counter(str(parent) for path in paths for parent in path.parents)
    direct = Counter(str(path.parent) for path in paths)
    endings = Counter(path.suffix for path in paths if path.suffix)
    rare = next(path for path in paths[len(paths) // 4 :] if endings.get(path.suffix) == 1)
    deepest = max(paths, key=lambda path: len(path.parts))
    largest, most = direct.most_common(1)[0]
    return [
        beside("How many files are there?", FILES, len(paths)),
        beside("How many folders?", "directories|folders|dirs", len(direct)),
        says("Which folders are at the top?", "lib", "cache"),
        says("Which files are at the top?", ".editorconfig", "CHANGELOG.md", "Makefile"),
        *(_below(below, name) for name in _large_folders(below)),
        beside("Which folder holds most files itself?", PurePosixPath(largest).name, most),
        *(beside(f"How many {end} files?", f"{end}|{end[1:]}", n) for end, n in endings.most_common(3)),
        says("Which kinds of files are there?", *(end for end, _ in endings.most_common(6))),
        beside(f"Where is the only {rare.suffix} file?", rare.name, rare.parent.name),
        says("Which folder lies deepest?", deepest.parent.as_posix()),
        beside("Where is decoder.py?", "decoder.py", "json"),
        beside("What is the last file?", paths[-1].name, paths[-1].parent.name),
    ]  # fmt: skip


def _large_folders(below: Counter[str]) -> list[str]:
    """Top folders, and some of those in lib with much in them, from its beginning to its end."""
    inner = sorted(name for name, n in below.items() if re.fullmatch(r"lib/\w+", name) and n >= 12)
    return ["lib", "cache", *inner[:: max(1, len(inner) // 5)][:5]]


def _below(below: Counter[str], name: str) -> Question:
    return beside(f"How many files are below {name}/?", name.rpartition("/")[2], below[name])


def ls_output(text: str) -> list[Question]:
    """Twenty questions about the output of ls -lR."""
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    folders = {block[0].rstrip(":").removeprefix("./"): block[2:] for block in blocks}
    rows = [(folder, *_ls_row(line)) for folder, lines in folders.items() for line in lines]
    by_size = sorted(rows, key=lambda row: -row[2])
    weights = Counter[str]()
    for folder, _, size, *_ in rows:
        weights[folder] += size
    asyncio = next(row for row in by_size if row[0] == "asyncio")
    heaviest = weights.most_common(2)[-1][0]
    inner = [name for name in folders if name != "."]
    runnable = [name for _, name, _, _, mode in rows if "x" in mode]
    largest_folders = sorted(inner, key=lambda name: -len(folders[name]))[:2]
    totals = {block[0].rstrip(":").removeprefix("./"): block[1].split()[1] for block in blocks}
    return [
        beside("How many files are there?", FILES, len(rows)),
        beside("How many folders?", "directories|folders|dirs", len(folders)),
        *(beside(f"How large is the file nr {n} by size?", by_size[n - 1][1], by_size[n - 1][2]) for n in (1, 2, 3)),
        *(_size_of(rows[int(len(rows) * share)]) for share in (0.05, 0.4, 0.7, 0.98)),
        says("Which files can be run?", *runnable),
        says("Whose files are they?", "build"),
        beside("How many files are at the top?", "./|.:|top|root|top level", len(folders["."])),
        *(beside(f"How many files has {name}?", name, len(folders[name])) for name in largest_folders),
        says("Which folders are there?", inner[0], inner[len(inner) // 2], inner[-1]),
        beside("How many bytes in all?", "bytes|size|total|sum", sum(weights.values())),
        beside(f"What is the total of {heaviest}?", heaviest, totals[heaviest]),
        beside("How many are empty?", "empty|0 bytes|zero", sum(row[2] == 0 for row in rows)),
        beside("From when is os.py?", "os.py", next(row[3] for row in rows if row[1] == "os.py")),
        beside("Which is the largest file of asyncio?", asyncio[1], asyncio[2]),
    ]  # fmt: skip


def _ls_row(line: str) -> tuple[str, int, str, str]:
    mode, _, _, _, size, month, day, _, name = line.split()
    return name, int(size), f"{month} {day}|{month}  {day}", mode


def _size_of(row: tuple[str, str, int, str, str]) -> Question:
    return beside(f"How large is {row[0]}/{row[1]}?", row[1], row[2])


def grep_output(text: str) -> list[Question]:
    """Twenty questions about the output of grep -rn."""
    hits = [line.split(":", 2) for line in text.splitlines()]
    per_file = Counter(path for path, _, _ in hits)
    per_folder = Counter(path.split("/")[1] for path, _, _ in hits if path.count("/") > 1)
    kinds = Counter(re.findall(r"raise (\w+)", text))
    firsts: dict[str, str] = {}
    for path, number, _ in hits:
        firsts.setdefault(path, number)
    names = list(per_file)
    spread = [names[int(len(names) * share)] for share in (0.0, 0.2, 0.4, 0.6, 0.8, 0.99)]
    top = per_file.most_common(4)
    singles = sum(n == 1 for n in per_file.values())
    folder, in_folder = per_folder.most_common(1)[0]
    return [
        beside("How many hits are there?", "hits|matches|lines|hit", len(hits)),
        beside("In how many files?", "files|file", len(per_file)),
        *(beside(f"Which file is nr {n} by hits?", *pair) for n, pair in enumerate(top, 1)),
        beside("Which folder has most hits?", folder, in_folder),
        *(beside(f"How many raise {name}?", name, n) for name, n in kinds.most_common(2)),
        *(beside(f"On which line is the first hit in {name}?", name, firsts[name]) for name in spread),
        *(beside(f"How many hits has {name}?", name, per_file[name]) for name in spread[1:4]),
        beside("Where is the last hit?", hits[-1][0], hits[-1][1]),
        beside("How many files have one hit only?", "1 hit|one hit|once|single", singles),
    ]  # fmt: skip


def git_log(text: str) -> list[Question]:
    """Twenty questions about the output of git log."""
    commits = COMMIT.findall(text)
    people = Counter(author for _, _, author, _, _, _ in commits)
    (most, number), (second, fewer) = people.most_common(2)
    merge = next(commit for commit in commits if commit[5].startswith("Merge"))
    revert = next(commit for commit in commits if commit[5].startswith("Revert"))
    reverted = re.findall(r"This reverts commit (\w{9})", text)[0]
    tagged = [commit for commit in commits if "tag:" in commit[1]]
    spread = [commits[int(len(commits) * share)] for share in (0.1, 0.35, 0.6, 0.85)]
    return [
        beside("How many commits?", "commits|commit", len(commits)),
        beside("What is HEAD?", "HEAD|latest|newest", f"{commits[0][0][:7]}*"),
        beside("What does the oldest do?", f"{commits[-1][0][:7]}*", commits[-1][5].split(":")[0]),
        says("From when is the newest?", _day(commits[0][4])),
        says("From when is the oldest?", _day(commits[-1][4])),
        beside("Who committed most?", most, number),
        beside("Who is second?", second, fewer),
        says("Who took part?", *people),
        *(beside(f"Which commit is {_tag(c)}?", _tag(c), f"{c[0][:7]}*") for c in tagged),
        beside("Which commit is the merge?", "Merge", f"{merge[0][:7]}*"),
        says("Which branch was merged?", "nair/streaming-reader"),
        beside("Which commit reverts?", "Revert", f"{revert[0][:7]}*"),
        beside("Which commit was reverted?", "Revert|reverts", f"{reverted[:7]}*"),
        *(beside(f"Which commit is {c[5]!r}?", c[5].split(":")[0], f"{c[0][:7]}*") for c in spread),
        beside("Who wrote the commit before HEAD?", f"{commits[1][0][:7]}*", commits[1][2].split()[0]),
        beside("Which pull request is the newest?", "#1500", commits[0][5].split(":")[0]),
    ]  # fmt: skip


def _tag(commit: tuple[str, ...]) -> str:
    return commit[1].strip(" ()").removeprefix("tag: ")


def _day(date: str) -> str:
    _, month, day, _, year, _ = date.split()
    return f"{year}-06-{day}|{month} {day}|{month} {int(day)}|{day} {month}"
