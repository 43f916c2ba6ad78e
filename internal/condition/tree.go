package condition

// What a node of the tree is.
type op int

const (
	opLiteral op = iota
	opName       // of the caller
	opLoopName
	opField
	opHas
	opList
	opMap // keys and values in turn
	opAnd
	opOr
	opNot
	opNegate
	opIf
	opEqual // from here on in the order of operator
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opIn
	opAdd
	opSubtract
	opMultiply
	opDivide
	opRemainder
	opIndex
	opCall // of a function that is looked up: one of those below
	opSize
	opContains
	opStartsWith
	opEndsWith
	opMatches
	opConvert
	opAll // range, and what is said of each
	opExists
	opExistsOne
	opFilter
	opMapEach
)

type node struct {
	op     op
	at     int
	depth  int
	name   string // of a name, a field or a function
	member bool   // of a call: the first of args stands before the dot
	args   []*node
	value  any    // of a literal; what is known of the right side of in and matches
	slot   int    // of a loop, and of its name
	from   string // of a conversion: the types that it is from, if not all
}
