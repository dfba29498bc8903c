"""A comparison of model prices, asked for and answered in Chinese, with a chart as an image."""

from __future__ import annotations

import json
from typing import Any

from recorder.agent import Agent, want

INSTRUCTIONS = ""
PROVIDERS = ("anthropic", "openai", "google", "mistral", "deepseek", "moonshotai", "groq", "cohere")
ENOUGH = 200_000
Row = dict[str, Any]


def play(agent: Agent) -> None:
    """List models, pick the long contexts, read each one, draw, compute and report."""
    agent.user(
        "请比较各家模型的价格:只看上下文窗口不少于 200000 的模型,"
        "假设每月输入 900 百万 token、输出 40 百万 token。最后写到 work/比较.md。"
    )
    agent.call("先看有哪些提供商。", "price_providers")
    rows = _models(agent)
    cheap = _cheapest(rows)
    deprecated = _details(agent, cheap)
    _wrong_name(agent, cheap)
    agent.user("重要:不要用已经弃用的模型。另外记住:金额一律保留两位小数。")
    cheap = [row for row in cheap if row["id"] not in deprecated]
    costs = _costs(agent, cheap)
    _chart(agent, costs)
    _report(agent, cheap, costs)
    _caching(agent, cheap)
    _finish(agent, cheap, costs)


def _models(agent: Agent) -> list[Row]:
    rows: list[Row] = []
    for name in PROVIDERS:
        listed: list[Row] = json.loads(
            agent.call(f"查询 {name} 的模型。", "price_models", provider=name)
        )
        rows += [{**row, "provider": name} for row in listed]
    return rows


def _cheapest(rows: list[Row]) -> list[Row]:
    """Return for each provider its two cheapest models that are long enough."""
    fit = [row for row in rows if (row["context_window"] or 0) >= ENOUGH and _price(row)]
    fit.sort(key=_price)
    return [
        row for name in PROVIDERS for row in [one for one in fit if one["provider"] == name][:2]
    ]


def _price(row: Row) -> float:
    price = row["prices"].get("input_mtok", "0")
    return float(price) if price.replace(".", "").isdigit() else 0.0


def _details(agent: Agent, cheap: list[Row]) -> set[str]:
    """Read all about each model; return the ids of those that are deprecated."""
    texts: list[str] = []
    for at in range(0, len(cheap), 2):
        pair = cheap[at : at + 2]
        names = "、".join(f"{row['id']}({row['prices']['input_mtok']} 美元)" for row in pair)
        texts += agent.calls(
            f"详细看 {names}。",
            *(want("price_model", provider=row["provider"], model=row["id"]) for row in pair),
        )
    models: list[Row] = [json.loads(text) for text in texts]
    return {model["id"] for model in models if model["deprecated"]}


def _wrong_name(agent: Agent, cheap: list[Row]) -> None:
    agent.call(
        "也许还有带日期的版本。",
        "price_model",
        provider=cheap[0]["provider"],
        model=f"{cheap[0]['id']}-latest",
    )


def _costs(agent: Agent, cheap: list[Row]) -> dict[str, float]:
    prices = {row["id"]: (_price(row), row["prices"].get("output_mtok", "0")) for row in cheap}
    code = (
        f"prices = {prices!r}\n"
        "for name, (read, written) in prices.items():\n"
        "    try:\n"
        "        print(f'{name}\\t{900 * read + 40 * float(written):.2f}')\n"
        "    except ValueError as error:\n"
        "        print(f'{name}\\t0.00\\t{error}')\n"
    )
    output = agent.call(f"共 {len(cheap)} 个模型,现在计算每月费用。", "run_python", code=code)
    rows = [line.split("\t") for line in output.splitlines() if "\t" in line]
    return {row[0]: float(row[1]) for row in rows}


def _chart(agent: Agent, costs: dict[str, float]) -> None:
    agent.call("先画一张没有数据的图会怎样?", "draw_chart", title="每月费用", values={})
    agent.call("图表需要数据。", "draw_chart", title="每月费用", values=costs)


def _report(agent: Agent, cheap: list[Row], costs: dict[str, float]) -> None:
    rows = [
        f"| {row['provider']} | {row['id']} | {row['context_window']} | {costs[row['id']]:.2f} |"
        for row in cheap
    ]
    head = ["# 价格比较", "", "| 提供商 | 模型 | 上下文 | 每月费用(美元) |", "|---|---|---|---|"]
    content = "\n".join([*head, *rows, ""])
    agent.call("", "write_file", path="work/比较.md", content=content)
    agent.call("", "read_file", path="work/比较.md")


def _caching(agent: Agent, cheap: list[Row]) -> None:
    agent.user("缓存命中的价格呢?如果八成输入来自缓存,结果会变吗?")
    listed = agent.call("", "price_models", provider=cheap[0]["provider"])
    known = {row["id"]: row["prices"] for row in json.loads(listed)}
    cached = [row for row in cheap if "cache_read_mtok" in row["prices"]]
    agent.call(
        f"{cheap[0]['id']} 的缓存价是 {known[cheap[0]['id']].get('cache_read_mtok', '未知')}。",
        "run_python",
        code="".join(
            f"print({row['id']!r}, 720 * {_cache_price(row)} + 180 * {_price(row)})\n"
            for row in cached
        ),
    )


def _cache_price(row: Row) -> float:
    text = row["prices"]["cache_read_mtok"]
    return float(text) if text.replace(".", "").isdigit() else 0.0


def _finish(agent: Agent, cheap: list[Row], costs: dict[str, float]) -> None:
    name, cost = min(costs.items(), key=lambda item: item[1] or float("inf"))
    row = next(row for row in cheap if row["id"] == name)
    agent.call(
        "在报告里标出最便宜的一个。",
        "patch_file",
        path="work/比较.md",
        old=f"| {name} | {row['context_window']} |",
        new=f"| **{name}** | {row['context_window']} |",
    )
    agent.call("", "price_model", provider=row["provider"], model=name)
    agent.answer(
        f"最便宜的是 {row['provider']} 的 {name}:每月 {cost:.2f} 美元,"
        f"上下文窗口 {row['context_window']}。完整表格在 work/比较.md。"
    )
