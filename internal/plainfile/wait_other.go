//go:build !unix

package plainfile

const (
	noWait  = 0
	dirOnly = 0
)
