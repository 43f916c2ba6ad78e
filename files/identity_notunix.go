//go:build !unix

package files

import (
	"io/fs"
	"os"
)

const openFlags = 0

// fileKey is not to be had here; os.SameFile compares files instead.
type fileKey struct{ dev uint64 }

func keyOf(fs.FileInfo) (key fileKey, links uint64, ok bool) { return fileKey{}, 0, false }

func keepOwner(*os.File, fs.FileInfo) error { return nil }

func syncDir(*os.Root) error { return nil }
