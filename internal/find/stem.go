package find

import (
	"slices"
	"strings"
)

// stem cuts an English word down to what its family has in common: translate,
// translator and translations meet. The result need not be a word. It works by
// taking off endings while enough of the word is left; words that are not plain
// lower-case ASCII come back as they are.
func stem(word string) string {
	if len(word) < 3 || !plain(word) {
		return word
	}
	if s := irregular(word); s != "" {
		return s
	}
	w := singular(word)
	if keepsEnding(w) {
		return w
	}
	w = verbForm(w)
	w = derived(w)
	return finish(w)
}

func plain(word string) bool {
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}

// irregular gives the family of forms that no ending tells.
func irregular(word string) string {
	switch word {
	case "children", "child", "childrens":
		return "child"
	case "men":
		return "man"
	case "women":
		return "woman"
	case "people", "persons", "person":
		return "person"
	case "bought", "buying", "buys", "buyer":
		return "buy"
	case "sold", "sells", "selling", "seller":
		return "sell"
	case "sent", "sends", "sending", "sender":
		return "send"
	case "found", "finds", "finder", "finding":
		return "find"
	case "made", "makes", "making", "maker":
		return "make"
	case "wrote", "written", "writes", "writing", "writer", "writers":
		return "write"
	case "ran", "running", "runs", "runner":
		return "run"
	case "drew", "drawn", "draws", "drawing":
		return "draw"
	case "spoke", "spoken", "speaks", "speaking", "speaker":
		return "speak"
	case "taught", "teaches", "teaching", "teacher", "teachers":
		return "teach"
	case "flew", "flown", "flies", "flying":
		return "fly"
	case "paid", "pays", "paying", "payment", "payments", "payable":
		return "pay"
	case "news", "bus", "gas", "lens", "atlas", "canvas", "chess", "css", "aws", "ios", "gps", "sms", "dns", "https", "series", "always", "os", "rss":
		return word
	case "buses":
		return "bus"
	case "lying", "lies":
		return "lie"
	case "dice", "die":
		return "dice"
	case "mice":
		return "mouse"
	case "feet":
		return "foot"
	case "analysis", "analyses", "analyze", "analyzes", "analyzed", "analyzing", "analyse", "analysed", "analysing", "analyst", "analysts", "analytics", "analytic", "analytical", "analyzer":
		return "analy"
	case "summary", "summaries", "summarize", "summarizes", "summarized", "summarizing", "summarise", "summarizer", "summarization":
		return "summar"
	case "photography", "photographer", "photographers", "photograph", "photographs", "photos", "photo":
		return "photo"
	case "documents", "documentation":
		return "document"
	case "crypto", "cryptos", "cryptocurrency", "cryptocurrencies":
		return "crypto"
	}
	return ""
}

// keepsEnding are words whose last letters only look like an ending: a poster is not
// someone who posts.
func keepsEnding(w string) bool {
	switch w {
	case "customer", "poster", "ticker", "number", "letter", "charter", "flower", "power", "master", "quarter", "paper", "matter",
		"server", "character", "answer", "summer", "winter", "center", "offer", "cover", "monster", "weather", "water", "career",
		"newsletter", "container", "folder", "disorder", "international", "animal", "hospital", "capital", "terminal", "journal",
		"production", "department", "apartment", "document", "station", "nation", "education", "vacation", "location", "notation", "pension",
		"mansion", "version", "session", "mission", "fashion", "music", "topic", "public", "traffic", "clinic", "being", "morning",
		"evening", "wedding", "ceiling", "string", "spring", "thing", "king", "ring", "wing", "seed", "feed", "speed", "weed",
		"color", "doctor", "error", "mirror", "tutor", "motor", "monitor", "festival", "signal", "material", "tutorial", "social":
		return true
	}
	return false
}

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"), !strings.HasSuffix(w, "s"):
		return w
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case anySuffix(w, "sses", "shes", "ches", "xes", "zzes"):
		return w[:len(w)-2]
	case len(w) > 3:
		return w[:len(w)-1]
	}
	return w
}

func verbForm(w string) string {
	for _, end := range []string{"ing", "ed"} {
		root, ok := strings.CutSuffix(w, end)
		if !ok || !hasVowel(root) || len(root) < 3 {
			continue
		}
		switch n := len(root); {
		case root[n-1] == root[n-2] && !strings.ContainsRune("lsz", rune(root[n-1])):
			return root[:n-1] // planning
		case anySuffix(root, "at", "bl", "iz"):
			return root + "e"
		}
		return root
	}
	return w
}

// ending is what makes one kind of word from another, and what it stood for.
type ending struct {
	end, put string
	keep     int // letters that must be left
}

// derived takes off the longest ending that fits.
func derived(w string) string {
	for _, e := range endings(w[len(w)-1]) {
		root, ok := strings.CutSuffix(w, e.end)
		if !ok || len(root) < e.keep || !hasVowel(root) {
			continue
		}
		if e.end == "ation" && anySuffix(root, "nd", "rm", "rt", "ll", "lt", "rv") {
			return root // recommendation, reservation: made without an a
		}
		return root + e.put
	}
	return w
}

// endings are those with this last letter, longest first.
func endings(last byte) []ending {
	switch last {
	case 'n':
		return []ending{{"ization", "ize", 3}, {"isation", "ize", 3}, {"ication", "y", 3}, {"ation", "ate", 3}, {"tion", "t", 3}, {"sion", "s", 4}}
	case 'l':
		return []ending{{"ational", "ate", 3}, {"tional", "t", 4}, {"ical", "ic", 3}, {"ful", "", 3}, {"ial", "", 4}, {"al", "", 5}}
	case 's':
		return []ending{{"fulness", "", 3}, {"ousness", "ous", 3}, {"iveness", "ive", 3}, {"iness", "y", 3}, {"ness", "", 3}, {"less", "", 4}, {"ous", "", 4}}
	case 'r':
		return []ending{{"ator", "ate", 3}, {"tor", "t", 3}, {"er", "", 4}, {"or", "", 5}}
	case 't':
		return []ending{{"ment", "", 4}, {"ist", "", 4}}
	case 'y':
		return []ending{{"ically", "ic", 3}, {"fully", "", 3}, {"ality", "al", 3}, {"ivity", "ive", 3}, {"ility", "le", 3}, {"ably", "", 4},
			{"ancy", "", 4}, {"ency", "", 4}, {"ally", "al", 3}, {"ity", "", 4}, {"ily", "y", 3}, {"ly", "", 4}}
	case 'e':
		return []ending{{"able", "", 4}, {"ible", "", 4}, {"ance", "", 4}, {"ence", "", 4}, {"ive", "", 4}, {"ize", "", 4}, {"ise", "", 5}}
	case 'm':
		return []ending{{"ism", "", 4}}
	case 'c':
		return []ending{{"ic", "", 4}}
	}
	return nil
}

// finish evens out last letters, so that create and creat, copy and copi meet.
func finish(w string) string {
	if len(w) > 4 && strings.HasSuffix(w, "ate") {
		w = w[:len(w)-1]
	}
	if len(w) > 3 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	if len(w) > 2 && w[len(w)-1] == 'y' && !vowel(w[len(w)-2]) {
		w = w[:len(w)-1] + "i"
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !vowel(w[n-1]) {
		w = w[:n-1]
	}
	return w
}

func anySuffix(w string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(w, end) })
}

func vowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

func hasVowel(w string) bool { return strings.ContainsAny(w, "aeiouy") }
