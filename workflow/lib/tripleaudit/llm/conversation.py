"""Iterated calls in a thread with extraction history; new threads at the context limit.

MINEA, section 4.1: pieces of a document are shown one after the other in one conversation; each is
queried about once and then ``iterations`` times again; what was extracted before stays in the
history. Nothing here sends anything: :func:`converse` is a generator that yields requests and is
sent their answers, so a client can run many conversations side by side, and anything else
(:func:`answered`) can answer in its place.
"""

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from tripleaudit.core.errors import UserError
from tripleaudit.llm.endpoint import Answer, Request, Sampling, Usage
from tripleaudit.llm.reading import Parsed
from tripleaudit.llm.units import Unit, pieces, text_of

Message = Mapping[str, str]
Value = TypeVar("Value")


class Driver(Protocol):
    """Protocol for objects that run request generators (a client or a test double)."""

    def drive(self, conversations: Mapping[Any, Generator[Request, Answer, Any]]) -> dict[Any, Any]:
        """Return the results of generators by any key."""


@dataclass(frozen=True)
class Talk:
    """The messages of a conversation and the reading of its answers.

    Attributes:
        opening: the system message: schema and instructions.
        show: ``(piece index, number of pieces, text) -> message`` that shows a piece for the first
            time.
        more: ``(piece index, number of pieces) -> message`` that asks for what is not listed yet.
        remind: ``(the parser's notes) -> message`` after an answer that cannot be read.
        parse: ``(text, answer status) -> Parsed``.
        nothing: the answer kept in the history for a call that was given up.
        schema: JSON schema of every answer, sent where the endpoint offers structured outputs.
    """

    opening: str
    show: Callable[[int, int, str], str]
    more: Callable[[int, int], str]
    remind: Callable[[str], str]
    parse: Callable[[str, str], Parsed]
    nothing: str = '{"entities": []}'
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How often to query, and what fits.

    Attributes:
        iterations: follow-up calls for each piece, after the first call.
        context: tokens that prompt and answer may have together; ``None`` for no limit.
        reserve: tokens kept free for the answer; also its ``max_tokens``.
    """

    iterations: int
    context: int | None
    reserve: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document: its number from 0, and its units."""

    index: int
    units: tuple[Unit, ...]

    @property
    def text(self) -> str:
        """The text that is shown."""
        return text_of(self.units)


@dataclass(frozen=True, slots=True)
class Turn:
    """One call: its position, what was read of its answer, and all answers; the last counts."""

    piece: int
    iteration: int
    thread: int
    parsed: Parsed
    answers: tuple[Answer, ...]

    @property
    def answer(self) -> Answer:
        """The answer that was read."""
        return self.answers[-1]

    @property
    def usage(self) -> Usage:
        """Tokens of all attempts."""
        return sum((answer.usage for answer in self.answers), Usage())


@dataclass(frozen=True, slots=True)
class State:
    """State of a thread, its messages and number; immutable, so that branches copy it."""

    messages: tuple[Message, ...] = ()
    thread: int = 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """All calls about one document in order, and the state that the last thread ended in."""

    turns: tuple[Turn, ...]
    state: State

    @property
    def answers(self) -> list[Answer]:
        """All answers, in order."""
        return [answer for turn in self.turns for answer in turn.answers]


class TokenCounter:
    """Counts the tokens of messages.

    Args:
        encode: text -> number of tokens; without it, the number is learned from the usage that the
            server reports: three characters a token at first, then the densest text seen so far.
        overhead: tokens that a chat template adds to each message.
    """

    def __init__(self, encode: Callable[[str], int] | None = None, overhead: int = 8):
        self._encode = encode
        self._overhead = overhead
        self._characters_per_token: float | None = None
        self._known: tuple[tuple[Message, ...], int] = ((), 0)

    def text(self, text: str) -> int:
        """Tokens of a text by itself."""
        if self._encode is not None:
            return self._encode(text)
        return math.ceil(len(text) / (self._characters_per_token or 3.0))

    def messages(self, messages: Sequence[Message]) -> int:
        """Tokens of a thread, with the server's own count for the part that it has answered."""
        prefix, tokens = self._known
        if len(prefix) > len(messages) or tuple(messages[: len(prefix)]) != prefix:
            prefix, tokens = (), 0
        return tokens + sum(
            self.text(m["content"]) + self._overhead for m in messages[len(prefix) :]
        )

    def observe(self, messages: Sequence[Message], answer: Answer) -> None:
        """Learn from the usage of an answer to ``messages``; estimated usage teaches nothing."""
        usage = answer.usage
        if usage.estimated or not usage.prompt_tokens:
            return
        characters = sum(len(message["content"]) for message in messages)
        density = characters / usage.prompt_tokens
        self._characters_per_token = min(density, self._characters_per_token or density)
        self._known = (tuple(messages), usage.prompt_tokens)


def counters(tokenizer: str | Path | None) -> Callable[[], TokenCounter]:
    """Return a function that makes a counter for each conversation.

    Args:
        tokenizer: a ``tokenizer.json`` that counts, or the folder that holds it; without one,
            counters learn.

    Raises:
        UserError: the file is missing or is no tokenizer.
    """
    if not tokenizer:
        return TokenCounter
    from tokenizers import Tokenizer

    path = Path(tokenizer)
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        raise UserError(f"{path}: no such tokenizer; expected a tokenizer.json")
    try:
        counting = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exceptions
        raise UserError(f"{path}: not a tokenizer.json ({error})") from error
    return lambda: TokenCounter(
        lambda text: len(counting.encode(text, add_special_tokens=False).ids)
    )


def converse(
    shown: Sequence[Piece],
    talk: Talk,
    limits: Limits,
    counter: TokenCounter,
    state: State | None = None,
) -> Generator[Request, Answer, Conversation]:
    """Ask about every piece of a document, in order.

    A new thread begins where the history, the message and the reserve exceed the context; iterating
    ends there, too. An answer that cannot be read is asked for once more with a reminder; then the
    call is given up and recorded.

    Args:
        shown: pieces in order; one that is too long for an empty thread is split further, never cut
            silently.
        state: continue this thread instead of opening one.

    Raises:
        UserError: the context cannot hold the instructions, a bit of text and the reserve. Raised
            before any request.
    """
    total = len(shown)
    parts = [part for piece in shown for part in fitting(piece, total, talk, limits, counter)]
    thread = _Thread(talk, limits, counter, state or _opened(talk))
    turns: list[Turn] = []
    for part in parts:
        message = _said("user", talk.show(part.index, total, part.text))
        if thread.has_history and not thread.fits(message):
            thread.restart()
        turn = yield from thread.query(message, part.index, 0)
        if turn.answer.status == "error" and thread.has_history:
            thread.restart()  # a server that counts tokens otherwise rejects what seemed to fit
            turn = yield from thread.query(message, part.index, 0)
        turns.append(turn)
        for iteration in range(1, limits.iterations + 1):
            message = _said("user", talk.more(part.index, total))
            if turn.answer.status == "error" or not thread.fits(message):
                break
            turn = yield from thread.query(message, part.index, iteration)
            turns.append(turn)
    return Conversation(tuple(turns), thread.state)


def fitting(
    piece: Piece, total: int, talk: Talk, limits: Limits, counter: TokenCounter
) -> Iterator[Piece]:
    """Yield ``piece``, or its parts if an empty thread cannot hold it; they keep its index.

    Raises:
        UserError: no part, however small, fits.
    """
    if limits.context is None:
        yield piece
        return
    empty = counter.messages([_said("system", talk.opening)])
    size = counter.messages([_said("user", talk.show(piece.index, total, piece.text))])
    if empty + size + limits.reserve <= limits.context:
        yield piece
        return
    halves = pieces(piece.units, (len(piece.text) + 1) // 2)
    if len(halves) < 2:
        raise UserError(
            f"the context of {limits.context} tokens cannot hold the instructions ({empty} tokens), part "
            f"{piece.index + 1} of the text ({size} tokens in its shortest form) and the output reserve "
            f"({limits.reserve} tokens); use a model with a longer context, a smaller schema or a smaller reserve"
        )
    for half in halves:
        yield from fitting(Piece(piece.index, tuple(half)), total, talk, limits, counter)


@dataclass(frozen=True, slots=True)
class Reading(Generic[Value]):
    """The value read in the last of one or two answers; None where it cannot be read."""

    value: Value | None
    answers: tuple[Answer, ...]


def ask_twice(
    request: Request, reminder: str, read: Callable[[str], Value | None]
) -> Generator[Request, Answer, Reading[Value]]:
    """Send a request, and once more with a reminder if the answer cannot be read.

    Args:
        read: returns the value of an answer's text, None where it cannot be read.
    """
    first = yield request
    value = value_of(first, read)
    if value is not None or first.status == "refused":
        return Reading(value, (first,))
    second = yield with_reminder(request, reminder)
    return Reading(value_of(second, read), (first, second))


def value_of(answer: Answer, read: Callable[[str], Value | None]) -> Value | None:
    """Return the value read in an answer, None for one without a text of the model."""
    return read(answer.text) if answer.status in ("ok", "truncated") else None


def with_reminder(request: Request, reminder: str) -> Request:
    """Return a request with a reminder at the end of its last message.

    The same words would bring the same answer.
    """
    *before, last = request.messages
    content = f"{last['content']}\n\n{reminder}"
    return replace(request, messages=(*before, {**last, "content": content}))


def answered(
    conversation: Generator[Request, Answer, Any], answer: Callable[[Request], Answer]
) -> Any:
    """Run a generator of requests to its end and return its result."""
    try:
        request = next(conversation)
        while True:
            request = conversation.send(answer(request))
    except StopIteration as end:
        return end.value


@dataclass
class _Thread:
    """The thread that a conversation is in; restarting drops its history and counts on."""

    talk: Talk
    limits: Limits
    counter: TokenCounter
    state: State

    @property
    def has_history(self) -> bool:
        return len(self.state.messages) > 1

    def restart(self) -> None:
        self.state = _opened(self.talk, self.state.thread + 1)

    def fits(self, *messages: Message) -> bool:
        if self.limits.context is None:
            return True
        tokens = self.counter.messages([*self.state.messages, *messages])
        return tokens + self.limits.reserve <= self.limits.context

    def query(
        self, message: Message, piece: int, iteration: int
    ) -> Generator[Request, Answer, Turn]:
        sent = [message]
        answer, parsed = yield from self._send(sent)
        answers = (answer,)
        if parsed.status in ("failed", "refused") and answer.status != "error":
            again = [
                message,
                _said("assistant", answer.text),
                _said("user", self.talk.remind("; ".join(parsed.notes))),
            ]
            if self.fits(*again):
                answer, parsed = yield from self._send(again)
                answers = (*answers, answer)
        usable = parsed.status not in ("failed", "refused")
        kept = answer.text if usable else self.talk.nothing
        if answer.status != "error":
            # the exchange enters the history as if it had worked the first time
            self.state = State(
                (*self.state.messages, message, _said("assistant", kept)), self.state.thread
            )
        return Turn(piece, iteration, self.state.thread, parsed, answers)

    def _send(
        self, messages: Sequence[Message]
    ) -> Generator[Request, Answer, tuple[Answer, Parsed]]:
        prompt = (*self.state.messages, *messages)
        sampling = Sampling(max_tokens=self.limits.reserve)
        answer = yield Request(prompt, schema=self.talk.schema, sampling=sampling)
        self.counter.observe(prompt, answer)
        if answer.status == "error":
            return answer, Parsed(
                [], "failed", (f"the server rejected the request: {answer.error}",)
            )
        return answer, self.talk.parse(answer.text, answer.status)


def _opened(talk: Talk, thread: int = 0) -> State:
    return State((_said("system", talk.opening),), thread)


def _said(role: str, text: str) -> Message:
    return {"role": role, "content": text}
