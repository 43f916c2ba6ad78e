//go:build !windows

package diskspace

const onWindows = false
