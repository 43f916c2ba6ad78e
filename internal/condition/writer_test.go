package condition

import "encoding/json"

// writer writes expressions, most of them with a meaning, and values for them.
// What it does next is chosen by choose, from 0 to n-1.
type writer struct {
	choose func(n int) int
	names  []string
	depth  int
}

func (w *writer) pick(list ...string) string { return list[w.choose(len(list))] }

func someStrings() []string {
	return []string{`""`, `'a'`, `"b"`, `'ab'`, `"src/a.go"`, `'1'`, `'-2'`, `'1.5'`, `'true'`, `r'\d+'`, `'''x'''`, `"\u00e9\n"`, `'^a.*b$'`, `'('`, `'(a|b)*'`, `'merge'`, `'bot'`, `'🙂'`, `"k"`, `'NaN'`, `'1e400'`, `"""a"b"""`, `'\x41\101\U0001F642'`}
}

func someNumbers() []string {
	return []string{"0", "1", "2", "-1", "7", "9007199254740993", "9223372036854775807", "-9223372036854775808", "0x1F", "0u", "1u", "2u", "18446744073709551615u", "9223372036854775808u", "0.0", "1.0", "1.5", "-2.5", "1e3", ".5", "1e308", "9007199254740992.0", "9223372036854775808.0", "18446744073709551616.0", "-0.0"}
}

// write writes an expression of a kind: of a bool, a number, a string, a list, a
// map or anything.
func (w *writer) write(kind byte) string {
	if w.choose(14) == 0 {
		kind = "bnslm*"[w.choose(6)]
	}
	w.depth++
	defer func() { w.depth-- }()
	leaf := w.depth > 6
	if leaf || w.choose(7) == 0 {
		if len(w.names) > 0 && w.choose(3) > 0 {
			return w.pick(w.names...)
		}
		if w.choose(3) == 0 {
			return "args." + w.pick("a", "b", "c", "d", "e", "f", "none", "`a`")
		}
	}
	if !leaf && w.choose(9) == 0 {
		switch w.choose(5) {
		case 0:
			return "(" + w.write('b') + " ? " + w.write(kind) + " : " + w.write(kind) + ")"
		case 1:
			return "dyn(" + w.write(kind) + ")"
		case 2:
			return w.write('l') + "[" + w.write('n') + "]"
		case 3:
			return w.write('m') + "[" + w.write('s') + "]"
		default:
			return w.write('m') + "." + w.pick("a", "b", "k", "size", "`k`", "for")
		}
	}
	switch kind {
	case 'b':
		return w.bool(leaf)
	case 'n':
		return w.number(leaf)
	case 's':
		return w.string(leaf)
	case 'l':
		return w.list(leaf)
	case 'm':
		switch {
		case leaf || w.choose(3) == 0:
			return w.pick("args", "caller", "{}", "{'a': 1}", "{1: 'a', 2u: 'b', true: 3}")
		case w.choose(2) == 0:
			return "{" + w.write('s') + ": " + w.write('*') + w.pick("", ",", ", 'k': 1", ", 1: 2, 1u: 3") + "}"
		}
		return "{" + w.write('n') + ": " + w.write('*') + w.pick("", ",", ", 1: 2, 1u: 3") + "}"
	}
	if leaf {
		return w.pick("null", "args.a", "args.b", "args.c")
	}
	return w.write("bnslm"[w.choose(5)])
}

func (w *writer) bool(leaf bool) string {
	if leaf {
		return w.pick("true", "false", "has(args.a)", "has(args.b.k)")
	}
	same := "bnsslmn*"[w.choose(8)]
	switch w.choose(17) {
	case 0, 1:
		return w.write(same) + w.pick(" == ", " != ") + w.write(same)
	case 2:
		return w.write('n') + w.pick(" < ", " <= ", " > ", " >= ") + w.write('n')
	case 3:
		return w.write(same) + w.pick(" < ", " <= ", " > ", " >= ") + w.write(same)
	case 4, 5:
		return "(" + w.write('b') + w.pick(" && ", " || ") + w.write('b') + w.pick(" && ", " || ") + w.write('b') + ")"
	case 6:
		return w.pick("!", "!!") + w.write('b')
	case 7:
		return w.write('*') + " in " + w.write('l')
	case 8:
		return w.write("ns"[w.choose(2)]) + " in " + w.write('m')
	case 9:
		return w.write('*') + " in [" + w.pick(someNumbers()...) + ", " + w.pick(append(someNumbers(), "'a'", "null", "dyn(2)", "int('2')")...) + "]"
	case 10:
		return "has(" + w.write('m') + "." + w.pick("a", "b", "k") + ")"
	case 11:
		return w.write('s') + "." + w.pick("contains", "startsWith", "endsWith", "matches") + "(" + w.write('s') + ")"
	case 12:
		return "matches(" + w.write('s') + ", " + w.write('s') + ")"
	case 13:
		return "bool(" + w.write("sb"[w.choose(2)]) + ")"
	}
	return w.loop(w.pick("all", "exists", "exists_one"))
}

func (w *writer) number(leaf bool) string {
	if leaf || w.choose(4) == 0 {
		return w.pick(someNumbers()...)
	}
	switch w.choose(6) {
	case 0, 1:
		return "(" + w.write('n') + " " + w.pick("+", "-", "*", "/", "%") + " " + w.write('n') + ")"
	case 2:
		return w.pick("-", "--", "- ") + w.write('n')
	case 3:
		return w.pick("int", "uint", "double") + "(" + w.write("ns"[w.choose(2)]) + ")"
	case 4:
		return "size(" + w.write("slm"[w.choose(3)]) + ")"
	}
	return w.write("slm"[w.choose(3)]) + ".size()"
}

func (w *writer) string(leaf bool) string {
	switch {
	case leaf || w.choose(3) == 0:
		return w.pick(append(someStrings(), "tool", "box", "path", "caller.agent", "caller.none")...)
	case w.choose(2) == 0:
		return "(" + w.write('s') + " + " + w.write('s') + ")"
	}
	return "string(" + w.write("bns*"[w.choose(4)]) + ")"
}

func (w *writer) list(leaf bool) string {
	switch {
	case leaf || w.choose(3) == 0:
		return w.pick("effects", "[]", "[1, 2.0, 3u]", "['a', 'b']", "[1, 'a', null, [2]]", "args.a", "args.b")
	case w.choose(4) == 0:
		return "(" + w.write('l') + " + " + w.write('l') + ")"
	case w.choose(2) == 0:
		return "[" + w.write('*') + ", " + w.write('*') + w.pick("", ",") + "]"
	}
	return w.loop(w.pick("filter", "map", "map"))
}

func (w *writer) loop(macro string) string {
	over := w.write("llm*"[w.choose(4)])
	name := w.pick("x", "y", "x", "args", "caller", "int", "size")
	w.names = append(w.names, name)
	defer func() { w.names = w.names[:len(w.names)-1] }()
	switch {
	case macro == "map" && w.choose(2) == 0:
		return over + ".map(" + name + ", " + w.write('b') + ", " + w.write('*') + ")"
	case macro == "map":
		return over + ".map(" + name + ", " + w.write('*') + ")"
	}
	return over + "." + macro + "(" + name + ", " + w.write('b') + ")"
}

func (w *writer) value() any {
	w.depth++
	defer func() { w.depth-- }()
	n := w.choose(12)
	if w.depth > 3 {
		n = min(n, 7)
	}
	switch n {
	case 0:
		return nil
	case 1:
		return w.choose(2) == 0
	case 2, 3:
		return json.Number(w.pick("0", "1", "2", "-1", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615", "-9223372036854775808", "31", "1000"))
	case 4:
		return json.Number(w.pick("0.0", "1.0", "1.5", "-2.5", "1e3", "9007199254740992.0", "9223372036854775808.0", "1e308", "-0.0", "2.0", "1e999"))
	case 5, 6, 7:
		return w.pick("", "a", "b", "ab", "src/a.go", "1", "-2", "1.5", "true", "x", "k", "🙂", "é\n", "merge")
	case 8, 9:
		list := []any{}
		for range w.choose(4) {
			list = append(list, w.value())
		}
		return list
	}
	out := map[string]any{}
	for range w.choose(3) {
		out[w.pick("a", "b", "k", "x", "")] = w.value()
	}
	return out
}

func (w *writer) args() string {
	args := map[string]any{}
	for _, k := range []string{"a", "b", "c", "d", "e", "f"} {
		if w.choose(10) > 0 {
			args[k] = w.value()
		}
	}
	out, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// spoil puts something odd into a text, or takes something out.
func (w *writer) spoil(text string) string {
	for range 1 + w.choose(2) {
		at := w.choose(len(text) + 1)
		end := min(len(text), at+w.choose(3))
		text = text[:at] + w.pick("", "", " ", "(", ")", "[", "]", "{", "}", ",", ".", ":", "?", "!", "-", "+", "*", "/", "%", "<", ">", "=", "==", "&&", "||", "'", `"`, `\`, "'''", "r", "b", "u", "e", "0", "1", "9", ".5", "0x", "in ", "x", "_", "`", "//", "\n", "\r", "\f", "\x00", "é", "\u2028", "true", "null", "args", "for", "has(", "size(", "dyn(", "int(", "\\u00e9", "\\8", "\\x4", "?:", " ? 1 : ", "[,]", "{,}", ".map(x, ", "@", "$", "#", ";") + text[end:]
	}
	return text
}
