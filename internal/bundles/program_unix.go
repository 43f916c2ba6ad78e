//go:build !windows

package bundles

// marksPrograms: a file's mode says whether it can be started.
const marksPrograms = true
