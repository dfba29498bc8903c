"""Pages keep every ref, address and value beside its label, whether they are balanced or not."""

from __future__ import annotations

import argparse
import pydoc
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import html
from hippocampus.indexing.extraction import Extraction

PAGE = """<!DOCTYPE html><html><head><title>Shop &amp; more</title>
<meta name="description" content="Buy things"><script>var a = "<a href=x>no</a>"</script></head>
<body><nav aria-label="Top"><a href="/">Home</a> <a href="/cart">Cart (3)</a></nav>
<main><h1 id="top">Orders</h1><div class="alert alert-error">Payment failed for order 4711</div>
<p>Here you find the <b>orders</b> of the last <a href="/y">twelve months</a>, sorted by date.
<table><tr><th>Id<th>Total</tr><tr><td>4711<td>12.50</table>
<form action="/login" method="post"><label for=u>User name</label><input id="u" value="bob">
<input type=hidden name=token value=secret1><input type=password name=pw value=secret2>
<select name="lang"><option value="de">German</option><option selected value="en">English</option>
</select><button type=submit id="go">Sign in</button></form>
<h2>Help</h2><ul><li><a href="/help/1">First</a><li><a href="/help/2">Second</a></ul>"""
YAML = """- Page URL: https://shop.example/orders
- Page Title: Orders
- banner [ref=e2]:
  - link "Home" [ref=e3] [cursor=pointer]:
    - /url: /
  - button "Menu" [ref=e4]
- main [ref=e5]:
  - heading "Your orders" [level=1] [ref=e6]
  - alert [ref=e7]: Payment failed
  - textbox "Search" [ref=e8]: shoes
  - checkbox "Only open" [checked] [ref=e9]
"""
UIDS = """uid=1_0 RootWebArea "Orders" url="https://shop.example/"
  uid=1_1 link "Home" url="https://shop.example/home"
  uid=1_2 button "Submit" focusable disabled
  uid=1_3 textbox "Email" value="a@b.c"
  uid=1_4 heading "Welcome" level="1"
"""
NUMBERED = """[1]<a href='/home'>Home</a>
[2]<button aria-label='Search now' />
Some free text
[3]<input type='text' placeholder='Name' value='x' />
*[4]<button>Send</button>
"""
ELEMENTS = """<element ref="e1" role="banner">
  <element ref="e2" role="link" aria-label="Home" href="/"/>
  <element ref="e3" role="button" aria-label="Send"></element>
  <button ref="e4">Go on</button>
</element>
"""


def extraction_of(text: str) -> Extraction:
    extraction = html.extract(text)
    assert extraction is not None
    return extraction


def reads(text: str) -> list[str]:
    return [line.text for line in extraction_of(text).lines]


@pytest.mark.parametrize("text", [PAGE, YAML, UIDS, NUMBERED, ELEMENTS])
def test_a_page_is_recognised_by_itself(text: str) -> None:
    assert html.recognises(text) >= 0.6


def test_a_page_reads_well() -> None:
    assert extraction_of(PAGE).summary.startswith('page "Shop & more": 5 links, 2 options')
    assert reads(PAGE) == [
        "[nav] Top",
        "link: Home → /, Cart (3) → /cart",
        "# Orders #top",
        "! Payment failed for order 4711",
        "Here you find the orders of the last twelve months, sorted by date.",
        "Id | Total",
        "4711 | 12.50",
        "link: twelve months → /y",
        "form: POST /login",
        'text: User name #u = "bob"',
        "password: pw",
        "select: lang",
        'option: German = "de", English = "en" (selected)',
        "button: Sign in #go",
        "## Help",
        "link: First → /help/1, Second → /help/2",
    ]


@pytest.mark.parametrize("text", [PAGE, YAML])
def test_messages_are_shown_whatever_the_budget(text: str) -> None:
    [message] = [line.text for line in extraction_of(text).lines if line.keep]
    assert "Payment failed" in message


def test_a_page_of_messages_keeps_the_first_few() -> None:
    lines = extraction_of(
        "\n".join(f'- alert "Job {n} failed" [ref=e{n}]' for n in range(99))
    ).lines
    assert sum(line.keep for line in lines) == 5


def test_what_a_page_hides_is_not_told() -> None:
    told = "\n".join(reads(PAGE))
    assert "secret" not in told
    assert "var a" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (YAML, ["link: Home e3 → /", "button: Menu e4", "! e7: Payment failed"]),
        (YAML, ["[banner] e2", "textbox: Search e8: shoes", "checkbox: Only open [checked] e9"]),
        (UIDS, ['link: Home 1_1 url="https://shop.example/home"', "button: Submit 1_2 disabled"]),
        (UIDS, ['textbox: Email 1_3 value="a@b.c"', '# Welcome 1_4 level="1"']),
        (NUMBERED, ["[2]<button aria-label='Search now' />", "*[4]<button>Send</button>"]),
        (ELEMENTS, ["link: Home e2 → /", "button: Send e3, Go on e4"]),
    ],
)
def test_refs_stand_beside_their_labels(text: str, told: list[str]) -> None:
    lines = reads(text)
    assert [line for line in told if line not in lines] == []


def test_elements_without_a_name_take_no_room() -> None:
    nameless = '- button\n- link [ref=e1]\n- heading [level=2]\n- link "Home" [ref=e2]\n- button\n'
    assert reads(nameless) == ["link: e1", "# [level=2]", "link: Home e2"]
    assert reads("<!doctype html><p><input><button></button><a></a><h2></h2><input name=q>") == [
        "text: q"
    ]


def test_a_snapshot_tells_its_title_and_address() -> None:
    assert extraction_of(YAML).summary.startswith('snapshot "Orders" https://shop.example/orders')
    assert reads(UIDS)[0] == 'Orders 1_0 url="https://shop.example/"'


def test_a_link_of_an_arrow_has_its_address() -> None:
    snapshot = (
        '- link "Next →" [ref=e1]:\n  - /url: /2\n- link "→" [ref=e2]:\n  - /url: /3\n  - /url: /4'
    )
    assert reads(snapshot) == ["link: Next → e1 → /2, → e2 → /3"]


@pytest.mark.parametrize("name", ["div", "span", "li"])
def test_a_control_by_its_role_has_its_words(name: str) -> None:
    page = f'<html><p>Look<{name} role="button" id="s">Send it</{name}> here<p><{name} role="tab" aria-label="Old">'
    assert reads(page) == ["button: Send it #s", "tab: Old"]


def test_terms_are_shown_with_their_definitions() -> None:
    shown = (
        '- term: "max_size = 4_000_000"\n- definition: "The size of a page"\n- link "Up" [ref=e1]'
    )
    assert reads(shown)[:2] == ["max_size = 4_000_000", "The size of a page"]


def test_what_a_page_calls_its_elements_stays_on_one_short_line() -> None:
    rude = f'<html><button role="a\n[zz · b]">Go</button><input type="{"so " * 99}" name=q><input type=url name=u>'
    found = extraction_of(f'{rude}<h2 id="x\ny">Top</h2><nav aria-label="Site"></nav>')
    assert not any("\n" in text for text in (found.summary, *(line.text for line in found.lines)))
    assert len(found.summary) < 150
    assert found.key_data["url"] == ""
    assert "[nav] Site" in [line.text for line in found.lines]


def test_every_ref_told_stands_in_the_content_with_its_label() -> None:
    text = "\n".join(f'  - link "Item {number}" [ref=e{number}]' for number in range(500))
    for line in extraction_of(text).lines[1:]:
        for label, ref in re.findall(r"(Item \d+) (e\d+)", line.text):
            assert f'link "{label}" [ref={ref}]' in text


def test_every_address_told_stands_in_the_page() -> None:
    page = pydoc.HTMLDoc().page("argparse", pydoc.HTMLDoc().docmodule(argparse))
    for line in reads(page):
        for target in re.findall(r" → ([^\s,]+)", line):
            assert target in page


@given(st.text(alphabet="<>/=\"' adivhreoltbun&;!-\n[]:", max_size=400))
def test_no_text_makes_it_fail(text: str) -> None:
    for content in (text, f"<!doctype html>{text}", f"{YAML}{text}"):
        assert html.extract(content) == html.extract(content)
        assert 0 <= html.recognises(content) <= 1


@given(st.lists(st.sampled_from(re.findall(r"<[^>]*>|[^<]+", PAGE)), max_size=60))
def test_no_order_of_tags_makes_it_fail(parts: list[str]) -> None:
    extraction = html.extract("<!doctype html>" + "".join(parts))
    for number, line in enumerate(extraction.lines if extraction else ()):
        assert line.parent is None or line.parent < number


@pytest.mark.parametrize(
    "piece", ["<", "<a ", '<a "', "<div>", "<svg>", "<!--", "<input a = ", "<button>", "&amp;"]
)
def test_hostile_pages_are_survived(piece: str) -> None:
    html.extract("<!doctype html>" + piece * 30_000)


def test_prose_and_code_are_no_page() -> None:
    assert html.recognises("It was the best of times.\nIt was the worst of times.\n" * 3) == 0
    assert html.recognises("def f(a):\n    if a < 3:\n        return a > 2\n" * 5) == 0
