"""Commands whose options are given once, unless they are repeated ones: the last would silently override the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterable


def _refuse_repeats(context: Any, order: Iterable[Any]) -> None:
    """An option that has one value, and was given two."""
    given = [each for each in order if each.param_type_name == "option" and not (each.multiple or each.is_flag)]
    for each in given:
        if (times := given.count(each)) > 1:
            context.fail(
                f"{max(each.opts, key=len)} is given {'twice' if times == 2 else f'{times} times'}, and the last would "
                "override the others. Give it once."
            )


class OnceCommand(TyperCommand):
    """A command that refuses an option which overrides another one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look at the options as they were typed first."""
        if args:
            _refuse_repeats(ctx, self.make_parser(ctx).parse_args(args=list(args))[2])
        return super().parse_args(ctx, args)


class OnceGroup(TyperGroup):
    """The same of commands that have others below them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look at the options as they were typed first."""
        if args:
            _refuse_repeats(ctx, self.make_parser(ctx).parse_args(args=list(args))[2])
        return super().parse_args(ctx, args)
