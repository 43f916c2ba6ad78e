package toolchains

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/seal"
)

// Programs is the list of programs inside projects that a person has looked at:
// ./gradlew, what lies in .venv/bin or node_modules/.bin. Agents can write there,
// so each is bound to its content: what it leads to, and the files by which it
// decides what to start.
//
// It says no more than that a rule about such a name means this very file. Such a
// program goes on to run code of the project, which no hash of one file can vouch
// for, so it never counts as one that only reads, whatever its name is.
type Programs struct {
	Path  string // of the list; it may be missing
	Seals func(write bool) (*seal.Box, error)
	// Venvs are recognised besides, unless the list has another word on them.
	Venvs Venvs
}

// TrustedPrograms is the list below a directory of state.
func TrustedPrograms(state string, seals func(write bool) (*seal.Box, error)) Programs {
	if state == "" {
		return Programs{} // nothing is kept
	}
	return Programs{Path: filepath.Join(state, "programs.json"), Seals: seals}
}

// Trusted is one program on the list.
type Trusted struct {
	Path   string    `json:"-"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
}

var (
	errUnknownProgram = errors.New("nobody has trusted it: it lies in the project, where agents can write ('toolcrib sandbox trust')")
	// ErrChanged is the error of a program that is not what was trusted any more.
	ErrChanged = errors.New("it has changed since it was trusted: look at it, and run 'toolcrib sandbox trust' again")
)

// Check says why a program of a project cannot be trusted to be the one that the
// person saw; nil: it is.
func (p Programs) Check(path string) error {
	if p.Seals == nil {
		return errUnknownProgram
	}
	list, err := p.read(false)
	if err != nil {
		return err
	}
	name, err := programKey(path)
	if err != nil {
		return errUnknownProgram
	}
	entry, ok := list[name]
	if !ok && p.Venvs.Has(path) {
		return nil
	}
	if !ok {
		return errUnknownProgram
	}
	sum, err := fingerprint(name)
	if err != nil || sum != entry.SHA256 {
		return ErrChanged
	}
	return nil
}

// List gives the programs by their paths.
func (p Programs) List() ([]Trusted, error) {
	list, err := p.read(false)
	if err != nil {
		return nil, err
	}
	var out []Trusted
	for _, path := range slices.Sorted(maps.Keys(list)) {
		entry := list[path]
		entry.Path = path
		out = append(out, entry)
	}
	return out, nil
}

// See takes down what programs are now, before a person is asked about them.
func (p Programs) See(paths []string) ([]Trusted, error) {
	var out []Trusted
	for _, path := range paths {
		name, err := programKey(path)
		var sum string
		if err == nil {
			sum, err = fingerprint(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be trusted: %w", path, err)
		}
		out = append(out, Trusted{Path: name, SHA256: sum})
	}
	return out, nil
}

// Add trusts programs as they were seen. One that has changed since is on the list
// and does not hold.
func (p Programs) Add(seen []Trusted, now time.Time) error {
	return p.change(func(list map[string]Trusted) error {
		for _, t := range seen {
			list[t.Path] = Trusted{SHA256: t.SHA256, At: now.UTC()}
		}
		return nil
	})
}

// Remove takes the trust in everything at or below a path away, and says in how many.
func (p Programs) Remove(path string) (n int, err error) {
	if key, failed := programKey(filepath.Clean(path)); failed == nil {
		path = key
	}
	err = p.change(func(list map[string]Trusted) error {
		for name := range list {
			if within(name, path) {
				delete(list, name)
				n++
			}
		}
		return nil
	})
	return n, err
}

const (
	programsName = "programs"   // what the list is sealed as
	maxProgram   = 512 << 20    // bytes of one program
	maxCompanion = 16 << 20     // bytes of a file beside it
	unreadable   = "not a file" // in the place of a hash
)

func (p Programs) read(write bool) (map[string]Trusted, error) {
	box, err := p.Seals(write)
	if err != nil {
		return nil, fmt.Errorf("reading the trusted programs: %w", err)
	}
	data, known, err := box.Read(programsName, func() ([]byte, error) { return os.ReadFile(p.Path) })
	list := map[string]Trusted{}
	if errors.Is(err, seal.ErrUnknown) || err == nil && !known { // no list trusts nothing, which is never too much
		return list, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the trusted programs in %s: %w; none is trusted until you trust one again (toolcrib sandbox trust)", p.Path, err)
	}
	return list, nil
}

func (p Programs) change(edit func(map[string]Trusted) error) error {
	list, err := p.read(true)
	if errors.Is(err, seal.ErrBroken) {
		list, err = map[string]Trusted{}, nil
	}
	if err != nil {
		return err
	}
	if err := edit(list); err != nil {
		return err
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	box, err := p.Seals(true)
	if err == nil {
		err = box.Write(programsName, data, func(data []byte) error {
			if err := os.MkdirAll(filepath.Dir(p.Path), 0o700); err != nil {
				return err
			}
			return durable.Replace(p.Path, data, 0o600)
		})
	}
	if err != nil {
		return fmt.Errorf("keeping the trusted programs: %w", err)
	}
	return nil
}

// programKey is the one name of a program: in its directory, wherever links to that
// lead. It may be a link itself, which its fingerprint says.
func programKey(path string) (string, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return "", errors.New("it is not a clean absolute path")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// fingerprint is of what a program is: the file that its links lead to, its
// content, and the files beside it by which it decides what to start.
func fingerprint(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if !isProgram(resolved) {
		return "", errors.New("it is not a program: nobody may start it")
	}
	sum, err := hashFile(resolved, maxProgram)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%q %q %s\n", path, resolved, sum)
	besides := companions(path)
	if dir := filepath.Dir(resolved); dir != filepath.Dir(path) { // wrappers go by where their links lead
		besides = append(besides, companions(filepath.Join(dir, filepath.Base(path)))...)
	}
	for _, beside := range besides {
		sum, err := hashFile(beside, maxCompanion)
		if err != nil {
			sum = unreadable
		}
		fmt.Fprintf(&text, "%q %s\n", beside, sum)
	}
	all := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(all[:]), nil
}

// companions are files by which a program of a project goes before anything else.
func companions(path string) []string {
	dir := filepath.Dir(path)
	switch filepath.Base(path) {
	case "gradlew":
		return []string{below(dir, "gradle/wrapper/gradle-wrapper.jar"), below(dir, "gradle/wrapper/gradle-wrapper.properties")}
	case "mvnw":
		return []string{below(dir, ".mvn/wrapper/maven-wrapper.jar"), below(dir, ".mvn/wrapper/maven-wrapper.properties"), below(dir, ".mvn/jvm.config"), below(dir, ".mvn/maven.config")}
	}
	if filepath.Base(dir) == "bin" { // of a virtual environment
		return []string{filepath.Join(filepath.Dir(dir), "pyvenv.cfg")}
	}
	return nil
}

func hashFile(path string, most int64) (_ string, err error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(errors.New("it is not a file"), err) // a pipe would be waited for
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, most+1))
	if err != nil {
		return "", err
	}
	if n > most {
		return "", fmt.Errorf("it is larger than %d bytes", most)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ProjectPrograms lists the programs that projects usually have: the wrappers of
// Gradle and Maven, and what lies in a virtual environment or came with npm.
func ProjectPrograms(project string) []string {
	var out []string
	for _, name := range []string{"gradlew", "mvnw"} {
		if path := filepath.Join(project, name); isProgram(path) {
			out = append(out, path)
		}
	}
	for _, dir := range []string{".venv/bin", "venv/bin", "node_modules/.bin"} {
		out = append(out, ProgramsIn(filepath.Join(project, dir))...)
	}
	return out
}

// ProgramsIn lists the programs of a directory.
func ProgramsIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries[:min(len(entries), maxEntries)] {
		if path := filepath.Join(dir, e.Name()); isProgram(path) {
			out = append(out, path)
		}
	}
	return out
}
