package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// fate is what became of a mutant.
type fate string

const (
	killed   fate = "killed"
	survived fate = "survived"
	unbuilt  fate = "did not build" // it is no mutant then, and does not count
)

// source is one package as the go command sees it here.
type source struct {
	Dir        string
	ImportPath string
	GoFiles    []string
}

// sample tries mutants of a package until n of them could be built.
func (o options) sample(ctx context.Context, pkg string) (score, []site, error) {
	var src source
	if err := o.goJSON(ctx, &src, "list", "-json=Dir,ImportPath,GoFiles", pkg); err != nil {
		return score{}, nil, err
	}
	all, err := places(src, pkg)
	if err != nil {
		return score{}, nil, err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(src.ImportPath)) // a hash takes everything
	chance := rand.New(rand.NewPCG(o.seed, h.Sum64()))
	chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return score{}, nil, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // in the directory for such things
	env, err := o.environment(ctx, scratch)
	if err != nil {
		return score{}, nil, err
	}
	wait, err := o.baseline(ctx, env, pkg)
	if err != nil {
		return score{}, nil, err
	}
	var s score
	var left []site
	for _, place := range all {
		if s.killed+s.survived == o.n {
			break
		}
		got, err := o.try(ctx, env, scratch, place, pkg, wait)
		if err != nil {
			return score{}, nil, err
		}
		switch got {
		case killed:
			s.killed++
		case survived:
			s.survived++
			left = append(left, place)
		case unbuilt:
			s.unbuilt++
			continue
		}
		fmt.Fprintf(o.out, "%-8s %s\n", got, place)
	}
	return s, left, nil
}

// places gives every site of a package, by the name it was asked for.
func places(src source, pkg string) ([]site, error) {
	var all []site
	for _, name := range src.GoFiles {
		file := filepath.Join(src.Dir, name)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := sites(file, text)
		if err != nil {
			return nil, err
		}
		for i := range found {
			found[i].shown = path.Join(pkg, name)
		}
		all = append(all, found...)
	}
	return all, nil
}

// environment keeps what a mutant does away from the person's files. What the
// go command keeps stays where it is.
func (o options) environment(ctx context.Context, scratch string) ([]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN"}
	var values map[string]string
	if err := o.goJSON(ctx, &values, append([]string{"env", "-json"}, names...)...); err != nil {
		return nil, err
	}
	home, temp := filepath.Join(scratch, "home"), filepath.Join(scratch, "tmp")
	for _, dir := range []string{home, temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	env := append(os.Environ(), "HOME="+home, "TMPDIR="+temp, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=")
	for _, name := range names {
		env = append(env, name+"="+values[name])
	}
	return env, nil
}

// baseline runs the tests as they are: they have to pass, and say how long a
// mutant may take.
func (o options) baseline(ctx context.Context, env []string, pkg string) (time.Duration, error) {
	began := time.Now()
	text, err := o.goCommand(ctx, env, append([]string{"test", "-vet=off", "-count=1", pkg}, o.also...)...)
	if err != nil {
		return 0, fmt.Errorf("the tests fail without any change: %w\n%s", err, text)
	}
	if o.timeout > 0 {
		return o.timeout, nil
	}
	return 4*time.Since(began) + 30*time.Second, nil
}

// try runs the tests of a package on one mutant, and then those of the others.
func (o options) try(ctx context.Context, env []string, scratch string, place site, pkg string, wait time.Duration) (fate, error) {
	src, err := os.ReadFile(place.file)
	if err != nil {
		return "", err
	}
	mutant, overlay := filepath.Join(scratch, "mutant.go"), filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(mutant, place.apply(src), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {place.file: mutant}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	for _, p := range append([]string{pkg}, o.also...) {
		got, err := o.judge(ctx, env, overlay, p, wait)
		if err != nil || got != survived {
			return got, err
		}
	}
	return survived, nil
}

func (o options) judge(ctx context.Context, env []string, overlay, pkg string, wait time.Duration) (fate, error) {
	hard, cancel := context.WithTimeout(ctx, wait+time.Minute) // building takes its time too
	defer cancel()
	text, err := o.goCommand(hard, env, "test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", wait.String(), pkg)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return survived, nil
	case strings.Contains(string(text), "[build failed]") || strings.Contains(string(text), "[setup failed]"):
		return unbuilt, nil
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended || hard.Err() != nil {
		return killed, nil
	}
	return "", err
}

func (o options) goCommand(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = o.dir, env
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// goJSON reads one value that the go command prints.
func (o options) goJSON(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.dir
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, into) // not one value: not one package
	}
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &said)
	}
	return nil
}
