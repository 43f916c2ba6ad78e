package grep

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLookAround(t *testing.T) {
	const text = "foo bar\nfoo\nbar\r\nabab\nabcd\nÄfoo\n"
	for pattern, want := range map[string][]string{
		`(?<=o )bar`:         {"1:foo bar"},
		`foo(?! bar)`:        {"2:foo", "6:Äfoo"},
		`^(ab)\1$`:           {"4:abab"},
		`(?i)(?=FOO)f`:       {"1:foo bar", "2:foo", "6:Äfoo"},
		`(?P<x>ab)(?=c)`:     {"5:abcd"},
		`^bar(?=$)`:          {"3:bar"},
		`(?<!.)Ä(?=foo)`:     {"6:Äfoo"},
		`(?=nowhere)nothing`: nil,
	} {
		if diff := cmp.Diff(want, found(t, pattern, Options{Regex: true}, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

// TestSlowPattern: a pattern made to take for ever ends with an error, soon.
func TestSlowPattern(t *testing.T) {
	q, err := Compile(`(?=x*)^(a+)+$`, Options{Regex: true})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	text := strings.Repeat("a", 40) + "!\n"
	_, err = q.NewSearcher(0).Search(strings.NewReader(strings.Repeat(text, 100)), 0, func(Match) bool { return true })
	if !errors.Is(err, ErrSlow) {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestBinary(t *testing.T) {
	const text = "a\x00 foo\nfoo\n"
	if got := found(t, "foo", Options{Binary: true}, text); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := found(t, "foo", Options{}, text); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
