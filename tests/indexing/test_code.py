"""An outline's lines are true: every number is that of the line where the name stands."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import code
from hippocampus.indexing.code import keywords
from hippocampus.indexing.code.languages import BY_EXTENSION
from hippocampus.indexing.extraction import ExtractionContext

NO_HINTS = ExtractionContext()
SOURCES = {
    "py": '''
        """Keeps users."""
        import os
        from a.b import (
            c,
            d,
        )

        LIMIT = 10


        class User(Base):
            name: str

            @property
            def first(self) -> str:
                return self.name_parts[0]


        async def load(path, *, deep=False):
            # TODO: read deep
            return os.getcwd()
        ''',
    "ts": """
        import { a } from "./a.js";
        export const LIMIT = 10;
        export class User extends Base {
            constructor(
                private name: string,
            ) {
                super();
            }
            async load(path: string): Promise<void> {
                if (path) {
                    return;
                }
            }
        }
        export interface Options {
            deep: boolean;
        }
        const first = (user: User): string => user.name;
        function last(user: User): string {
            return user.name;
        }
        """,
    "go": """
        package users

        import (
        \t"context"
        )

        const Limit = 10

        type User struct {
        \tName string
        }

        func (u *User) First(ctx context.Context) string {
        \treturn u.Name
        }

        func Load(path string) (*User, error) {
        \treturn nil, nil
        }
        """,
    "rs": """
        use std::collections::HashMap;

        pub const LIMIT: usize = 10;

        pub struct User {
            name: String,
        }

        impl User {
            pub fn first(&self) -> &str {
                &self.name
            }
        }

        fn load(path: &str) -> Option<User> {
            None
        }
        """,
    "java": """
        package com.example;

        import java.util.List;

        public class User extends Base {
            private static final int LIMIT = 10;

            public User(String name) {
                super(name);
            }

            @Override
            public List<String> first(int count) {
                if (count > 0) {
                    return null;
                }
                return null;
            }
        }
        """,
    "cpp": """
        #include <vector>
        #define LIMIT 10

        class User {
         public:
          int first() const;
        };

        static int load(const std::string& path, int deep) {
          if (deep > 0) {
            return 1;
          }
          return 0;
        }

        int main(int argc, char **argv) {
          return load(argv[0], 0);
        }
        """,
    "rb": """
        require 'json'

        module Shop
          class User < Base
            LIMIT = 10

            def first(count)
              count.times do |each|
                puts each
              end
            end
          end
        end
        """,
    "php": """
        <?php
        namespace App;

        use App\\Base;

        class User extends Base
        {
            const LIMIT = 10;

            public function first($count)
            {
                $name = $this->name;
                return $name;
            }
        }
        """,
    "sh": """
        #!/bin/bash
        LIMIT=10
        first() {
          local name=$1
          echo "$name"
        }
        if [ -f "$1" ]; then
          first "$1"
        fi
        """,
    "sql": """
        CREATE TABLE IF NOT EXISTS users (
          id serial primary key,
          name text
        );
        CREATE UNIQUE INDEX users_name ON users (name);
        CREATE OR REPLACE FUNCTION load(id int) RETURNS text AS $$
          select name from users;
        $$;
        """,
    "css": """
        :root {
          --limit: 10px;
        }
        .user-card > a {
          color: red;
        }
        @media (max-width: 600px) {
          .user-card { display: none; }
        }
        """,
}
EXPECTED = {
    "py": {"User", "first", "load", "LIMIT"},
    "ts": {"LIMIT", "User", "constructor", "load", "Options", "first", "last"},
    "go": {"Limit", "User", "First", "Load"},
    "rs": {"LIMIT", "User", "first", "load"},
    "java": {"LIMIT", "User", "first"},
    "cpp": {"LIMIT", "User", "load", "main"},
    "rb": {"Shop", "User", "LIMIT", "first"},
    "php": {"User", "LIMIT", "first"},
    "sh": {"LIMIT", "first"},
    "sql": {"users", "users_name", "load"},
    "css": {":root", "--limit", ".user-card > a"},
}
LISTED = re.compile(r"(?:^|: |, | )([^\s,:]+) (\d+)(?=,|$)")


def source(extension: str) -> str:
    return textwrap.dedent(SOURCES[extension]).strip() + "\n"


def reads(text: str, extension: str = "") -> list[str]:
    extraction = code.extract(text, ExtractionContext(file=f"src/file.{extension}"))
    assert extraction is not None
    return "\n".join(line.text for line in extraction.lines).split("\n")


@pytest.mark.parametrize("extension", SOURCES)
def test_every_symbol_stands_on_its_line(extension: str) -> None:
    text = source(extension)
    lines = text.split("\n")
    outline = keywords.outline(text, BY_EXTENSION[extension])
    assert {symbol.name for symbol in outline.symbols} >= EXPECTED[extension]
    assert all(symbol.name in lines[symbol.line - 1] for symbol in outline.symbols)


@pytest.mark.parametrize("extension", SOURCES)
def test_a_source_is_recognised_by_itself(extension: str) -> None:
    assert code.recognises(source(extension)) >= 0.5


@pytest.mark.parametrize("extension", ["ts", "go", "rs", "java", "cpp"])
def test_no_word_of_control_is_taken_for_a_name(extension: str) -> None:
    names = {
        symbol.name
        for symbol in keywords.outline(source(extension), BY_EXTENSION[extension]).symbols
    }
    assert not names & {"if", "for", "while", "return", "switch", "super", "else"}


def test_a_python_module_of_the_library_has_every_class_and_function_on_its_line() -> None:
    text = inspect.getsource(argparse)
    told = {(name, int(number)) for line in reads(text) for name, number in LISTED.findall(line)}
    made = [
        (node.name, node.lineno)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    assert set(made) <= told


def test_a_part_that_does_not_parse_is_outlined_with_the_numbers_of_its_file() -> None:
    whole = inspect.getsource(argparse)
    start = next(at for at, line in enumerate(whole.split("\n")) if at > 400 and line[:8].isspace())
    part = "\n".join(whole.split("\n")[start : start + 300])
    extraction = code.extract(part, NO_HINTS, first_line=start + 1)
    assert extraction is not None
    lines = whole.split("\n")
    told = [
        pair
        for line in extraction.lines
        if line.number is None
        for pair in LISTED.findall(line.text)
    ]
    assert told
    assert all(name.split(".")[-1] in lines[int(number) - 1] for name, number in told)


def test_the_outline_of_python_has_what_its_parser_finds() -> None:
    tree = ast.parse(source("py"))
    made = {
        (node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    outlined = keywords.outline(source("py"), BY_EXTENSION["py"]).symbols
    assert made == {(s.line, s.name) for s in outlined if s.kind in {"class", "def"}}


def test_an_outline_reads_well() -> None:
    assert reads(source("py"), "py") == [
        "about: Keeps users.",
        "def: load 19",
        "const: LIMIT 8 = 10",
        "class User(Base) 11: first 15",
        "import: os, a.b",
        *[line for line in source("py").split("\n") if line.strip()],
    ]


@pytest.mark.parametrize("extension", ["py", "ts", "go", "yaml", ""])
@given(text=st.text(alphabet="def class(){}:=\n\t \"'<>#.,;0aZ_-é[]", max_size=400))
def test_no_text_makes_it_fail(extension: str, text: str) -> None:
    context = ExtractionContext(file=f"file.{extension}")
    assert code.extract(text, context) == code.extract(text, context)
    assert 0 <= code.recognises(text) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 300_000,
        "def f():\n  pass\nx = " + "-" * 50_000 + "1",
        "def f():\n  pass\nx = " + "1 + " * 20_000 + "1",
        "import a\nimport b\nimport c\n" + "\0" * 100,
        "import a\nimport b\nimport c\n\ud800",
        "a = 1\n" * 3 + " " * 500_000,
        "\n".join(" " * depth + f"k{depth}:" for depth in range(2_000)),
    ],
)
def test_hostile_sources_are_survived(text: str) -> None:
    code.extract(text, ExtractionContext(file="x.py"))
    code.extract(text, NO_HINTS)


def test_prose_is_no_code() -> None:
    prose = (
        "It was the best of times.\nIt was the worst of times, and so on.\nNobody knew why.\n" * 5
    )
    assert code.recognises(prose) < 0.5


@pytest.mark.parametrize(
    "comment",
    [
        "// Copyright (c) 2024 The Lamp Authors",
        "/* SPDX-License-Identifier: MIT */",
        "// @ts-nocheck at all",
    ],
)
def test_a_comment_for_lawyers_or_tools_is_not_what_a_source_is_about(comment: str) -> None:
    made = "".join(f"export function lamp{n}(a) {{\n  return a + {n};\n}}\n" for n in range(9))
    found = code.extract(f"{comment}\n{made}", ExtractionContext(file="lamp.js"))
    assert found is not None
    assert not any(line.text.startswith("about:") for line in found.lines)


def test_rows_that_a_script_inserts_are_counted_below_their_table() -> None:
    tables = (
        f"CREATE TABLE t{n} (\n  id BIGINT PRIMARY KEY\n);\n"
        + "".join(f"INSERT INTO t{n} VALUES ({row}, 'x');\n" for row in range(20))
        for n in range(3)
    )
    found = code.extract("".join(tables), ExtractionContext(file="dump.sql"))
    assert found is not None
    sections = [line.text for line in found.lines if line.text.startswith("section: ")]
    assert sections == ["section: t0 4 and 19 more, t1 27 and 19 more, t2 50 and 19 more"]


def test_a_call_with_a_function_in_it_is_no_definition() -> None:
    source = """\
import { useEffect } from "react";
export class Panel {
  render(done: () => void): void {
    setTimeout(() => {
      done();
    }, 10);
    setInterval(function () {
      done();
    }, 10);
  }
}
"""
    lines = [each.text for each in code.extract(source, ExtractionContext(file="a.ts")).lines]
    assert "class Panel 2: render 3" in lines
    assert not any("setTimeout 4" in line or "setInterval 7" in line for line in lines)
