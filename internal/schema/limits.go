package schema

// Schemas and values come from strangers, and a short schema with a short value can ask for work without end: nested
// alternatives multiply. So everything that judges, writes or compiles spends from a budget, and what does not fit into it
// is refused. The bounds stand here together.

const (
	// maxProblems and maxReport bound a report, in problems and in bytes: a text of millions of wrong elements must not
	// become a report many times its size.
	maxProblems = 256
	maxReport   = 16 << 10
	// maxMessage and maxPath bound the parts of one problem.
	maxMessage = 1 << 10
	maxPath    = 512

	// maxSchema bounds the text of a schema: what walks its references recurses.
	maxSchema = 4 << 20

	// maxAddresses bounds the addresses that identifiers and references of a schema stand for, in bytes: each takes over the
	// one around it. maxHops bounds the elements that references to elements of lists pass over.
	maxAddresses = 4 << 20
	maxHops      = 50_000_000

	// maxPatterns bounds the patterns of a schema, in steps of the automatons that they unfold into.
	maxPatterns = 100_000
	// maxDivisor bounds the digits of multipleOf: for each digit of a value it is reckoned with once.
	maxDivisor = 1000

	// maxDefault bounds the text of one default and maxDefaults that of all. Defaults inside defaults can double at every
	// level, so a short schema could otherwise ask for any amount of memory.
	maxDefault  = 64 << 10
	maxDefaults = 4 << 20
	// defaultSteps is what judging all defaults of a schema may cost.
	defaultSteps = 5_000_000

	// maxGrowth is how much defaults and the like may add to a text: a million empty objects must not turn into gigabytes.
	maxGrowth = 16 << 20
)

// budget is how many steps judging a document is worth. A step is one rule asked about one value, some 10 to 50 ns; what
// takes longer (patterns, long numbers, lists of names and values) spends more of them. No honest schema comes near this.
func budget(d *Doc) int { return 1_000_000 + 50*len(d.nodes) + 8*len(d.text) }

// patience is how many steps are spent before what is found out is also remembered. Remembering makes the work polynomial
// where alternatives would multiply it, and costs more than it saves everywhere else.
func patience(d *Doc) int { return 1<<16 + 8*len(d.nodes) }

// maxMemory bounds what is remembered; when it is full it is emptied.
const maxMemory = 1 << 18

// tooComplex is the answer when the budget does not suffice.
func tooComplex() []Problem {
	return []Problem{{Rule: "schema", Message: "the value is too complex to check against this contract; send a simpler one"}}
}
