"""Whatever the data are called, no name becomes an element, an attribute or a script."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from pipelines.look.markup import Markup, element, joined


class Reader(HTMLParser):
    """Gathers what a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def test_an_element_has_its_attributes_and_its_content() -> None:
    assert (
        element("text", "a<b", x=1.25, text_anchor="end", class_=None)
        == '<text x="1.2" text-anchor="end">a&lt;b</text>'
    )


def test_markup_goes_in_as_it_is_and_text_does_not() -> None:
    assert joined([element("b", "x"), "<b>"]) == "<b>x</b>&lt;b&gt;"
    assert isinstance(joined(["x"]), Markup)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_stays_text(text: str) -> None:
    seen = read(element("p", text, title=text))
    assert [name for name, _ in seen.elements] == ["p"]
    assert set(seen.elements[0][1]) == {"title"}


def test_text_comes_back_as_it_was() -> None:
    text = "<script>alert('x')</script> & \"y\" ✓"
    seen = read(element("p", text, title=text))
    assert seen.text == seen.elements[0][1]["title"] == text


def test_what_no_page_may_hold_is_replaced() -> None:
    assert element("p", "a\x00b\ud800c") == "<p>a\N{REPLACEMENT CHARACTER}b?c</p>"
