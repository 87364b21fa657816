"""What an HTML page consists of, by the parser of the standard library."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link", "hr"}
ADDRESSES = ("src", "href", "xlink:href", "data", "action")


class Outline(HTMLParser):
    """Collects tags, ids, addresses, the text outside styles, and the elements that are still
    open at the end.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.ids, self.addresses, self.text = [], [], [], [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.addresses += [value for name, value in attrs if name in ADDRESSES]
        self.open += [tag] * (tag not in VOID)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data
