package vault

import "io/fs"

const (
	// hasRights: the rights of a file come from the profile it lies in.
	hasRights = false
	noFollow  = 0
)

func owner(fs.FileInfo) (who uint32, ours bool) { return 0, true }

func links(fs.FileInfo) uint64 { return 1 }
