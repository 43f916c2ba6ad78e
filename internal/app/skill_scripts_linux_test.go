package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandboxes"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// skilled is a crib with commands and skills in a home that has keys in it.
type skilled struct {
	*testing.T
	app        *App
	home, dir  string
	ann, other toolcrib.Caller
}

func withSkills(t *testing.T, change func(c *settings.Config, home string)) *skilled {
	t.Helper()
	s := &skilled{T: t, ann: toolcrib.Caller{Subject: "ann", Session: "one"}, other: toolcrib.Caller{Subject: "ann", Session: "two"}}
	var skills string
	s.app, _ = workshop(t, func(c *settings.Config) {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		skills = base
		writeSkill(t, filepath.Join(skills, "first", "SKILL.md"), "first", "Is there from the beginning.")
		c.Toolboxes.Skill.Paths = []string{skills}
		if change != nil {
			change(c, base)
		}
	})
	s.home, s.dir = s.app.policy.home, skills
	s.file(filepath.Join(s.home, ".ssh", "id_rsa"), "the key")
	s.file(filepath.Join(s.home, "diary.txt"), "dear diary")
	return s
}

func (s *skilled) file(path, text string) {
	s.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		s.Fatal(err)
	}
}

// skill makes one with a script, and gives its directory.
func (s *skilled) skill(name string) string {
	s.Helper()
	at := filepath.Join(s.dir, name)
	s.file(filepath.Join(at, "SKILL.md"), "---\nname: "+name+"\ndescription: Makes reports.\n---\nRun scripts/make.sh.\n")
	s.file(filepath.Join(at, "scripts", "make.sh"), "#!/bin/sh\necho made by \"$(dirname \"$0\")\"\necho a report > \"$TOOLCRIB_SCRATCH/report.txt\"\n")
	return at
}

type usedSkill struct{ Directory, Scratch, Note string }

func (s *skilled) use(c toolcrib.Caller, name string) (out usedSkill) {
	s.Helper()
	s.app.Reload(s.Context())
	r, err := s.app.Crib.Call(s.Context(), toolcrib.Call{Tool: "use_skill", Input: json.RawMessage(`{"name":"` + name + `"}`), Caller: c})
	if err != nil || r.Failed {
		s.Fatalf("using %s: %v, %+v", name, err, r)
	}
	if err := json.Unmarshal(r.Value, &out); err != nil {
		s.Fatal(err)
	}
	return out
}

// run gives what a command printed, and whether it ended well.
func (s *skilled) run(c toolcrib.Caller, line string) (string, bool) {
	s.Helper()
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		s.Fatal(err)
	}
	r, err := s.app.Crib.Call(s.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: c})
	if err != nil {
		return err.Error(), false
	}
	if r.Failed {
		return r.String(), false
	}
	var out ran
	if err := json.Unmarshal(r.Value, &out); err != nil {
		s.Fatal(err)
	}
	return out.Stdout + out.Stderr, out.ExitCode == 0
}

// TestSkillScripts: commands read the directory of a skill that their session uses, and write the one that it has for
// itself. Nobody else's commands do, and not theirs before and afterwards.
func TestSkillScripts(t *testing.T) {
	s := withSkills(t, nil)
	at := s.skill("reports")
	script := "sh " + at + "/scripts/make.sh"
	if out, ok := s.run(s.ann, script); ok {
		t.Fatalf("a skill that is not in use is seen: %s", out)
	}
	used := s.use(s.ann, "reports")
	if used.Directory != at || used.Scratch == "" || used.Note != "" {
		t.Fatalf("%+v", used)
	}
	if out, ok := s.run(s.ann, script); !ok || !strings.Contains(out, "made by "+at) {
		t.Fatalf("its script: %s", out)
	}
	if out, ok := s.run(s.ann, "cat "+used.Scratch+"/report.txt $TOOLCRIB_SCRATCH/report.txt && cp $TOOLCRIB_SCRATCH/report.txt kept.txt"); !ok || out != "a report\na report\n" {
		t.Errorf("the next command: %s", out)
	}
	for _, line := range []string{"touch " + at + "/new", "echo x >> " + at + "/SKILL.md", "rm " + at + "/scripts/make.sh", "ls " + s.home + "/diary.txt", "cat " + s.home + "/diary.txt"} {
		if out, ok := s.run(s.ann, line); ok {
			t.Errorf("%s: %s", line, out)
		}
	}
	for name, c := range map[string]toolcrib.Caller{"another session": s.other, "another person": {Subject: "bob", Session: "one"}, "nobody": {}} {
		for _, line := range []string{"cat " + at + "/SKILL.md", "cat " + used.Scratch + "/report.txt", "test -n \"$TOOLCRIB_SCRATCH\""} {
			if out, ok := s.run(c, line); ok {
				t.Errorf("%s, %s: %s", name, line, out)
			}
		}
	}
	if other := s.use(s.other, "reports"); other.Scratch == used.Scratch {
		t.Error("two sessions share a directory")
	} else if out, ok := s.run(s.other, "cat "+used.Scratch+"/report.txt"); ok {
		t.Errorf("another session reads what this one wrote: %s", out)
	}
	if _, err := s.app.Crib.Call(t.Context(), toolcrib.Call{Tool: "use_skill", Input: json.RawMessage(`{"name":"reports","active":false}`), Caller: s.ann}); err != nil {
		t.Fatal(err)
	}
	if out, ok := s.run(s.ann, script); ok {
		t.Errorf("after its end: %s", out)
	}
	if _, err := os.Stat(used.Scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
}

// TestSkillReadIsInUse: who reads the text of a skill may run its scripts, and is not held to the tools that it names.
func TestSkillReadIsInUse(t *testing.T) {
	s := withSkills(t, nil)
	at := s.skill("reports")
	if _, err := s.app.Crib.Call(t.Context(), toolcrib.Call{Tool: "read_skill_file", Input: json.RawMessage(`{"skill":"reports","path":"SKILL.md"}`), Caller: s.ann}); err != nil {
		t.Fatal(err)
	}
	if out, ok := s.run(s.ann, "sh "+at+"/scripts/make.sh"); !ok {
		t.Error(out)
	}
	if got := s.app.SkillBox().Active(s.ann); len(got) != 0 {
		t.Errorf("it is followed: %v", got)
	}
}

// TestSkillOpensNothingElse: nothing in a skill's directory, and no way in which it lies somewhere, shows commands what
// they must not see; and commands that have nothing to do with it go on to work.
func TestSkillOpensNothingElse(t *testing.T) {
	s := withSkills(t, nil)
	at := s.skill("links")
	for name, target := range map[string]string{"ssh": ".ssh", "key": ".ssh/id_rsa", "home": ".", "diary": "diary.txt"} {
		if err := os.Symlink(filepath.Join(s.home, target), filepath.Join(at, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../../../../../../../../../..", filepath.Join(at, "top")); err != nil {
		t.Fatal(err)
	}
	s.file(filepath.Join(at, ".env"), "PASSWORD=hush")
	s.file(filepath.Join(at, ".ssh", "id_ed25519"), "a key in the skill")
	s.use(s.ann, "links")
	for _, line := range []string{
		"cat " + at + "/ssh/id_rsa", "cat " + at + "/key", "cat " + at + "/home/diary.txt", "cat " + at + "/diary", "cat " + at + "/top" + s.home + "/diary.txt",
		"grep hush " + at + "/.env", "cat " + at + "/.ssh/id_ed25519", "ls " + filepath.Dir(at) + "/other/SKILL.md", "cp -L " + at + "/key copied",
	} {
		if out, ok := s.run(s.ann, line); ok {
			t.Errorf("%s: %s", line, out)
		}
	}
	swapped := s.skill("swapped")
	s.use(s.ann, "swapped")
	if err := errors.Join(os.RemoveAll(swapped), os.Symlink(filepath.Join(s.home, ".ssh"), swapped)); err != nil {
		t.Fatal(err)
	}
	if out, ok := s.run(s.ann, "cat "+swapped+"/id_rsa"); ok {
		t.Errorf("a skill that became a link: %s", out)
	}
	if out, ok := s.run(s.ann, "echo well"); !ok {
		t.Errorf("a skill that became a link keeps commands from running: %s", out)
	}
	gone := s.skill("gone")
	s.use(s.ann, "gone")
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	if out, ok := s.run(s.ann, "echo well"); !ok {
		t.Errorf("a skill that is gone keeps commands from running: %s", out)
	}
}

// TestSkillThatIsHome: a SKILL.md at home, or above it, makes a skill and shows commands nothing.
func TestSkillThatIsHome(t *testing.T) {
	s := withSkills(t, func(c *settings.Config, _ string) {
		c.Toolboxes.Skill.Paths = append(c.Toolboxes.Skill.Paths, "~", "~/..")
	})
	text := "---\nname: all\ndescription: Everything.\n---\nLook.\n"
	s.file(filepath.Join(s.home, "SKILL.md"), text)
	s.file(filepath.Join(filepath.Dir(s.home), "SKILL.md"), strings.Replace(text, "all", "more", 1))
	for _, name := range []string{"all", "more"} {
		used := s.use(s.ann, name)
		if !strings.Contains(used.Note, "holds your home directory") || used.Scratch != "" {
			t.Errorf("%+v", used)
		}
	}
	for _, line := range []string{"cat " + s.home + "/diary.txt", "cat " + s.home + "/.ssh/id_rsa", "ls " + s.home + "/SKILL.md"} {
		if out, ok := s.run(s.ann, line); ok {
			t.Errorf("%s: %s", line, out)
		}
	}
}

// TestSkillThatIsDenied: a rule that denies a path holds for the directories of skills, and keeps no command from running.
func TestSkillThatIsDenied(t *testing.T) {
	s := withSkills(t, func(c *settings.Config, skills string) {
		c.Permissions.Deny = []string{"read_file(" + skills + "/closed/**)", "read_file(" + skills + "/open/secret.txt)"}
	})
	closed, open := s.skill("closed"), s.skill("open")
	s.file(filepath.Join(open, "secret.txt"), "hush")
	s.use(s.ann, "closed")
	s.use(s.ann, "open")
	for _, line := range []string{"cat " + closed + "/SKILL.md", "sh " + closed + "/scripts/make.sh", "cat " + open + "/secret.txt", "cat " + open + "/*.txt"} {
		if out, ok := s.run(s.ann, line); ok {
			t.Errorf("%s: %s", line, out)
		}
	}
	if out, ok := s.run(s.ann, "sh "+open+"/scripts/make.sh"); !ok {
		t.Error(out)
	}
}

// TestSkillScratchIsBounded: a command that writes without end is ended, one that clears up is not, and what programs made
// is removed also where they shut it.
func TestSkillScratchIsBounded(t *testing.T) {
	s := withSkills(t, nil)
	told, ok := s.app.Crib.Sandbox.(*sandboxes.Telling)
	if !ok {
		t.Fatalf("%T", s.app.Crib.Sandbox)
	}
	told.Scratch.MaxBytes, told.Scratch.MaxFiles = 1<<20, 200
	s.skill("reports")
	used := s.use(s.ann, "reports")
	for _, line := range []string{"while head -c 100000 /dev/zero >> $TOOLCRIB_SCRATCH/big; do :; done", "i=0; while : > $TOOLCRIB_SCRATCH/$i; do i=$((i+1)); done"} {
		if out, ok := s.run(s.ann, line); ok || !strings.Contains(out, "more") {
			t.Errorf("%s: %s", line, out)
		}
		if out, ok := s.run(s.ann, "rm -rf "+used.Scratch+"/*; sleep 0.5; ls -A "+used.Scratch+" | wc -l"); !ok || strings.TrimSpace(out) != "0" {
			t.Errorf("clearing up: %s", out)
		}
	}
	if out, ok := s.run(s.ann, "mkdir -p $TOOLCRIB_SCRATCH/a/b && ln -s / $TOOLCRIB_SCRATCH/a/top && touch $TOOLCRIB_SCRATCH/a/b/c && chmod 0 $TOOLCRIB_SCRATCH/a/b $TOOLCRIB_SCRATCH/a"); !ok {
		t.Error(out)
	}
	if err := told.Scratch.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(used.Scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}
