package settings

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/text"
)

// RulesOf gives what reads the permissions of another program: claude, codex,
// gemini or opencode, or whose file one of this name is. Nil: nobody's that is
// known.
func RulesOf(program, base string) func([]byte) (policy.Imported, error) {
	for _, of := range []struct {
		name string
		fits bool
		read func([]byte) (policy.Imported, error)
	}{
		{"claude", strings.HasPrefix(base, "settings") && strings.HasSuffix(base, ".json"), policy.ImportClaude},
		{"codex", strings.HasSuffix(base, ".rules"), policy.ImportCodex},
		{"gemini", strings.HasSuffix(base, ".toml"), policy.ImportGemini},
		{"opencode", strings.HasPrefix(base, "opencode"), policy.ImportOpencode},
	} {
		if of.name == program || program == "" && of.fits {
			return of.read
		}
	}
	return nil
}

// RulesText writes what was read of another program's permissions as settings of
// ours, with what was left out as comments.
func RulesText(got policy.Imported) ([]byte, error) {
	type shown struct {
		Permissions policy.Permissions `yaml:"permissions" doc:"Rules."`
	}
	content, err := config.Show(&config.Loaded[shown]{Value: shown{got.Permissions}})
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(content)
	if got.Mode != "" {
		fmt.Fprintf(b, "# the file asks for the mode %s; it is yours to choose: mode: %s\n", got.Mode, got.Mode)
	}
	for _, l := range got.Left {
		how := "not carried over"
		if l.Partly {
			how = "only in part"
		}
		fmt.Fprintf(b, "# %s: %s at %s: %s\n", how, text.ShowLine(l.Text), text.ShowLine(l.At), text.ShowLine(l.Why))
	}
	return b.Bytes(), nil
}
