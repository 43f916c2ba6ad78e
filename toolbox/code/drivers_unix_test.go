//go:build unix

package code

import (
	"context"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// cellCase is a cell of a notebook and what comes of it.
type cellCase struct {
	code   string
	status string // empty: ok
	text   string // exactly
	value  string
	output string // in it
	error  string // in it
	files  string
}

func play(t *testing.T, language string, cells []cellCase) {
	t.Helper()
	b := newBench(t, Config{})
	for i, c := range cells {
		out := b.run(language, c.code)
		if c.status == "" {
			c.status = "ok"
		}
		var files []string
		for _, f := range out.Files {
			files = append(files, f.Name)
		}
		if out.Status != c.status || c.text != "" && out.Text != c.text || c.value != "" && string(out.Value) != c.value ||
			!strings.Contains(out.Output, c.output) || !strings.Contains(out.Error, c.error) || c.files != "" && strings.Join(files, ",") != c.files || out.Cell != i+1 {
			t.Errorf("cell %d\n%s\ngave %+v, want %+v", i+1, c.code, out, c)
		}
	}
}

func TestPython(t *testing.T) {
	t.Parallel()
	play(t, "python", []cellCase{
		{code: "x = 20\nx + 1", text: "21", value: "21"},
		{code: "x += 1; x", text: "21"},
		{code: "print('hi', x)\n{'a': [1, None]}", text: "{'a': [1, None]}", value: `{"a":[1,null]}`, output: "hi 21"},
		{code: "x;"},
		{code: "def f(n):\n    return 1 / n\nf(0)", status: "error", error: "<cell 5>\", line 2, in f"},
		{code: "f(", status: "error", error: "SyntaxError"},
		{code: "import sys; sys.exit(3)", status: "error", error: "SystemExit: 3"},
		{code: "open('out.txt', 'w').write('made'); x", text: "21", files: "out.txt"},
		{code: "import os; os.makedirs('d'); open('d/b.bin', 'wb').write(b'\\0'); None", files: "d/b.bin"},
		{code: "import asyncio\nawait asyncio.sleep(0.01)\n'slept'", text: "'slept'"},
		{code: "display('a', 'b')", text: "'a'\n'b'"},
		{code: "'äöü 😀'", value: `"äöü 😀"`, text: "'äöü 😀'"},
		{code: "float('nan')", text: "nan"},
		{code: "class Bad:\n    def __repr__(self): raise ValueError('no')\nBad()", status: "error", error: "ValueError: no"},
		{code: "raise BaseException('base')", status: "error", error: "base"},
		{code: "input()", status: "error", error: "EOFError"},
		{code: "import helper_made_here", status: "error", error: "ModuleNotFoundError"},
		{code: "open('helper_made_here.py', 'w').write('y = 7'); None"},
		{code: "import helper_made_here; helper_made_here.y", text: "7"},
		{code: "_", text: "7"},
	})
}

func TestJavaScript(t *testing.T) {
	t.Parallel()
	play(t, "javascript", []cellCase{
		{code: "const x = 20; let y = [1];\nx + 1", text: "21", value: "21"},
		{code: "const x = 5; ({x, y})", text: "{ x: 5, y: [ 1 ] }", value: `{"x":5,"y":[1]}`},
		{code: "console.log('hi', x); await new Promise(r => setTimeout(r, 5)); 'slept'", text: "'slept'", output: "hi 5"},
		{code: "throw new Error('bad')", status: "error", error: "Error: bad"},
		{code: "throw 7", status: "error", error: "Uncaught 7"},
		{code: "throw undefined", status: "error", error: "Uncaught undefined"},
		{code: "await Promise.reject(new Error('later'))", status: "error", error: "later"},
		{code: "x x", status: "error", error: "SyntaxError"},
		{code: "process.exit(3)", status: "error", error: "process.exit(3)"},
		{code: "import fs from 'fs'", status: "error", error: "use require"},
		{code: "require('fs').writeFileSync('o.txt', 'x'); x", text: "5", files: "o.txt"},
		{code: "undefined"},
		{code: "null", text: "null", value: "null"},
		{code: "new Map([[1, {a: 2}]])", text: "Map(1) { 1 => { a: 2 } }"},
		{code: "10n ** 20n", text: "100000000000000000000n"},
		{code: "setTimeout(() => { throw new Error('from a timer') }, 1); await new Promise(r => setTimeout(r, 50)); 1", text: "1", output: "from a timer"},
		{code: "_", text: "1"},
		{code: "class A {}; class B extends A {}; new B()", text: "B {}"},
	})
}

func TestShell(t *testing.T) {
	t.Parallel()
	play(t, "shell", []cellCase{
		{code: `x=5; list=(1 "two three"); f() { echo "f says $1"; }; export Y=out; declare -A m=([a b]=c)`},
		{code: `echo $x "${list[1]}" "${m[a b]}"; f hi; sh -c 'echo $Y'`, output: "5 two three c\nf says hi\nout\n"},
		{code: "mkdir d; cd d; echo made > file.txt", files: "d/file.txt"},
		{code: `basename "$PWD"; cat file.txt`, output: "d\nmade\n"},
		{code: "false", status: "error", error: "exit status 1"},
		{code: "x=6; exit 4", status: "error", error: "exit status 4"},
		{code: "echo $x", output: "6"},
		{code: "set -e; false; echo never", status: "error"},
		{code: "set +e"},
		{code: "x=7; exec sleep 0"},
		{code: "read -r line; echo \"[$line]\"", output: "[]"},
		{code: "echo to stderr >&2", output: "to stderr"},
		{code: "echo $'a\\nb' | { while read -r l; do echo \"<$l>\"; done; }", output: "<a>\n<b>"},
		{code: "cat <<'E'\n$x 'q' \"q\"\nE", output: "$x 'q' \"q\""},
		{code: "if", status: "error", output: "syntax error"},
		{code: "echo $x", output: "6"},
	})
}

// TestPackages: with a list, cells import what is on it, the standard library and their own files. What a package imports is its
// own affair.
func TestPackages(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"this Python": "", "one before 3.10": "import sys\ndel sys.stdlib_module_names\n"} {
		b := newBench(t, Config{Packages: []string{"Pack-One"}})
		run := b.needs.Run
		b.needs.Run = func(ctx context.Context, p Program) (toolcrib.Exit, error) {
			p.Driver = before + p.Driver
			return run(ctx, p)
		}
		for i, c := range []cellCase{
			{code: "import os, sys\nos.mkdir('lib')\nsys.path.append(os.path.abspath('lib'))\nfor n, text in {'pack_one': 'import pack_two', 'pack_two': 'y = 2', 'pack_three': 'y = 3'}.items():\n  open('lib/' + n + '.py', 'w').write(text)"},
			{code: "import json, xml.dom.minidom, sqlite3, _json, math, time, unittest.mock\nfrom concurrent import futures\n'standard'", text: "'standard'"},
			{code: "import pack_three", status: "error", error: "'pack_three' is not allowed here: toolboxes.code.packages"},
			{code: "import importlib; importlib.import_module('pack_three')", status: "error", error: "not allowed"},
			{code: "__import__('pack_two')", status: "error", error: "not allowed"},
			{code: "def f():\n  from pack_two import y\nf()", status: "error", error: "not allowed"},
			{code: "import pack_one; pack_one.pack_two.y", text: "2"},
			{code: "open('mine.py', 'w').write('z = 4'); None"},
			{code: "import mine; mine.z", text: "4"},
		} {
			out := b.run("python", c.code)
			if c.status == "" {
				c.status = "ok"
			}
			if out.Status != c.status || c.text != "" && out.Text != c.text || !strings.Contains(out.Error, c.error) {
				t.Errorf("%s, cell %d\n%s\ngave %+v", name, i+1, c.code, out)
			}
		}
		if text := b.described(); !strings.Contains(text, "Pack-One") {
			t.Errorf("models are told %s", text)
		}
	}
}
