package shell

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestPagesShowNothingHidden: wherever a page of an output begins and ends, it
// shows no part of what is hidden, and all of the rest.
func TestPagesShowNothingHidden(t *testing.T) {
	const secret = "key-0123456789abcdef"
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	hide := func(text string) (spans []Span, err error) {
		for at := 0; ; {
			n := strings.Index(text[at:], secret)
			if n < 0 {
				return spans, nil
			}
			spans = append(spans, Span{at + n, at + n + len(secret)})
			at += n + len(secret)
		}
	}
	for name, text := range map[string]string{"short": "a " + secret + " b " + secret + "\nc", "long": strings.Repeat("line "+secret+"\n", 400)} {
		t.Run(name, func(t *testing.T) {
			c := newCapture(Config{Output: 1000, Spill: 1 << 20, Hide: hide, Mark: "#"}, root, name, "stdout", make(chan struct{}, 1), func(toolcrib.Event) {})
			if _, err := c.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			defer c.drop()
			for _, limit := range []int{1, 7, 40, 1000} {
				for offset := int64(0); offset < min(int64(len(text)), 300); offset++ {
					got, next, total, err := c.page(offset, limit)
					if err != nil || total != int64(len(text)) || next != min(offset+int64(limit), total) {
						t.Fatalf("page %d+%d: next %d of %d, %v", offset, limit, next, total, err)
					}
					if rest := strings.Trim(strings.ReplaceAll(got, "#", ""), " abcline\n"); rest != "" {
						t.Fatalf("page %d+%d shows %q", offset, limit, got)
					}
				}
			}
			// What is shown whole is looked at when the call ends.
			if got, cut := c.text(); cut && (strings.Contains(got, "0123") || strings.Contains(got, "cdef")) {
				t.Errorf("the result shows %q", got)
			}
			c.told = 9
			if got, _ := c.fresh(20); strings.Contains(got, "23") {
				t.Errorf("what is new shows %q", got)
			}
		})
	}
	t.Run("it cannot be told", func(t *testing.T) {
		c := newCapture(Config{Output: 100, Hide: func(string) ([]Span, error) { return nil, errors.New("locked") }}, nil, "x", "stdout", make(chan struct{}, 1), func(toolcrib.Event) {})
		_, _ = c.Write([]byte(secret)) // it never fails
		if got, _, _, err := c.page(0, 10); err == nil || got != "" {
			t.Errorf("%q, %v", got, err)
		}
		if got, _ := c.fresh(10); strings.Contains(got, "key") {
			t.Errorf("%q", got)
		}
	})
}
