package secrets

import (
	"fmt"
	"strings"
	"testing"
)

// TestRepeatedAlike: of values that begin with the same letters each is hidden where
// it stands without its name, however many they are and however long each is.
func TestRepeatedAlike(t *testing.T) {
	s := testScanner(t)
	for name, value := range map[string]func(i int) string{
		"of one length":   func(i int) string { return fmt.Sprintf("hunter2-Secret%03dz", i) },
		"of many lengths": func(i int) string { return "hunter2-Secret9" + strings.Repeat("x7", i) + "z" },
	} {
		var named, plain strings.Builder
		const many = 3 * repeatAlike
		for i := range many {
			fmt.Fprintf(&named, "password: %s\n", value(i))
			fmt.Fprintf(&plain, "the login is %s here\n", value(i))
		}
		check := func(how, got string) {
			for i := range many {
				if strings.Contains(got, " "+value(i)+" ") || strings.Contains(got, " "+value(i)+"\n") {
					t.Errorf("%s, %s: value %d is shown", name, how, i)
					return
				}
			}
			if strings.Count(got, "the login is ") != many || strings.Count(got, " here\n") != many {
				t.Errorf("%s, %s: more than values is hidden", name, how)
			}
		}
		whole := named.String() + plain.String()
		check("in one text", StrikeOut(whole, s.Find(whole, nil)))
		var c Carried
		c.Add(named.String(), s.Find(named.String(), nil))
		check("in parts", StrikeOut(plain.String(), c.Find(plain.String(), s.Find(plain.String(), nil))))
	}
	text := "password: hunter2-Secret99\nhunter2-Secret98 and hunter2-Secret\n"
	if got := StrikeOut(text, s.Find(text, nil)); !strings.HasSuffix(got, "hunter2-Secret98 and hunter2-Secret\n") {
		t.Errorf("what only begins like a value is hidden: %q", got)
	}
}

// BenchmarkRepeatedAlike: every place of the text begins like very many values.
func BenchmarkRepeatedAlike(b *testing.B) {
	r := newRepeats(1000)
	for i := range 1000 {
		r.add("hunter2-"+strings.Repeat("Secret9", i%60)+fmt.Sprint(i), ruleAssigned)
	}
	text := strings.Repeat(" hunter2-SecretSecret", 1<<16)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.find(text, nil)
	}
}
