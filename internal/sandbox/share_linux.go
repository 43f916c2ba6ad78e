package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// A cover lies on a name as the kernel knows it. The folder of another system
// (WSL's /mnt/c, a share of a virtual machine) may find the same file by .env and
// by .ENV, and the kernel takes these for two. Nothing can be covered there.

// shares are the file systems whose names another system looks up. The kernel's
// own that ignore case know that two names are one.
func shares() []int64 {
	return []int64{
		unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		0x786f4256, // VirtualBox
		0xbacbacbc, // VMware
	}
}

// checkShares refuses granted directories in which names are found in another
// case.
func checkShares(dirs []files.Dir) error {
	for _, d := range dirs {
		var fs unix.Statfs_t
		if unix.Statfs(d.Path, &fs) != nil || !slices.Contains(shares(), int64(uint32(fs.Type))) {
			continue
		}
		if ignoresCase(d.Path) {
			return Unavailable(fmt.Sprintf("programs cannot be started in %s: this directory finds the same file by names in another case (.env and .ENV), so that nothing in it can be protected. "+
				"Work in a directory of Linux itself (in WSL in your home directory instead of /mnt/c), or choose another sandbox", d.Path), nil)
		}
	}
	return nil
}

// ignoresCase tries it with the name of an entry, or with that of the directory.
func ignoresCase(dir string) bool {
	list, _ := plainfile.ReadDir(dir) // what cannot be read has no names to try
	names := map[string]bool{}
	for _, e := range list {
		names[e.Name()] = true
	}
	for name := range names {
		if other := otherCase(name); other != name && !names[other] {
			return found(filepath.Join(dir, other))
		}
	}
	base := filepath.Base(dir)
	other := otherCase(base)
	return other != base && found(filepath.Join(filepath.Dir(dir), other))
}

func found(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil
}

func otherCase(name string) string {
	if upper := strings.ToUpper(name); upper != name {
		return upper
	}
	return strings.ToLower(name)
}
