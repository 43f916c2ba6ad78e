package partial

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// said is a person who answers what a test says, in order.
type said struct {
	messages []string // about a conflict; empty: nobody is there
	paths    [][]string
	asked    []string
	over     []string
}

func (a *said) dialog(s Set, conflicts []string, asked bool) *Dialog {
	return &Dialog{
		Set: s, Refused: map[string]bool{}, Conflicts: conflicts, Asked: asked, Dirs: []string{"/q", "/p"},
		Show: func(accept func(string) bool) string {
			var list []string
			for _, c := range s {
				if accept(c.Path) {
					list = append(list, c.Path)
				}
			}
			return strings.Join(list, " ")
		},
		Overwrite: func(path string) { a.over = append(a.over, path) },
		Ask: func(text, preview string, options []string) (message string, paths []string, why string) {
			a.asked = append(a.asked, text+preview)
			if (text != "") != (len(options) == 3) {
				return "", nil, "the options do not fit"
			}
			if text == "" {
				paths, a.paths = a.paths[0], a.paths[1:]
				return "", paths, ""
			}
			if message, a.messages = a.messages[0], a.messages[1:]; message == "" {
				why = "nobody"
			}
			return message, nil, why
		},
	}
}

func TestDialog(t *testing.T) {
	tree := set("changed /p/a", "changed /p/b", "new /p/n/", "new /p/n/1")
	everything := "/p/a /p/b /p/n /p/n/1"
	ab := []string{"/p/a", "/p/b"}
	for name, c := range map[string]struct {
		conflicts []string
		quiet     bool // no question but that about the conflict
		said      said
		taken     string
		why       string
		over      string
		asked     int
	}{
		"all":                           {said: said{paths: [][]string{nil}}, taken: everything, asked: 1},
		"a part":                        {said: said{paths: [][]string{{"n"}}}, taken: "/p/n /p/n/1", asked: 1},
		"a part that there is not":      {said: said{paths: [][]string{{"x"}, {"/p/a"}}}, taken: "/p/a", asked: 2},
		"never one that there is":       {said: said{paths: [][]string{{"x"}, {"y"}, {"z"}}}, why: "a part of it that there is not", asked: 3},
		"theirs":                        {ab, true, said{messages: []string{Theirs}}, "/p/n /p/n/1", "", "", 1},
		"the command's":                 {ab, true, said{messages: []string{Commands}}, everything, "", "/p/a /p/b", 1},
		"neither":                       {ab, true, said{messages: []string{Neither}}, "", "dropped its changes", "", 1},
		"one of each":                   {ab, true, said{messages: []string{"b\n"}}, "/p/b /p/n /p/n/1", "", "/p/b", 1},
		"a name that is none":           {ab, true, said{messages: []string{"what?", "/p/a"}}, "/p/a /p/n /p/n/1", "", "/p/a", 2},
		"never understood":              {ab, true, said{messages: []string{"?", "?", "?"}}, "", "dropped its changes", "", 3},
		"nobody":                        {ab, false, said{messages: []string{""}}, "", "nobody", "", 1},
		"both questions":                {ab, false, said{messages: []string{Theirs}, paths: [][]string{nil}}, "/p/n /p/n/1", "", "", 2},
		"a part of what is theirs":      {ab, false, said{messages: []string{Theirs}, paths: [][]string{{"/p/a", "/p/n"}}}, "/p/n /p/n/1", "", "", 2},
		"a new directory is not taken":  {[]string{"/p/n"}, true, said{messages: []string{Theirs}}, "/p/a /p/b", "", "", 1},
		"an answer of blanks is theirs": {ab, true, said{messages: []string{"  "}}, "/p/n /p/n/1", "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			taken, why := c.said.dialog(tree, c.conflicts, !c.quiet).Settle(3)
			if got := strings.Join(slices.Sorted(maps.Keys(taken)), " "); got != c.taken || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("took %s, want %s; %q", got, c.taken, why)
			}
			slices.Sort(c.said.over)
			if got := strings.Join(c.said.over, " "); got != c.over || len(c.said.asked) != c.asked {
				t.Errorf("overwrites %q, want %q; asked %d times: %q", got, c.over, len(c.said.asked), c.said.asked)
			}
		})
	}
	a := said{messages: []string{Theirs}, paths: [][]string{nil}}
	a.dialog(tree, []string{"/p/a"}, true).Settle(3)
	if !strings.Contains(a.asked[0], "now to what the command wrote:\n/p/a") || strings.Contains(a.asked[1], "/p/a") {
		t.Errorf("asked %q", a.asked)
	}
}

func TestWords(t *testing.T) {
	tree := set("changed /p/a", "new /p/n/", "new /p/n/1", "gone /p/x")
	if got := tree.Told(some("/p/a", "/p/n")); got != "2 changes are applied: changed /p/a, created /p/n" {
		t.Error(got)
	}
	if edited := (Set{{Path: "/p/a", Was: Other}, {Path: "/p/b", Is: Other, Moved: true}}); edited.Droppable(some("/p/b")) {
		t.Error("the only copy of a file is left out")
	}
	commit := Set{{Path: "/p/.git/refs/x", Was: Other, Is: Other, Meaning: "a commit"}, {Path: "/p/.git/objects/1", Is: Other, Unsaid: true}}
	if got := commit.Told(some("/p/.git/refs/x", "/p/.git/objects/1")); got != "1 change is applied: a commit" {
		t.Error(got)
	}
	if got := tree.Left(some("/p/a")); got != "/p/n, /p/x" {
		t.Error(got)
	}
	if got := First([]string{"a", "b", "c"}, 2); got != "a; b; and 1 more" {
		t.Error(got)
	}
	if got := Why([]string{"/p/a"}, ""); got != "somebody else changed this while the command ran: /p/a" {
		t.Error(got)
	}
	if got := tree.Named([]string{"/p//a", "x", "n/1", "none"}, []string{"/q", "/p"}); strings.Join(got, " ") != "/p/a /p/x /p/n/1 /p/none" {
		t.Error(got)
	}
}
