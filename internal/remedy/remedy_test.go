package remedy

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

func TestOf(t *testing.T) {
	base := errors.New("there is no python3")
	err := fmt.Errorf("python.x: %w", With(base, "brew install python"))
	if got := Of(err); got != "brew install python" || !errors.Is(err, base) || err.Error() != "python.x: there is no python3" {
		t.Error(got, err)
	}
	if With(nil, "x") != nil || Of(base) != "" || Of(nil) != "" {
		t.Error("nothing has a command")
	}
}

func TestInstall(t *testing.T) {
	sudo := "sudo "
	if runtime.GOOS == "windows" {
		sudo = ""
	}
	for _, tt := range []struct {
		program, has, want string
		admin              bool
	}{
		{"python3", "apt-get", sudo + "apt-get install -y python3 python3-venv", false},
		{"python3", "apt-get", "apt-get install -y python3 python3-venv", true},
		{"npx", "brew", "brew install node", false},
		{"uvx", "pipx", "pipx install uv", false},
		{"uv", "apt-get", "apt-get install -y pipx && pipx install uv", true},
		{"frobnicate", "apt-get", "", true},
		{"python3", "nothing", "", true},
	} {
		look := func(name string) (string, error) {
			if name != tt.has {
				return "", errors.New("no")
			}
			return "/bin/" + name, nil
		}
		if got := Install(tt.program, look, tt.admin); got != tt.want {
			t.Errorf("%s by %s: %q, want %q", tt.program, tt.has, got, tt.want)
		}
	}
}
