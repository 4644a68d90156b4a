"""Small runs as the viewer opens them, and what a page holds once a parser has read it."""

import json
from html.parser import HTMLParser

import numpy as np

import metareview as mr
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer, Judge
from metareview.viewer.index import Index
from metareview.viewer.run_view import RunView

VOID = {"input", "br", "wbr", "meta", "link", "line", "circle", "path", "rect"}


def pull(number):
    return f"https://github.com/owner/repo/pull/{number}"


def said(note, line=1, **fields):
    return {"note": note, "path": "src/a.py", "side": "right", "from_line": line, "to_line": line, **fields}


class FirstWord(Judge):
    """Notes with the same first word are the same at 0.9; `open` stays undecided; all else is different at 0.4."""

    name = "first-word"

    def __init__(self, strict=False):
        self.strict = strict

    def judge(self, questions):
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        match = [self._one(question.generated[g], question.reference[r]) for g, r in question.pairs.tolist()]
        score = [{SAME: 0.9, DIFFERENT: 0.4, UNDECIDED: np.nan}[each] for each in match]
        return Answer(np.array(score, float), np.array(match, np.int8), reason="<i>first</i> words", by="model")

    def _one(self, ours, theirs):
        if ours.startswith("open"):
            return UNDECIDED
        same = ours == theirs if self.strict else ours.split()[0] == theirs.split()[0]
        return SAME if same else DIFFERENT


def comment_run(folder, name, reviews, references, **options):
    """`reviews`: reviewer to pull request to comments."""
    place = folder / f"{name}-input"
    place.mkdir(parents=True)
    rows = [
        {"pr": pr, "reviewer": reviewer, "comments": comments}
        for reviewer, of_one in reviews.items()
        for pr, comments in of_one.items()
    ]
    for file, lines in (
        ("said.jsonl", rows),
        ("references.jsonl", [{"pr": pr, "comments": each} for pr, each in references.items()]),
    ):
        (place / file).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    options = {"judge": FirstWord(), **options}
    mr.evaluate_comments(
        place / "said.jsonl", reference=place / "references.jsonl", out=folder / "runs" / name, **options
    )
    return opened(folder, name)


def opened(folder, name):
    run = mr.load_run(folder / "runs" / name)
    return RunView(name, run.folder, run, Index(run.folder, folder / f"{name}.db", run.kind.name), "secret-token")


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children = tag, attributes, parent, []

    def __getitem__(self, name):
        return self.attributes.get(name)

    @property
    def text(self):
        parts = [each if isinstance(each, str) else each.text for each in self.children]
        return " ".join(" ".join(parts).split())

    def all(self, tag=None, css=None, **attributes):
        for child in self.children:
            if isinstance(child, Element):
                classes = (child["class"] or "").split()
                wanted = all(child[name] == value for name, value in attributes.items())
                if (tag is None or child.tag == tag) and (css is None or css in classes) and wanted:
                    yield child
                yield from child.all(tag, css, **attributes)

    def one(self, tag=None, css=None, **attributes):
        [found] = self.all(tag, css, **attributes)
        return found


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.here = Element("root", {}, None)

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs), self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag, attrs):
        self.here.children.append(Element(tag, dict(attrs), self.here))

    def handle_endtag(self, tag):
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.children.append(data)


def read(page):
    """The page as a tree; every element is closed, every id is there once, nothing carries script or style."""
    reader = _Reader()
    reader.feed(page.body)
    reader.close()
    assert reader.here is reader.root
    everything = list(reader.root.all())
    ids = [element["id"] for element in everything if element["id"]]
    assert len(ids) == len(set(ids))
    for element in everything:
        assert element.tag not in ("script", "style", "img", "iframe", "object")
        assert not any(name == "style" or name.startswith("on") for name in element.attributes)
        assert not (element["href"] or "").lower().startswith("javascript")
    return reader.root
