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
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/toolbox/skill"
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
		return nil, fmt.Errorf("%s can be changed by everybody on this machine; chmod o-w mends that", file)
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
	var list []Taken
	take := func(key, value, from string) {
		if unset(key) {
			list = append(list, Taken{Key: key, Value: value, From: from})
		}
	}
	texts := func(key string, values []string, from string) {
		if i := slices.IndexFunc(values, func(v string) bool { return strings.Contains(v, ",") || strings.TrimSpace(v) == "" }); i >= 0 {
			list = append(list, Taken{Key: key, From: from, Left: fmt.Sprintf("%q cannot be taken over; write the setting into our own configuration", values[i])})
			return
		}
		take(key, strings.Join(values, ","), from)
	}
	if b := m.Bus; b.Host != nil || b.Port != nil || b.Route != nil || b.SSL != nil {
		if unset("bus.token") {
			take("bus.url", b.URL(), "websocket")
		} else {
			list = append(list, Taken{Key: "bus.url", From: "websocket", Left: "bus.token is set, and would be sent there; write bus.url into our own configuration"})
		}
	}
	if size := m.Bus.MaxMsgSize; size != nil {
		bytes := min(max(*size*(1<<20), 64<<10), 256<<20)
		take("bus.max_message", strconv.FormatInt(int64(bytes), 10), "websocket.max_msg_size")
	}

	files := m.Boxes[dialect.OVOSBox("files")]
	from := dialect.OVOSBox("files") + ".root_path and allow_write"
	if (files.RootPath != nil || files.AllowWrite != nil) && unset("grant.write") && unset("grant.read") {
		root, write := ".", files.AllowWrite == nil || *files.AllowWrite // as they are where nothing is said
		if files.RootPath != nil && *files.RootPath != "" {
			root = *files.RootPath
		}
		if write {
			texts("grant.write", []string{root}, from)
		} else {
			take("grant.write", "", from)
			texts("grant.read", []string{root}, from)
		}
	}

	id := dialect.OVOSBox("shell")
	shell := m.Boxes[id]
	if shell.AllowShell != nil {
		take("toolboxes.shell.allow_shell", strconv.FormatBool(*shell.AllowShell), id+".allow_shell")
	}
	if shell.MaxTimeout != nil {
		take("toolboxes.shell.max_timeout", max(*shell.MaxTimeout, time.Second).String(), id+".max_timeout")
	}
	if len(shell.AllowedCommands) > 0 && unset("toolboxes.shell.allowed_commands") {
		if _, err := shellguard.ParseRules(settings.Prefixes(shell.AllowedCommands)); err != nil {
			list = append(list, Taken{Key: "toolboxes.shell.allowed_commands", From: id + ".allowed_commands", Left: err.Error()})
		} else {
			texts("toolboxes.shell.allowed_commands", shell.AllowedCommands, id+".allowed_commands")
		}
	}
	id = dialect.OVOSBox("skill")
	if paths := m.Boxes[id].ExtraSkillMDPaths; len(paths) > 0 {
		from := id + ".extra_skill_md_paths"
		// They are files there; a directory would be more here than it is there.
		if i := slices.IndexFunc(paths, func(p string) bool { return !skill.IsFile(p) }); i >= 0 {
			list = append(list, Taken{Key: "toolboxes.skill.paths", From: from, Left: fmt.Sprintf("%q does not end in .md", paths[i])})
		} else {
			texts("toolboxes.skill.paths", paths, from)
		}
	}
	return list
}
