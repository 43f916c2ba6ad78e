package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// baseAddress is the name under which the full validator knows the schema. It cannot be resolved, and nothing tries to.
const baseAddress = "https://schema.invalid/root"

// The other compiler looks for every subschema among all others, and writes out its address each time. These bounds keep
// that within a second or so.
const (
	maxFullNodes    = 10_000  // keys and values of the schema
	maxFullPointers = 8 << 20 // bytes of the addresses of all its objects and arrays
)

// noLoader refuses to load anything: a schema is one text.
type noLoader struct{}

func (noLoader) Load(address string) (any, error) {
	return nil, errors.New("a schema must not refer to other documents")
}

// fullCompiler wraps the other validator's compiler for one schema.
type fullCompiler struct {
	c        *jsonschema.Compiler
	d        *Doc
	scales   *scales
	patterns int // the weight of all that were compiled
}

func newFullCompiler(d *Doc, draft int) (*fullCompiler, error) {
	if len(d.nodes) > maxFullNodes || d.pointers(0, 0) > maxFullPointers {
		return nil, &SchemaError{"", fmt.Sprintf("the schema is too large for the keywords that it uses: it has %d keys and values", len(d.nodes))}
	}
	if i, ok := d.extreme(); ok {
		return nil, &SchemaError{d.pointer(i), "the number " + show(d, i) + " is too large or too long to be reckoned with"}
	}
	f := &fullCompiler{c: jsonschema.NewCompiler(), d: d}
	f.scales = newScales(f)
	f.c.UseLoader(noLoader{})
	f.c.UseRegexpEngine(f.regexp)
	doc := value(d, 0)
	if draft < draft2019 {
		doc = oldDraft(doc)
	}
	err := guarded(func() error { return f.c.AddResource(baseAddress, doc) })
	if err != nil {
		return nil, f.explain(err)
	}
	return f, nil
}

// pointers adds up the lengths of the addresses of all objects and arrays at or below node i, whose own has length n.
func (d *Doc) pointers(i uint32, n int) int {
	sum := n
	switch d.nodes[i].kind {
	case Object:
		for _, k := range d.keys(i) {
			sum += d.pointers(k+1, n+1+len(d.str(k)))
		}
	case Array:
		for _, e := range (Node{d, i}).Elems() {
			sum += d.pointers(e.i, n+6)
		}
	default:
		return 0
	}
	return sum
}

func (f *fullCompiler) regexp(pattern string) (jsonschema.Regexp, error) {
	m, err := newMatcher(pattern)
	if err != nil {
		return nil, err
	}
	if f.patterns += m.weight; f.patterns > 4*maxPatterns { // the other compiler compiles a pattern more than once
		return nil, errors.New("the patterns of this schema are too large together")
	}
	return m, nil
}

// address names the subschema at node at.
func (f *fullCompiler) address(at uint32) string {
	var address strings.Builder
	address.WriteString(baseAddress + "#")
	if p := f.d.pointer(at); p != "" {
		for step := range strings.SplitSeq(p[1:], "/") {
			address.WriteString("/" + url.PathEscape(step))
		}
	}
	return address.String()
}

// compile compiles the subschema at node at, and makes what it takes to weigh values before they are judged by it.
func (f *fullCompiler) compile(at uint32) (s *jsonschema.Schema, load *burden, err error) {
	err = guarded(func() (err error) {
		s, err = f.c.Compile(f.address(at))
		return err
	})
	if err != nil {
		return nil, nil, f.explain(err)
	}
	if load, err = f.scales.take(s); err != nil {
		return nil, nil, err
	}
	return s, load, nil
}

// accepts says whether the subschema at node at accepts a document, and takes the cost from the steps that are left.
func (f *fullCompiler) accepts(d *Doc, at uint32, steps *int) (bool, error) {
	s, load, err := f.compile(at)
	if err != nil {
		return false, err
	}
	w := weighing{d: d, left: *steps}
	w.visit(load, 0)
	if *steps = w.left; w.left < 0 {
		return false, nil
	}
	if _, ok := d.extreme(); ok {
		return false, nil
	}
	return guarded(func() error { return s.Validate(value(d, 0)) }) == nil, nil
}

// guarded turns a panic of the other validator into an error: schemas and values come from strangers, and one of them
// must not take the process down.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(cut(fmt.Sprintf("the validator gave up: %v", p), maxMessage))
		}
	}()
	return do()
}

func (s *Schema) validateFull(d *Doc) []Problem {
	if i, ok := d.extreme(); ok {
		var path []byte
		for _, step := range d.steps(i) {
			path = appendStep(path, step)
		}
		return []Problem{{middle(string(path), maxPath), "type", "the number " + show(d, i) + " is too large or too long to be checked; send one of usual size"}}
	}
	if w := (weighing{d: d, left: fullBudget(d)}); !w.fits(s.load) {
		return tooComplex()
	}
	err := guarded(func() error { return s.full.Validate(value(d, 0)) })
	if err == nil {
		return nil
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return []Problem{{Rule: "schema", Message: cut(err.Error(), maxMessage)}}
	}
	flat := flattener{d: d, sd: s.doc}
	flat.walk(v)
	return flat.problems()
}
