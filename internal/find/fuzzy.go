package find

// gramIndex finds words that are spelt alike by the three-letter pieces they
// share with a word.
func gramIndex(vocab []string) map[string][]int32 {
	out := map[string][]int32{}
	for id, w := range vocab {
		for _, g := range grams(w) {
			if list := out[g]; len(list) == 0 || list[len(list)-1] != int32(id) {
				out[g] = append(list, int32(id))
			}
		}
	}
	return out
}

// minFuzzy is the shortest word that is compared by spelling: short words are
// too close to each other.
const minFuzzy = 5

func grams(word string) []string {
	if len(word) < minFuzzy || len(word) > maxToken {
		return nil
	}
	padded := "^" + word + "$"
	out := make([]string, 0, len(padded)-2)
	for i := 0; i+3 <= len(padded); i++ {
		out = append(out, padded[i:i+3])
	}
	return out
}

// likeness is a known word and how much it looks like another, from 0 to 1.
type likeness struct {
	term   int32
	weight float32
}

// alike gives the known words spelt most like this one, with how alike from 0 to 1.
func (x *Index) alike(word string) []likeness {
	pieces := grams(word)
	if len(pieces) == 0 {
		return nil
	}
	shared := map[int32]int{}
	for _, g := range pieces {
		list := x.grams[g]
		if len(list) > maxGramList {
			continue // a piece of everything says nothing
		}
		for _, id := range list {
			shared[id]++
		}
	}
	var best []likeness
	for id, n := range shared {
		like := 2 * float32(n) / float32(len(pieces)+len(x.vocab[id]))
		if like < minAlike {
			continue
		}
		at := len(best)
		for at > 0 && (best[at-1].weight < like || best[at-1].weight == like && best[at-1].term > id) {
			at--
		}
		best = append(best, likeness{})
		copy(best[at+1:], best[at:])
		best[at] = likeness{id, like}
		if len(best) > maxAlike {
			best = best[:maxAlike]
		}
	}
	return best
}

const (
	minAlike    = 0.6
	maxAlike    = 3
	maxGramList = 2000
)

// segment cuts run-together names, such as socialsearch, into words that the
// documents or the lexicon know. A name that cannot be cut without rest stays.
func (b *builder) segment(parts []string) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p)
		if len(p) < 6 || !plain(p) || b.words[p] > 0 || b.x.stop[p] {
			continue
		}
		if _, known := b.x.lex.words[b.stem(p)]; known {
			continue
		}
		out = append(out, b.cut(p)...)
	}
	return out
}

// cut finds the cheapest way to write a name as known words; letters that are
// in no word cost more than any word.
func (b *builder) cut(name string) []string {
	const perWord, perLetter = 1.0, 2.0
	if len(name) > maxToken {
		return nil
	}
	cost := make([]float64, len(name)+1)
	from := make([]int, len(name)+1)
	for end := 1; end <= len(name); end++ {
		cost[end], from[end] = cost[end-1]+perLetter, end-1
		for start := max(0, end-14); start <= end-3; start++ {
			if b.isWord(name[start:end]) && cost[start]+perWord < cost[end] {
				cost[end], from[end] = cost[start]+perWord, start
			}
		}
	}
	var out []string
	covered := 0
	for end := len(name); end > 0; end = from[end] {
		if end-from[end] >= 3 {
			out = append(out, name[from[end]:end])
			covered += end - from[end]
		}
	}
	if covered*10 < len(name)*6 {
		return nil
	}
	return out
}

func (b *builder) isWord(w string) bool {
	if len(w) == 3 {
		_, ok := b.x.lex.words[w]
		return ok && b.words[w] > 0
	}
	if b.words[w] > 0 {
		return true
	}
	_, ok := b.x.lex.words[b.stem(w)]
	return ok
}

// meant gives the word of the lexicon that a misspelt stem stands for: one
// that a single letter makes, in a word that is long enough to be sure.
func (l *lexicon) meant(word string) string {
	if len(word) < minTypo-1 || len(word) > maxToken || !plain(word) {
		return ""
	}
	near := ""
	for _, form := range skipForms(word) {
		if w, ok := l.skips[form]; ok && (near == "" || w < near) {
			near = w
		}
	}
	return near
}

// minTypo is the shortest word that another may be a misspelling of.
const minTypo = 7

// skipForms are a word and the word with any one letter left out. Two words
// that are one letter apart have a form in common.
func skipForms(word string) []string {
	forms := make([]string, 1, len(word)+1)
	forms[0] = word
	for i := range len(word) {
		forms = append(forms, word[:i]+word[i+1:])
	}
	return forms
}

// skipped maps every form of the longer words of a lexicon to its word.
func skipped(words map[string][]relation) map[string]string {
	out := map[string]string{}
	for w := range words {
		if len(w) < minTypo || !plain(w) {
			continue
		}
		for _, f := range skipForms(w) {
			if have, ok := out[f]; !ok || w < have {
				out[f] = w
			}
		}
	}
	return out
}
