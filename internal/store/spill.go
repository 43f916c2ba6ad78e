package store

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// spill is the file of ends that the database did not take. Each run has its
// own. It is made when it is needed and removed when it is empty.
type spill struct {
	path  string
	f     *os.File
	count int
	refs  []uint64 // the begins of what it holds
	room  reserve
	flush func(*os.File) error // (*os.File).Sync, but in tests
}

func newSpill(dir, run string) *spill {
	return &spill{path: spillPath(dir, run), room: newReserve(dir), flush: (*os.File).Sync}
}

func spillPath(dir, run string) string { return filepath.Join(dir, "spill-"+run+".jsonl") }

// spilled is one line.
type spilled struct {
	At       int64           `json:"at_ns"`
	Duration int64           `json:"duration_ns,omitempty"`
	Call     string          `json:"call"`
	Subject  string          `json:"subject,omitempty"`
	Session  string          `json:"session,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Box      string          `json:"box,omitempty"`
	Outcome  string          `json:"outcome"`
	Ref      uint64          `json:"ref"` // its begin
	Body     json.RawMessage `json:"body"`
	Seal     []byte          `json:"seal"` // this file lies beside the database, and can be forged as easily
}

// add writes ends and waits for the disk: the database may be in trouble
// because the machine is.
func (s *spill) add(ends []*op, by *sealer) error {
	if len(ends) == 0 {
		return nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, o := range ends {
		if err := enc.Encode(spilled{o.at, o.duration, o.call, o.subject, o.session, o.tool, o.box, o.outcome, o.ref, o.body, by.spilled(&o.entry)}); err != nil {
			return fmt.Errorf("spilling call %s: %w", o.call, err)
		}
	}
	err := s.appendLines(text.Bytes())
	if err != nil && s.room.free() {
		err = s.appendLines(text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("spilling: %w", err)
	}
	s.count += len(ends)
	return nil
}

// appendLines appends whole lines or nothing: half a line would spoil the next one.
func (s *spill) appendLines(lines []byte) error {
	if s.f == nil {
		f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		s.f = f
	}
	size, err := s.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err = s.f.Write(lines); err == nil {
		err = s.flush(s.f)
	}
	if err != nil {
		err = errors.Join(err, s.f.Truncate(size))
	}
	return err
}

// clear removes the file after its ends were appended.
func (s *spill) clear() error {
	var err error
	if s.f != nil {
		err = s.f.Close()
		s.f = nil
	}
	s.count, s.refs = 0, nil
	return errors.Join(err, removeIfThere(s.path))
}

// close lets go of the file and leaves it for the next opening.
func (s *spill) close() error {
	if s.f == nil {
		return nil
	}
	return s.f.Close()
}

// parseSpill reads the lines of a spill file. What cannot be read is counted:
// a last line without an end was being written when the process died, and
// its call was not acknowledged.
func parseSpill(from io.Reader) (ends []spilled, bad int, err error) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, 0, fmt.Errorf("reading a spill file: %w", err)
		}
		if err == io.EOF {
			if len(line) > 0 {
				bad++
			}
			return ends, bad, nil
		}
		var s spilled
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if d.Decode(&s) != nil || d.More() || s.Call == "" || s.Outcome == "" || len(s.Body) == 0 || s.Body[0] != '{' {
			bad++
			continue
		}
		ends = append(ends, s)
	}
}

// op makes the entry again.
func (s *spilled) op(run string) *op {
	o := newOp()
	o.entry = entry{
		kind: kindEnd, at: s.At, duration: s.Duration, call: clean(s.Call), subject: clean(s.Subject), session: clean(s.Session),
		tool: clean(s.Tool), box: clean(s.Box), outcome: clean(s.Outcome), ref: s.Ref, body: s.Body, seal: s.Seal,
	}
	o.ready(run)
	return o
}

// takeSpill appends the ends of a spill file, if there is one. It is called
// within a transaction; the file is removed after the commit. An end that is
// there already was appended before a crash kept its file from being removed.
func (j *Journal) takeSpill(run string) error {
	path := spillPath(j.cfg.Dir, run)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening a spill file: %w", err)
	}
	ends, bad, err := parseSpill(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if bad > 0 {
		j.cfg.Log.Error("a spill file has unreadable lines; their calls are interrupted", "file", path, "lines", bad)
	}
	for i := range ends {
		o := ends[i].op(run)
		if !hmac.Equal(j.w.seal.spilled(&o.entry), o.seal) {
			j.cfg.Log.Error("a spilled end was not written by this journal; its call is interrupted", "file", path, "call", o.call)
			continue
		}
		ref, err := j.w.openCall.number(o.call, o.subject)
		if err != nil {
			return fmt.Errorf("looking for call %s: %w", o.call, err)
		}
		if uint64(ref) != o.ref || ref == 0 {
			j.cfg.Log.Warn("a spilled end has no open call", "call", o.call)
			continue
		}
		if _, err := j.w.append(o); err != nil {
			return err
		}
	}
	return nil
}

// drain appends what this run spilled. Without any it just tries to write.
func (j *Journal) drain() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.spill.count
	err := j.w.within(func() error {
		if n == 0 {
			return nil
		}
		return j.takeSpill(j.run)
	})
	if err != nil {
		return err
	}
	if n > 0 {
		if err := j.spill.clear(); err != nil {
			// The ends are in the chain; at the next opening they are found there.
			j.cfg.Log.Error("the spill file cannot be removed", "err", err)
		}
		if err := j.spill.room.fill(); err != nil {
			j.cfg.Log.Warn("there is no reserve for a full disk", "err", err)
		}
	}
	j.wrote(n)
	return nil
}
