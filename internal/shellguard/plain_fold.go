package shellguard

import "strings"

// fold is a word as far as its pieces were put together.
type fold struct {
	text   string // literal so far; of an open word, how it begins
	open   bool   // something that nobody knows follows
	many   bool   // it becomes any number of words
	tail   bool   // of an open word: patterns follow, so that it may be several
	shown  bool   // it has a variable of the environment
	glob   bool
	one    bool // the pattern stands for one file
	fixed  int
	masked bool // a wildcard or backslash stands in quotes
	word   bool // it is a word even if it is empty
	sample bool // it has digits that stand for any others
	sure   int  // how many bytes stand before them
	loose  bool // a value outside quotes has letters of patterns that only some shells know
}

// maxCombined bounds the ways in which one word or one command is read.
const maxCombined = 48

// combine puts the pieces of a word together, in every way: the words that it
// becomes in each. Whole: it is not cut into several and not taken for a pattern.
func (r *plainReader) combine(pieces []piece, whole bool) [][]Arg {
	ways := []fold{{}}
	var several [][]Arg // of a single variable that holds more than one word
	for _, p := range pieces {
		var next []fold
		for _, f := range ways {
			if p.is == nil {
				next = append(next, f.literal(p, whole))
				continue
			}
			for _, a := range p.is {
				texts, known := a.samples()
				if !known {
					next = append(next, f.unknown(a, p.quoted || whole))
					continue
				}
				for _, t := range texts {
					f := f
					if a.kind != exact && !f.sample {
						f.sample, f.sure = true, len(f.text)
					}
					switch {
					case whole && !p.quoted && !r.kept(t):
						next = append(next, f.unknown(atom{}, true))
					case p.quoted || whole:
						next = append(next, f.literal(piece{text: t, quoted: true}, whole))
					case strings.ContainsAny(t, "*?[\\"):
						next = append(next, f.unknown(atom{}, false))
					case f.text == "" && r.loosely(t), strings.ContainsAny(t, " \t\n") && r.opt.ownOptions() && strings.ContainsAny(t, "^#~="):
						next = append(next, f.unknown(atom{}, false))
					case strings.ContainsAny(t, " \t\n") && len(pieces) == 1:
						var words []Arg
						for field := range strings.FieldsSeq(t) {
							words = append(words, Arg{Text: field, Literal: true, sample: f.sample})
						}
						several = append(several, words)
						if r.opt.Zsh { // which does not cut it
							several = append(several, []Arg{{Text: t, Literal: true, sample: f.sample}})
						}
					case strings.ContainsAny(t, " \t\n"):
						next = append(next, f.unknown(atom{}, false))
					default:
						g := f
						g.loose = g.loose || r.opt.ownOptions() && strings.ContainsAny(t, "^#")
						if !g.open {
							g.text += t
						}
						next = append(next, g)
					}
				}
			}
		}
		if ways = next; len(ways) > maxCombined {
			r.refuse("its words may be too many things")
			return nil
		}
		if !r.affords(ways) {
			return nil
		}
	}
	for _, f := range ways {
		several = append(several, f.args(r, whole))
	}
	return several
}

// affords: putting the word together so far took no more work than there is.
func (r *plainReader) affords(ways []fold) bool {
	for _, f := range ways {
		if len(f.text) > maxLine || !r.work.spend(perWord+len(f.text)) {
			r.refuse("its words become too long")
			return false
		}
	}
	return true
}

func (f fold) literal(p piece, whole bool) fold {
	f.word = f.word || p.quoted || p.text != ""
	at := strings.IndexAny(p.text, "*?[")
	switch {
	case p.quoted || whole:
		f.masked = f.masked || strings.ContainsAny(p.text, "*?[\\")
	case at >= 0 && f.open:
		f.tail = true
	case at >= 0 && !f.glob:
		f.glob, f.fixed = true, len(f.text)+at
	case at >= 0:
		f.one = false
	}
	if !f.open {
		f.text += p.text
	}
	return f
}

// unknown adds what is not known. Whole: it stands in quotes, so that it stays one
// word.
func (f fold) unknown(a atom, whole bool) fold {
	f.word = true
	f.shown = f.shown || a.kind == foreign
	switch {
	case !whole:
		f.many, f.open = true, true
	case f.open:
	case a.kind == named && !f.glob && !f.masked:
		f.glob, f.one, f.fixed = true, true, len(f.text)+strings.IndexAny(a.text, "*?[")
		f.text += a.text
	case a.kind == named:
		if f.open = true; f.glob {
			f.text, f.glob = f.text[:f.fixed], false
		}
	case a.kind == headed && !f.glob:
		f.open, f.text = true, f.text+a.text
	default:
		if f.open = true; f.glob {
			f.text, f.glob = f.text[:f.fixed], false
		}
	}
	return f
}

// args are the words that it becomes.
func (f fold) args(r *plainReader, whole bool) []Arg {
	if f.glob && f.sample { // which files it means depends on digits that are not known
		f.text, f.open, f.tail = f.text[:f.sure], true, true
	}
	if f.loose && !f.open {
		if why := r.line.addLoose(readLoose(appendGlyphs(nil, f.text, false))); why != "" {
			r.refuse(why)
		}
	}
	places := f.text != "" && f.text[0] != '-'
	switch {
	case f.shown && (f.tail || f.glob):
		r.refuse("it has a pattern in a directory that nobody knows")
		return nil
	case f.shown:
		return []Arg{{Text: "$…", computed: computedShown}}
	case f.many:
		return []Arg{{Text: "…", computed: computedWords}}
	case f.open && places:
		return []Arg{{Text: f.text + "…", head: f.text, computed: computedPlaces, many: f.tail}}
	case f.open && f.tail:
		return []Arg{{Text: "…", computed: computedWords}}
	case f.open:
		return []Arg{{Text: f.text + "…", head: f.text, computed: computedWord}}
	case f.glob && f.text == "[" && !f.one:
		return []Arg{{Text: "[", Literal: true}}
	case f.glob && f.masked:
		r.refuse("it has a pattern with quoted wildcards")
		return nil
	case f.glob:
		r.fails = true // in zsh, where it means no file
		return []Arg{{Text: f.text, Glob: true, fixed: f.fixed, one: f.one}}
	case f.text == "" && !f.word && !whole:
		return nil
	}
	return []Arg{{Text: f.text, Literal: true, sample: f.sample, sure: int32(f.sure)}}
}
