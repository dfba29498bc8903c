"""Paths: each kind of content is read as what it is, and a wrong path lists the right ones."""

from __future__ import annotations

import contextlib
import json

import pytest

from hippocampus.errors import RecallError
from hippocampus.indexing import kind_of
from hippocampus.recall import RecallRequest as Request
from hippocampus.recall import take

CODE = '''import os


class Store:
    """Keeps."""

    @property
    def size(self) -> int:
        return 1

    def put(
        self,
        key: str,
    ) -> None:
        if key:
            pass

    def get(self, key: str) -> str:
        return key


def main() -> None:
    Store().put("x")


LIMIT = 10
'''
SCRIPT = """export class Theme {
  private name: string;

  render(text: string): string {
    if (text) {
      return text;
    } else {
      return "";
    }
  }
}

export function load(name: string) {
  return new Theme();
}
"""
CSV = "id,name,total\n" + "\n".join(f"{n},user {n},{n * 10}" for n in range(40))
PAGE = """<!DOCTYPE html><html><head><title>Shop</title></head><body>
<nav class="top menu"><a href="/">Home</a></nav>
<h1>Orders</h1><p>All of them.</p>
<h2>Open</h2><div id="open-list"><div>Order 17</div><img src="x.png">
</div>
<h2>Closed</h2><p class="note">None.</p>
<button data-testid="go" ref="e12">Go</button>
</body></html>"""
SNAPSHOT = """- banner [ref=e1]:
  - link "Home" [ref=e2]:
    - /url: /
- main [ref=e3]:
  - heading "Orders" [level=1] [ref=e4]
  - list [ref=e5]:
    - listitem [ref=e6]: Order 17
    - listitem [ref=e16]: Order 18
  - heading "Closed" [level=1] [ref=e7]
  - button "Submit" [ref=e8]
"""
NOTES = "# Guide\nintro\n\n## Install\npip it\n\n### On Windows\nelse\n\n## Use\nrun it\n"


def at(text: str, path: str) -> str:
    return take(text, Request(path=path), 2_000)


def test_json_is_read_by_its_path() -> None:
    text = json.dumps({"items": [{"id": n, "name": f"n{n}"} for n in range(50)]})
    assert at(text, "$.items[3].name") == "1: n3"
    assert at(text, "$.items[*].name").split("\n")[49] == '$.items[49].name: "n49"'
    assert at(text, "$.items[3]") == '$.items[3]: {"id": 3, "name": "n3"}'
    with pytest.raises(RecallError, match=r"\$\.items\[0\] has the keys id, name"):
        at(text, "$.items[0].title")
    with pytest.raises(RecallError, match="is a list of 50"):
        at(text, "$.items[99]")


RESULTS = json.dumps({"results": [{"id": n, "tags": {"a b": n % 3}} for n in range(50)]})


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.results[14:17].id", "14 15 16"),
        ("$.results[-1].id", "49"),
        ("$.results[0, 2].id", "0 2"),
        ("$.results[?@.id > 47].id", "48 49"),
        ('$.results[?@.tags["a b"] == 2 && @.id < 6].id', "2 5"),
        ("$..id[0]", ""),
        ("results[3].id", "3"),
        ("$.results[4].tags.a b", "1"),
        ("$['results'][4]['tags'].*", "1"),
        ("$.results[?search(@.id, '(')].id", ""),
    ],
)
def test_a_path_is_one_of_rfc_9535(path: str, found: str) -> None:
    try:
        lines = at(RESULTS, path).split("\n")
    except RecallError as told:
        assert (told.reason, found) == ("no_match", "")  # noqa: PT017 - each is right
    else:
        assert " ".join(line.split(": ")[1] for line in lines) == found


def test_text_that_is_no_path_is_refused_with_the_reason() -> None:
    with pytest.raises(RecallError, match=r"is not a path \(RFC 9535\): unexpected end") as told:
        at(RESULTS, "$.results[?(")
    assert told.value.reason == "bad_request"


ENDLESS = (
    "$..*..*..*.zz",
    "$..[?count($..*)==3]",
    "$" + "[*,*,*,*]" * 9,
    "$..[?" + "&&".join(["1==2"] * 150) + "]",
)


@pytest.mark.parametrize(
    "path",
    [
        "$..[?search(@, '(a+)+$')]",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ENDLESS),
    ],
)
def test_no_path_visits_without_end(path: str) -> None:
    text = json.dumps([{"a": [[n] * 9, {"b": "a" * 99}]} for n in range(5_000)])
    with contextlib.suppress(RecallError):
        at(text, path)


def test_a_path_with_many_names_visits_fewer_values() -> None:
    """Those that are not there counted nothing: on a megabyte, 200 names took 13 seconds."""
    text = json.dumps([[n] for n in range(20_000)])
    assert at(text, "$..[0]")
    with pytest.raises(RecallError, match="visits over"):
        at(text, f"$..[{','.join([repr('a')] * 200)}]")


@pytest.mark.parametrize("test", ["> 1e400", "== 1e309", "< -1e999"])
def test_a_number_beyond_all_numbers_is_no_path(test: str) -> None:
    with pytest.raises(RecallError, match=r"is not a path \(RFC 9535\)"):
        at(RESULTS, f"$.results[?@.id {test}]")


@pytest.mark.parametrize("pattern", ["a?" * 30, ".{0,990}.{0,990}Q", r"\pL{0,150}"])
def test_a_search_in_a_filter_counts_by_its_length(pattern: str) -> None:
    long = {"s": "a" * 200_000, "c": [{"p": f"{pattern}{n}"} for n in range(3_000)]}
    with pytest.raises(RecallError, match="visits over"):
        at(json.dumps(long), "$.c[?search($.s, @.p)]")
    assert "lang" in at(json.dumps([{"s": "a" * 999 + "lang"}]), "$[?search(@.s, 'l.*g')]")


def test_two_json_blocks_of_one_result_are_a_list_of_both() -> None:
    text = f"{json.dumps([{'id': n} for n in range(400)])}\n{RESULTS}"
    assert at(text, "$[1].results[3].id") == "$[1].results[3].id: 3"
    assert at(text, "$[0][399].id") == "$[0][399].id: 399"
    assert kind_of(text) == "json"


def test_json_inside_a_text_is_read_too() -> None:
    inner = json.dumps({"rows": [{"id": "abc"}] * 30})
    assert at(json.dumps({"result": inner}), "$.result.rows[2].id") == "1: abc"


def test_a_table_has_rows_and_columns() -> None:
    assert at(CSV, "$[3]") == '$[3]: {"id": "3", "name": "user 3", "total": "30"}'
    assert at(CSV, "$[-1].name") == "1: user 39"
    assert at(CSV, "$[*].total").startswith('$[0].total: "0"\n$[1].total: "10"')
    assert at(CSV, "$[?@.total == '70'].name") == "1: user 7"
    with pytest.raises(RecallError, match="has the keys id, name, total"):
        at(CSV, "$[*].nam")


def test_a_recall_names_columns_by_paths_that_it_takes() -> None:
    odd = CSV.replace("name,total", "user.name,the [sum]", 1)
    with pytest.raises(RecallError) as refused:
        at(odd, "columns.sum")
    for path in ('$[*]["user.name"]', '$[*]["the [sum]"]'):
        assert path in str(refused.value)
        assert at(odd, path).startswith("$[0]")


@pytest.mark.parametrize(
    "printed",
    [
        "\n".join(f"{at:6}\t{line}" for at, line in enumerate(CSV.split("\n"), 1)),
        f"Exit code: 0\nOutput:\n{CSV}",
        f"```csv\n{CSV}\n```",
        CSV.replace("\n", "\r\n"),
    ],
)
def test_what_a_tool_prints_around_a_table_is_not_of_its_rows(printed: str) -> None:
    assert kind_of(printed) == "table"
    assert at(printed, "$[3].name") == "1: user 3"


def test_code_is_asked_for_by_a_symbols_name() -> None:
    assert (
        at(CODE, "Store.get") == "18:     def get(self, key: str) -> str:\n19:         return key"
    )
    assert at(CODE, "size").split("\n")[0] == "7:     @property"
    assert at(CODE, "put").count("\n") == 5
    assert at(CODE, "main()").endswith('Store().put("x")')
    assert at(CODE, "LIMIT") == "26: LIMIT = 10"
    with pytest.raises(RecallError, match="there are get"):
        at(CODE, "Store.gett")


def test_code_with_braces_ends_at_the_brace() -> None:
    assert at(SCRIPT, "render").split("\n")[-1] == "10:   }"
    assert at(SCRIPT, "load").split("\n")[-1] == "15: }"
    assert at(SCRIPT, "Theme").count("\n") == 10


def test_a_numbered_dump_is_code_too() -> None:
    dump = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(CODE.split("\n"), 101))
    assert at(dump, "main").startswith("122:    122\tdef main() -> None:")


def test_a_page_has_refs_and_headings() -> None:
    assert at(PAGE, "e12").endswith(">Go</button>")
    assert "Order 17" in at(PAGE, "Open")
    assert "None." not in at(PAGE, "Open")
    assert "None." in at(PAGE, "Orders")


def test_a_snapshot_has_refs_and_headings() -> None:
    assert at(SNAPSHOT, "e2") == '2:   - link "Home" [ref=e2]:\n3:     - /url: /'
    assert at(SNAPSHOT, "ref=e6") == "7:     - listitem [ref=e6]: Order 17"
    assert at(SNAPSHOT, "Orders").count("Order ") == 2
    assert "Submit" not in at(SNAPSHOT, "Orders")


def test_prose_is_asked_for_by_heading() -> None:
    assert at(NOTES, "Install").endswith("8: else")
    assert at(NOTES, "## use") == "10: ## Use\n11: run it"
    with pytest.raises(RecallError, match="Install"):
        at(NOTES, "Instal lation")


def test_a_json_path_into_another_kind_says_so() -> None:
    with pytest.raises(RecallError, match="neither JSON nor a table"):
        at(NOTES, "$.a")


def test_json_lines_are_read_as_one_list() -> None:
    rows = [json.dumps({"id": n, "at": {"x": n * n}}) for n in range(50)]
    for text in ("\n".join(rows), "".join(f"{n}\t{row}\n" for n, row in enumerate(rows, 1))):
        assert at(text, "$[3].at.x") == "$[3].at.x: 9"
        assert at(text, "$[?@.id==17]") == '$[17]: {"id": 17, "at": {"x": 289}}'
        with pytest.raises(RecallError, match="is a list of 50"):
            at(text, "$.id")
    with pytest.raises(RecallError, match="neither JSON nor a table"):
        at("\n".join([*rows, "done"]), "$[3]")
