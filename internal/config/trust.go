package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/seal"
)

// Trust is the list of project files that the user has looked at and taken as their own, each with the content it had
// then: a file that has changed since is not trusted any more.
type Trust struct {
	Path string // of the list; it may be missing
	// Seals opens what the list is sealed with; write: it will be changed.
	Seals func(write bool) (*seal.Box, error)
}

// TrustFile is where the list lies, in the directory of the program's state.
func TrustFile(state string) string { return filepath.Join(state, "trust.json") }

// Trusted is one entry of the list.
type Trusted struct {
	File   string    `json:"-"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
	Tool   bool      `json:"tool,omitempty"` // it is a file of a project's folder of tools, and no settings
}

// Holds reports whether a project file with this content is trusted. A list that cannot be read trusts nothing, and
// neither does a file that does not exist under its own name.
func (t Trust) Holds(file string, content []byte) bool {
	list, err := t.read(false)
	if err != nil {
		return false
	}
	name, err := realName(file)
	if err != nil {
		return false
	}
	entry, ok := list[name]
	return ok && !entry.Tool && entry.SHA256 == fingerprint(content)
}

// List gives the entries by name.
func (t Trust) List() ([]Trusted, error) {
	list, err := t.read(false)
	if err != nil {
		return nil, err
	}
	var out []Trusted
	for _, name := range slices.Sorted(maps.Keys(list)) {
		entry := list[name]
		entry.File = name
		out = append(out, entry)
	}
	return out, nil
}

// Add trusts a file with the content that was shown.
func (t Trust) Add(file string, content []byte, now time.Time) error {
	name, err := realName(file)
	if err != nil {
		return err
	}
	return t.change(func(list map[string]Trusted) bool {
		list[name] = Trusted{SHA256: fingerprint(content), At: now.UTC()}
		return true
	})
}

// Remove takes the trust away; it reports whether there was any. The file itself may be gone by now.
func (t Trust) Remove(file string) (was bool, err error) {
	name, err := realName(file)
	if err != nil {
		name = filepath.Clean(file)
	}
	err = t.change(func(list map[string]Trusted) bool {
		_, was = list[name]
		delete(list, name)
		return was
	})
	return was, err
}

// ReadProject gives the content of a project file, as Load would read it.
func ReadProject(file string) ([]byte, error) { return readSettings(file, projectRole()) }

func projectRole() fileRole { return fileRole{plain: true} }

// Fault says why the list cannot be believed, so that nothing on it counts; nil: it can.
func (t Trust) Fault() error {
	_, err := t.read(false)
	return err
}

// trustName is what the list is sealed as.
const trustName = "trust"

func (t Trust) read(write bool) (map[string]Trusted, error) {
	box, err := t.Seals(write)
	if err != nil {
		return nil, fmt.Errorf("reading the trusted folders: %w", err)
	}
	data, known, err := box.Read(trustName, func() ([]byte, error) { return os.ReadFile(t.Path) })
	if errors.Is(err, seal.ErrUnknown) { // no list trusts nothing, which is never too much
		return map[string]Trusted{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the trusted folders in %s: %w; nothing is trusted until you trust a project again (toolcrib trust)", t.Path, err)
	}
	list := map[string]Trusted{}
	if !known {
		return list, nil
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading the trusted folders in %s: %w; nothing is trusted until it is removed", t.Path, err)
	}
	return list, nil
}

// change writes the list anew beside the old one, and then in its place. Of a list that cannot be believed nothing is
// taken over.
func (t Trust) change(edit func(map[string]Trusted) bool) error {
	list, err := t.read(true)
	if errors.Is(err, seal.ErrBroken) {
		list, err = map[string]Trusted{}, nil
	}
	if err != nil {
		return err
	}
	if !edit(list) {
		return nil
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	box, err := t.Seals(true)
	if err == nil {
		err = box.Write(trustName, data, t.writeFile)
	}
	if err != nil {
		return fmt.Errorf("keeping the trusted folders: %w", err)
	}
	return nil
}

// writeFile writes the file.
func (t Trust) writeFile(data []byte) error {
	dir := filepath.Dir(t.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return durable.Replace(t.Path, data, 0o600)
}

// realName is the one name of a file: in the directory it was found in, wherever links to that lead. The file itself may
// be no link, since what it says of "here" is about the directory it lies in.
func realName(file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(abs)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is a link or no file: only a file that lies in its project itself can be trusted", printable(abs))
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

func fingerprint(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
