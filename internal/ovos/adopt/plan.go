// Package adopt moves Toolcrib into a voice assistant in place of its PHAL plugin for
// tools: it looks at mycroft.conf and at the installed Python packages, says what
// would be taken over, changes the files of the person, and puts them back. It is a
// joint: it knows the settings and what reads mycroft.conf. The command line imports
// it.
//
// Its one invariant: before a file is changed, its bytes and what is going to be
// written are on the disk, so that a change that was cut off can be undone or
// finished.
package adopt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/settings"
)

const toolsPlugin = host.ToolsPlugin

// Needs is what the package takes of the machine and of our settings.
type Needs struct {
	Finding
	State    string                // our directory for what must survive a restart
	Config   string                // the person's file of settings
	Settings settings.Config       // as they are read
	Unset    func(key string) bool // whether nobody has set a key
	// AskWrites: files are not written unasked, though the plugin does.
	AskWrites bool
}

// Row says who serves a toolbox.
type Row struct {
	Toolbox string `json:"toolbox"`
	Today   string `json:"today"`
	After   string `json:"after"`
	Why     string `json:"why"`
}

// Change is a file that is changed.
type Change struct {
	File   string   `json:"file"` // where it is, behind links
	Kind   string   `json:"kind"` // config or mycroft
	Does   []string `json:"does"` // one sentence each
	Before []byte   `json:"-"`
	There  bool     `json:"there"` // it is there before
	After  []byte   `json:"-"`
	Was    string   `json:"-"` // of mycroft: what enabled said before
	Python string   `json:"-"` // of config: the entry of python that is added
	Item   bool     `json:"-"` // of config: bus.mycroft gets auto
	Agent  string   `json:"-"` // of config: the preset that is added, and named by bus.agent
	mode   fs.FileMode
}

// The kinds of files.
const (
	kindConfig  = "config"
	kindMycroft = "mycroft"
)

// Plan is what would be done.
type Plan struct {
	Mycroft []string     `json:"mycroft"` // the files that are there
	Python  string       `json:"python,omitempty"`
	Found   string       `json:"found,omitempty"`
	Rows    []Row        `json:"toolboxes"`
	Taken   []node.Taken `json:"taken"`
	Changes []Change     `json:"changes"`
	Notes   []string     `json:"notes,omitempty"`
}

// ErrNothing is the error where there is no voice assistant.
var ErrNothing = errors.New("no voice assistant was found")

// Look makes a plan. Python names an environment or an interpreter; empty: it is
// looked for.
func Look(n Needs, python string) (Plan, error) {
	var p Plan
	auto := []string{settings.MycroftAuto}
	_, files, err := node.TakeMycroft(auto, n.Getenv, n.Home, n.Unset)
	if err != nil {
		return p, err
	}
	p.Mycroft = files
	env, found := n.Environment(python)
	if python != "" && !found {
		return p, fmt.Errorf("--python %s: there is no Python environment: name the directory of a virtual environment, or its interpreter", python)
	}
	if found {
		p.Python, p.Found = env.Dir, env.Found
	}
	if len(files) == 0 && !found {
		return p, fmt.Errorf("%w: there is no mycroft.conf, and no Python environment with its packages. Name one with --python", ErrNothing)
	}
	var texts [][]byte
	for _, file := range files {
		text, err := node.MycroftText(file)
		if err != nil {
			return p, err
		}
		texts = append(texts, text)
	}
	if err := mayChange(n, files, texts); err != nil {
		return p, err
	}
	conf, err := host.ReadMycroft(texts...)
	if err != nil {
		return p, err
	}
	if p.Taken, _, err = node.TakeMycroft(auto, n.Getenv, n.Home, n.Unset); err != nil {
		return p, err
	}
	foreign := p.rows(n, env, conf)
	if err := p.changeConfig(n, foreign, env.Others, writesUnasked(n, conf)); err != nil {
		return p, err
	}
	if err := p.changeMycroft(n); err != nil {
		return p, err
	}
	p.notes(n, env, conf)
	return p, nil
}

// mayChange refuses where the machine's file does not let the person's say anything.
func mayChange(n Needs, files []string, texts [][]byte) error {
	own := ownFile(n)
	for i, file := range files {
		if file == own {
			continue
		}
		all, err := decoded(texts[i])
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		system, _ := all["system"].(map[string]any)
		keys, _ := system["protected_keys"].(map[string]any)
		list, _ := keys["user"].([]any)
		bars := system["disable_user_config"] == true
		for _, key := range list {
			text, _ := key.(string)
			bars = bars || text == phalKey || strings.HasPrefix(text, phalKey+":") || strings.HasPrefix(text, phalKey+".")
		}
		if bars {
			return fmt.Errorf("%s does not let files of a person say anything about PHAL: ask whoever looks after this machine to set PHAL.%s.enabled to false there", file, toolsPlugin)
		}
	}
	return nil
}

// ownFile is the person's mycroft.conf.
func ownFile(n Needs) string {
	files := node.MycroftFiles(n.Getenv, n.Home)
	if len(files) == 0 {
		return ""
	}
	return files[len(files)-1]
}

// rows fills the table, and gives the ids of the toolboxes that stay Python.
func (p *Plan) rows(n Needs, env Environment, conf host.Mycroft) (foreign []string) {
	ids := map[string]string{}
	for _, b := range env.Boxes {
		ids[b.ID] = b.Package
	}
	for id := range conf.Sections {
		if _, there := ids[id]; !there {
			ids[id] = ""
		}
	}
	names := make([]string, 0, len(ids))
	for id := range ids {
		names = append(names, id)
	}
	slices.Sort(names)
	for _, id := range names {
		row := Row{Toolbox: id, Today: "nobody, its package is not installed"}
		if ids[id] != "" {
			row.Today = "PHAL, " + ids[id]
			if env.Plugin == "" {
				row.Today = "personas that load it themselves, " + ids[id]
			}
		}
		off := isOff(conf.Sections[id])
		own := dialect.OVOSOwner(id)
		switch {
		case own != "":
			row.After, row.Why = "Toolcrib, box "+own, "the same id, names and results"
			if said := boxOff(own, n, conf); said != "" {
				row.After, row.Why = "Toolcrib, box "+own+", switched off", said
			}
		case ids[id] == "":
			row.After, row.Why = row.Today, "mycroft.conf configures it, and nothing serves it"
		case off:
			row.After, row.Why = "nobody", `its section of mycroft.conf says "enabled": false`
		default:
			foreign = append(foreign, id)
			row.After, row.Why = "Toolcrib, the same Python code", "it runs in the sandbox, without network and directories: python."+pythonName+" gives it some"
		}
		p.Rows = append(p.Rows, row)
	}
	return foreign
}

func isOff(section []byte) bool {
	return len(section) > 0 && strings.Contains(strings.ReplaceAll(string(section), " ", ""), `"enabled":false`)
}

// boxOff says why a box of ours answers that it is switched off; empty: it does not.
func boxOff(own string, n Needs, conf host.Mycroft) string {
	switch own {
	case "shell":
		said := conf.Boxes[dialect.OVOSBox("shell")].AllowShell
		if n.Unset("toolboxes.shell.allow_shell") && (said == nil || !*said) {
			return "allow_shell is not true in mycroft.conf, as today"
		}
		if !n.Unset("toolboxes.shell.allow_shell") && !n.Settings.Toolboxes.Shell.AllowShell {
			return "toolboxes.shell.allow_shell is false"
		}
	case "web":
		if !n.Settings.Toolboxes.Web.Enabled {
			return "toolboxes.web.enabled and grant.hosts switch it on"
		}
	}
	return ""
}

// pythonName is the entry of python that adopt writes.
const pythonName = "assistant"

// writesUnasked is the directory in which the plugin writes files without asking;
// empty: there is none, or what becomes of it is settled already.
func writesUnasked(n Needs, conf host.Mycroft) string {
	files := conf.Boxes[dialect.OVOSBox("files")]
	switch {
	case n.AskWrites, !n.Unset("grant.write"), !n.Unset("bus.agent"), files.AllowWrite != nil && !*files.AllowWrite:
		return ""
	case files.RootPath == nil || !filepath.IsAbs(*files.RootPath) || strings.ContainsAny(*files.RootPath, "*?[]{}()\\,!"):
		return ""
	}
	return filepath.Clean(*files.RootPath)
}

// changeConfig plans what is written into our settings.
func (p *Plan) changeConfig(n Needs, foreign, others []string, writes string) error {
	c, err := begin(n.Config, kindConfig)
	if err != nil {
		return err
	}
	c.After = c.Before
	if !slices.Contains(n.Settings.Bus.Mycroft, settings.MycroftAuto) {
		if c.After, _, err = config.AddItem(c.After, []string{"bus", "mycroft"}, settings.MycroftAuto); err != nil {
			return fmt.Errorf("%s: %w", n.Config, err)
		}
		c.Item = true
		c.Does = append(c.Does, "bus.mycroft: [auto], so that the settings in mycroft.conf still count")
	}
	has := false
	for _, entry := range n.Settings.Python {
		has = has || entry.OPM && !entry.Disabled
	}
	if len(foreign) > 0 && !has {
		entry := map[string]any{"python": p.Python, "opm": true, "skip": ownIDs()}
		if len(others) > 0 {
			entry["read"] = others
		}
		name := pythonName
		if _, taken := n.Settings.Python[name]; taken {
			name += "-opm"
		}
		if c.After, err = config.SetEntry(c.After, "python", name, entry); err != nil {
			return fmt.Errorf("%s: %w", n.Config, err)
		}
		c.Python = name
		c.Does = append(c.Does, fmt.Sprintf("python.%s, which serves %s", name, strings.Join(foreign, ", ")))
		if len(others) > 0 {
			c.Does = append(c.Does, fmt.Sprintf("python.%s.read, because packages are in %s", name, strings.Join(others, ", ")))
		}
	}
	if writes != "" {
		name, rule := freeName(n.Settings.Agents), "write_file("+filepath.ToSlash(writes)+"/**)"
		entry := map[string]any{"permissions": map[string]any{"allow": []string{rule}}}
		if c.After, err = config.SetEntry(c.After, "agents", name, entry); err == nil {
			c.After, err = config.SetText(c.After, "bus", "agent", name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", n.Config, err)
		}
		c.Agent = name
		c.Does = append(c.Does, fmt.Sprintf("agents.%s and bus.agent: on the bus, %s still runs without asking, as with the plugin (--ask-writes leaves this out)", name, rule))
	}
	if len(c.Does) > 0 {
		p.Changes = append(p.Changes, c)
	}
	return nil
}

// freeName is a name that no preset has.
func freeName(taken map[string]settings.Agent) string {
	for _, name := range []string{"assistant", "voice-assistant", "ovos-bus"} {
		if _, is := taken[name]; !is {
			return name
		}
	}
	return "ovos-bus-assistant"
}

// ownIDs are the toolboxes that Toolcrib has itself.
func ownIDs() []string {
	var ids []string
	for _, box := range []string{"clock", "files", "math", "shell", "skill", "web"} {
		ids = append(ids, dialect.OVOSBox(box))
	}
	return ids
}

// changeMycroft plans that the plugin is switched off.
func (p *Plan) changeMycroft(n Needs) error {
	own := ownFile(n)
	if own == "" {
		return errors.New("the home directory is not known: set HOME")
	}
	c, err := begin(own, kindMycroft)
	if err != nil {
		return err
	}
	c.Was = enabledIn(c.Before)
	if c.After, err = switchOff(c.Before); err != nil {
		return fmt.Errorf("%s: %w", own, err)
	}
	if string(c.After) == string(c.Before) {
		return nil
	}
	c.Does = []string{fmt.Sprintf("PHAL.%s.enabled: false, and %s: %s", toolsPlugin, host.ServedBy, servedBy)}
	p.Changes = append(p.Changes, c)
	return nil
}

// begin reads a file that is to be changed.
func begin(file, kind string) (Change, error) {
	c := Change{File: file, Kind: kind, mode: 0o600}
	if at, err := filepath.EvalSymlinks(file); err == nil {
		c.File = at // a link to a file stays one
	}
	info, err := os.Stat(c.File)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("%s is not a file", c.File)
	}
	const most = 1 << 20
	if c.Before, err = plainfile.Read(c.File, most); err != nil {
		return c, err
	}
	c.There, c.mode = true, info.Mode().Perm()
	return c, nil
}

func (p *Plan) notes(n Needs, env Environment, conf host.Mycroft) {
	say := func(format string, args ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, args...)) }
	files := conf.Boxes[dialect.OVOSBox("files")]
	if (files.RootPath == nil || !filepath.IsAbs(*files.RootPath)) && n.Unset("grant.write") && n.Unset("grant.read") {
		say("No directory is named for files, and the plugin gives the one that it runs in. Toolcrib gives none then: set root_path of %s in mycroft.conf to an absolute path, or grant.write in %s.", dialect.OVOSBox("files"), n.Config)
	}
	if env.Plugin == "" && p.Python != "" {
		say("The plugin %s is not installed in %s: nothing there serves tools on the bus today.", toolsPlugin, env.Dir)
	}
	say("Other plugins of PHAL stay as they are.")
	say("PHAL serves the tools until it is restarted: on most installations, systemctl --user restart ovos-phal.service does that.")
}
