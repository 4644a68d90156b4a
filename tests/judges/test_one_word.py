"""What is alike for all questions whose answer is one word and a reason."""

from types import SimpleNamespace

import pytest

from metareview.errors import UsageError
from metareview.judges.remote.addressed import AddressedModel, AddressedPrompt, AddressedQuestion
from metareview.judges.remote.answers import Malformed
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.one_word import WordAnswer
from metareview.judges.remote.validity import ValidityModel, ValidityPrompt, ValidityQuestion
from metareview.model.comment import Comment
from model_server import KEY, ModelServer, Reply, chat, error
from remote_judges import word_answer

KINDS = {
    "addressed": SimpleNamespace(
        model=AddressedModel,
        leak=AddressedQuestion.of(Comment("The handle leaks.", "a.py"), "f = open(p)", "+with open(p) as f:"),
        race=AddressedQuestion.of(Comment("`counter` races.", "b.py"), None, "+x = 1"),
        half_a_pair=AddressedQuestion.of(Comment("\ud83d"), "\ud83d", "\ud83d"),
        prompt=AddressedPrompt(),
    ),
    "validity": SimpleNamespace(
        model=ValidityModel,
        leak=ValidityQuestion.of(["The handle leaks."], ["Rename it."]),
        race=ValidityQuestion.of(["`counter` races."], ["Rename it."]),
        half_a_pair=ValidityQuestion.of(["\ud83d"], []),
        prompt=ValidityPrompt(),
    ),
}


@pytest.fixture(params=KINDS)
def kind(request):
    kind = KINDS[request.param]
    kind.yes, kind.no = kind.prompt.words[0], kind.prompt.words[2]
    kind.by_note = lambda exchange: word_answer(kind.yes if "leaks" in str(exchange.body["messages"][-1]) else kind.no)
    return kind


def test_each_question_is_asked_once_and_answered_in_order(kind):
    with ModelServer(kind.by_note) as server, kind.model(server.settings()) as model:
        found = model.results([kind.race, kind.leak, kind.race])
    assert [outcome.answer for outcome in found] == [
        WordAnswer(word, "because") for word in (kind.no, kind.yes, kind.no)
    ]
    assert model.usage.llm_calls == len(server.log) == 2
    body = server.log[0].body
    assert body["temperature"] == 0
    schema = body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["verdict"]["enum"] == list(kind.prompt.words)
    assert schema["schema"]["required"] == ["request", "verdict", "reason"]


def test_the_cache_answers_the_second_time(kind, tmp_path):
    with ModelServer(kind.by_note) as server:
        for _ in range(2):
            with kind.model(server.settings(), cache=VerdictCache(tmp_path / "v.sqlite")) as model:
                [outcome] = model.results([kind.leak])
                assert outcome.answer == WordAnswer(kind.yes, "because")
                assert model.planned([kind.leak, kind.race, kind.race]).calls == 1
    assert len(server.log) == 1
    assert outcome.by == "cache"
    assert (model.usage.llm_calls, model.usage.cached) == (0, 1)


def test_what_fails_for_a_while_is_asked_again_and_what_fails_for_good_is_undecided(kind, tmp_path):
    def script(exchange):
        if "races" in str(exchange.body["messages"][-1]):
            return chat("I cannot say.")
        return error(503) if exchange.number < 2 else word_answer(kind.no)

    with ModelServer(script) as server:
        cache = VerdictCache(tmp_path / "v.sqlite")
        with kind.model(server.settings(), backoff=0.001, cache=cache) as model:
            leak, race = model.results([kind.leak, kind.race])
            assert model.planned([kind.leak, kind.race]).calls == 1  # nothing undecided is kept
    assert leak.answer == WordAnswer(kind.no, "because")
    assert race.answer is None
    assert race.reason == "undecided after 8 attempts: the answer is neither the JSON asked for nor a verdict"


def test_the_limit_of_calls_leaves_the_rest_undecided(kind):
    with ModelServer(kind.by_note) as server, kind.model(server.settings(), max_calls=1) as model:
        first, second = model.results([kind.leak, kind.race])
        assert model.planned([kind.race]).calls == 0
    assert first.answer is not None
    assert (second.answer, second.reason) == (None, "not asked: the limit of 1 model calls was reached")


def test_a_reason_that_repeats_the_key_is_left_out(kind):
    with ModelServer(lambda _: word_answer(kind.yes, f"the key is {KEY}")) as server:
        [outcome] = kind.model(server.settings()).results([kind.leak])
    assert outcome.answer == WordAnswer(kind.yes, "(left out: it repeats a part of the key)")


def test_a_server_without_schemas_is_asked_without(kind):
    def script(exchange):
        refused = "response_format" in exchange.body
        return error(400, "response_format is not supported") if refused else word_answer(kind.yes)

    with ModelServer(script) as server, kind.model(server.settings()) as model:
        assert model.results([kind.leak])[0].answer.verdict == kind.yes
        assert model.warnings == ["the model server refuses response_format; it was asked without"]


def test_half_a_surrogate_pair_can_be_sent(kind):
    with ModelServer(lambda _: word_answer(kind.yes)) as server:
        [outcome] = kind.model(server.settings()).results([kind.half_a_pair])
    assert outcome.answer.verdict == kind.yes
    assert "\ufffd" in server.log[0].body["messages"][-1]["content"]


def test_a_refused_key_is_a_mistake_of_the_user(kind):
    with ModelServer(lambda _: Reply(401, {})) as server, pytest.raises(UsageError, match="LLM_API_KEY"):
        kind.model(server.settings()).results([kind.leak])


WRAPPED = [
    '{"verdict": "%s", "reason": "x"}',
    '<think>%s? no</think>```json\n{"verdict": "%s"}\n```',
    '{"verdict": "%s"}',
]


@pytest.mark.parametrize("text", WRAPPED)
def test_answers_are_found(kind, text):
    for word in kind.prompt.words:
        assert kind.prompt.parse(text.replace("%s", word), kind.half_a_pair).verdict == word


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is not %s.",
        '"maybe"',
        '["%s"]',
        '{"verdict": "%s!"}',
        '{"verdict": true}',
        '{"verdict": null}',
        '{"verdict": ["%s"]}',
        '{"match": true}',
        'Here it is: {"verdict": "%s", "reason": "x"}',
        '{"verdict": "%s", "reason": "x"}. Or is it?',
        '{"verdict": "%s", "verdict": "%s"}',
        '{"verdict": "%s"} {"verdict": "%s"}',
        '{"verdict": "%s", "other": {"verdict": "%s"}}',
        'The comment says {"verdict": "%s"} but that is a quotation.',
    ],
)
def test_what_is_no_answer_is_not_guessed_at(kind, text):
    for word in kind.prompt.words:
        with pytest.raises(Malformed):
            kind.prompt.parse(text.replace("%s", word), kind.half_a_pair)


def test_a_stored_value_is_checked_again(kind):
    assert kind.prompt.from_json(kind.race, {"verdict": kind.yes, "reason": None}) == WordAnswer(kind.yes, "")
    for word in ("fine", kind.yes.upper(), kind.yes[:-1], 1):
        with pytest.raises(Malformed):
            kind.prompt.from_json(kind.race, {"verdict": word})


def test_a_lone_word_counts_where_it_cannot_be_the_beginning_of_anything():
    assert ValidityPrompt().parse("Repeat.", ValidityQuestion((), ())).verdict == "repeat"
    for text in ("fully", '"fully"', "not"):
        with pytest.raises(Malformed):
            AddressedPrompt().parse(text, AddressedQuestion("", "", ""))
