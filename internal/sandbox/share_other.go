//go:build !linux

package sandbox

import (
	"github.com/toolcrib/toolcrib/files"
)

func checkShares([]files.Dir) error { return nil }
