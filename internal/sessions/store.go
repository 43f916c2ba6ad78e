package sessions

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/model"
)

// Config says where sessions lie and how much is kept. The zero value of each bound is
// its default.
type Config struct {
	Dir      string        // made when the first session is, and closed to other users
	MaxBytes int64         // of one session; default 64 MiB
	MaxAge   time.Duration // a session that nothing was said in for longer is removed; 0: never
	Sync     bool          // wait for the disk at every message
	// Redact takes secrets out of a message before it is written, as the journal does.
	// Nil: what looks like one.
	Redact func(json.RawMessage) json.RawMessage
	// Locked says why nothing may be kept now, such as a vault whose secrets could not
	// be told from other words. Nil, or an answer of nil: everything may.
	Locked func() error
	Now    func() time.Time
}

// Store is a directory of sessions. Several processes may use one directory.
type Store struct{ cfg Config }

// New makes a store. It opens nothing yet.
func New(cfg Config) *Store {
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, 64<<20)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Redact == nil {
		cfg.Redact = func(line json.RawMessage) json.RawMessage { return redact.JSON(line) }
	}
	return &Store{cfg: cfg}
}

// Owner is whose a session is.
type Owner struct {
	Subject      string `json:"subject"`
	Organisation string `json:"organisation,omitempty"`
}

// Info is what is known of a session: the first line of its file.
type Info struct {
	Version int    `json:"v"`
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Model   string `json:"model,omitempty"`
	// DefaultModel is the one that answered where none was chosen. Whoever goes on with the session has the
	// default of then.
	DefaultModel string `json:"default_model,omitempty"`
	Owner
	Project string    `json:"project,omitempty"` // the directory that it is about
	Created time.Time `json:"created"`
	// Parent is the session that this one was branched off, after Turns turns of it, or
	// whose agent put this one's to work by a Call.
	Parent string `json:"parent,omitempty"`
	Turns  int    `json:"turns,omitempty"`
	Call   string `json:"call,omitempty"`

	Updated time.Time `json:"-"` // when something was last said
	Size    int64     `json:"-"`
}

// Delegated reports whether the session is one of an agent that another put to work.
func (i Info) Delegated() bool { return i.Call != "" }

// Entry is one message of a session.
type Entry struct {
	At      time.Time     `json:"at"`
	Message model.Message `json:"message"`
	Call    string        `json:"call,omitempty"`  // the ID that the journal has it under, of a message about a call
	Model   string        `json:"model,omitempty"` // which one answered, where that changed
	// Taint is what the conversation had read when this was said.
	Taint Taint `json:"taint,omitzero"`
	Made  bool  `json:"-"` // nobody said it: it stands for what was lost
}

// Taint says which tool first brought private data and content from outside into a
// conversation. Empty: none did. It is kept beside the messages, because whoever goes on
// with them reads that content again.
type Taint struct {
	Private   string `json:"private,omitempty"`
	Untrusted string `json:"untrusted,omitempty"`
}

// version is that of the files. Others are not read.
const version = 1

// ErrNotFound: there is no such session for this owner. That somebody else has it is not told.
var ErrNotFound = errors.New("there is no such session")

// ErrInUse: another process goes on with it.
var ErrInUse = errors.New("the session is in use")

// ErrFull: the session has reached its size.
var ErrFull = errors.New("the session is full")

// NewID makes the ID of a session, which sorts by time.
func NewID(now time.Time) string {
	var b [5]byte
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(b[:])
	return now.UTC().Format("20060102-150405") + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// ValidID reports whether a text can be an ID: it is a name of a file, too.
func ValidID(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '.' || id[0] == '-' || strings.Contains(id, "..") {
		return false
	}
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' {
			return false
		}
	}
	return true
}

const ending = ".jsonl"

// dir is where the sessions of an owner lie.
func (s *Store) dir(o Owner) string {
	h := sha256.New()
	for _, part := range []string{o.Organisation, o.Subject} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // lengths keep two names from trading letters
		h.Write([]byte(part))
	}
	return filepath.Join(s.cfg.Dir, hex.EncodeToString(h.Sum(nil)[:16]))
}

func (s *Store) file(o Owner, id string) (string, error) {
	if !ValidID(id) {
		return "", fmt.Errorf("%q: %w", id, ErrNotFound)
	}
	return filepath.Join(s.dir(o), id+ending), nil
}

// Remove takes a session away, with those of the agents that were put to work in it.
func (s *Store) Remove(o Owner, id string) error {
	file, err := s.file(o, id)
	if err != nil {
		return err
	}
	held, err := s.lock(file, false)
	if err != nil {
		return err
	}
	err = os.Remove(file)
	errs := []error{held.Close(), gone(os.Remove(file + lockEnding))}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", id, ErrNotFound)
		}
		return fmt.Errorf("removing the session %s: %w", id, err)
	}
	list, err := os.ReadDir(filepath.Dir(file))
	errs = append(errs, err)
	for _, e := range list {
		if name := e.Name(); strings.HasPrefix(name, id+".") && (strings.HasSuffix(name, ending) || strings.HasSuffix(name, ending+lockEnding)) {
			errs = append(errs, gone(os.Remove(filepath.Join(filepath.Dir(file), name))))
		}
	}
	return errors.Join(errs...)
}

// gone: what is not there need not be removed.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
