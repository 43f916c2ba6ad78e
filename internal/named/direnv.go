package named

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// direnv gives what an .envrc runs or reads: as any script does, and by the words
// of direnv, which evaluates what it finds at the next prompt of the person's
// shell.
func direnv(text string) (lines []string) {
	lines = Script(text)
	for line := range strings.Lines(text) {
		for part := range strings.FieldsFuncSeq(textBefore(line, "#"), func(r rune) bool { return strings.ContainsRune(";&|()`\"\n", r) }) {
			words := strings.Fields(part)
			for i, word := range words {
				lines = append(lines, evaluated(word, words[i+1:])...)
			}
			if len(lines) > 16*maxFiles {
				return lines
			}
		}
	}
	return lines
}

// evaluated gives what a word of direnv, or a program that prints an environment
// for it, takes up besides what its arguments name.
func evaluated(word string, args []string) []string {
	if kind, ok := strings.CutPrefix(word, "use_"); ok { // the function behind it
		word, args = "use", append([]string{kind}, args...)
	}
	kind := ""
	if len(args) > 0 {
		kind = args[0]
	}
	switch {
	case word == "use" && kind == "lorri", word == "lorri":
		return namesBelow(".", "shell.nix", "default.nix", "flake.nix")
	case word == "use" && kind == "vim":
		return args[1:]
	case word == "flox":
		return namesBelow(".", ".flox/env/manifest.toml", ".flox/env.json")
	case word == "guix":
		return namesBelow(".", "manifest.scm", "guix.scm", "channels.scm")
	case (word == "conda" || word == "mamba" || word == "micromamba") && kind == "activate":
		var found []string
		for _, dir := range args[1:] {
			found = append(found, dir+"/etc/conda/activate.d/*")
		}
		return found
	case word == "watch_file": // what nix evaluates is watched
		return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return path.Ext(arg) != ".nix" })
	case word == "use" && kind == "nix":
		return append(namesBelow(".", "shell.nix", "default.nix"), args[1:]...)
	case word == "use" && kind == "flake", word == "nix" && slices.Contains([]string{"print-dev-env", "develop"}, kind):
		dirs := []string{"."}
		for _, arg := range args[1:] {
			if dir := strings.TrimPrefix(textBefore(textBefore(arg, "#"), "?"), "path:"); dir != "" && dir[0] != '-' && !strings.Contains(dir, ":") {
				dirs = append(dirs, dir)
			}
		}
		var found []string
		for _, dir := range dirs {
			found = append(found, namesBelow(dir, "flake.nix", "flake.lock", "devshell.toml", "shell.nix")...)
		}
		return found
	case word == "use" && kind == "devenv":
		return namesBelow(".", "devenv.nix", "devenv.yaml", "devenv.lock", "devenv.local.nix")
	case word == "use" && kind == "guix":
		return namesBelow(".", "manifest.scm", "guix.scm", "channels.scm")
	case word == "use" && slices.Contains([]string{"mise", "asdf", "rtx"}, kind), word == "mise":
		return namesBelow(".", ".mise.toml", "mise.toml", ".tool-versions", ".config/mise/config.toml")
	case word == "devbox":
		return namesBelow(".", "devbox.json")
	case word == "pixi":
		return namesBelow(".", "pixi.toml", "pyproject.toml")
	case word == "nix-shell":
		return append(namesBelow(".", "shell.nix", "default.nix"), args...)
	case slices.Contains([]string{"cat", "expand_path", "direnv_load", "watch_exec"}, word): // what an eval is given
		return args[:min(1, len(args))]
	}
	return nil
}

func namesBelow(dir string, names ...string) []string {
	for i, name := range names {
		names[i] = "./" + path.Join(dir, name)
		if path.IsAbs(dir) {
			names[i] = path.Join(dir, name)
		}
	}
	return names
}

// Missing lists what the .envrc at the top of a project would have direnv take up
// if it were there: whoever makes it has it run at the next prompt.
func (f *Finder) Missing(top string) (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, _ := f.load(filepath.Join(top, ".envrc"), top, source{lines: direnv, full: true, as: "missing"})
	for _, word := range t.lines {
		name := filepath.FromSlash(strings.Trim(word, `"'`))
		if !filepath.IsLocal(name) || strings.ContainsAny(name, "$*? ") || len(list) >= maxFiles {
			continue
		}
		if _, err := os.Lstat(filepath.Join(top, name)); errors.Is(err, fs.ErrNotExist) {
			list = append(list, filepath.Join(top, name))
		}
	}
	return list
}
