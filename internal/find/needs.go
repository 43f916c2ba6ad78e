package find

import (
	"slices"
	"strings"
)

// maxNeeds bounds how many needs of one query are searched.
const maxNeeds = 6

// needsOf cuts a query that asks for several things ("book a flight and tell me
// the weather") into what it asks for. A query for one thing gives nothing. A
// sentence is a need of its own, and so is what stands behind "and" or a comma
// where that begins to ask anew; "restaurants and bars" is one thing.
func (x *Index) needsOf(query string) []string {
	query = query[:min(len(query), maxText)]
	var needs []string
	keep := func(text string) {
		if len(needs) < maxNeeds && x.saysEnough(text) {
			needs = append(needs, text)
		}
	}
	from := 0
	for i, r := range query {
		if i < from {
			continue
		}
		switch r {
		case '?', '!', ';', '\n', '。', '？', '！', '；':
			keep(query[from:i])
			from = i + len(string(r))
		case '.':
			if i+1 == len(query) || query[i+1] == ' ' || query[i+1] == '\n' {
				keep(query[from:i])
				from = i + 1
			}
		case ',', ' ':
			if n := asksAnew(query[i+1:], r == ','); n > 0 {
				keep(query[from:i])
				from = i + 1 + n
			}
		}
	}
	if len(needs) > 0 {
		keep(query[min(from, len(query)):])
	}
	if len(needs) < 2 {
		return nil
	}
	return needs
}

// saysEnough reports whether a piece of a query could be a need: it has a word
// that is neither a stop word nor one of asking.
func (x *Index) saysEnough(text string) bool {
	return slices.ContainsFunc(tokens(text), func(w string) bool { return !x.stop[w] && !x.soft[stem(w)] })
}

// asksAnew gives the length of the joint with which a text begins, if another
// need follows it: "and then show me" has "and then". Behind a comma there need
// not be one.
func asksAnew(text string, comma bool) int {
	n, joint := 0, comma
	for range 4 {
		rest := strings.TrimLeft(text[n:], " ")
		skipped := len(text) - n - len(rest)
		word, _, _ := strings.Cut(rest, " ")
		low := strings.ToLower(strings.Trim(word, ",.?!"))
		switch {
		case joins(low):
			joint = true
		case joint && asks(low):
			return n + skipped
		default:
			return 0
		}
		n += skipped + len(word)
	}
	return 0
}

func joins(word string) bool {
	switch word {
	case "and", "then", "also", "plus", "additionally", "furthermore", "afterwards", "finally", "please":
		return true
	}
	return false
}

// asks reports whether a word begins a request.
func asks(word string) bool {
	switch word {
	case "what", "whats", "what's", "how", "when", "where", "who", "which", "why", "is", "are", "can", "could", "will", "would", "do", "does", "should", "i", "i'd", "i'm", "let", "help", "need", "want",
		"add", "analyze", "arrange", "ask", "book", "build", "buy", "calculate", "call", "cancel", "change", "check", "close", "compare", "compute", "convert", "copy", "count", "create", "delete", "deploy",
		"describe", "determine", "download", "draft", "draw", "email", "estimate", "explain", "export", "extract", "fetch", "find", "generate", "get", "give", "identify", "inform", "list", "locate", "look", "make",
		"merge", "message", "move", "notify", "open", "order", "plan", "play", "post", "predict", "print", "provide", "publish", "put", "query", "read", "recommend", "record", "remind", "remove", "rename", "reserve",
		"resize", "retrieve", "run", "save", "schedule", "search", "see", "send", "set", "share", "show", "solve", "start", "stop", "store", "suggest", "summarize", "tell", "translate", "turn", "update", "upload",
		"use", "verify", "view", "write":
		return true
	}
	return false
}

// blendNeeds adds the best of each need of a query to what the whole of it
// found. A need that is said in few words counts as much as one in many, so
// that both get a place. In a long query much is told besides what is wanted:
// there the whole counts more.
func (x *Index) blendNeeds(query string, words int, s *scores) {
	needs := x.needsOf(query)
	if len(needs) == 0 || len(s.touched) == 0 {
		return
	}
	best, one := x.takeScores(), x.takeScores()
	defer x.release(best)
	defer x.release(one)
	for _, need := range needs {
		x.score(x.parse(need), one)
		top := one.top()
		for _, d := range one.touched {
			if best.sum[d] == 0 {
				best.touched = append(best.touched, d)
			}
			best.sum[d] = max(best.sum[d], one.sum[d]/top)
		}
		one.clear()
	}
	share := s.top() * float32(min(1, x.w.needWords/float64(words)))
	for _, d := range best.touched {
		if s.sum[d] == 0 {
			s.touched = append(s.touched, d)
		}
		s.sum[d] += share * best.sum[d]
	}
}
