package toolbox

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

const list = "code,name,stock\nAB-123,Twist drill 6 mm,14\nAB-124,Twist drill 8 mm,0\nXY-900,\"Vice, small\",2\n"

func dir(text string) fstest.MapFS {
	return fstest.MapFS{"parts.csv": {Data: []byte(text)}}
}

func open(t testing.TB, cfg Config, text string) toolcrib.Toolbox {
	t.Helper()
	b, err := Open(t.Context(), cfg, dir(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return open(t, Config{}, list) })
}

func crib(t *testing.T, b toolcrib.Toolbox) *toolcrib.Crib {
	t.Helper()
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Reads)},
		Journal: &cribtest.Memory{},
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{b}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	return c
}

func TestFindParts(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		in   findIn
		want findOut
	}{
		{"any case", Config{}, findIn{Words: "VICE"}, findOut{Parts: []part{{"XY-900", "Vice, small", 2}}}},
		{"in stock", Config{}, findIn{Words: "drill", InStock: true}, findOut{Parts: []part{{"AB-123", "Twist drill 6 mm", 14}}}},
		{"none", Config{}, findIn{Words: "lathe"}, findOut{Parts: []part{}}},
		{"bounded", Config{Most: 1}, findIn{Words: "drill"}, findOut{Parts: []part{{"AB-123", "Twist drill 6 mm", 14}}, More: true}},
	} {
		got, err := toolcrib.Invoke[findOut](t.Context(), crib(t, open(t, c.cfg, list)), "find_parts", c.in)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestGetPart(t *testing.T) {
	c := crib(t, open(t, Config{}, list))
	got, err := toolcrib.Invoke[part](t.Context(), c, "get_part", getIn{Code: "AB-124"})
	if want := (part{"AB-124", "Twist drill 8 mm", 0}); err != nil || got != want {
		t.Errorf("get_part = %v, %v, want %v", got, err, want)
	}
	_, err = toolcrib.Invoke[part](t.Context(), c, "get_part", getIn{Code: "ZZ-999"})
	if err == nil || !strings.Contains(err.Error(), "no part has the code ZZ-999") {
		t.Errorf("an unknown code gave %v", err)
	}
	_, err = toolcrib.Invoke[part](t.Context(), c, "get_part", getIn{Code: "../etc"})
	if toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
		t.Errorf("a code of another form gave %v, want invalid", err)
	}
}

// TestOpenRefuses: a setting that cannot work shows at the start.
func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		text string
	}{
		"a list that is not there":    {Config{File: "other.csv"}, list},
		"a list outside":              {Config{File: "../parts.csv"}, list},
		"a list without a heading":    {Config{}, ""},
		"a line with too few columns": {Config{}, "code,name,stock\nAB-123,Drill\n"},
		"a stock that is no number":   {Config{}, "code,name,stock\nAB-123,Drill,many\n"},
		"a negative stock":            {Config{}, "code,name,stock\nAB-123,Drill,-1\n"},
		"a list that is too large":    {Config{}, strings.Repeat("a,b,1\n", maxFile/6+1)},
	} {
		if _, err := Open(t.Context(), c.cfg, dir(c.text)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// FuzzRead: whatever the list holds, it is read whole or refused.
func FuzzRead(f *testing.F) {
	f.Add(list)
	f.Add("code,name,stock\nAB-123,\"Drill,14\n")
	f.Fuzz(func(t *testing.T, text string) {
		b := &box{cfg: Config{File: "parts.csv"}, dir: dir(text)}
		parts, err := b.read()
		if err != nil && parts != nil {
			t.Errorf("an error and %d parts at once", len(parts))
		}
		for _, p := range parts {
			if p.Stock < 0 {
				t.Errorf("a negative stock was admitted: %+v", p)
			}
		}
	})
}
