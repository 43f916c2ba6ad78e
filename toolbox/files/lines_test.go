package files

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestNewlines(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"a\nb":                              "a\nb",
		"a\r\nb\rc\n\rd":                    "a\nb\nc\n\nd",
		"a\vb\fc\x1cd\x1de\x1ef":            "a\nb\nc\nd\ne\nf",
		"a\u0085b\u2028c\u2029d":            "a\nb\nc\nd",
		"\xff\xfe foo \x00":                 "\uFFFD\uFFFD foo \x00",
		"ends in half a character \xe2\x80": "ends in half a character \uFFFD\uFFFD",
		"\r":                                "\n",
		strings.Repeat("é\r\n", 20_000):     strings.Repeat("é\n", 20_000),
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "with the end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := io.ReadAll(&newlines{r: r})
			if err != nil || string(got) != want {
				t.Errorf("%q, %s: %q, %v", text[:min(len(text), 40)], name, got[:min(len(got), 60)], err)
			}
		}
	}
	if _, err := io.ReadAll(&newlines{r: io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF))}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a failed read: %v", err)
	}
}

// FuzzNewlines: however a text is cut into reads, the lines are the same, and
// nothing but line ends and broken bytes is changed.
func FuzzNewlines(f *testing.F) {
	f.Add([]byte("a\r\nb\u2028c\xe2\x80"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := io.ReadAll(&newlines{r: bytes.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := io.ReadAll(&newlines{r: iotest.OneByteReader(bytes.NewReader(text))})
		if err != nil || !bytes.Equal(whole, pieces) {
			t.Fatalf("%q against %q, %v", whole, pieces, err)
		}
		if again, err := io.ReadAll(&newlines{r: bytes.NewReader(whole)}); err != nil || !bytes.Equal(whole, again) {
			t.Fatalf("not settled: %q, then %q, %v", whole, again, err)
		}
	})
}
