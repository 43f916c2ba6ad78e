package toolchains

import (
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// GitIdentity reads who the person is to git, and writes it as settings that say no
// more than that. Empty: git is not told.
func GitIdentity(files []string) string {
	who := map[string]string{}
	for _, file := range files { // the later ones count more
		text, err := plainfile.Settings(file)
		if err != nil {
			continue
		}
		for _, s := range gitconfig.Parse(string(text)) {
			if s.Section == "user" && s.Sub == "" && (s.Key == "name" || s.Key == "email") && isIdentity(s.Value) {
				who[s.Key] = s.Value
			}
		}
	}
	if who["name"] == "" || who["email"] == "" {
		return ""
	}
	return "[user]\n\tname = \"" + who["name"] + "\"\n\temail = \"" + who["email"] + "\"\n"
}

// isIdentity: what can stand between quotes and means itself there.
func isIdentity(s string) bool {
	return s != "" && len(s) <= 200 && !strings.ContainsAny(s, "\"\\") && !strings.ContainsFunc(s, unicode.IsControl)
}
