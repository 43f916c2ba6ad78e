package config

import (
	"os"
	"strings"
	"testing"
	"time"
)

type ownSettings struct {
	Mode    string `yaml:"mode" doc:"m"`
	Journal struct {
		MaxAge time.Duration `yaml:"max_age" set:"own" doc:"How long."`
		Sync   bool          `yaml:"sync" doc:"s"`
	} `yaml:"journal" doc:"j"`
}

// TestOwn: a setting that only the user's and the administrator's own files may make is refused wherever else it stands.
func TestOwn(t *testing.T) {
	file := func(name, text string) string { return write(t, name, text) }
	const says = "journal: {max_age: 1s, sync: true}\nmode: plan\n"
	mine := file("user.yaml", says)
	owner := os.Getuid()

	for name, opt := range map[string]Options{
		"user":                    {User: mine},
		"system":                  {System: file("system.yaml", says), Owner: owner},
		"named, and it is his":    {User: mine, Explicit: mine},
		"project beside a user's": {User: mine, Project: file("p.yaml", "journal: {max_age: 3s}\n"), Trusted: func([]byte) bool { return true }},
	} {
		l, err := Load(ownSettings{}, opt)
		if err != nil || l.Value.Journal.MaxAge != time.Second || !l.Value.Journal.Sync || l.Value.Mode != "plan" {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	for name, opt := range map[string]Options{
		"environment":          {Environ: []string{"TOOLCRIB_JOURNAL_MAX_AGE=1s"}},
		"flag":                 {Flags: map[string]string{"journal.max_age": "1s"}},
		"file of command line": {User: mine, Explicit: file("other.yaml", says)},
	} {
		if _, err := Load(ownSettings{}, opt); err == nil || !strings.Contains(err.Error(), "journal.max_age") || !strings.Contains(err.Error(), "your own settings file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, trusted := range []bool{false, true} {
		l, err := Load(ownSettings{}, Options{Project: file("toolcrib.yaml", says), Trusted: func([]byte) bool { return trusted }})
		if err != nil || l.Value.Journal.MaxAge != 0 || l.User.Journal.MaxAge != 0 || l.Project.Journal.MaxAge != 0 || l.Value.Journal.Sync != trusted {
			t.Errorf("trusted %t: %+v, %v", trusted, l, err)
			continue
		}
		told := 0
		for _, w := range l.Warnings {
			if w.Key == "journal.max_age" && strings.Contains(w.Message, "your own settings file") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("trusted %t: %v", trusted, l.Warnings)
		}
	}
}
