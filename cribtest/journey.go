package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolcrib/toolcrib"
)

// Journeys plays every *.txtar of a directory, each on a crib that open makes
// of its tools section ([Open] does for the demo tools). A file has a head in
// prose that says what it shows, and three sections:
//
//	-- tools --
//	{"guards": [{"decision": "allow"}]}
//	-- calls --
//	{"tool": "echo", "input": {"text": "hi"}}
//	-- want --
//	{"call":1,"result":{"value":{"text":"hi"}}}
//	{"record":"id-1",…}
//
// Each line of calls is one call; besides tool and input it may have id,
// caller, parent, lenient, raw (an input that is no JSON), cancelled and within
// (a deadline). An empty line or one that begins with # is skipped. The wanted
// lines are, for each call, its answer and the records it left, without what
// differs from run to run; -update writes them. Time is that of
// testing/synctest, so waiting costs nothing.
func Journeys(t *testing.T, dir string, open func(t testing.TB, s Setup) *toolcrib.Crib) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("there is no journey in %s", dir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			j, err := readJourney(text)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			synctest.Test(t, func(t *testing.T) {
				got, err := j.play(t.Context(), open(t, j.setup))
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				Golden(t, file, j.written(got))
				time.Sleep(2 * time.Minute) // a tool that was left behind comes to its end
			})
		})
	}
}

// journey is a file, read.
type journey struct {
	head  []byte
	tools []byte // as written
	calls []byte // as written
	setup Setup
	list  []journeyCall
}

// journeyCall is one line of the calls section.
type journeyCall struct {
	ID        string           `json:"id"`
	Caller    *toolcrib.Caller `json:"caller"` // nil: ann via journey
	Tool      string           `json:"tool"`
	Input     json.RawMessage  `json:"input"`
	Raw       string           `json:"raw"` // instead of input: any text
	Parent    string           `json:"parent"`
	Lenient   bool             `json:"lenient"`
	Cancelled bool             `json:"cancelled"` // the caller has gone before the call
	Within    string           `json:"within"`    // the caller waits so long
}

func readJourney(text []byte) (*journey, error) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if slices.Contains(strings.Split(string(text), "\n"), "-- --") {
		return nil, errors.New("a section has no name") // the parser would panic
	}
	archive := txtar.Parse(text)
	j := &journey{head: archive.Comment}
	if len(bytes.TrimSpace(j.head)) == 0 {
		return nil, errors.New("the head is empty: say in prose what the journey shows")
	}
	var names []string
	for _, f := range archive.Files {
		names = append(names, f.Name)
		switch f.Name {
		case "tools":
			j.tools = f.Data
		case "calls":
			j.calls = f.Data
		}
	}
	if got := strings.Join(names, " "); got != "tools calls want" && got != "tools calls" {
		return nil, fmt.Errorf("the sections are %q, want tools, calls, want", names)
	}
	var err error
	if j.setup, err = ReadSetup(j.tools); err != nil {
		return nil, err
	}
	if j.list, err = readCalls(j.calls); err != nil {
		return nil, err
	}
	return j, nil
}

func readCalls(text []byte) ([]journeyCall, error) {
	var list []journeyCall
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var c journeyCall
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		err := dec.Decode(&c)
		if err == nil {
			if _, more := dec.Token(); !errors.Is(more, io.EOF) {
				err = errors.New("more than one value on a line")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the calls: %w", n, err)
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, errors.New("there are no calls")
	}
	return list, nil
}

// written is the file with these wanted lines.
func (j *journey) written(want []byte) []byte {
	return txtar.Format(&txtar.Archive{Comment: j.head, Files: []txtar.File{
		{Name: "tools", Data: j.tools}, {Name: "calls", Data: j.calls}, {Name: "want", Data: want},
	}})
}

// play makes the calls one after the other and tells what came of them.
func (j *journey) play(ctx context.Context, crib *toolcrib.Crib) ([]byte, error) {
	spy := &spyJournal{inner: crib.Journal}
	if crib.Journal != nil {
		crib.Journal = spy
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	names := &idNames{}
	told := 0
	for i, c := range j.list {
		result, err := c.make(ctx, crib)
		line, err := answerOf(i+1, result, err)
		if err != nil {
			return nil, err
		}
		if err := enc.Encode(line); err != nil {
			return nil, err
		}
		names.given(c.ID)
		records := spy.Records()
		for _, r := range records[told:] {
			names.seen(r.ID)
			if err := enc.Encode(recordOf(r)); err != nil {
				return nil, err
			}
		}
		told = len(records)
	}
	return names.replace(out.Bytes()), nil
}

func (c journeyCall) make(ctx context.Context, crib *toolcrib.Crib) (*toolcrib.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.Cancelled {
		cancel()
	}
	if c.Within != "" {
		limit, err := time.ParseDuration(c.Within)
		if err != nil {
			return nil, fmt.Errorf("within: %w", err)
		}
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	call := toolcrib.Call{ID: c.ID, Tool: c.Tool, Input: c.Input, Parent: c.Parent, Lenient: c.Lenient}
	call.Caller = toolcrib.Caller{Subject: "ann", Frontend: "journey"}
	if c.Caller != nil {
		call.Caller = *c.Caller
	}
	if c.Raw != "" {
		call.Input = json.RawMessage(c.Raw)
	}
	return crib.Call(ctx, call)
}
