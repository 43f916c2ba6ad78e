package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// reportFunctions asks a file of functions which tools it has. That runs it, so it is
// asked only where it counts already, and only in the sandbox that serves it.
func (c *command) reportFunctions(ctx context.Context, path string, file toolfile.File, r *fileReport) {
	if file.Kind != toolfile.Python && file.Kind != toolfile.Node {
		return
	}
	if counts, say := c.counts(path, file.Content); !counts {
		r.Rows = append(r.Rows, reportRow{"its tools", "not asked for: " + say})
		return
	}
	tools, err := c.functionsOf(ctx, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	if err != nil {
		message := err.Error()
		if e, ok := toolcrib.AsError(err); ok {
			message = e.Message
		}
		if file.Kind == toolfile.Python && strings.Contains(message, "ModuleNotFoundError") {
			message += "; name a virtual environment that has it in the header, such as python: ~/venvs/mine"
		}
		r.Faults = append(r.Faults, faultReport{Line: lineIn(message), Message: "it does not start: " + message})
		return
	}
	for i, t := range tools {
		r.Rows = append(r.Rows, reportRow{map[bool]string{true: "its tools"}[i == 0], signature(t)})
	}
	if len(tools) == 0 {
		r.Faults = append(r.Faults, faultReport{Warning: true, Message: "it has no tools: a function of it is one if its name does not begin with _ (Python) or if it is exported (JavaScript)"})
	}
}

// lineIn is the line that a host names: "NAME, line 3 could not be loaded". 0: none.
func lineIn(message string) (line int) {
	_, rest, ok := strings.Cut(message, ", line ")
	if ok {
		_, _ = fmt.Sscan(rest, &line) // it stays 0
	}
	return max(line, 0)
}

// counts reports whether a file is one whose tools there are, and if not, what would make
// it one.
func (c *command) counts(path string, content []byte) (bool, string) {
	_, paths, err := c.load()
	if err != nil {
		return false, err.Error()
	}
	dir, err := c.toolDir()
	if err != nil {
		return false, err.Error()
	}
	if sameFolder(filepath.Dir(path), dir) {
		return true, ""
	}
	if project := config.FindProjectTools(c.dir, c.home()); project != "" && sameFolder(filepath.Dir(path), project) {
		return trustList(paths).HoldsTool(path, content), "look at it with 'toolcrib trust' first"
	}
	return false, "it is run for that, and does not lie in " + dir
}

func sameFolder(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// functionsOf starts a box, asks for its tools, and ends it.
func (c *command) functionsOf(ctx context.Context, name string) (tools []toolcrib.Tool, err error) {
	// Why it does not start is the report, which the log would only repeat.
	a, err := c.aloneWith(ctx, name, func(needs *app.Needs) { needs.Log = slog.New(slog.DiscardHandler) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	b, _ := a.Hub.Box(name)
	if err := b.Refresh(ctx); err != nil {
		return nil, err
	}
	return b.Tools(ctx)
}

// signature is a tool as people write one.
func signature(t toolcrib.Tool) string {
	var s shape
	_ = json.Unmarshal(t.Input, &s) // one that cannot be read has no arguments to show
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := slices.Index(s.Required, a), slices.Index(s.Required, b); (x < 0) != (y < 0) {
			return y - x // those that are needed come first
		}
		return strings.Compare(a, b)
	})
	var args []string
	for _, name := range names {
		p := s.Properties[name]
		arg := name + ": " + cmp.Or(typeText(p.Type), "any")
		if p.Default != nil {
			arg += " = " + string(p.Default)
		}
		args = append(args, arg)
	}
	return fmt.Sprintf("%s(%s): %s", t.Name, strings.Join(args, ", "), firstSentence(t.Description))
}
