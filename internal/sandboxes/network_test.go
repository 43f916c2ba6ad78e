package sandboxes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostproxy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// reaching is a sandbox whose programs reach some hosts.
type reaching struct{ list []hostproxy.Connection }

func (reaching) Enforces() toolcrib.Bounds { return ^toolcrib.Bounds(0) }

func (r reaching) Run(ctx context.Context, _ toolcrib.Cmd, _ toolcrib.Grant) (toolcrib.Exit, error) {
	watch, ok := sandbox.WatchOf(ctx)
	for _, c := range r.list {
		if !ok {
			return toolcrib.Exit{Code: 1}, nil
		}
		if c.Refused == "" {
			if err := watch.Begin(c.Host, c.Port); err != nil {
				return toolcrib.Exit{Code: 2}, nil //nolint:nilerr // a program would only fail
			}
		}
		watch.Ended(c)
	}
	return toolcrib.Exit{}, nil
}

// book is a journal in memory.
type book struct {
	begun, ended []toolcrib.Record
	fail         error
}

func (b *book) Begin(_ context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	b.begun = append(b.begun, *r)
	return nil, b.fail
}

func (b *book) End(_ context.Context, r *toolcrib.Record) error {
	b.ended = append(b.ended, *r)
	return nil
}

func telling(t *testing.T, box toolcrib.Sandbox, journal toolcrib.Journal) *Telling {
	t.Helper()
	chooser, err := sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{
		{Name: sandbox.Linux, Strength: sandbox.Machine, Open: func(context.Context) (toolcrib.Sandbox, error) { return box, nil }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &Telling{Chooser: chooser, Log: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)), Crib: &toolcrib.Crib{Journal: journal}}
}

func TestConnectionsAreRecorded(t *testing.T) {
	var list []hostproxy.Connection
	for range 1000 {
		list = append(list, hostproxy.Connection{Host: "good.example", Port: "443", Sent: 1, Received: 2})
	}
	list = append(list, hostproxy.Connection{Host: "other.example", Port: "443", Refused: "the host was not granted"}, hostproxy.Connection{Host: "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB.evil.example", Refused: "no"})
	for i := range 1000 {
		list = append(list, hostproxy.Connection{Host: fmt.Sprintf("h%d.example", i), Refused: "no"})
	}
	journal := &book{}
	box := telling(t, reaching{list}, journal)
	call := toolcrib.Call{ID: "call-1", Caller: toolcrib.Caller{Subject: "me"}}
	if exit, err := box.Run(t.Context(), toolcrib.Cmd{Path: "/bin/true", Call: call}, toolcrib.Grant{Hosts: []string{"good.example"}}); err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if len(journal.begun) != 1 || len(journal.ended) != 1 {
		t.Fatalf("%d begun, %d ended", len(journal.begun), len(journal.ended))
	}
	r := journal.ended[0]
	if r.Parent != "call-1" || r.Caller.Subject != "me" || r.Tool != NetworkTool || r.Outcome != toolcrib.Done || string(r.Input) != `{"hosts":["good.example"]}` || r.ID == "" {
		t.Errorf("%+v", r)
	}
	var result struct {
		Value struct {
			Connections []connection
			More        int
		}
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		t.Fatal(err)
	}
	sent := int64(0)
	for _, c := range result.Value.Connections {
		sent += c.Sent
	}
	if n := len(result.Value.Connections); n != maxKinds || sent != 1000 || result.Value.More == 0 || len(r.Result) > 200_000 {
		t.Errorf("%d connections with %d bytes, %d more, in %d bytes", n, sent, result.Value.More, len(r.Result))
	}
	if strings.Contains(string(r.Result), "ghp_") {
		t.Error("a token is in the journal")
	}
}

// TestServersAreRecorded: a program that serves many calls has a record of its own,
// which says which program it is.
func TestServersAreRecorded(t *testing.T) {
	journal := &book{}
	box := telling(t, nil, journal)
	cmd := toolcrib.Cmd{Tool: "mcp server x", Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: "me"}}}
	grant := toolcrib.Grant{Hosts: []string{"good.example"}}
	ctx, ended := box.Watch(t.Context(), cmd, grant)
	if exit, err := (reaching{[]hostproxy.Connection{{Host: "good.example", Port: "443"}}}).Run(ctx, cmd, grant); err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if err := ended(); err != nil || len(journal.ended) != 1 {
		t.Fatalf("%v: %+v", err, journal.ended)
	}
	if r := journal.ended[0]; r.Parent != "" || r.Caller.Subject != "me" || string(r.Input) != `{"hosts":["good.example"],"program":"mcp server x"}` {
		t.Errorf("%+v", r)
	}
}

// TestNoJournalNoConnection: what cannot be recorded is not done, and a program that
// reaches nothing leaves no record.
func TestNoJournalNoConnection(t *testing.T) {
	one := reaching{[]hostproxy.Connection{{Host: "good.example"}}}
	cmd, grant := toolcrib.Cmd{Path: "/bin/true", Call: toolcrib.Call{ID: "x"}}, toolcrib.Grant{Hosts: []string{"good.example"}}
	for _, journal := range []toolcrib.Journal{nil, &book{fail: errors.New("the disk is full")}} {
		if exit, err := telling(t, one, journal).Run(t.Context(), cmd, grant); err != nil || exit.Code != 2 {
			t.Errorf("%+v, %v", exit, err)
		}
	}
	quiet := &book{}
	if _, err := telling(t, reaching{}, quiet).Run(t.Context(), cmd, grant); err != nil || len(quiet.begun) > 0 {
		t.Errorf("%+v, %v", quiet.begun, err)
	}
}
