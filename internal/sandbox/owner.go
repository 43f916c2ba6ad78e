package sandbox

import (
	"os"
	"strings"
)

// OwnerName names this process so that it can be told from an earlier one with
// the same number. What must be cleaned up after a crash carries the name of
// its owner.
func OwnerName() string { return processName(os.Getpid()) }

// OwnerLives tells whether the process of a name still runs.
func OwnerLives(name string) bool {
	number, _, _ := strings.Cut(name, ".")
	pid := 0
	for _, c := range number {
		if c < '0' || c > '9' || pid > 1<<30 {
			return true // not a name of ours: leave it alone
		}
		pid = 10*pid + int(c-'0')
	}
	return pid == 0 || lives(pid, name)
}
