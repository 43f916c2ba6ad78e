//go:build amd64 || arm64

package linux

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// job is a program and all that surrounds it.
type job struct {
	path, dir string
	args, env []string // args with the program's own name
	uid, gid  int      // inside
	become    bool     // the process has yet to become that user
	binds     []bind
	links     []symlink
	made      [][2]string // files of our own making: name and content
	covers    []sandbox.Cover
	under     []sandbox.Cover // of what lies under file systems that are not shown
	temp      int64
	network   bool // the host's own
	proxy     bool // a proxy listens on its own
	limits    []limit
	anonymous bool // memory without an owner is counted
	landlock  int  // ABI
	watches   []watchBound
	files     jobFiles
}

// checked are the covers that somebody outside could move while they are laid: those
// on live files.
func (j *job) checked() []sandbox.Cover {
	if j.onLayer() {
		return nil
	}
	return j.covers
}

// onLayer tells whether the program works on a layer.
func (j *job) onLayer() bool {
	return slices.ContainsFunc(j.binds, func(b bind) bool { return b.over != nil })
}

// jobFiles are the numbers of the files that are sent along.
type jobFiles struct {
	stdin, stdout, stderr int
	keeper                int   // a pidfd that the keeper adds itself, after all others
	join                  []int // cgroups to enter
}

// limit is one of setrlimit(2), soft and hard alike.
type limit struct {
	resource int
	value    uint64
}

// watchBound is how many watches of files, or lists of such, a program may have.
type watchBound struct{ name, value string }

// watchBounds is where the kernel has these, for each user namespace.
const watchBounds = "/proc/sys/user/"

// halfTheWatches lets one program use half of what the account has, so that
// editors and others who wait for changes of files go on. Where the kernel does
// not say how many there are nothing is bounded.
func halfTheWatches() (list []watchBound) {
	for _, name := range []string{"max_inotify_instances", "max_inotify_watches"} {
		text, err := os.ReadFile(watchBounds + name)
		if n, failed := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && failed == nil && n > 1 {
			list = append(list, watchBound{name: name, value: strconv.Itoa(n / 2)})
		}
	}
	return list
}

// bind is something of the host that is shown inside.
type bind struct {
	source, target string
	mount          int // the number of the file that is the mount, instead of source; zero for none
	write          bool
	device         bool
	file           bool
	strict         bool  // no symbolic link on the way: the source was granted by name
	over           *bind // the upper half of its layer; nil: it is shown as it is
	between        *bind // what lies between the two: what earlier commands left waiting
}

// writable is a bind that the kernel may write through: the upper half of an overlay
// has to be, also if nothing else may write there.
func (b bind) writable() bind {
	b.write = true
	return b
}

// symlink is a symbolic link of the host that is made again inside.
type symlink struct{ target, path string }

// systemDirs hold programs and libraries.
func systemDirs() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"}
}

// etcEntries are what programs need of /etc to load, to know the time and to
// trust certificates. Accounts and names of hosts are made up instead.
func etcEntries() []string {
	return []string{
		"alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "fonts", "gai.conf", "host.conf",
		"java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "mime.types",
		"os-release", "lsb-release", "pki", "profile.d", "protocols", "python3", "services", "ssl", "terminfo", "timezone", "mke2fs.conf",
	}
}

// etcNetwork is needed besides when the network was granted.
func etcNetwork() []string { return []string{"hosts", "resolv.conf"} }

func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
}

// system is what every program sees of this machine. It is looked up once.
type system struct {
	binds   []bind
	links   []symlink
	network []bind
	watches []watchBound
}

func lookAround(readOnly []string) (system, error) {
	s := system{watches: halfTheWatches()}
	for _, dir := range slices.Concat(systemDirs(), readOnly) {
		info, err := os.Lstat(dir)
		switch {
		case err != nil && slices.Contains(readOnly, dir):
			return s, fmt.Errorf("looking at the read-only directory: %w", err)
		case err != nil:
			continue
		case info.Mode()&os.ModeSymlink != 0 && filepath.Dir(dir) == "/":
			target, err := os.Readlink(dir)
			if err != nil {
				return s, fmt.Errorf("looking at the system: %w", err)
			}
			s.links = append(s.links, symlink{target: target, path: dir})
		case info.IsDir():
			s.binds = append(s.binds, bind{source: dir, target: dir})
		}
	}
	s.binds = append(s.binds, etcBinds(etcEntries())...)
	s.network = etcBinds(etcNetwork())
	for _, dev := range devices() {
		s.binds = append(s.binds, bind{source: dev, target: dev, write: true, device: true, file: true})
	}
	return s, nil
}

func etcBinds(names []string) []bind {
	var out []bind
	for _, name := range names {
		path := "/etc/" + name
		// Stat and not Lstat: what a link leads to is shown in its place.
		if info, err := os.Stat(path); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			out = append(out, bind{source: path, target: path, file: !info.IsDir()})
		}
	}
	return out
}

// ungrantable refuses directories that the sandbox makes itself. Granting them
// would show the processes and devices of the host.
func ungrantable(dir string) error {
	for _, own := range []string{"/proc", "/dev", "/sys"} {
		if dir == own || strings.HasPrefix(dir, own+"/") {
			return fmt.Errorf("%s cannot be shown in the linux sandbox: it has its own %s", dir, own)
		}
	}
	if dir == "/" {
		return fmt.Errorf("the whole file system cannot be shown in the linux sandbox: grant the directories that are needed")
	}
	return nil
}
