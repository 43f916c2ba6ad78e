package sensitive

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Place is a file or directory that a program outside executes or obeys later,
// without a question and without being asked to run the project's own code.
type Place struct {
	Pattern string // a name, or the end of a path
	By      string // who obeys it
	// Held: commands must not make it where it is missing. A place that is not
	// held can be made by a command; it is read-only from the next command on.
	Held bool
	Dir  bool // a directory, as far as programs expect one
	// Built: tools make it themselves while they build or start something, so that
	// one that a command made is no sign of anything.
	Built bool
	// AtOnce: it takes effect without a person having looked at it: by opening the
	// project in an editor or an agent, by a prompt, by a program that she runs for
	// something else. The rest takes a commit, a push or a word of trust.
	AtOnce bool
}

// Obeyed is the list. It holds what is rarely a part of ordinary work on a
// project, and what takes effect without somebody building or testing the
// project: opening an editor, starting an agent, a cd, a commit, a push.
//
// Left out on purpose: build files (package.json, Makefile, .yarnrc.yml) run
// only when somebody runs the project, whose code the agent writes anyway;
// texts for agents (CLAUDE.md, AGENTS.md, .cursorrules) are read like any other
// text of the project, and writing them is ordinary work; .gitattributes and
// .gitmodules start nothing that git's own settings do not name, and those are
// held by other means; virtual environments (.venv/bin/activate) are made and
// filled by ordinary commands and are code of the project as node_modules is.
func Obeyed() []Place {
	var list []Place
	add := func(by string, held, dir bool, patterns ...string) {
		for _, p := range patterns {
			list = append(list, Place{Pattern: p, By: by, Held: held, Dir: dir})
		}
	}
	const (
		agents = "agents obey it"
		editor = "editors obey it"
		commit = "git runs it"
		push   = "the build service runs it"
		enter  = "shells run it on the way in"
		shells = "shells run it when they start"
		others = "other version controls obey what is in it"
		npx    = "npx and tools that choose a version obey it"
	)
	add(agents, true, true, ".claude", ".cursor", ".gemini", ".codex", ".opencode")
	add(agents, true, false, ".mcp.json", "toolcrib.yaml", "opencode.json")
	add(agents, false, true, ".windsurf", ".continue", ".roo", ".kilocode", ".kiro", ".amazonq", ".trae", ".qwen", ".goose", ".augment", ".junie", ".factory", ".crush", ".amp", ".copilot", ".openhands", ".iflow", ".codebuddy", ".qoder", ".clinerules/hooks", ".github/hooks",
		".grok", ".vibe", ".pi", ".kilo", ".cline", ".rovodev")
	add(agents, false, false, "opencode.jsonc", ".aider.conf.yml", "crush.json", ".crush.json")
	add("Toolcrib obeys what is in it, once it is trusted", false, true, ".toolcrib")
	add(editor, true, true, ".vscode", ".idea", ".zed", ".devcontainer")
	add(editor, true, false, ".devcontainer.json")
	add(editor, false, true, ".fleet", ".idx", ".helix", ".nvim", ".vs", ".theia", ".nova", ".externaltoolbuilders", ".run", ".bsp")
	add(editor, false, false, ".exrc", ".nvimrc", ".nvim.lua", ".vimrc", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", "*.code-workspace", "*.sublime-project", ".gitpod.yml", ".vim/coc-settings.json", ".neoconf.json",
		".luarc.json", ".luarc.jsonc", ".ycm_extra_conf.py")
	add("editors run what it names", false, false, "hie.yaml", "pylintrc", ".pylintrc") // commands make these, too
	add(commit, true, true, ".husky")
	add(commit, false, true, ".lefthook", ".lefthook-local")
	add(commit, false, false, ".pre-commit-config.yaml", ".overcommit.yml", ".huskyrc", ".huskyrc.*", ".lintstagedrc", ".lintstagedrc.*", "lint-staged.config.*", ".simple-git-hooks.*", "simple-git-hooks.*", "captainhook.json", "grumphp.yml",
		".rusty-hook.toml", "hk.pkl", "prek.toml")
	add(others, false, true, ".hg", ".sl", ".jj", ".bzr")
	// Their own programs make these when they set up a repository, so that one that
	// a command made is told and stays.
	add("version controls run what it names", false, false, "_darcs/prefs/defaults", ".pijul/config", ".gclient", ".repo/repo/*.py", ".repo/repo/subcmds/*.py")
	for _, ending := range []string{"yml", "yaml", "toml", "json"} {
		add(commit, false, false, "lefthook."+ending, ".lefthook."+ending, "lefthook-local."+ending, ".lefthook-local."+ending)
	}
	add(commit, false, false, ".gitconfig", ".config/git/config")
	add(push, true, true, ".github/workflows")
	add(push, false, true, ".github/actions", ".circleci", ".buildkite", ".woodpecker", ".gitea/workflows", ".forgejo/workflows", ".teamcity", ".semaphore", ".tekton", ".builds", ".harness")
	add(push, false, false, ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".drone.yml", ".woodpecker.yml", ".cirrus.yml", "appveyor.yml", ".appveyor.yml", "buildspec.yml", "cloudbuild.yaml", "codemagic.yaml", "bitrise.yml")
	add(enter, true, false, ".envrc")
	add(enter, false, false, ".envrc.local", ".envrc.private", ".rvmrc")
	add(npx, false, false, ".npmrc", ".tool-versions", "rust-toolchain", "rust-toolchain.toml")
	add(enter, false, false, "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".config/mise.toml", ".mise/config.toml", "mise/config.toml", "mise.*.toml", ".mise.*.toml", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh",
		".direnv/*.rc", ".direnv/flake-profile*", ".direnv/nix-profile*")
	add(enter, false, true, ".config/mise", ".devenv", ".direnv/bin")
	add("an interpreter that is started there runs it", false, false, ".rprofile", ".renviron", ".rdata", ".irbrc", ".pryrc", ".iex.exs", ".ghci", ".ocamlinit", ".octaverc", ".pdbrc")
	add(shells, true, false, ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile")
	add(shells, false, false, ".bash_aliases", ".bash_logout", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
		".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment")
	add(shells, false, true, ".bashrc.d", ".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d")
	for i := range list {
		switch list[i].By {
		case agents, editor, others, npx:
			list[i].AtOnce = true
		}
		first, _, _ := strings.Cut(list[i].Pattern, "/")
		list[i].Built = first == ".bsp" || first == ".devenv" || first == ".direnv"
	}
	return list
}

// ObeyedAtHome lists what is obeyed in a home directory only, below it, besides
// what [Obeyed] has: settings of agents that name programs, what editors and
// interpreters run, what lies in PATH or is started on demand.
func ObeyedAtHome() []string {
	return []string{
		".claude.json", ".config/Claude", ".config/zed", ".config/goose", ".codeium", ".config/Code/User", ".config/Cursor/User", ".config/VSCodium/User", ".config/Windsurf/User",
		".vscode-server/data", ".agents", ".config/mycroft", ".mycroft", ".config/opencode", ".config/crush", ".config/amp", ".lmstudio/mcp.json", ".config/toolcrib",
		".config/nvim", ".config/vim", ".vim", ".emacs", ".emacs.d", ".config/emacs", ".config/helix", ".config/kak", ".config/micro", ".nanorc",
		".tmux.conf", ".config/tmux", ".screenrc", ".config/zellij", ".config/kitty", ".config/alacritty", ".config/wezterm", ".wezterm.lua",
		".cargo/config", ".cargo/config.toml", ".cargo/env", ".cargo/bin", ".config/direnv", ".direnvrc", ".config/pip", ".config/npm", ".config/containers", ".config/bash",
		".config/zsh", ".oh-my-zsh", ".config/nushell", ".config/powershell", ".config/starship.toml", ".pythonrc.py", ".ipython", ".config/pythonrc", ".gdbinit", ".lldbinit", ".sqliterc",
		".psqlrc", ".config/i3", ".config/sway", ".config/hypr", ".local/share/dbus-1", ".local/share/applications", ".local/share/systemd", ".local/bin", ".config/mimeapps.list",
		".config/plasma-workspace", ".config/openbox", ".config/upstart", ".forward", ".procmailrc", ".crontab", ".parallel", ".config/gh-copilot", ".gradle/init.d", ".gradle/gradle.properties", ".m2/settings.xml",
		".bash_completion", ".local/share/bash-completion", ".fzf.bash", ".fzf.zsh", ".iterm2_shell_integration.bash", ".iterm2_shell_integration.zsh", ".nvm/nvm.sh", ".asdf/asdf.sh", ".sdkman/bin/sdkman-init.sh", ".opam/opam-init", ".ghcup/env", ".xonshrc",
		".config/xonsh", ".config/elvish", ".config/husky", ".gitconfig.local", ".tigrc", ".config/lazygit", ".hgrc", ".config/hg", ".jjconfig.toml", ".config/jj", ".config/sapling", ".subversion/config", ".mailcap",
		".emacs.el", ".doom.d", ".config/doom", ".spacemacs", ".gvimrc", ".config/awesome", ".config/bspwm", ".config/sxhkd", ".config/qtile", ".config/river", ".config/niri", ".config/waybar", ".config/polybar", ".config/lxsession", ".xmonad", ".fluxbox/startup",
		".pyenv/shims", ".rbenv/shims", ".asdf/shims", ".local/share/mise/shims", ".volta/bin", ".bun/bin", ".deno/bin",
		"bin", "go/bin", "miniconda3/bin", "miniconda3/etc", "anaconda3/bin", "anaconda3/etc", "miniforge3/bin", "miniforge3/etc", "mambaforge/bin", "mambaforge/etc", "google-cloud-sdk/bin",
		"google-cloud-sdk/path.bash.inc", "google-cloud-sdk/path.zsh.inc", "google-cloud-sdk/completion.bash.inc", "google-cloud-sdk/completion.zsh.inc", "perl5/bin", "flutter/bin",
	}
}

// ObeyedSet finds obeyed places in paths.
type ObeyedSet struct {
	set, except *Set
	places      map[string]Place // by pattern
	granted     []string
	held        []Place
	ways        map[string]bool // directories on the way to what is held
}

// NewObeyedSet makes the set of [Obeyed] without exceptions: names, or ends of
// paths, that a person has granted.
func NewObeyedSet(except ...string) (*ObeyedSet, error) {
	o := &ObeyedSet{places: map[string]Place{}, granted: except, ways: map[string]bool{}}
	var patterns, granted []Pattern
	for _, text := range except {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		granted = append(granted, p)
	}
	o.except = NewSet(granted...)
	for _, place := range Obeyed() {
		p, err := ParsePattern(place.Pattern)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
		o.places[p.key()] = place
		if place.Held && !o.except.Match(p) {
			o.held = append(o.held, place)
			for _, way := range p[:len(p)-1] {
				o.ways[way] = true
			}
		}
	}
	o.set = NewSet(patterns...)
	return o, nil
}

func (p Pattern) key() string {
	return strings.Join(p, "/")
}

// Held lists the places that commands must not make either.
func (o *ObeyedSet) Held() []Place { return o.held }

// OnTheWay reports whether a directory of this name lies on the way to a place
// that is held.
func (o *ObeyedSet) OnTheWay(name string) bool { return o.ways[text.FoldFile(name)] }

// Is reports whether a path is an obeyed place itself, and who obeys it.
func (o *ObeyedSet) Is(elems []string) (by string, ok bool) {
	if o == nil {
		return "", false
	}
	place, n := o.Place(elems)
	return place.By, n > 0
}

// Place gives the entry of the list that a path is, and how many of its last
// elements name it; zero if it is none.
func (o *ObeyedSet) Place(elems []string) (place Place, n int) {
	p := o.set.find(elems)
	if p == nil || o.except.Match(elems) {
		return Place{}, 0
	}
	return o.places[p.key()], len(p)
}

// Exceptions are what a person has granted, as it was given to [NewObeyedSet].
func (o *ObeyedSet) Exceptions() []string { return o.granted }

// Granted reports whether a person has granted a path, or a directory above it,
// by its name.
func (o *ObeyedSet) Granted(elems []string) bool {
	for i := range elems {
		if o.except.May(elems[i]) && o.except.Match(elems[:i+1]) {
			return true
		}
	}
	return false
}

// In reports whether a path is an obeyed place or lies in one: n is how many of
// its elements name the place; zero for none.
func (o *ObeyedSet) In(elems []string) (n int, by string) {
	if o == nil {
		return 0, ""
	}
	for i := range elems {
		if !o.set.May(elems[i]) {
			continue
		}
		if by, ok := o.Is(elems[:i+1]); ok {
			return i + 1, by
		}
	}
	return 0, ""
}

// May reports whether a place of this name may be obeyed, wherever it lies. It
// is quick, and a no is certain.
func (o *ObeyedSet) May(name string) bool { return o != nil && o.set.May(name) }
