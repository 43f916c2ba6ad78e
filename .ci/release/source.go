package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/release"
)

// source is a clone of what is committed, where everything is built: what lies
// around in the working tree cannot get into a release, and Go finds the tag.
type source struct {
	dir     string // the clone
	work    string // a directory for what is made on the way
	version release.Version
	commit  string
	date    time.Time // of the commit, or SOURCE_DATE_EPOCH
	dirty   bool      // the working tree has more than the commit
}

func cloneSource(ctx context.Context, from, work, version string) (*source, error) {
	s := &source{dir: filepath.Join(work, "source"), work: work}
	root, err := s.git(ctx, from, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	status, err := s.git(ctx, root, "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	s.dirty = status != ""
	if s.commit, err = s.git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	if _, err = s.git(ctx, root, "clone", "--quiet", "--no-checkout", "--local", root, s.dir); err != nil {
		return nil, err
	}
	if _, err = s.git(ctx, s.dir, "-c", "advice.detachedHead=false", "checkout", "--quiet", s.commit); err != nil {
		return nil, err
	}
	if err := s.tag(ctx, version); err != nil {
		return nil, err
	}
	seconds, err := s.git(ctx, s.dir, "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	if set := os.Getenv("SOURCE_DATE_EPOCH"); set != "" {
		seconds = set
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the date of the release: %w", err)
	}
	s.date = time.Unix(n, 0).UTC()
	said, err := s.goTool(ctx, nil, "list", "-m", "-f", "{{.Path}}")
	if err != nil {
		return nil, err
	}
	if said != "github.com/toolcrib/toolcrib" {
		return nil, fmt.Errorf("this is the module %s", said)
	}
	return s, s.findVersion(ctx)
}

// tag gives the commit the version that was asked for, in the clone only. A tag of
// the repository that means another commit is an error.
func (s *source) tag(ctx context.Context, version string) error {
	if version == "" {
		return nil
	}
	if _, err := release.ParseVersion(version); err != nil {
		return err
	}
	if there, err := s.git(ctx, s.dir, "rev-parse", "--quiet", "--verify", version+"^{commit}"); err == nil {
		if there != s.commit {
			return fmt.Errorf("%s is the commit %.12s, and this is %.12s", version, there, s.commit)
		}
		return nil
	}
	_, err := s.git(ctx, s.dir, "tag", version)
	return err
}

// findVersion asks Go which version it gives to what is built here.
func (s *source) findVersion(ctx context.Context) error {
	program, err := s.build(ctx, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return err
	}
	said, err := components{}.add(bytes.NewReader(program))
	if err != nil {
		return err
	}
	s.version, err = release.ParseVersion(said)
	return err
}

// build builds the program for one system; a second time it only reads it.
func (s *source) build(ctx context.Context, t target) ([]byte, error) {
	name := filepath.Join(s.work, "bin", t.os+"-"+t.arch)
	if program, err := os.ReadFile(name); err == nil {
		return program, nil
	}
	if _, err := s.goTool(ctx, []string{"GOOS=" + t.os, "GOARCH=" + t.arch}, "build", "-buildvcs=true", "-trimpath", "-ldflags=-s -w", "-o", name, "./cmd/toolcrib"); err != nil {
		return nil, fmt.Errorf("building for %s: %w", t, err)
	}
	return os.ReadFile(name)
}

// goTool runs Go in the clone, with nothing of the surroundings that would change
// what it makes.
func (s *source) goTool(ctx context.Context, env []string, args ...string) (string, error) {
	fixed := []string{"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOENV=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GO111MODULE=on"}
	// What a person set with "go env -w" for reaching modules is still needed.
	for _, name := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOMODCACHE", "GOCACHE", "GOTOOLCHAIN"} {
		out, err := exec.CommandContext(ctx, "go", "env", name).Output()
		if err == nil {
			fixed = append(fixed, name+"="+strings.TrimSpace(string(out)))
		}
	}
	return output(ctx, s.dir, append(fixed, env...), "go", args...)
}

func (s *source) git(ctx context.Context, dir string, args ...string) (string, error) {
	return output(ctx, dir, nil, "git", args...)
}

// output runs a program and gives what it says, without the last line's end.
func output(ctx context.Context, dir string, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if said := strings.TrimSpace(complaint.String()); err != nil && said != "" {
		err = errors.New(said)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
