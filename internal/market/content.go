package market

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// Content is what was fetched of a result, with a checksum that was held against that of
// the registry: files, or an archive for the installer to unpack.
type Content struct {
	Name    string            // of the folder or file that it is written to
	Files   map[string][]byte // by their paths in the folder, checked
	Archive []byte            // nil: it is files
	Digest  string            // of all of it, sha256:HEX
	Notes   []string
}

// Write puts it into an empty directory of the caller's, and gives the folder or the
// archive, which is what an installer takes.
func (c *Content) Write(dir string) (string, error) {
	if err := bundle.CheckName(c.Name); err != nil {
		return "", err
	}
	at := filepath.Join(dir, c.Name)
	if c.Archive != nil {
		return at, os.WriteFile(at, c.Archive, 0o600)
	}
	if err := os.Mkdir(at, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return "", err
	}
	for name, data := range c.Files {
		if name, err = bundle.CheckPath(name); err != nil {
			break
		}
		name = filepath.FromSlash(name)
		if err = root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			break
		}
		if err = root.WriteFile(name, data, 0o600); err != nil {
			break
		}
	}
	if closed := root.Close(); err == nil {
		err = closed
	}
	return at, err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// verify holds data against a checksum. One that is missing verifies nothing.
func verify(data []byte, digest string) error {
	want, err := hashOf(digest)
	if err != nil {
		return err
	}
	if is := digestOf(data); is != "sha256:"+want {
		return fmt.Errorf("what was fetched is not what the registry announced: its checksum is %s and should be sha256:%s. Nothing was taken", is, want)
	}
	return nil
}

// archives are the endings of what an installer unpacks.
func archives() []string { return []string{".tar.gz", ".tgz", ".zip", ".mcpb"} }

// ending gives the ending of an archive's name, or nothing.
func ending(name string) string {
	name = strings.ToLower(name)
	if i := slices.IndexFunc(archives(), func(e string) bool { return strings.HasSuffix(name, e) }); i >= 0 {
		return archives()[i]
	}
	return ""
}
