package toolchains

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/seal"
)

func programs(t *testing.T) Programs {
	t.Helper()
	state := place(t)
	return Programs{Path: filepath.Join(state, "programs.json"), Seals: func(write bool) (*seal.Box, error) {
		if write {
			return seal.Open(filepath.Join(state, "seals"), false)
		}
		return seal.Look(filepath.Join(state, "seals"))
	}}
}

// TestPrograms: a program counts as long as it, what it leads to and what it goes by
// first are what the person saw.
func TestPrograms(t *testing.T) {
	t.Parallel()
	list, project := programs(t), place(t)
	files := map[string]string{
		"gradlew": "#!/bin/sh\n", "gradle/wrapper/gradle-wrapper.jar": "jar", "gradle/wrapper/gradle-wrapper.properties": "url=a",
		"node_modules/eslint/bin/eslint": "js", "node_modules/.bin/eslint": "->../eslint/bin/eslint",
		"node_modules/other/bin/other": "js", "plain": "no program",
		"tools/bin/gradlew": "#!/bin/sh\n", "tools/bin/gradle/wrapper/gradle-wrapper.jar": "jar", "sub/gradlew": "->../tools/bin/gradlew",
	}
	put(t, project, files)
	gradlew, eslint, linked := filepath.Join(project, "gradlew"), below(project, "node_modules/.bin/eslint"), below(project, "sub/gradlew")
	if err := list.Check(gradlew); err == nil {
		t.Error("nobody has trusted it yet")
	}
	if found := ProjectPrograms(project); len(found) != 2 {
		t.Errorf("%q", found)
	}
	trust := func() {
		t.Helper()
		seen, err := list.See([]string{gradlew, eslint, linked})
		if err == nil {
			err = list.Add(seen, time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{gradlew, eslint, linked} {
			if err := list.Check(p); err != nil {
				t.Fatalf("%s: %v", p, err)
			}
		}
	}
	trust()
	for name, change := range map[string]struct {
		program string
		do      func()
	}{
		"its content":           {gradlew, func() { put(t, project, map[string]string{"gradlew": "#!/bin/sh\nevil\n"}) }},
		"what it starts":        {gradlew, func() { put(t, project, map[string]string{"gradle/wrapper/gradle-wrapper.jar": "evil"}) }},
		"what a link starts":    {linked, func() { put(t, project, map[string]string{"tools/bin/gradle/wrapper/gradle-wrapper.jar": "evil"}) }},
		"where that comes from": {gradlew, func() { put(t, project, map[string]string{"gradle/wrapper/gradle-wrapper.properties": "url=evil"}) }},
		"what a link leads to":  {eslint, func() { put(t, project, map[string]string{"node_modules/eslint/bin/eslint": "evil"}) }},
		"where a link leads": {eslint, func() {
			_ = os.Remove(eslint)
			put(t, project, map[string]string{"node_modules/.bin/eslint": "->../other/bin/other"})
		}},
		"it is a directory now":     {eslint, func() { _ = os.Remove(eslint); put(t, project, map[string]string{"node_modules/.bin/eslint/": ""}) }},
		"it is gone":                {gradlew, func() { _ = os.Remove(gradlew) }},
		"another name for the same": {below(project, "copy/gradlew"), func() { put(t, project, map[string]string{"copy/gradlew": files["gradlew"]}) }},
	} {
		change.do()
		if err := list.Check(change.program); err == nil {
			t.Errorf("it still counts although it changed: %s", name)
		}
		_ = os.RemoveAll(eslint)
		_ = os.RemoveAll(linked)
		put(t, project, files)
		trust()
	}
	if _, err := list.See([]string{filepath.Join(project, "plain")}); err == nil || !strings.Contains(err.Error(), "not a program") {
		t.Errorf("%v", err)
	}
	// What is trusted is what was shown, not what it became while the person thought.
	seen, err := list.See([]string{gradlew})
	if err != nil {
		t.Fatal(err)
	}
	put(t, project, map[string]string{"gradlew": "#!/bin/sh\nevil\n"})
	if err := list.Add(seen, time.Now()); err != nil || !errors.Is(list.Check(gradlew), ErrChanged) {
		t.Errorf("%v, %v", err, list.Check(gradlew))
	}
	put(t, project, map[string]string{"gradlew": files["gradlew"]})
	if all, err := list.List(); err != nil || len(all) != 3 || all[0].Path != gradlew {
		t.Errorf("%+v, %v", all, err)
	}
	if n, err := list.Remove(filepath.Join(project, "node_modules")); n != 1 || err != nil || list.Check(eslint) == nil || list.Check(gradlew) != nil {
		t.Errorf("%d, %v", n, err)
	}
	// Who writes the list without the key trusts nothing by it.
	if err := os.WriteFile(list.Path, []byte(`{"`+gradlew+`":{"sha256":"x"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if list.Check(gradlew) == nil {
		t.Error("a list that was written by somebody else counts")
	}
}

const entry = `# -*- coding: utf-8 -*-
import re
import sys
from pip._internal.cli.main import main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\.pyw|\.exe)?$', '', sys.argv[0])
    sys.exit(main())
`

// TestVenvs: the interpreter of an environment and scripts that only call a package
// are known; nothing else in it is, least of all under the name of another program.
func TestVenvs(t *testing.T) {
	t.Parallel()
	root := place(t)
	system, env := below(root, "usr/bin"), below(root, "p/.venv")
	bin := filepath.Join(env, "bin")
	head := "#!" + bin + "/python3\n"
	put(t, root, map[string]string{
		"usr/bin/python3.12": "x", "usr/bin/sh": "x", "p/.venv/pyvenv.cfg": "home = x", "p/.venv/bin/python3": "->" + system + "/python3.12", "p/.venv/bin/python": "->python3",
		"p/.venv/bin/python3.9": "copied", "p/.venv/bin/python2": "->" + system + "/sh", "p/.venv/bin/pypy3": "->../../evil/bin/python3", "p/evil/bin/python3": "x",
		"p/.venv/bin/pip": head + entry, "p/.venv/bin/pytest": head + strings.Replace(entry, "pip._internal.cli.main", "pytest", 1),
		"p/.venv/bin/uvstyle": head + "import sys\nfrom a.b import c\nif __name__ == \"__main__\":\n    if sys.argv[0].endswith(\"-script.pyw\"):\n        sys.argv[0] = sys.argv[0][:-11]\n    elif sys.argv[0].endswith(\".exe\"):\n        sys.argv[0] = sys.argv[0][:-4]\n    sys.exit(c())\n",
		"p/.venv/bin/sh":      head + entry, "p/.venv/bin/more": head + entry + "import os; os.system('x')\n", "p/.venv/bin/other": "#!" + root + "/p/evil/bin/python3\n" + entry,
		"p/.venv/bin/option": "#!" + bin + "/python3 -c evil\n" + entry, "p/.venv/bin/shell": "#!/bin/sh\necho\n", "p/.venv/bin/empty": "", "p/.venv/bin/linked": "->pip",
		"p/.venv/bin/copied": "#!" + bin + "/python3.9\n" + entry, "p/no/bin/python3": "->" + system + "/python3.12", "p/no/bin/pip": "#!" + root + "/p/no/bin/python3\n" + entry,
		"p/.venv/bin/twice": head + entry + "    sys.exit(evil())\n", "p/.venv/bin/imports": head + "import sys\nfrom x import y\nfrom z import y\nsys.exit(y())\n",
	})
	v := Venvs{Interpreter: func(resolved string) bool { return filepath.Dir(resolved) == system }, Taken: func(name string) bool { return name == "sh" || name == "pip" || name == "python3" }}
	for name, want := range map[string]bool{
		"python3": true, "python": true, "pip": true, "pytest": true, "uvstyle": true, "linked": true,
		"python3.9": false, "python2": false, "pypy3": false, "sh": false, "more": false, "other": false, "option": false, "shell": false, "empty": false, "copied": false, "missing": false, "twice": false, "imports": false,
	} {
		if got := v.Has(filepath.Join(bin, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, path := range []string{root + "/p/no/bin/python3", root + "/p/no/bin/pip", bin + "/../bin/python3", "python3"} {
		if v.Has(path) {
			t.Errorf("%s is in no environment", path)
		}
	}
	if (Venvs{}).Has(filepath.Join(bin, "python3")) {
		t.Error("the zero value knows an interpreter")
	}
}

// FuzzEntryPoint: what is taken for a script that only calls a package has nothing
// else in it.
func FuzzEntryPoint(f *testing.F) {
	f.Add("#!/p/.venv/bin/python3\n" + entry)
	f.Add("#!/p/.venv/bin/python3\nimport sys\nfrom a import b\nsys.exit(b())\n")
	f.Add("#!/p/bin/python\r\n" + entry)
	f.Add("#!/p/bin/python\n" + strings.Replace(entry, "main())", "main()); x()", 1))
	f.Add("#!/p/bin/python\n# -*- coding: utf-7 -*-\n")
	f.Fuzz(func(t *testing.T, text string) {
		interpreter, ok := entryPoint(text)
		if !ok {
			return
		}
		if !filepath.IsAbs(interpreter) || strings.ContainsAny(interpreter, " \n\r\t\x00") {
			t.Errorf("the interpreter is %q", interpreter)
		}
		body := strings.TrimPrefix(text, "#!"+interpreter)
		if strings.ContainsAny(body, ";`\r\f\v\t{@=\\") && !strings.Contains(body, "sys.argv[0]") && !strings.Contains(body, "__name__ ==") && !strings.Contains(body, "# -*-") {
			t.Errorf("%q does more than call a function", text)
		}
		if strings.ContainsAny(body, ";`\r\f\v\t{@") || strings.Count(body, "import ") > 4 && strings.Count(body, "from ") != 1 || strings.Count(body, "sys.exit(") != 1 {
			t.Errorf("%q does more than call a function", text)
		}
	})
}
