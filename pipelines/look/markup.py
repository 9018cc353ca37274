"""Elements of HTML and SVG: what is no markup yet is escaped as it goes in, so that no name can be code."""

from collections.abc import Iterable
from html import escape

EMPTY = {"br", "circle", "line", "meta", "path", "rect"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *content: str, **attributes: str | int | float | None) -> Markup:
    """Give one element; an attribute's `_` stands for `-`, a last one is dropped (`class_`), and None leaves it out."""
    written = "".join(f' {_attribute(key)}="{_value(value)}"' for key, value in attributes.items() if value is not None)
    if name in EMPTY and not content:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(content)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Give the parts one after the other, those that are no markup escaped."""
    return Markup("".join(part if isinstance(part, Markup) else escape(_sound(part)) for part in parts))


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | int | float) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escape(_sound(str(value)))


def _sound(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, and control characters, which no page may hold."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(
        letter if letter.isprintable() or letter in "\t\n" else "\N{REPLACEMENT CHARACTER}" for letter in whole
    )
