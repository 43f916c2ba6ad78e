package secrets

// words finds many words in a text in one pass over it, whatever the case of
// ASCII letters: an Aho-Corasick automaton as a table. It is not changed once
// it is built.
type words struct {
	class [256]uint8 // bytes that no word has are one class
	width int
	shift uint     // a row of next has room for 1<<shift classes
	next  []uint16 // state<<shift+class; the top bit says that a word ends there
	ends  [][]int32
	size  []int32 // of each word
}

const (
	endsHere  = 1 << 15
	maxStates = endsHere - 1
)

// newWords builds the automaton. It gives nil if the words need more states
// than a table of this kind should have.
func newWords(list []string) *words {
	w := &words{width: 1, size: make([]int32, len(list))}
	total := 1
	for i, word := range list {
		w.size[i] = int32(len(word))
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
	if total > maxStates {
		return nil
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
func (w *words) link(ends [][]int32) {
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

// each calls hit for every word in the text, with the place behind it, in the
// order of these places, until hit says no.
func (w *words) each(text string, hit func(word, end int) bool) {
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
		found = end == int(w.size[word])
		return !found
	})
	return found
}
