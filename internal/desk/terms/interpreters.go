package terms

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// interpreterRules is how an interpreter reads its words, as far as that is known for
// certain. What is not in it may name a script.
type interpreterRules struct {
	flags  string // letters that stand alone
	values string // letters with a word that names no file, joined or next
	rests  string // letters that take what is left of their own word, if anything
	codes  string // letters with code, which is bound with the line
	files  string // letters with a file that is run
	long   string // the same for long options: name, name= (value), name=c (code), name=f (file)
	// value judges what is said to a letter or a long option; nil: anything goes.
	value func(option, value string) bool

	plus    bool // + begins an option too
	words   bool // without code or file in an option the first operand is code, as in sed
	through bool // options may stand behind operands
	joins   bool // the code is the first operand, wherever its letter stands, as in sh -c
	ends    bool // what follows the code belongs to it
	goes    bool // there may be a script behind the code, as in lua
}

// interpreterRulesOf gives the rules of an interpreter; ok is false for what is none. An
// interpreter of which no more is known than that it runs a file has an empty one.
func interpreterRulesOf(name string) (m interpreterRules, ok bool) {
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash", "pdksh", "yash":
		return interpreterRules{flags: "abefhiklmnpruvxBCEHPTt", values: "oO", codes: "c", plus: true, joins: true,
			long: "norc noprofile posix login verbose restricted noediting debugger version help rcfile=f init-file=f"}, true
	case "fish":
		return interpreterRules{flags: "lin", codes: "c", joins: true, long: "no-config login interactive no-execute version"}, true
	case "python", "pypy":
		return interpreterRules{flags: "bBdEhiIOPqRsSuvVx", values: "WX", codes: "c", ends: true, long: "version help", value: pythonValue}, true
	case "node", "nodejs":
		return interpreterRules{flags: "icvh", codes: "ep", files: "r", values: "C", value: nodeValue,
			long: "version help interactive check eval=c print=c require=f import=f loader=f experimental-loader=f env-file=f env-file-if-exists=f conditions= " +
				"test watch inspect inspect-brk inspect= inspect-brk= enable-source-maps trace-warnings trace-deprecation trace-uncaught no-warnings no-deprecation throw-deprecation expose-gc expose_gc " +
				"max-old-space-size= max_old_space_size= max-semi-space-size= stack-size= input-type= title= unhandled-rejections= test-name-pattern= test-only test-reporter= test-concurrency= test-timeout= " +
				"experimental-vm-modules experimental-strip-types experimental-transform-types experimental-test-coverage no-experimental-strip-types preserve-symlinks"}, true
	case "perl":
		return interpreterRules{flags: "wWtTUucvsanpl0123456789", rests: "iCF", codes: "eE", values: "M", value: perlValue}, true
	case "ruby":
		return interpreterRules{flags: "aclnpsvwdhWT0123456789", rests: "iFK", codes: "e", values: "rE", value: rubyValue, long: "version help yjit jit verbose"}, true
	case "php":
		return interpreterRules{flags: "nqslwvimh", codes: "r", files: "f", values: "d", value: phpValue, ends: true, long: "version help ini modules"}, true
	case "lua", "luajit":
		return interpreterRules{flags: "ivEW", codes: "e", goes: true}, true
	case "Rscript":
		return interpreterRules{codes: "e", long: "vanilla no-save no-restore no-init-file version verbose"}, true
	case "julia":
		return interpreterRules{flags: "qi", codes: "eE", values: "tp", long: "version quiet startup-file= threads= color="}, true
	case "osascript":
		return interpreterRules{codes: "e", values: "ls"}, true
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return interpreterRules{values: "Fv", flags: "bcCghnNOPrstSV", codes: "e", files: "fE", words: true, long: "version help posix csv re-interval traditional lint sandbox characters-as-bytes field-separator= assign= source=c file=f exec=f"}, true
	case "sed", "gsed":
		return interpreterRules{flags: "nrEsuz", rests: "i", values: "l", codes: "e", files: "f", words: true, through: true,
			long: "quiet silent regexp-extended null-data separate unbuffered posix debug sandbox follow-symlinks in-place in-place= line-length= expression=c file=f version help"}, true
	case "source", ".", "csh", "tcsh", "oksh", "loksh", "posh", "nu", "elvish", "xonsh", "tclsh", "wish", "expect", "pwsh", "powershell", "java", "groovy", "guile", "tsx", "ts-node", "swift", "elixir", "escript",
		"ipython", "bpython", "micropython", "jython", "raku", "jruby", "truffleruby", "gjs", "qjs", "d8", "mujs", "racket", "scheme", "sbcl", "clisp", "ecl", "octave", "R", "ocaml", "runghc", "runhaskell", "scala", "kotlin", "clojure", "clj", "bb",
		"jshell", "hy", "zx", "vite-node", "esno", "jiti", "babel-node", "coffee", "gnuplot", "m4":
		return interpreterRules{}, true
	}
	return interpreterRules{}, false
}

// toLoad are modules by their plain names: where an interpreter finds those, the
// line has no say in.
var toLoad = pattern.Of(`^[A-Za-z][A-Za-z0-9_]*(::[A-Za-z0-9_]+|[/-][a-z0-9_]+)*(=[A-Za-z0-9_,:]*)?$`)

func pythonValue(option, value string) bool {
	if option == "W" { // a category with a dot is imported
		return !strings.Contains(value, ".")
	}
	name, _, _ := strings.Cut(value, "=")
	return slices.Contains([]string{"dev", "utf8", "importtime", "faulthandler", "tracemalloc", "no_debug_ranges", "int_max_str_digits", "showrefcount", "warn_default_encoding", "cpu_count", "gil"}, name)
}

func nodeValue(option, value string) bool {
	return option != "test-reporter" || slices.Contains([]string{"spec", "tap", "dot", "junit", "lcov"}, value)
}

func perlValue(_, value string) bool {
	value = strings.TrimPrefix(value, "-")
	if !toLoad.MatchString(value) {
		return false
	}
	name, _, _ := strings.Cut(value, "=")
	return name[0] <= 'Z' || slices.Contains([]string{"strict", "warnings", "utf8", "feature", "bigint", "bignum", "integer", "open"}, name) // and not lib
}

func rubyValue(option, value string) bool { return option == "E" || toLoad.MatchString(value) }

func phpValue(_, value string) bool {
	name, _, _ := strings.Cut(value, "=")
	return slices.Contains([]string{"memory_limit", "display_errors", "error_reporting", "max_execution_time", "xdebug.mode", "date.timezone", "zend.assertions", "short_open_tag"}, name)
}

// kindOf says what a long option takes: 0 it is not known, ' ' nothing, 'v' a
// value, 'c' code, 'f' a file.
func (m *interpreterRules) kindOf(name string, joined bool) byte {
	for o := range strings.FieldsSeq(m.long) {
		known, kind, takes := strings.Cut(o, "=")
		switch {
		case known != name:
		case !takes && !joined:
			return ' '
		case takes && kind != "":
			return kind[0]
		case takes && (joined || !slices.Contains(strings.Fields(m.long), name)): // --inspect stands alone, and --inspect=9229
			return 'v'
		}
	}
	return 0
}

// letterKind is kindOf for a letter, with 'r' for what takes the rest of its word.
func (m *interpreterRules) letterKind(c byte) byte {
	for kind, letters := range map[byte]string{' ': m.flags, 'v': m.values, 'r': m.rests, 'c': m.codes, 'f': m.files} {
		if strings.IndexByte(letters, c) >= 0 {
			return kind
		}
	}
	return 0
}
