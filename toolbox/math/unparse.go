package math

// formulaOf writes a tree back as text; the zero formula if it is too long
// or holds something that has no value.
func formulaOf(n *node) formula {
	switch n.class {
	case classConstant:
		if n.lit == "" {
			return formula{}
		}
		return formula{n.lit, precAtom}.bounded()
	case className:
		return formula{n.name, precAtom}
	case classUnaryOp:
		switch f := formulaOf(n.kids[0]); n.op {
		case "USub":
			return negFormula(f)
		case "UAdd":
			return f
		}
	case classCall:
		args := make([]formula, len(n.kids))
		for i, k := range n.kids {
			args[i] = formulaOf(k)
		}
		return callFormula(n.name, args...)
	case classBinOp:
		a, b := formulaOf(n.kids[0]), formulaOf(n.kids[1])
		if !a.known() || !b.known() {
			return formula{}
		}
		switch n.op {
		case "Add":
			return addFormula(a, b)
		case "Sub":
			return subFormula(a, b)
		case "Mult":
			return mulFormula(a, b)
		case "Div":
			return divFormula(a, b)
		case "Pow":
			return powFormula(a, b)
		case "FloorDiv":
			return formula{a.in(precProduct) + "//" + b.in(precPower), precProduct}.bounded()
		case "Mod":
			return formula{a.in(precProduct) + "%" + b.in(precPower), precProduct}.bounded()
		}
	}
	return formula{}
}
