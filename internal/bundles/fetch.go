package bundles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
)

// fetchTime bounds what is fetched from elsewhere.
const fetchTime = 5 * time.Minute

// fetch takes the files of a source, and gives the source as it was settled: with the
// commit or the digest of what was taken. Scratch is a directory for what is thrown away.
func (b *Bundles) fetch(ctx context.Context, s Source, w *writer, scratch string) (settled Source, name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	name = s.name()
	switch s.Kind {
	case FromDir:
		return s, name, w.addDir(s.At)
	case FromArchive:
		f, err := plainfile.Open(s.At)
		if err != nil {
			return s, name, err
		}
		defer func() { _ = f.Close() }() // it was only read
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return s, name, errors.Join(err, plainfile.ErrOdd)
		}
		folder, err := w.addArchive(f, archiveForm(s.At), "")
		return s, orName(folder, name), err
	case FromGit:
		s, err = b.fetchGit(ctx, s, w, filepath.Join(scratch, "git"))
		return s, name, err
	case FromNPM:
		s, err = b.fetchNPM(ctx, s, w, scratch)
		return s, name, err
	case FromHTTP:
		file, err := b.download(ctx, s.At, scratch, func(sums sums) error {
			if sums.sha256 != s.SHA256 {
				return fmt.Errorf("what lies at %s has the digest %s, and not the %s that it should have", text.ShowLine(s.At), sums.sha256, s.SHA256)
			}
			return nil
		})
		if err != nil {
			return s, name, err
		}
		defer func() { _ = file.Close() }() // it was only read
		form, err := formOf(file)
		if err != nil {
			return s, name, err
		}
		folder, err := w.addArchive(file, form, s.Path)
		if s.Path != "" {
			folder = ""
		}
		return s, orName(folder, name), err
	}
	return s, name, fmt.Errorf("nothing is fetched from a %s", s.Kind)
}

// orName prefers the name of the folder in an archive to that of the archive, but for
// those that say nothing.
func orName(folder, name string) string {
	if folder == "" || folder == "package" || strings.HasPrefix(folder, name+"-") {
		return name
	}
	return folder
}

// formOf tells an archive by how it begins: an address need not end in its kind.
func formOf(f *os.File) (string, error) {
	var begin [4]byte
	if _, err := f.ReadAt(begin[:], 0); err != nil {
		return "", fmt.Errorf("the archive cannot be read: %w", err)
	}
	switch {
	case string(begin[:]) == "PK\x03\x04":
		return "zip", nil
	case begin[0] == 0x1f && begin[1] == 0x8b:
		return "tgz", nil
	}
	return "tar", nil
}

// get asks for an address.
func (b *Bundles) get(ctx context.Context, at, accept string) (*http.Response, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	if b.HTTP == nil {
		return nil, errors.New("nothing is fetched from elsewhere here")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	res, err := b.HTTP(u.Host).Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", text.ShowLine(at), err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close() // nobody reads it
		return nil, fmt.Errorf("fetching %s: the server answers %s", text.ShowLine(at), text.ShowLine(res.Status))
	}
	return res, nil
}

// sums is what an archive is known by.
type sums struct{ sha256, sha512 string }

// download puts what lies at an address into a file, and has it checked.
func (b *Bundles) download(ctx context.Context, at, scratch string, check func(sums) error) (f *os.File, err error) {
	res, err := b.get(ctx, at, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	if f, err = os.CreateTemp(scratch, "archive-*"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	short, long := sha256.New(), newSHA512()
	n, err := io.Copy(io.MultiWriter(f, short, long), io.LimitReader(res.Body, maxArchive+1))
	if err != nil {
		return f, fmt.Errorf("fetching %s: %w", text.ShowLine(at), err)
	}
	if n > maxArchive {
		return f, fmt.Errorf("what lies at %s is larger than %d MiB", text.ShowLine(at), maxArchive>>20)
	}
	return f, check(sums{hex.EncodeToString(short.Sum(nil)), integrity(long)})
}
