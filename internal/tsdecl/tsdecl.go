// Package tsdecl writes TypeScript declarations of tools from their JSON Schemas, for models that write programs. A type says in a
// tenth of the words what a schema says, and models have read more of it.
//
// A declaration may say less than the schema, never more: every value that the schema allows fits the type. What a type
// cannot say (limits, defaults, patterns) stands behind it in a comment, as far as there is room. What does not fit into the tokens that
// there are is left out step by step: first the comments of answers, then their inner parts, last the words about arguments.
//
// The invariant: whatever schemas, names and descriptions say, what comes out is a declaration that the TypeScript compiler takes,
// with nothing of theirs outside of comments, strings and quoted names. Everybody may import it; it knows no tool.
package tsdecl

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Tool is what a declaration is made of. The schemas may be nil: no arguments, and an answer of which nothing is known.
type Tool struct {
	Name, Description string
	Input, Output     json.RawMessage
}

// Bounds of what is read. Schemas come from strangers.
const (
	maxSchema = 256 << 10 // bytes
	maxNodes  = 8000      // schemas that are looked at for one declaration
	maxBytes  = 4 << 20   // of schemas that are taken apart for one declaration, each as often as it is met
	maxNested = 200       // levels of a JSON text
	maxDepth  = 24        // levels of types that are written inside each other
	maxEnum   = 40        // values that are listed
	maxLevel  = 9
)

// Declare gives the declarations of tools as one text, which the TypeScript compiler takes as a file. No declaration takes more
// than about so many tokens, if there is a shorter form of it; with zero each is whole, but for long descriptions, which are cut.
func Declare(tools []Tool, tokens int) string {
	return declare(tools, func(int) int { return tokens })
}

// DeclareWithin gives the declarations of tools, the most wanted first, within about so many tokens for all of them: each may take
// two fifths of what is left, so that the first ones say most.
func DeclareWithin(tools []Tool, tokens int) string {
	const least = 60 // of one tool, however many there are
	return declare(tools, func(spent int) int { return max(least, (tokens-spent)*2/5) })
}

func declare(tools []Tool, room func(spent int) int) string {
	names := &names{taken: map[string]bool{"tools": true}}
	var types, members strings.Builder
	seen := map[string]bool{}
	spent := 0
	for _, t := range tools {
		if seen[t.Name] {
			continue // it would be another form of the same function
		}
		seen[t.Name] = true
		d := one(t, room(spent), names)
		spent += find.Tokens(d.types + d.member)
		types.WriteString(d.types)
		members.WriteString(d.member)
	}
	if members.Len() == 0 {
		return ""
	}
	return types.String() + "declare const tools: {\n" + members.String() + "}\n"
}

// declaration is one tool's part: the types that have to have a name, and the member of the object of all tools.
type declaration struct{ types, member string }

// one finds the fullest form that is short enough.
func one(t Tool, tokens int, names *names) declaration {
	in, out := newRoot(t.Input), newRoot(t.Output)
	for level := 0; ; level++ {
		mine, room := names.fork(), math.MaxInt
		if tokens > 0 && level < maxLevel {
			room = tokens * mostPerToken
		}
		d, fits := write(t, in, out, level, room, mine)
		if fits && (tokens <= 0 || level == maxLevel || find.Tokens(d.types+d.member) <= tokens) {
			names.adopt(mine)
			return d
		}
	}
}

// mostPerToken is more bytes than a token ever stands for in a text of some length: what is longer need not be written to its end.
const mostPerToken = 8

// detail is how much of one side is told.
type detail struct {
	about int // characters of a comment about a property; 0: none
	depth int // levels of objects
	rules bool
	none  bool // nothing is told but that there is something
	props int  // properties of one object
	keys  int  // names that are told of an object that is not shown
}

// details are the steps from whole to short.
func details(level int) (tool int, input, output detail) {
	const many = 1 << 20
	whole := detail{about: 160, depth: maxDepth, rules: true, props: many, keys: 12}
	tool, input, output = 400, whole, whole
	switch output.about = 100; level {
	case 0:
	case 1:
		output = detail{about: 40, depth: maxDepth, props: many, keys: 12}
	case 2:
		output = detail{depth: 4, props: many, keys: 12}
	case 3:
		tool, output = 300, detail{depth: 2, props: many, keys: 24}
		input.about = 100
	case 4:
		tool, input, output = 200, detail{about: 60, depth: 6, rules: true, props: many, keys: 12}, detail{depth: 1, props: 40, keys: 40}
	case 5:
		tool, input, output = 160, detail{about: 40, depth: 4, rules: true, props: 60, keys: 12}, detail{depth: 1, props: 20, keys: 24}
	case 6:
		tool, input, output = 140, detail{about: 24, depth: 3, props: 40, keys: 12}, detail{depth: 1, props: 12, keys: 16}
	case 7:
		tool, input, output = 120, detail{depth: 2, props: 40}, detail{depth: 1, props: 6, keys: 16}
	case 8:
		tool, input, output = 120, detail{depth: 1, props: 24}, detail{depth: 1, props: 3, keys: 8}
	default:
		tool, input, output = 100, detail{depth: 1, props: 12}, detail{none: true}
	}
	return tool, input, output
}

// write gives one form of a declaration; fits is false if it was left off because it has no room.
func write(t Tool, input, output *root, level, room int, names *names) (d declaration, fits bool) {
	about, in, out := details(level)
	var types, member strings.Builder
	if words := comment(t.Description, about); words != "" {
		member.WriteString("// " + words + "\n")
	}
	member.WriteString(key(t.Name))
	arg := "()"
	if len(t.Input) > 0 {
		w := newWriter(input, in, room, names)
		arg = "(args" + mark(!w.needsOne()) + ": " + w.top() + ")"
		if w.takesNothing() {
			arg = "()"
		}
		types.WriteString(w.named())
		if room -= w.spent; w.over {
			return declaration{}, false
		}
	}
	answer := "any"
	if len(t.Output) > 0 && !out.none {
		w := newWriter(output, out, room, names)
		answer = w.top()
		types.WriteString(w.named())
		if w.over {
			return declaration{}, false
		}
		if words := w.hidden(w.root.text, answer); words != "" {
			answer += " // " + words
		}
	}
	member.WriteString(arg + ": " + answer + "\n")
	return declaration{types.String(), member.String()}, true
}

func mark(optional bool) string {
	if optional {
		return "?"
	}
	return ""
}

// names are those of types, each of which means one thing in a text.
type names struct{ taken map[string]bool }

func (n *names) fork() *names {
	c := map[string]bool{}
	for k := range n.taken {
		c[k] = true
	}
	return &names{c}
}

func (n *names) adopt(other *names) { n.taken = other.taken }

// reserve gives a free name that is like a wanted one.
func (n *names) reserve(want string) string {
	var b strings.Builder
	for _, r := range want {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' && b.Len() > 0 {
			b.WriteRune(r)
		}
	}
	base := b.String()
	switch {
	case base == "" || base[0] == '_':
		base = "T" + base
	case base[0] >= 'a':
		base = string(base[0]-'a'+'A') + base[1:] // no type of the language begins so
	}
	if len(base) > 60 {
		base = base[:60]
	}
	name := base
	for i := 2; n.taken[name] || slices.Contains(builtin(), name); i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	n.taken[name] = true
	return name
}

// builtin are types that mean something already where we use them.
func builtin() []string { return []string{"Record", "Promise", "Array", "Object", "String", "Number"} }

// key writes a name as that of a member.
func key(name string) string {
	plain := name != "" && name != "new" // which would be a constructor
	for i := range len(name) {
		c := name[i]
		if c != '_' && c != '$' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9' || i == 0) {
			plain = false
		}
	}
	if plain {
		return name
	}
	return quote(name)
}

// quote writes a string in which everything can be seen.
func quote(s string) string {
	return text.Escape(text.ShowJSON(string(jsontext.Quote(s))), text.Blank, func(r rune) string {
		return `\u` + strconv.FormatInt(int64(r)+0x10000, 16)[1:]
	})
}

// comment makes one line of words that ends where the line ends.
func comment(words string, most int) string {
	if most <= 0 {
		return ""
	}
	words = strings.Join(strings.Fields(strings.ToValidUTF8(words, "\uFFFD")), " ")
	words = text.ShowLine(text.ClipSentence(words, most))
	return strings.TrimRight(strings.ReplaceAll(words, "*/", "* /"), "\\ ")
}
