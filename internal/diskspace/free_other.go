//go:build !linux && !darwin && !windows

package diskspace

import "errors"

func free(string) (uint64, error) { return 0, errors.ErrUnsupported }
