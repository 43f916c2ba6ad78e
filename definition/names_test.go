package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

func TestNames(t *testing.T) {
	gemini, openai := naming{dots: true, start: true}, naming{}
	long := strings.Repeat("n", 80)
	for _, c := range []struct {
		rule       naming
		name, want string
	}{
		{openai, "read_file", "read_file"},
		{openai, "1st-tool", "1st-tool"},
		{gemini, "1st-tool", "_1st-tool_" + hashOf("1st-tool")},
		{gemini, "-x", "_-x_" + hashOf("-x")},
		{gemini, "a.b", "a.b"},
		{openai, "a.b", "a_b_" + hashOf("a.b")},
		{openai, "a b", "a_b_" + hashOf("a b")},
		{openai, "grüße", "gr__e_" + hashOf("grüße")},
		{openai, "", "_" + hashOf("")},
		{openai, long, long[:55] + "_" + hashOf(long)},
	} {
		if got := c.rule.assign([]string{c.name})[c.name]; got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.name, got, c.want)
		}
	}
	// A name that fits keeps it, though another one's likeness was made to be the same.
	trap := "a_b_" + hashOf("a b")
	got := openai.assign([]string{"a b", trap})
	if got[trap] != trap || got["a b"] == trap {
		t.Errorf("%v", got)
	}
}

// TestNamesProperty: names are taken by the API, different for different tools, and do not depend on the order.
func TestNamesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := naming{dots: rapid.Bool().Draw(t, "dots"), start: rapid.Bool().Draw(t, "start")}
		names := rapid.SliceOfDistinct(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ab_.1 -]{1,3}`), rapid.StringMatching(`[a ]{70}`)), rapid.ID).Draw(t, "names")
		got := rule.assign(names)
		seen := map[string]bool{}
		for _, n := range names {
			if !rule.fits(got[n]) || seen[got[n]] || (rule.fits(n) && got[n] != n) {
				t.Fatalf("%q is shown as %q", n, got[n])
			}
			seen[got[n]] = true
		}
		other := slices.Clone(names)
		rand.New(rand.NewSource(1)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if !maps.Equal(got, rule.assign(other)) {
			t.Fatal(cmp.Diff(got, rule.assign(other)))
		}
	})
}
