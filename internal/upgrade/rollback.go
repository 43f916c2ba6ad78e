package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Kept says why there is no program to go back to; nil: there is one.
func Kept(file string) error {
	if info, err := os.Lstat(Old(file)); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("there is no %s: no upgrade was made here, or it was removed", Old(file))
	}
	return nil
}

// Rollback puts the program before the last upgrade back, and keeps the present
// one in its stead: a second rollback goes forward again. It gives the version that
// is there now.
func Rollback(ctx context.Context, cfg Config) (version string, err error) {
	old := Old(cfg.File)
	if err := Kept(cfg.File); err != nil {
		return "", err
	}
	p, err := openPlace(cfg.File)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	fresh := filepath.Join(p.dir, filepath.Base(cfg.File))
	if err := keepCopy(old, fresh); err != nil {
		return "", err
	}
	try := cfg.Try
	if try == nil {
		try = RunVersion
	}
	if version, err = try(ctx, fresh); err != nil {
		return "", fmt.Errorf("%s does not start, and nothing was changed: %w", old, err)
	}
	_, err = p.swap(fresh)
	return version, err
}

// RunVersion starts a program once and gives the version that it says. It gets no
// more of the environment than a program needs to start.
func RunVersion(ctx context.Context, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, "version", "-o", "json")
	cmd.Dir = filepath.Dir(file)
	cmd.Env = []string{"HOME=" + filepath.Dir(file)}
	for _, name := range []string{"SYSTEMROOT", "WINDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	var said struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(out, &said); err != nil || said.Version == "" {
		return "", errors.New("it does not say its version")
	}
	return said.Version, nil
}
