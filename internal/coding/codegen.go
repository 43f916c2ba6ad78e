package coding

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/diskspace"
	"github.com/toolcrib/toolcrib/internal/gobuild"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/codegen"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// codegenKind is the box that writes tools, skills, agents and workflows.
func codegenKind(cfg settings.Config, needs func() Needs) Kind {
	own := cfg.Toolboxes.Codegen
	return Kind{Name: codegen.Name, Enabled: own.Enabled, Open: func(ctx context.Context) (toolcrib.Toolbox, error) {
		n := needs()
		skills, err := skill.Open(ctx, skill.Config{}, skill.Needs{
			Open: func(skill.Place) (*files.Handle, error) { return nil, os.ErrNotExist }, YAML: config.Decode, Log: n.Log,
		})
		if err != nil {
			return nil, err
		}
		given := codegen.Needs{
			Model: n.Model, Ready: n.Ready, Declared: declaredTool, Has: n.hasLanguage, Agent: n.checkAgent,
			Skill: func(name, text string) []string {
				c := skills.Validate(name, []byte(text))
				if c.Err != nil {
					return append(c.Strict, c.Err.Error())
				}
				return c.Strict
			},
		}
		if n.Run != nil && n.Home != "" {
			given.Try, given.Able = n.try, n.ableToInstall
			given.Workflow = n.checkWorkflow(cfg.Toolboxes.Codemode)
		}
		if n.Tools != "" && cfg.Toolboxes.Tools.Enabled {
			given.Tools = toolFolder{dir: n.Tools, crib: n.Crib}
		}
		repairs := own.Repairs
		if repairs == 0 {
			repairs = -1
		}
		return codegen.Open(ctx, codegen.Config{Model: own.Model, Repairs: repairs}, given)
	}}
}

// ableToInstall says why a tool could not be checked and put into the folder now.
func (n Needs) ableToInstall(ctx context.Context) error {
	if n.ReadyRun != nil {
		if err := n.ReadyRun(ctx, codegen.Name); err != nil {
			return err
		}
	}
	if err := diskspace.Writable(filepath.Join(n.Tools, codegen.Tests, "x")); err != nil {
		return fmt.Errorf("the folder of tools %s cannot be written: %w", n.Tools, err)
	}
	return nil
}

// hasLanguage says whether there is what runs a language.
func (n Needs) hasLanguage(kind string) error {
	program := map[string]string{"sh": "sh", "python": "python3", "node": "node", "go": "go"}[kind]
	_, err := n.Program(program)
	return err
}

// declaredTool reads what a file declares, as the box of tools will.
func declaredTool(file string, content []byte) (codegen.Declaration, []string) {
	f, faults := toolfile.Parse(file, content)
	var wrong []string
	for _, fault := range faults {
		wrong = append(wrong, fault.Error())
	}
	if f.Kind == toolfile.None {
		wrong = append(wrong, file+": it has no header: a comment that begins with a line \"toolcrib:\" declares the tool")
	}
	d := codegen.Declaration{Name: f.Name, Description: f.Description, Effects: f.Effects, Read: f.Read, Write: f.Write, Hosts: f.Hosts}
	for _, key := range []string{"command", "env", "group", "name", "python", "sandbox", "secrets", "title"} {
		if _, said := f.Lines[key]; said {
			d.Beyond = append(d.Beyond, key)
		}
	}
	if len(f.ByFunction) > 0 {
		d.Beyond = append(d.Beyond, "effects of single functions")
	}
	if most := 5 * time.Minute; f.Timeout > most {
		d.Beyond = append(d.Beyond, fmt.Sprintf("a timeout of more than %s", most))
	}
	return d, wrong
}

// checkAgent reads a preset as the settings will.
func (n Needs) checkAgent(name, content string) []string {
	dir, err := os.MkdirTemp("", "toolcrib-agent-")
	if err != nil {
		return []string{err.Error()}
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what stays does no harm
	file := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return []string{err.Error()}
	}
	loaded, err := config.Load(settings.Defaults(), config.Options{Explicit: file})
	if err != nil {
		return []string{strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")}
	}
	if strings.TrimSpace(loaded.Value.Agents[name].Instructions) == "" {
		return []string{"the agent " + name + " has no instructions"}
	}
	return nil
}

// toolFolder is the folder of the person's own tools.
type toolFolder struct {
	dir  string
	crib *toolcrib.Crib
}

// Read gives a file of it.
func (f toolFolder) Read(file string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(file)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// Taken names what has the name of a tool already. A file of the folder may be replaced, since the person is shown it.
func (f toolFolder) Taken(name, file string) string {
	entries, _ := os.ReadDir(f.dir) // where there is none, nothing is taken
	for _, e := range entries {
		if e.Name() == file {
			return ""
		}
		if stem, _, _ := strings.Cut(e.Name(), "."); strings.EqualFold(stem, name) && !e.IsDir() {
			return "a tool in " + text.ShowLine(e.Name())
		}
	}
	if f.shelved(name) {
		return "a tool " + name
	}
	return ""
}

// shelved reports whether a tool is on the shelves, whoever may see it.
func (f toolFolder) shelved(name string) bool {
	shelves := toolcrib.Crib{Catalog: f.crib.Catalog}
	for e := range shelves.Tools(toolcrib.Caller{}) {
		if e.Name == name || e.Native == name {
			return true
		}
	}
	return false
}

// comes is how long a new tool is waited for, and taken how long a changed file is: if nothing of its definition has changed,
// nobody tells that it was read.
const (
	comes = 30 * time.Second
	taken = 2 * time.Second
)

// Install writes the files and waits for the tool.
func (f toolFolder) Install(ctx context.Context, name string, list []scaffold.File) (path string, loaded bool, err error) {
	tests := filepath.Join(f.dir, codegen.Tests)
	if err := os.MkdirAll(tests, 0o700); err != nil {
		return "", false, err
	}
	changed := make(chan struct{}, 1)
	stop := f.crib.Catalog.Watch(func(toolcrib.Diff) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	_, err = os.Lstat(filepath.Join(f.dir, list[0].Name))
	replaced := err == nil
	for i, file := range slices.Backward(list) { // the tool last: it counts when its test is there
		dir := f.dir
		if i > 0 {
			dir = tests
		}
		at := filepath.Join(dir, file.Name)
		if err := linked.Straight(at, filepath.Dir(f.dir)); err != nil {
			return "", false, err
		}
		if err := writeTool(at, file); err != nil {
			return "", false, err
		}
		path = at
	}
	if replaced { // what is on the shelves may be the old one still
		select {
		case <-changed:
		case <-time.After(taken):
		case <-ctx.Done():
		}
	}
	ctx, cancel := context.WithTimeout(ctx, comes)
	defer cancel()
	for !f.shelved(name) {
		select {
		case <-changed:
		case <-ctx.Done():
			return path, false, nil
		}
	}
	return path, true, nil
}

// writable reports whether a place lies in one of the directories that tools can write.
func (n Needs) writable(place string) bool {
	return slices.ContainsFunc(n.Dirs, func(d files.Dir) bool { return d.Write && linked.Within(place, d.Path) })
}

// work is where programs are tried, after links: a sandbox is granted none.
func (n Needs) work() (string, error) {
	dir := gobuild.Work(n.Home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
