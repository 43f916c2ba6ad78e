package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Status says what is known of a service, and how it differs from what Install
// would write.
func Status(ctx context.Context, n Needs, u Unit) (State, error) {
	if err := u.check(); err != nil {
		return State{}, err
	}
	m, err := n.manager()
	if err != nil {
		return State{}, fmt.Errorf("%w. %s", err, ByHand(n.GOOS, u))
	}
	s := State{Service: m.service(u.Name)}
	if s.File, err = m.file(u.Name); err != nil {
		return s, err
	}
	now, there, err := read(s.File)
	if err != nil {
		return s, err
	}
	s.Installed, s.Ours = there, there && isMarked(now)
	if there {
		// Asked without the flags it was installed with, it keeps them.
		if args := m.args(now); s.Ours && len(args) > len(u.Args) && slices.Equal(args[1:1+len(u.Args)], u.Args) {
			u.Args = args[1:]
		}
		text, err := m.text(u)
		if err != nil {
			return s, err
		}
		s.Differs = differences(now, text)
	}
	why := m.alive(ctx)
	if s.Manager = why == nil; s.Manager {
		m.ask(ctx, &s, u.Name)
	} else {
		s.Detail = "your service manager does not answer: " + why.Error()
	}
	return s, nil
}

// differences are the lines that only one of two texts has, but for the mark and the
// PATH, which is another in every terminal.
func differences(now, would string) []string {
	have, want := linesOf(now), linesOf(would)
	var list []string
	for _, line := range have {
		if !slices.Contains(want, line) {
			list = append(list, "is: "+line)
		}
	}
	for _, line := range want {
		if !slices.Contains(have, line) {
			list = append(list, "install would write: "+line)
		}
	}
	return list
}

func linesOf(text string) []string {
	var list []string
	inPath := false // in a plist the value is the line after the key
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		skip := inPath || line == "" || mentionsMark(line) || strings.HasPrefix(line, `Environment="PATH=`)
		inPath = line == "<key>PATH</key>"
		if !skip {
			list = append(list, line)
		}
	}
	return list
}

func mentionsMark(text string) bool { return strings.Contains(text, markBegin) }

// Installed lists the services that Install wrote for this person, by name.
func Installed(n Needs) ([]string, error) {
	m, err := n.manager()
	if errors.Is(err, ErrNotHere) {
		return nil, nil // none can be there
	}
	if err != nil {
		return nil, err
	}
	file, err := m.file("x")
	if err != nil {
		return nil, err
	}
	begin, end, _ := strings.Cut(filepath.Base(file), "x.")
	entries, err := os.ReadDir(filepath.Dir(file))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name, is := strings.CutPrefix(e.Name(), begin)
		name, is2 := strings.CutSuffix(name, "."+end)
		if !is || !is2 || name == "" {
			continue
		}
		if text, _, err := read(filepath.Join(filepath.Dir(file), e.Name())); err == nil && mentionsMark(text) {
			names = append(names, name)
		}
	}
	return names, nil
}
