package secrets

import (
	"fmt"
	"strings"
	"testing"
)

// TestCarried: what is a secret in one part of a text is one in the others, as it
// would be if they were looked through together.
func TestCarried(t *testing.T) {
	s := testScanner(t)
	const value = "hunter2-Secret99"
	parts := []string{"the login is " + value + ".\n", "password: " + value + "\n", `connect("app", "` + value + `")` + "\n", "my" + value + "\n", "# nothing\n"}
	var c Carried
	for _, part := range parts {
		c.Add(part, s.Find(part, nil))
	}
	for _, part := range parts {
		if got := StrikeOut(part, c.Find(part, s.Find(part, nil))); strings.Contains(got, value) {
			t.Errorf("%q is shown", got)
		}
	}
	none := Carried{}
	none.Add("password: secret\n", s.Find("password: secret\n", nil))
	if got := none.Find("a secret of ours", nil); len(got) > 0 {
		t.Errorf("a plain word is found: %v", got)
	}
}

// FuzzCarried holds parts against the whole: what is hidden there, whatever part
// it stands in, is hidden in the parts.
func FuzzCarried(f *testing.F) {
	f.Add("password: hunter2-Secret99\n", "it is hunter2-Secret99\n")
	s := testScanner(f)
	f.Fuzz(func(t *testing.T, one, two string) {
		var c Carried
		found := s.Find(one, nil)
		c.Add(one, found)
		at := 0
		for _, x := range c.Find(two, s.Find(two, nil)) {
			if x.Start < at || x.End <= x.Start || x.End > len(two) {
				t.Fatalf("%v is out of order", x)
			}
			at = x.End
		}
		for _, x := range found {
			value := one[x.Start:x.End]
			if !repeatable(value) || len(value) < repeatApart {
				continue
			}
			text := fmt.Sprintf("( %s )", value)
			if got := StrikeOut(text, c.Find(text, nil)); strings.Contains(got, value) {
				t.Fatalf("%q is shown", value)
			}
		}
	})
}
