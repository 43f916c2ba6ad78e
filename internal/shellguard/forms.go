package shellguard

import "strings"

// found is the form that holds for a command.
type found struct {
	known bool // there is one; if not, the program is not known
	form  form
	rest  []Arg  // the arguments the form is about, after a subcommand
	dir   string // where the program goes first (git -C)
	why   string // what is wrong before the form is even asked
}

// findForm looks a program up. Programs with subcommands or a language of
// their own have a function; the rest is in the tables below.
func findForm(name string, args []Arg) found {
	switch name {
	case "git":
		return gitForm(args)
	case "go":
		return goForm(args)
	case "npm", "yarn", "pnpm":
		return npmForm(name, args)
	case "cargo":
		return cargoForm(args)
	case "find":
		return found{known: true, form: form{class: ReadOnly, most: -1, names: true}, why: checkFind(args)}.withPaths(findRoots(args))
	case "echo", ":", "true", "false", "expr":
		return found{known: true, form: form{class: ReadOnly, most: -1, names: true, anyOption: true}, why: allPlain(args)}
	case "test", "[":
		return found{known: true, form: form{class: ReadOnly, most: -1, names: true}, why: checkTest(name, args)}.withPaths(testFiles(args))
	case "jq":
		return jqForm(args)
	}
	if strings.HasPrefix(name, "python") && len(args) > 1 && args[0].Text == "-m" && args[1].Text == "pytest" {
		f, _ := projectForm("pytest")
		return found{known: true, form: f, rest: args[2:]}
	}
	if len(args) == 1 && args[0].Literal && asksVersion(name, args[0].Text) {
		return found{known: true, form: form{class: ReadOnly}}
	}
	for _, table := range []func(string) (form, bool){textForm, fileForm, systemForm, searchForm, projectForm} {
		if f, ok := table(name); ok {
			return found{known: true, form: f, rest: args}
		}
	}
	return found{}
}

// withPaths makes the form's operands the given files: for programs whose
// arguments were judged by their own grammar.
func (f found) withPaths(files []Arg) found {
	f.form.names = false
	f.rest = files
	return f
}

// allPlain is for programs that take any word: it only has to be one.
func allPlain(args []Arg) string {
	for _, a := range args {
		if !a.Literal && !a.Glob {
			return "the argument " + clip(a.Text) + " is not literal"
		}
	}
	return ""
}

// textForm: programs that read text and print text.
func textForm(name string) (form, bool) {
	f := form{class: ReadOnly, most: -1}
	switch name {
	case "cat":
		f.short, f.anyOption = "AbeEnstTuv", true
		f.long = "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"
	case "head":
		f.short, f.shortArg, f.number, f.anyOption = "qvz", "nc", true, true
		f.long = "lines= bytes= quiet silent verbose zero-terminated"
	case "tail":
		f.short, f.shortArg, f.number, f.anyOption = "fFqvzr", "ncsb", true, true
		f.long = "follow? retry lines= bytes= quiet silent verbose sleep-interval= pid= zero-terminated"
	case "wc":
		f.short, f.anyOption = "clmwL", true
		f.long = "bytes chars lines words max-line-length total="
	case "nl":
		f.short, f.shortArg = "p", "bdfhilnsvw"
		f.long = "body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= number-format= no-renumber number-separator= starting-line-number= number-width="
	case "tac":
		f.short, f.shortArg, f.long = "br", "s", "before regex separator="
	case "rev":
	case "cut":
		f.short, f.shortArg = "nsz", "bcdf"
		f.long = "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated"
	case "tr":
		f.short, f.names, f.most = "cCdst", true, 2
		f.long = "complement delete squeeze-repeats truncate-set1"
	case "fold":
		f.short, f.shortArg, f.long = "bs", "w", "bytes spaces width="
	case "expand", "unexpand":
		f.short, f.shortArg, f.long = "ai", "t", "initial all first-only tabs="
	case "paste":
		f.short, f.shortArg, f.long = "sz", "d", "delimiters= serial zero-terminated"
	case "join":
		f.short, f.shortArg, f.most = "i", "aejotv12", 2
	case "column":
		f.short, f.shortArg = "txJeL", "csoNnRTHWO"
		f.long = "table separator= output-separator= output-width= columns= table-columns= table-right= table-name= json fillrows"
	case "seq":
		f.short, f.shortArg, f.number, f.names = "w", "fs", true, true
		f.long = "equal-width format= separator="
	case "sort":
		f.short, f.shortArg = "bdfghiMnrRVcCmsuz", "kt"
		f.long = "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse version-sort check? merge stable unique zero-terminated key= field-separator= sort= debug"
	case "uniq":
		f.short, f.shortArg, f.most = "cdDiuz", "fsw", 1 // a second operand is the file it writes
		f.long = "count repeated all-repeated? group? skip-fields= skip-chars= check-chars= ignore-case unique zero-terminated"
	case "comm":
		f.short, f.most = "123z", 2
		f.long = "check-order nocheck-order output-delimiter= total zero-terminated"
	case "diff":
		// Not -l: it starts pr.
		f.short, f.shortArg, f.number, f.most, f.check = "abBcdeEiNpqrstTuwyP", "IFxUCWL", true, 2, checkDiff
		f.long = "brief recursive new-file unidirectional-new-file unified? context? ignore-all-space ignore-space-change ignore-blank-lines ignore-trailing-space ignore-tab-expansion ignore-case text report-identical-files side-by-side width= suppress-common-lines left-column minimal speed-large-files color? exclude= label= expand-tabs show-c-function show-function-line= strip-trailing-cr normal ed rcs no-dereference ignore-file-name-case ignore-matching-lines="
	case "cmp":
		f.short, f.shortArg, f.most = "bls", "in", 2
		f.long = "print-bytes verbose silent quiet bytes= ignore-initial="
	case "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum", "shasum", "md5":
		f.short, f.shortArg, f.anyOption = "btcwzrqs", "al", true
		f.long = "binary text check tag quiet status strict warn ignore-missing zero algorithm= length="
	case "base64", "base32":
		f.short, f.shortArg, f.most = "diD", "w", 1
		f.long = "decode ignore-garbage wrap="
	case "od":
		f.short, f.shortArg = "bcdosxv", "AjNt"
		f.long = "address-radix= skip-bytes= read-bytes= format= output-duplicates endian="
	case "hexdump", "hd":
		f.short, f.shortArg = "bcCdovx", "ns"
	case "xxd":
		f.shortArg, f.short, f.most, f.single = "lcg", "bupi", 1, true
	case "strings":
		f.short, f.shortArg, f.number, f.check = "a", "n", true, noResponseFiles
	case "printf":
		f.names, f.need, f.check = true, 1, checkPrintf
	case "awk", "gawk", "mawk", "nawk":
		f.shortArg, f.text, f.need, f.check = "Fv", 1, 1, checkAwk
	case "sed", "gsed":
		// Not -l: some seds take a value for it, others the script.
		f.short, f.shortArg, f.text, f.textUnless, f.check = "nErsuz", "e", 1, "e expression", checkSed
		f.long = "quiet silent regexp-extended separate unbuffered null-data expression= posix sandbox debug"
	default:
		return form{}, false
	}
	return f, true
}
