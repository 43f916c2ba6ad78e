package shellguard

import (
	"slices"
	"strings"
)

// installs: the words behind a rule name packages, whose code is run when they
// are put in place. A rule means packages by their names, from where the
// person's settings say: not an archive or a directory that lies here, which
// anyone may have put there.
func installs(name string, words []string, rest []Arg) bool {
	switch name {
	case "pip", "pip3", "npm", "yarn", "pnpm":
		return true
	case "bun", "uv", "poetry", "pdm", "pipx", "conda", "mamba", "gem", "brew", "apt", "apt-get", "dnf", "yum", "snap", "flatpak", "composer":
		if len(words) == 0 && len(rest) > 0 {
			words = []string{rest[0].Text}
		}
		return slices.ContainsFunc(words, func(w string) bool {
			return w == "install" || w == "add" || w == "require" || w == "i" || w == "reinstall" || w == "upgrade" || w == "update"
		})
	}
	return false
}

// notPackage: a word that is a file, a directory or an address to some program
// that installs packages.
func notPackage(t string) bool {
	if strings.ContainsAny(t, `:\`) || strings.HasPrefix(t, ".") || strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~") || strings.Count(t, "/") > 1 || strings.Contains(t, "/") && !strings.HasPrefix(t, "@") {
		return true
	}
	if at := strings.LastIndexByte(t, '@'); at > 0 && strings.HasPrefix(t[at+1:], ".") { // npm: name@..
		return true
	}
	if end := strings.IndexAny(t, "[; "); end >= 0 { // pip: file[extra]; condition
		t = t[:end]
	}
	return isArchive(t)
}

// isArchive: a name that programs take for the file of a package.
func isArchive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(strings.Fields(".tgz .tar .tar.gz .tar.bz2 .tar.xz .tar.zst .tar.lz .tar.lzma .tar.z .tbz .tbz2 .txz .tlz .zip .whl .egg .gem .deb .rpm .apk .conda .snap .flatpak .flatpakref .rb"),
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// takesPattern: what a pattern in the arguments of an open rule becomes cannot
// mean more than the rule is for. A pattern becomes whatever files are called,
// so that where words are more than files (an address, a subcommand, a package,
// a target) it must not stand. One whose beginning has a slash is a path, and
// the checks of words see that.
func takesPattern(name string, words []string, rest []Arg, a Arg) bool {
	fixed, sub := a.Text[:min(a.fixed, len(a.Text))], ""
	if len(words) > 0 {
		sub = words[0]
	}
	switch {
	case name == "go":
		return strings.HasPrefix(fixed, "./") || slices.Contains(strings.Fields("test build vet list fmt"), sub)
	case strings.Contains(fixed, "/"):
		return true
	case name == "git":
		return !gitTakesNames(sub) || sub == "stash" && (slices.Contains(words, "push") || rest[0].Text == "push")
	case name == "ruff":
		return sub != ""
	}
	return !isOneOf(name, "docker docker-compose podman nerdctl kubectl oc cargo gradle gradlew mvn mvnw curl wget aria2c http https xh xhs httpie sqlite3 psql mysql tar bsdtar gtar rsync scp ssh dig ping ping6 journalctl") && !installs(name, words, rest) && !hasSubcommands(name) && !runsTargets(name) && !(runsAnything(name) && !strings.HasPrefix(name, "python"))
}

// gitTakesNames: subcommands whose operands are not just files or revisions.
func gitTakesNames(sub string) bool {
	return !isOneOf(sub, "add rm mv restore checkout commit clean diff log show status blame annotate grep ls-files ls-tree check-ignore check-attr diff-files diff-index diff-tree shortlog whatchanged rev-list")
}
