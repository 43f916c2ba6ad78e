//go:build !linux

package conformance

import (
	"testing"
	"time"
)

// process stands for one where processes below another cannot be listed
// without a program; what is left behind is looked for on Linux.
type process struct{}

func descendants(int) []process { return nil }

func marked(string) []process { return nil }

func gone([]process, time.Duration) []string { return nil }

// killed cannot find the process to kill.
func killed(*testing.T, []string) {}
