package find

import (
	"strings"
	"testing"
)

// The wanted figures were counted by hand from how byte-pair vocabularies cut
// such texts; the estimate may be off by a quarter.
func TestTokensEstimate(t *testing.T) {
	for text, want := range map[string]int{
		"":      0,
		"hello": 1,
		"The quick brown fox jumps over the lazy dog.":                                                                    10,
		`{"type":"object","properties":{"path":{"type":"string","description":"Where the file is"}},"required":["path"]}`: 30,
		"Send an email with optional attachments.":                                                                        8,
		"antidisestablishmentarianism":                                                                                    5,
		"2026-11-15T00:19:34Z":                                                                                            12,
		"get_current_datetime":                                                                                            5,
		strings.Repeat("word ", 1000):                                                                                     1000,
		"天气预报":                                                                                                            4,
		"Прогноз погоды на завтра":                                                                                        12,
		"func main() {\n\tfmt.Println(\"hi\")\n}\n":                                                                       16,
		"Reads a file from disk.\n\nGive an absolute path, never a pattern.":                                              16,
	} {
		got := Tokens(text)
		if low, high := want-want/4-1, want+want/4+1; got < low || got > high {
			t.Errorf("Tokens(%.40q) = %d, want about %d", text, got, want)
		}
	}
}

// Cutting a text in two never makes it much cheaper or dearer.
func TestTokensAdd(t *testing.T) {
	text := `{"name":"list_pods","description":"List the pods of a namespace."} and some more, 12345 times`
	whole := Tokens(text)
	for i := range text {
		if sum := Tokens(text[:i]) + Tokens(text[i:]); sum < whole || sum > whole+2 {
			t.Errorf("cut at %d: %d, whole %d", i, sum, whole)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat(`{"name":"list_pods","description":"List the pods of a namespace."}`, 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Tokens(text)
	}
}
