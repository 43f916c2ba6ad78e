package cribtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

const plainJourney = `Says good day.
-- tools --
{"tools": ["echo", "relay"], "guards": [{"decision": "allow", "reason": "all"}]}
-- calls --
# a comment, and an empty line

{"tool": "relay", "input": {"tool": "echo", "input": {"text": "good day"}}}
{"id": "mine", "tool": "echo", "input": {"text": "good night"}}
`

const plainWant = `{"call":1,"result":{"value":{"text":"{\"text\":\"good day\"}"}}}
{"record":"id-1","subject":"ann","tool":"relay","native":"demo/relay","input":{"input":{"text":"good day"},"tool":"echo"},"verdicts":["allow by fake: all"],"outcome":"done"}
{"record":"id-2","parent":"id-1","subject":"ann","tool":"echo","native":"demo/echo","input":{"text":"good day"},"verdicts":["allow by fake: all"],"outcome":"done"}
{"call":2,"result":{"value":{"text":"good night"}}}
{"record":"mine","subject":"ann","tool":"echo","native":"demo/echo","input":{"text":"good night"},"verdicts":["allow by fake: all"],"outcome":"done"}
`

func TestPlay(t *testing.T) {
	j, err := readJourney([]byte(plainJourney))
	if err != nil {
		t.Fatal(err)
	}
	got, err := j.play(t.Context(), Open(t, j.setup))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plainWant, string(got)); diff != "" {
		t.Errorf("play (-want +got):\n%s", diff)
	}
	file := filepath.Join(t.TempDir(), "plain.txtar")
	if err := os.WriteFile(file, []byte(plainJourney+"-- want --\n"+plainWant), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := goldenDiff(file, j.written(got)); diff != "" {
		t.Errorf("the file is not what would be written: %s", diff)
	}
	if diff := goldenDiff(file, j.written([]byte(strings.Replace(plainWant, "good day", "good evening", 1)))); diff == "" {
		t.Error("another answer was not noticed")
	}
	if diff := goldenDiff(file+".gone", nil); !strings.Contains(diff, "-update") {
		t.Errorf("a missing file was told as %q", diff)
	}
}

func TestReadJourneyRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no head":            "-- tools --\n{}\n-- calls --\n{}\n",
		"no calls section":   "Head.\n-- tools --\n{}\n",
		"no calls":           "Head.\n-- tools --\n{}\n-- calls --\n# none\n",
		"a stray section":    "Head.\n-- tools --\n{}\n-- calls --\n{}\n-- wants --\n",
		"swapped sections":   "Head.\n-- calls --\n{}\n-- tools --\n{}\n",
		"a nameless section": "Head.\n-- --\n",
		"an empty setup":     "Head.\n-- tools --\n-- calls --\n{}\n",
		"an unknown setting": "Head.\n-- tools --\n{\"guard\": []}\n-- calls --\n{}\n",
		"two setups":         "Head.\n-- tools --\n{}{}\n-- calls --\n{}\n",
		"an unknown key":     "Head.\n-- tools --\n{}\n-- calls --\n{\"tol\": \"echo\"}\n",
		"two calls a line":   "Head.\n-- tools --\n{}\n-- calls --\n{}{}\n",
	} {
		if _, err := readJourney([]byte(text)); err == nil {
			t.Errorf("a journey with %s was read", name)
		}
	}
}

func TestSetupRefuses(t *testing.T) {
	for name, s := range map[string]Setup{
		"an unknown tool":    {Tools: []string{"nothing"}},
		"an unknown journal": {Journal: "paper"},
		"a bad duration":     {Limits: LimitsSetup{Timeout: "soon"}},
		"a bad alias":        {Alias: map[string]string{"x": "nothing"}},
	} {
		if _, err := s.crib(t.Context()); err == nil {
			t.Errorf("a setup with %s was made", name)
		}
	}
}

func TestPersonFollowsTheScript(t *testing.T) {
	a := &Person{Script: []Reply{{Answer: toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}}, {Silent: true}}}
	if got, err := a.Approve(t.Context(), toolcrib.Question{Text: "one"}); err != nil || got.By != "bob" {
		t.Errorf("first reply: %+v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if got, err := a.Approve(ctx, toolcrib.Question{Text: "two"}); err == nil {
		t.Errorf("the silent person said %+v", got)
	}
	if got, err := a.Approve(t.Context(), toolcrib.Question{}); err == nil || got.Decision != toolcrib.Deny {
		t.Errorf("after the script: %+v, %v", got, err)
	}
	if asked := a.Asked(); len(asked) != 3 || asked[1].Text != "two" {
		t.Errorf("asked: %+v", asked)
	}
}

func TestClock(t *testing.T) {
	var c Clock
	start := c.Now()
	if again := c.Now(); !again.Equal(start) || start.Year() != 2026 {
		t.Errorf("the clock moved by itself: %v, %v", start, again)
	}
	c.Advance(90 * time.Second)
	if got := c.Now().Sub(start); got != 90*time.Second {
		t.Errorf("moved by %v", got)
	}
}

func TestGuards(t *testing.T) {
	for want, g := range map[toolcrib.Decision]toolcrib.Guard{toolcrib.Allow: Allow(), toolcrib.Ask: Ask("why"), toolcrib.Deny: Deny("why")} {
		v, err := g.Judge(t.Context(), toolcrib.Review{})
		if err != nil || v == nil || v.Decision != want || v.Reason == "" {
			t.Errorf("the %s guard says %+v, %v", want, v, err)
		}
	}
}

// FuzzReadJourney: whatever is read is written back the same.
func FuzzReadJourney(f *testing.F) {
	f.Add([]byte(plainJourney + "-- want --\n" + plainWant))
	f.Add([]byte("Head.\n-- tools --\n{}\n-- calls --\n{\"raw\":\"\\u0000\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := readJourney(text)
		if err != nil {
			return
		}
		again, err := readJourney(j.written([]byte(plainWant)))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(j.list, again.list); diff != "" {
			t.Errorf("the calls changed:\n%s", diff)
		}
	})
}
