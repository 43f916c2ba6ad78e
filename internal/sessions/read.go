package sessions

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/toolcrib/toolcrib/model"
)

// Session is what a file held.
type Session struct {
	Info    Info
	Entries []Entry
	// Fault says what of the file could not be read; nil: nothing. What stands before
	// it is in Entries.
	Fault error

	whole int64 // how many bytes of the file are whole lines that were read
}

// maxLine bounds a line: a message with images.
const maxLine = 32 << 20

// Load reads a session of an owner.
func (s *Store) Load(o Owner, id string) (*Session, error) {
	file, err := s.file(o, id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the session %s: %w", id, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	out, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("reading the session %s: %w", id, err)
	}
	if out.Info.Owner != o || out.Info.ID != id { // a file that was put here by other hands
		return nil, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	if info, err := f.Stat(); err == nil {
		out.Info.Updated, out.Info.Size = info.ModTime(), info.Size()
	}
	return out, nil
}

// Read reads the lines of a session. What cannot be read ends it: what stands before is
// given, with a Fault. Only a first line that says nothing is an error.
func Read(r io.Reader) (*Session, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	first, err := line(lines)
	if err != nil { // one that was cut off has nothing behind it
		return nil, fmt.Errorf("the first line cannot be read: %w", err)
	}
	out := &Session{whole: int64(len(first)) + 1}
	if err := json.Unmarshal(first, &out.Info); err != nil || out.Info.ID == "" {
		return nil, errors.New("the first line does not say what session it is")
	}
	if out.Info.Version != version {
		return nil, fmt.Errorf("it was written by another version of this program (%d; this one reads %d)", out.Info.Version, version)
	}
	for n := 2; out.entry(lines, n); n++ {
	}
	out.Entries = answered(out.Entries)
	return out, nil
}

// entry reads one line; false: it was the last that there is, or that can be read.
func (s *Session) entry(lines *bufio.Reader, n int) bool {
	text, err := line(lines)
	if errors.Is(err, io.EOF) {
		return false // nothing, or a line that was being written when the program died
	}
	var e Entry
	switch {
	case err != nil:
		s.Fault = fmt.Errorf("line %d: %w", n, err)
		return false
	case json.Unmarshal(text, &e) != nil || !sound(e.Message):
		s.Fault = fmt.Errorf("line %d is no message", n)
		return false
	}
	s.whole += int64(len(text)) + 1
	s.Entries = append(s.Entries, e)
	return true
}

// line reads a line without its end. Its text is good until the next one.
func line(r *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(out)+len(part) > maxLine {
			return nil, fmt.Errorf("it has more than %d bytes", maxLine)
		}
		out = append(out, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSuffix(out, []byte("\n")), err
	}
}

// sound reports whether a message is one that a loop could have written.
func sound(m model.Message) bool {
	switch m.Role {
	case model.User:
		return len(m.Calls) == 0 && m.CallID == ""
	case model.Assistant:
		return m.CallID == ""
	case model.Tool:
		return len(m.Calls) == 0 && m.CallID != ""
	}
	return false
}

// lost is what a call is answered with whose answer was never written.
const lost = "The program ended before this call was answered. Whether it did anything is not known here: look before you repeat it."

// answered makes the conversation whole: every call has one answer, right after the
// message that made it, and an answer to nothing is left out.
func answered(list []Entry) []Entry {
	out := make([]Entry, 0, len(list))
	var open []model.ToolCall
	var last Entry // that made them
	settle := func() {
		for _, c := range open {
			out = append(out, Entry{At: last.At, Made: true, Message: model.Message{Role: model.Tool, CallID: c.ID, Name: c.Name, Failed: true, Parts: []model.Part{{Text: lost}}}})
		}
		open = nil
	}
	for _, e := range list {
		if e.Message.Role == model.Tool {
			for i, c := range open {
				if c.ID == e.Message.CallID {
					out, open = append(out, e), append(open[:i:i], open[i+1:]...)
					break
				}
			}
			continue
		}
		settle()
		out = append(out, e)
		if e.Message.Role == model.Assistant {
			open, last = append(open, e.Message.Calls...), e
		}
	}
	settle()
	return out
}

// Messages is the conversation.
func (s *Session) Messages() []model.Message {
	out := make([]model.Message, 0, len(s.Entries))
	for _, e := range s.Entries {
		out = append(out, e.Message)
	}
	return out
}

// Turns is how often a person, or who put the agent to work, said something.
func (s *Session) Turns() int { return len(s.starts()) }

// starts are the places where turns begin.
func (s *Session) starts() []int {
	var out []int
	for i, e := range s.Entries {
		if e.Message.Role == model.User {
			out = append(out, i)
		}
	}
	return out
}

// Taint is what the conversation has read.
func (s *Session) Taint() (t Taint) {
	for _, e := range s.Entries {
		t = Taint{cmp.Or(t.Private, e.Taint.Private), cmp.Or(t.Untrusted, e.Taint.Untrusted)}
	}
	return t
}
