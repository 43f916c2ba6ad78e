package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/condition"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// RuleOptions is what rules have to know of the machine and the program.
type RuleOptions struct {
	// Own are the toolboxes that are part of the program: an allow by a bare
	// name, a group or effects is about their tools only.
	Own []string
	// Known are further names of tools, of dialects and of settings, and the tool
	// that each means, as box/tool. A rule by such a name is one about that tool,
	// with what stands in its brackets.
	Known map[string]string
	// Base is where relative paths begin, Home what ~ means; both absolute.
	Base, Home string
	// Resolve follows the links of a path (filepath.EvalSymlinks). Nil: nobody
	// can say where a path leads, so that a rule about files gives nothing, and
	// one that takes away always does.
	Resolve func(path string) (string, error)
	// Skips says that the handle on files leaves out what a call was denied
	// (Policy.Whole): a search that passes by such a place is not refused.
	Skips bool
	// Shell reads command lines. Nil: none is understood.
	Shell *shellguard.Guard
	// Conditions compiles expressions and keeps what it compiled. Nil: rules
	// with a condition are refused.
	Conditions *Conditions
}

func (o *RuleOptions) places() places {
	return places{base: o.Base, home: o.Home, resolve: o.Resolve}
}

// subject is a call that rules are held against. What is expensive to find out
// is found out once, when the first rule wants it.
type subject struct {
	review *toolcrib.Review
	opt    *RuleOptions

	lines bool // the call is about a command line

	cache   *shellguard.Cache
	gotLine bool
	line    *shellguard.Line

	matcher *shellguard.Matcher

	gotOperands   bool
	placeOperands []operand

	gotWords bool
	words    []string // of a plain line
	// wordFiles: one of them may be a link to a script that a rule names.
	wordFiles bool

	gotFields bool
	fields    pathFields
	forms     *pathForms
	addr      *address

	gotArgs bool
	args    map[string]any
	argsErr error
	vars    map[string]any
	looked  int // bytes that conditions from elsewhere looked at
}

// pathFields are the arguments that name a file or an address.
type pathFields struct {
	Path      *string `json:"path"`
	FilePath  *string `json:"file_path"`
	File      *string `json:"file"`
	Filename  *string `json:"filename"`
	Directory *string `json:"directory"`
	URL       *string `json:"url"`
	URI       *string `json:"uri"`

	err error
}

func newSubject(r *toolcrib.Review, opt *RuleOptions) *subject {
	return &subject{review: r, opt: opt, lines: shellguard.RunsLines(&r.Spec)}
}

func (s *subject) commandLine() *shellguard.Line {
	if !s.gotLine {
		s.gotLine = true
		s.line = s.opt.Shell.Line(s.review, s.cache)
	}
	return s.line
}

// commands holds patterns of commands against the line; nil if there is none.
func (s *subject) commands() *shellguard.Matcher {
	if l := s.commandLine(); s.matcher == nil && l != nil {
		s.matcher = &shellguard.Matcher{Line: l}
	}
	return s.matcher
}

// operand is a path that the line names, under every name that it has.
type operand struct {
	shellguard.Operand
	forms *pathForms
}

// operands are the paths that the command line names.
func (s *subject) operands() []operand {
	if s.gotOperands {
		return s.placeOperands
	}
	s.gotOperands = true
	at := s.opt.places()
	for _, o := range s.opt.Shell.Operands(s.review, s.commandLine(), at.base, at.home) {
		forms := &pathForms{}
		if o.Path != "" {
			forms = formsOf(o.Path, &at)
		}
		if forms.unclear {
			forms = &pathForms{}
		}
		s.placeOperands = append(s.placeOperands, operand{o, forms})
	}
	return s.placeOperands
}

// free: the shell guard lets the program run without a rule about it.
func (s *subject) free(p *shellguard.Program) bool {
	return (p.Class == shellguard.ReadOnly && !p.Dynamic || p.OnlyWrites()) && s.opt.Shell.Free(p)
}

// plainWords are the words of a plain line; see [PlainWords]. False: it is not so
// plain.
func (s *subject) plainWords() ([]string, bool) {
	if !s.gotWords {
		s.gotWords = true
		s.words, s.wordFiles = shellguard.PlainWords(s.review)
	}
	return s.words, s.words != nil
}

func (s *subject) named() *pathFields {
	if !s.gotFields {
		s.gotFields = true
		s.fields.err = json.Unmarshal(s.review.Input, &s.fields)
	}
	return &s.fields
}

// paths gives the path of the call under all its names; unclear if there is
// none to be found.
func (s *subject) paths() *pathForms {
	if s.forms != nil {
		return s.forms
	}
	f := s.named()
	given := f.Path
	if s.review.Spec.Box != "files" && given == nil { // another box may call it otherwise
		for _, other := range []*string{f.FilePath, f.File, f.Filename, f.Directory} {
			if other != nil {
				given = other
			}
		}
	}
	if given == nil || f.err != nil || s.review.Unfit != nil {
		s.forms = &pathForms{unclear: true}
		return s.forms
	}
	at := s.opt.places()
	at.review = s.review
	s.forms = formsOf(*given, &at)
	s.forms.search = searches(&s.review.Spec)
	return s.forms
}

// realPath is the one name of the file that a call is about.
func (s *subject) realPath() string {
	forms := s.paths()
	if forms.unclear || forms.given == "" {
		return ""
	}
	return forms.real
}

func (s *subject) address() address {
	if s.addr == nil {
		f := s.named()
		given := f.URL
		if given == nil {
			given = f.URI
		}
		s.addr = &address{}
		if given != nil && f.err == nil && s.review.Unfit == nil {
			*s.addr = parseAddress(*given)
		}
	}
	return *s.addr
}

// arguments gives the input as expressions see it.
func (s *subject) arguments() (map[string]any, error) {
	if !s.gotArgs {
		s.gotArgs = true
		if s.args, s.argsErr = decodeArgs(s.review.Input); s.argsErr == nil && s.review.Unfit != nil {
			s.argsErr = errUnfit
		}
	}
	return s.args, s.argsErr
}

// errUnfit says that a tool of others may read its arguments in another way than
// we do: as a number what is a text, a name that we do not know for one that we do.
var errUnfit = errors.New("the arguments do not fit the schema of the tool, so that nobody knows what it makes of them")

func decodeArgs(input json.RawMessage) (map[string]any, error) {
	if len(input) == 0 {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var args map[string]any
	if err := dec.Decode(&args); err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	if args == nil {
		return nil, errors.New("reading the arguments: they are no object")
	}
	for k, v := range args {
		args[k] = condition.Numbers(v)
	}
	return args, nil
}

// scalarText is a plain value as a rule writes it.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}
