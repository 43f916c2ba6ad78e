package finder

import (
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/find"
)

// maxIndexes bounds how many sets of tools are kept ready. Callers see few
// different sets: one for each profile and dialect.
const maxIndexes = 8

// indexes keeps the ready indexes by the set of tools they rank.
type indexes struct {
	lang *find.Index // an empty index, for the words all share
	seed maphash.Seed

	mu       sync.Mutex
	kept     []*ready    // latest used first
	memories []*remember // likewise
}

// remember is an index with what was learned under a name.
type remember struct {
	index  *find.Index
	name   string
	memory *find.Memory
}

// ready is an index, or one being built.
type ready struct {
	key   uint64
	count int
	once  sync.Once
	index *find.Index
}

func newIndexes(lang *find.Index) *indexes {
	return &indexes{lang: lang, seed: maphash.MakeSeed()}
}

// of gives the index of these tools; its documents are their places in specs.
// Two sets that were taken for one would rank badly and show nothing wrong,
// because what is shown comes from specs.
func (x *indexes) of(specs []toolcrib.Entry) *find.Index {
	key := x.fingerprint(specs)
	x.mu.Lock()
	at := slices.IndexFunc(x.kept, func(r *ready) bool { return r.key == key && r.count == len(specs) })
	var r *ready
	if at >= 0 {
		r = x.kept[at]
		x.kept = slices.Delete(x.kept, at, at+1)
	} else {
		r = &ready{key: key, count: len(specs)}
	}
	x.kept = slices.Insert(x.kept, 0, r)
	x.kept = x.kept[:min(len(x.kept), maxIndexes)]
	x.mu.Unlock()
	r.once.Do(func() { r.index = x.lang.Of(documents(specs)) })
	return r.index
}

// memoryOf gives an index with what past searches led to among its tools. A tool
// that is not among them is left out, so that nothing leads to it.
func (x *indexes) memoryOf(index *find.Index, name string, specs []toolcrib.Entry, uses func() []Use) *find.Memory {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := slices.IndexFunc(x.memories, func(r *remember) bool { return r.index == index && r.name == name })
	r := &remember{index: index, name: name}
	if at >= 0 {
		r = x.memories[at]
		x.memories = slices.Delete(x.memories, at, at+1)
	} else {
		r.memory = index.Remember(past(specs, uses()))
	}
	x.memories = slices.Insert(x.memories, 0, r)
	x.memories = x.memories[:min(len(x.memories), maxIndexes)]
	return r.memory
}

// past says of uses which places of specs they are of.
func past(specs []toolcrib.Entry, uses []Use) []find.Use {
	places := make(map[[2]string]int, len(specs))
	for i := range specs {
		places[[2]string{specs[i].Box, specs[i].Native}] = i
	}
	var out []find.Use
	for _, u := range uses {
		if i, ok := places[[2]string{u.Box, u.Native}]; ok {
			out = append(out, find.Use{Query: u.Query, Doc: i, Times: u.Times})
		}
	}
	return out
}

// fingerprint tells sets of tools apart by everything that is indexed.
func (x *indexes) fingerprint(specs []toolcrib.Entry) uint64 {
	var h maphash.Hash
	h.SetSeed(x.seed)
	var size [8]byte
	for i := range specs {
		s := &specs[i]
		for _, text := range []string{s.Name, s.Title, s.Description, s.Box} {
			binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
			_, _ = h.Write(size[:]) // never fails, nor does the next
			_, _ = h.WriteString(text)
		}
		binary.LittleEndian.PutUint64(size[:], uint64(len(s.Input)))
		_, _ = h.Write(size[:])
		_, _ = h.Write(s.Input)
	}
	return h.Sum64()
}

// Rank finds the tools that have to do with a text, the best first.
func Rank(specs []toolcrib.Entry, uses []Use, query string, limit int) []find.Hit {
	return find.New(documents(specs)).Remember(past(specs, uses)).Search(query, limit)
}

// doc is what there is to search in a tool's contract.
func doc(s toolcrib.Entry) find.Doc {
	return find.Doc{Name: s.Name, Title: s.Title, Description: s.Description, Box: s.Box, Params: params(s.Input)}
}

func documents(specs []toolcrib.Entry) []find.Doc {
	docs := make([]find.Doc, len(specs))
	for i, s := range specs {
		docs[i] = doc(s)
	}
	return docs
}

// property is what is read of an argument's schema; the rest may be anything.
type property struct {
	Type        json.RawMessage `json:"type"`
	Description json.RawMessage `json:"description"`
	AnyOf       json.RawMessage `json:"anyOf"`
}

// inputSchema is what is read of a contract's input.
type inputSchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// readInput is lenient: a schema from elsewhere that it cannot read has no
// arguments to show, and the call itself is judged by the whole schema.
func readInput(input json.RawMessage) inputSchema {
	var s inputSchema
	if len(input) == 0 || json.Unmarshal(input, &s) != nil {
		return inputSchema{}
	}
	return s
}

func (p *property) describe() string {
	var text string
	if json.Unmarshal(p.Description, &text) != nil {
		return ""
	}
	return text
}

func params(input json.RawMessage) []find.Param {
	props := readInput(input).Properties
	var out []find.Param
	for _, name := range slices.Sorted(maps.Keys(props)) {
		out = append(out, find.Param{Name: name, Description: readProperty(props[name]).describe()})
	}
	return out
}

// readProperty reads what it can: true is a schema too.
func readProperty(text json.RawMessage) *property {
	var p property
	if json.Unmarshal(text, &p) != nil {
		return &property{}
	}
	return &p
}
