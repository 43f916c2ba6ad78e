package shellguard

import (
	"path"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// What compilers and cmake may be told by an open rule: what is built and how, and
// to which file in the project it goes. Not what they run, nor settings that do.

func isCompiler(name string) bool { return isOneOf(name, "gcc cc g++ c++ clang clang++") }

// isOutput: a name that a build gives to what it makes, and that is no source, no
// script and no settings.
func isOutput(name string) bool {
	if name == "/dev/null" {
		return true
	}
	if !inside(name) || strings.HasSuffix(name, "/") {
		return false
	}
	for elem := range strings.SplitSeq(path.Clean(name), "/") {
		if strings.HasPrefix(elem, ".") && elem != ".bin" && elem != ".build" {
			return false
		}
	}
	base := path.Base(name)
	switch path.Ext(base) {
	case "":
		return strings.ToLower(base) == base && !isOneOf(base, "makefile gnumakefile gradlew mvnw configure justfile rakefile gemfile dockerfile jenkinsfile vagrantfile procfile")
	case ".o", ".a", ".so", ".out", ".exe", ".test", ".wasm", ".bin", ".dylib", ".obj", ".rlib":
		return true
	}
	return false
}

// inBuildDir: the file goes where builds go, or nowhere.
func inBuildDir(name string) bool {
	first, _, deeper := strings.Cut(strings.TrimPrefix(name, "./"), "/")
	return name == "/dev/null" || deeper && isOneOf(first, "bin build dist out target tmp .bin .build")
}

// inside: a path that stays below where it is used, as far as its text says.
func inside(name string) bool {
	if name == "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || strings.ContainsAny(name, ":,\\$") {
		return false
	}
	for elem := range strings.SplitSeq(name, "/") {
		if elem == ".." {
			return false
		}
	}
	return true
}

const compilerWords = "-c -E -S -w -pipe -pthread -shared -static -pie -no-pie -ansi -pedantic -pedantic-errors -rdynamic -MMD -MD -MP -MM -M -v -P -dynamiclib"

var (
	plainFlag    = pattern.Of(`^-f(no-)?[a-z0-9-]+(=[a-z0-9,+-]+)?$`)
	plainMachine = pattern.Of(`^-m[a-z0-9.-]+(=[a-z0-9.+-]+)?$`)
	plainLevel   = pattern.Of(`^-(O[0-3sgz]?|Ofast|g[0-3]?|ggdb[0-3]?|std=[a-z0-9+:]+)$`)
	plainName    = pattern.Of(`^[A-Za-z0-9_+.-]+$`)
)

// refusesCompiler says what of the arguments of a C compiler may run or write
// something else.
func refusesCompiler(rest []Arg) string {
	for i := 0; i < len(rest); i++ {
		t := rest[i].Text
		if !strings.HasPrefix(t, "-") || t == "-" {
			if strings.HasPrefix(t, "@") {
				return Quote(t) + " may change what is run"
			}
			continue
		}
		value, glued := "", false
		for _, letter := range []string{"-o", "-I", "-L", "-D", "-U", "-isystem", "-iquote"} {
			if t == letter {
				if i++; i == len(rest) || !rest[i].Literal || strings.HasPrefix(rest[i].Text, "-") {
					return "the option " + Quote(t) + " lacks its value"
				}
				value, t = rest[i].Text, letter
				break
			}
			if strings.HasPrefix(t, letter) && len(letter) == 2 {
				value, t, glued = t[2:], letter, true
				break
			}
		}
		ok := false
		switch {
		case t == "-o":
			ok = !glued && isOutput(value)
		case t == "-D" || t == "-U":
			ok = true
		case isOneOf(t, "-I -L -isystem -iquote"):
			ok = inside(value)
		case strings.HasPrefix(t, "-l"):
			ok = plainName.MatchString(t[2:])
		case strings.HasPrefix(t, "-W"):
			ok = !strings.Contains(t, ",") && plainName.MatchString(strings.ReplaceAll(t[2:], "=", ""))
		case plainFlag.MatchString(t):
			ok = !strings.Contains(t, "plugin") && !strings.Contains(t, "dump") && !strings.Contains(t, "profile") && !strings.Contains(t, "use-ld") && !strings.Contains(t, "modules") && !strings.Contains(t, "cache") && !strings.Contains(t, "crash") && !strings.Contains(t, "save")
		default:
			ok = isOneOf(t, compilerWords) || plainLevel.MatchString(t) || plainMachine.MatchString(t) && !strings.Contains(t, "llvm")
		}
		if !ok {
			return "the option " + Quote(rest[i].Text) + " is not known to be harmless"
		}
	}
	return ""
}

// cmakeChoice: settings of a project that switch something on or off, and those of
// cmake that name no program and no file.
var (
	cmakeChoice = pattern.Of(`^(CMAKE_BUILD_TYPE(:STRING)?=[A-Za-z]+|CMAKE_(C|CXX)_STANDARD=[0-9]+|CMAKE_(EXPORT_COMPILE_COMMANDS|VERBOSE_MAKEFILE|POSITION_INDEPENDENT_CODE)(:BOOL)?=(ON|OFF|1|0|TRUE|FALSE))$`)
	ownChoice   = pattern.Of(`^[A-Z][A-Z0-9_]*(:BOOL)?=(ON|OFF|1|0|TRUE|FALSE)$`)
)

func refusesCMake(rest []Arg) string {
	for i := 0; i < len(rest); i++ {
		t := rest[i].Text
		if !strings.HasPrefix(t, "-") {
			continue // a directory, which is looked at like others
		}
		letter, value := t, ""
		if len(t) > 2 && t[1] != '-' {
			letter, value = t[:2], t[2:]
		} else if isOneOf(t, "-B -S -D -G") {
			if i++; i == len(rest) || !rest[i].Literal {
				return "the option " + Quote(t) + " lacks its value"
			}
			value = rest[i].Text
		}
		ok := false
		switch letter {
		case "-B":
			ok = inside(value)
		case "-S":
			ok = inside(value) || value == ".."
		case "-D":
			ok = cmakeChoice.MatchString(value) || ownChoice.MatchString(value) && !strings.HasPrefix(value, "CMAKE_")
		case "-G":
			ok = value == "Ninja" || value == "Unix Makefiles"
		default:
			ok = isOneOf(t, "--fresh -Wno-dev --log-level=WARNING")
		}
		if !ok {
			return "the option " + Quote(t) + " is not known to be harmless"
		}
	}
	return ""
}

// checkOutput: what go is told to write.
func checkOutput(u *usage) string {
	for _, o := range u.opts {
		switch o.name {
		case "o":
			if !isOutput(o.value) || !inBuildDir(o.value) {
				return "it writes " + Quote(o.value)
			}
		case "coverprofile":
			if ext := path.Ext(o.value); !inside(o.value) || !isOneOf(ext, ".out .cov .txt .coverprofile .profile") || strings.HasPrefix(path.Base(o.value), ".") {
				return "it writes " + Quote(o.value)
			}
		case "ldflags":
			if !plainLinking(o.value) {
				return "its linker flags " + Quote(o.value) + " are not known to be harmless"
			}
		case "mod":
			if !isOneOf(o.value, "mod readonly vendor") {
				return "the value " + Quote(o.value) + " is not known to be harmless"
			}
		}
	}
	return checkPackages(u)
}

// plainLinking: flags that leave something out, or set a text of the program.
func plainLinking(flags string) bool {
	words := strings.Fields(flags)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-s" || w == "-w":
		case w == "-X" && i+1 < len(words) && strings.Contains(words[i+1], "="):
			i++
		case strings.HasPrefix(w, "-X=") && strings.Count(w, "=") > 1:
		default:
			return false
		}
	}
	return true
}

// checkInside: values that are files stay in the project.
func checkInside(u *usage) string {
	for _, o := range u.opts {
		if (o.name == "p" || o.name == "project") && !inside(o.value) {
			return "it goes by " + Quote(o.value)
		}
	}
	return u.refuse("the operand ", " is not in the project", func(t string) bool { return !inside(t) || strings.HasPrefix(t, "@") })
}

// checkScriptWords: what npm hands on to a script goes through a shell, and old
// ones put it in double quotes and no more.
func checkScriptWords(u *usage) string {
	for _, o := range u.opts {
		if strings.ContainsAny(o.value, "$`\\\"!\n") {
			return "the value " + Quote(o.value) + " may be code to the shell of the script"
		}
	}
	return u.refuse("the operand ", " may be code to the shell of the script", func(t string) bool { return strings.ContainsAny(t, "$`\\\"!\n") })
}

// checkScript: what a script of the project is told. Names of reporters and the like
// may be files of code.
func checkScript(u *usage) string {
	if why := checkScriptWords(u); why != "" {
		return why
	}
	for _, o := range u.opts {
		switch o.name {
		case "t", "g", "grep", "testNamePattern", "testPathPattern", "testPathPatterns", "invert", "k":
		default:
			if o.value != "" && !plainName.MatchString(o.value) {
				return "the value " + Quote(o.value) + " of " + Quote(o.name) + " may be a file"
			}
		}
	}
	return u.refuse("the operand ", " is not in the project", func(t string) bool { return !inside(strings.ReplaceAll(t, ":", "")) })
}

// checkPytest: reports go to the screen.
func checkPytest(u *usage) string {
	for _, o := range u.opts {
		if o.name == "cov-report" && o.value != "" && o.value != "term" && o.value != "term-missing" && o.value != "term-missing:skip-covered" {
			return "it writes a report: " + Quote(o.value)
		}
	}
	return noResponseFiles(u)
}

// checkBuildOnly: nothing is handed on to the program that builds.
func checkBuildOnly(u *usage) string {
	if u.dashes >= 0 {
		return "what stands behind -- is for the program that builds"
	}
	return u.refuse("", " is not in the project", func(t string) bool { return !inside(t) })
}
