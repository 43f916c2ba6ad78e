package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// built is what this binary was built from. Everything comes from the build
// itself, by "make release", "go build" and "go install" alike: nothing can be
// stamped on it that is not so.
type built struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func thisBuild() built {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) built {
	b := built{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	switch v := info.Main.Version; {
	case v != "" && v != "(devel)":
		b.Version = v
	case len(b.Commit) >= 12:
		b.Version = "devel-" + b.Commit[:12]
	}
	return b
}

// version is the module's version, or the commit of the checkout.
func version() string { return thisBuild().Version }

// String is the build on one line.
func (b built) String() string {
	of := []string{}
	if b.Commit != "" {
		commit := "commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			commit += " with changes"
		}
		of = append(of, commit)
	}
	if b.Date != "" {
		of = append(of, b.Date)
	}
	of = append(of, b.Go, b.OS+"/"+b.Arch)
	return "toolcrib " + b.Version + " (" + strings.Join(of, ", ") + ")"
}

func (c *command) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: usageArgs(cobra.NoArgs),
		Long: `Print the version of this program, the commit that it was built from and the
date of that commit, the version of Go, and the system that it is for. A program
that was not built from a git checkout has only what its module says.`,
		Example: `  toolcrib version
  toolcrib version -o json
  toolcrib --version`,
		RunE: func(*cobra.Command, []string) error { return c.printVersion() },
	}
}

func (c *command) printVersion() error {
	if c.asJSON(false) {
		return c.printJSON(thisBuild())
	}
	_, err := fmt.Fprintln(c.out, thisBuild())
	return err
}
