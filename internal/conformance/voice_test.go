package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"
	"time"

	voiced "github.com/toolcrib/toolcrib/internal/spoken"
)

// voicePackages has espeak-ng with its voices.
const voicePackages = "testdata/voice/requirements.txt"

func voice(t testing.TB) environment {
	t.Helper()
	return packagesOf(t, "voice", voicePackages)
}

// longest is how long a refusal may take to be said.
const longest = 12.0

// TestGenuineVoiceSpellsNothing: what people are told of refusals, by every guard of a real
// program in every language and by the whole table, is read by espeak-ng. It spells out
// nothing and is done soon.
func TestGenuineVoiceSpellsNothing(t *testing.T) {
	python := voice(t).python
	var lines []line
	for _, s := range allRefusing() {
		lines = append(lines, refusedOverTheBus(t, s)...)
	}
	met := len(lines)
	for _, lang := range voiced.Languages() {
		for _, key := range voiced.Keys() {
			lines = append(lines, line{lang, voiced.Sentence{Key: key, Number: 3600, Words: "weather forecast"}.In(lang), string(key)})
		}
	}
	most := 0.0
	for i, r := range readAloud(t, python, lines) {
		l := lines[i]
		most = max(most, r.Seconds)
		if len(r.Spelled) > 0 || r.Seconds > longest || r.Seconds <= 0 || r.Phonemes == "" {
			t.Errorf("%s: %q takes %.1f s, and %q is spelled: %s", l.from, l.Text, r.Seconds, r.Spelled, r.Phonemes)
		}
	}
	t.Logf("%d texts of refusals and %d of the table; the longest takes %.1f s", met, len(lines)-met, most)
}

// TestGenuineVoiceHearsSpelling: the test above would notice.
func TestGenuineVoiceHearsSpelling(t *testing.T) {
	python := voice(t).python
	var lines []line
	for _, text := range []string{
		"Error reading file: /home/x/notes.txt", "Question 3f9a1c77 stays open", "The HTTP server is down", "set a=b", "see notes txt", "half of it is 50% of it",
		"Write access is disabled (allow_write=False).", "ask user@host", "there is no x there",
	} {
		for _, lang := range voiced.Languages() {
			lines = append(lines, line{Lang: lang, Text: text})
		}
	}
	for i, r := range readAloud(t, python, lines) {
		if len(r.Spelled) == 0 {
			t.Errorf("%s: nothing of %q is spelled: %s", lines[i].Lang, lines[i].Text, r.Phonemes)
		}
	}
}

// reading is how a text was read.
type reading struct {
	Seconds  float64  `json:"seconds"`
	Phonemes string   `json:"phonemes"`
	Spelled  []string `json:"spelled"`
}

func readAloud(t *testing.T, python string, lines []line) (list []reading) {
	t.Helper()
	var in bytes.Buffer
	for _, l := range lines {
		if err := json.NewEncoder(&in).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "testdata/voice/read_aloud.py")
	cmd.Stdin = &in
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	for text := range bytes.Lines(out) {
		var r reading
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if len(list) != len(lines) {
		t.Fatalf("%d of %d texts were read", len(list), len(lines))
	}
	return slices.Clip(list)
}
