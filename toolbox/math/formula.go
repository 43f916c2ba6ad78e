package math

import (
	"math/big"
	"strings"
)

// formula is a closed form, written so that evaluate_expression can read it.
// The zero value means that there is none.
type formula struct {
	text string
	prec int
}

// How tightly the outermost operator of a formula binds.
const (
	precSum = iota + 1
	precProduct
	precPower
	precAtom
)

// maxFormula is the length from which a closed form helps nobody.
const maxFormula = 120

func (f formula) known() bool { return f.text != "" }

// bounded drops a formula that got too long.
func (f formula) bounded() formula {
	if len(f.text) > maxFormula {
		return formula{}
	}
	return f
}

// in puts parentheses around what binds less than prec.
func (f formula) in(prec int) string {
	if f.prec < prec {
		return "(" + f.text + ")"
	}
	return f.text
}

func ratFormula(r *big.Rat) formula {
	f := formula{r.RatString(), precAtom}
	if r.Sign() < 0 || !r.IsInt() {
		f.prec = precProduct
	}
	return f.bounded()
}

func addFormula(a, b formula) formula {
	switch {
	case !a.known() || !b.known():
		return formula{}
	case a.text == "0":
		return b
	case b.text == "0":
		return a
	case strings.HasPrefix(b.text, "-") && b.prec >= precProduct:
		return formula{a.text + " - " + b.text[1:], precSum}.bounded()
	}
	return formula{a.text + " + " + b.text, precSum}.bounded()
}

func negFormula(a formula) formula {
	switch {
	case !a.known():
		return a
	case strings.HasPrefix(a.text, "-") && a.prec == precProduct:
		prec := precProduct
		if !strings.ContainsAny(a.text, "*/") {
			prec = precAtom
		}
		return formula{a.text[1:], prec}
	}
	return formula{"-" + a.in(precProduct), precProduct}
}

func subFormula(a, b formula) formula {
	switch {
	case !a.known() || !b.known():
		return formula{}
	case b.text == "0":
		return a
	case a.text == "0":
		return negFormula(b)
	case strings.HasPrefix(b.text, "-"):
		return addFormula(a, negFormula(b))
	}
	return formula{a.text + " - " + b.in(precProduct), precSum}.bounded()
}

func mulFormula(a, b formula) formula {
	switch {
	case !a.known() || !b.known():
		return formula{}
	case a.text == "1":
		return b
	case b.text == "1":
		return a
	case a.text == "-1":
		return negFormula(b)
	}
	return formula{a.in(precProduct) + "*" + signed(b, precProduct), precProduct}.bounded()
}

func divFormula(a, b formula) formula {
	switch {
	case !a.known() || !b.known():
		return formula{}
	case b.text == "1":
		return a
	case b.text == "-1":
		return negFormula(a)
	}
	return formula{a.in(precProduct) + "/" + b.in(precPower), precProduct}.bounded()
}

// signed is in, with parentheses around a minus sign too.
func signed(f formula, prec int) string {
	if strings.HasPrefix(f.text, "-") {
		return "(" + f.text + ")"
	}
	return f.in(prec)
}

// powFormula is a**b; the power 1/2 is written as a root.
func powFormula(a, b formula) formula {
	switch {
	case !a.known() || !b.known():
		return formula{}
	case b.text == "1":
		return a
	case b.text == "1/2":
		return callFormula("sqrt", a)
	}
	return formula{a.in(precAtom) + "**" + b.in(precAtom), precPower}.bounded()
}

func callFormula(name string, args ...formula) formula {
	var parts []string
	for _, a := range args {
		if !a.known() {
			return formula{}
		}
		parts = append(parts, a.text)
	}
	return formula{name + "(" + strings.Join(parts, ", ") + ")", precAtom}.bounded()
}
