package keeper

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Remedy is the one command after which a vault opens that said no with this error.
// What cannot be opened any more is set aside, never removed: whoever finds the key
// later has all of it.
func (k *Keeper) Remedy(err error) string {
	if k == nil {
		return ""
	}
	cfg := k.settings
	keys := cmp.Or(cfg.Key.Dir, vault.KeyDir(filepath.Dir(k.dir)))
	key, _ := k.from.env()(cfg.Key.Variable())
	switch byEnv := cfg.Key.From == "env" || key != ""; {
	case err == nil:
		return ""
	case errors.Is(err, vault.ErrUnsafe):
		return closed(k.dir, keys)
	case errors.Is(err, vault.ErrUnsaid):
		return "toolcrib secret rotate --to file && toolcrib config set vault.key.from file"
	case errors.Is(err, vault.ErrKey) && byEnv && runtime.GOOS != "windows":
		return "read -rs " + cfg.Key.Variable() + " && export " + cfg.Key.Variable()
	case errors.Is(err, vault.ErrKey) && cfg.Key.From == "command":
		return "toolcrib config edit"
	case errors.Is(err, vault.ErrUnread): // the key may be there when somebody is logged in
		return "toolcrib secret list"
	case errors.Is(err, vault.ErrKey), errors.Is(err, vault.ErrDamaged):
		return aside(k.dir)
	}
	return "toolcrib secret list"
}

// aside is the command that puts a directory beside itself, under a name that is free.
func aside(dir string) string {
	move, to := "mv ", dir+".locked"
	if runtime.GOOS == "windows" {
		move = "move "
	}
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); err != nil {
			return move + text.ShellWord(dir) + " " + text.ShellWord(to)
		}
		to = dir + ".locked" + strconv.Itoa(i)
	}
}

// closed is the command that closes the store and the directory of its keys to other
// users. A link, or what others own, is not closed so: it is set aside.
func closed(dirs ...string) string {
	words := []string{"chmod", "-R", "go="}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		if info.Mode()&fs.ModeSymlink != 0 || !info.IsDir() {
			return aside(dir)
		}
		open := false
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			if info, err := os.Lstat(path); err == nil {
				open = open || info.Mode().Perm()&0o077 != 0
			}
			return nil
		})
		if open {
			words = append(words, text.ShellWord(dir))
		}
	}
	if len(words) == 3 {
		return aside(dirs[0])
	}
	return strings.Join(words, " ")
}
