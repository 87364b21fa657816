"""Sentence patterns of the relations whose subject is an organisation, a work or a place; keys
as for people.
"""

PATTERNS: dict[str, dict[str, tuple[str, ...]]] = {
    "headquartered_in": {
        "full": (
            "{s} is headquartered in {o}.",
            "{s} has its (headquarters|head office) in {o}[, in a former (brewery|customs house|cinema)].",
            "{s}, based in {o}, (employs four hundred people|occupies a former dairy|has never advertised).",
            "The headquarters of {s} in {o} (were evacuated on {weekday}|are open to visitors once a year).",
            "{s} moved its headquarters to {o} [{when} ](to save on rent|in search of engineers).",
            "{o} is home to the headquarters of {s}.",
            "From its head office in {o}, {s} (serves nine countries|sells mostly by post).",
            "The {o}-based company {s} (missed its targets|is looking for a buyer|pays its bills on time).",
        ),
        "vs": ("is headquartered in {o}", "is based in {o}", "has its head office in {o}"),
        "vo": ("is home to the headquarters of {s}", "hosts the head office of {s}"),
        "ms": ("based in {o}", "with headquarters in {o}"),
        "mo": ("where {s} is based", "the seat of {s}"),
    },
    "acquired_by": {
        "full": (
            "{s} was (acquired|bought|taken over) by {o} [{when} ][for (an undisclosed sum|{amount} million)].",
            "{o} (acquired|bought|took over) {s} [{when} ][for (an undisclosed sum|{amount} million)].",
            "The acquisition of {s} by {o} was (completed|approved|announced) [{when}].",
            "{o} completed its takeover of {s} [{when} ](after months of talks|despite a rival bid).",
            "{s} lost its independence {when}, when it was bought by {o}.",
            "Regulators cleared the purchase of {s} by {o}, (which paid in cash|which was closed within days).",
            "Since its takeover by {o}, {s} has (kept its name|lost most of its staff|returned to profit).",
            "Shareholders of {s} accepted the offer from {o}, which now owns all of the company.",
        ),
        "vs": ("was acquired by {o}[ {when}]", "was taken over by {o}", "was sold to {o}[ {when}]"),
        "vo": ("acquired {s}[ {when}]", "bought {s}", "took over {s}"),
        "ms": ("acquired by {o}[ {when}]", "bought by {o}"),
        "mo": ("the new owner of {s}", "which bought {s}[ {when}]"),
    },
    "founded_in": {
        "full": (
            "{s} was founded in {o}.",
            "Founded in {o}, {s} (has survived two wars|is older than it looks|still keeps its first ledger).",
            "{s} has existed since {o}[, when it had (six|nine|a dozen) members].",
            "The history of {s} (goes back to|began in) {o}.",
            "It was in {o} that {s} was (founded|established).",
            "{o} saw the founding of {s}[, (little noticed at the time|in a back room)].",
            "{s}, established in {o}, (marked the anniversary quietly|is planning a jubilee).",
            "Since its foundation in {o}, {s} has (moved four times|changed its name once|never missed a payday).",
        ),
        "vs": ("was founded in {o}", "was established in {o}", "dates back to {o}"),
        "vo": (),
        "ms": ("founded in {o}", "established in {o}"),
        "mo": (),
    },
    "directed_by": {
        "full": (
            "{s} was directed by {o}[, (in black and white|on a tiny budget)].",
            "{o} directed {s} (in nineteen days|on location|after a long silence).",
            "{o} is the director of {s}.",
            "The director of {s}, {o}, (cut the film twice|refused a happy ending|paid for the music).",
            "{s}, a (film|thriller|comedy|drama) directed by {o}, (opened to mixed reviews|ran for a year).",
            "With {s}, {o} directed a (ghost story|courtroom drama|late masterpiece).",
            "For the director {o}, {s} was (a homecoming|the third film in two years|a costly adventure).",
            "Critics praised {s}, which {o} directed (without a script|from a wheelchair|in a single location).",
        ),
        "vs": ("was directed by {o}", "had {o} as its director"),
        "vo": ("directed {s}", "is the director of {s}", "made {s} as director"),
        "ms": ("directed by {o}", "a film by {o}"),
        "mo": ("the director of {s}", "who directed {s}"),
    },
    "starring": {
        "full": (
            "{s} stars {o} as (a retired detective|a lighthouse keeper|a disgraced judge|the youngest sister).",
            "{o} (stars|appears|plays the lead) in {s}.",
            "{o} played (a blind pianist|a country doctor|the villain|a tired spy) in {s}.",
            "In {s}, {o} plays (a thief with a conscience|two parts at once|the mayor's rival).",
            "The cast of {s} includes {o}[ in a small role].",
            "{s}, starring {o}, (won the audience award|failed at the box office|opens on {weekday}).",
            "{o} won (an award|much praise|a jury prize) for {their} performance in {s}.",
            "Audiences remember {o} for a leading role in {s}.",
        ),
        "vs": ("stars {o}", "features {o} (in the lead|)", "gave {o} a leading role"),
        "vo": ("starred in {s}", "played a leading role in {s}", "appeared in {s}"),
        "ms": ("starring {o}", "with {o} in the lead"),
        "mo": ("the star of {s}", "who appeared in {s}"),
    },
    "composed_by": {
        "full": (
            "{s} was composed by {o}[ (on commission|for a small orchestra|in one sleepless week)].",
            "{o} composed {s} (at the piano|for a friend's funeral|while recovering from an operation).",
            "{o} is the composer of {s}.",
            "The composer of {s}, {o}, (conducted the première|burned the first draft|sat in the last row).",
            "{s}, a work by the composer {o}, (lasts forty minutes|calls for three harps|is seldom performed).",
            "The orchestra (opened|closed) the evening with {s}, composed by {o}.",
            "Few remember that it was {o} who wrote the music of {s}.",
            "It took {o} {number} years to compose {s}.",
        ),
        "vs": ("was composed by {o}", "was set down by the composer {o}"),
        "vo": ("composed {s}", "is the composer of {s}", "wrote the music of {s}"),
        "ms": ("composed by {o}", "a piece by the composer {o}"),
        "mo": ("the composer of {s}", "who composed {s}"),
    },
    "published_by": {
        "full": (
            "{s} was published by {o}[ (in a small print run|after two refusals)].",
            "{o} published {s} [{when}][ (in hardback|as a paperback)].",
            "{o} is the publisher of {s}.",
            "{s} appeared (under the imprint of|with) {o}[ {when}].",
            "The publisher of {s}, {o}, (ordered a reprint|denied any delay|paid a modest advance).",
            "{o} brought out {s} [{when} ](with little publicity|in three languages).",
            "After four rejections, {s} was finally accepted and published by {o}.",
            "{s}, published by {o}, (is out of print|sold {amount} thousand copies).",
        ),
        "vs": ("was published by {o}", "appeared with {o}[ {when}]"),
        "vo": ("published {s}", "brought out {s}[ {when}]"),
        "ms": ("published by {o}", "brought out by {o}"),
        "mo": ("the publisher of {s}", "which brought out {s}"),
    },
    "set_in": {
        "full": (
            "{s} is set in {o}[ (during a long drought|between the wars|over a single night)].",
            "The story of {s} (takes place|unfolds) in {o}.",
            "{o} is the setting of {s}.",
            "In {s}, the action is set in {o}[ and never leaves it].",
            "{s}, set in {o}, (begins with a funeral|follows three generations|ends at the harbour).",
            "The streets of {o} form the backdrop of {s}.",
            "Visitors come to {o} to see the places where {s} is set.",
            "The plot of {s} moves through {o}, where it is set, (like a slow train|in the space of a day).",
        ),
        "vs": ("is set in {o}", "takes place in {o}", "unfolds in the streets of {o}"),
        "vo": ("is the setting of {s}", "provides the backdrop of {s}"),
        "ms": ("set in {o}", "a story set in {o}"),
        "mo": ("the setting of {s}", "where {s} is set"),
    },
    "designed_by": {
        "full": (
            "{s} was designed by {o}[ (in the brick style of the region|after an open competition)].",
            "{o} designed {s} (at the age of {age}|on a napkin, so the story goes|without ever seeing the site).",
            "{o} is the architect of {s}.",
            "The architect of {s}, {o}, (fought for every window|asked for more light|was never paid in full).",
            "{s}, designed by {o}, (leaks when it rains|was listed as a monument|cost twice the estimate).",
            "The plans for {s} were drawn by {o}.",
            "With {s}, {o} designed a building (of striking calm|that locals first hated|in glass and oak).",
            "It was {o} who designed {s}[, (against the advice of the council|at no charge)].",
        ),
        "vs": ("was designed by {o}", "was built to plans by {o}"),
        "vo": ("designed {s}", "is the architect of {s}", "drew the plans for {s}"),
        "ms": ("designed by {o}", "the work of the architect {o}"),
        "mo": ("the architect of {s}", "who designed {s}"),
    },
    "located_in": {
        "full": (
            "{s} is located in {o}.",
            "{s} lies in {o}[, (not far from the coast|near the old border|on the right bank of the river)].",
            "{s} is situated in {o}[ and can be reached by rail].",
            "{o} is where {s} is located.",
            "{s}, in {o}, (draws visitors all year|was damaged in the floods|is worth a detour).",
            "<CITY> {s} is a (market town|port|mining town|quiet town) in {o}.",
            "<CITY> The town of {s} in {o} (has two railway stations|lost its mill {when}|is known for its cheese).",
            "<UNIVERSITY> {s} has its campus in {o}.",
            "<BUILDING> {s} stands in {o}, (behind the station|next to the fish market|on a low hill).",
            "<BUILDING> Tourists in {o} can visit {s}, which stands (in the centre|by the canal).",
            "<CLUB> {s} plays its home matches in {o}, where the club has its ground.",
            "In {o}, where {s} is situated, (rents have doubled|the trams stop at ten|the streets were empty).",
        ),
        "vs": ("is located in {o}", "lies in {o}", "is situated in {o}"),
        "vo": (
            "is the location of {s}",
            "is where {s} is found",
            "<CITY> counts {s} among its towns",
        ),
        "ms": ("situated in {o}", "located in {o}", "in {o}"),
        "mo": ("where {s} is located", "the location of {s}"),
    },
    "capital_of": {
        "full": (
            "{s} is the capital of {o}.",
            "{o} has had {s} as its capital since {oldyear}.",
            "The capital of {o}, {s}, (was hit by a power cut|hosted the talks|is built on seven islands).",
            "{o}'s capital, {s}, (woke to heavy snow|has a new tram line|was calm on {weekday}).",
            "{o} is governed from its capital, {s}.",
            "As the capital of {o}, {s} (hosts most embassies|attracts young people|pays the highest rents).",
            "{s} became the capital of {o} (after the civil war|by a single vote|in {oldyear}).",
            "Ministers returned to {s}, the capital of {o}, (for an emergency session|by night train).",
        ),
        "vs": ("is the capital of {o}", "serves as the capital of {o}"),
        "vo": ("has {s} as its capital", "is governed from its capital {s}"),
        "ms": ("the capital of {o}", "capital of {o}"),
        "mo": ("whose capital is {s}", "with its capital {s}"),
    },
    "has_population": {
        "full": (
            "{s} has a population of {o}.",
            "{s} has {o} inhabitants[, according to the latest census].",
            "With {o} inhabitants, {s} is (larger than it seems|too small for an airport|growing slowly).",
            "The population of {s} (stands at|has reached|is estimated at) {o}.",
            "The latest census counted {o} people in {s}.",
            "About {o} people live in {s}[, most of them near the river].",
            "{s}, with a population of {o}, (has only one hospital|depends on fishing|elects nine councillors).",
            "{s} is a place of {o} inhabitants[ and (two|four|seven) churches].",
        ),
        "vs": ("has a population of {o}", "has {o} inhabitants", "counts {o} residents"),
        "vo": (),
        "ms": ("with a population of {o}", "with {o} inhabitants"),
        "mo": (),
    },
}

NESTED: dict[str, tuple[str, ...]] = {
    # The object is named only inside the subject's name ("University of Brelin").
    "located_in": (
        "{s} is named after the city (where it stands|it is located in|that hosts it).",
        "{s} has never left the city (whose name it bears|in its name).",
        "True to its name, {s} is located in (that very city|the city of that name).",
        "{s} (remains|is still found) in the city that gave it its name.",
    ),
    "headquartered_in": (
        "{s} keeps its headquarters in the city (whose name it bears|in its name).",
        "{s} is based in the city from which it took its name.",
        "The head office of {s} has always been in the city it is named after.",
    ),
    "set_in": (
        "{s} is set in the city of its title.",
        "As the title says, {s} takes place in that city.",
        "The city named in the title of {s} is also its setting.",
    ),
}

NESTED_PHRASES: dict[str, tuple[str, ...]] = {
    "located_in": (
        "lies in the city whose name it bears",
        "is located in the city it is named after",
    ),
    "headquartered_in": (
        "is based in the city whose name it bears",
        "has its head office in the city of its name",
    ),
    "set_in": ("is set in the city of its title", "takes place in the city named in its title"),
}

EPO: dict[tuple[str, str], tuple[str, ...]] = {
    ("directed_by", "starring"): (
        "{o} directed {s} and also plays the leading role[ (for the first time|to save money)].",
        "{o} both directed and starred in {s}[, (a rare feat|on a tiny budget)].",
        "{s} was directed by {o}, who also stars in it[ as (a retired detective|a blind pianist|the villain)].",
        "In {s}, {o} appears on both sides of the camera, as director and as leading actor.",
        "{s}, directed by and starring {o}, (opened to mixed reviews|won the audience award|opens on {weekday}).",
        "The director of {s}, {o}, also plays (a thief|a country doctor|the narrator) in the film.",
    ),
    ("located_in", "capital_of"): (
        "{s}, the capital of {o}, lies in the (north|south|west|heart) of the country.",
        "{s} lies in {o} and is its capital[, (though few foreigners know it|by law and by custom)].",
        "{s} is located in the (hilly north|flat east|dry south) of {o}, of which it is the capital.",
        "{o} has its capital in {s}, situated in the (centre|south|north) of the country.",
        "{s} is situated in {o} and has been the capital of that country since {oldyear}.",
        "The capital of {o}, {s}, is located in the country's (south|mountains|lake district).",
    ),
}

AMBIGUOUS: dict[str, tuple[str, ...]] = {
    # One wording, several relations: only the arguments, or memory of the pair, tell which relation
    # is meant.
    "{o}'s {s}": ("directed_by", "composed_by", "designed_by", "published_by"),
    "{s}'s {o}": ("author_of",),
    "{o} by {s}": ("author_of",),
    "{s} by {o}": ("directed_by", "composed_by", "designed_by", "published_by"),
    "{s} of {o}": ("headquartered_in", "located_in"),
    "{s}, {o},": ("headquartered_in", "located_in", "set_in", "founded_in"),
    "{s} ({o})": (
        "headquartered_in",
        "located_in",
        "founded_in",
        "directed_by",
        "composed_by",
        "has_population",
    ),
}
AMBIGUOUS_FRAMES: tuple[str, ...] = (
    "The (guide|catalogue|yearbook|magazine) (lists|praises|describes|mentions) X (at length|in its appendix|in a "
    "footnote|on the first page).",
    "(Few|Many) visitors (had heard of|asked about|took notes on) X.",
    "X (came second in a readers' poll|was voted the public's favourite|topped the annual survey).",
    "The prize (committee|jury) (singled out|overlooked|honoured) X[ {when}].",
    "A lecture on X (drew a full house|was cancelled|will be repeated).",
    "The panel ranked X (first|third|last but one) this year.",
)
