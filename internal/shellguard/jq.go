package shellguard

import "strings"

// jqForm: jq's filter is a language without writing or running, but it can
// read files (import, include) and the environment.
func jqForm(args []Arg) found {
	// --arg NAME VALUE takes two words, which a form cannot say.
	var rest []Arg
	for i := 0; i < len(args); i++ {
		if t := args[i].Text; t == "--" { // what follows is files, whatever it looks like
			return found{known: true, form: form{class: ReadOnly}, why: "its -- is not understood"}
		} else if t == "--arg" || t == "--argjson" {
			if i+2 >= len(args) || !args[i+1].Literal || !args[i+2].Literal || strings.HasPrefix(args[i+1].Text, "-") || strings.HasPrefix(args[i+2].Text, "-") {
				return found{known: true, form: form{class: ReadOnly}, why: "the option " + t + " lacks its two values"}
			}
			i += 2
			continue
		}
		rest = append(rest, args[i])
	}
	return found{known: true, rest: rest, form: form{
		class: ReadOnly, most: -1, need: 1, text: 1,
		short: "crRsSnjaCMeV", shortArg: "",
		long:  "compact-output raw-output raw-input slurp sort-keys null-input join-output ascii-output color-output monochrome-output exit-status tab indent= seq stream unbuffered version",
		check: "jq",
	}}
}

func checkJQ(u *usage) string {
	if u.operands[0].Glob {
		return "its filter is not quoted, so files of the directory take its place"
	}
	filter := u.operands[0].Text
	for _, word := range []string{"import", "include", "env", "ENV", "input_filename", "get_search_list", "modulemeta", "input_line_number", "debug", "stderr", "halt", "halt_error"} {
		if hasWord(filter, word) {
			return "its filter uses " + word
		}
	}
	return ""
}

// hasWord finds a word of a program text that is not a field (.env).
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = text[i-1]
		}
		if end := i + len(word); end < len(text) {
			after = text[end]
		}
		field := before == '.' && (i < 2 || text[i-2] != '.' && (text[i-2] < '0' || text[i-2] > '9'))
		if !field && !isNameByte(before) && !isNameByte(after) {
			return true
		}
		from = i + 1
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
