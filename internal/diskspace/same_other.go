//go:build !linux && !darwin

package diskspace

import "path/filepath"

// Same reports whether two directories lie on one disk.
func Same(a, b string) bool { return filepath.VolumeName(a) == filepath.VolumeName(b) }
