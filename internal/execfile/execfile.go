// Package execfile says in a sentence why a file cannot be started as a program. The
// system only says "no such file" of a script whose interpreter is missing, and
// "exec format error" of a program for another machine. The folder of plugins and
// what starts programs use it.
//
// Its one invariant: it starts nothing, and waits at no pipe.
package execfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// headMost is how much of a file is read: systems read no more of a first line.
const headMost = 512

// Head gives the beginning of a file.
func Head(path string) ([]byte, error) {
	head, err := plainfile.Begin(path, headMost-1)
	return head[:min(len(head), headMost)], err
}

// Looks reports whether a file that begins so is meant to be started: a script that
// names its interpreter, or a program of any system.
func Looks(head []byte) bool { return bytes.HasPrefix(head, []byte("#!")) || madeFor(head) != "" }

// Script says what is wrong with the first line of a script; empty: nothing, or it
// is no script. Find finds a program in PATH, as [os/exec.LookPath] does.
func Script(head []byte, find func(name string) (string, error)) string {
	rest, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	line, _, whole := bytes.Cut(rest, []byte("\n"))
	if bytes.HasSuffix(line, []byte("\r")) {
		return "its first line ends as lines do on Windows, so that no interpreter is found; save it with plain line ends"
	}
	if !whole && len(head) == headMost {
		return fmt.Sprintf("its first line is longer than %d letters", headMost)
	}
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return "its first line names no interpreter: write #!/usr/bin/env NAME there"
	}
	if _, err := os.Stat(words[0]); err != nil {
		return fmt.Sprintf("its first line asks for %q, which is not on this machine", words[0])
	}
	if name := behindEnv(words); name != "" {
		if _, err := find(name); err != nil {
			return fmt.Sprintf("its first line asks for %q, which is not in PATH", name)
		}
	}
	return ""
}

// behindEnv is the program that env is to find; empty: none, or not plainly named.
func behindEnv(words []string) string {
	if filepath.Base(words[0]) != "env" {
		return ""
	}
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") || strings.Contains(w, "=") {
			continue // -S, and variables
		}
		return w
	}
	return ""
}

// Fault says why a file cannot be started here; empty: nothing is known against it.
// A machine may have been taught to start more (emulators), so this is for who has
// tried.
func Fault(path string, find func(name string) (string, error)) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "there is no such file"
	case err != nil:
		return err.Error()
	case info.IsDir():
		return "it is a directory"
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return "it may not be started: chmod +x " + path
	}
	head, err := Head(path)
	if err != nil {
		return "" // one that may be started and not read
	}
	return headFault(head, runtime.GOOS, runtime.GOARCH, find)
}

func headFault(head []byte, goos, goarch string, find func(name string) (string, error)) string {
	if why := Script(head, find); why != "" {
		return why
	}
	if bytes.HasPrefix(head, []byte("#!")) || goos == "windows" {
		return ""
	}
	made := madeFor(head)
	switch here := goos + "/" + goarch; {
	case len(head) == 0:
		return "it is empty"
	case made == "":
		return "it is neither a program nor a script: a script begins with a line such as #!/usr/bin/env python3"
	case made == here, made == goos+"/":
		return ""
	default:
		return fmt.Sprintf("it is a program for %s, and this machine is %s", strings.TrimSuffix(made, "/"), here)
	}
}

// madeFor says for which system and machine a program was made, as Go names them.
// Only the system is known of some ("darwin/"), and of what is no program nothing.
func madeFor(head []byte) string {
	switch {
	case len(head) >= 20 && string(head[:4]) == "\x7fELF":
		order := binary.ByteOrder(binary.LittleEndian)
		if head[5] == 2 {
			order = binary.BigEndian
		}
		// Other systems use the format too, and few of them say so.
		if arch := elfMachines()[order.Uint16(head[18:])]; arch != "" {
			return elfSystem() + "/" + arch
		}
		return elfSystem() + "/"
	case len(head) >= 8 && (string(head[:4]) == "\xcf\xfa\xed\xfe" || string(head[:4]) == "\xfe\xed\xfa\xcf"):
		return "darwin/" + map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[binary.LittleEndian.Uint32(head[4:])]
	case len(head) >= 4 && string(head[:4]) == "\xca\xfe\xba\xbe":
		return "darwin/" // for several machines
	case len(head) >= 2 && string(head[:2]) == "MZ":
		return "windows/"
	}
	return ""
}

// elfSystem is what a program in the format of Linux is taken to be for: this system,
// where it uses that format.
func elfSystem() string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return "linux"
	}
	return runtime.GOOS
}

func elfMachines() map[uint16]string {
	return map[uint16]string{3: "386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm", 62: "amd64", 183: "arm64", 243: "riscv64", 258: "loong64"}
}

// Explain says what is wrong with the file of a program that did not start, in the
// place of what the system says. Nil stays nil.
func Explain(path string, err error, find func(name string) (string, error)) error {
	if err == nil {
		return nil
	}
	why := ""
	if strings.Contains(err.Error(), "text file busy") { // it may come from another process, as text
		why = "somebody still writes to it"
	} else if why = Fault(path, find); why == "" {
		return err
	}
	return &startError{fmt.Sprintf("%s cannot be started: %s", filepath.Base(path), why), err}
}

// startError is what the system said, in our words.
type startError struct {
	text string
	err  error
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.err }
