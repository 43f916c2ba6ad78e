package shellguard

import (
	"os/exec"
	"strings"
	"testing"
)

// FuzzGitConfig holds our reading of a repository's settings against git's:
// whatever we take for harmless, git must not find a setting in that is not.
func FuzzGitConfig(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("there is no git here to ask")
	}
	for _, text := range []string{
		"[core]\n\tbare = false\n", "[user][filter \"x\"]clean = id\n", "[core]\nfsmonitor=x", "[remote \"o\"]\nurl=x\n[branch \"m\"]\nremote=o", "[a.b]c=d", "[user]\nname = \"a\\\nb\"", "[remote \"\x00\"]url", "[core];x\n\tbare\n#y", "\ufeff[user]\r\nname=x\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 || checkGitConfig(text) != nil {
			return
		}
		cmd := exec.Command("git", "config", "--no-includes", "--file", "-", "--null", "--list")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			return // git refuses it, and so starts nothing
		}
		for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			name, value, _ := strings.Cut(entry, "\n")
			section, _, ok := strings.Cut(name, ".")
			if !ok {
				continue
			}
			key := name[strings.LastIndexByte(name, '.')+1:]
			if strings.Count(name, ".") > 1 {
				section += " *"
			}
			if !harmlessSetting(section, key, strings.ToLower(value)) {
				t.Fatalf("%q is taken, and git finds %q in it", text, entry)
			}
		}
	})
}
