package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// maxFile is the size up to which a file is read. No settings a person writes come near it.
const maxFile = 1 << 20

// fileRole says what is asked of a file.
type fileRole struct {
	required    bool // a missing file is a problem
	special     bool // a pipe or a device will do: --config <(generate) was asked for by the user
	plain       bool // it must be no link
	trustworthy bool // nobody but its owner may be able to write it
	owner       int  // who that must be
}

// readFile gives the content of a file; nil without a problem means that there is no such file.
func readFile(path string, role fileRole, ps *problems) []byte {
	data, err := readSettings(path, role)
	switch {
	case err == nil:
		return data
	case notExist(err) && !role.required && !isLink(path):
		return nil
	}
	ps.append(&Problem{File: path, Message: err.Error(), Err: err})
	return nil
}

// isLink reports whether there is a link at path: one that leads nowhere is a mistake, not an absent file.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func readSettings(path string, role fileRole) (data []byte, err error) {
	file, err := openFile(path, role)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("reading settings: %w", closeErr)
		}
	}()
	// Looked at again through the handle: what was opened need not be what was looked at.
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	if err := acceptable(info, role); err != nil {
		return nil, err
	}
	if role.trustworthy {
		if err := guardedDirs(path, role.owner); err != nil {
			return nil, err
		}
	}
	data, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file is larger than %s", formatBytes(maxFile))
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// errLink quotes nothing, not even where the link leads: a clone can bring a link to any file of the person, its own .env
// too, and what is said of its lines would be read by others.
var errLink = errors.New("it is a link, and is not read; the settings of a project must be a file of the project itself: " +
	"put a copy there instead of the link")

// openFile looks at a file before it is opened, because opening a pipe waits for a writer, and a project may hold one.
func openFile(path string, role fileRole) (*os.File, error) {
	stat := os.Stat
	if role.plain {
		stat = os.Lstat
	}
	info, err := stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	if role.plain && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	if err := acceptable(info, role); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	if opened, err := file.Stat(); err != nil || role.plain && !os.SameFile(info, opened) {
		return nil, errors.Join(err, errors.New("reading settings: another file was put in its place meanwhile"), file.Close())
	}
	return file, nil
}

func acceptable(info fs.FileInfo, role fileRole) error {
	if info.IsDir() {
		return errors.New("it is a directory, not a file")
	}
	if !info.Mode().IsRegular() && !role.special {
		return errors.New("it is not a regular file")
	}
	if uid, _, known := ownerOf(info); role.trustworthy && known && uid != role.owner {
		return fmt.Errorf("it belongs to user %d: settings for the whole system must belong to root; run chown root on it", uid)
	}
	if role.trustworthy && othersWrite(info) {
		return fmt.Errorf("its group or everybody may write it (mode %04o): settings for the whole system must be writable by "+
			"their owner only; run chmod go-w on it", info.Mode().Perm())
	}
	return nil
}

// guardedDirs refuses a file whose directory lets others put another file in its place, both where the path says and
// where links lead.
func guardedDirs(path string, owner int) error {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(resolved)} {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("reading settings: %w", err)
		}
		if uid, _, known := ownerOf(info); known && uid != owner && uid != 0 {
			return fmt.Errorf("%s belongs to user %d, who may replace the file; run chown root on it", printable(dir), uid)
		}
		// With the sticky bit only the owner of a file can replace it.
		if othersWrite(info) && info.Mode()&fs.ModeSticky == 0 {
			return fmt.Errorf("the group of %s or everybody may write that directory (mode %04o) and so replace the file; "+
				"run chmod go-w on it", printable(dir), info.Mode().Perm())
		}
	}
	return nil
}

// othersWrite reads the Unix mode bits, which Windows does not have.
func othersWrite(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0
}
