"""`hippocampus proxy`: stands between an agent and its provider."""

from __future__ import annotations

from typing import Annotated

import typer

from hippocampus.cli.options import DEFAULT_STATE, PolicyName, StateOption, fail

INSTALL = 'the proxy needs: pip install "hippocampus-context[proxy]"'


def proxy(  # noqa: PLR0913, PLR0917 - one parameter an option
    upstream: Annotated[str, typer.Option(help="The provider, such as https://api.anthropic.com.")],
    state_dir: StateOption = DEFAULT_STATE,
    policy: PolicyName = "default",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8787,
    timeout: Annotated[
        float, typer.Option(help="How many seconds the provider may send nothing.")
    ] = 600.0,
) -> None:
    """Pass an agent's requests on to its provider, with the views of its conversations."""
    try:
        import uvicorn

        from hippocampus.integrations.proxy.app import proxy_app
    except ImportError as missing:
        if missing.name not in {"httpx", "prometheus_client", "starlette", "uvicorn"}:
            raise
        fail(INSTALL)
    if not upstream.startswith(("https://", "http://")):
        raise typer.BadParameter(f"--upstream {upstream!r} is not the address of a provider")
    app = proxy_app(upstream, state_dir, policy, timeout)
    typer.echo(f"hippocampus proxy: http://{host}:{port} for {upstream}", err=True)
    # No log of requests: their addresses may hold keys.
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False)
