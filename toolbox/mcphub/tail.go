package mcphub

import (
	"strings"
	"sync"
)

// tail keeps the end of what a program wrote to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
	lost bool
}

// tailMost is how much is kept.
const tailMost = 64 << 10

// Write never fails: what a program complains about must not end it.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailMost; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
		t.lost = true
	}
	return len(p), nil
}

// String is what is kept, from the beginning of a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text)
	if t.lost {
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return strings.ToValidUTF8(text, "�")
}

// last is the last line with something in it, for an error.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if r := []rune(line); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return line
}
