package coding

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/lsp"
)

// lspTool is the name that sandboxes know the programs of language servers by.
const lspTool = "lsp"

// openLSP opens the box of language servers.
func openLSP(ctx context.Context, cfg settings.LSPBox, n Needs) (toolcrib.Toolbox, error) {
	servers, err := Servers(cfg)
	if err != nil {
		return nil, err
	}
	needs := lsp.Needs{Find: n.Program, Scan: scanFiles, Shown: n.Shown, Obeyed: n.Obeyed, Log: n.Log}
	if n.Run != nil {
		needs.Run = func(ctx context.Context, p lsp.Program) (toolcrib.Exit, error) {
			return runServer(ctx, cfg.Servers[p.Server], n, p)
		}
	}
	box, err := lsp.Open(ctx, lsp.Config{Servers: servers, Idle: cfg.IdleTimeout, Start: cfg.StartTimeout, Most: cfg.MaxServers}, needs)
	if err != nil {
		return nil, err
	}
	return box, nil
}

// runServer runs a language server with what it may read, and nothing else.
func runServer(ctx context.Context, own settings.LSPServer, n Needs, p lsp.Program) (toolcrib.Exit, error) {
	var read []string
	for _, dir := range own.Read {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok && n.Home != "" {
			dir = filepath.Join(n.Home, rest)
		}
		if !filepath.IsAbs(dir) {
			return toolcrib.Exit{}, fmt.Errorf("toolboxes.lsp.servers.%s.read: %q is no whole path of a directory", p.Server, dir)
		}
		read = append(read, filepath.Clean(dir))
	}
	env := n.Env(p.Dirs, nil)
	for _, name := range slices.Sorted(maps.Keys(own.Env)) {
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		env = append(env, name+"="+own.Env[name])
	}
	dirs := slices.Clone(p.Dirs)
	for i := range dirs {
		dirs[i].Write = false
	}
	if filepath.IsAbs(own.Command) { // one that is found by its name is shown as commands have it
		read = append(read, installation(p.Path, n.Home)...)
	}
	// What a server may do is its grant; it serves many calls, so it belongs to none.
	return n.Run(sandbox.WithTools(ctx, read), toolcrib.Cmd{
		Path: p.Path, Args: p.Args, Dir: p.Dir, Env: env, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
		Tool: lspTool, Effects: toolcrib.Reads, Call: toolcrib.Call{Caller: toolcrib.Caller{Frontend: lspTool}},
	}, toolcrib.Grant{Dirs: dirs, Denied: p.Denied})
}

// Servers are the language servers of the settings and those that are known.
func Servers(cfg settings.LSPBox) ([]lsp.Server, error) {
	known := lsp.Defaults()
	var first []lsp.Server
	for _, name := range slices.Sorted(maps.Keys(cfg.Servers)) {
		s := lsp.Server{Name: name}
		if i := slices.IndexFunc(known, func(k lsp.Server) bool { return k.Name == name }); i >= 0 {
			s = known[i]
			known = slices.Delete(known, i, i+1)
		}
		own := cfg.Servers[name]
		if own.Disabled {
			continue
		}
		if s.Command = cmp.Or(own.Command, s.Command); own.Args != nil {
			s.Args = own.Args
		}
		if own.Extensions != nil {
			s.Languages = map[string]string{}
			for ext, language := range own.Extensions {
				if !strings.HasPrefix(ext, ".") || language == "" {
					return nil, fmt.Errorf("toolboxes.lsp.servers.%s.extensions: write .EXTENSION: LANGUAGE, unlike %s: %s", name, ext, language)
				}
				s.Languages[strings.ToLower(ext)] = language
			}
		}
		if own.Roots != nil {
			s.Roots, s.Files = own.Roots, own.Roots
		}
		for key, text := range map[string]string{"options": own.Options, "settings": own.Settings} {
			if text != "" && !json.Valid([]byte(text)) {
				return nil, fmt.Errorf("toolboxes.lsp.servers.%s.%s: it is not JSON", name, key)
			}
		}
		if own.Options != "" {
			s.Options = json.RawMessage(own.Options)
		}
		if own.Settings != "" {
			s.Settings = json.RawMessage(own.Settings)
		}
		if s.Command == "" || len(s.Languages) == 0 {
			return nil, fmt.Errorf("toolboxes.lsp.servers.%s: a server that is not known needs command and extensions", name)
		}
		first = append(first, s)
	}
	return slices.Concat(first, known), nil
}

// LanguageServers says which servers are installed, and which of them the files of the
// project would want.
func LanguageServers(ctx context.Context, cfg settings.LSPBox, n Needs) ([]lsp.Found, error) {
	servers, err := Servers(cfg)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // directories are looked at side by side
	extensions := map[string]bool{}
	for _, d := range files.Outermost(n.Dirs) {
		scanFiles(ctx, d.Path, func(name string) bool {
			mu.Lock()
			defer mu.Unlock()
			extensions[strings.ToLower(filepath.Ext(name))] = true
			return false
		})
	}
	return lsp.Survey(servers, n.Program, extensions), nil
}

// installation are the directories that a program needs to see of where it was installed:
// its own, and that of its package where npm has made a link to it.
func installation(program, home string) []string {
	dirs := []string{filepath.Dir(program)}
	if led, err := filepath.EvalSymlinks(program); err == nil {
		dir := filepath.Dir(led)
		if before, _, ok := strings.Cut(led, string(filepath.Separator)+"node_modules"+string(filepath.Separator)); ok {
			dir = filepath.Join(before, "node_modules")
		}
		dirs = append(dirs, dir)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { // too much to be shown for one program
		return filepath.Dir(dir) == dir || home != "" && pathglob.Holds(dir, home)
	})
}
