"""Patterns of sentences with zero triples: plain ones, ones with an entity, and hard ones with two
fitting entities.

Slots in capitals (``{PERSON}``, ``{CITY}``, …) take any entity of that type; ``{s}`` and ``{o}``
take a pair that fits the relation without the sentence stating it.
"""

PLAIN: tuple[str, ...] = (
    "(Heavy rain|Fog|Drifting snow|A fallen tree) (closed|blocked|delayed traffic on) the (coastal road|mountain pass|"
    "main line) (for most of {weekday}|until noon|for {number} hours).",
    "(Wheat|Copper|Timber|Coffee) prices (rose|fell|were little changed) (in {month}|for a {ordinal} week).",
    "The (committee|council|tribunal|board) (adjourned|postponed its vote|met in private) (until {weekday}|without "
    "giving a reason).",
    "(Scientists|Volunteers|Inspectors) (counted|found|recorded) {amount} (herons|seals|wild orchids|cracked tiles) "
    "(along the shore|near the reservoir|in a single morning).",
    "A (burst pipe|small fire|power cut) (emptied|darkened) the (library|market hall|theatre) (on {weekday}|in "
    "{month}).",
    "Entries for the ({ordinal}|annual) (baking|poetry|chess|photo) contest (close|must arrive) by {day} {month}.",
    "(Most|About half|{number} per cent) of those asked said they (trusted the forecast|would rather walk|had never "
    "voted).",
    "The (recipe|manual|leaflet) calls for (two|three|four) (eggs|screws|spoons of sugar|sheets of paper) and "
    "(a great deal of patience|some luck|a steady hand).",
    "It (snowed|rained|thundered) (all night|for {number} days), and (the cattle were moved|the fair was called off|"
    "nobody complained).",
    "Ticket sales (rose|fell) by {number} per cent (in {month}|over the winter|against last year).",
    "(Teachers|Nurses|Dockers|Bus drivers) (voted|threatened|agreed) to (strike|return to work) (from {weekday}|in "
    "{month}).",
    "Nobody (was hurt|noticed|claimed the prize), (the police said|according to the organisers).",
    "The (museum|swimming pool|post office) will (stay shut|open late|charge more) (until {day} {month}|on {weekday}).",
    "(Early|Later|Other) (chapters|reports|letters) (deal with|describe|skip over) (the harvest|the price of bread|"
    "old feuds|railway timetables).",
    "A {ordinal} (train|ferry|bus) was (added|cancelled) because of (the holiday|a strike|high winds).",
    "The (older|younger|taller) of the two (witnesses|sisters|brothers) (could not be reached|wept|asked for water).",
    "(Exports|Imports|Wages|Rents) grew by {number} per cent, (slower|faster) than (economists|landlords|the ministry) "
    "had expected.",
    "After {number} (minutes|hours|days) of (debate|searching|silence), the (crowd|team|jury) (went home|gave up|"
    "broke into applause).",
    "Under the new rules, (cyclists|shopkeepers|anglers) must (carry a lamp|register online|pay a fee of {number}).",
    "(Two|Three|Five) (paintings|bicycles|violins) were (stolen|recovered|sold) (on {weekday}|in {month}|at auction).",
    "The {ordinal} (act|half|chapter) is (slower|better|shorter) than the (rest|opening).",
    "(Doctors|Farmers|Parents) (warned|complained) that the (water|air|noise) was (worse|no better) than in {year}.",
    "On page {number} there is a (map|drawing|misprint) that (nobody|every reader) (notices|remembers).",
    "(Lunch|Breakfast|Supper) was (bread and cheese|cold soup|a bag of apples), eaten (standing|in silence|by the "
    "stove).",
    "The storm of {oldyear} (flooded|spared) the (lower|old|northern) quarter.",
    "Temperatures will (drop|climb) to {number} degrees by {weekday}, forecasters said.",
    "A {ordinal} round of talks is (planned|expected) for {day} {month}.",
)

SINGLE: dict[str, tuple[str, ...]] = {
    "PERSON": (
        "{PERSON} (declined to comment|gave no interviews|slept badly)[ on {weekday}][ in {month}].",
        "{PERSON} (arrived late|left early|spoke for {number} minutes), (to the relief of the hosts|as usual).",
        "(In an interview|In a letter|On the radio), {PERSON} (complained about|praised|laughed about) (the weather|"
        "modern art|the price of coffee|slow trains).",
        "A portrait of {PERSON} was (sold|found|damaged) (in {month}|{when}|at auction).",
        "“(It was a long night|I have no regrets|We must be patient|Nobody asked me),” said {PERSON}[ on {weekday}].",
        "{PERSON} broke an (arm|ankle) while (skiing|gardening|changing a light bulb)[ {when}].",
        "{PERSON} (received|was given|turned down) (a medal|an honorary title|a bouquet) (on {weekday}|in {month}).",
        "Asked about the (delay|scandal|budget|rumours), {PERSON} (smiled|shrugged|left the room|changed the subject).",
    ),
    "CITY": (
        "(Rents|Bus fares) in {CITY} rose by {number} per cent (in {month}|last year|for a {ordinal} year).",
        "The night train to {CITY} (was late|is fully booked|no longer runs)[ on {weekday}].",
        "{CITY} woke to (heavy snow|the sound of sirens|clear skies)[ on {weekday}].",
        "(A fire|A parade|A strike|A chess tournament) in {CITY} (drew|held up) {amount} people.",
        "(Rain|Sunshine|Frost) is forecast for {CITY} (on {weekday}|until {day} {month}).",
        "The road to {CITY} is (narrow|closed|being repaired) (until {month}|again).",
    ),
    "COUNTRY": (
        "The economy of {COUNTRY} (grew|shrank) by {number} per cent (in {year}|last year).",
        "{COUNTRY} (signed|rejected) a (fishing|trade|climate) treaty (on {weekday}|in {month}|{when}).",
        "(Wolves|Storks|Beavers) have returned to {COUNTRY} (after {number} years|since {year}).",
        "Parliament in {COUNTRY} (debated|passed|threw out) a (tax|pension|language) bill (on {weekday}|in {month}).",
    ),
    "COMPANY": (
        "Shares of {COMPANY} (rose|fell|lost) {number} per cent (on {weekday}|in {month}).",
        "{COMPANY} (reported|expects|denied) a (small|record|{ordinal}) (loss|profit)[ for {year}].",
        "{COMPANY} (recalled|sold|delivered) {amount} (units|parcels|machines) (in {month}|{when}).",
        "A strike at {COMPANY} (ended|began) on {day} {month}.",
        "The annual report of {COMPANY} runs to {number} pages.",
    ),
    "UNIVERSITY": (
        "{UNIVERSITY} (raised its fees|cancelled all lectures|closed its canteen) (in {month}|{when}|on {weekday}).",
        "Students of {UNIVERSITY} (occupied the library|planted {amount} trees|marched) on {weekday}.",
    ),
    "CLUB": (
        "{CLUB} (won|lost|drew) (at home|away|in the rain) on {weekday}[ in {month}].",
        "Supporters of {CLUB} (sang|left early|waited {number} minutes) (despite the cold|on {weekday}|in {month}).",
    ),
    "BAND": (
        "{BAND} (will tour|played {number} concerts|recorded nothing) (in {month}|in {year}).",
        "Tickets for {BAND} (sold out|went on sale) on {day} {month}.",
    ),
    "PARTY": (
        "{PARTY} (gained|lost) {number} seats (in {year}|in the {month} vote).",
        "Delegates of {PARTY} (argued|dined|voted) until (midnight|dawn) on {weekday}.",
    ),
    "BOOK": (
        "{BOOK} (sold out|was reprinted|won no prize) in {month}[ {year}].",
        "A {ordinal} edition of {BOOK} (is planned|appeared) in {year}.",
        "Readers of {BOOK} (complained about|admired) the (ending|cover|footnotes|{ordinal} chapter).",
    ),
    "FILM": (
        "{FILM} (opens|closes) on {day} {month}.",
        "Audiences (walked out of|applauded|slept through) {FILM} (on {weekday}|in {month}).",
        "{FILM} (earned|lost) {amount} thousand in its {ordinal} week.",
    ),
    "MUSIC": (
        "{MUSIC} will be (performed|broadcast|recorded) on {day} {month}.",
        "The performance of {MUSIC} on {weekday} (lasted {number} minutes|was interrupted|ended in applause).",
    ),
    "BUILDING": (
        "{BUILDING} (reopens|closes for repairs) on {day} {month}.",
        "Repairs to {BUILDING} will cost {amount} thousand[, the council said on {weekday}].",
    ),
}

# Two fitting entities side by side; the pair may be one whose relation holds elsewhere.
COMENTION: tuple[str, ...] = (
    "{s} and {o} were mentioned in the same (report|article|broadcast|footnote)[ {when}].",
    "The (quiz|crossword|encyclopaedia) had one question about {s} and another about {o}.",
    "A (feature|short note) on {s} appeared next to one on {o}[ in the {weekday} edition].",
    "The index lists both {s} and {o}[, on pages {number} and {shirt}].",
    "{s} is discussed in the {ordinal} chapter, {o} only in the {ordinal2}.",
    "Neither {s} nor {o} (was named in the complaint|appears in the final list|came up again).",
    "The podcast moved from {s} to {o} (within minutes|without a pause|after the break).",
    "(Few|Many|Most) letters to the editor were about {s}; only (one|two|three) dealt with {o}.",
    "After a story on {s}, the (evening|morning|{weekday}) news turned to {o}.",
    "An essay compares the public image of {s} with that of {o}.",
    "(Search engines|Old catalogues|Some archives) (confuse|mix up) entries on {s} with pages about {o}.",
    "Both {o} and {s} (have entries in|are missing from) the new (almanac|yearbook|directory)[ for {year}].",
)

# Questions, doubts and hypotheses; {claim} is a clause such as "{s} had founded {o}".
CLAIM_OPEN: tuple[str, ...] = (
    "A spokesman would not say whether {claim}.",
    "Whether {claim} (is|remains) (unclear|an open question|a matter of dispute).",
    "The quiz asked whether {claim}.",
    "(Nobody|No one in the room) could say whether {claim}.",
    "The question of whether {claim} was (left open|struck from the record|raised on {weekday}).",
    "Reporters (tried in vain to find out|asked several times) whether {claim}.",
)
CLAIM_FALSE: tuple[str, ...] = (
    "It is not true that {claim}.",
    "Rumours that {claim} (proved false|were denied on {weekday}|had no basis).",
    "(Contrary to what was reported {when}|Contrary to a widespread belief), it was never the case that {claim}.",
    "The newspaper withdrew its claim that {claim}.",
    "Had it been true that {claim}, (someone would have noticed|the case would have been simple).",
    "The (court|editors|archivists) found no evidence that {claim}.",
    "An early draft wrongly stated that {claim}.",
    "The (biography|website|leaflet) was corrected because it said, wrongly, that {claim}.",
)
CLAIMS: dict[str, tuple[str, ...]] = {
    "born_in": ("{s} was born in {o}", "{o} was the birthplace of {s}"),
    "died_in": ("{s} had died in {o}",),
    "lives_in": ("{s} lived in {o}", "{s} had moved to {o}"),
    "citizen_of": ("{s} was a citizen of {o}", "{s} held a passport of {o}"),
    "educated_at": ("{s} had studied at {o}", "{s} was a graduate of {o}"),
    "member_of": ("{s} was a member of {o}", "{s} had joined {o}"),
    "plays_for": ("{s} had signed for {o}", "{s} would play for {o}"),
    "works_for": ("{s} was employed by {o}", "{s} worked for {o}"),
    "spouse_of": ("{s} was married to {o}", "{s} had married {o}"),
    "founder_of": ("{s} had founded {o}", "{o} was founded by {s}"),
    "chief_executive_of": ("{s} would become chief executive of {o}", "{o} was run by {s}"),
    "mayor_of": ("{s} was the mayor of {o}", "{s} had been elected mayor of {o}"),
    "author_of": ("{s} was the author of {o}", "{o} had been written by {s}"),
    "headquartered_in": ("{s} was based in {o}", "{s} had moved its headquarters to {o}"),
    "acquired_by": ("{s} had been acquired by {o}", "{o} had bought {s}"),
    "founded_in": ("{s} was founded in {o}",),
    "directed_by": ("{s} was directed by {o}", "{o} had directed {s}"),
    "starring": ("{o} had appeared in {s}", "{s} starred {o}"),
    "composed_by": ("{s} was composed by {o}", "{o} was the composer of {s}"),
    "published_by": ("{o} had published {s}", "{s} was published by {o}"),
    "set_in": ("{s} was set in {o}",),
    "designed_by": ("{o} had designed {s}", "{s} was designed by {o}"),
    "located_in": ("{s} was located in {o}", "{s} lay in {o}"),
    "capital_of": ("{s} was the capital of {o}",),
    "has_population": ("{s} had {o} inhabitants",),
}

# Events between two fitting entities that are no relation of the corpus, by the types of the two.
EVENTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("PERSON", "CITY"): (
        "{s} (visited|passed through|gave a talk in|spent a weekend in) {o} [{when}].",
        "A (concert|lecture|statue) in {o} was (dedicated to|about) {s}.",
        "{s} missed the train to {o} (on {weekday}|by {number} minutes).",
        "{s} once (complained|wrote) that {o} was (too loud|too quiet|impossible to leave|not what it had been).",
    ),
    ("PERSON", "COMPANY"): (
        "{s} (sued|criticised|defended|bought shares in) {o} [{when}].",
        "{s} was a guest at the annual party of {o}[ in {month}].",
        "{s} turned down an offer from {o}[ {when}].",
        "A parcel from {o} reached {s} (on {weekday}|{number} days late).",
    ),
    ("PERSON", "PERSON"): (
        "{s} (met|telephoned|interviewed|avoided) {o} (on {weekday}|in {month}|{when}).",
        "{s} and {o} (shared a table|disagreed in public|exchanged letters|played chess) (on {weekday}|in {month}|"
        "for {number} hours).",
        "{s} (praised|mocked|quoted) {o} (in a speech|on the radio|in {month}).",
    ),
    ("PERSON", "UNIVERSITY"): (
        "{s} (gave a guest lecture at|was booed at|left a letter to|refused to visit) {o}[ {when}].",
        "{s} was rejected by {o}[ {when}].",
    ),
    ("PERSON", "CLUB"): (
        "{s} (watched|booed|placed a bet on) {o} (on {weekday}|in the rain|in {month}).",
        "Talks between {s} and {o} (broke down|came to nothing)[ {when}].",
    ),
    ("PERSON", "BAND"): (
        "{s} (heard|reviewed|could not stand|was late for) {o} (on {weekday}|in {month}).",
    ),
    ("PERSON", "PARTY"): (
        "{s} (criticised|debated with|refused to endorse) {o} (on {weekday}|in {month}|{when}).",
    ),
    ("PERSON", "BOOK"): (
        "{s} (reviewed|never finished|gave away|quoted from) {o} (on {weekday}|in {month}|{when}).",
    ),
    ("PERSON", "COUNTRY"): (
        "{s} (toured|crossed|wrote a song about|was refused entry to) {o}[ {when}].",
        "A letter from {s} took {number} days to cross {o}.",
    ),
    ("FILM", "PERSON"): (
        "{o} (saw|disliked|walked out of|reviewed) {s} (on {weekday}|in {month}|{when}).",
    ),
    ("MUSIC", "PERSON"): (
        "{o} (listened to|hummed|could not bear|requested) {s} (on {weekday}|in {month}).",
    ),
    ("COMPANY", "COMPANY"): (
        "{s} (sued|supplies|outsold|signed a truce with) {o}[ {when}].",
        "A merger of {s} and {o} was (ruled out|never discussed|rumoured)[ {when}].",
    ),
    ("COMPANY", "CITY"): (
        "{s} (opened a shop in|will leave|cancelled its fair in|ran a campaign in) {o}[ {when}].",
        "A lorry of {s} broke down (near|outside) {o}[ on {weekday}].",
    ),
    ("CITY", "COUNTRY"): ("Trains from {s} (cross|run through|take {number} hours to reach) {o}.",),
    ("BUILDING", "PERSON"): (
        "{o} (gave a speech at|was locked out of|sketched) {s} (on {weekday}|in {month}).",
    ),
    ("BOOK", "COMPANY"): ("{o} (rejected|misprinted the title of|refused to stock) {s}[ {when}].",),
    ("CLUB", "CITY"): ("{s} (lost|won|was held to a draw) in {o} on {weekday}[ in {month}].",),
}
