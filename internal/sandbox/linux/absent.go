//go:build !linux || (!amd64 && !arm64)

package linux

import (
	"context"
	"io/fs"
	"runtime"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Sandbox cannot be had on this system.
type Sandbox struct{}

// Main does nothing here.
func Main() {}

// Open says that there is no such sandbox on this system.
func Open(_ context.Context, cfg Config) (*Sandbox, error) {
	if _, err := cfg.filled(); err != nil {
		return nil, err
	}
	return nil, sandbox.Unavailable("the linux sandbox needs Linux on amd64 or arm64, this is "+runtime.GOOS+" on "+runtime.GOARCH+": use the container backend", nil)
}

// Probe finds nothing on this system.
func Probe(ctx context.Context, cfg Config) []sandbox.Finding {
	_, err := Open(ctx, cfg)
	return []sandbox.Finding{{Name: "system", Text: err.Error()}}
}

// Close has nothing to do.
func (*Sandbox) Close() error { return nil }

// Enforces is nothing.
func (*Sandbox) Enforces() toolcrib.Bounds { return 0 }

// Run refuses.
func (*Sandbox) Run(context.Context, toolcrib.Cmd, toolcrib.Grant) (toolcrib.Exit, error) {
	return toolcrib.Exit{}, sandbox.Unavailable("the linux sandbox needs Linux on amd64 or arm64", nil)
}

// Applied is what a command changed on a layer, of which there are none here.
type Applied struct{}

// OpenApplied finds nothing.
func OpenApplied(string, string) (*Applied, error) { return nil, fs.ErrNotExist }

// List has nothing to list.
func (*Applied) List(int) (text []byte, path string, err error) { return nil, "", fs.ErrNotExist }

// NotKept has nothing to say.
func (*Applied) NotKept() string { return "" }

// Unchanged has nothing to compare.
func (*Applied) Unchanged() error { return fs.ErrNotExist }

// Reverse opens nothing.
func (*Applied) Reverse(string) (toolcrib.Changes, error) { return nil, fs.ErrNotExist }

func ungrantable(string) error { return nil }

// OpenKept finds nothing.
func OpenKept(context.Context, string, string, string) (toolcrib.Changes, Kept, error) {
	return nil, Kept{}, ErrSettled
}

// DropKept finds nothing.
func DropKept(context.Context, string, Kept) error { return ErrSettled }

// ListKept finds nothing.
func ListKept(string) []Kept { return nil }
