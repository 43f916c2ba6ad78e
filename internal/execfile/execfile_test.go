package execfile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func nowhere(string) (string, error)    { return "", exec.ErrNotFound }
func everywhere(string) (string, error) { return "/bin/x", nil }

func elf(machine byte) []byte {
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x01\x01")
	head[18] = machine
	return head
}

func TestHeadFault(t *testing.T) {
	for _, c := range []struct {
		head string
		find func(string) (string, error)
		want string // empty: nothing is wrong
	}{
		{"#!/usr/bin/env python3\n", everywhere, ""},
		{"#!/usr/bin/env -S python3 -u\n", everywhere, ""},
		{"#!/usr/bin/env -S X=1 ruby -w\n", nowhere, `asks for "ruby", which is not in PATH`},
		{"#! /usr/bin/env\truby\n", nowhere, `"ruby", which is not in PATH`},
		{"#!/nowhere/at/all -x\nbody", everywhere, `asks for "/nowhere/at/all", which is not on this machine`},
		{"#!/bin/sh\r\necho\r\n", everywhere, "ends as lines do on Windows"},
		{"#!\n", everywhere, "names no interpreter"},
		{"#!", everywhere, "names no interpreter"},
		{"#!/bin/sh " + strings.Repeat("x", headMost-10), everywhere, "longer than"},
		{"", everywhere, "it is empty"},
		{"echo hello\n", everywhere, "neither a program nor a script"},
		{"\x7fELF", everywhere, "neither a program nor a script"},
		{"MZ\x90", everywhere, "it is a program for windows"},
		{"\xcf\xfa\xed\xfe\x0c\x00\x00\x01", everywhere, "it is a program for darwin/arm64"},
		{"\xca\xfe\xba\xbe", everywhere, "it is a program for darwin"},
		{string(elf(183)), everywhere, "it is a program for linux/arm64, and this machine is linux/amd64"},
		{string(elf(62)), everywhere, ""},
		{string(elf(250)), everywhere, ""},
	} {
		if runtime.GOOS != "linux" && strings.Contains(c.head, "ELF") {
			continue
		}
		got := headFault([]byte(c.head), "linux", "amd64", c.find)
		if c.want == "" && got != "" || c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("%.40q: %q, want %q", c.head, got, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	if Explain("x", nil, everywhere) != nil {
		t.Error("nothing went wrong, and it is explained")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "s")
	if err := os.WriteFile(script, []byte("#!/nowhere/perl\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	was := errors.New("no such file or directory")
	err := Explain(script, was, everywhere)
	if !errors.Is(err, was) || !strings.Contains(err.Error(), "/nowhere/perl") {
		t.Error(err)
	}
	if err := Explain(script, errors.New("exec: text file busy"), everywhere); !strings.Contains(err.Error(), "still writes") {
		t.Error(err)
	}
	if err := Explain(filepath.Join(dir, "none"), was, everywhere); !strings.Contains(err.Error(), "there is no such file") {
		t.Error(err)
	}
	if err := Explain(dir, was, everywhere); !strings.Contains(err.Error(), "it is a directory") {
		t.Error(err)
	}
}

// FuzzHead: whatever a file begins with, something is said of it and nothing breaks.
func FuzzHead(f *testing.F) {
	for _, s := range []string{"#!/usr/bin/env x\n", "#!", "#! \t\n", "\x7fELF", string(elf(3)), "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "", "#!/bin/sh\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		head = head[:min(len(head), headMost)]
		headFault(head, "linux", "amd64", nowhere)
		if Looks(head) && len(head) == 0 {
			t.Error("nothing looks like a program")
		}
	})
}
