//go:build ignore

// The attacker of the sandbox suite. It is built as a program of its own, runs
// inside the sandbox, and tries what its first argument says. It tells what it
// could do; the suite looks outside at what came of it.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	fmt.Println("attacker is here")
	verb, args := os.Args[1], os.Args[2:]
	if run, ok := verbs()[verb]; ok {
		run(args)
		return
	}
	if special(verb, args) {
		return
	}
	fmt.Fprintln(os.Stderr, "no such verb:", verb)
	os.Exit(99)
}

func verbs() map[string]func([]string) {
	return map[string]func([]string){
		"exit":             func(args []string) { os.Exit(number(args[0])) },
		"signal":           func(args []string) { dieBy(syscall.Signal(number(args[0]))) },
		"args":             tellArgs,
		"env":              tellEnv,
		"cat":              tellInput,
		"speak":            speak,
		"pour":             func(args []string) { pour(number(args[0])) },
		"serve":            serveGrant,
		"write":            writeAll,
		"read":             readAll,
		"dial":             dialAll,
		"listen":           listen,
		"beat":             func(args []string) { beat(args[0]) },
		"survive":          func(args []string) { survive(args[0], args[1]) },
		"survive-and-wait": func(args []string) { survive(args[0], args[1]); time.Sleep(time.Hour) },
		"patricide":        func(args []string) { patricide(args[0], number(args[1])) },
		"child":            func(args []string) { survive(args[0], args[1]); os.Exit(0) },
		"fill":             func(args []string) { fill(args[0], number(args[1])) },
		"identity":         func([]string) { fmt.Println("ids", os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid()) },
		"wait":             func([]string) { time.Sleep(time.Hour) },
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
	return n
}

func dieBy(sig syscall.Signal) {
	signal.Reset(sig)
	_ = syscall.Kill(os.Getpid(), sig)
	time.Sleep(5 * time.Second)
	os.Exit(97)
}

// encoded brings any bytes into one word; the dot is there for empty ones.
func encoded(s string) string { return "." + base64.StdEncoding.EncodeToString([]byte(s)) }

func tellArgs(args []string) {
	for _, a := range args {
		fmt.Println("arg", encoded(a))
	}
	dir, err := os.Getwd()
	fmt.Println("dir", dir, err)
}

func tellEnv([]string) {
	for _, v := range os.Environ() {
		fmt.Println("env", encoded(v))
	}
}

func tellInput([]string) {
	text, err := io.ReadAll(os.Stdin)
	fmt.Println("input", encoded(string(text)), err)
}

func speak([]string) {
	for i := range 100 {
		fmt.Println("out", i)
		fmt.Fprintln(os.Stderr, "err", i)
	}
	fmt.Print("\x00\xff no newline at the end")
}

func pour(megabytes int) {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = 'x'
	}
	for range megabytes {
		if _, err := out.Write(block); err != nil {
			os.Exit(96)
		}
	}
	if out.Flush() != nil {
		os.Exit(96)
	}
}

// try tells how an attempt went.
func try(what string, err error) {
	if err != nil {
		fmt.Println("refused", what, err)
		return
	}
	fmt.Println("did", what)
}

// serveGrant does what a granted directory must allow: work, readonly.
func serveGrant(args []string) {
	work, readonly := args[0], args[1]
	try("write", os.WriteFile(filepath.Join(work, "made"), []byte("made inside"), 0o644))
	try("mkdir", os.MkdirAll(filepath.Join(work, "deep/er"), 0o755))
	try("rename", os.Rename(filepath.Join(work, "made"), filepath.Join(work, "deep/er/moved")))
	try("link", os.Link(filepath.Join(work, "deep/er/moved"), filepath.Join(work, "linked")))
	try("symlink", os.Symlink("linked", filepath.Join(work, "symlinked")))
	try("chmod", os.Chmod(filepath.Join(work, "linked"), 0o600))
	try("truncate", os.Truncate(filepath.Join(work, "existing"), 3))
	try("remove", os.Remove(filepath.Join(work, "removable")))
	_, err := os.ReadFile(filepath.Join(readonly, "file"))
	try("read", err)
	temp := fmt.Sprintf("/tmp/attacker-%d", time.Now().UnixNano())
	try("temp", os.WriteFile(temp, []byte("x"), 0o600))
	_ = os.Remove(temp)
	try("null", os.WriteFile("/dev/null", []byte("x"), 0))
	script := filepath.Join(work, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 7\n"), 0o755); err == nil {
		err = exec.Command(script).Run()
		if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 7 {
			err = nil
		}
		try("run", err)
	}
}

// ways are other names for a path, by which a wall that looks at names falls.
func ways(work, path string) []string {
	list := []string{
		path, "/proc/self/root" + path, "/proc/1/root" + path, "/proc/self/cwd/../../../../../../../.." + path,
		work + "/.." + strings.TrimPrefix(path, filepath.Dir(work)), work + "/../../../../../../../../../.." + path, "//" + path, "/./" + path,
		"/proc/thread-self/root" + path, "/proc/" + strconv.Itoa(os.Getppid()) + "/root" + path, "/proc/" + strconv.Itoa(os.Getppid()) + "/cwd/../../../../.." + path,
	}
	for i, target := range []string{path, filepath.Dir(path), "/", "/proc/self/root", "/proc/1/root"} {
		name := filepath.Join(work, fmt.Sprintf("way-%d-%s", i, filepath.Base(path)))
		_ = os.Remove(name)
		if os.Symlink(target, name) != nil {
			continue
		}
		switch i {
		case 0:
			list = append(list, name)
		case 1:
			list = append(list, filepath.Join(name, filepath.Base(path)))
		default:
			list = append(list, name+path)
		}
	}
	return list
}

// writeAll tries to change each path: work, then the paths of files.
func writeAll(args []string) {
	work := args[0]
	for _, target := range args[1:] {
		for _, way := range ways(work, target) {
			mark := []byte("overwritten by " + way)
			try("write "+way, os.WriteFile(way, mark, 0o666))
			f, err := os.OpenFile(way, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
			if err == nil {
				_, err = f.Write(mark)
				f.Close()
			}
			try("append "+way, err)
			try("truncate "+way, os.Truncate(way, 0))
			try("chmod "+way, os.Chmod(way, 0o777))
			try("touch "+way, os.Chtimes(way, time.Unix(1, 0), time.Unix(1, 0)))
			linked := filepath.Join(work, "hard")
			_ = os.Remove(linked)
			if err = os.Link(way, linked); err == nil {
				err = os.WriteFile(linked, mark, 0o666)
			}
			try("link "+way, err)
			inside := filepath.Join(work, "inside")
			_ = os.WriteFile(inside, mark, 0o666)
			try("rename over "+way, os.Rename(inside, way))
			try("create beside "+way, os.WriteFile(way+"-planted", mark, 0o666))
			try("mkdir beside "+way, os.Mkdir(way+"-planted-dir", 0o777))
			try("symlink beside "+way, os.Symlink("/", way+"-planted-link"))
			try("rename away "+way, os.Rename(way, filepath.Join(work, "stolen")))
			try("remove "+way, os.Remove(way))
		}
	}
	moreWrites(work, args[1:])
}

// readAll tells what it can read of each path: work, then the paths.
func readAll(args []string) {
	work := args[0]
	tell := func(how, path string, text []byte, err error) {
		if err != nil {
			fmt.Println("refused", how, path, err)
			return
		}
		fmt.Println("got", how, path, string(text))
	}
	for _, target := range args[1:] {
		for _, way := range ways(work, target) {
			text, err := os.ReadFile(way)
			tell("read", way, text, err)
			linked := filepath.Join(work, "hard")
			_ = os.Remove(linked)
			if err = os.Link(way, linked); err == nil {
				text, err = os.ReadFile(linked)
			}
			tell("link", way, text, err)
			stolen := filepath.Join(work, "stolen")
			if err = os.Rename(way, stolen); err == nil {
				text, err = os.ReadFile(stolen)
				_ = os.Rename(stolen, way)
			}
			tell("rename", way, text, err)
			if filepath.Base(way) == "script" {
				text, err = exec.Command(way).Output()
				tell("execute", way, text, err)
			}
		}
	}
	moreReads(work, args[1:])
}

// dialAll tries to reach network addresses: network, address, and so on.
func dialAll(args []string) {
	for i := 0; i+1 < len(args); i += 2 {
		c, err := net.DialTimeout(args[i], args[i+1], 2*time.Second)
		if err == nil {
			_, err = c.Write([]byte("the attacker got through"))
			c.Close()
		}
		try("dial "+args[i]+" "+args[i+1], err)
	}
}

// listen waits to be reached on a port of all addresses.
func listen(args []string) {
	l, err := net.Listen("tcp", ":"+args[0])
	try("listen", err)
	if err != nil {
		return
	}
	time.AfterFunc(time.Second, func() { l.Close() })
	if c, err := l.Accept(); err == nil {
		fmt.Println("reached from", c.RemoteAddr())
	}
}

// beat shows that it lives by writing to a file.
func beat(file string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	for {
		if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
			f.WriteString(".")
			f.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// survive leaves something behind that beats, and tells when it is there.
func survive(how, file string) {
	self, err := os.Executable()
	if err != nil {
		os.Exit(95)
	}
	child := exec.Command(self, "beat", file)
	child.Env = os.Environ()
	switch how {
	case "stubborn": // ourselves
		fmt.Println("ready")
		beat(file)
	case "child":
	case "session":
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "group":
		child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	case "holding": // keeps our output open
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "grandchild": // its parent ends, so that nobody knows it
		child = exec.Command(self, "child", "session", file)
		child.Stdout = os.Stdout
		if child.Run() != nil {
			os.Exit(94)
		}
		fmt.Println("ready")
		return
	case "runner": // never the same process for long
		child = exec.Command(self, "runner", file)
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := child.Start(); err != nil {
		fmt.Println("refused", how, err)
		return
	}
	for range 2000 { // until it beats
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	fmt.Println("ready")
}

// patricide leaves something behind and then kills whoever watches over it.
// The process that runs the suite is spared: a sandbox without a watcher has
// it for a parent.
func patricide(file string, spared int) {
	survive("session", file)
	for range 20 {
		parent := os.Getppid()
		if parent == spared {
			fmt.Println("refused patricide: the parent is the suite")
			break
		}
		if err := syscall.Kill(parent, syscall.SIGKILL); err != nil || parent <= 1 {
			break // the first process of a namespace does not hear us
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(time.Hour)
}

// fill writes a file until it is refused.
func fill(file string, megabytes int) {
	signal.Ignore(syscall.SIGXFSZ)
	f, err := os.Create(file)
	if err != nil {
		fmt.Println("refused create", err)
		return
	}
	block := make([]byte, 1<<20)
	for i := range megabytes {
		if _, err := f.Write(block); err != nil {
			fmt.Println("refused at", i, err)
			return
		}
	}
	fmt.Println("did fill", megabytes)
}
