package suggest

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/text"
)

// named is what rules are about in the arguments of a call.
type named struct {
	Command string `json:"command"`
	Path    string `json:"path"`
	URL     string `json:"url"`
}

func namedBy(r *toolcrib.Review) (n named) {
	if json.Unmarshal(r.Input, &n) != nil {
		return named{}
	}
	return n
}

const maxShown = 100

// describe is a call as a person reads it, and as it is counted with others.
func (s *search) describe(one *asked) (full, key string) {
	n := namedBy(&one.review)
	tool := s.ruleName(&one.review.Spec)
	switch {
	case n.Command != "" && one.review.Spec.Box == "shell":
		key = text.ClipRunes(n.Command, maxShown)
		return key, headOf(s.Line(one.review), key)
	case n.Path != "":
		return tool + " " + text.ClipRunes(n.Path, maxShown), tool
	case n.URL != "":
		return tool + " " + text.ClipRunes(n.URL, maxShown), tool
	}
	if tool == "" {
		tool = one.Tool
	}
	if in := strings.Join(strings.Fields(string(one.Input)), " "); in != "" && in != "{}" {
		return tool + " " + text.ClipRunes(in, maxShown), tool
	}
	return tool, tool
}

// headOf names a line by its programs.
func headOf(line *shellguard.Line, whole string) string {
	if line == nil || len(line.Programs) == 0 {
		return whole
	}
	var names []string
	for i := range line.Programs {
		p := &line.Programs[i]
		name := path.Base(p.Name)
		if len(p.Args) > 0 && p.Args[0].Literal && bareWord.MatchString(p.Args[0].Text) && hasCommands(name) {
			name += " " + p.Args[0].Text
		}
		if !p.Builtin && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return whole
	}
	return text.ClipRunes(strings.Join(names, ", "), maxShown)
}

// becauseOf is why the guards ask, in a line.
func becauseOf(verdicts []toolcrib.Verdict) string {
	for _, v := range verdicts {
		if v.Note || v.Decision != toolcrib.Ask {
			continue
		}
		switch {
		case v.Rule == "floor":
			return "it is asked about in every mode, and no rule lifts that"
		case v.Guard == "rules" && v.Rule != "allow":
			return "a rule asks: " + v.Rule
		case v.Guard == "obeyed":
			return "other programs obey this file: a rule has to name it, and that is yours to write"
		case v.Guard == "mode":
			return "no rule is proposed for such a tool"
		}
		line, _, _ := strings.Cut(v.Reason, "\n")
		return text.ClipRunes(line, 160)
	}
	return "no guard says why"
}

// ruleName is how rules call a tool.
func (s *search) ruleName(spec *toolcrib.Entry) string {
	switch {
	case spec.Box == "shell" && spec.Native == "start_command":
		return "run_command" // rules about the one are about both
	case s.Own(spec.Box):
		return spec.Native
	case spec.Box == "":
		return ""
	case strings.Contains(spec.Box, "__") || strings.Contains(spec.Native, "__"):
		return spec.Box + "/" + spec.Native
	}
	return "mcp__" + spec.Box + "__" + spec.Native
}

// findWays gives every call the rules that may spare it.
func (s *search) findWays() {
	lines := s.lines()
	files := s.placesOf()
	for _, one := range s.approved {
		spec := &one.review.Spec
		n := namedBy(&one.review)
		switch {
		case spec.Box == "shell" && (spec.Native == "run_command" || spec.Native == "start_command"):
			one.ways, one.why = lines.ways(one)
		case spec.Box == "shell":
			one.why = "what is typed into a running program means what that program makes of it"
		case spec.Box == "files" && n.Path != "":
			one.ways = files.ways(s.ruleName(spec), spec.Effects, s.relative(n.Path))
			if len(one.ways) == 0 {
				one.why = "no rule is proposed for such a name"
			}
		case spec.Box == "web" && n.URL != "":
			host, why := hostOf(n.URL)
			if one.why = why; why == "" {
				one.ways = []way{{s.ruleName(spec) + "(domain:" + host + ")"}}
			}
		case !s.Own(spec.Box):
			if one.why = tooMuch(spec); one.why == "" {
				one.ways = []way{{s.ruleName(spec)}}
			}
		}
	}
}

// hostOf is the host that a rule about an address can name.
func hostOf(address string) (host, why string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return "", "it is no plain address"
	}
	host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") {
		return "", "it is an address of this machine or its network: a rule for that is yours to write"
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", "its name has letters that look like others: a rule for that is yours to write"
	}
	return host, ""
}

// humps is where a word begins in a name such as deleteFile.
var humps = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// tooMuch says why a tool of others is not allowed as a whole.
func tooMuch(spec *toolcrib.Entry) string {
	if spec.Effects&toolcrib.Destroys != 0 {
		return "it may destroy what cannot be got back, and a rule would mean every use of it"
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(humps.ReplaceAllString(spec.Native, "${1}_$2")), func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if slices.Contains([]string{"exec", "execute", "run", "shell", "bash", "sh", "command", "terminal", "eval", "evaluate", "script", "sql", "delete", "remove", "drop", "destroy", "kill", "deploy", "publish", "send", "pay", "transfer", "push", "merge", "upload", "release", "post", "reset", "purge", "wipe", "erase", "truncate", "overwrite", "grant", "revoke", "invoke"}, word) {
			return "by its name it may do anything or something final (" + word + "), and a rule would mean every use of it"
		}
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(spec.Input, &schema) == nil {
		for name := range schema.Properties {
			if slices.Contains([]string{"command", "cmd", "commands", "script", "code", "shell", "sql", "expression", "program", "argv"}, strings.ToLower(name)) {
				return "it takes code or a command, and a rule would mean every use of it"
			}
		}
	}
	return ""
}

// relative is a path from the working directory, or the absolute one if it lies
// elsewhere.
func (s *search) relative(name string) string {
	if !filepath.IsAbs(name) {
		return path.Clean(filepath.ToSlash(name))
	}
	if rel, ok := pathglob.Rel(s.Base(), name); ok {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(filepath.Clean(name))
}
