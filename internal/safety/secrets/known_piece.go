package secrets

const (
	pieceSize  = 8  // so many bytes of a value in a row stand nowhere by chance
	pieceValue = 16 // a shorter value is looked for as a whole only
	pieceStep  = 2  // every so many bytes a piece is looked for, so that one byte more is found surely
	pieceShift = 64 - 15
)

// pieces are the parts of long values: what cut, tail or tr leave of one.
type pieces struct {
	maybe [1 << (64 - pieceShift - 6)]uint64
	at    map[uint64]piecePlace
}

type piecePlace struct {
	value string
	from  int
}

func (p *pieces) add(value string) {
	if len(value) < pieceValue {
		return
	}
	for i := 0; i+pieceSize <= len(value); i++ {
		if !oddPiece(value[i : i+pieceSize]) {
			continue
		}
		if p.at == nil {
			p.at = map[uint64]piecePlace{}
		}
		key := headBytes(value[i:])
		if _, ok := p.at[key]; !ok {
			p.at[key] = piecePlace{value, i}
			h := key * 0x9E3779B97F4A7C15 >> pieceShift
			p.maybe[h>>6] |= 1 << (h & 63)
		}
	}
}

// oddPiece: letters, digits and capitals go to and fro in it, as they do in no
// word, address or path.
func oddPiece(s string) bool {
	cases := 0
	var seen byteSet
	distinct := 0
	for i := range len(s) {
		if s[i] <= ' ' {
			return false
		}
		if !seen.has(s[i]) {
			seen.add(s[i])
			distinct++
		}
		if i > 0 && letter(s[i]) && letter(s[i-1]) && upper(s[i]) != upper(s[i-1]) {
			cases++
		}
	}
	return distinct >= 5 && (turnsOf(s) >= 2 || cases >= 3)
}

// find adds what stands of a value in a text, as far as it goes.
func (p *pieces) find(found []Finding, text string) []Finding {
	if len(p.at) == 0 {
		return found
	}
	for i := 0; i+pieceSize <= len(text); i += pieceStep {
		key := headBytes(text[i:])
		if h := key * 0x9E3779B97F4A7C15 >> pieceShift; p.maybe[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		place, ok := p.at[key]
		if !ok {
			continue
		}
		from, to, v := i, i+pieceSize, place.from
		for from > 0 && v > 0 && text[from-1] == place.value[v-1] {
			from, v = from-1, v-1
		}
		v = place.from + pieceSize
		for to < len(text) && v < len(place.value) && text[to] == place.value[v] {
			to, v = to+1, v+1
		}
		found = append(found, Finding{Start: from, End: to, Rule: RuleKnown})
		i = to - pieceStep
	}
	return found
}
