package settings

import (
	"strings"
	"testing"
)

// TestAgentNamesAreSeen: no preset looks like another one, or like nothing.
func TestAgentNamesAreSeen(t *testing.T) {
	for _, name := range []string{" ", "strict ", "strict\u200b", "\u202estrict", "a\x1b[31m", "a\nb", "lead/helper", "/"} {
		l := &Layers{User: Config{Agents: map[string]Agent{name: {Mode: "yolo"}}}}
		if _, err := l.Visibility(nil); err == nil || strings.ContainsAny(err.Error(), "\x1b\u200b\u202e") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"strict", "Prüfer", "a.b", "code review", "研究员"} {
		l := &Layers{User: Config{Agents: map[string]Agent{name: {}}}}
		if _, err := l.Visibility(nil); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
