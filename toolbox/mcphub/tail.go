package mcphub

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// tail keeps the end of what a program wrote to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
	lost bool
	from int // where what the program of now wrote begins
}

// begin says that another program writes from now on.
func (t *tail) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from = len(t.text)
}

// now is what the last program wrote.
func (t *tail) now() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.text[t.from:]), "�")
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
		t.lost, t.from = true, max(0, t.from-over)
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

// last are the last lines that the program of now wrote, without what says nothing.
func (t *tail) last(most int) (lines []string) {
	for line := range strings.Lines(t.now()) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" && !saysNothing.MatchString(strings.TrimSpace(line)) {
			lines = append(lines, clipLine(line))
		}
	}
	return lines[max(0, len(lines)-most):]
}

// reason is the line that says why a program ended, for an error: the last one that
// says error, else the last that says anything.
func (t *tail) reason() string {
	lines := strings.Split(strings.TrimSpace(t.now()), "\n")
	said := ""
	for i, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || i < len(lines)-reasonFar || closing.MatchString(line):
			continue
		case saysError.MatchString(line):
			return clipLine(line)
		case said == "":
			said = line
		}
	}
	if said == "" {
		said = strings.TrimSpace(lines[len(lines)-1])
	}
	return clipLine(said)
}

// reasonFar is how many lines from the end the reason is looked for: behind it come
// the places in the program that it went through.
const reasonFar = 60

var (
	// saysError is how programs begin the line that says what went wrong: those of Node
	// and Python by the name of an error, others by the word.
	saysError = regexp.MustCompile(`^(Uncaught )?([A-Za-z_.]*(Error|Exception)( \[\w+\])?|(?i:error|fatal|panic)): |^npm (error|ERR!) [0-9]+ [A-Z][a-z]+ [A-Z]|^\S+: (error|fatal): `)
	// closing is what stands behind it and says nothing: the version of Node, where npm
	// has its log, and frames.
	closing = regexp.MustCompile(`^(Node\.js v|npm notice|npm (error|ERR!) (A complete log|code |Note that|or specify|$)|at |\}|\]|code: |requireStack: )`)
	// saysNothing is the part of closing that helps nobody to find the cause.
	saysNothing = regexp.MustCompile(`^(Node\.js v|npm notice|npm (error|ERR!)$|at |\}|\]|requireStack: )`)
)

func clipLine(line string) string {
	if r := []rune(line); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return line
}
