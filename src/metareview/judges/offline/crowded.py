"""Questions with so many notes that not every pair of them can be scored.

Of a question with up to PAIRS pairs and NOTES notes on a side, each note is a rival of all others, and every pair is
scored. In a larger one, a hundred times the size of any review that people write, each pair has RIVALS rival comments
and as many rival references at most: the distinct notes that come nearest to its reference and to its comment, by
shared words and by meaning. Only they and the pairs that are asked about are scored, with the same formulas. So memory
and time grow with the pairs asked about; only the search for the nearest notes compares all, in blocks of matrix
products.

What a pair scores does not depend on the order of the notes: they are taken in the order of the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.judges.examples import KnownNotes
from metareview.judges.offline.examples import boards, nearness_of
from metareview.judges.offline.features import BLOCK, NAMES, REPEATS, QuestionTerms, lay_out, sums
from metareview.judges.offline.model import Model, logit_among, strength_of, yielded
from metareview.judges.offline.notes import UNIT, Floats, Ints, Notes, ranges, read_notes
from metareview.judges.offline.reasons import Reasons, Standings
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Question

PAIRS = 250_000
NOTES = 1_000
RIVALS = 16
RUN = 100_000
"""How many pairs are scored at a time: bounds memory."""


def is_crowded(question: Question) -> bool:
    """Whether not all notes of a question can be rivals."""
    ours, theirs = len(question.generated), len(question.reference)
    return ours * theirs > PAIRS or max(ours, theirs) > NOTES


def answer_crowded(question: Question, model: Model, threshold: float, known: KnownNotes | None) -> Answer:
    """The verdicts on one question of `distinct_notes`."""
    pairs = np.asarray(question.pairs, np.int64).reshape(-1, 2)
    if not len(pairs):
        return Answer(np.zeros(0), np.zeros(0, np.int8))
    texts, grid = lay_out([question])
    all_texts, found = boards(texts, grid, [known])
    notes = read_notes(all_texts, model.background)
    crowd = _Crowd(notes, QuestionTerms(notes, grid), grid.note, grid.reference_note, model)
    asked, place = np.unique(pairs[:, 0] * crowd.references + pairs[:, 1], return_inverse=True)
    asked_pairs = np.stack(np.divmod(asked, crowd.references), axis=1)
    score, standings, at = crowd.scores(asked_pairs)
    equal = crowd.equal[asked_pairs[:, 0]] == crowd.equal_reference[asked_pairs[:, 1]]
    nearest = None
    if found and known is not None:
        near = nearness_of(notes, found[0], known, asked_pairs)
        score, nearest = model.score_with(score, near, equal), near.nearest[place]
    score, at, equal = score[place], at[place], equal[place]
    match = np.where(score >= threshold, SAME, DIFFERENT).astype(np.int8)
    generated, reference = grid.note[pairs[:, 0]], grid.reference_note[pairs[:, 1]]
    return Answer(score, match, Reasons(notes, standings, at, generated, reference, score, equal, nearest))


def distinct_notes(question: Question) -> Question:
    """The same question with each distinct note once, in the order of the alphabet; its pairs stay in their order."""
    generated, reference = sorted(set(question.generated)), sorted(set(question.reference))
    pairs = np.asarray(question.pairs, np.int64).reshape(-1, 2).copy()
    for column, (before, after) in enumerate(((question.generated, generated), (question.reference, reference))):
        number = {note: position for position, note in enumerate(after)}
        pairs[:, column] = np.array([number[note] for note in before], np.int64)[pairs[:, column]]
    return replace(question, generated=generated, reference=reference, pairs=pairs, generated_at=(), reference_at=())


class _Crowd:
    """The notes of one question: how alike they are, and who is whose rival."""

    def __init__(self, notes: Notes, terms: QuestionTerms, note: Ints, reference_note: Ints, model: Model) -> None:
        self._notes, self._terms, self._model = notes, terms, model
        self.comments, self.references = len(note), len(reference_note)
        self._meaning, self._reference_meaning = notes.meaning[note], notes.meaning[reference_note]
        self._root, self._reference_root = (
            np.sqrt(sums(side, terms.weight)) for side in (terms.generated, terms.reference)
        )
        self._length = np.log(np.maximum(notes.length[reference_note], 1))
        self._alignment = _Alignment(notes, terms, note, reference_note)
        numbers: dict[str, int] = {}
        of_text = [numbers.setdefault(" ".join(text.split()), len(numbers)) for text in notes.texts]
        # Empty notes equal nothing.
        self.equal, self.equal_reference = (np.array(of_text, np.int64)[side] for side in (note, reference_note))
        self.equal = np.where(self.equal == numbers.get("", -1), -1, self.equal)

    def scores(self, asked: Ints) -> tuple[Floats, Standings, Ints]:
        """The score of each pair asked about, distinct and in order; how pairs stand, and where these are among them.

        A pair is known by its reference times the number of comments, plus its comment.
        """
        model, size = self._model, self.comments
        rows, row = np.unique(asked[:, 0], return_inverse=True)
        other_references = self._nearest_references(rows)
        own = asked[:, 1] * size + asked[:, 0]
        wanted = np.unique(np.concatenate([own, (other_references * size + rows[:, None]).ravel()]))
        columns = np.unique(wanted // size)
        other_comments = self._nearest_comments(columns)
        every = np.unique(np.concatenate([wanted, (columns[:, None] * size + other_comments).ravel()]))
        fit, others = self._fits(every, columns, other_comments)
        best = np.maximum.reduceat(fit, np.searchsorted(every // size, columns))
        at = np.searchsorted(every, own)
        of_rivals = np.searchsorted(every, other_references * size + rows[:, None])
        strength = yielded(strength_of(fit[of_rivals]), others[of_rivals], model.competition)
        rivals = self._other_references(asked, row, other_references, strength)
        best_fit = best[np.searchsorted(columns, asked[:, 1])]
        logit = logit_among(fit[at], others[at], rivals, best_fit, model.competition)
        equal = self.equal[asked[:, 0]] == self.equal_reference[asked[:, 1]]
        reference, comment = np.divmod(every, size)
        standings = Standings(fit.round(9), comment, reference, size, self.references)
        return model.probability(logit, equal), standings, at

    def _nearest_references(self, comments: Ints) -> Ints:
        """(comments, RIVALS): the references nearest to each."""
        terms = self._terms
        sides = terms.generated[comments], terms.reference, self._meaning[comments], self._reference_meaning
        return self._nearest(*sides, self._root[comments], self._reference_root)

    def _nearest_comments(self, references: Ints) -> Ints:
        """(references, RIVALS): the comments nearest to each."""
        terms = self._terms
        sides = terms.reference[references], terms.generated, self._reference_meaning[references], self._meaning
        return self._nearest(*sides, self._reference_root[references], self._root)

    def _nearest(
        self, ours: sp.csr_array, theirs: sp.csr_array, meaning: Floats, others: Floats, root: Floats, roots: Floats
    ) -> Ints:
        """For each of our notes the RIVALS nearest of theirs: by words and meaning, weighted as in a fit."""
        size = len(others)
        if size <= RIVALS:
            return np.tile(np.arange(size), (len(root), 1))
        by_words, _, by_meaning, _ = self._model.weight / self._model.scale
        transposed = sp.csc_array((theirs * (1 / roots)[:, None]).T)
        weighted = sp.csr_array(ours * self._terms.weight)
        found = np.empty((len(root), RIVALS), np.int64)
        step = max(1, BLOCK // size)
        for start in range(0, len(root), step):
            part = slice(start, start + step)
            near = (weighted[part] @ transposed).toarray()
            near *= (by_words / root[part])[:, None]
            near += by_meaning * (meaning[part] @ others.T)
            found[part] = np.sort(np.argpartition(near, size - RIVALS, axis=1)[:, -RIVALS:], axis=1)
        return found

    def _fits(self, every: Ints, columns: Ints, other_comments: Ints) -> tuple[Floats, Floats]:
        """How well each pair fits by itself, and the strength of the other comments on its reference."""
        fit, others = np.empty(len(every)), np.empty(len(every))
        starts = np.searchsorted(every // self.comments, columns)
        ends = np.append(starts[1:], len(every))
        alike = _Alike(self._terms.generated, self._terms.rarity, REPEATS)
        for first, last in _runs(ends - starts):
            run = slice(starts[first], ends[last - 1])
            comments = every[run] % self.comments
            values, likeness = np.empty((len(comments), len(NAMES))), np.empty((len(comments), other_comments.shape[1]))
            for column in range(first, last):
                own = slice(starts[column] - run.start, ends[column] - run.start)
                reference, rows = int(columns[column]), comments[own]
                likeness[own], presence = alike.of(rows, other_comments[column])
                values[own, 0] = presence @ self._weights_of(reference)
                values[own, 0] /= self._root[rows] * self._reference_root[reference]
                values[own, 1] = self._alignment.of(rows, reference)
                values[own, 2] = self._meaning[rows] @ self._reference_meaning[reference]
                values[own, 3] = self._length[reference]
            np.minimum(values[:, 0], 1.0, out=values[:, 0])
            fit[run] = model_fit = self._model.fit(values)
            of_pair = np.repeat(np.arange(last - first), (ends - starts)[first:last])
            keys = columns[first:last, None] * self.comments + other_comments[first:last]
            strength = strength_of(model_fit[np.searchsorted(every[run], keys)])
            others[run] = (strength[of_pair] * (1 - likeness)).sum(axis=1)
        return fit, others

    def _weights_of(self, reference: int) -> Floats:
        """The weight of each term that a reference has, 0 for others."""
        start, end = self._terms.reference.indptr[reference : reference + 2]
        terms = self._terms.reference.indices[start:end]
        weights: Floats = np.zeros(self._terms.reference.shape[1])
        weights[terms] = self._terms.weight[terms]
        return weights

    def _other_references(self, asked: Ints, row: Ints, other_references: Ints, strength: Floats) -> Floats:
        """For each pair the strength of its comment's other references, each times 1 - likeness."""
        if self.references == 1:
            return np.zeros(len(asked))
        alike = _Alike(self._terms.reference, self._terms.rarity, 1)
        added = np.empty(len(asked))
        starts = np.searchsorted(row, np.arange(len(other_references) + 1)).tolist()
        for number, (start, end) in enumerate(pairwise(starts)):
            likeness, _ = alike.of(asked[start:end, 1], other_references[number])
            added[start:end] = (1 - likeness) @ strength[number]
        return added


class _Alike:
    """How alike notes of one side are, by the rarity of the terms that they share, to some power."""

    def __init__(self, presence: sp.csr_array, rarity: Floats, power: int) -> None:
        self._presence, self._rarity, self._power = presence, rarity, power
        self._root = np.sqrt(sums(presence, rarity))
        self._of_rivals = np.zeros((presence.shape[1], RIVALS))  # filled for one call, and emptied again

    def of(self, notes: Ints, rivals: Ints) -> tuple[Floats, sp.csr_array]:
        """(notes, rivals): 1 where a note is its own rival; and which terms these notes have."""
        own, others = self._presence[notes], self._presence[rivals]
        cells = others.indices, np.repeat(np.arange(len(rivals)), np.diff(others.indptr))
        self._of_rivals[cells] = self._rarity[others.indices]
        shared = (own @ self._of_rivals)[:, : len(rivals)]
        self._of_rivals[cells] = 0.0
        likeness: Floats = np.minimum(shared / (self._root[notes][:, None] * self._root[rivals]), 1.0) ** self._power
        likeness[notes[:, None] == rivals] = 1.0
        return likeness, own


class _Alignment:
    """How near each word of a comment comes to some word of a reference by meaning, and the other way round."""

    def __init__(self, notes: Notes, terms: QuestionTerms, note: Ints, reference_note: Ints) -> None:
        words = [notes.words[text] for text in note.tolist()]
        self._counts = np.array(list(map(len, words)), np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        self._distinct, self._word = np.unique(np.concatenate(words), return_inverse=True)
        self._vectors, self._stems = notes.word_vector[self._distinct], notes.word_term[self._distinct]
        self._weights = terms.weight_of(np.zeros(1, np.int64), self._stems)
        self._of_reference = [notes.words[text] for text in reference_note.tolist()]
        self._notes, self._terms = notes, terms

    def of(self, comments: Ints, reference: int) -> Floats:
        """For each comment the harmonic mean of both directions. Words of equal stems are as near as can be."""
        theirs = self._of_reference[reference]
        stems = self._notes.word_term[theirs]
        weights = self._terms.weight_of(np.zeros(1, np.int64), stems)
        counts = self._counts[comments]
        word = self._word[ranges(self._starts[comments], counts)]
        few = len(word) < len(self._distinct)  # then only these words are compared, else each distinct one once
        vectors, own_stems = (self._vectors[word], self._stems[word]) if few else (self._vectors, self._stems)
        near = vectors @ self._notes.word_vector[theirs].T
        near[(own_stems[:, None] == stems) & (stems >= 0)] = UNIT**2
        np.clip(near, 0, UNIT**2, out=near)
        ends = np.cumsum(counts) - counts
        nearest = near.max(axis=1)
        weight = self._weights[word]
        in_reference = np.add.reduceat(weight * (nearest if few else nearest[word]), ends)
        in_reference /= np.add.reduceat(weight, ends) * UNIT**2
        best = np.maximum.reduceat(near if few else near[word], ends, axis=0).astype(np.float64)
        in_comment = best @ (weights / (weights.sum() * UNIT**2))
        mean: Floats = 2 * in_reference * in_comment / np.maximum(in_reference + in_comment, 1e-9)
        return mean


def _runs(sizes: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of columns whose pairs stay within RUN, or that are one column."""
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // RUN)) + 1
    return pairwise([0, *cuts.tolist(), len(sizes)])
