package math

import (
	"math/big"
	"strconv"
	"strings"
)

// node is a syntax tree node. class is the name of the matching class of
// Python's ast module: the error texts quote it. Constructs that can never
// be evaluated keep only what the parser itself needs to know about them.
type node struct {
	class string
	op    string  // BinOp, UnaryOp: class name of the operator
	name  string  // Name; Constant: Python type of the value
	fn    *node   // Call: what is called
	kids  []*node // operands, positional arguments or elements

	num    float64 // Constant of type int, float or bool
	numErr error   // why num cannot be had
	lit    string  // the literal's text without underscores
}

const (
	classConstant = "Constant"
	className     = "Name"
	classCall     = "Call"
	classBinOp    = "BinOp"
	classUnaryOp  = "UnaryOp"
)

// The most decimal digits CPython takes in a whole number.
const maxIntDigits = 4300

// numberNode makes a constant of a literal that the lexer accepted. The
// string is not empty if CPython refuses it as a syntax error.
func numberNode(text string) (*node, string) {
	lit := strings.ReplaceAll(text, "_", "")
	n := &node{class: classConstant, lit: lit}
	lower := strings.ToLower(lit)
	based := len(lower) > 1 && lower[0] == '0' && strings.IndexByte("xob", lower[1]) >= 0
	switch {
	case strings.HasSuffix(lower, "j"):
		n.name, n.lit = "complex", ""
	case !based && strings.ContainsAny(lower, ".e"):
		n.name = "float"
		// The only error is the range one, and then the infinity that
		// comes with it is Python's answer too.
		n.num, _ = strconv.ParseFloat(lit, 64)
	default:
		n.name = "int"
		if !based && len(lit) > maxIntDigits {
			return nil, tooManyDigits(len(lit))
		}
		i := literalInt(lit)
		n.num, n.numErr = pyIntFloat(i)
	}
	return n, ""
}

// literalInt reads a whole number literal. Leading zeros are only ever
// followed by zeros here, so base detection cannot mistake them.
func literalInt(lit string) *big.Int {
	i, ok := new(big.Int).SetString(lit, 0)
	if !ok {
		return new(big.Int)
	}
	return i
}

// exprName is what CPython calls a construct in its assignment complaints.
func exprName(n *node) string {
	switch n.class {
	case className:
		return "name"
	case classCall:
		return "function call"
	case "BoolOp", classBinOp, classUnaryOp:
		return "expression"
	case "GeneratorExp":
		return "generator expression"
	case "Yield", "YieldFrom":
		return "yield expression"
	case "Await":
		return "await expression"
	case "ListComp":
		return "list comprehension"
	case "SetComp":
		return "set comprehension"
	case "DictComp":
		return "dict comprehension"
	case "Dict":
		return "dict literal"
	case "Set":
		return "set display"
	case "JoinedStr":
		return "f-string expression"
	case "Compare":
		return "comparison"
	case "IfExp":
		return "conditional expression"
	case "NamedExpr":
		return "named expression"
	case classConstant:
		switch {
		case n.name == "ellipsis":
			return "ellipsis"
		case n.name == "NoneType":
			return "None"
		case n.name == "bool" && n.num == 1:
			return "True"
		case n.name == "bool":
			return "False"
		}
		return "literal"
	}
	return strings.ToLower(n.class)
}
