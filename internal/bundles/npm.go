package bundles

import (
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

func newSHA512() hash.Hash { return sha512.New() }

// integrity is a digest as npm writes it.
func integrity(sum hash.Hash) string {
	return "sha512-" + base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

// npmPackage is what a registry says of one version.
type npmPackage struct {
	Version string `json:"version"`
	Dist    struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
	} `json:"dist"`
}

// fetchNPM takes the files of a package of npm. Nothing of it is run: neither are its
// dependencies installed.
func (b *Bundles) fetchNPM(ctx context.Context, s Source, w *writer, scratch string) (Source, error) {
	said, err := b.npmVersion(ctx, s.Registry, s.At, s.Version)
	if err != nil {
		return s, err
	}
	if exactVersion.MatchString(s.Version) && said.Version != s.Version {
		return s, fmt.Errorf("the registry answers with the version %s of %s, and %s was asked for", text.ShowLine(said.Version), s.At, s.Version)
	}
	if err := checkAddress(said.Dist.Tarball, "https"); err != nil {
		return s, fmt.Errorf("the package of %s %w", s.At, err)
	}
	want := cmp.Or(s.Integrity, said.Dist.Integrity)
	if !npmDigest.MatchString(want) {
		return s, fmt.Errorf("the registry gives no sha512 digest for %s@%s", s.At, text.ShowLine(said.Version))
	}
	f, err := b.download(ctx, said.Dist.Tarball, scratch, func(sums sums) error {
		if sums.sha512 != want {
			return fmt.Errorf("the package %s@%s has the digest %s, and not the %s that it should have", s.At, text.ShowLine(said.Version), sums.sha512, want)
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	defer func() { _ = f.Close() }() // it was only read
	s.Version, s.Integrity = said.Version, want
	_, err = w.addArchive(f, "tgz", s.Path)
	return s, err
}

// npmVersion asks a registry for a version, or for what a tag such as latest means now.
func (b *Bundles) npmVersion(ctx context.Context, registry, name, version string) (npmPackage, error) {
	var said npmPackage
	at := strings.TrimSuffix(cmp.Or(registry, b.NPM, DefaultNPM), "/") + "/" + strings.Replace(name, "/", "%2F", 1) + "/" + url.PathEscape(version)
	if err := b.getJSON(ctx, at, &said); err != nil {
		return said, err
	}
	if !npmVersion.MatchString(said.Version) {
		return said, fmt.Errorf("the registry names no version of %s", name)
	}
	return said, nil
}

// pypiVersion asks PyPI for the version of now.
func (b *Bundles) pypiVersion(ctx context.Context, name string) (string, error) {
	var said struct {
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}
	if err := b.getJSON(ctx, strings.TrimSuffix(cmp.Or(b.PyPI, DefaultPyPI), "/")+"/pypi/"+url.PathEscape(name)+"/json", &said); err != nil {
		return "", err
	}
	if !npmVersion.MatchString(said.Info.Version) {
		return "", fmt.Errorf("PyPI names no version of %s", name)
	}
	return said.Info.Version, nil
}

func (b *Bundles) getJSON(ctx context.Context, at string, into any) error {
	res, err := b.get(ctx, at, "application/json")
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("fetching %s: %w", text.ShowLine(at), err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("what %s answers is no JSON of a registry: %w", text.ShowLine(at), err)
	}
	return nil
}
