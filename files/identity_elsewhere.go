//go:build !unix && !windows

package files

import (
	"io/fs"
	"os"
)

func namesOf(*os.File, fs.FileInfo) (names uint64, ok bool) { return 0, false }
