package condition

// function is what an operator or a function takes and gives. Each signature is
// the letters of its types, the result last; L is list(A) and M is map(A, B).
type function struct {
	op             op // of a function that has a name
	global, member string
}

const comparing = "bbb iib idb iub uub udb uib ddb dib dub ssb yyb ttb rrb"

// functionNamed knows all overloads of CEL, also those of types that are left
// out: which of them fit decides what type an expression has.
func functionNamed(name string) function {
	switch name {
	case "?:":
		return function{global: "bAAA"}
	case "!":
		return function{global: "bb"}
	case "==", "!=":
		return function{global: "AAb"}
	case "<", "<=", ">", ">=":
		return function{global: comparing}
	case "in":
		return function{global: "ALb AMb"}
	case "[]":
		return function{global: "LiA MAB"}
	case "+":
		return function{global: "yyy ddd rrr rtt trt iii LLL sss uuu"}
	case "-":
		return function{global: "ddd rrr iii trt ttr uuu dd ii"}
	case "*", "/":
		return function{global: "ddd iii uuu"}
	case "%":
		return function{global: "iii uuu"}
	case "size":
		return function{op: opSize, global: "yi Li Mi si", member: "yi Li Mi si"}
	case "contains":
		return function{op: opContains, member: "ssb"}
	case "startsWith":
		return function{op: opStartsWith, member: "ssb"}
	case "endsWith":
		return function{op: opEndsWith, member: "ssb"}
	case "matches":
		return function{op: opMatches, member: "ssb"}
	case "bool":
		return function{op: opConvert, global: "bb sb"}
	case "int":
		return function{op: opConvert, global: "ii di ri si ti ui"}
	case "uint":
		return function{op: opConvert, global: "uu du iu su"}
	case "double":
		return function{op: opConvert, global: "dd id sd ud"}
	case "string":
		return function{op: opConvert, global: "ss bs ys ds rs is ts us"}
	case "dyn":
		return function{op: opConvert, global: "A*"}
	}
	return function{}
}

// loopNamed gives what a macro does, and how many arguments it takes.
func loopNamed(name string, args int) op {
	if args == 3 && name == "map" {
		return opMapEach
	}
	if args != 2 {
		return 0
	}
	switch name {
	case "all":
		return opAll
	case "exists":
		return opExists
	case "exists_one":
		return opExistsOne
	case "filter":
		return opFilter
	case "map":
		return opMapEach
	}
	return 0
}

// leftOut says what of CEL a name is that is not here, and what to write instead.
func leftOut(name string) string {
	switch name {
	case "timestamp", "duration", "getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getHours", "getMinutes", "getSeconds", "getMilliseconds":
		return "times are left out: compare them as strings of one form, or as numbers"
	case "bytes":
		return "bytes are left out: use strings"
	case "type", "bool", "int", "uint", "double", "string", "list", "map", "null_type", "google":
		return "types as values are left out: compare the value itself, or convert it as in int(args.n)"
	case "optional", "cel", "math", "strings", "base64":
		return "extensions of CEL are left out"
	}
	return ""
}
