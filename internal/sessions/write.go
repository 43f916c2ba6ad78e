package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// Writer goes on with a session. Nobody else does meanwhile.
type Writer struct {
	store *Store
	info  Info

	mu   sync.Mutex
	file *os.File
	held *os.File
	size int64
}

const lockEnding = ".lock"

// lock takes the session for this process.
func (s *Store) lock(file string, fresh bool) (*os.File, error) {
	held, err := durable.TryLock(file+lockEnding, true)
	if err != nil {
		if !fresh && errors.Is(err, os.ErrNotExist) {
			return nil, ErrNotFound
		}
		return nil, fmt.Errorf("taking the session: %w", err)
	}
	if held == nil {
		return nil, fmt.Errorf("%w: another toolcrib goes on with it; branch it ('toolcrib sessions branch') to go on beside", ErrInUse)
	}
	return held, nil
}

// Create begins a session. Its ID is made unless it has one.
func (s *Store) Create(info Info) (*Writer, error) {
	return s.create(info, nil)
}

func (s *Store) create(info Info, entries []Entry) (w *Writer, err error) {
	if err := s.locked(); err != nil {
		return nil, err
	}
	if info.Created.IsZero() {
		info.Created = s.cfg.Now().UTC()
	}
	if info.ID == "" {
		info.ID = NewID(info.Created)
	}
	info.Version, info.Title = version, title(info.Title)
	path, err := s.file(info.Owner, info.ID)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keeping a session: %w", err)
	}
	held, err := s.lock(path, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, held.Close())
		}
	}()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeping a session: %w", err)
	}
	w = &Writer{store: s, info: info, file: f, held: held}
	head, err := json.Marshal(info)
	if err == nil {
		err = w.write(s.cfg.Redact(head))
	}
	for _, e := range entries {
		if err == nil {
			err = w.add(e)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return w, nil
}

// Resume goes on with a session: what was said is given, and a line that was cut off is
// taken away. Where messages stand for what was lost, they are written now.
func (s *Store) Resume(o Owner, id string) (w *Writer, was *Session, err error) {
	if err := s.locked(); err != nil {
		return nil, nil, err
	}
	path, err := s.file(o, id)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(path); err != nil { // a lock is not made for what is not there
		return nil, nil, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	held, err := s.lock(path, false)
	if err != nil {
		return nil, nil, err
	}
	var f *os.File
	defer func() {
		if err != nil {
			err = errors.Join(err, held.Close())
			if f != nil {
				err = errors.Join(err, f.Close())
			}
		}
	}()
	if was, err = s.Load(o, id); err != nil {
		return nil, nil, err
	}
	if was.Fault != nil {
		return nil, nil, fmt.Errorf("the session %s cannot be gone on with: %w; 'toolcrib sessions branch %s' makes one of what stands before it", id, was.Fault, id)
	}
	if f, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		return nil, nil, fmt.Errorf("going on with the session %s: %w", id, err)
	}
	if err = f.Truncate(was.whole); err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("going on with the session %s: %w", id, err)
	}
	w = &Writer{store: s, info: was.Info, file: f, held: held, size: was.whole}
	err = w.settle(was)
	return w, was, err
}

// settle writes the answers that stand for lost ones. Only those at the end can: the
// others are made again whenever the file is read.
func (w *Writer) settle(was *Session) error {
	for i := range was.Entries {
		rest := was.Entries[i:]
		if slices.ContainsFunc(rest, func(e Entry) bool { return !e.Made }) {
			continue
		}
		for j := range rest {
			if err := w.add(rest[j]); err != nil {
				return err
			}
			rest[j].Made = false
		}
		return nil
	}
	return nil
}

// Branch makes a new session of the first turns of another. Turns below zero are all.
func (s *Store) Branch(o Owner, id string, turns int) (Info, error) {
	was, err := s.Load(o, id)
	if err != nil {
		return Info{}, err
	}
	starts := was.starts()
	if turns < 0 {
		turns = len(starts)
	}
	if turns > len(starts) {
		return Info{}, fmt.Errorf("the session %s has %d turns; it cannot be branched after %d", id, len(starts), turns)
	}
	kept := was.Entries
	if turns < len(starts) {
		kept = kept[:starts[turns]]
	}
	info := was.Info
	info.ID, info.Parent, info.Turns, info.Call = "", id, turns, ""
	info.Created, info.Updated = s.cfg.Now().UTC(), s.cfg.Now()
	w, err := s.create(info, kept)
	if err != nil {
		return Info{}, err
	}
	return w.info, w.Close()
}

// Info is what is known of the session.
func (w *Writer) Info() Info { return w.info }

// Add writes a message down. When it returns, the message outlives this process.
func (w *Writer) Add(m model.Message, call, answeredBy string) error {
	return w.AddRead(m, call, answeredBy, Taint{})
}

// AddRead writes a message down, and what the conversation has read until then.
func (w *Writer) AddRead(m model.Message, call, answeredBy string, t Taint) error {
	return w.add(Entry{At: w.store.cfg.Now().UTC(), Message: m, Call: call, Model: answeredBy, Taint: t})
}

func (w *Writer) add(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil { // a raw part of it is no JSON, as a model may write it
		e.Message = plain(e.Message)
		if line, err = json.Marshal(e); err != nil {
			return fmt.Errorf("keeping a message: %w", err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.store.locked(); err != nil {
		return err
	}
	return w.write(w.store.cfg.Redact(line))
}

// plain writes what is no JSON as a text, so that nothing of it is lost.
func plain(m model.Message) model.Message {
	m.Calls = slices.Clone(m.Calls)
	for i, c := range m.Calls {
		if !json.Valid(c.Arguments) {
			m.Calls[i].Arguments, _ = json.Marshal(string(c.Arguments)) // a text always can be written
		}
	}
	if !json.Valid(m.Own) {
		m.Own, m.By = nil, ""
	}
	return m
}

// write puts a line at the end, by one write: what dies in it leaves a line without an
// end.
func (w *Writer) write(line []byte) error {
	if w.file == nil {
		return os.ErrClosed
	}
	n := int64(len(line)) + 1
	if n > maxLine || w.size+n > w.store.cfg.MaxBytes {
		return fmt.Errorf("%w: it has %d of at most %d bytes; begin another, or branch it", ErrFull, w.size, w.store.cfg.MaxBytes)
	}
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		// What was written of it must not stand before the next one.
		err = errors.Join(err, w.file.Truncate(w.size))
		_, back := w.file.Seek(w.size, io.SeekStart)
		return fmt.Errorf("keeping a message: %w", errors.Join(err, back))
	}
	w.size += n
	if !w.store.cfg.Sync {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("keeping a message: %w", err)
	}
	return nil
}

// Close gives the session back.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.file.Close(), w.held.Close())
	w.file = nil
	return err
}

func (s *Store) locked() error {
	if s.cfg.Locked == nil {
		return nil
	}
	if err := s.cfg.Locked(); err != nil {
		return fmt.Errorf("nothing is kept while the vault is locked, since secrets could not be taken out: %w", err)
	}
	return nil
}

// title is one line of a text.
func title(said string) string { return text.Clip(text.ShowLine(said), 120) }
