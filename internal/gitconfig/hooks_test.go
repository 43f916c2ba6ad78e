package gitconfig_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
)

func source(files map[string]string) gitconfig.Source {
	return gitconfig.Source{Home: "/home/u", Read: func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}
}

func paths(list []gitconfig.Pointed) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Path)
	}
	return out
}

// TestModules: a Python that git starts looks for modules at the top of the work
// tree, so what it is told to run must not be put there.
func TestModules(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"filter":  {"/w/.git/config": "[filter \"x\"]\n\tclean = \\\"/usr/bin/python3\\\" -m module\n"},
		"options": {"/w/.git/config": "[filter \"x\"]\n\tclean = python3.12 -I -mmodule.sub a.b\n"},
		"hook":    {"/w/.git/hooks/pre-commit": "#!/bin/sh\nINSTALL_PYTHON=/usr/bin/python3\nexec \"$INSTALL_PYTHON\" -mmodule \"${ARGS[@]}\"\n"},
		"elsewhere": {
			"/w/.git/config": "[core]\n\thooksPath = tools/hooks\n", "/w/tools/hooks/commit-msg": "#!/usr/bin/env bash\nuv run python -m \"module\"\n",
		},
	} {
		got := paths(source(files).PointedAt("/w"))
		for _, want := range []string{"/w/module.py", "/w/module.pyc", "/w/module.so", "/w/module.abi3.so", "/w/module/__init__.py", "/w/module/__main__.py"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not among %q", name, want, got)
			}
		}
	}
	if got := paths(source(map[string]string{"/w/.git/hooks/pre-commit": "#!/bin/sh\ngrep -m one x\n"}).PointedAt("/w")); len(got) != 1 {
		t.Errorf("without a Python: %q", got)
	}
}

// TestNothingIsCrowdedOut: whether a word of an alias is a file is for commands to
// decide. However many there are, what the settings name for certain is found.
func TestNothingIsCrowdedOut(t *testing.T) {
	files := map[string]string{}
	var b strings.Builder
	b.WriteString("[alias]\n")
	for i := range 300 {
		fmt.Fprintf(&b, "\ta%d = \"!f() { git one%d two%d three%d four%d; }; f\"\n", i, i, i, i, i)
		for _, word := range []string{"one", "two", "three", "four"} {
			files[fmt.Sprintf("/w/%s%d", word, i)] = ""
		}
	}
	b.WriteString("\tlast = !tools/last\n[core]\n\thooksPath = .githooks\n[include]\n\tpath = /w/more.inc\n")
	files["/home/u/.gitconfig"] = b.String()
	list, err := source(files).AllPointedAt("/w")
	if err != nil {
		t.Fatal(err)
	}
	got := paths(list)
	for _, want := range []string{"/w/.githooks", "/w/more.inc", "/w/tools/last", "/w/one0"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not found", want)
		}
	}
	if len(got) > 400 {
		t.Errorf("%d words are taken for files", len(got))
	}
	files["/home/u/.gitconfig"] = strings.Repeat("[include]\n\tpath = /w/a.inc\n", 5000)
	if _, err := source(files).AllPointedAt("/w"); err == nil {
		t.Error("more than can be looked at is no error")
	}
}
