package coding

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/interpreter"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/code"
)

// codeRunner starts interpreters for toolbox/code.
type codeRunner struct {
	cfg    settings.CodeBox
	forced string // the sandbox that settings of all programs name
	needs  Needs
	found  map[string]interpreter.Interpreter // by language
}

// openCode opens the box that runs code. Where no sandbox or no interpreter is there it has no tools, and says why.
func openCode(ctx context.Context, cfg settings.Config, needs Needs) (toolcrib.Toolbox, error) {
	own := cfg.Toolboxes.Code
	risk, err := code.ParseRisk(own.Risk)
	if err != nil {
		return nil, fmt.Errorf("toolboxes.code.risk: %w", err)
	}
	r := &codeRunner{cfg: own, forced: cfg.Sandbox.Backend, needs: needs, found: map[string]interpreter.Interpreter{}}
	if by := cfg.Sandbox.Tools[code.RunCode].ForceBackend; by != "" && by != sandbox.Auto {
		r.forced = by
	}
	to := code.Needs{Run: r.run, Place: r.place, Ready: needs.ReadyIn, Shown: needs.Shown}
	if needs.In == nil { // the box is only asked for the names of its tools
		to.Languages = []code.Language{{Name: "python"}}
		to.Place = func(string, code.Risk) (string, error) { return "", errors.New("nothing runs here") }
	} else {
		to.Languages, to.Reason = r.languages(max(risk, code.Low))
	}
	return code.Open(ctx, code.Config{
		MaxTimeout: own.MaxTimeout, Idle: own.IdleTimeout, Sessions: own.MaxSessions, Packages: own.Packages, Risk: risk,
	}, to)
}

// place says in which sandbox code of a risk runs.
func (r *codeRunner) place(_ string, risk code.Risk) (string, error) {
	table := map[code.Risk]string{code.Low: r.cfg.Backends.Low, code.Medium: r.cfg.Backends.Medium, code.High: r.cfg.Backends.High, code.Critical: r.cfg.Backends.Critical}
	name := table[risk]
	switch r.forced {
	case sandbox.Container, sandbox.MicroVM:
		name = r.forced // never a weaker one than the person named
	case sandbox.Host, sandbox.None:
		return "", fmt.Errorf("sandbox.backend is %s, and code runs only in a sandbox that holds it", r.forced)
	}
	switch {
	case name == "":
		return "", fmt.Errorf("toolboxes.code.backends has no sandbox for the risk %s", risk)
	case name == sandbox.Linux && runtime.GOOS != "linux":
		return "", fmt.Errorf("code of the risk %s runs in the sandbox linux, which %s does not have: set toolboxes.code.backends.%s to container or microvm", risk, runtime.GOOS, risk)
	}
	return name, nil
}

// languages are those that are installed, or why there are none.
func (r *codeRunner) languages(least code.Risk) (list []code.Language, reason string) {
	place, err := r.place("", least)
	if err != nil {
		return nil, err.Error()
	}
	wanted := func(name string) bool { return len(r.cfg.Languages) == 0 || slices.Contains(r.cfg.Languages, name) }
	if place != sandbox.Linux {
		// Nobody has looked into the image.
		for _, name := range r.cfg.Languages {
			list = append(list, code.Language{Name: name, Text: "of the image of the sandbox " + place})
		}
		return list, "code runs in the sandbox " + place + ": name the languages that its image has under toolboxes.code.languages"
	}
	find := interpreter.Finder{Home: r.needs.Home, Look: r.needs.Program, Directory: r.needs.Directory}
	var missing []string
	if in, err := r.keeps(find.Python(r.cfg.Python)); err == nil && wanted("python") {
		r.found["python"] = in
		list = append(list, code.Language{Name: "python", Text: pythonVersion(in)})
	} else if err != nil {
		missing = append(missing, "python: "+err.Error())
	}
	if in, err := r.keeps(find.Node(r.cfg.Node)); err == nil {
		version, stripping := nodeVersion(in)
		if wanted("javascript") {
			r.found["javascript"] = in
			list = append(list, code.Language{Name: "javascript", Text: version})
		}
		if stripping == yes && wanted("typescript") || stripping == unknown && slices.Contains(r.cfg.Languages, "typescript") {
			r.found["javascript"] = in // one interpreter runs both
			list = append(list, code.Language{Name: "typescript", Text: "types are taken out, not checked"})
		}
	} else {
		missing = append(missing, "javascript: "+err.Error())
	}
	if path, err := r.needs.Program("bash"); err == nil && wanted("shell") {
		r.found["shell"] = interpreter.Interpreter{Path: path, Flags: []string{"--norc", "--noprofile"}}
		list = append(list, code.Language{Name: "shell", Text: "bash"})
	} else if err != nil {
		missing = append(missing, "shell: "+err.Error())
	}
	if r.needs.Log != nil && r.cfg.Python+r.cfg.Node != "" && len(missing) > 0 { // the person has named one
		r.needs.Log.Warn("code: an interpreter is left out", "reason", strings.Join(missing, "; "))
	}
	return list, "no interpreter is there (" + strings.Join(missing, "; ") + "): install one, or name it under toolboxes.code"
}

// keeps refuses an interpreter whose directories hold what Toolcrib keeps, or a granted one: code would see all of it, and
// nobody is asked about code.
func (r *codeRunner) keeps(in interpreter.Interpreter, err error) (interpreter.Interpreter, error) {
	if err != nil {
		return in, err
	}
	places := []string{r.needs.State, r.needs.Dir, r.needs.Tools}
	for _, d := range r.needs.Dirs {
		places = append(places, d.Path)
	}
	for _, place := range places {
		if place == "" {
			continue
		}
		if at, err := filepath.EvalSymlinks(place); err == nil {
			place = at
		}
		for _, dir := range in.Dirs {
			if linked.Within(place, dir) {
				return in, fmt.Errorf("the interpreter %s lies in %s, and code would see all of that, %s too: name one that lies elsewhere", in.Path, dir, place)
			}
		}
	}
	return in, nil
}

// longest is how long a session may live.
const longest = 24 * time.Hour

// run starts an interpreter with its driver. It sees its own files, the directories of the system, and a /tmp that is empty and goes
// with it: no directory is granted, no host, no variable of ours.
func (r *codeRunner) run(ctx context.Context, p code.Program) (toolcrib.Exit, error) {
	language := p.Language
	in, ok := r.found[language]
	if p.Place != sandbox.Linux {
		in, ok = inImage(language)
	}
	if !ok {
		return toolcrib.Exit{}, fmt.Errorf("there is no interpreter for %s", language)
	}
	option := "-c"
	if language == "javascript" {
		option = "-e"
	}
	// The pipes of the driver are not where code prints.
	shell := "ulimit -d " + strconv.FormatInt(r.cfg.Memory>>10, 10) + "; exec 3<&0 4>&1 0</dev/null 1>&2; exec \"$@\""
	cmd := toolcrib.Cmd{
		Path: "/bin/sh", Args: slices.Concat([]string{"-c", shell, code.RunCode, in.Path}, in.Flags, []string{option, p.Driver}), Dir: "/tmp",
		Env: []string{
			"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8", "TERM=dumb",
			"MPLBACKEND=Agg", "MPLCONFIGDIR=/tmp/.matplotlib", "NODE_OPTIONS=", "NO_COLOR=1",
		},
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Call: p.Call, Tool: code.RunCode, Effects: toolcrib.Reads,
	}
	grant := toolcrib.Grant{Time: longest, Bounds: toolcrib.BoundMemory | toolcrib.BoundProcesses}
	return r.needs.In(sandbox.WithTools(ctx, in.Dirs), p.Place, cmd, grant)
}

// inImage is an interpreter by its name.
func inImage(language string) (interpreter.Interpreter, bool) {
	switch language {
	case "python":
		return interpreter.Interpreter{Path: "python3", Flags: []string{"-I", "-X", "utf8"}}, true
	case "javascript":
		return interpreter.Interpreter{Path: "node"}, true
	case "shell":
		return interpreter.Interpreter{Path: "bash", Flags: []string{"--norc", "--noprofile"}}, true
	}
	return interpreter.Interpreter{}, false
}

// pythonVersion tells the version as far as files say it.
func pythonVersion(in interpreter.Interpreter) string {
	for _, dir := range in.Site {
		if name := filepath.Base(filepath.Dir(dir)); strings.HasPrefix(name, "python3.") {
			return "Python " + strings.TrimPrefix(name, "python")
		}
	}
	return "Python 3"
}

// versionLine is a line of the header that comes with Node.js.
var versionLine = pattern.Of(`(?m)^#define NODE_(MAJOR|MINOR|PATCH)_VERSION (\d+)`)

// answer is what files say to a question, if they say anything.
type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// nodeVersion tells the version as far as files say it, and whether it can take out types. Where nothing says it, who names
// TypeScript in the settings is believed: a driver that cannot do it says so.
func nodeVersion(in interpreter.Interpreter) (text string, stripping answer) {
	header := filepath.Join(filepath.Dir(filepath.Dir(in.Path)), "include", "node", "node_version.h")
	data, err := plainfile.Begin(header, 64<<10)
	if err != nil {
		return "Node.js", unknown
	}
	parts := map[string]int{}
	for _, m := range versionLine.Regexp().FindAllStringSubmatch(string(data), -1) {
		parts[m[1]], _ = strconv.Atoi(m[2]) // digits
	}
	major, minor := parts["MAJOR"], parts["MINOR"]
	if major == 0 {
		return "Node.js", unknown
	}
	if stripping = no; major > 22 || major == 22 && minor >= 13 {
		stripping = yes
	}
	return fmt.Sprintf("Node.js %d.%d", major, minor), stripping
}
