"""``--anonymous``: the page that ``--html`` writes leaves out ids, names of files and the command.

Every command with ``--html`` has it, and none has to hand it on: the choice holds for what the command writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from unskew.cli.options import ANONYMOUS, OUTPUT, option
from unskew.core.errors import InputError

SWITCH = Annotated[bool, option("Leave ids, names of files and the command out of the page.", OUTPUT, "--anonymous")]


def with_anonymous(command: Callable[..., None]) -> Callable[..., None]:
    """A command with ``--anonymous``, where it has ``--html``."""
    signature = inspect.signature(command, eval_str=True)
    if "html" not in signature.parameters:
        return command

    @wraps(command)
    def run(*args: Any, anonymous: bool = False, **kwargs: Any) -> None:
        if anonymous and kwargs.get("html") is None:
            raise InputError("--anonymous is about the page: give --html FILE too.", code="missing-argument")
        token = ANONYMOUS.set(anonymous)
        try:
            command(*args, **kwargs)
        finally:
            ANONYMOUS.reset(token)

    switch = inspect.Parameter("anonymous", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=SWITCH)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), switch])  # type: ignore[attr-defined]
    run.__annotations__ = {**inspect.get_annotations(command, eval_str=True), "anonymous": SWITCH}
    return run
