package named

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/pattern"
)

// AtHome lists what a login, a shell, an editor, an agent, git over ssh or a timer
// runs or reads because something in the home directory says so, wherever that is.
func (f *Finder) AtHome() []string {
	if f.Home == "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, s := range f.atHome() {
		file := s.name
		if !filepath.IsAbs(file) {
			file = filepath.Join(f.Home, filepath.FromSlash(file))
		}
		if t, ok := f.load(file, f.Home, s); ok && s.full {
			out = append(out, f.existing(t.lines, file, s.certain)...)
		} else if ok {
			files, _ := f.resolve(t, file, f.Home, s)
			out = append(out, files...)
		}
	}
	for _, p := range f.claude(filepath.Join(f.Home, ".claude.json")) {
		files, _ := f.resolve(p.text, "", p.dir, source{})
		out = append(out, files...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// made tells what builds and package managers put into a project: ordinary work
// replaces it. The directories around the project say nothing of that.
func (f *Finder) made(path string) bool {
	for dir := filepath.Dir(path); filepath.Dir(dir) != dir && dir != f.Home; dir = filepath.Dir(dir) {
		if slices.Contains(f.Projects, dir) {
			rel, ok := pathglob.Rel(dir, path)
			return ok && (isInstalled(rel) || isBuilt(rel))
		}
	}
	return false
}

// isData knows by their endings the files that people and programs write into.
func isData(path string) bool {
	return slices.Contains([]string{".md", ".markdown", ".rst", ".org", ".db", ".sqlite", ".sqlite3", ".log", ".csv"}, strings.ToLower(filepath.Ext(path)))
}

// existing gives the files that full paths mean.
func (f *Finder) existing(paths []string, file string, certain bool) (out []string) {
	for _, path := range append(matches("", paths), paths...) {
		if f.made(path) || isData(path) {
			continue
		}
		info, err := os.Stat(path)
		if strings.HasSuffix(path, "/") { // whatever lies in it
			if err == nil && info.IsDir() && len(out) < maxFiles {
				out = append(out, filepath.Clean(path))
			}
			continue
		}
		for _, end := range []string{".el", ".lua"} { // their languages add it
			if err != nil && filepath.Ext(path) == "" {
				if info, err = os.Stat(path + end); err == nil {
					path += end
				}
			}
		}
		if err != nil || !info.Mode().IsRegular() || path == file || len(out) >= maxFiles {
			continue
		}
		if certain || info.Mode()&0o111 != 0 || filepath.Ext(path) == "" && !isRecipe(path) || IsCode(path) {
			out = append(out, path)
		}
	}
	return out
}

// atHome are those texts.
func (f *Finder) atHome() (list []source) {
	add := func(s source, names ...string) {
		for _, name := range names {
			if s.name = name; s.lines != nil {
				list = append(list, s)
			}
			if s.also != nil {
				list = append(list, source{name: name, lines: s.also, full: true, certain: s.certain, as: "full"})
			}
		}
	}
	in := func(s source, dir string, ends ...string) {
		for _, e := range entries(filepath.Join(f.Home, filepath.FromSlash(dir))) {
			if !e.IsDir() && (len(ends) == 0 || slices.Contains(ends, filepath.Ext(e.Name()))) {
				add(s, dir+"/"+e.Name())
			}
		}
	}
	shell := source{lines: Script, also: f.start, certain: true, shell: true}
	add(shell, ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc",
		".config/zsh/.zshrc", ".config/zsh/.zshenv", ".config/zsh/.zprofile", ".config/zsh/.zlogin", ".direnvrc", ".config/direnv/direnvrc", ".pam_environment", ".ssh/rc", ".ssh/environment")
	in(shell, ".bashrc.d")
	in(shell, ".oh-my-zsh/custom", ".zsh")
	fish := source{lines: Script, also: f.start, certain: true}
	add(fish, ".config/fish/config.fish")
	in(fish, ".config/fish/conf.d", ".fish")
	in(shell, ".config/environment.d", ".conf")
	in(shell, ".config/plasma-workspace/env", ".sh")
	add(source{lines: Script, also: fullPaths, certain: true}, ".vimrc", ".vim/vimrc", ".config/nvim/init.vim", ".tmux.conf", ".config/tmux/tmux.conf")
	// In these a full path is always something to run or to go by.
	obeyed := source{also: fullPaths, certain: true}
	add(obeyed, ".ssh/config", ".inputrc", ".npmrc", ".emacs", ".emacs.el", ".emacs.d/init.el", ".emacs.d/early-init.el", ".config/emacs/init.el", ".config/emacs/early-init.el", ".config/nvim/init.lua", ".screenrc", ".config/starship.toml", ".gdbinit",
		".lldbinit", ".pythonrc.py", ".cargo/config.toml", ".cargo/config", ".hgrc", ".config/hg/hgrc", ".jjconfig.toml", ".config/jj/config.toml", ".forward", ".procmailrc", ".mailcap", ".wezterm.lua", ".config/wezterm/wezterm.lua", ".config/kitty/kitty.conf",
		".config/alacritty/alacritty.toml", ".config/zellij/config.kdl", ".config/helix/languages.toml", ".config/helix/config.toml", ".Rprofile", ".irbrc", ".pryrc", ".psqlrc", ".sqliterc")
	in(obeyed, ".ssh/config.d")
	in(obeyed, ".config/nvim/plugin", ".lua", ".vim")
	// In these it may also be what a program works on or writes.
	run := source{also: fullPaths}
	for _, dir := range []string{".config/systemd/user", ".local/share/systemd/user", ".local/share/dbus-1/services"} {
		in(run, dir, ".service", ".timer", ".socket", ".path")
	}
	in(run, ".config/autostart", ".desktop")
	add(run, ".config/i3/config", ".i3/config", ".config/sway/config", ".config/hypr/hyprland.conf", ".config/openbox/autostart", ".config/bspwm/bspwmrc", ".config/sxhkd/sxhkdrc", ".config/labwc/autostart", ".crontab")
	add(run, f.Crontabs...)
	add(source{lines: JSON, most: maxClient}, ".claude/settings.json", ".claude/settings.local.json", ".cursor/mcp.json", ".cursor/hooks.json", ".gemini/settings.json", ".codeium/windsurf/mcp_config.json", ".config/Claude/claude_desktop_config.json",
		"Library/Application Support/Claude/claude_desktop_config.json", ".config/Code/User/mcp.json", ".config/opencode/opencode.json", ".copilot/mcp-config.json")
	add(source{lines: editor, most: maxClient}, ".config/Code/User/settings.json", ".config/zed/settings.json")
	return append(list, source{name: ".config/Code/User/tasks.json", lines: tasks}, source{name: ".codex/config.toml", lines: TOML})
}

// claude gives the servers of Claude Code's own file. Those for a project are
// started in it, and their words are read from there.
func (f *Finder) claude(file string) []part {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if old, known := f.seen[file]; known && old.size == info.Size() && old.at.Equal(info.ModTime()) && os.SameFile(old.info, info) {
		return old.parts
	}
	list, err := ClaudeServers(file, f.Projects)
	if err != nil {
		return nil
	}
	t := text{size: info.Size(), at: info.ModTime(), info: info}
	for _, s := range list {
		lines := JSON(string(s.Text))
		t.parts = append(t.parts, part{cmp.Or(s.Project, f.Home), text{lines: lines, shell: parseLines(lines)}})
	}
	if f.seen == nil {
		f.seen = map[string]text{}
	}
	f.seen[file] = t
	return t.parts
}

// Variables name files that programs run or obey, or are command lines with such a
// file in them.
func Variables() []string {
	return []string{
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
		"BASH_ENV", "ENV", "PROMPT_COMMAND", "INPUTRC", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "BROWSER", "VIMINIT", "EXINIT", "MYVIMRC", "STARSHIP_CONFIG", "SCREENRC", "RIPGREP_CONFIG_PATH", "WGETRC",
		"PYTHONSTARTUP", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "LD_PRELOAD", "LD_AUDIT", "GOFLAGS", "GOENV", "RUSTC_WRAPPER", "PIP_CONFIG_FILE", "CONDARC", "NPM_CONFIG_GLOBALCONFIG", "npm_config_globalconfig",
		"OPENCODE_CONFIG", "MISE_GLOBAL_CONFIG_FILE", "R_PROFILE_USER", "R_ENVIRON_USER", "PSQLRC", "MAILCAPS",
	}
}

// The lines of a start file that have something run later, or at once.
var (
	setVariable = pattern.Of(`(?:^|[\s;&])(?:(?:set\s+-\w+|setenv)\s+([A-Za-z_]\w*)\s+|([A-Za-z_]\w*)\+?=)("[^"]*"|'[^']*'|[^\s;&]*)`)
	setAlias    = pattern.Of(`^\s*alias\s+(?:-[a-z]+\s+)*([^=\s]+)[=\s](.*)`)
	forEach     = pattern.Of(`(?:^|[\s;&])(?:for\s+\w+\s+in|source|\.|include)\s+([^;&|]*)`)
	loadsAll    = pattern.Of(`\b(?:rtp|runtimepath|packpath|fpath|FPATH|load-path|package\.path|ZSH_CUSTOM|zinit|zplug|antigen|antidote)\b`)
	runsLater   = pattern.Of(`(?:^|[\s;&])(?:trap|complete|compdef|bind|bindkey|zle|add-zsh-hook|include|eval)\s|<\(|\$\(\s*<|\$\(\s*cat\s`)
)

// start gives what a start file of a shell has run later, besides what it runs as
// any script does: by a variable, a trap, or an alias that goes by the name of
// another program. Any other alias is a program that the person has made for herself.
func (f *Finder) start(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || !strings.Contains(line, "/") {
			continue
		}
		if m := setAlias.Regexp().FindStringSubmatch(line); m != nil {
			if f.Machine != nil && f.Machine(strings.Trim(m[1], `"'`)) {
				lines = append(lines, fullPaths(m[2])...)
			}
			continue
		}
		for _, m := range setVariable.Regexp().FindAllStringSubmatch(line, -1) {
			if slices.Contains(Variables(), m[1]+m[2]) {
				lines = append(lines, fullPaths(m[3])...)
			}
		}
		if m := forEach.Regexp().FindStringSubmatch(line); m != nil {
			for _, word := range fullPaths(m[1]) {
				if dir, name := filepath.Split(word); strings.ContainsAny(name, "*?") && !strings.ContainsAny(dir, "*?") {
					lines = append(lines, filepath.Clean(dir)+"/", word) // whatever comes to lie in it
				}
			}
		}
		if runsLater.MatchString(line) || loadsAll.MatchString(line) {
			lines = append(lines, fullPaths(line)...)
		}
		if len(lines) > 16*maxFiles {
			break
		}
	}
	return lines
}

// fullPaths gives the words that are full paths, in whatever grammar. One
// with a blank or another odd sign in it is found where it stands in quotes.
//
// One that ends in a slash is a directory of which everything is loaded.
func fullPaths(text string) (found []string) {
	dir, end := "", ""
	add := func(word string) {
		i := strings.IndexByte(word, '/')
		if i < 0 || len(word) > maxWord {
			return
		}
		before := word[:i]
		if before != "" && before[0] != '-' && strings.ContainsFunc(before, func(r rune) bool { return r == '.' || r == '$' || r == '~' || isLetter(r) }) {
			return // it is relative, or another's
		}
		if word = strings.TrimRight(word[i:], "./\\"); len(word) > 1 && !slices.Contains(found, word+end) {
			found = append(found, word+end)
		}
	}
	for line := range strings.Lines(text) {
		end = ""
		if loadsAll.MatchString(line) {
			end = "/"
		}
		if len(found) > 4*maxFiles {
			break
		}
		if !strings.Contains(line, "/") {
			continue
		}
		for _, m := range quoted.Regexp().FindAllStringSubmatch(line, -1) {
			add(m[1] + m[2])
		}
		last := ""
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&()<>,={}[]!:", r) }) {
			switch {
			case last == "cd" || last == "pushd" || last == "WorkingDirectory":
				dir = word
			case dir != "" && strings.Contains(word, "/") && word[0] != '/' && word[0] != '-':
				add(filepath.Join(dir, word)) // cd DIR && ./x
			}
			add(word)
			last = word
		}
		if !strings.Contains(line, "WorkingDirectory") {
			dir = ""
		}
	}
	return found
}

func isLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// withHome writes out the ways to name the home directory.
func (f *Finder) withHome(text string) string {
	if f.Home == "" {
		return text
	}
	home := f.Home + "/"
	text = strings.NewReplacer(`"$HOME"/`, home, `"${HOME}"/`, home, "${HOME}/", home, "$HOME/", home, "%h/", home, "%d/", home, "$env:HOME/", home).Replace(text)
	return tilde.Regexp().ReplaceAllString(text, "${1}"+strings.ReplaceAll(home, "$", "$$"))
}

// tilde is the home directory at the beginning of a word.
var tilde = pattern.Of(`(^|[\s"'=:(,<@+-])~/`)

// PathAtHome gives the directories that start files put into PATH.
func (f *Finder) PathAtHome() (dirs []string) {
	if f.Home == "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range []string{".profile", ".bash_profile", ".bashrc", ".zshenv", ".zprofile", ".zshrc", ".config/fish/config.fish", ".pam_environment"} {
		t, _ := f.load(filepath.Join(f.Home, filepath.FromSlash(name)), f.Home, source{lines: pathLines, full: true, as: "PATH"})
		dirs = append(dirs, t.lines...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

var setsPath = pattern.Of(`\b(?:PATH|path)\+?=|\bfish_add_path\s|\bset\s+-\w+\s+PATH\s`)

func pathLines(text string) (found []string) {
	for line := range strings.Lines(text) {
		line = textBefore(line, " #")
		if m := setsPath.Regexp().FindStringIndex(line); m != nil {
			found = append(found, fullPaths(line[m[0]:])...)
		}
	}
	return found
}
