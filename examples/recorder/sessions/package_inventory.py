"""An inventory of installed packages, asked for and answered in German, over several user turns."""

from __future__ import annotations

import json
from typing import Any

from recorder.agent import Agent, want
from recorder.finding import every, first, source

INSTRUCTIONS = (
    "Du bist für die Abhängigkeiten dieses Projekts zuständig. Antworte auf Deutsch und belege "
    "jede Aussage mit einem Wert aus den Werkzeugen."
)
ENOUGH = 7
Row = dict[str, Any]


def play(agent: Agent) -> None:
    """Answer four questions: what there is, which licences, what is large, what has changed."""
    agent.user("Welche Pakete sind installiert, und unter welcher Lizenz steht jedes?")
    packages: list[Row] = json.loads(agent.call("Ich sehe nach.", "list_packages"))
    metadata = _metadata(agent, packages)
    _licences(agent, metadata)
    _dependencies(agent, metadata)
    hashes = _large_files(agent, packages)
    _inventory(agent, packages, metadata, hashes)


def _metadata(agent: Agent, packages: list[Row]) -> dict[str, Row]:
    metadata: dict[str, Row] = {}
    for at in range(0, len(packages), 3):
        names = [row["name"] for row in packages[at : at + 3]]
        texts = agent.calls(
            f"Als Nächstes: {', '.join(names)}.",
            *(want("package_metadata", name=name) for name in names),
        )
        metadata |= {name: json.loads(text) for name, text in zip(names, texts, strict=True)}
    without = [name for name, row in metadata.items() if not _licence(row)]
    agent.answer(
        f"{len(packages)} Pakete. Ohne Lizenzangabe in den Metadaten: "
        f"{', '.join(without) or 'keines'}; zum Beispiel steht {packages[0]['name']} "
        f"{packages[0]['version']} unter {_licence(metadata[packages[0]['name']])}."
    )
    return metadata


def _licence(row: Row) -> str:
    named = row["License-Expression"] or row["License"] or ""
    classified = [one for one in row["Classifier"] or () if one.startswith("License")]
    return str(named.splitlines()[0] if named else "; ".join(classified))


def _licences(agent: Agent, metadata: dict[str, Row]) -> None:
    agent.user("Lies bei fünf davon den Lizenztext selbst nach. Wichtig: nie aus dem Gedächtnis.")
    opened: list[str] = []
    for name, row in list(metadata.items())[:5]:
        files = agent.call(
            f"{name} {row['Version']}: wo liegt der Text?", "package_files", name=name
        )
        found = every(r"^([^,\n]*(?:LICEN[CS]E|COPYING)[^,\n]*),", files)
        if not found:
            agent.call("", "grep", pattern="(?i)licen[cs]e", path="site-packages/" + _top(files))
            continue
        opened.append(found[0])
        text = agent.call("", "read_file", path=f"site-packages/{found[0]}", lines=12)
        agent.call(
            f"«{source(text).splitlines()[0]}». Die Prüfsumme dazu.",
            "hash_file",
            path=f"site-packages/{found[0]}",
        )
    agent.answer(f"Gelesen, mit Prüfsumme: {', '.join(opened)}.")


def _top(files: str) -> str:
    return first(r"^([a-z_]\w+)/", files)


def _dependencies(agent: Agent, metadata: dict[str, Row]) -> None:
    agent.user("Was zieht typer alles nach, und ist davon etwas nicht installiert?")
    open_names = ["typer"]
    known: dict[str, Row] = {}
    while open_names and len(known) < ENOUGH:
        name = open_names.pop(0)
        text = agent.call(f"`{name}`:", "package_metadata", name=name)
        if not text.startswith("{"):
            continue
        known[name] = json.loads(text)
        wanted = every(r"^([\w.-]+)", "\n".join(known[name]["Requires-Dist"] or ()))
        open_names += [one for one in wanted if one not in known and one not in open_names]
    agent.call(
        "Eine Erweiterung von rich ist nur auf Wunsch dabei:",
        "package_metadata",
        name=first(r"^([\w-]+).*extra == ", "\n".join(metadata["rich"]["Requires-Dist"])),
    )
    versions = ", ".join(f"{name} {row['Version']}" for name, row in known.items())
    agent.answer(f"typer zieht nach: {versions}. Offen blieben {len(open_names)} weitere.")


def _large_files(agent: Agent, packages: list[Row]) -> dict[str, str]:
    agent.user("Welche Quelldateien sind die größten, und was steht am Anfang?")
    hashes: dict[str, str] = {}
    for name in ("rich", "pydantic", "pytest", "typer"):
        version = next(row["version"] for row in packages if row["name"] == name)
        files = agent.call(f"{name} {version}:", "package_files", name=name)
        rows = [line.rsplit(",", 2) for line in files.splitlines() if ".py," in line]
        path, recorded, size = max(rows, key=lambda row: int(row[2]))
        agent.call(
            f"Am größten ist {path} mit {size} Bytes.",
            "read_file",
            path=f"site-packages/{path}",
            lines=160,
        )
        hits = agent.call("", "grep", pattern="^(class|def) ", path=f"site-packages/{path}")
        places = every(r":(\d+):", hits)
        if places:
            middle = int(places[len(places) // 2])
            agent.call("", "read_file", path=f"site-packages/{path}", start=middle, lines=90)
        hashes[path] = recorded
    return hashes


def _inventory(
    agent: Agent, packages: list[Row], metadata: dict[str, Row], hashes: dict[str, str]
) -> None:
    agent.user("Schreibe das Inventar nach work/inventar.md und prüfe es noch einmal.")
    licences = {name: _licence(row) for name, row in metadata.items()}
    rows = [f"| {row['name']} | {row['version']} | {licences[row['name']]} |" for row in packages]
    large = [f"- {path}: sha256={value}" for path, value in hashes.items()]
    head = ["# Inventar", "", "| Paket | Version | Lizenz |", "|---|---|---|"]
    content = "\n".join([*head, *rows, "", "## Größte Dateien", "", *large, ""])
    agent.call("", "write_file", path="work/inventar.md", content=content)
    again = agent.call("Hat sich die Liste inzwischen geändert?", "list_packages")
    changed = json.loads(again) != packages
    agent.call("", "read_file", path="work/inventar.md")
    agent.call("", "grep", pattern="Proprietary|UNKNOWN", path="work/inventar.md")
    path, value = next(iter(hashes.items()))
    agent.answer(
        f"Das Inventar nennt {len(packages)} Pakete; die Liste ist "
        f"{'eine andere als zu Beginn' if changed else 'dieselbe wie zu Beginn'}. Größte Datei von "
        f"rich: {path} ({value}). Ein unfreies oder unbekanntes Paket kommt nicht vor."
    )
