package shellguard

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// testShape judges test and [ about words that are not known. With two words or
// three, of which the operator is literal, it says what is looked at, whatever the
// others are; with more, a word could be taken for an operator.
func testShape(name string, args []Arg) string {
	if name == "[" {
		if len(args) == 0 || args[len(args)-1].Text != "]" || !args[len(args)-1].Literal {
			return "it has no closing ]"
		}
		args = args[:len(args)-1]
	}
	for _, a := range args {
		if a.computed == computedWords || a.Glob && !a.one {
			return "nobody knows how many words it is given"
		}
	}
	if len(args) > 2 && args[0].Literal && args[0].Text == "!" {
		args = args[1:]
	}
	switch {
	case len(args) == 1:
		return ""
	case len(args) == 2 && args[0].Literal && isOneOf(args[0].Text, "-b -c -d -e -f -g -h -k -L -n -p -r -s -S -u -w -x -z -O -G -N"):
		return ""
	case len(args) == 3 && args[1].Literal && slices.Contains([]string{"=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"}, args[1].Text):
		return ""
	}
	return "what it tests is not literal"
}

// testClause reads [[ … ]]. A plain shell takes it for a program of that name, so
// that nothing may stand in it which such a shell would run or write: the words of
// another command behind && begin with an operator, and there is no < or >.
func (r *plainReader) testClause(c *syntax.TestClause, st *plainState) { r.testExpr(c.X, st, true) }

func (r *plainReader) testExpr(x syntax.TestExpr, st *plainState, first bool) {
	switch x := x.(type) {
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			r.testExpr(x.X, st, false)
			return
		}
		if !isOneOf(x.Op.String(), "-b -c -d -e -f -g -h -k -L -n -p -r -s -S -u -w -x -z -O -G -N") {
			r.refuse("its test is not followed")
			return
		}
		word, ok := x.X.(*syntax.Word)
		if !ok {
			r.refuse("its test is not followed")
			return
		}
		r.textOf(word, st)
	case *syntax.BinaryTest:
		r.binaryTest(x, st, first)
	case *syntax.Word:
		if !first {
			r.refuse("its test is not followed")
		}
		r.textOf(x, st)
	default:
		r.refuse("its test is not followed")
	}
}

func (r *plainReader) binaryTest(x *syntax.BinaryTest, st *plainState, first bool) {
	left, okX := x.X.(*syntax.Word)
	right, okY := x.Y.(*syntax.Word)
	switch x.Op {
	case syntax.AndTest, syntax.OrTest:
		r.testExpr(x.X, st, first)
		r.testExpr(x.Y, st, false)
		return
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch, syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		if okX && okY && (!r.textOf(left, st).isNumber() || !r.textOf(right, st).isNumber()) {
			r.refuse("bash reads the numbers of its test as expressions")
			return
		}
	default:
		r.refuse("its test is not followed")
		return
	}
	if !okX || !okY || !first {
		r.refuse("its test is not followed")
		return
	}
	r.textOf(left, st)
	r.textOf(right, st)
}
