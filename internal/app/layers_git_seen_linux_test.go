package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// seenIndex has the index say that git has seen a file as it is now, with the content
// that the last commit has of it.
func seenIndex(name string) string {
	return `git add ` + name + ` && echo new > n && git add n && python3 -c '
import hashlib, subprocess, sys
old = subprocess.check_output(["git", "rev-parse", "HEAD:" + sys.argv[1]], text=True).strip()
index = bytearray(open(".git/index", "rb").read()[:-20])
at = index.index(sys.argv[1].encode() + b"\0") - 62
index[at+28:at+36] = ` + fmt.Sprintf("(%d).to_bytes(4, \"big\") + (%d).to_bytes(4, \"big\")", os.Getuid(), os.Getgid()) + `
index[at+40:at+60] = bytes.fromhex(old)
trees = index.rfind(b"TREE")
if trees > 0:
    del index[trees:]
open(".git/index", "wb").write(index + hashlib.sha1(index).digest())
' ` + name
}

// TestIndexHidesNoChange: git does not read a file that its index has as it is. So a
// command cannot have it take another content for the one that was committed, neither of
// a file nor of a link.
func TestIndexHidesNoChange(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no python3 here to forge an index with")
	}
	for name, change := range map[string]string{"a file": `echo owl > a`, "a link": `ln -sf owl l`, "the same time and length": `echo owl > a && touch -d @1700000000 a`} {
		t.Run(name, func(t *testing.T) {
			a, dir := gitProject(t, nil)
			if err := os.Symlink("two", filepath.Join(dir, "l")); err != nil {
				t.Fatal(err)
			}
			gitHere(t, dir, "add", "l")
			gitHere(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a link")
			if _, told, err := lineOn(t, a, change); err != nil || told != "" {
				t.Fatalf("%s, %v", told, err)
			}
			time.Sleep(1100 * time.Millisecond) // git reads what is as young as its index
			file := "a"
			if strings.HasPrefix(change, "ln") {
				file = "l"
			}
			out, told, err := lineOn(t, a, seenIndex(file))
			if err != nil || out.ExitCode != 0 {
				t.Fatalf("it did not run: %+v, %v", out, err)
			}
			if status := gitHere(t, dir, "-c", "core.checkStat=minimal", "-c", "core.trustCTime=false", "status", "--short", file); status != "M "+file {
				t.Errorf("git says %q of a file that was changed; told %q", status, told)
			}
			if !strings.Contains(told, "git would take "+file+" for unchanged") {
				t.Errorf("told %q", told)
			}
		})
	}
}

// TestIndexOfTheFuture: what git would see of a file that a later command writes is not
// known now, and an index that has it is not applied.
func TestIndexOfTheFuture(t *testing.T) {
	a, dir := gitProject(t, nil)
	before := inventory(t, dir)
	out, told, err := lineOn(t, a, `echo new > n && git add n && python3 -c '
import hashlib
index = bytearray(open(".git/index", "rb").read()[:-20])
at = index.index(b"a\0") - 62
index[at:at+4] = (0xfffffff0).to_bytes(4, "big")
open(".git/index", "wb").write(index + hashlib.sha1(index).digest())
'`)
	if err != nil || out.ExitCode != 0 || !strings.Contains(told, "a time that has not come") {
		t.Errorf("%+v, told %q, %v", out, told, err)
	}
	if now := inventory(t, dir); now != before {
		t.Errorf("it changed the project:\n%s\nbefore:\n%s", now, before)
	}
}

// TestIndexHidesNoNewFile: git does not look for new files in a directory that its index
// has a list of. Git on a layer writes no such list, and keeps none.
func TestIndexHidesNoNewFile(t *testing.T) {
	a, dir := gitProject(t, nil)
	gitHere(t, dir, "update-index", "--force-untracked-cache")
	gitHere(t, dir, "-c", "core.untrackedCache=true", "status")
	before := inventory(t, dir)
	for _, line := range []string{
		`echo new > n && git -c core.untrackedCache=true add n`,
		`echo new > n && git -c core.fsmonitor=true update-index --fsmonitor --add n`,
	} {
		out, told, err := lineOn(t, a, line)
		if err != nil || out.ExitCode != 0 || !strings.Contains(told, "so that it does not look") {
			t.Errorf("%q: %+v, told %q, %v", line, out, told, err)
		}
		if now := inventory(t, dir); now != before {
			t.Errorf("%q changed the project:\n%s\nbefore:\n%s", line, now, before)
		}
	}
	if out, told, err := lineOn(t, a, `echo new > n && git add n && git status -s`); err != nil || out.ExitCode != 0 || told != "" {
		t.Errorf("%+v, told %q, %v", out, told, err)
	}
	if status := gitHere(t, dir, "status", "--short"); !strings.Contains(status, "A  n") {
		t.Errorf("git says %q", status)
	}
}

// TestIndexOfOrdinaryFiles: what git writes every day says what is there.
func TestIndexOfOrdinaryFiles(t *testing.T) {
	a, dir := gitProject(t, nil)
	for _, line := range []string{
		`printf 'one\r\ntwo\r\n' > crlf && echo 'crlf text' > .gitattributes && git add -A`, `git commit -qm lines`, `ln -s a l2 && git add l2 && git commit -qm link`, `echo longer > a && git add a && echo shorter >> a`,
		`git stash -q && git stash pop -q`, `mkdir -p d/e && echo x > d/e/f && git add d && rm -r d && ln -s src d`, `git commit -qm z; touch a; git status -s; git add -A; chmod 755 a; git add a`,
	} {
		if out, told, err := lineOn(t, a, line); err != nil || out.ExitCode != 0 || told != "" {
			t.Errorf("%q: %+v, told %q, %v", line, out, told, err)
		}
	}
	gitHere(t, dir, "fsck", "--strict")
}
