"""`tool_api`, `resource`, `prompt`: say what a function is, and what is special about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial, wraps
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import msgspec

from .errors import RegistrationError
from .options import ATTRIBUTE, Options, get_own_options
from .schema.shape import make_refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from concurrent.futures import Executor
    from typing import TypedDict, Unpack

    class _Shared(TypedDict, total=False):
        """The options of all three decorators."""

        name: str | None
        title: str | None
        description: str | None
        timeout_seconds: float | None
        runs_in: str | Executor | None
        shared: bool
        memory_limit: int | str | None
        tags: Collection[str]
        icons: Sequence[dict[str, Any]]
        meta: dict[str, Any] | None


_SHARED = (
    "name",
    "title",
    "description",
    "timeout_seconds",
    "runs_in",
    "shared",
    "memory_limit",
    "tags",
    "icons",
    "meta",
)

Function = TypeVar(
    "Function", bound="Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any]"
)


@overload
def tool_api(function: Function, /) -> Function: ...


@overload
def tool_api(
    *,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    input_schema: dict[str, Any] | None = None,
    output_schema: dict[str, Any] | None = None,
    structured: bool = True,
    max_result_bytes: int | str | None = None,
    task: Literal["auto", "always", "required", "never"] | None = None,
    confirm: str | Callable[..., str] | None = None,
    include_arguments: str | Iterable[str] | None = None,
    exclude_arguments: str | Iterable[str] | None = None,
    explode_param: bool = True,
    explode_return: bool = False,
    returns_named_value: bool = False,
    **options: Unpack[_Shared],
) -> Callable[[Function], Function]: ...


def tool_api(function: Any = None, /, **options: Any) -> Any:
    """The function itself, marked as a tool: `@tool_api` or `@tool_api(read_only=True)`.

    It stays a plain function; one that is written in C becomes a partial of itself. On a method it
    makes the class a toolkit; `@staticmethod` and `@classmethod` go above or below it. Its
    `api_description` is a dict that describes it as Lagent does: `name`, `description`,
    `parameters`, `required` and, if one of the last two options asks for it, `return_data`. It is
    made when it is read: for orjson and msgspec, which do not call the methods of a dict, write
    `dict(function.api_description)`.

    Args:
        name: what callers call it; the function's name by default.
        title: what people see instead of the name.
        description: what it does; the docstring by default.
        read_only: it changes nothing.
        destructive: it may overwrite or delete.
        idempotent: calling it again with the same arguments changes nothing more.
        open_world: it reaches beyond this machine.
        timeout_seconds: when a call is given up, instead of the server's limit.
        runs_in: `"process"` keeps it in a process of its own, so that a crash of it is one failed
            call. An executor, or a name that `serve --run-on` gives an engine such as a Dask
            cluster, starts that process there.
        shared: False keeps it out of the process of `serve --share`: each session has a process for
            its tools of that kind, which runs their calls one after another.
        memory_limit: what that process may use beyond what loading the tools takes, in bytes or
            like `"512 MiB"`.
        tags: words to choose tools by, as in `--include tag:billing`.
        icons: `{"src": "https://...", "mimeType": ..., "sizes": ["48x48"], "theme": ...}` each.
        input_schema: JSON Schema of the arguments, instead of the one made from the type hints.
        output_schema: JSON Schema of the result, instead of the one made from the type hints.
        structured: False publishes no output schema and sends no structured content, only text and
            other content: for hosts that pass both to the model. Results are checked all the same.
        max_result_bytes: how large a result may be, instead of the server's limit, in bytes or like
            `"64 KiB"`.
        task: whether a call may go on as a task after its request was answered, if the client can
            have tasks: `"auto"`, once it has not ended for the time of `serve --task-after`;
            `"always"`, at once; `"required"`, at once, and other clients get an error; `"never"`.
            By default it is `"auto"`, but clients of MCP 2025-11-25, which decide themselves, get
            tasks only of tools that have the option.
        meta: the tool's `_meta`, for hosts that read it.
        confirm: the question that the user has to agree to before each call: a template over the
            arguments such as `"Really remove {path}?"`, or a function that takes some of the
            arguments by name and returns the text. If the user says no, or cannot be asked, the
            function does not run, and the call fails.
        include_arguments: the parameters that callers see and give; the others keep their defaults,
            whatever `exclude_arguments` says.
        exclude_arguments: parameters that callers neither see nor give; they keep their defaults.
        explode_param: False leaves the parameters in `api_description` to the docstring: all of it
            becomes the `description`, and they have nothing but names. The served tool and its
            arguments stay the same.
        explode_return: the list in the docstring's Returns, `- name (type): text`, becomes
            `return_data`.
        returns_named_value: so do the results themselves, `name (type): text`. The list wins if
            both are asked for.

    Raises:
        TypeError: for an option that does not exist, or a value of the wrong type.
        ValueError: for a value out of range.
        RegistrationError: for something that cannot be marked, such as a class, or that has not the
            arguments to be included or excluded.
    """
    said = check_options(options)
    if function is not None:
        return _mark(function, said)
    return lambda function: _mark(function, said)


def resource(
    uri: str,
    /,
    *,
    media_type: str | None = None,
    annotations: dict[str, Any] | None = None,
    any_path: bool = False,
    **options: Unpack[_Shared],
) -> Callable[[Function], Function]:
    """The function itself, marked as a resource: `@resource("config://app")` or
    `@resource("notes://{name}")`.

    Clients read its value under *uri*. The variables of a template are its parameters: `{name}`
    matches up to the next slash, `{path*}` across slashes, and `{?a,b}` at the end are members of
    the query, whose parameters have defaults. They arrive as the types of their hints. A str is
    served as text, bytes as a blob, other data as JSON, `File` and `Image` as what they hold, a
    list of those as several contents. None means that there is no such resource.

    Args:
        uri: the URI, or the template of all URIs.
        name: what people see; the function's name by default.
        title: what people see instead of the name.
        description: what it holds; the docstring by default.
        media_type: such as `"text/markdown"`; by default it follows from the value and the ending
            of the URI.
        annotations: MCP's `audience`, `priority` and `lastModified`.
        any_path: the function checks paths itself. By default there is no resource whose variable
            is an absolute path, leaves its folder (`../`, however it is encoded) or has a NUL.
        icons: as for `tool_api`, like the other options.

    Raises:
        TypeError: for an option that does not exist, or a value of the wrong type.
        ValueError: for a value out of range.
        RegistrationError: for something that cannot be marked, such as a class, or without a URI.
    """
    if not isinstance(uri, str):
        named = getattr(uri, "__name__", "resource")
        raise RegistrationError(
            "it has no URI", tool=named, remedy='write @resource("notes://{name}") or the like'
        )
    from .resources.resource import ResourceOptions

    own = {"uri": uri, "media_type": media_type, "annotations": annotations, "any_path": any_path}
    return partial(
        _mark,
        options=check_options({**own, **options}, ResourceOptions, "resource", (*own, *_SHARED)),
    )


@overload
def prompt(function: Function, /) -> Function: ...


@overload
def prompt(
    *,
    include_arguments: str | Iterable[str] | None = None,
    exclude_arguments: str | Iterable[str] | None = None,
    **options: Unpack[_Shared],
) -> Callable[[Function], Function]: ...


def prompt(function: Any = None, /, **options: Any) -> Any:
    """The function itself, marked as a prompt: `@prompt` or `@prompt(title="Review code")`.

    Users of a client choose prompts by name, and give the arguments as text, which arrives as the
    types of the hints. The function returns a text, a `Message`, content such as `Image` or `File`,
    or a list of these; what is in no `Message` is a message of the user. The options are those of
    `tool_api`. Raises what `tool_api` raises.
    """
    from .resources.prompt import PromptOptions

    said = check_options(
        options, PromptOptions, "prompt", (*_SHARED, "include_arguments", "exclude_arguments")
    )
    if function is not None:
        return _mark(function, said)
    return lambda function: _mark(function, said)


def _mark(thing: Any, options: Options) -> Any:
    target: Any = thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing
    name = getattr(target, "__name__", None) or type(target).__name__
    if isinstance(target, type) or not callable(target):
        kind = "class"
        if not isinstance(target, type):
            kind = type(target).__name__
        remedy = "decorate a function, or the methods of the class that should be tools"
        raise RegistrationError(f"a {kind} cannot be decorated", tool=name, remedy=remedy)
    if isinstance(target, BuiltinFunctionType):  # which carries nothing
        return _mark(partial(target), options)
    _check_names(target, name, options)
    before = get_own_options(target)
    if before is not None and before.made_by != options.made_by:
        remedy = "let a second function call it, and decorate that"
        raise RegistrationError(
            "a function cannot be two of a tool, a resource and a prompt", tool=name, remedy=remedy
        )
    try:
        setattr(target, ATTRIBUTE, options)
        thing.api_description = target.api_description = _ApiDescription(target, options)
    except (AttributeError, TypeError):
        remedy = "decorate a function that calls it, or the method in its class"
        raise RegistrationError(
            f"a {type(target).__name__} cannot have options", tool=name, remedy=remedy
        ) from None
    return thing


# Replaces the members of a description until it is read. Encoders name it in their errors.
_Unread = type("api_description that was not read yet; encode dict(...) of it", (), {})


class _ApiDescription(dict[str, Any]):
    """Lagent's description of a function, made when it is first read: servers never read it."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        # Not empty, since `json.dumps` does not read an empty dict, and nothing that orjson and
        # msgspec could encode: they do not call the methods of a dict, so they raise a TypeError
        # unless the description was read before.
        super().__init__(name=_Unread())
        self._made_from: tuple[Callable[..., Any], Options] | None = function, options

    def _make(self) -> None:
        if self._made_from is not None:
            from .api_description import describe_api

            made_from, self._made_from = self._made_from, None
            super().clear()
            super().update(describe_api(*made_from))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return dict, ({**self},)


def _make_later(name: str) -> Any:
    method = getattr(dict, name)

    @wraps(method)
    def call(self: _ApiDescription, *positional: Any, **keywords: Any) -> Any:
        for each in (self, *positional):
            if isinstance(each, _ApiDescription):
                each._make()
        return method(self, *positional, **keywords)

    return call


for _name in (
    *(
        "__getitem__",
        "__setitem__",
        "__delitem__",
        "__contains__",
        "__iter__",
        "__reversed__",
        "__len__",
    ),
    *(
        "__eq__",
        "__ne__",
        "__or__",
        "__ror__",
        "__ior__",
        "__repr__",
        "get",
        "keys",
        "values",
        "items",
    ),
    *("copy", "pop", "popitem", "setdefault", "update", "clear"),
):
    setattr(_ApiDescription, _name, _make_later(_name))


def _check_names(function: Any, tool: str, options: Options) -> None:
    wanted = options.include_arguments
    if wanted is None:
        wanted = options.exclude_arguments
    if not wanted:
        return
    from toolwire_schemas.signatures import read_signature  # as in `signature`

    try:
        known = list(read_signature(function).parameters)
    except (ValueError, TypeError):  # a Tool says so
        return
    for name in sorted(wanted - {"self", "cls", *known}):
        from toolwire_schemas.did_you_mean import explain_unknown_name

        raise RegistrationError(
            f"it has {explain_unknown_name('parameter', name, known)}",
            tool=tool,
            remedy="name one it has",
        )


def check_options(
    given: Mapping[str, Any],
    kind: type[Options] = Options,
    of: str = "tool_api",
    known: Iterable[str] = (),
) -> Options:
    """The options of the decorator *of*, which has the *known* ones, or all fields of *kind*.

    Raises a TypeError or ValueError for one that does not exist, or has a wrong value.
    """
    known = known or kind.__struct_fields__
    for option in given:
        if option not in known:
            from toolwire_schemas.did_you_mean import explain_unknown_name

            raise TypeError(f"{of}: {explain_unknown_name('option', option, known)}")
    values = {
        option: _prepare_option(option, value, of)
        for option, value in given.items()
        if value is not None
    }
    try:
        options = msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        refused = make_refusal(error)
        where = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in refused.path
        )
        is_type = "`, got `" in refused.sentence or "unknown field" in refused.sentence
        raise (TypeError if is_type else ValueError)(
            f"{of}: {where[1:]}: {refused.sentence}"
        ) from None
    _check_together(options, values, of)
    return options


def _prepare_option(option: str, value: Any, of: str) -> Any:
    """Return *value* with the spellings that the type of *option* does not say."""
    if option in ("memory_limit", "max_result_bytes") and isinstance(value, str):
        from .byte_sizes import parse_size

        try:
            return parse_size(value)
        except ValueError as error:
            raise ValueError(f"{of}: {option} must be {error}, not {value!r}") from None
    if option in ("include_arguments", "exclude_arguments") and isinstance(value, str):
        return (value,)
    if (
        option in _COLLECTIONS
        and isinstance(value, Iterable)
        and not isinstance(value, str | bytes | Mapping)
    ):
        return tuple(value)
    return (
        float(value) if isinstance(value, float) else value
    )  # msgspec takes no subclass, such as numpy's


_COLLECTIONS = ("tags", "include_arguments", "exclude_arguments")


def _check_place(place: Any, of: str) -> None:
    problem = f"{of}: runs_in must be 'process', another name or an executor, not {place!r}"
    if isinstance(place, str):
        if not place.isidentifier():
            raise ValueError(problem)
    elif place is not None and not hasattr(place, "submit"):
        raise TypeError(problem)


def _check_together(options: Options, given: Mapping[str, Any], of: str) -> None:
    words = {option: getattr(options, option) or () for option in _COLLECTIONS}
    for option, texts in {"name": given.keys() & {"name"} and [options.name], **words}.items():
        for text in texts:
            if not text or not text.isprintable() or text != text.strip():
                raise ValueError(
                    f"{of}: {option}: must be printable, without spaces around it, not {text!r}"
                )
    _check_place(options.runs_in, of)
    question = options.confirm
    if not (
        question is None
        or isinstance(question, str)
        or (callable(question) and not isinstance(question, type))
    ):
        raise TypeError(
            f"{of}: confirm must be a text or a function that returns one, not {question!r}"
        )
    if options.memory_limit is not None and options.runs_in is None:
        raise ValueError(f'{of}: memory_limit needs a process of its own; add runs_in="process"')
    if options.input_schema is not None:
        for option in ("include_arguments", "exclude_arguments"):
            if option in given:
                raise ValueError(
                    f"tool_api: {option} has no use with input_schema, which lists the arguments"
                    " itself"
                )
