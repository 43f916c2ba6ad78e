package find

import (
	"slices"
	"strings"
	"sync"
)

// Doc is what is known of a tool. Empty fields are fine.
type Doc struct {
	Name, Title, Description string
	Box, Server              string
	Params                   []Param
}

// Param is one argument of a tool.
type Param struct {
	Name, Description string
}

// Index holds documents ready to be searched. It never changes.
type Index struct {
	docs    int
	w       weights
	stop    map[string]bool
	soft    map[string]bool
	lex     *lexicon
	tongues *tongues
	deeds   map[string]deed      // what verbs do
	does    []deed               // by document
	kinds   map[string]string    // of files, by their endings
	terms   map[string]int32     // stem, or two stems with a space → list
	lists   [][]posting          // by term: documents, ascending
	ideas   [][]posting          // by concept: documents, ascending
	names   map[string][]posting // joined name → its documents, for a query that says it
	homes   map[string][]posting // joined name of a box or server → its documents, likewise
	spelt   *spelling            // the words of the documents, as they are written
	texts   []string             // what an Embedder sees of each document

	scratch sync.Pool // *scores
	vectors vectors
}

// posting is what a term or concept adds to a document's score.
type posting struct {
	doc   int32
	score float32
}

// New builds an index of docs, whose places in the slice name them in hits.
func New(docs []Doc) *Index {
	stop := stopWords()
	lang := &Index{w: defaults(), stop: stop, soft: softWords(), lex: newLexicon(lexiconText, stop), tongues: newTongues(), kinds: fileKinds(), deeds: deedWords()}
	return lang.Of(docs)
}

// Of builds an index of other docs. It shares what does not depend on them, so
// that many indexes take little more room than one.
func (x *Index) Of(docs []Doc) *Index {
	next := &Index{
		docs: len(docs), w: x.w, stop: x.stop, soft: x.soft, lex: x.lex, tongues: x.tongues, kinds: x.kinds, deeds: x.deeds,
		terms: map[string]int32{}, names: map[string][]posting{}, homes: map[string][]posting{},
	}
	b := builder{x: next, words: map[string]int{}, stems: map[string]string{}, glossed: map[int32]int{}}
	for i := range docs {
		b.known(&docs[i])
	}
	for i := range docs {
		b.add(&docs[i])
		next.does = append(next.does, next.deedOf(&docs[i]))
		name := joined(docs[i].Name)
		next.names[name] = append(next.names[name], posting{int32(i), 1})
		next.addHomes(&docs[i], int32(i))
		next.texts = append(next.texts, plainText(&docs[i]))
	}
	b.finish()
	return next
}

// addHomes lists a document under the box and the server it comes from.
func (x *Index) addHomes(d *Doc, doc int32) {
	box, server := homeName(d.Box), homeName(d.Server)
	if box != "" {
		x.homes[box] = append(x.homes[box], posting{doc, 1})
	}
	if server != "" && server != box {
		x.homes[server] = append(x.homes[server], posting{doc, 1})
	}
}

// homeName is what people call a server: github for github-mcp-server.
func homeName(name string) string {
	words := slices.DeleteFunc(tokens(name), func(w string) bool {
		switch w {
		case "mcp", "server", "servers", "service", "api", "tool", "tools", "box", "the":
			return true
		}
		return false
	})
	return strings.Join(words, "")
}

func plainText(d *Doc) string {
	parts := []string{strings.Join(nameParts(d.Name), " "), d.Title, d.Description}
	return strings.TrimSpace(strings.Join(parts, ". "))
}
