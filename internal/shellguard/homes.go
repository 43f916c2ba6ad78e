package shellguard

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// homes are directories whose loss takes somebody's home along, where no table
// looks for them.
type homes []string

// Homes lists the home of the person, what it lies in, and the homes of the
// accounts in /etc/passwd. Left out are the project itself, what all accounts
// write to, and the places that accounts of programs share.
func Homes(own, project string) []string {
	accounts, _ := os.ReadFile("/etc/passwd") // elsewhere there is none
	out := homesIn(string(accounts), own, project)
	if at, err := filepath.EvalSymlinks(own); err == nil && at != own {
		out = append(out, homesIn("", at, project)...)
	}
	return out
}

// maxAccounts bounds the list, which every path of a line is held against.
const maxAccounts = 200

func homesIn(accounts, own, project string) []string {
	var out []string
	add := func(dir string) {
		if dir != path.Clean(project) && !sharedDir(dir) && !slices.Contains(out, dir) && len(out) < maxAccounts {
			out = append(out, dir)
		}
	}
	if path.IsAbs(own) {
		for dir := path.Clean(own); dir != "/"; dir = path.Dir(dir) {
			add(dir)
		}
	}
	for line := range strings.SplitSeq(accounts, "\n") {
		fields := strings.Split(line, ":")
		if len(fields) < 6 || strings.HasPrefix(line, "#") {
			continue
		}
		if dir := path.Clean(fields[5]); path.IsAbs(dir) && strings.Count(dir, "/") > 1 && !sharedDir(path.Dir(dir)) {
			add(dir)
		}
	}
	return out
}

// sharedDir: nobody's home, whatever a list of accounts says.
func sharedDir(dir string) bool {
	return isOneOf(dir, "/tmp /var/tmp /private/tmp /dev /dev/shm /proc /sys /run /var/run /nonexistent /var/empty")
}
