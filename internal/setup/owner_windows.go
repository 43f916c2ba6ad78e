package setup

import "io/fs"

// ours: on Windows the rights of a file say who may write it, and writing tells.
func ours(fs.FileInfo) bool { return true }
