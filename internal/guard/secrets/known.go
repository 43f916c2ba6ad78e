package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Known is a set of values that are secrets whatever they look like, such as
// those of a vault. It finds them as they are and as they stand in base64, hex,
// URLs and JSON. It is not changed once it is made; nil knows nothing.
type Known struct {
	heads map[[head]byte][]string // by their first bytes, the longest first
	maybe [1 << 13]uint64         // a bit per hash of the first bytes
}

const (
	// RuleKnown is the rule of what is found because it is known.
	RuleKnown = "known-secret"

	head         = 4
	encodedValue = 6 // what is shorter is in too many texts once it is encoded
)

// NewKnown makes a set. Values of fewer than four bytes are left out: they
// stand in every text by chance, and taking them out would say what they are.
func NewKnown(values []string) *Known {
	k := &Known{heads: map[[head]byte][]string{}}
	for _, v := range values {
		for _, form := range forms(v) {
			k.add(form)
		}
	}
	for _, list := range k.heads {
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return k
}

func (k *Known) add(form string) {
	if len(form) < head {
		return
	}
	start := [head]byte([]byte(form[:head]))
	if slices.Contains(k.heads[start], form) {
		return
	}
	k.heads[start] = append(k.heads[start], form)
	h := hashHead(form)
	k.maybe[h>>6] |= 1 << (h & 63)
}

func hashHead(s string) uint32 {
	n := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	return n * 2654435761 >> 13
}

// forms gives a value and the ways it is written elsewhere.
func forms(value string) []string {
	out := []string{value, url.QueryEscape(value), url.PathEscape(value)}
	if text, err := json.Marshal(value); err == nil {
		out = append(out, string(text[1:len(text)-1]))
	}
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) == nil {
		out = append(out, strings.TrimSuffix(plain.String(), "\n")[1:plain.Len()-2])
	}
	if trimmed := strings.TrimSpace(value); trimmed != value {
		out = append(out, trimmed)
	}
	if len(value) < encodedValue {
		return out
	}
	digits := hex.EncodeToString([]byte(value))
	out = append(out, digits, strings.ToUpper(digits))
	// Within a longer encoded text a value begins at one of three places in a
	// group; the letters it shares with its neighbours are left out.
	for shift := range 3 {
		padded := append(make([]byte, shift), value...)
		from, to := (shift*8+5)/6, len(padded)*8/6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(padded)[from:to])
		}
	}
	return out
}

// Find gives the known values in a text of any kind; those that are written in
// fewer than least bytes are left out.
func (k *Known) Find(text string, least int) []Finding {
	found := k.find(nil, text)
	return merged(slices.DeleteFunc(found, func(f Finding) bool { return f.End-f.Start < least }))
}

// find adds the known values in a text.
func (k *Known) find(found []Finding, text string) []Finding {
	if k == nil || len(k.heads) == 0 {
		return found
	}
	before := len(found)
	for i := 0; i+head <= len(text); i++ {
		h := hashHead(text[i:])
		if k.maybe[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, form := range k.heads[[head]byte([]byte(text[i:i+head]))] {
			if strings.HasPrefix(text[i:], form) {
				// What begins within it may reach further: go on at the next byte.
				if n := len(found); n > before && found[n-1].End > i {
					found[n-1].End = max(found[n-1].End, i+len(form))
				} else {
					found = append(found, Finding{Start: i, End: i + len(form), Rule: RuleKnown})
				}
				break
			}
		}
	}
	return found
}
