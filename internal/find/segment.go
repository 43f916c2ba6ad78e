package find

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
