//go:build amd64 || arm64

package linux

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// showTools adds the tool chains and the cache to a job, and the variables that
// lead to them. They come before what was granted: a granted directory that holds
// one shows it anyway.
//
// The cache is nobody's directory to work in, so it is not looked through for what
// is protected or obeyed: a module cache has tens of thousands of files.
func (s *Sandbox) showTools(r *run, tool string, own []string) error {
	for _, dir := range slices.Concat(s.cfg.Tools, own) {
		shown, err := s.showAs(r, files.Dir{Path: dir}, dir)
		if err != nil {
			return err
		}
		if !shown {
			r.notes = append(r.notes, "the tool chain in "+dir+" is not there any more, or a link leads to it: it was left out")
		}
	}
	r.job.env = withDefaults(r.job.env, s.cfg.ToolEnv)
	s.tellGit(r.job)
	if !s.hasCache(tool) {
		return nil
	}
	if r.layer != nil {
		return s.showCacheLayer(r)
	}
	shown, err := s.showAs(r, files.Dir{Path: s.cfg.Cache, Write: true}, s.cfg.CachePlace)
	if shown {
		r.job.env = withDefaults(r.job.env, s.cfg.CacheEnv)
	}
	return err
}

// hasCache tells whether programs of a tool get the cache.
func (s *Sandbox) hasCache(tool string) bool {
	return s.cfg.Cache != "" && slices.Contains(s.cfg.CacheTools, tool)
}

// showCacheLayer shows the cache on a layer: what a program does to it is kept or dropped
// with all that it changed, so that a command that was refused leaves nothing for the
// next one to build with.
func (s *Sandbox) showCacheLayer(r *run) error {
	if leadsElsewhere(s.cfg.Cache) {
		return nil
	}
	b := bind{source: s.cfg.Cache, target: s.cfg.CachePlace, strict: true}
	if s.who.root {
		f, err := s.who.mountAlone(s.cfg.Cache)
		if err != nil {
			return err
		}
		b.mount = r.add(f, true)
	}
	if err := s.grantLayer(r, files.Dir{Path: s.cfg.Cache, Write: true}, &b, true); err != nil {
		return err
	}
	r.job.binds = append(r.job.binds, b)
	r.job.env = withDefaults(r.job.env, s.cfg.CacheEnv)
	return nil
}

// showAs shows a directory under a name, and reports whether it could.
func (s *Sandbox) showAs(r *run, d files.Dir, target string) (bool, error) {
	if leadsElsewhere(d.Path) {
		return false, nil
	}
	b := bind{source: d.Path, target: target, write: d.Write, strict: true}
	if s.who.root {
		f, _, err := s.who.mount(d)
		if err != nil {
			return false, sandbox.Unavailable("the directory "+d.Path+" cannot be shown in the sandbox: "+err.Error(), err)
		}
		b.mount = r.add(f, true)
	}
	r.job.binds = append(r.job.binds, b)
	return true, nil
}

// leadsElsewhere: a link lies on the way, or the place is out of reach.
func leadsElsewhere(path string) bool { return reachable(path) != nil }

// gitSettings is where git finds who commits. It lies where nobody can write: what
// else stood there would make a harmless git command start programs.
const gitSettings = "/etc/gitconfig-person"

// tellGit gives git those settings in the place of none. They count less than what
// a repository says.
func (s *Sandbox) tellGit(j *job) {
	const none = "GIT_CONFIG_GLOBAL=/dev/null"
	i := slices.Index(j.env, none)
	if s.cfg.GitSettings == "" || i < 0 {
		return
	}
	j.env = slices.Clone(j.env)
	j.env[i] = "GIT_CONFIG_GLOBAL=" + gitSettings
	j.made = append(j.made, [2]string{gitSettings, s.cfg.GitSettings})
}

// withDefaults adds variables that are not set.
func withDefaults(env, defaults []string) []string {
	env = slices.Clone(env)
	for _, v := range defaults {
		name, _, _ := strings.Cut(v, "=")
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			env = append(env, v)
		}
	}
	return env
}
