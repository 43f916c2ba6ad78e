package find

import (
	"slices"
	"strings"
)

// deed is what is done to a thing. Two tools of one server often differ in
// nothing else: get_paragraph and add_paragraph share every word with a wish to
// write a paragraph but the one that counts.
type deed uint8

const (
	looks   deed = 1 << iota // nothing is changed
	makes                    // something is there that was not, or is otherwise
	removes                  // something is gone
)

const (
	looking  = `get find list search read show fetch retrieve view lookup query describe check look see display count inspect obtain browse`
	making   = `create add write insert make append generate save update edit modify set rename replace put draft build send upload apply fill compose produce construct`
	removing = `delete remove clear drop erase uninstall discard destroy purge`
)

// deedWords gives what a verb does.
func deedWords() map[string]deed {
	out := map[string]deed{}
	for d, words := range map[deed]string{looks: looking, makes: making, removes: removing} {
		for w := range strings.FieldsSeq(words) {
			out[w] = d
		}
	}
	return out
}

// deedOf tells what the first verb of a tool's name does; 0: it has none that is
// known. The name of its box may stand before it, and is no deed: web-search__delete
// deletes.
func (x *Index) deedOf(d *Doc) deed {
	name := nameParts(d.Name)
	if box := nameParts(d.Box); len(box) < len(name) && slices.Equal(box, name[:len(box)]) {
		name = name[len(box):]
	}
	for _, w := range name {
		if d := x.deeds[w]; d != 0 {
			return d
		}
	}
	return 0
}

// maxDeedWords is the length of a query beyond which a verb in it may be of
// anything that it tells besides.
const maxDeedWords = 15

// wanted tells what a query wants done, if it wants one thing only.
func (x *Index) wanted(words []word) deed {
	if len(words) > maxDeedWords {
		return 0
	}
	var all deed
	for _, w := range words {
		all |= x.deeds[w.english]
	}
	if all&(all-1) != 0 {
		return 0
	}
	return all
}

// favour has those documents behind that do another thing than is wanted.
func (x *Index) favour(want deed, s *scores) {
	if want == 0 {
		return
	}
	var share [removes << 1]float32 // by what a document does; a table, since branches cost more than products
	for d := range share {
		share[d] = x.w.otherDeed
	}
	share[0], share[want] = 1, 1
	for _, d := range s.touched {
		s.sum[d] *= share[x.does[d]]
	}
}
