"""Word lists of the tokenizer: English function words, and what the sentence splitter knows about full stops."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# English function words (the 179 of the usual stop-word list). Contractions stand as people write them.
STOP_WORDS = _words(
    """
    i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves
    he him his himself she she's her hers herself it it's its itself they them their theirs themselves
    what which who whom this that that'll these those
    am is are was were be been being have has had having do does did doing
    a an the and but if or because as until while
    of at by for with about against between into through during before after above below to from up down in out on off
    over under again further then once here there when where why how
    all any both each few more most other some such no nor not only own same so than too very
    s t can will just don don't should should've now d ll m o re ve y ain
    aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma
    mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't weren weren't
    won won't wouldn wouldn't
    """
)

# Words that keep their full stop inside a sentence, as far as the reference model knows them. It does not know "No.",
# "Gov." or "Rev.", and that is part of the stored counts.
ABBREVIATIONS = _words(
    """
    mr mrs ms messrs dr prof sen rep reps gen col lt maj jr sr st ft co cos corp inc ltd bros cie
    jan feb aug sep sept oct nov dec tues wed fri
    ala ariz calif colo conn fla ga ill kan ky mich minn nev okla ok ore pa tenn va vt w.va wash wis
    adm ave chg ct mg sw v vs yr c d e f g h k l m n p r s t w
    u.s u.s.a u.s.s.r u.k u.n d.c n.c n.d n.h n.j n.m n.y n.v r.i s.c l.a b.f b.v c.v s.a s.p.a s.a.y
    a.m p.m ph.d m.b.a a.m.e c.i.t c.o.m.b i.m.s p.a.m m.d.c
    a.a a.c a.d a.g a.h a.s a.t d.h d.w e.f e.h e.l f.g f.j g.d g.f g.k h.c h.f h.m j.b j.c j.j j.k j.p j.r l.f l.p
    m.j r.a r.h r.j r.k r.t s.g s.s t.j w.c w.r w.w
    """
)
STARTERS = _words(
    """
    according although among both but despite even he however i if in indeed instead it many meanwhile moreover most
    nevertheless nonetheless nor sales separately similarly since so some the there these they this though thus under
    when while yet
    """
)


# Function words that the reference model never saw with a capital inside a sentence: capitalised, they begin one.
LOWER_ONLY = _words(
    """
    above being between does doing her here hers herself him himself into myself nor ours ourselves same so such them
    themselves through very were which whom your yourself
    """
)
