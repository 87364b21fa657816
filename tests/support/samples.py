"""Small corpora that several tests read."""

CONLL = """\
7\tPeop\t0\tO\tNNP/NNP\tTuvia/Tzafir\tO\tO\tO
7\tO\t1\tO\t,\tCOMMA\tO\tO\tO
7\tLoc\t2\tO\tNNP/-LRB-\tTel/-LRB-Aviv\tO\tO\tO
7\tO\t3\tO\tNN\t/\tO\tO\tO
7\tO\t4\tO\t)\t-RRB-\tO\tO\tO

0\t2\tLive_In

9\tO\t0\tO\tDT\tThe\tO\tO\tO
9\tOrg\t1\tO\tNNP\tUN\tO\tO\tO


10\tO\t0\tO\tDT\tEnd\tO\tO\tO
"""
POINTED = {
    "x.sent": "Rome and Rome ; Italy | x\nNothing here\nA  B\n",
    "x.tup": "Rome ; Italy ; in | Rome ; x ; r\n\nA ; B ; r\n",
    "x.pointer": "2 2 4 4 in | 0 0 6 6 r\n\n0 0 1 1 r\n",
}
RASH = "10|Intravenous x-induced rash.|rash|43|54|x|22|34\n10|Intravenous x-induced rash.|rash|1|2|x|3|4\n"
KBP = (
    '7\t" The <e1> MS ANG </e1> of <e2>Mississippi</e2> . "\norg:place(e2,e1)\n\n\n'
    '8\t"The <e1>cat</e1> and <e2>dog</e2>."\nno_relation\nComment: none\n\n'
)
ANN = "T1\tP 0 3\tAda\nT2\tF 10 16\tDe fta\nT3\tL 22 26\tOslo\nR1\tleads Arg1:T1 Arg2:T2\nR2\tin Arg1:T2 Arg2:T3\n"
LINK = {"type": "relation", "from_id": "a", "to_id": "b", "labels": ["leads"]}
PERSON, FIRM = {"start": 0, "end": 3, "label": "P"}, {"start": 10, "end": 15, "label": "F"}
TEXT, WORDS = "Ada leads Delta", ["Ada", "leads", "Delta"]
REGIONS = [
    {"id": i, "value": {**span, "labels": [span["label"]]}}
    for i, span in (("a", PERSON), ("b", FIRM))
]
TYPED = {
    "prodigy": {
        "text": TEXT,
        "spans": [PERSON | {"token_end": 0}, FIRM | {"token_end": 2}],
        "relations": [{"head": 0, "label": "leads", "child_span": {"start": 10, "end": 15}}],
    },
    "doccano": {
        "text": TEXT,
        "entities": [
            {"id": i, "start_offset": span["start"], "end_offset": span["end"], "label": span["label"]}
            for i, span in ((7, PERSON), (8, FIRM))
        ],
        "relations": [{"from_id": 7, "to_id": 8, "type": "leads"}],
    },
    "label-studio": {"data": {"text": TEXT}, "annotations": [{"result": [*REGIONS, LINK]}]},
    "tacred": {
        "id": "x", "token": WORDS, "relation": "leads", "subj_start": 0, "subj_end": 0, "subj_type": "P",
        "obj_start": 2, "obj_end": 2, "obj_type": "F",
    },
    "nyt-raw": {
        "sentText": TEXT,
        "relationMentions": [{"em1Text": "Ada", "label": "leads", "em2Text": "Delta"}],
        "entityMentions": [{"text": "Ada", "label": "P"}, {"text": "Delta", "label": "F"}],
    },
    "entity-relation": {
        "tokens": WORDS,
        "entities": [{"type": "P", "start": 0, "end": 1}, {"type": "F", "start": 2, "end": 3}],
        "relations": [{"type": "leads", "head": 0, "tail": 1}],
    },
    "jsonl": {
        "text": TEXT,
        "triples": [{"head": {"name": "Ada", "type": "P"}, "type": "leads", "tail": {"name": "Delta", "type": "F"}}],
    },
    "records": {
        "sentence": TEXT, "subject": "Ada", "relation": "leads", "object": "Delta", "head_type": "P",
        "tail_type": {"@value": "F"},
    },
}  # fmt: skip
