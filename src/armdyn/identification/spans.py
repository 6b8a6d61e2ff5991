"""Changes of numbers in the text of an XML file, which leave every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence

from armdyn.errors import IdentificationError
from armdyn.loaders.markup import DECIMAL, Element

ATTRIBUTE = re.compile(rb"""\s+([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
TAG = re.compile(rb"""<[^\s/>=]+(?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(/?)>""")


class Edits:
    """Changes of a text, made all at once.

    Positions are bytes of the text as it was, for that is what the parser counts.
    """

    def __init__(self, text: bytes, root: Element) -> None:
        self.text = text
        self.changes: list[tuple[int, int, bytes]] = []  # from, to, what stands there instead
        self.newline = b"\r\n" if b"\r\n" in text else b"\n"
        inner = [self._margin(child) for child in root.children[:1]]
        self.unit = (inner[0] if inner else None) or b"  "

    def applied(self) -> bytes:
        """The text with all changes."""
        text = self.text
        for start, end, instead in sorted(self.changes, key=lambda change: -change[0]):
            text = text[:start] + instead + text[end:]
        return text

    def set_numbers(self, element: Element, attribute: str, values: Sequence[float]) -> None:
        """Gives an attribute other numbers; those that it has already keep their digits."""
        tag = self._tag(element)
        after_name = tag.start() + 1 + len(element.tag.encode())
        if attribute not in element.attributes:
            if any(values):
                added = f' {attribute}="{" ".join(map(_said, values))}"'
                self.changes.append((after_name, after_name, added.encode()))
            return
        spans = {
            found[1]: found.span(2 if found[2] is not None else 3)
            for found in ATTRIBUTE.finditer(self.text, after_name, tag.end())
        }
        first, last = spans[attribute.encode()]
        words = list(re.finditer(rb"\S+", self.text[first:last]))
        if len(words) != len(values) or not all(DECIMAL.fullmatch(_plain(word)) for word in words):
            whole = " ".join(map(_said, values))  # for one with references, such as &#32;
            self.changes.append((first, last, whole.encode()))
            return
        for word, value in zip(words, values, strict=True):
            if float(word[0]) != value:
                place = first + word.start(), first + word.end()
                self.changes.append((*place, _said(value).encode()))

    def insert_first(self, element: Element, lines: Sequence[str]) -> None:
        """Puts lines before all that an element holds, indented as its children are."""
        tag = self._tag(element)
        if tag[1]:
            self._open_up(element, lines)
        else:
            self.changes.append((tag.end(), tag.end(), self._indented(element, lines)))

    def insert_last(self, element: Element, lines: Sequence[str]) -> None:
        """Puts lines behind an element's last child, or first where that child holds others."""
        last = self._tag(element.children[-1]) if element.children else None
        if last is None or not last[1]:
            self.insert_first(element, lines)
        else:
            self.changes.append((last.end(), last.end(), self._indented(element, lines)))

    def _open_up(self, element: Element, lines: Sequence[str]) -> None:
        """Makes <a/> an <a> that holds lines."""
        tag = self._tag(element)
        place = tag.start() + len(tag[0][: tag.start(1) - tag.start()].rstrip())
        margin = self._margin(element)
        back = b"" if margin is None else self.newline + margin
        held = b">" + self._indented(element, lines) + back + f"</{element.tag}>".encode()
        self.changes.append((place, tag.end(), held))

    def _indented(self, element: Element, lines: Sequence[str]) -> bytes:
        """Lines as children of an element: each on its own, or all on its line if it has none."""
        margin = self._margin(element)
        if margin is None:
            return "".join(line.strip() for line in lines).encode()
        inner = [self._margin(child) for child in element.children]
        lead = self.newline + next((each for each in inner if each is not None), margin + self.unit)
        depths = [(len(line) - len(line.lstrip())) // 2 for line in lines]
        parts = zip(lines, depths, strict=True)
        return b"".join(lead + depth * self.unit + line.strip().encode() for line, depth in parts)

    def _margin(self, element: Element) -> bytes | None:
        """What stands before an element on its line; None if that is not only space."""
        before = self.text[: element.start]
        line = before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :]
        return line if not line.strip() and len(line) < element.start else None

    def _tag(self, element: Element) -> re.Match[bytes]:
        found = TAG.match(self.text, element.start)
        if found is None or not found[0].startswith(f"<{element.tag}".encode()):
            raise IdentificationError(
                f"{element.label}: its tag cannot be found in the text; expected XML in UTF-8"
            )
        return found


def _plain(word: re.Match[bytes]) -> str:
    return word[0].decode("ascii", "replace")


def _said(value: float) -> str:
    return repr(float(value) + 0.0)  # no negative zero
