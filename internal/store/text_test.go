package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func TestForeignText(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	for i, input := range []string{
		`{`, `{"a":1}x`, "\xff\xfe", strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
		"\"\xed\xa0\x80\"", `"\ud800"`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "\x00", "nul",
	} {
		r := newRecord(fmt.Sprint(i))
		r.Input, r.Tool, r.Caller.Session = []byte(input), "t\xff\x00", "s\xff"
		begin(t, j, r)
		ended(r).Result = []byte(input)
		if err := j.End(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		got, err := j.Get(t.Context(), r.ID)
		if err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
		if len(got.Input) == 0 || len(got.Result) == 0 || got.Tool != "t\ufffd\ufffd" {
			t.Errorf("input %d came back as %+v", i, got)
		}
	}
	for _, bad := range []string{"", "a\x00", "\xff"} {
		r := newRecord(bad)
		if old, err := j.Begin(t.Context(), r); err == nil {
			t.Errorf("the call ID %q was taken: %v", bad, old)
		} else if bad != "" && (toolcrib.CodeOf(err) != toolcrib.CodeInvalid || !strings.Contains(err.Error(), fmt.Sprintf("the call ID %q", bad))) {
			t.Errorf("the call ID %q is refused with %v", bad, err)
		}
		r = newRecord("x")
		r.Caller.Subject = bad
		if _, err := j.Begin(t.Context(), r); bad != "" && (toolcrib.CodeOf(err) != toolcrib.CodeInvalid || !strings.Contains(err.Error(), fmt.Sprintf("the subject %q", bad))) {
			t.Errorf("the subject %q is answered with %v", bad, err)
		}
	}
	mustBeSound(t, cfg)
}

// TestManyBrackets: what is wide and not deep comes back as it was, at once
// and in a replay; only what is nested too deep to be read is kept as text.
func TestManyBrackets(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for name, test := range map[string]struct {
		text string
		kept bool
	}{
		"wide":            {`{"a":[` + strings.Repeat("[],", 4000) + `[]]}`, true},
		"wider":           {`[` + strings.Repeat(`{"a":[{}]},`, 100000) + `1]`, true},
		"in strings":      {`["` + strings.Repeat("[{", 5000) + `"]`, true},
		"after quotes":    {`["\"` + strings.Repeat("[", 5000) + `\\",[]]`, true},
		"deep":            {deep(4000), true},
		"too deep":        {deep(4001), false},
		"deep after wide": {`[` + strings.Repeat("[],", 4000) + deep(4000) + `]`, false},
		"much too deep":   {deep(100000), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord(name)
			r.Input = []byte(test.text)
			begin(t, j, r)
			ended(r).Result, r.Edited = r.Input, r.Input
			if err := j.End(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			old, err := j.Begin(t.Context(), newRecord(name))
			if err != nil || old == nil {
				t.Fatal(old, err)
			}
			for part, got := range map[string][]byte{"input": old.Input, "result": old.Result, "edited": old.Edited} {
				if same := string(got) == test.text; same != test.kept || len(got) == 0 {
					t.Errorf("the %s comes back unchanged: %v; want %v; %.60s", part, same, test.kept, got)
				}
			}
		})
	}
	mustBeSound(t, cfg)
}
