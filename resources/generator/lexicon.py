"""Name material of the demo world: invented, natural-looking names of people, organisations,
places and works.
"""


def _names(text: str) -> list[str]:
    """Single words."""
    return text.split()


def _titles(text: str) -> list[str]:
    """Names of several words, separated by semicolons."""
    return text.split(";")


FEMALE = _names(
    "Ada Agnes Alma Amara Anneliese Astrid Beatriz Bettina Camille Clara Daria Delphine Edith Elena Elsbeth Esther "
    "Farida Freya Greta Hanna Helena Ilse Imogen Ingrid Ines Jolanta Josefa Judith Katya Leila Linnea Lucinda Magda "
    "Marguerite Marit Mira Nadia Noor Odile Olga Paloma Petra Renata Rosalind Ruth Sabine Sigrid Solveig Tamsin Thea "
    "Ursula Valentina Vera Wanda Yasmin Zofia Anne-Marie Eva-Lotta"
)
MALE = _names(
    "Albin Alistair Anders Anselm Arturo August Bastian Benedikt Bruno Casimir Cedric Conrad Cyril Dario Desmond "
    "Edmund Emil Ernesto Fabian Felix Ferdinand Gideon Gregor Gustav Hector Hugo Ignacio Ivo Jasper Joaquin Julius "
    "Kasper Lambert Leopold Lorenz Lucian Magnus Mateus Milos Nestor Oskar Otto Pascal Percival Rafael Reuben Rolf "
    "Rufus Samir Stellan Tadeusz Theodor Tobias Umberto Viktor Walter Wendell Yannick Zoltan Jean-Paul Karl-Heinz"
)
SURNAMES = _names(
    "Abernathy Aldous Ambrosi Anselmi Arkwell Ashgrove Averill Balcombe Bellweather Bergdahl Birkenau Bracewell "
    "Brandvik Brennecke Calloway Cardozo-Lint Castellane Chalmont Corvino Crowhurst Dahlgaard Darrow Delacroix-Hume "
    "Delmonte Dravic Dunmore Eastlake Egerton Ekholm Ellingsen Esterhaz Falkner Farrant Fenwright Ferrand Fontaine "
    "Forsgren Galbraith Garrick Gavrilo Grantley Grimaldo Haldane Halloran Harrow Hartwig Havelock Hazlitt Hellgren "
    "Holloway Hovland Ibarra Ingersoll Iversen Jankowicz Jardine Kallio Kaspersen Keating Kessler Kirchwald Kolstad "
    "Kovalik Lachance Langmoor Larkfield Lindauer Lockridge Lund Maddox Malinov Marchetti Marlowe Mendel Merriweather "
    "Montclair Morvan Nakagura Nandor Nordahl Novotna O'Dell O'Rourke Okonedo Oldcastle Orlov Ostrander Pallister "
    "Pemberton Penhallow Peralta Petrossian Quillan Radcliffe-Moore Ravenel Rennick Ridgeway Rostrup Sandoval "
    "Savarin Selwyn Serrano Solberg Standish Sterling Strand Szalai Tavener Terrano Thackeray-Wells Thorvald Tolland "
    "Tressler Underhay Valcourt van_der_Meulen Vandermark Varga Veldkamp Vesterby Villaverde von_Rahden Wainwright "
    "Wexley Whitlock Winterbourne Wolcott Yarrow Yoshimura Zeller Zielinski"
)

CITIES = _titles(
    "Brelin;Harrow;Nyhaven;Castrovane;Port Almira;Saint-Orsan;Velden Falls;San Tovito;Marlow Bay;Kestrel Point;"
    "Oldmere;Tarnholm;Vassby;Lindenau;Grauberg;Westerlund;Ostrava Vale;Montreval;Fairhollow;Ashby-on-Tarn;Cold Spring;"
    "Dunmarrow;Eskilby;Fjordane;Novy Hradek;Praskovia;Solenza;Torrevento;Ulmstadt;Villa Serena;Wolfsdorf;Ystra;"
    "Zamorra;Belle Rive;Corvalle;Drakensund;Elverton;Quarrytown;Rosskeen;Silvermouth;St. Alban's Cross;Tiverley;"
    "Upper Larch;Varenne-sur-Aube;Whitcastle;Pinewater;Monte Claro;Kalinsk;Hallowgate;Glenmorrow"
)
COUNTRIES = _titles(
    "Valdoria;Kestrania;Ombria;Norrland;Tamsk;Belcarra;East Marrenia;West Marrenia;Sarvonia;Costa Lirena;"
    "Lower Savany;Ruthania"
)
LATE_CITIES = _titles(
    "Aldenfoss;Brightwater;Carrowmoor;Dalsbruk;Esperanza del Mar;Fort Ellison;Guldhamn;Highfen;Isle Verity;Jarnvik"
)

COMPANY_ROOTS = _names(
    "Quorra Lumenia Alder-Voss Northgate Brightwell Caldera Meridian Halcyon Tessera Vantor Orbis Kestrel Ironbridge "
    "Bluefin Solace Greywater Marchbank Pinnacle Torrent Cobalt Evermore Fairlight Hearthstone Juniper Lanternfish "
    "Monarda Nimbus Oakhurst Palisade Redfern Sablewood Silverline Stonebrook Sundial Thornbury Umbra Vireo Westmark "
    "Yellowtail Zephyra Aquilon Borealund Corvid Deltaworks Eskelin-Lund Foxglove Gannet Harbinger Inverna Kittiwake"
)
COMPANY_KINDS = _titles(
    "Systems;Freight;Pharmaceuticals;Energy;Foods;Airlines;Textiles;Motors;Robotics;Insurance;Telecom;Shipping;Steel;"
    "Software;Breweries;Capital;Optics;Ceramics;Paper Mills;Instruments"
)
PUBLISHER_KINDS = ("Press", "Books", "House", "& Co.", "Editions")
BAND_NAMES = _titles(
    "The Paper Lanterns;Glass Harbour;Moraine;The Tin Orchard;Velvet Almanac;Northern Static;Salt & Iron;Ghost Ferry;"
    "The Low Tides;Copperhead Choir;Marigold Drive;Sleeper Car;The Winter Sparrows;Kingfisher;Half Moon Parade;"
    "Hotel Meridian;The Brass Weather;Tender Machines"
)
PARTY_NAMES = _titles(
    "Civic Union;Green Coalition;Labour and Justice Party;Farmers' League;Liberal Forum;Conservative Alliance;"
    "New Dawn Movement;Reform Bloc;National Accord;People's Platform"
)

BOOK_TITLES = _titles(
    "The Salt Garden;A Winter Among Strangers;Letters from {city};The Cartographer's Daughter;Ashes of the Orchard;"
    "Nine Rivers;The Quiet Parliament;Small Hours;What the Tide Left;The Glassblower's Apprentice;Sons of {city};"
    "An Atlas of Lost Roads;The Last Lamplighter;Bread and Thunder;House of Echoes;Unspoken;The Weight of Snow;"
    "A Brief History of Silence;Orphans of the North;The Beekeeper's Ledger;Crossing the Marsh;Wolves at Noon;"
    "The Thirteenth Bell;Paper Kingdoms;Under the Copper Sky;The Clockmaker of {city};Fables for the Drowned;"
    "Rust;The Sparrow Code;A House Without Doors;Eleven Days in {city};The Long Harvest;Northbound;Milk and Ink;"
    "Everything We Buried;The Algebra of Grief;Lanterns for the Dead;The Ferryman's Almanac;"
    "Honour Among Thieves, Mostly;"
    "Field Notes on Mercy;The Blue Notary;Three Widows;The Archivist;Winter Wheat;No Country for Saints;Harvest Moon;"
    "The Cold Estuary;Saffron Road;My Father's Maps;A Perfect Stranger, Twice;The Understudy;Salt, Smoke, Stone;"
    "Daughters of Iron;The Hollow Crown of {city};Midsummer Debts;The Silent Orchard;Birds of Passage;Ink;"
    "The Lodger of Vine Street;"
    "A Season of Locusts;The Apothecary's Map;Seven Bridges;Marrow;The Distance Between Bells;After the Carnival;"
    "The Violet Hour;Stone Fruit;Low Water;The Kingmaker's Wife;Ordinary Miracles;The Night Gardener;Half a Lifetime"
)
FILM_TITLES = _titles(
    "Midnight at Pier Nine;The Long Corridor;Ember;Sunday's Children;A Town Called Mercy;The Velvet Trap;"
    "Northern Lights;Two Trains to {city};The Informer's Waltz;Paper Moon Over {city};Silent Running Water;"
    "The Understated Mr. Finch;Blackbird, Blackbird;Hotel Splendide;The Last Reel;Iron Summer;Falling Slowly Upward;"
    "Goodnight, {city};The Widow's Gambit;Cold Harbour;Static;The Painted Door;Escape from Winter;Seven Keys;"
    "The Boy Who Sold the Rain;Love in the Margins;Dust and Honey;The Witness Box;Undertow;A Quiet Place to Land;"
    "The Great Debenham;Riverside Drive;Snow Blind;The Borrowed Suit;Dead Reckoning Day;A Carousel for Mara;"
    "Summer of the Fox;"
    "The Ninth Floor;Harbour Lights;The Astronomer's Wife;Rendezvous;Lost Luggage;The Red Umbrella;Daybreak;Moonfall"
)
MUSIC_TITLES = _titles(
    "Symphony for a Drowned City;The Heron Suite;Nocturne in Grey;Requiem for {city};Five Winter Songs;Aurora;"
    "The Shepherd King;Variations on a Rope;Harvest Cantata;Lullaby for Engines;The Glass Bell;Concerto for Two Rivers;"
    "Elegy, Op. 14;Sonata No. 3;The Winter Queen;Rain Études;Missa Solaris;Carnival of Ghosts;The Snow Maiden's Lament;"
    "Dances from {city};Hymn to the Harbour;Fanfare for the Late Arrivals;Ophelia's Garden;String Quartet No. 2;"
    "Ballad of the Lighthouse;The Tin Soldier Overture;Meridian Suite;Prelude to Thaw;Psalms of the Fen;Night Music;"
    "The Miller's Opera;Toccata for Rain"
)
BUILDING_KINDS = _titles(
    "{city} Concert Hall;{city} Central Library;{city} Opera House;{surname} Tower;{surname} Pavilion;"
    "Museum of {city};{city} Town Hall;{surname} Bridge;St. {first}'s Chapel;{surname} Arcade"
)
COLLEGE_KINDS = _titles(
    "University of {city};{city} Polytechnic;{surname} College;{city} School of Economics;{surname} Institute;"
    "{city} Conservatory"
)
CLUB_KINDS = _titles(
    "FC {city};{city} Rovers;{city} United;{city} Athletic;Sporting {city};{city} Wanderers"
)

MONTHS = _names(
    "January February March April May June July August September October November December"
)

# Names that no world has, made of a beginning and an end; the types are those of the demo's
# triples.
NEW_BEGINNINGS = _names(
    "Al Bran Cal Dor El Fen Gar Hol Ist Jor Kel Lor Mar Nor Os Pel Quen Rav Sel Tor Ul Var Wen Yor Zel"
)
NEW_CITY_ENDS = _names("by ford haven holm mouth stad vik wick dale burg minster field more pool")
NEW_SURNAME_ENDS = _names("sen mann ley ov ini aga berg dahl wright son")
NEW_TITLES = tuple(
    f"The {kind} {thing}"
    for kind in _names("Crimson Hidden Broken Golden Empty Distant Bitter Gentle")
    for thing in _names("Valley Compass Ledger Window Promise Island Voyage Candle")
)
