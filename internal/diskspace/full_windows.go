//go:build windows

package diskspace

const onWindows = true
