package find

// weights are the numbers of the ranking. They are global: no word and no tool
// has one of its own. They were chosen by trying variations against half of a
// public set of queries and then moved to where the committed set and eleven
// other public ones did well too, of real MCP servers, of thousands of web
// interfaces and of functions; see BenchmarkMetaTool and TestRecall.
type weights struct {
	field     [fieldCount]float64 // how much a word counts, by where it stands
	b, k1     float64             // BM25: length normalisation and saturation
	idea      float64             // a concept in common, against a word in common
	sure      float64             // the score by words alone at which concepts count half
	ideaK1    float64             // saturation of concepts
	ambiguity float64             // how much less a word of many concepts says of each
	pair      float64             // two words in a row in common
	soft      float64             // words of asking, in queries
	softIdea  float64             // and what they tell of a document's concepts
	repeat    float64             // further mentions in a query
	gloss     float64             // the English for a word of a document in another language
	otherDeed float32             // a tool that does another thing than is wanted
	slip      float64             // a word of the query that is merely misspelt
	named     float64             // the query says the tool's name
	home      float64             // the query says the name of the tool's server
	homeWord  float64             // and that name is an everyday word
	used      float32             // a word of past queries in common, against one of the document
	usedAgain float32             // every further time that the same query led there
	covered   float64             // how much it matters which share of the query they cover
	softUse   float64             // words of asking, in past queries
	needWords float64             // the length of a query up to which its needs count as much as the whole
}

func defaults() weights {
	return weights{
		field: [fieldCount]float64{inName: 3, inTitle: 1.5, inText: 1, inParams: 0.5, inPlace: 1.2},
		b:     0.5, k1: 1,
		idea: 1.6, sure: 10, ideaK1: 5, ambiguity: 0.32,
		pair: 0.5, soft: 0.75, softIdea: 0.45, repeat: 0.5,
		named: 10, needWords: 25, slip: 0.8, otherDeed: 0.8, gloss: 0.5, home: 4, homeWord: 2,
		used: 0.6, usedAgain: 0.25, covered: 0.75, softUse: 0.3,
	}
}
