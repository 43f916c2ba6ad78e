package node

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// maxMycroft is the size up to which a mycroft.conf is read.
const maxMycroft = 1 << 20

// TakeMycroft reads the files that bus.mycroft names, gives the paths of those
// that are there, and what they say about settings that are unset in ours.
func TakeMycroft(names []string, getenv func(string) string, home string, unset func(key string) bool) ([]Taken, []string, error) {
	m, read, err := readMycroft(names, getenv, home)
	if err != nil || len(read) == 0 {
		return nil, read, err
	}
	return fromMycroft(m, unset), read, nil
}

// readMycroft reads the files that bus.mycroft names, a later one over those
// before it, and gives the paths of those that are there. Only the usual ones
// may be missing.
func readMycroft(names []string, getenv func(string) string, home string) (m host.Mycroft, read []string, err error) {
	var texts [][]byte
	for _, name := range names {
		files, usual := []string{name}, name == settings.MycroftAuto
		if usual {
			files = MycroftFiles(getenv, home)
		}
		for _, file := range files {
			text, err := MycroftText(file)
			if usual && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return m, nil, fmt.Errorf("bus.mycroft: %w", err)
			}
			texts, read = append(texts, text), append(read, file)
		}
	}
	if m, err = host.ReadMycroft(texts...); err != nil {
		return m, nil, fmt.Errorf("bus.mycroft: %s: %w", strings.Join(read, ", "), err)
	}
	return m, read, nil
}

// MycroftFiles is where the voice assistant looks for its settings, a later one
// over those before it: of its distribution, of the machine, and of the person, which
// come last.
func MycroftFiles(getenv func(string) string, home string) []string {
	base, name := cmp.Or(getenv("OVOS_CONFIG_BASE_FOLDER"), "mycroft"), cmp.Or(getenv("OVOS_CONFIG_FILENAME"), "mycroft.conf")
	var files []string
	add := func(file string) {
		if filepath.IsAbs(file) && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = ""
		if home != "" {
			dir = filepath.Join(home, ".config")
		}
	}
	if runtime.GOOS != "windows" {
		add(cmp.Or(getenv("OVOS_DISTRIBUTION_CONFIG"), "/usr/share/"+base+"/"+name))
		add(cmp.Or(getenv("MYCROFT_SYSTEM_CONFIG"), "/etc/"+base+"/"+name))
	}
	if dir != "" {
		add(filepath.Join(dir, base, "runtime.conf")) // what plugins and skills changed
	}
	if runtime.GOOS != "windows" {
		for _, shared := range filepath.SplitList(cmp.Or(getenv("XDG_CONFIG_DIRS"), "/etc/xdg")) {
			add(filepath.Join(shared, base, name))
		}
	}
	if dir != "" {
		add(filepath.Join(dir, base, name))
	}
	return files
}

// MycroftText reads a file that only its owner and their group may change:
// it says what tools may do.
func MycroftText(file string) (text []byte, err error) {
	if info, err := os.Stat(file); err != nil { // before it is opened: a pipe would wait
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", file)
	}
	f, err := plainfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", file)
	case runtime.GOOS != "windows" && info.Mode()&0o002 != 0:
		return nil, fmt.Errorf("%s can be changed by everybody on this machine; 'chmod o-w' on it helps", file)
	}
	if text, err = io.ReadAll(io.LimitReader(f, maxMycroft+1)); err != nil {
		return nil, err
	}
	if len(text) > maxMycroft {
		return nil, fmt.Errorf("%s is larger than %d bytes", file, maxMycroft)
	}
	return text, nil
}

// Taken is a setting that a mycroft.conf gives for one of ours.
type Taken struct {
	Key   string `json:"key"` // ours, as --set takes it
	Value string `json:"value"`
	From  string `json:"from"`           // theirs
	Left  string `json:"left,omitempty"` // why it is left out after all; empty: it is taken
}

// fromMycroft lists what a mycroft.conf says about settings that are unset in
// ours. Their meaning is kept or narrowed: a command that is allowed there runs
// unasked here, but only as these words, and where there is no list of commands
// a person is asked.
func fromMycroft(m host.Mycroft, unset func(key string) bool) []Taken {
	t := taking{unset: unset}
	if b := m.Bus; b.Host != nil || b.Port != nil || b.Route != nil || b.SSL != nil {
		if unset("bus.token") {
			t.take("bus.url", b.URL(), "websocket")
		} else {
			t.leave("bus.url", "websocket", "bus.token is set, and would be sent there; write bus.url into your configuration")
		}
	}
	if size := m.Bus.MaxMsgSize; size != nil {
		bytes := min(max(*size*(1<<20), 64<<10), 256<<20)
		t.take("bus.max_message", strconv.FormatInt(int64(bytes), 10), "websocket.max_msg_size")
	}
	if spoken.Knows(m.Lang) {
		t.take("bus.lang", m.Lang, "lang")
	}
	t.boxes(m)
	return t.list
}
