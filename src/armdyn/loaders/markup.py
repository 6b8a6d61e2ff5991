"""XML text in, plain elements out: no entities, bounded in size and depth."""

from __future__ import annotations

import math
import re
from typing import NamedTuple
from xml.parsers import expat

from armdyn.chain.limits import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS
from armdyn.errors import ArmdynError, ModelError, cut, shorten

FOREIGN = {  # other formats, by their root or their looks, and the remedy
    "srdf": "SRDF, which groups the links of a URDF; load that URDF",
    "sdf": "SDF, which armdyn does not read; convert it to URDF",
    "usd": "USD, which armdyn does not read; export a URDF",
    "mjb": "a compiled model of MuJoCo; save it as XML",
    "xacro": "left to xacro; give the file a name that ends in .xacro, or expand it first",
    "html": "a page of the web; download the file itself",
    "lfs": "a pointer of git-LFS; fetch the file itself by git lfs pull",
    "gzip": "compressed by gzip; expand it first",
    "zip": "a zip archive; unpack it first",
    "json": "JSON, which armdyn does not read",
    "yaml": "YAML, which armdyn does not read",
}
LOOKS = {  # how such a text begins
    "lfs": rb"version https://git-lfs",
    "gzip": rb"\x1f\x8b",
    "zip": rb"PK\x03\x04",
    "usd": rb"#usda|PXR-USDC",
    "html": rb"(?i:<!doctype html|<html\b|[45]\d\d\b)",  # or an error of a server
    "json": rb"[\[{]",
    "yaml": rb"%YAML|---|[\w ]+:\s",
}
FIRST = 4096  # bytes in which the first tag mostly stands
MISPLACED = expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]
TEXT = "text()"  # the key of the text in an element without children
ENDLESS = re.compile(r"[-+]?inf(?:inity)?", re.IGNORECASE)
DECIMAL = re.compile(r"[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")


class Element(NamedTuple):
    """An XML element; ``label`` names it in messages, such as "joint 'elbow'".

    ``attributes[TEXT]`` is the text between its tags, if there is any.
    """

    tag: str
    attributes: dict[str, str]
    label: str
    children: list[Element]
    start: int = 0  # of its tag in the text [byte]

    def named(self, tag: str) -> list[Element]:
        """The children of one tag, in the order of the text."""
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        """The child of that tag, None if there is none; two are an error."""
        found = self.named(tag)
        if len(found) > 1:
            raise ModelError(f"{self.label} has {len(found)} <{tag}> elements; expected one")
        return found[0] if found else None

    def needed(self, tag: str) -> Element:
        """The child of that tag, which must be there."""
        child = self.only(tag)
        if child is None:
            raise ModelError(f"{self.label} has no <{tag}>; expected one")
        return child

    def text(self, attribute: str) -> str:
        """An attribute, which must be there and not be blank."""
        if attribute not in self.attributes:
            raise ModelError(f"{self.label} has no attribute {attribute}; expected one")
        if not self.attributes[attribute].strip():
            raise ModelError(f"{self.label} {attribute}='' is blank; expected a value")
        return self.attributes[attribute]

    def number(
        self, attribute: str, default: float | None = None, largest: float = math.inf
    ) -> float:
        """A finite number not beyond +-``largest``; without a default it must be there."""
        if default is not None and attribute not in self.attributes:
            return default
        return self.numbers(attribute, 1, largest)[0]

    def limit(self, attribute: str, default: float) -> float:
        """A number that may be infinite."""
        found = ENDLESS.fullmatch(self.attributes.get(attribute, "").strip())
        return float(found[0]) if found else self.number(attribute, default)

    def triple(
        self,
        attribute: str,
        default: tuple[float, float, float] | None = None,
        largest: float = math.inf,
    ) -> tuple[float, float, float]:
        """Three finite numbers not beyond +-``largest``; without a default they must be there."""
        if default is not None and attribute not in self.attributes:
            return default
        x, y, z = self.numbers(attribute, 3, largest)
        return x, y, z

    def wrong(self, attribute: str, problem: str) -> ModelError:
        """The error to raise where an attribute's value will not do."""
        return ModelError(f"{self.label} {attribute}={shorten(self.text(attribute))} {problem}")

    def numbers(self, attribute: str, count: int, largest: float) -> list[float]:
        """That many finite numbers not beyond +-``largest``."""
        words = self.text(attribute).split()
        expected = "one finite number" if count == 1 else f"{count} finite numbers"
        if "," in self.text(attribute):
            expected += " with a point" if count == 1 else ", with spaces between and no commas"
        if leftover(self.text(attribute)):
            raise self.wrong(attribute, "is a xacro expression; run xacro first")
        if len(words) != count or not all(DECIMAL.fullmatch(word) for word in words):
            raise self.wrong(attribute, f"will not do; expected {expected}")
        numbers = [float(word) for word in words]
        if not all(math.isfinite(number) for number in numbers):
            raise self.wrong(attribute, f"will not do; expected {expected}")
        if any(abs(number) > largest for number in numbers):
            raise self.wrong(attribute, f"is too large; expected at most {largest:g} in size")
        return numbers


def leftover(value: str) -> bool:
    """Whether xacro has yet to expand a value."""
    return "${" in value or "$(" in value


def check_size(size: int, what: str) -> None:
    """Refuse a text of more than MAX_BYTES bytes."""
    if size > MAX_BYTES:
        raise ModelError(f"{what} has {size} bytes; no arm's text needs more than {MAX_BYTES}")


def root_tag(text: str | bytes) -> str:
    """The tag of the first element, in whatever encoding; empty if there is none."""
    found: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: found.append(tag)
    start, size = 0, FIRST
    try:
        while start < len(text) and not found:
            parser.Parse(text[start : start + size])
            start, size = start + size, 2 * size  # an open tag is read again with each part
    except (expat.ExpatError, LookupError, ValueError):  # which parse tells of
        pass
    return found[0] if found else ""


def parse(text: str | bytes) -> Element:
    """The root element of an XML document."""
    if not isinstance(text, str | bytes):
        raise ModelError(f"XML is a str or bytes, not {shorten(text)}")
    check_size(len(text), "the XML text")
    builder = _Builder()
    try:
        builder.parser.Parse(text, True)
    except ArmdynError:
        raise
    except expat.ExpatError as error:
        remedy = "; remove all that comes before <?xml" if error.code == MISPLACED else ""
        raise ModelError(f"{_likeness(text)}not well-formed XML: {error}{remedy}") from None
    except (LookupError, ValueError) as error:
        raise ModelError(f"not well-formed XML: {error}; save it as UTF-8") from None
    return builder.root


def _likeness(text: str | bytes) -> str:
    """What a text that is no XML looks like; empty if it looks like nothing known."""
    head = text[:200].encode(errors="replace") if isinstance(text, str) else text[:200]
    for format, start in LOOKS.items():
        if re.match(rb"(?:\xef\xbb\xbf)?\s*(?:" + start + rb")", head):
            return f"it looks like {FOREIGN[format]}; "
    return ""


class _Builder:
    """Grows the tree of elements as the parser meets them."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.words: list[str] = []
        self.parser.buffer_text = True
        self.parser.CharacterDataHandler = self.words.append
        self.parser.StartDoctypeDeclHandler = self.check_doctype
        self.open: list[Element] = []
        self.elements = 0
        self.root: Element

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) == MAX_DEPTH:
            raise ModelError(
                f"line {self.parser.CurrentLineNumber}: <{cut(tag)}> stands {MAX_DEPTH + 1} "
                f"elements deep; expected at most {MAX_DEPTH}"
            )
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise ModelError(
                f"line {self.parser.CurrentLineNumber}: <{cut(tag)}> is element number "
                f"{self.elements}; expected at most {MAX_ELEMENTS}"
            )
        place = self.parser.CurrentByteIndex
        element = Element(tag, attributes, self.label(tag, attributes), [], place)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.words.clear()

    def end(self, tag: str) -> None:
        element = self.open.pop()
        if not element.children and (text := "".join(self.words).strip()):
            element.attributes[TEXT] = text

    def label(self, tag: str, attributes: dict[str, str]) -> str:
        if "name" in attributes:
            return f"{cut(tag)} {shorten(attributes['name'])}"
        if len(self.open) > 1:
            return f"{self.open[-1].label}: {cut(tag)}"
        return f"<{cut(tag)}> on line {self.parser.CurrentLineNumber}"

    def check_doctype(self, name: str, system: str | None, public: object, subset: int) -> None:
        """Refuse a document type that declares entities, here or elsewhere."""
        if subset or system is not None:
            raise ModelError(
                f"line {self.parser.CurrentLineNumber}: <!DOCTYPE {cut(name)}> is refused, and "
                "with it every entity; expected a document type that declares nothing, or none"
            )
