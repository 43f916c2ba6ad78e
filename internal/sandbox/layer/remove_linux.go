package layer

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// removeAll removes a directory, also where what is in it cannot be written, and however
// deep it is: a command can make directories in each other until no path leads to the
// inner ones, or no process has as many files open. So what is in a directory that is
// not empty is moved up to the top, and removed from there.
func removeAll(dir string) error {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	top, err := unix.Open(dir, flags, 0)
	if errors.Is(err, unix.EACCES) {
		if err = unix.Chmod(dir, 0o700); err == nil {
			top, err = unix.Open(dir, flags, 0)
		}
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return unix.Unlink(dir)
	case err != nil:
		return err
	}
	defer unix.Close(top) //nolint:errcheck // nothing was written through it
	r := &remover{top: top}
	if err := r.all(); err != nil {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}

// remover empties a directory. It never has more than two open.
type remover struct {
	top   int
	moved int // names that were given
}

// all goes over the top until nothing is left in it, or nothing of it can be removed.
func (r *remover) all() error {
	for before := -1; ; {
		if err := unix.Fchmod(r.top, 0o700); err != nil {
			return err
		}
		list, err := names(r.top)
		if err != nil || len(list) == 0 {
			return err
		}
		moved := r.moved
		var errs error
		for _, name := range list {
			if err := r.one(name); err != nil && errs == nil {
				errs = fmt.Errorf("%q: %w", name, err)
			}
		}
		if errs != nil && len(list) == before && moved == r.moved {
			return errs
		}
		before = len(list)
	}
}

// one removes what is in the top under a name. Of a directory only what is in it may be
// left there, by other names.
func (r *remover) one(name string) error {
	left, err := remove(r.top, name)
	if !left {
		return err
	}
	dir, err := openOwn(place{r.top, name})
	if err != nil {
		return err
	}
	defer unix.Close(dir) //nolint:errcheck // nothing was written through it
	if err := unix.Fchmod(dir, 0o700); err != nil {
		return err
	}
	list, err := names(dir)
	if err != nil {
		return err
	}
	for _, inner := range list {
		if left, err = remove(dir, inner); left {
			err = r.up(dir, inner)
		}
		if err != nil {
			return err
		}
	}
	if left, err = remove(r.top, name); left {
		err = unix.ENOTEMPTY
	}
	return err
}

// remove removes a file, a link or an empty directory; left tells that it is a directory
// with something in it.
func remove(dir int, name string) (left bool, err error) {
	err = unix.Unlinkat(dir, name, 0)
	if errors.Is(err, unix.EISDIR) {
		err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	}
	switch {
	case err == nil, errors.Is(err, unix.ENOENT):
		return false, nil
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		return true, nil
	}
	return false, err
}

// up moves a directory to the top.
func (r *remover) up(dir int, name string) error {
	for {
		r.moved++
		to := place{r.top, "removed-" + strconv.Itoa(r.moved)}
		if err := rename(place{dir, name}, to, unix.RENAME_NOREPLACE); !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}
