package shellguard

import (
	_ "embed" // the tables
	"strconv"
	"strings"
	"sync"
)

//go:embed forms.txt
var formText string

//go:embed taken.txt
var takenText string

//go:embed neutral.txt
var neutralText string

// The tables are read when a line is judged for the first time.
var (
	formTable  = sync.OnceValue(func() forms { return readForms(formText) })
	takenTable = sync.OnceValue(func() forms { return readForms(takenText) })
	// neutralTable is about rules without a *.
	neutralTable = sync.OnceValue(func() forms { return readForms(neutralText) })
)

// forms are the rows of a table, by the names of programs and of their
// subcommands.
type forms map[string]form

// of gives the row of a name. Names come from hostile lines.
func (t forms) of(name string) (form, bool) {
	if f, ok := t[name]; ok {
		return f, true
	}
	return form{most: -1}, false
}

// readForms reads a table. A row that cannot be read is none: then the program is
// not known.
func readForms(table string) forms {
	rows := forms{}
	for line := range strings.Lines(table) {
		names, row, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		if !ok || line[0] == '#' {
			continue
		}
		if f, ok := readForm(rows, row); ok {
			for name := range strings.SplitSeq(strings.TrimPrefix(names, "@"), " @") {
				rows[name] = f
			}
		}
	}
	return rows
}

func readForm(rows forms, row string) (form, bool) {
	settings, words, _ := strings.Cut(row, "|")
	f := form{class: ReadOnly, most: -1}
	for setting := range strings.FieldsSeq(settings) {
		if !f.set(rows, setting) {
			return form{}, false
		}
	}
	if dash, ok := strings.CutPrefix(words, "-"); ok {
		f.dash += dash
	} else {
		f.long += words
	}
	return f, true
}

// set puts one setting of a row into the form; see forms.txt for each.
func (f *form) set(rows forms, setting string) bool {
	key, value, _ := strings.Cut(setting, "=")
	switch key {
	case "runs":
		f.class = Runs
	case "short":
		f.short += value
	case "arg":
		f.shortArg += value
	case "opt":
		f.shortOpt += value
	case "number":
		f.number = true
	case "single":
		f.single = true
	case "any":
		f.anyOption = true
	case "partial":
		f.partial = true
	case "names":
		f.names = true
	case "patterns":
		f.patterns = strings.ReplaceAll(value, ",", " ")
	case "unless":
		f.textUnless = strings.ReplaceAll(value, ",", " ")
	case "need", "most", "text":
		n, err := strconv.Atoi(value)
		switch key {
		case "need":
			f.need = n
		case "most":
			f.most = n
		default:
			f.text = n
		}
		return err == nil
	case "check":
		f.check = value
	case "open":
		f.open = true
	case "operands":
		f.operands = true
	case "like":
		var ok bool
		*f, ok = rows.of(value)
		return ok
	default:
		return false
	}
	return true
}

// checkOf is a check by its name; it says what is wrong. One that there is not
// refuses everything.
func checkOf(name string) func(*usage) string {
	switch name {
	case "awk":
		return checkAwk
	case "build-only":
		return checkBuildOnly
	case "cd":
		return checkCd
	case "command":
		return checkCommand
	case "curl":
		return checkCurl
	case "date":
		return checkDate
	case "diff":
		return checkDiff
	case "git-format":
		return checkGitFormat
	case "git-key":
		return checkGitKey
	case "inside":
		return checkInside
	case "jq":
		return checkJQ
	case "kubectl":
		return checkKubectl
	case "lists-only":
		return listsOnly
	case "no-operands":
		return noOperands
	case "no-response-files":
		return noResponseFiles
	case "npm-get":
		return checkNpmGet
	case "numbers":
		return onlyNumbers
	case "output":
		return checkOutput
	case "packages":
		return checkPackages
	case "pattern":
		return needsPattern
	case "printf":
		return checkPrintf
	case "ps":
		return checkPS
	case "pytest":
		return checkPytest
	case "requirements":
		return checkRequirements
	case "script":
		return checkScript
	case "script-words":
		return checkScriptWords
	case "sed":
		return checkSed
	case "set":
		return checkSet
	case "shown":
		return checkShown
	case "words":
		return onlyWords
	case "only-lists":
		return checkOnlyLists
	case "to-stdout":
		return checkToStdout
	case "yq":
		return checkYQ
	case "sleep":
		return checkSleep
	case "targets":
		return checkTargets
	case "unzip":
		return checkUnzip
	case "wget":
		return checkWget
	}
	return noCheck
}

func noCheck(*usage) string { return "its row names a check that there is not" }
