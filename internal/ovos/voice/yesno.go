package voice

import (
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/spoken"
)

// Meaning is what an answer to a question with yes or no means. The zero value
// allows nothing.
type Meaning int

// The meanings.
const (
	Unclear Meaning = iota
	Yes
	No
)

// Understand reads an answer, in a language such as de-AT: what a recogniser heard,
// the likeliest first. Every word of it has to belong to a yes, or to a no, or to say
// nothing ("yes, please"); anything else is unclear, and so is an answer of which the
// recogniser heard a yes and a no.
func Understand(lang string, heard []string) Meaning {
	if len(heard) == 0 {
		return Unclear
	}
	all := vocabularyOf(spoken.Language(lang))
	first := all.read(heard[0])
	for _, other := range heard[1:min(len(heard), 5)] {
		if m := all.read(other); first == Yes && m == No {
			return Unclear
		}
	}
	return first
}

// vocabulary has phrases, of which the longest are looked for first.
type vocabulary struct{ yes, no, nothing []string }

func vocabularyOf(lang string) vocabulary {
	if lang == "de" {
		return vocabulary{
			yes: []string{"ja", "jawohl", "jo", "jep", "jup", "gern", "gerne", "na klar", "klar", "natürlich", "sicher", "selbstverständlich", "einverstanden",
				"okay", "ok", "in ordnung", "mach das", "mach es", "mach mal", "tu das", "tu es", "du darfst", "das darfst du", "darfst du", "erlaubt", "erlaube es", "auf jeden fall", "von mir aus", "leg los"},
			no: []string{"nein", "nee", "nö", "ne", "niemals", "nie", "nicht", "lass das", "lass es", "lieber nicht", "auf keinen fall", "auf gar keinen fall", "keinesfalls", "bloß nicht",
				"darfst du nicht", "das darfst du nicht", "du darfst nicht", "mach das nicht", "mach es nicht", "tu das nicht", "tu es nicht", "verboten", "abbrechen", "abbruch", "stopp", "stop", "halt"},
			nothing: []string{"bitte", "danke", "doch", "mal", "also", "ähm", "äh", "hm", "na", "und", "du", "das", "es"},
		}
	}
	return vocabulary{
		yes: []string{"yes", "yeah", "yep", "yup", "yea", "aye", "sure", "sure thing", "of course", "certainly", "absolutely", "definitely", "okay", "ok", "alright", "all right",
			"go ahead", "go for it", "do it", "do that", "do so", "please do", "you may", "you can", "allowed", "allow it", "allow that", "i allow it", "by all means", "that is fine", "that's fine", "fine"},
		no: []string{"no", "nope", "nah", "never", "not", "no way", "don't", "do not", "don't do it", "do not do it", "don't do that", "do not do that", "you may not", "you can not", "you cannot", "you can't",
			"absolutely not", "certainly not", "of course not", "definitely not", "not now", "better not", "deny", "deny it", "refuse", "cancel", "cancel it", "cancel that", "stop", "stop it", "abort", "forbidden"},
		nothing: []string{"please", "thanks", "thank you", "um", "uh", "hm", "well", "oh", "and", "it", "that", "now"},
	}
}

// read reads one sentence.
func (v vocabulary) read(said string) Meaning {
	const most = 12 // words; nobody says more for yes
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(said, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
	if len(words) == 0 || len(words) > most {
		return Unclear
	}
	yes, no := false, false
	for len(words) > 0 {
		isYes, isNo, isNothing := longest(v.yes, words), longest(v.no, words), longest(v.nothing, words)
		n := max(isYes, isNo, isNothing)
		switch {
		case n == 0:
			return Unclear
		case n == isNo: // where a phrase can be both it is a no
			no = true
		case n == isYes:
			yes = true
		}
		words = words[n:]
	}
	switch {
	case yes && !no && strings.ContainsAny(said, "?？"): // "Yes?" is what somebody says who was spoken to
		return Unclear
	case yes && !no:
		return Yes
	case no && !yes:
		return No
	}
	return Unclear
}

// longest is how many words the longest phrase has that they begin with.
func longest(phrases, words []string) int {
	best := 0
	for _, p := range phrases {
		want := strings.Fields(p)
		if len(want) <= best || len(want) > len(words) {
			continue
		}
		same := true
		for i := range want {
			same = same && want[i] == words[i]
		}
		if same {
			best = len(want)
		}
	}
	return best
}
