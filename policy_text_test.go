package toolcrib_test

import (
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestGoModReplacesNothing(t *testing.T) { report(t, checkReplace(os.DirFS("."))) }
func TestNothingIsLeftUnfinished(t *testing.T) {
	report(t, checkUnfinished(os.DirFS(".")))
}
func TestLinksResolve(t *testing.T) { report(t, checkLinks(os.DirFS("."))) }
func TestNoPathsOfThisMachine(t *testing.T) {
	report(t, checkMachine(os.DirFS("."), machineWords(t)))
}

func TestNothingIsHuge(t *testing.T) { report(t, checkHuge(os.DirFS("."))) }

// checkHuge finds what nobody wrote: a program or a package that was left in the
// tree, and that the next "git add" would take along.
func checkHuge(fsys fs.FS) (out []violation) {
	const most = 512 << 10
	err := walkSource(fsys, func(name string) error {
		info, err := fs.Stat(fsys, name)
		if err == nil && info.Size() > most && path.Ext(name) != ".test" && path.Ext(name) != ".out" { // which git ignores
			out = append(out, violation{name, fmt.Sprintf("has %d bytes", info.Size()), "nothing that people write is so large: take it out of the tree before it is committed"})
		}
		return err
	})
	if err != nil {
		out = append(out, violation{".", err.Error(), "the tree has to be readable"})
	}
	return out
}

func checkReplace(fsys fs.FS) []violation {
	text, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return []violation{{"go.mod", err.Error(), "the module has to have one"}}
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "replace") {
			return []violation{{"go.mod", "has a replace directive", "it does not reach those who import the module: they would build something else than we test"}}
		}
	}
	return nil
}

// unfinished is spelt in parts so that this file keeps the rule it checks.
func unfinished() *regexp.Regexp {
	return regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
}

func checkUnfinished(fsys fs.FS) []violation {
	words := unfinished()
	return eachLine(fsys, []string{".go", ".md"}, func(line string) (what, why string) {
		if w := words.FindString(line); w != "" {
			return "says " + w, "what is not done is an issue with an owner, or a line in docs/rough_edges.md"
		}
		return "", ""
	})
}

// machineWords are the paths and hosts of the machine the test runs on that
// would mean nothing elsewhere. A checkout in a directory such as /app is left
// out: that could be anyone's example.
func machineWords(t *testing.T) []string {
	t.Helper()
	var words []string
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, build.Default.GOPATH} {
		if strings.Count(filepath.ToSlash(dir), "/") >= 2 {
			words = append(words, dir)
		}
	}
	for proxy := range strings.FieldsFuncSeq(os.Getenv("GOPROXY"), func(r rune) bool { return r == ',' || r == '|' }) {
		if _, host, ok := strings.Cut(proxy, "://"); ok && host != "proxy.golang.org" {
			words = append(words, host)
		}
	}
	return words
}

func checkMachine(fsys fs.FS, words []string) []violation {
	return eachLine(fsys, []string{".go", ".md", ".txtar", ".json", ".jsonl", ".yml", ".yaml", ".txt", "", ".mod", ".sh"}, func(line string) (what, why string) {
		for _, w := range words {
			if i := strings.Index(line, w); i >= 0 && !wordByte(line, i+len(w)) && !wordByte(line, i-1) {
				return "names " + w, "it is a place on one machine"
			}
		}
		return "", ""
	})
}

func wordByte(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] == '_' || s[i] == '-' || unicode.IsLetter(rune(s[i])) || unicode.IsDigit(rune(s[i])))
}

// eachLine applies a rule to every line of the files with these extensions.
func eachLine(fsys fs.FS, exts []string, rule func(line string) (what, why string)) []violation {
	var found []violation
	err := walkSource(fsys, func(name string) error {
		if !slices.Contains(exts, path.Ext(name)) {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if what, why := rule(line); what != "" {
				found = append(found, violation{fmt.Sprintf("%s:%d", name, n), what, why})
			}
		}
		return nil
	})
	if err != nil {
		found = append(found, violation{".", err.Error(), "what cannot be read cannot be checked"})
	}
	return found
}

// checkLinks follows every relative link of every Markdown page.
func checkLinks(fsys fs.FS) []violation {
	const why = "a page that sends its reader nowhere is worse than no page"
	var found []violation
	err := walkSource(fsys, func(name string) error {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for _, target := range links(string(text)) {
			if what := brokenLink(fsys, name, target); what != "" {
				found = append(found, violation{name, "links to " + target + ": " + what, why})
			}
		}
		return nil
	})
	if err != nil {
		found = append(found, violation{".", err.Error(), why})
	}
	return found
}

func brokenLink(fsys fs.FS, page, target string) string {
	file, anchor, hasAnchor := strings.Cut(target, "#")
	to := page
	if file != "" {
		to = path.Join(path.Dir(page), file)
	}
	info, err := fs.Stat(fsys, to)
	switch {
	case !fs.ValidPath(to) || err != nil:
		return "there is no such file in the repository"
	case !hasAnchor || info.IsDir() || path.Ext(to) != ".md":
		return ""
	}
	text, err := fs.ReadFile(fsys, to)
	if err != nil {
		return err.Error()
	}
	if !slices.Contains(anchors(string(text)), anchor) {
		return "there is no such heading; known: " + strings.Join(anchors(string(text)), ", ")
	}
	return ""
}

var (
	inlineLink = regexp.MustCompile(`\]\(\s*<?([^)>\s]+)>?(?:\s+"[^"]*")?\s*\)`)
	refLink    = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s+<?([^>\s]+)>?`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	scheme     = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]*:|//)`)
	mdAnchor   = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// prose gives the lines of a page outside its code blocks.
func prose(text string) []string {
	var lines []string
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		mark := ""
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			mark = trimmed[:3]
		}
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && mark == fence:
			fence = ""
		case fence == "":
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	return lines
}

// links gives the relative targets of a page.
func links(text string) []string {
	var out []string
	for _, line := range prose(text) {
		line = inlineCode.ReplaceAllString(line, "")
		for _, re := range []*regexp.Regexp{inlineLink, refLink} {
			for _, m := range re.FindAllStringSubmatch(line, -1) {
				if !scheme.MatchString(m[1]) {
					out = append(out, m[1])
				}
			}
		}
	}
	return out
}

// anchors gives the names under which the headings of a page can be linked to,
// as the forges make them: lower case, spaces to dashes, repeated ones numbered.
func anchors(text string) []string {
	var out []string
	seen := map[string]int{}
	for _, line := range prose(text) {
		for _, m := range mdAnchor.FindAllStringSubmatch(line, -1) {
			out = append(out, m[1])
		}
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if level == 0 || level > 6 || !strings.HasPrefix(line[level:], " ") {
			continue
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(strings.TrimRight(line[level:], "# ")))
		if n := seen[slug]; n > 0 {
			out = append(out, fmt.Sprintf("%s-%d", slug, n))
		} else {
			out = append(out, slug)
		}
		seen[slug]++
	}
	return out
}

func TestTextRulesCanFail(t *testing.T) {
	t.Run("replace", func(t *testing.T) {
		mustFind(t, checkReplace(sample(t, "go.mod", "module m\n\nreplace a => ../a\n").fsys), "go.mod")
		mustFind(t, checkReplace(sample(t, "go.mod", "module m\nrequire a/replace v1.0.0\n").fsys))
	})
	t.Run("huge", func(t *testing.T) {
		mustFind(t, checkHuge(sample(t, "a.whl", strings.Repeat("x", 1<<20), "b.out", strings.Repeat("x", 1<<20), "good.txt", "x").fsys), "a.whl")
	})
	t.Run("unfinished", func(t *testing.T) {
		bad := "TO" + "DO"
		mustFind(t, checkUnfinished(sample(t, "a.go", "package a\n// "+bad+": later\n", "docs/a.md", "x\n\nFIX"+"ME\n",
			"good.go", "package a\nconst mastodon = 1 // "+bad+"S is another word\n", "a.txt", bad).fsys), "a.go:2", "docs/a.md:3")
	})
	t.Run("machine", func(t *testing.T) {
		mustFind(t, checkMachine(sample(t, "a.go", "package a\nconst p = \"/srv/me/repo/x\"\n", "Makefile", "P = /srv/me/repo\n",
			"good.go", "package a\nconst p = \"/srv/me/repository\"\n").fsys, []string{"/srv/me/repo"}), "a.go:2", "Makefile:1")
	})
	t.Run("links", func(t *testing.T) {
		mustFind(t, checkLinks(sample(t,
			"README.md", "[a](docs/a.md) [b](docs/a.md#two-words) [c](#top) [d](https://example.org/x) `[e](nowhere)` ![p](docs/p.png \"t\")\n\n# Top\n```\n[f](nowhere)\n```\n[ref]: docs\n",
			"docs/a.md", "# One\n\n## Two words\n## Two words\n[up](../README.md#top) [again](#two-words-1) <a id=\"here\"></a> [x](#here)\n",
			"docs/p.png", "png",
			"file.md", "[a](nowhere.md)",
			"anchor.md", "[a](docs/a.md#three)",
			"own.md", "[a](#gone)",
			"image.md", "![a](docs/q.png)",
			"ref.md", "[a]: nowhere.md",
			"out.md", "[a](../outside.md)",
		).fsys), "file.md", "anchor.md", "own.md", "image.md", "ref.md", "out.md")
	})
	if len(machineWords(t)) == 0 {
		t.Log("this checkout lies in a directory that could be anyone's: paths of this machine are not looked for")
	}
}
