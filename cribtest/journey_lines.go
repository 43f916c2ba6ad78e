package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
)

// answerLine is what one call of a journey answered.
type answerLine struct {
	Call   int              `json:"call"`
	Result *toolcrib.Result `json:"result,omitempty"`
	Error  *refusalLine     `json:"error,omitempty"`
}

type refusalLine struct {
	Code    toolcrib.Code         `json:"code"`
	Tool    string                `json:"tool,omitempty"`
	Message string                `json:"message"`
	Bad     []toolcrib.FieldError `json:"bad,omitempty"`
}

func answerOf(n int, result *toolcrib.Result, err error) (answerLine, error) {
	if err == nil {
		return answerLine{Call: n, Result: result}, nil
	}
	e, ok := toolcrib.AsError(err)
	if !ok {
		return answerLine{}, fmt.Errorf("call %d answered with an error that is no *toolcrib.Error: %w", n, err)
	}
	return answerLine{Call: n, Error: &refusalLine{e.Code, e.Tool, e.Message, e.Fields}}, nil
}

// recordLine is a record without times and hashes.
type recordLine struct {
	Record     string           `json:"record"`
	Replay     string           `json:"replay,omitempty"`
	Parent     string           `json:"parent,omitempty"`
	Subject    string           `json:"subject,omitempty"`
	Tool       string           `json:"tool"`
	Native     string           `json:"native,omitempty"` // box/tool
	Input      json.RawMessage  `json:"input,omitempty"`
	Verdicts   []string         `json:"verdicts,omitempty"`
	ApprovedBy string           `json:"approved_by,omitempty"`
	Edited     json.RawMessage  `json:"edited,omitempty"`
	Outcome    toolcrib.Outcome `json:"outcome"`
	Message    string           `json:"message,omitempty"`
	Cut        bool             `json:"cut,omitempty"`
}

func recordOf(r toolcrib.Record) recordLine {
	line := recordLine{
		Record: r.ID, Replay: r.Replay, Parent: r.Parent, Subject: r.Caller.Subject, Tool: r.Tool, Input: r.Input,
		ApprovedBy: r.ApprovedBy, Edited: r.Edited, Outcome: r.Outcome, Message: r.Message, Cut: r.Cut,
	}
	if r.Native != "" {
		line.Native = r.Box + "/" + r.Native
	}
	for _, v := range r.Verdicts {
		line.Verdicts = append(line.Verdicts, strings.TrimSuffix(fmt.Sprintf("%s by %s: %s", v.Decision, v.Guard, v.Reason), ": "))
	}
	return line
}

// idNames gives the IDs that the crib made up names that stay the same from
// run to run: id-1, id-2 in the order they were begun.
type idNames struct {
	own  []string // chosen by the journey
	made []string
}

func (n *idNames) given(id string) {
	if id != "" {
		n.own = append(n.own, id)
	}
}

func (n *idNames) seen(id string) {
	if !slices.Contains(n.own, id) && !slices.Contains(n.made, id) {
		n.made = append(n.made, id)
	}
}

func (n *idNames) replace(text []byte) []byte {
	for i, id := range n.made {
		text = bytes.ReplaceAll(text, []byte(id), fmt.Appendf(nil, "id-%d", i+1))
	}
	return text
}

// spyJournal keeps a copy of what passes to a journal.
type spyJournal struct {
	inner toolcrib.Journal

	mu      sync.Mutex
	records []*toolcrib.Record
}

// Begin passes the record on and keeps it if it is new.
func (s *spyJournal) Begin(ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	old, err := s.inner.Begin(ctx, r)
	if err != nil || old != nil {
		return old, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, cloneRecord(r))
	return nil, nil
}

// End passes the record on and keeps what was added to it.
func (s *spyJournal) End(ctx context.Context, r *toolcrib.Record) error {
	s.mu.Lock()
	for i, kept := range s.records {
		if kept.ID == r.ID && kept.Caller.Subject == r.Caller.Subject {
			s.records[i] = cloneRecord(r)
		}
	}
	s.mu.Unlock()
	return s.inner.End(ctx, r)
}

// Records gives copies in the order the calls were begun.
func (s *spyJournal) Records() []toolcrib.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]toolcrib.Record, len(s.records))
	for i, r := range s.records {
		out[i] = *cloneRecord(r)
	}
	return out
}
