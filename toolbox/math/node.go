package math

import (
	"math/big"
	"strconv"
	"strings"
)

// node is a syntax tree node. class is the name of the matching class of
// Python's ast module.
type node struct {
	class string
	op    string  // BinOp, UnaryOp: class name of the operator
	name  string  // Name; Call: the function; Constant: Python type of the value
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

// numberNode makes a constant of a literal that the lexer accepted.
func numberNode(text string) *node {
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
		n.num, n.numErr = pyIntFloat(literalInt(lit))
	}
	return n
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
