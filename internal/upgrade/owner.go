package upgrade

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// An Owner is a package manager that installed the program: replacing the file
// behind its back would be undone, or break it.
type Owner struct {
	Name              string
	Upgrade, Removing string // the commands that do it properly
}

// FindOwner says who installed the file, going by the records below root (which
// is / but in tests). Nil: nobody that is known, so it may be replaced.
func FindOwner(root, file string) *Owner {
	lists, _ := filepath.Glob(filepath.Join(root, "var", "lib", "dpkg", "info", "*.list")) // the pattern is a good one
	for _, list := range lists {
		if holdsLine(list, file) {
			name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(list), ".list"), ":")
			return &Owner{"the Debian package " + name, "install the newer .deb with 'sudo apt install ./" + name + "_VERSION_linux_ARCH.deb'", "sudo apt remove " + name}
		}
	}
	slashed := filepath.ToSlash(file)
	switch {
	case strings.Contains(slashed, "/Cellar/"):
		return &Owner{"Homebrew", "run 'brew upgrade toolcrib'", "brew uninstall toolcrib"}
	case strings.HasPrefix(slashed, "/nix/store/"):
		return &Owner{"Nix", "upgrade it in your Nix configuration", "take it out of your Nix configuration"}
	case strings.HasPrefix(slashed, "/snap/"):
		return &Owner{"snap", "run 'snap refresh toolcrib'", "snap remove toolcrib"}
	case path.Dir(slashed) == "/usr/bin" || path.Dir(slashed) == "/bin" || path.Dir(slashed) == "/usr/sbin":
		return &Owner{"the system (" + path.Dir(slashed) + ")", "use the package manager or the image that it came with", "remove the package or the image that it came with"}
	}
	return nil
}

func holdsLine(list, line string) bool {
	text, err := os.ReadFile(list)
	if err != nil || !bytes.Contains(text, []byte(filepath.Base(line))) { // most hold nothing of it
		return false
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		// /bin is a link to /usr/bin on systems of today, and a package may say either.
		if s.Text() == line || "/usr"+s.Text() == line {
			return true
		}
	}
	return false
}
