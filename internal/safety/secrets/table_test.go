package secrets

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// draw gives a made-up key of a form. It is drawn when the test runs, so that no
// file of this project has anything that looks like a leak.
func (f *form) draw(r *rand.Rand) string {
	var b strings.Builder
	for _, p := range f.pieces {
		if p.set == nil {
			b.WriteString(p.text)
			continue
		}
		var all []byte
		for c := range 256 {
			if p.set.has(byte(c)) && (digit(byte(c)) || letter(byte(c))) {
				all = append(all, byte(c))
			}
		}
		n := p.min
		if p.max > p.min {
			n += r.IntN(min(p.max-p.min, 12) + 1)
		}
		n = max(n, min(1, p.max))
		for i := range n {
			c := all[r.IntN(len(all))]
			if i == n/2 && n > 3 && p.set.has('7') {
				c = '7' // as good as every real key has a digit
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

func has(found []Finding, from, to int) bool {
	for _, f := range found {
		if f.Start <= from && f.End >= to {
			return true
		}
	}
	return false
}

// TestForms: a key of every form is found wherever it stands, and what lacks the
// first letter of one, or most of the end, is not taken for one.
func TestForms(t *testing.T) {
	s := testScanner(t)
	if len(s.forms) < 550 {
		t.Errorf("only %d forms", len(s.forms))
	}
	r := rand.New(rand.NewPCG(16, 10))
	for _, f := range s.forms {
		missed := 0
		for range 12 {
			key := f.draw(r)
			for _, around := range []string{"%", "see %, it is new", `{"a":"%"}`, "x=%\n", "'%'", "(%)", "<b>%</b>"} {
				at := strings.IndexByte(around, '%')
				text := strings.Replace(around, "%", key, 1)
				if !has(s.Find(text, nil), at, at+len(key)) {
					missed++
					if missed > 8 {
						t.Errorf("%s is not found in %q", f.rule, text)
						break
					}
				}
			}
		}
		key := f.draw(r)
		for _, near := range []string{key[1:], key[:len(key)/3]} {
			for _, found := range s.find(nil, "see "+near+" there") {
				if found.Rule == f.rule && found.End-found.Start == len(near) && f.anchor == 0 && f.pieces[0].set == nil && !strings.HasPrefix(near, f.pieces[0].text) && len(f.pieces[0].text) > 4 {
					other := false
					for _, o := range s.forms {
						other = other || o != f && o.rule == f.rule
					}
					if !other {
						t.Errorf("%s is found in %q", f.rule, near)
					}
				}
			}
		}
	}
}

// TestProviders: a key of every provider is found beside its name, and by its
// rule only there.
func TestProviders(t *testing.T) {
	s := testScanner(t)
	if len(s.providers) < 600 {
		t.Errorf("only %d providers", len(s.providers))
	}
	r := rand.New(rand.NewPCG(16, 11))
	tried, missed := 0, 0
	for _, p := range s.providers {
		for _, f := range p.forms {
			bad := 0
			for range 6 {
				key := f.draw(r)
				for _, text := range []string{
					p.name + `_api_key = "` + key + `"`, strings.ToUpper(p.name) + "_TOKEN=" + key + "\n", `{"` + p.name + `Secret":"` + key + `"}`,
				} {
					tried++
					at := strings.Index(text, key)
					if !has(s.Find(text, nil), at, at+len(key)) {
						bad++
						missed++
					}
				}
				for _, found := range s.find(nil, "value of it: "+key) {
					if found.Rule == p.rule {
						t.Errorf("%s is found without its name", p.rule)
					}
				}
			}
			if bad > 6 {
				t.Errorf("%s: %d of 18 keys such as %q are not found", p.rule, bad, f.draw(r))
			}
		}
	}
	if 100*missed > 2*tried {
		t.Errorf("%d of %d keys are not found beside the name of their provider", missed, tried)
	}
}

func TestTablesAreChecked(t *testing.T) {
	for _, tt := range []struct{ forms, providers string }{
		{"alone", ""}, {"a {w3}", ""}, {"a {", ""}, {"a ab{q3}", ""}, {"a ab{w}", ""}, {"a ab{w5-3}", ""}, {"", "{w"}, {"", "  name"}, {"a a{w20}", ""},
	} {
		if _, err := newScanner(tt.forms, tt.providers); err == nil {
			t.Errorf("%q and %q are taken", tt.forms, tt.providers)
		}
	}
}
