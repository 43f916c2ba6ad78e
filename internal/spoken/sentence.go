package spoken

import (
	"strconv"
	"strings"
)

// Sentence is something to say, in no language yet. The zero value says that
// something failed.
type Sentence struct {
	Key    Key
	Number int    // for {number}
	Words  string // for {words}; see [Plain]
}

// Say is a sentence that takes neither a number nor words, in a language.
func Say(lang string, key Key) string { return Sentence{Key: key}.In(lang) }

// In gives the sentence in a language, which may be a tag such as de-AT. One that
// is not in the table is said in English.
func (s Sentence) In(lang string) string {
	table := tableOf(Language(lang))
	form := table[s.Key]
	if form == "" {
		form = table[Failed]
	}
	return strings.NewReplacer("{number}", strconv.Itoa(s.Number), "{words}", Plain(s.Words)).Replace(form)
}
