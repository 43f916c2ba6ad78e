package secrets

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestWordsAgree: both ways to look for words find the same, in the same order.
func TestWordsAgree(t *testing.T) {
	t.Parallel()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, list := range [][]string{s.words.list, s.lexicon.placeholders.list, {"a", "ab", "b", "bab", "x\xff", "ABBA"}} {
		short, table := newEndings(list), newAutomaton(list)
		for range 300 {
			var b strings.Builder
			for range r.IntN(12) {
				switch word := list[r.IntN(len(list))]; r.IntN(4) {
				case 0:
					b.WriteString(strings.ToUpper(word))
				case 1:
					b.WriteString(word[:r.IntN(len(word)+1)])
				case 2:
					b.WriteByte(byte(r.IntN(256)))
				default:
					b.WriteString(word)
				}
			}
			var got, want [][2]int
			short.each(b.String(), func(word, end int) bool { got = append(got, [2]int{word, end}); return true })
			table.each(b.String(), func(word, end int) bool { want = append(want, [2]int{word, end}); return true })
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %v, want %v", b.String(), got, want)
			}
		}
	}
}
