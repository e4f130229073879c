"""The options that all commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from analyzer.cli.state import State
from analyzer.domain.errors import UsageError
from analyzer.render.formats import formats_of

if TYPE_CHECKING:
    from analyzer.api import Options

Function = Callable[..., Any]
_SOURCES: Final = ("git", "pypi", "snapshot")
_PATH: Final = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class Common:
    """The shared options of one call."""

    repo: Path | None
    source: str | None
    rules: Path | None
    outputs: tuple[Path, ...]
    use_cache: bool
    quiet: bool
    verbose: bool
    formats: tuple[str, ...] = ()

    @property
    def in_text(self) -> bool:
        """Whether a person reads the result, notes included."""
        return not self.formats or "text" in self.formats

    def with_formats(self, names: tuple[str, ...], command: str) -> Common:
        """The same with those of `names` that `command` has, unless formats were asked for."""
        fitting = tuple(name for name in names if name in formats_of(command))
        return self if self.formats or not fitting else replace(self, formats=fitting)

    def for_api(self) -> Options:
        """The part that decides where code, rules and cache are."""
        from analyzer.api import Options  # noqa: PLC0415 - `--help` does not need it
        from analyzer.cli.progress import StderrProgress  # noqa: PLC0415 - nor this

        return Options(
            repo=self.repo,
            source=self.source,
            rules=self.rules,
            use_cache=self.use_cache,
            project=_current_folder(),
            progress=StderrProgress(quiet=self.quiet),
        )


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder no longer exists", hint="change to another folder") from error


_OUTPUT_HELP: Final = (
    "Write the result to this file; - is stdout. With several formats, a file goes to the format that its"
    " suffix names, else to the first that has none."
)


def common_options(command: str, output_help: str = _OUTPUT_HELP) -> Callable[[Function], Function]:
    """Give a command the shared options, as its first argument `common`."""
    formats = formats_of(command)
    options: list[Callable[[Function], Function]] = [
        click.option("--repo", type=_PATH, metavar="DIR", help="The clone of SGLang to read (else $SGLANG_REPO)."),
        click.option("--source", type=click.Choice(_SOURCES), help="Where code comes from."),
        click.option("--rules", type=_PATH, metavar="DIR", help="A rules folder to use instead of the built-in one."),
        click.option("-o", "--output", "outputs", type=_PATH, multiple=True, metavar="PATH", help=output_help),
        click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
        click.option("-q", "--quiet", is_flag=True, help="No notes and no progress."),
        click.option("-v", "--verbose", is_flag=True, help="Tracebacks of failures."),
        *([_format_option(formats)] if formats else []),
    ]

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(no_cache: bool, **values: Any) -> Any:  # noqa: FBT001 - click calls by keyword
            names = ("repo", "source", "rules", "outputs", "quiet", "verbose", *(["formats"] if formats else []))
            common = Common(use_cache=not no_cache, **{name: values.pop(name) for name in names})
            click.get_current_context().ensure_object(State).verbose = common.verbose
            return function(common, **values)

        call.__dict__.setdefault("__click_params__", []).append(version_option())
        for option in reversed(options):
            option(call)
        return call

    return decorate


def _format_option(formats: tuple[str, ...]) -> Callable[[Function], Function]:
    text = f"How to write the result (default: {formats[0]}; repeatable)."
    return click.option("--format", "formats", type=click.Choice(formats), multiple=True, help=text)


def selection_options(function: Function) -> Function:
    """Give a command ``--scenario`` and ``--quantity``."""
    for name, metavar in (("quantity", "quantities"), ("scenario", "scenarios")):
        text = f"Restrict the report to this {name} (repeatable)."
        function = click.option(f"--{name}", metavar, multiple=True, metavar="NAME", help=text)(function)
    return function


# Option of the command line -> argument of the server, and its type.
_SERVER_OPTIONS: Final[dict[str, tuple[str, Any, str]]] = {
    "--tp": ("tp_size", click.IntRange(1), "Tensor-parallel size."),
    "--dp": ("dp_size", click.IntRange(1), "Data-parallel size."),
    "--pp": ("pp_size", click.IntRange(1), "Pipeline-parallel size."),
    "--kv-cache-dtype": ("kv_cache_dtype", str, "Dtype of the KV cache, such as fp8_e5m2."),
    "--page-size": ("page_size", click.IntRange(1), "Tokens per page."),
    "--context-length": ("context_length", click.IntRange(1), "The context length that the user sets."),
    "--mem-fraction-static": ("mem_fraction_static", click.FloatRange(0, 1), "The static memory fraction."),
    "--max-running-requests": ("max_running_requests", click.IntRange(1), "The user's cap on running requests."),
    "--max-total-tokens": ("max_total_tokens", click.IntRange(1), "The user's cap on tokens."),
}


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The configuration of a model, the arguments that a server of it gets, and the memory of its device."""

    config: Path | None
    arguments: dict[str, Any]
    gpu_memory: float | None
    weights: float | None

    @property
    def is_given(self) -> bool:
        """Whether any of it was given."""
        return bool(self.config or self.arguments or self.memory)

    @property
    def memory(self) -> dict[str, float]:
        """Free memory before and after loading, as inputs."""
        found = {} if self.gpu_memory is None else {"pre_model_load_memory": self.gpu_memory}
        if self.gpu_memory is not None and self.weights is not None:
            found["available_gpu_memory"] = self.gpu_memory - self.weights
        return found


def model_options(function: Function) -> Function:
    """Give a command ``--model`` and the server arguments that go with it, as its argument `model`."""

    @functools.wraps(function)
    def call(*positional: Any, **values: Any) -> Any:
        found = {name: values.pop(f"server_{name}") for name, _, _ in _SERVER_OPTIONS.values()}
        arguments = {name: value for name, value in found.items() if value is not None}
        if values.pop("server_enable_dp_attention"):
            arguments["enable_dp_attention"] = True
        memory = values.pop("gpu_memory"), values.pop("weights")
        return function(*positional, model=ModelOptions(values.pop("model_config"), arguments, *memory), **values)

    click.option("--weights", type=click.FloatRange(0), metavar="GIB", help="What loading takes of one device.")(call)
    click.option("--gpu-memory", type=click.FloatRange(0), metavar="GIB", help="Free memory of one device at first.")(
        call
    )
    click.option("--enable-dp-attention", "server_enable_dp_attention", is_flag=True, help="Data-parallel attention.")(
        call
    )
    for option, (name, kind, text) in reversed(_SERVER_OPTIONS.items()):
        click.option(option, f"server_{name}", type=kind, help=text)(call)
    text = "A Hugging Face config.json: sets the scenario and the inputs that describe the model."
    click.option("--model", "model_config", type=_PATH, metavar="CONFIG_JSON", help=text)(call)
    return call


def set_option(function: Function) -> Function:
    """Give a command ``--set``, as its argument `settings`."""
    text = "An input; VALUE is JSON (null: not known, or none), else a string (repeatable)."
    return click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help=text)(function)


def version_option() -> click.Option:
    """``--version``, which every command answers."""
    return click.Option(
        ["--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_print_version,
        help="Show the version and leave.",
    )


def _print_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls by position
    del parameter
    if value and not context.resilient_parsing:
        from analyzer import __version__  # noqa: PLC0415 - reading the metadata takes a moment

        click.echo(f"analyzer {__version__}")
        context.exit()
