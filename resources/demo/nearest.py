"""Copies triples of similar training sentences: reads texts as JSON lines, answers as ``command``
of ``systems`` does.

    python nearest.py TRAIN.jsonl < TEXTS.jsonl > ANSWERS.jsonl

Of the twenty training sentences that share most words with a text, it takes every triple whose two
names the text has, too. With ``--text``, answers repeat the text, so that they are a file of
predictions.
"""

import json
import sys

SIMILAR = 20

with open(sys.argv[1], encoding="utf-8") as stream:
    rows = [json.loads(line) for line in stream]
TRAIN = [
    (
        set(row["text"].split()),
        [[t["subject"]["text"], t["relation"], t["object"]["text"]] for t in row["triples"]],
    )
    for row in rows
]
for line in sys.stdin:
    row = json.loads(line)
    text, words = row["text"], set(row["text"].split())
    ranked = sorted(TRAIN, key=lambda one: -len(words & one[0]) / len(words | one[0]))
    similar = (tuple(triple) for _, triples in ranked[:SIMILAR] for triple in triples)
    triples = list(
        dict.fromkeys(triple for triple in similar if triple[0] in text and triple[2] in text)
    )
    answer = {"text": text} if "--text" in sys.argv else {"id": row["id"]}
    print(json.dumps({**answer, "triples": triples}, ensure_ascii=False), flush=True)
