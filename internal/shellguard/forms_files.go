package shellguard

import "strings"

// fileForm: programs that look at files and directories.
func fileForm(name string) (form, bool) {
	f := form{class: ReadOnly, most: -1}
	switch name {
	case "ls", "dir", "vdir":
		f.short, f.shortArg, f.anyOption = "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1", "ITw", true
		f.long = "all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= full-time group-directories-first no-group human-readable si dereference dereference-command-line dereference-command-line-symlink-to-dir hide= hyperlink? indicator-style= inode ignore= kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero"
	case "stat":
		f.short, f.shortArg, f.anyOption = "Lftx", "c", true
		f.long = "dereference file-system format= printf= terse cached="
	case "file":
		// Not -C (writes), -m (reads a magic file), -f (names from a file), -z (starts decompressors).
		f.short = "bhikLNrI0"
		f.long = "brief mime mime-type mime-encoding keep-going no-dereference dereference raw no-pad print0"
	case "du":
		f.short, f.shortArg, f.anyOption = "0abcDhHklLmPsSx", "dBt", true
		f.long = "all apparent-size block-size= bytes total dereference-args max-depth= human-readable inodes dereference no-dereference separate-dirs si summarize threshold= time? time-style= exclude= one-file-system null"
	case "df":
		f.short, f.shortArg = "ahHiklmPTv", "Btx"
		f.long = "all block-size= human-readable si inodes local no-sync portability print-type type= exclude-type= total output?"
	case "basename":
		f.short, f.shortArg, f.long, f.names, f.need = "az", "s", "multiple suffix= zero", true, 1
	case "dirname":
		f.short, f.long, f.names, f.need = "z", "zero", true, 1
	case "realpath":
		f.short = "eEmLPsqz"
		f.long = "canonicalize-existing canonicalize-missing logical physical strip no-symlinks quiet zero"
	case "readlink":
		f.short = "femnqsvz"
		f.long = "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero"
	case "tree":
		// Not -o and -R (write), -l (follows links).
		f.short, f.shortArg, f.single = "adfinpqrstuvxACDFNQSUXJhc", "LIP", true
		f.long = "dirsfirst filesfirst du si prune noreport charset= filelimit= timefmt= sort? matchdirs ignore-case gitignore inodes device"
	case "pwd":
		f.short, f.most = "LP", 0
	case "cd":
		f.need, f.most, f.check = 1, 1, func(u *usage) string {
			if u.operands[0].Text == "-" || u.operands[0].Text == "" {
				return "nobody knows where it leads"
			}
			return ""
		}
	case "unzip":
		f.short, f.need, f.most, f.check = "lq", 1, 1, func(u *usage) string {
			if !u.has("l") {
				return "it unpacks"
			}
			return ""
		}
	case "zipinfo":
		f.short, f.need, f.most = "1smlvhtTz", 1, 1
	case "gofmt":
		f.dash = "l d s e" // not -w, which writes
	default:
		return form{}, false
	}
	return f, true
}

// searchForm: programs that look for text or files in many files.
func searchForm(name string) (form, bool) {
	f := form{class: ReadOnly, most: -1}
	switch name {
	case "grep", "egrep", "fgrep", "ggrep":
		// Not -f and --exclude-from (read files), -R (follows links out of the tree).
		f.short, f.shortArg, f.number, f.anyOption = "EFGPiyvwxcLlqsbHhnTUZzaIor", "emABCdD", true, true
		f.long = "extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case invert-match word-regexp line-regexp count color? colour? files-without-match files-with-matches max-count= only-matching quiet silent no-messages byte-offset with-filename no-filename label= line-number initial-tab null after-context= before-context= context= text binary-files= devices= directories= exclude= exclude-dir= include= recursive line-buffered null-data binary"
		f.patterns = "include exclude exclude-dir"
		f.text, f.textUnless, f.need, f.check = 1, "e regexp", 0, needsPattern
	case "rg":
		// Not --pre and --hostname-bin (start programs), -z (starts decompressors),
		// -f and --ignore-file (read files), -L (follows links).
		f.short, f.shortArg = "nNiSswxvcloqFUPpau0.H", "egtTABCmrdME"
		f.long = "line-number no-line-number ignore-case smart-case case-sensitive word-regexp line-regexp invert-match count count-matches files-with-matches files-without-match only-matching quiet fixed-strings multiline multiline-dotall pcre2 pretty text unrestricted null hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot no-ignore-global no-ignore-exclude files type-list json stats no-stats column no-column heading no-heading color= colors= sort= sortr= max-depth= max-count= max-filesize= max-columns= max-columns-preview vimgrep trim passthru regexp= glob= iglob= type= type-not= after-context= before-context= context= replace= no-messages with-filename no-filename no-config one-file-system crlf no-unicode encoding= context-separator= field-match-separator= field-context-separator= byte-offset block-buffered line-buffered glob-case-insensitive sort-files no-mmap binary no-binary"
		f.patterns = "glob iglob"
		f.text, f.textUnless, f.check = 1, "e regexp files type-list", needsPattern
	case "fd", "fdfind":
		// Not -x, -X (start programs), -l (starts ls), -L (follows links).
		f.short, f.shortArg = "HIugisapF01q", "dteEcS"
		f.long = "hidden no-ignore no-ignore-vcs unrestricted glob regex ignore-case case-sensitive absolute-path full-path fixed-strings print0 max-depth= min-depth= exact-depth= type= extension= exclude= color= size= changed-within= changed-before= newer= older= owner= max-results= quiet prune one-file-system and="
		f.text = 1
	default:
		return form{}, false
	}
	return f, true
}

// checkDiff: through directories it follows links, unless told otherwise.
func checkDiff(u *usage) string {
	if u.has("r", "recursive") && !u.has("no-dereference") {
		return "it follows links out of the tree (without --no-dereference)"
	}
	return ""
}

// needsPattern refuses a search without one: then a file would be taken for it.
func needsPattern(u *usage) string {
	if len(u.operands) == 0 && !u.has("e", "regexp", "files", "type-list") {
		return "it has no pattern"
	}
	if len(u.operands) > 0 && u.operands[0].Glob && u.operands[0].fixed == 0 {
		return "its pattern is not quoted, so files of the directory take its place"
	}
	return ""
}

// noResponseFiles: @name means a file of options to this program.
func noResponseFiles(u *usage) string {
	for _, a := range u.operands {
		if strings.HasPrefix(a.Text, "@") {
			return "it reads options from " + Quote(a.Text)
		}
	}
	return ""
}
