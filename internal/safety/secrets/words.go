package secrets

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// words finds many words in a text, whatever the case of ASCII letters. The first
// short texts are looked through with the words by their last bytes; for more text
// than that it pays to build an automaton.
type words struct {
	list  []string
	short func() *endings
	table func() *automaton
	seen  atomic.Int64 // bytes that were looked through
}

// worthTable is for how much text the automaton is built: a process that judges one
// call of a client sees less.
const worthTable = 32 << 10

// newWords gives nil if the words need more states than a table of this kind should
// have.
func newWords(list []string) *words {
	total := 1
	for _, word := range list {
		total += len(word)
	}
	if total > maxStates {
		return nil
	}
	return &words{
		list:  list,
		short: sync.OnceValue(func() *endings { return newEndings(list) }),
		table: sync.OnceValue(func() *automaton { return newAutomaton(list) }),
	}
}

// each calls hit for every word in the text, with the place behind it, in the
// order of these places, until hit says no.
func (w *words) each(text string, hit func(word, end int) bool) {
	if w.pays(text) {
		w.table().each(text, hit)
		return
	}
	w.short().each(text, hit)
}

// pays: there was so much text by now that the automaton is faster.
func (w *words) pays(text string) bool {
	return w.seen.Load() > worthTable || w.seen.Add(int64(len(text))) > worthTable
}

// endings has words by their last two bytes, small letters, the longest first.
type endings struct {
	list []string
	by   map[[2]byte][]int32
	one  [256][]int32 // those of one byte
	last [256]bool
}

func newEndings(list []string) *endings {
	e := &endings{list: list, by: make(map[[2]byte][]int32, len(list))}
	for i, word := range list {
		n := len(word)
		if n == 0 {
			continue
		}
		c := lower(word[n-1])
		e.last[c] = true
		if n == 1 {
			e.one[c] = append(e.one[c], int32(i))
			continue
		}
		key := [2]byte{lower(word[n-2]), c}
		e.by[key] = append(e.by[key], int32(i))
	}
	for _, same := range e.by {
		slices.SortStableFunc(same, func(a, b int32) int { return cmp.Compare(len(list[b]), len(list[a])) })
	}
	return e
}

func (e *endings) each(text string, hit func(word, end int) bool) {
	for i := range len(text) {
		c := lower(text[i])
		if !e.last[c] {
			continue
		}
		if i > 0 {
			for _, word := range e.by[[2]byte{lower(text[i-1]), c}] {
				begin := i + 1 - len(e.list[word])
				if begin >= 0 && sameFolded(e.list[word], text[begin:i+1]) && !hit(int(word), i+1) {
					return
				}
			}
		}
		for _, word := range e.one[c] {
			if !hit(int(word), i+1) {
				return
			}
		}
	}
}

func sameFolded(a, b string) bool {
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// automaton is one of Aho and Corasick, as a table: one pass over a text finds all
// words. It is not changed once it is built.
type automaton struct {
	class [256]uint8 // bytes that no word has are one class
	width int
	shift uint     // a row of next has room for 1<<shift classes
	next  []uint16 // state<<shift+class; the top bit says that a word ends there
	ends  [][]int32
}

const (
	endsHere  = 1 << 15
	maxStates = endsHere - 1
)

func newAutomaton(list []string) *automaton {
	w := &automaton{width: 1}
	total := 1
	for _, word := range list {
		total += len(word)
		for j := range len(word) {
			c := lower(word[j])
			if w.class[c] != 0 {
				continue
			}
			w.class[c] = uint8(w.width)
			if c >= 'a' && c <= 'z' {
				w.class[c-'a'+'A'] = uint8(w.width)
			}
			w.width++
		}
	}
	for 1<<w.shift < w.width {
		w.shift++
	}
	row := 1 << w.shift
	w.next = make([]uint16, row, row*total/2)
	ends := make([][]int32, 1, total/2)
	for i, word := range list {
		state := 0
		for j := range len(word) {
			at := state<<w.shift + int(w.class[word[j]])
			if w.next[at] == 0 {
				w.next[at] = uint16(len(ends))
				w.next = append(w.next, make([]uint16, row)...)
				ends = append(ends, nil)
			}
			state = int(w.next[at])
		}
		if state != 0 {
			ends[state] = append(ends[state], int32(i))
		}
	}
	w.link(ends)
	return w
}

// link turns the tree of words into an automaton that never goes back.
func (w *automaton) link(ends [][]int32) {
	fail := make([]uint16, len(ends))
	queue := make([]uint16, 0, len(ends))
	for c := range w.width {
		if s := w.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}
	for i := 0; i < len(queue); i++ {
		s := int(queue[i])
		ends[s] = append(ends[s], ends[fail[s]]...)
		for c := range w.width {
			at, other := s<<w.shift+c, w.next[int(fail[s])<<w.shift+c]
			if to := w.next[at]; to != 0 {
				fail[to] = other
				queue = append(queue, to)
			} else {
				w.next[at] = other
			}
		}
	}
	w.ends = ends
	for i, s := range w.next {
		if len(ends[s]) > 0 {
			w.next[i] = s | endsHere
		}
	}
}

func (w *automaton) each(text string, hit func(word, end int) bool) {
	state, shift := 0, w.shift
	for i := 0; i < len(text); i++ {
		s := w.next[state<<shift+int(w.class[text[i]])]
		state = int(s &^ endsHere)
		if s&endsHere == 0 {
			continue
		}
		for _, word := range w.ends[state] {
			if !hit(int(word), i+1) {
				return
			}
		}
	}
}

// in reports whether any of the words is in the text.
func (w *words) in(text string) bool {
	found := false
	w.each(text, func(int, int) bool { found = true; return false })
	return found
}

// begins reports whether the text begins with any of the words.
func (w *words) begins(text string) bool {
	found := false
	w.each(text, func(word, end int) bool {
		found = end == len(w.list[word])
		return !found
	})
	return found
}
